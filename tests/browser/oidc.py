"""A small OpenID Connect provider on loopback: discovery, consent page, codes, signed id tokens, keys, sign-out."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID, CLIENT_SECRET = "cleverdon", "a secret of the client"


class Provider:
    """Signs in whoever :attr:`person` is, after a click; keeps what was asked of it."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.key = RSAKey.generate_key(2048, parameters={"kid": "1"}, private=True)
        self.codes: dict[str, dict[str, str]] = {}
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "end_session_endpoint": f"{self.issuer}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def _token(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        asked = self.codes.pop(form["code"])
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        assert challenge.decode() == asked["code_challenge"]
        assert form["redirect_uri"] == asked["redirect_uri"]
        basic = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        assert basic.replace("+", " ").replace("%20", " ") == f"{CLIENT_ID}:{CLIENT_SECRET}"
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "sub": self.person["email"], "iat": now, "exp": now + 3600}
        claims |= {"nonce": asked["nonce"], **self.person}
        signed = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.key)
        return {"access_token": secrets.token_hex(8), "token_type": "Bearer", "expires_in": 3600, "id_token": signed}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def answer(self, body: str, kind: str = "application/json", status: int = 200, **headers: str) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": kind, **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                provider.requests.append(parts.path)
                if parts.path == "/.well-known/openid-configuration":
                    self.answer(json.dumps(provider._discovery()))
                elif parts.path == "/jwks":
                    self.answer(json.dumps({"keys": [provider.key.as_dict(private=False)]}))
                elif parts.path == "/authorize":
                    code = secrets.token_hex(8)
                    provider.codes[code] = query
                    back = f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"
                    self.answer(f'<a id="agree" href="{back}">Agree</a>', "text/html")
                elif parts.path == "/logout":
                    self.answer("", status=302, Location=query["post_logout_redirect_uri"])
                else:
                    self.answer("", status=404)

            def do_POST(self) -> None:
                provider.requests.append(self.path)
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self.answer(json.dumps(provider._token(form, self.headers.get("Authorization", ""))))

        return Handler
