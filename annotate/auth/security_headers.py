"""Security headers of every answer, with the Content-Security-Policy that Streamlit's pages need."""

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from starlette.datastructures import MutableHeaders

CONTINUE_SCRIPT = """{
  const link = document.querySelector("a.cleverdon-continue");
  const go = () => window.location.replace(link.href);
  const token = new URL(link.href).searchParams.get("token");
  if (token === null) go();
  else fetch("/signin", { method: "POST", body: new URLSearchParams({ token }), redirect: "manual" }).then(go);
}"""
"""The only script of a page that stands in its HTML: it opens the page's link ``a.cleverdon-continue``, and uses the
one-time link that it may be. Without a variable part, the policy can name it by its hash."""

CLOSED_POLICY = "default-src 'none'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Policy of answers that are no pages: files, pictures and data, also where a browser opens them by themselves."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # The address of an invitation is a secret. Not "no-referrer": a browser then sends forms with the origin "null".
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
    "magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

HSTS = f"max-age={180 * 24 * 3600}"
"""Only sent over HTTPS, as browsers ignore it otherwise (RFC 6797, 8.1). Without ``includeSubDomains``: other hosts of
the domain are not this server's to decide about."""


def page_policy(image_hosts: Iterable[str] = ()) -> str:
    """Return the policy of Streamlit's pages, with the hosts that the manager allows images from.

    Components need scripts and images from ``blob:``, styles of elements need ``'unsafe-inline'``, a font of the tables
    is in a ``data:`` address, and the code that reads Streamlit's messages tries WebAssembly. PDF files are the only
    answers of this server that allow a frame. Nothing needs ``eval``: Streamlit draws charts with Vega's interpreter.
    """
    images = " ".join(f"{host}:*" for host in image_hosts)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' blob: 'wasm-unsafe-eval' {' '.join(_script_hashes())}",
            "style-src 'self' 'unsafe-inline'",
            "connect-src 'self'",
            "font-src 'self' data:",
            "frame-src 'self'",
            f"img-src 'self' data: blob: {images}".rstrip(),
            "media-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def add_headers(headers: MutableHeaders, *, policy: str, is_page: bool, is_https: bool) -> None:
    """Add the headers to an answer, except those that it has already; answers that say nothing are not stored."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Content-Security-Policy", policy)
    if is_page:
        headers["Cache-Control"] = "no-store"  # a page from a cache would have an older policy
    headers.setdefault("Cache-Control", "no-store")
    if is_https:
        headers.setdefault("Strict-Transport-Security", HSTS)
        cookies = headers.getlist("set-cookie")
        del headers["set-cookie"]
        for cookie in cookies:  # Streamlit does not know that a proxy is in front of it
            headers.append("set-cookie", cookie if "; secure" in cookie.lower() else f"{cookie}; Secure")


@cache
def _script_hashes() -> tuple[str, ...]:
    """The scripts that stand in HTML: those of Streamlit's page, and the one above."""
    page = files("streamlit").joinpath("static/index.html").read_text(encoding="utf-8")
    scripts = [*re.findall(r"<script>(.*?)</script>", page, re.DOTALL), CONTINUE_SCRIPT]
    return tuple(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts)
