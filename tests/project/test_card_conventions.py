"""Conventions of the judging card's scripts, and that breaking one is noticed."""

import re
import shutil
from pathlib import Path

from tests.helpers import ROOT, node

CORE = """\
import { draw } from "../view/planted.js";
import { send } from "../shell/planted.js";
export const random = Math.random();
export const now = Date.now();
export const seen = globalThis.seen;
export const title = document.title;
export const sent = fetch("x", { body: crypto.randomUUID() });
setTimeout(() => localStorage.clear(), 1);
export const first = [draw, send];
"""
SHELL = 'import { draw } from "../view/planted.js";\nexport const send = () => draw;\n'
VIEW = 'import { other } from "./other.js";\nexport const draw = () => other;\n'
OTHER = 'import { draw } from "./planted.js";\nexport const other = () => draw;\n'


def plant(folder: Path) -> None:
    for name in ("biome.json", "tsconfig.json", "tsconfig.core.json", "package.json"):
        shutil.copy(ROOT / name, folder)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    planted = {"core/planted": CORE, "shell/planted": SHELL, "view/planted": VIEW, "view/other": OTHER}
    for name, content in planted.items():
        file = folder / "annotate" / "card" / f"{name}.js"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


def test_the_core_is_pure_and_imports_point_downwards(tmp_path: Path) -> None:
    plant(tmp_path)
    biome = ROOT / "node_modules" / ".bin" / "biome"
    assert biome.exists(), "make lint installs what checks the card"
    done = node(str(biome), "lint", "--reporter=github", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    found = re.findall(r"title=lint/\w+/(\w+),file=\S*card/([\w/]+)\.js,line=(\d+)", done.stdout)
    assert {(file, int(line), rule) for rule, file, line in found} >= {
        ("core/planted", 1, "noRestrictedImports"),
        ("core/planted", 2, "noRestrictedImports"),
        ("core/planted", 3, "noJsRestrictedProperties"),
        ("core/planted", 4, "noJsRestrictedProperties"),
        ("core/planted", 5, "noRestrictedGlobals"),
        ("shell/planted", 1, "noRestrictedImports"),
        ("view/planted", 1, "noImportCycles"),
        ("view/other", 1, "noImportCycles"),
    }


def test_the_core_knows_no_browser(tmp_path: Path) -> None:
    plant(tmp_path)
    done = node(str(ROOT / "node_modules" / ".bin" / "tsc"), "-p", "tsconfig.core.json", folder=tmp_path)
    assert done.returncode != 0
    unknown = re.findall(r"core/planted\.js\((\d+),\d+\): error TS2\d+: Cannot find name '(\w+)'", done.stdout)
    assert unknown == [
        ("6", "document"),
        ("7", "fetch"),
        ("7", "crypto"),
        ("8", "setTimeout"),
        ("8", "localStorage"),
    ]
