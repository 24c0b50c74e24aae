"""Every Python block and every console block of the documentation runs, in a folder that holds the example files.

A page that says ``<!-- campaign: energy -->`` finds the campaign of the first tutorial there, pooled and judged.
A page's Python blocks share one namespace and its console blocks one folder, in the order of the page. A console block
holds commands (``$ cleverdon ...``) and, if it shows it, what they print; ``...`` stands for anything.
Commands that are not run here (they install, or open a browser) stand in ``shell`` blocks.
"""

import ast
import doctest
import re
import shlex
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from annotate.views.widgets.widgets import NEXT
from collection import cli
from collection.cli import main
from collection.cli.help import CommandGroup, list_commands
from collection.machine_labels.rules import LABEL_RULES
from collection.measures import MEASURES
from collection.pooling import STRATEGIES
from tests.helpers import ROOT, first_of, forget_members, ok, run

DOCS = ROOT / "docs"
WITHOUT_PAGES = {"_build", "examples", ".ipynb_checkpoints"}
PAGES = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if not WITHOUT_PAGES & set(page.parts))]
RUNS = ("bm25.run", "lsi.run", "chars.run")
PICTURE = re.compile(r"!\[(.*?)\]\((.+?)\)")
HTML_PICTURE = re.compile(r'(?:src|srcset)="(.+?)"')
HTML_ALT = re.compile(r'<img [^>]*alt="(.+?)"')
SHELL = re.compile(r"^```shell\n(.*?)^```$", re.S | re.M)
OPERATIONS = sorted((DOCS / "operations").glob("*.md"))
PROGRAMS = (
    r"(?:cleverdon|make|python|/\S+/pip|pip|curl|chmod|chown|cp|rm|caddy|nginx|useradd|systemctl|runuser|docker) "
)
VALUES = {"DIR": "wings", "NAME": "carol", "HOST": "images.example.org"}
"""What stands for the placeholders when a command of the operations pages runs."""
NOT_RUN = {
    r"cleverdon serve ": "runs until it is stopped; tests/project/test_deploy.py runs the unit's",
    r"cleverdon (features|check|import|export) .*(FILE|log\.jsonl)": "needs files; run in tests/collection/cli",
    r"make (torture|audit|oldest)|python tests/benchmarks/": "takes minutes, or a network",
    r"(/\S+/)?pip install": "needs a package index",
    r"curl .*/healthz": "the service of tests/project/test_deploy.py is asked by the container's health check",
    r"chmod 600 wings/sso\.toml": "the file is the reader's; tests/annotate/test_serve.py covers its permissions",
    r"(rm|cp) .*wings/(campaign|backups)": "tests/project/test_deploy.py rolls a campaign back with it",
    r"caddy validate|nginx -t": "needs the installed file; tests/project/test_deploy.py checks the examples",
    r"useradd|chown|cp cleverdon/deploy|runuser": "changes accounts and files of the system",
    r"systemctl": "needs systemd as the first process",
    r"docker": "needs a Docker daemon",
}
"""Commands of the operations pages that no test of this file runs, as patterns of their beginnings, and the reasons."""
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.S | re.M)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output that it shows; a backslash continues a line."""
    for part in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def build_energy(folder: Path) -> Path:
    """Build the campaign of the first tutorial in a copy of the example files."""
    made, runs = folder / "energy", [x for name in RUNS for x in ("--run", folder / name)]
    files = ["--documents", folder / "documents.jsonl", "--topics", folder / "topics.tsv", *runs]
    ok("new", made, "--title", "Home energy")
    ok("import", made, *files)
    ok("pool", made, "--depth", 5)
    ok("assign", made, "--annotators", 2)
    ok("import", made, "--labels", folder / "labels.csv")
    return made


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example files and the campaign that the first tutorial makes of them."""
    folder = tmp_path_factory.mktemp("documentation") / "examples"
    shutil.copytree(DOCS / "examples", folder)
    build_energy(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", first_of((p for p in PAGES if blocks(p)), 8), ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_run(page: Path, campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_campaign = "<!-- campaign: energy -->\n" in page.read_text()
    shutil.copytree(campaign if needs_campaign else DOCS / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    forget_members(monkeypatch, MEASURES, STRATEGIES, LABEL_RULES)
    names: dict[str, object] = {"__name__": "__main__"}
    for language, block in blocks(page):
        if language == "python":
            exec(compile(block, str(page), "exec"), names)
            continue
        for command, shown in commands(block):
            program, *arguments = shlex.split(command, comments=True)
            assert program == "cleverdon", f"{page}: only `cleverdon` runs in a console block, found: {command}"
            result = run(*arguments)
            assert result.exit_code == 0, f"{command}\n{result.output}"
            if shown.strip():
                same = doctest.OutputChecker().check_output(
                    shown.rstrip() + "\n",
                    result.output.rstrip() + "\n",
                    doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
                )
                assert same, f"{command}\nshown:\n{shown}\nprinted:\n{result.output}"


def test_commands_that_do_not_run_here_exist_with_their_options() -> None:
    wrong = []
    for page in PAGES:
        text = page.read_text().replace("\\\n", "")
        shells = [line for block in SHELL.findall(text) for line in block.splitlines()]
        for written in [*shells, *re.findall(r"`(cleverdon [^`]+)`", text)]:
            program, *arguments = shlex.split(written, comments=True) or [""]
            if program == "cleverdon" and arguments and not exists(arguments):
                wrong.append((str(page.relative_to(ROOT)), written))
    assert not wrong


def exists(arguments: list[str]) -> bool:
    """Whether there is a command with these options; an option or a placeholder may stand in place of the command."""
    name, *rest = arguments
    if name.startswith("-") or name.isupper():
        return True
    command = main.commands.get(name)
    if isinstance(command, CommandGroup) and rest:
        name, *rest = rest
        command = command.commands.get(name)
    known = {o for parameter in command.params for o in parameter.opts} | {"--help"} if command else set()
    return command is not None and {a.partition("=")[0] for a in rest if a.startswith("-")} <= known


def begins_like_a_command(arguments: list[str]) -> bool:
    """Whether there is such a command; of a group, whose name may be a word of a sentence, whether it has it."""
    command = main.commands.get(arguments[0])
    return command is not None and (not isinstance(command, CommandGroup) or exists(arguments[:2]))


def sentences(file: Path) -> Iterator[str]:
    """Texts of a Python module, its docstrings included, with X for what is filled in; of another file, all of it."""
    if file.suffix != ".py":
        yield file.read_text()
        return
    inner = set[ast.AST]()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.JoinedStr):
            inner.update(node.values)
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "X" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inner:
            yield node.value


def test_commands_that_the_program_names_exist_with_their_options() -> None:
    """In sentences of the library and the app, with or without the name of the program, and in examples of help."""
    files = [f for folder in ("collection", "annotate") for f in (ROOT / folder).rglob("*")]
    files = [f for f in files if f.suffix in {".py", ".js", ".html", ".json"} and "node_modules" not in f.parts]
    named, wrong = 0, []
    for file in files:
        for text in sentences(file):
            plain = re.sub(r"\s+", " ", text)
            spans = [*re.findall(r"`(?:cleverdon )?([^`]+)`", plain), *re.findall(r"(?m)^ *cleverdon (.+)$", text)]
            has_program = [*re.findall(r"`cleverdon ([^`]+)`", plain), *re.findall(r"(?m)^ *cleverdon (.+)$", text)]
            for span in spans:
                arguments = re.findall(r"[^\s,;:()'\"\[\]]+", span)
                if not arguments or (span not in has_program and not begins_like_a_command(arguments)):
                    continue
                named += 1
                if not exists(arguments):
                    wrong.append((str(file.relative_to(ROOT)), span))
    assert named > 200
    assert not wrong


@pytest.mark.parametrize("page", NEXT)
def test_the_next_step_names_a_command(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    cli.print_next(Path("wings"), {"page": page, "sentence": "Do it."})
    said, command = capsys.readouterr().out.splitlines()
    assert said == "Next: Do it."
    assert exists(command.split()[1:])
    name, found = next(
        each for each in list_commands(main).items() if f"{command} ".startswith(f"  cleverdon {each[0]} ")
    )
    required = [p for p in found.params if p.param_type_name == "argument" and p.required]
    arguments = command.split()[1 + len(name.split()) :]
    assert len([word for word in arguments if not word.startswith("--")]) >= len(required)


def operations(page: Path) -> list[str]:
    """Commands of a page that are not in console blocks: in shell and text blocks, and in the text."""
    text = re.sub(r"^```(console|python)\n.*?^```$", "", page.read_text().replace("\\\n", ""), flags=re.S | re.M)
    found = re.findall(rf"(?:^|`)(?:\$ )?({PROGRAMS}[^`\n]+)", text, re.M)
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    assert all(re.match(PROGRAMS, line) for line in lines), f"{page}: PROGRAMS lacks a program of {lines}"
    return [re.sub(r"\s+", " ", command.partition(" #")[0]).strip() for command in found]


def reasons(command: str) -> list[str]:
    """Patterns of NOT_RUN for this command."""
    return [pattern for pattern in NOT_RUN if re.match(pattern, command)]


@pytest.mark.slow
@pytest.mark.parametrize("page", OPERATIONS, ids=lambda page: page.stem)
@pytest.mark.long
def test_commands_of_operations_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are not in NOT_RUN, in the order of the page, on a campaign with the manager ann and carol."""
    monkeypatch.chdir(tmp_path)
    ok("new", "wings")
    ok("people", "wings", "--invite", "ann", "--role", "manager")
    ok("people", "wings", "--invite", "carol", "--role", "annotator")
    for command in operations(page):
        program, *arguments = shlex.split(command)
        if reasons(command) or len(arguments) == 1:  # one word: the name of a command
            continue
        assert program == "cleverdon", f"{page.name}: run it, or say in NOT_RUN why not: {command}"
        result = run(*(VALUES.get(argument, argument) for argument in arguments))
        assert result.exit_code == 0, f"{command}\n{result.output}"


def test_commands_that_operations_do_not_run_are_on_a_page() -> None:
    used = {pattern for page in OPERATIONS for command in operations(page) for pattern in reasons(command)}
    assert used == NOT_RUN.keys()


def test_readme_is_short() -> None:
    text = (ROOT / "README.md").read_bytes()
    assert text.count(b"\n") <= 160
    assert len(text) < 11_000


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_links_of_the_files_beside_the_documentation_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / name).read_text())
    assert [link for link in links if "://" not in link and not (ROOT / link).is_file()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/contributing.md"])
def test_files_that_contributors_are_sent_to_exist(page: str) -> None:
    named = re.findall(r"`((?:annotate|collection|docs|tests)/[^\s`]+)`", (ROOT / page).read_text())
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


NAMED = r"((?:`[A-Za-z_.]+`(?:,| and)?\s+)+)(?:in|of)\s+`([a-z_/]+\.(?:py|js))`"
"""Names in backticks, and the file that is said to have them."""


def defines(file: Path, name: str) -> bool:
    """Whether a file has a function, class, method or constant of this name, or a table that its SQL creates."""
    kinds = r"(?:def|class|function\*?|const|TABLE|TRIGGER|VIEW)(?: IF NOT EXISTS)?"
    return bool(re.search(rf'{kinds} "?{name}\b|^ *{name}(?:\(.*\{{$|: | = )', file.read_text(), re.M))


def test_what_contributors_are_sent_to_is_in_its_file() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = [(name, file) for names, file in re.findall(NAMED, text) for name in re.findall(r"[\w.]+", names)]
    named = [(name, file) for name, file in named if name != "and"]
    assert len(named) > 30
    files = [path for folder in ("annotate", "collection", "tests") for path in (ROOT / folder).rglob("*.*")]
    for name, file in named:
        places = [path for path in files if path.as_posix().endswith(f"/{file}")]
        assert any(all(defines(path, part) for part in name.split(".")) for path in places), f"{name} in {file}"
    assert not defines(ROOT / "collection/campaign/exports/export.py", "files")


def test_every_picture_has_a_description() -> None:
    pictures = [(page.name, alt, file) for page in PAGES for alt, file in PICTURE.findall(page.read_text())]
    assert pictures
    assert [picture for picture in pictures if len(picture[1].split()) < 5] == []
    front = (ROOT / "README.md").read_text()
    descriptions = HTML_ALT.findall(front)
    assert len(descriptions) == front.count("<img ") > 0
    assert [each for each in descriptions if len(each.split()) < 5] == []


def test_pictures_of_the_front_page_are_there_and_small() -> None:
    named = HTML_PICTURE.findall((ROOT / "README.md").read_text())
    assert {Path(name).suffix for name in named} >= {".gif", ".svg"}
    assert [name for name in named if not (ROOT / name).is_file()] == []
    assert sum((ROOT / name).stat().st_size for name in named) < 1_000_000


def test_citation_has_what_the_format_requires() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == version("cleverdon")
    assert all("name" in author or "family-names" in author for author in citation["authors"])
