"""HTTP for tests that have no TLS: httpx reads the certificates for each new client, a tenth of a second each time."""

from __future__ import annotations

import httpx


def get(url: str) -> httpx.Response:
    with httpx.Client(verify=False, timeout=60) as client:
        return client.get(url)


def post(url: str, body: object, **headers: str) -> httpx.Response:
    with httpx.Client(verify=False, timeout=60, headers=headers) as client:
        return client.post(url, json=body)
