"""The scripts of the cards: ES modules, which browsers get at an address that their content determines.

No two contents share an address, so that a browser may keep for good what it has: a page needs the network for them
only after an update.
"""

from __future__ import annotations

import json
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from annotate.auth.roles import ANYBODY, open_to
from annotate.card.server.document_payload import PREFIX

FOLDER = Path(__file__).parents[1]
LOADER = FOLDER / "loader.js"
HEADERS = {"Cache-Control": f"public, max-age={365 * 24 * 3600}, immutable"}  # one year, in seconds

_IMPORT = re.compile(r'^(?:import|export)\b[^;"]*"(\.[^"]+)"', re.MULTILINE)


class CardModules:
    """The modules below `folder`, read once, so that their address fits what is served."""

    def __init__(self, folder: Path = FOLDER) -> None:
        files = sorted(folder.rglob("*.js"))
        self._modules = {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
        contents = [(name, sha256(content).hexdigest()) for name, content in self._modules.items()]
        self._version = sha256(json.dumps(contents).encode()).hexdigest()[:16]

    def address(self, name: str) -> str:
        """The path at which the server answers with a module."""
        return f"{PREFIX}/card/{self._version}/{name}"

    def loader(self, entry: str) -> str:
        """The script of a component, which loads a module such as "grade.js" and all that it imports."""
        addresses = json.dumps([self.address(name) for name in self.imported(entry)])
        return LOADER.read_text(encoding="utf-8").replace('["ADDRESSES"]', addresses)

    def imported(self, entry: str) -> list[str]:
        """The names of a module and of those that it imports, directly or not."""
        names = [entry]
        for name in names:
            targets = [normpath(join(dirname(name), to)) for to in _IMPORT.findall(self._modules[name].decode())]
            names += [target for target in dict.fromkeys(targets) if target in self._modules and target not in names]
        return names

    def route(self) -> Route:
        """The route of all modules."""
        return Route(self.address("{name:path}").replace(self._version, "{version}"), self.module, methods=["GET"])

    @open_to(ANYBODY)
    async def module(self, request: Request) -> Response:
        """Send a module to everybody: it tells nothing about the campaign."""
        content = self._modules.get(request.path_params["name"])
        if content is None or request.path_params["version"] != self._version:
            return PlainTextResponse("There is no such file.", 404, {"Cache-Control": "no-store"})
        return Response(content, media_type="text/javascript", headers=HEADERS)


@cache
def card_modules() -> CardModules:
    """The modules of this installation."""
    return CardModules()
