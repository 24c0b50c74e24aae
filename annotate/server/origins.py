"""The names and origins of this server, to recognise requests meant for it and requests of its own pages."""

import ipaddress
import socket
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

import idna
from starlette.requests import HTTPConnection

_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Scheme, host and port, as browsers compare them."""

    scheme: str
    host: str
    port: int


def parse_origin(address: str) -> Origin | None:
    """Read the origin of an http or https address; None for anything else, such as ``null``.

    International names are encoded in ASCII (IDNA, UTS 46), as browsers send them.

    >>> parse_origin("https://Judging.example.org")
    Origin(scheme='https', host='judging.example.org', port=443)
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
        if host and not host.isascii():
            host = idna.encode(host, uts46=True).decode("ascii")
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc:
        return None
    return Origin(parts.scheme, host.rstrip("."), port or _PORTS[parts.scheme])


def encode_address(address: str) -> str:
    """Encode the international name in an address without a path in ASCII.

    >>> encode_address("https://bücher.example:8443")
    'https://xn--bcher-kva.example:8443'
    """
    parts, origin = urlsplit(address), parse_origin(address)
    if origin is None or parts.netloc.isascii():
        return address
    return f"{parts.scheme}://{origin.host}" + (f":{parts.port}" if parts.port else "")


class Origins:
    """The addresses of this server.

    It answers to ``localhost``, to this machine's name, to IP addresses (DNS rebinding needs a name), to the `host`
    that it listens on, and to its `public` addresses behind a proxy, such as ``https://judging.example.org``.
    """

    def __init__(self, public: Iterable[str] = (), host: str = "localhost") -> None:
        self._public = {origin for address in public if (origin := parse_origin(address)) is not None}
        machine = socket.gethostname().lower()
        short = machine.partition(".")[0]
        self._names = {"localhost", host.lower(), machine, short, f"{short}.local", *(o.host for o in self._public)}

    def is_for_this_server(self, request: HTTPConnection) -> bool:
        """Return whether the request names this server as its host."""
        target = _target(request)
        if target is None:
            return False
        try:
            ipaddress.ip_address(target.host)
        except ValueError:
            return target.host in self._names
        return True

    def is_same_origin(self, request: HTTPConnection) -> bool:
        """Return whether the request comes from a page of this server, or from no browser.

        Cookies do not show this: they ignore ports, and browsers send them with requests of other sites' pages too.
        """
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if site not in (None, "same-origin", "none"):
            return False
        if origin is None:  # browsers name the origin of every WebSocket and of every form that is posted
            return True
        if origin == "null":
            return site == "same-origin"
        sender = parse_origin(origin)
        return sender is not None and (sender == _target(request) or sender in self._public)

    def is_https(self, request: HTTPConnection) -> bool:
        """Return whether the browser uses https, to this server or to the proxy in front of it."""
        return request.scope["scheme"] in ("https", "wss") or _target(request, "https") in self._public


def _target(request: HTTPConnection, scheme: str | None = None) -> Origin | None:
    """The origin that a request is sent to, by its Host header."""
    if scheme is None:
        scheme = "https" if request.scope["scheme"] in ("https", "wss") else "http"
    hosts = request.headers.getlist("host")
    if len(hosts) != 1 or any(c in hosts[0] for c in "/?#\\ "):
        return None
    return parse_origin(f"{scheme}://{hosts[0]}")
