"""The documentation without Sphinx: in the terminal and in the app."""

import functools
import re
import runpy
from pathlib import Path

import click
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate import documentation as pages_in_app
from collection import documentation
from collection.cli import main
from collection.cli.help import list_commands
from collection.core import frames
from tests.helpers import fails, ok

LINK = re.compile(r'(?:href|src)="(/documentation/[^"#]+|[^":#]+)(?:#([^"]*))?"')


@pytest.fixture(scope="module")
def browser() -> TestClient:
    return TestClient(Starlette(routes=pages_in_app.routes()), base_url="http://localhost")


def test_the_pages_are_listed_with_their_titles() -> None:
    listed = ok("docs")
    assert re.search(r"^how-to/stop-judging +[A-Z]", listed, re.M)
    assert "index" in listed


def test_every_page_is_complete_as_plain_markdown() -> None:
    """Where others show a page, as GitHub does, nothing fills in directives, roles or comments of MyST."""
    assert len(documentation.list_pages()) > 40
    for name in documentation.list_pages():
        file = documentation.folder() / f"{name}.md"
        page = file.read_text("utf-8") if file.is_file() else documentation.read_page(name)
        assert not re.search(r"^ *(?:```+|~~~+|:::+)\{|^%|^\([\w-]+\)=$|^: |(?<!`)\{[\w:-]+\}`[^`]", page, re.M), name
        text = documentation.read_page(name)
        assert text.startswith("# "), name
        assert "<!--" not in text, name


def test_the_start_page_and_the_reference_list_every_page_by_its_title() -> None:
    item = re.compile(r"^- \[(.+)\]\((.+)\.(?:md|ipynb)\)$", re.M)
    start, reference = (item.findall(documentation.read_page(name)) for name in ("index", "reference/index"))
    listed = [(name, title) for title, name in start] + [(f"reference/{name}", title) for title, name in reference]
    assert sorted(listed) == sorted((name, t) for name, t in documentation.list_pages().items() if name != "index")


@pytest.mark.slow
def test_generated_pages_list_what_the_registries_hold() -> None:
    assert "| `nDCG[@k]` |" in documentation.read_page("reference/measures")
    assert "`nDCG = DCG / ideal DCG, " in documentation.read_page("reference/measures")
    pooling = documentation.read_page("reference/pooling")
    assert "| `depth` | The first k documents of every run" in pooling
    assert "- Parameter `ties` (default listed): " in pooling
    assert "- Source: Sparck Jones" in pooling


def test_pages_list_what_the_code_says_now() -> None:
    """Otherwise, run `make docs`, and commit what it has written."""
    script = runpy.run_path(str(documentation.folder() / "registry_pages.py"))
    pages = [page for page in documentation.folder().rglob("*.md") if script["PLACE"].search(page.read_text("utf-8"))]
    assert len(pages) == 9
    for page in pages:
        assert script["filled"](page.read_text("utf-8")) == page.read_text("utf-8"), page


def test_the_file_formats_name_the_columns_of_every_schema() -> None:
    text = documentation.read_page("reference/file-formats")
    schemas = {name: each for name, each in vars(frames).items() if isinstance(each, frames.Schema)}
    for name in schemas.keys() - {"LISTED"}:  # a part of RUN
        row = re.search(rf"^\| `{name}` \| (.*?) \|", text, re.M)
        assert row, name
        required, _, optional = row[1].partition(" (")
        assert sorted(re.findall(r"`(\w+)`", required)) == sorted(schemas[name].names)
        assert set(re.findall(r"`(\w+)`", optional)) == schemas[name].columns.keys() - set(schemas[name].names)


def test_the_command_line_page_lists_every_command() -> None:
    listed = re.findall(
        r"^\| `([\w-]+)` \| .+ \| \[.+\]\(.+\.md\) \|$", documentation.read_page("reference/command-line"), re.M
    )
    assert sorted(listed) == sorted(main.commands)


def test_the_python_page_describes_the_functions() -> None:
    text = documentation.read_page("reference/api")
    assert "\n### evaluate\n\n```text\nevaluate(qrels, runs, measures=(" in text
    assert "- `with_bounds`: Add bounds of each value" in text


def test_the_command_line_page_describes_every_option() -> None:
    text = documentation.read_page("reference/command-line")
    for name, command in list_commands(main).items():
        _, _, section = text.partition(f"\n## cleverdon {name}\n")
        section = section.partition("\n## ")[0]
        assert f"\ncleverdon {name}" in section
        shown = [each.opts[0] for each in command.params if isinstance(each, click.Option) and not each.hidden]
        assert [option for option in shown if f"| `{option}" not in section] == []


def test_pages_are_listed_in_the_order_of_the_start_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_build").mkdir()
    for file in ("a.md", "page.md", "shot.png", "_build/copy.md", "_build/copy.png"):
        (tmp_path / file).write_text("# Page\n\n<!-- campaign: energy -->\nText.\n")
    (tmp_path / "index.md").write_text("# Start\n\n- [Page](page.md)\n")
    monkeypatch.setattr(documentation, "folder", lambda: tmp_path)
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / "start" / ".ipynb_checkpoints").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "start"):
        (folder / ".ipynb_checkpoints" / "shot-checkpoint.png").touch()
    assert documentation._files("png") == ["shot.png"]
    assert list(documentation.list_pages.__wrapped__()) == ["index", "page", "a"]
    monkeypatch.setattr(documentation, "list_pages", lambda: {"page": "Page"})
    assert documentation.read_page("page") == "# Page\n\nText.\n"


def test_an_unknown_page_names_the_nearest() -> None:
    assert "did you mean 'how-to/stop-judging'?" in fails("docs", "how-to/stop-juging")


@pytest.mark.slow
def test_every_link_of_every_page_in_the_app_leads_somewhere(browser: TestClient) -> None:
    dead = []
    get = functools.cache(browser.get)
    for name in documentation.list_pages():
        answer = get(f"/documentation/{name}")
        assert answer.status_code == 200, name
        assert f"<title>{documentation.list_pages()[name].replace('&', '&amp;')}" in answer.text
        for link, place in set(LINK.findall(answer.text)):
            found = get(answer.url.join(link).path)
            if found.status_code != 200 or (place and f' id="{place}"' not in found.text):
                dead.append((name, link, place))
    assert not dead


@pytest.mark.parametrize("path", ["/documentation", "/documentation/"])
def test_the_address_without_a_page_leads_to_the_first_page(browser: TestClient, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200
    assert "The demo in ten minutes" in answer.text


@pytest.mark.parametrize("name", ["nothing", "../pyproject.toml", "%2e%2e/%2e%2e/pyproject", "images/../../README.png"])
def test_nothing_but_pages_and_their_pictures_is_served(browser: TestClient, name: str) -> None:
    assert browser.get(f"/documentation/{name}").status_code == 404


def test_markup_of_an_unknown_name_is_escaped(browser: TestClient) -> None:
    answer = browser.get("/documentation/<script>alert(1)</script>")
    assert answer.status_code == 404
    assert "<script>" not in answer.text
