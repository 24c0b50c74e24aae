"""The notebooks of the documentation run, their stored outputs are what they print now, and every reader shows them."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate import documentation as pages_in_app
from collection import documentation
from tests.helpers import ROOT, some
from tests.project.test_documentation import exists

SCRIPT = ROOT / "docs" / "notebooks.py"
NOTEBOOKS = some(sorted((ROOT / "docs").glob("*/*.ipynb")))


def check(*paths: Path) -> subprocess.CompletedProcess[str]:
    """Compare stored outputs with new ones in a process of its own."""
    command = [sys.executable, SCRIPT, "--check", *paths]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def notebook(*cells: str, **metadata: str) -> dict[str, Any]:
    """A notebook of code that was not run."""
    code = [
        {"cell_type": "code", "metadata": metadata, "source": [source], "outputs": [], "execution_count": None}
        for source in cells
    ]
    return {"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_stored_outputs_are_what_the_notebook_prints_now(path: Path) -> None:
    """Otherwise, run `make notebooks`, look at what has changed, and commit it."""
    done = check(path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.long
def test_a_difference_is_found(tmp_path: Path) -> None:
    path = tmp_path / "small.ipynb"
    chart = "import altair as alt, pandas as pd\nalt.Chart(pd.DataFrame({'x': [1]})).mark_bar().encode(x='x:Q')"
    small = notebook("print('six')", "import pandas as pd\npd.DataFrame({'a': [7]})", chart, "None", "x = 1")
    path.write_text(json.dumps(small))
    done = check(path)
    assert done.returncode == 1
    new = [line.removeprefix("+").strip() for line in done.stdout.splitlines()]
    assert r'"six\n"' in new
    assert any("<td>7</td>" in line for line in new)
    assert '"alt.Chart(...)"' in new
    assert "vega" not in done.stdout
    path.write_text(json.dumps(notebook("1 / 0")))
    assert "ZeroDivisionError" in check(path).stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_stored_notebook(path: Path) -> None:
    stored = json.loads(path.read_text("utf-8"))
    assert runpy.run_path(str(SCRIPT))["written"](stored) == path.read_text("utf-8")
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert len(path.read_bytes()) < 150_000
    assert not re.search(r"/tmp/|/home/|altair-viz-|traceback", path.read_text("utf-8"))
    pictures = [cell for cell in code if documentation.PICTURE in str(cell["outputs"])]
    charts = [cell for cell in code if "chart(" in "".join(cell["source"])]
    assert pictures == charts
    assert len(pictures) >= 1
    assert [cell["source"] for cell in pictures if len(cell["metadata"].get("alt", "").split()) < 8] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_and_commands_of_a_notebook(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    links = some(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text))
    assert [link for link in links if not (path.parent / link).is_file()] == []
    assert [each for each in re.findall(r"`cleverdon ([^`]+)`", text) if not exists(shlex.split(each))] == []


# --- as Markdown ----------------------------------------------------------------------------------------

FRAME = """<div><style>td { color: red }</style><table><thead>
<tr><th>measure</th><th colspan="2">AP</th></tr><tr><th></th><th>mean</th><th></th></tr>
<tr><th>run</th><th></th><th></th></tr></thead>
<tbody><tr><th>a|b_c</th><td>0.5 *</td><td>1</td></tr></tbody></table></div>"""


def with_output(**data: str) -> dict[str, Any]:
    made = notebook("x", alt="A bar")
    made["cells"][0]["outputs"] = [
        {"data": {kind.replace("_", "/"): text for kind, text in data.items()}, "metadata": {}}
    ]
    made["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": ["# T\n", "Text"]})
    return made


@pytest.mark.parametrize(
    ("data", "plain", "rich"),
    [
        (
            {"text_plain": "a 0.5\n", "text_html": f"<p>1 * 2</p>{FRAME}<p>Details: b_c</p>"},
            "```text\na 0.5\n```",
            "1 \\* 2\n\n| run | AP, mean | AP |\n| --- | --: | --: |\n| a\\|b\\_c | 0.5 \\* | 1 |\n\nDetails: b\\_c",
        ),
        ({"text_plain": "alt.Chart", "image_png": "AAAA"}, "[Chart: A bar]", "![A bar](1-AAAA)"),
        ({"text_plain": "7"}, "```text\n7\n```", "```text\n7\n```"),
    ],
)
def test_outputs_as_markdown(data: dict[str, str], plain: str, rich: str) -> None:
    before = "# T\nText\n\n```python\nx\n```\n\n"
    made = with_output(**data)
    assert documentation.notebook_as_markdown(made) == f"{before}{plain}\n"
    assert documentation.notebook_as_markdown(made, lambda number, text: f"{number}-{text}") == f"{before}{rich}\n"


def test_pages_and_pictures_in_the_app() -> None:
    browser = TestClient(Starlette(routes=pages_in_app.routes()), base_url="http://localhost")
    for path in NOTEBOOKS:
        name = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        page = browser.get(f"/documentation/{name}.ipynb")
        assert page.url.path == f"/documentation/{name}"
        pictures = some(re.findall(r'<img src="([^"]+)" alt="[^"]{40,}"', page.text))
        assert "<table>" in page.text
        for picture in pictures:
            answer = browser.get(page.url.join(picture).path)
            assert answer.headers["Content-Type"] == "image/png"
            assert answer.content.startswith(b"\x89PNG")


def test_a_notebook_in_the_terminal_is_text() -> None:
    for path in NOTEBOOKS:
        text = documentation.read_page(path.relative_to(ROOT / "docs").with_suffix("").as_posix())
        assert "[Chart: " in text
        assert max(map(len, text.splitlines())) <= 200
