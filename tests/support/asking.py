"""HTTP for tests that have no TLS: httpx reads the certificates for each new client, a tenth of a second each time."""

from __future__ import annotations

from contextlib import closing

import anthropic
import httpx
import openai


def get(url: str) -> httpx.Response:
    with httpx.Client(verify=False, timeout=60) as client:
        return client.get(url)


def post(url: str, body: object, **headers: str) -> httpx.Response:
    with httpx.Client(verify=False, timeout=60, headers=headers) as client:
        return client.post(url, json=body)


def openai_client(url: str, key: str = "none") -> closing[openai.OpenAI]:
    plain = httpx.Client(verify=False)
    return closing(openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0, http_client=plain))


def anthropic_client(url: str, key: str = "none") -> closing[anthropic.Anthropic]:
    return closing(anthropic.Anthropic(base_url=url, api_key=key, max_retries=0))
