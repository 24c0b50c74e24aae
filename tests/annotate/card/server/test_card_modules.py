"""The address of the card's modules, what it answers, and the script that loads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.card.server.card_modules import FOLDER, LOADER, CardModules, card_modules
from tests.helpers import run_node

FILES = {
    "grade.js": 'import { one } from "./core/one.js";\nimport {\n  draw,\n} from "./view/draw.js";\nexport default 1',
    "core/one.js": 'export const one = "./view/draw.js";\n',
    "view/draw.js": 'import "../core/one.js";\nexport { two } from "./two.js";\nexport const draw = () => "Ü";\n',
    "view/two.js": 'import { draw } from "./draw.js";\nexport const two = () => draw;\n',
    "list.js": 'export default "another entry";\n',
    "keys.json": "{}",
    "view/names.txt": "none of a module",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / "card" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "card" / name).write_text(content, encoding="utf-8")
    (tmp_path / "secret.js").write_text("secret")
    return tmp_path / "card"


@pytest.fixture
def client(folder: Path) -> TestClient:
    return TestClient(Starlette(routes=[CardModules(folder).route()]))


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".js")])
def test_a_module_may_be_kept_for_good(client: TestClient, folder: Path, name: str) -> None:
    answer = client.get(CardModules(folder).address(name))
    assert (answer.status_code, answer.text) == (200, FILES[name])
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    "name",
    [
        *("", "none.js", "keys.json", "view/names.txt", "view", "view/", "/grade.js", "GRADE.JS", "grade.js/"),
        *(
            "%2e%2e/secret.js",
            "..%2fsecret.js",
            "view/%2e%2e/grade.js",
            "view\\draw.js",
            "grade.js%00",
            "%2fetc%2fpasswd",
        ),
    ],
)
def test_nothing_but_modules_is_served(client: TestClient, folder: Path, name: str) -> None:
    answer = client.get(CardModules(folder).address(name))
    assert (answer.status_code, answer.headers.get("cache-control")) == (404, "no-store"), name


def test_modules_are_only_read(client: TestClient, folder: Path) -> None:
    assert client.post(CardModules(folder).address("grade.js")).status_code == 405


def test_another_content_has_another_address(client: TestClient, folder: Path) -> None:
    before = CardModules(folder)
    (folder / "view" / "names.txt").write_text("nobody loads it")
    assert CardModules(folder).address("grade.js") == before.address("grade.js")
    (folder / "core" / "one.js").write_text("export const one = 2;\n")
    after = CardModules(folder)
    assert after.address("grade.js") != before.address("grade.js")
    (folder / "core" / "one.js").rename(folder / "core" / "two.js")
    assert CardModules(folder).address("grade.js") not in {before.address("grade.js"), after.address("grade.js")}
    # The server that has read the modules before goes on with these, and knows no other address.
    assert client.get(before.address("core/one.js")).text == FILES["core/one.js"]
    assert client.get(after.address("core/one.js")).status_code == 404


def test_the_loader_names_what_an_entry_imports(folder: Path, tmp_path: Path) -> None:
    modules = CardModules(folder)
    assert modules.imported("grade.js") == ["grade.js", "core/one.js", "view/draw.js", "view/two.js"]
    assert modules.imported("list.js") == ["list.js"]
    script = modules.loader("grade.js")
    assert "ADDRESSES" not in script
    assert all(f'"{modules.address(name)}"' in script for name in modules.imported("grade.js"))
    (tmp_path / "loader.mjs").write_text(script)
    run_node("--check", str(tmp_path / "loader.mjs"))


@pytest.mark.slow
def test_every_import_of_the_card_is_found() -> None:
    """Compared with what Node loads."""
    modules = card_modules()
    entries = [path.name for path in FOLDER.glob("*.js") if path != LOADER]
    for entry in ["view/frame/mount.js", *entries]:
        printed = run_node(
            "--input-type=module",
            "--eval",
            "import { registerHooks } from 'node:module';"
            "registerHooks({ load(url, context, next) { console.log(url); return next(url, context); } });"
            f"await import({json.dumps((FOLDER / entry).as_uri())}).catch(() => 'it needs a browser to run');",
        )
        loaded = [url.removeprefix(f"{FOLDER.as_uri()}/") for url in printed.splitlines()]
        assert sorted(loaded) == sorted(modules.imported(entry))
        assert len(loaded) > 5
