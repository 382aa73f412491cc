"""The page at `/` to try the model with: one file that asks for nothing from anywhere else and keeps nothing."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response


@cache
def source() -> str:
    return files("ferrox_gguf.server").joinpath("page.html").read_text(encoding="utf-8")


@cache
def policy() -> str:
    """Only the page's own script and style are applied, no string becomes HTML, and only this server is asked."""
    own = re.findall(r"<(script|style)>(.*?)</\1>", source(), re.DOTALL)
    return "; ".join(
        (
            "default-src 'none'",
            *(f"{kind}-src '{digest(text)}'" for kind, text in own),
            "img-src data:",  # the empty icon, so that a browser does not ask for one
            "connect-src 'self'",
            "require-trusted-types-for 'script'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def digest(text: str) -> str:
    """As a policy names a script that stands in the page."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


async def page(request: Request) -> Response:
    headers = {
        "content-security-policy": policy(),
        "cache-control": "no-cache",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
    return HTMLResponse(source(), headers=headers)
