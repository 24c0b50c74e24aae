"""Conventions of the code, and that breaking one is noticed."""

import ast
import functools
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import click
import pytest

from annotate.auth.page_access import PAGES
from collection.campaign import Campaign
from collection.store import Store
from tests.helpers import ROOT, grows_linearly, ok, some

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


BREACHES = [
    ("collection/core/records.py", "from collection import campaign", "Imports run downwards only"),
    ("collection/unplaced.py", "", "Imports run downwards only"),
    (
        "collection/campaign/settings/settings.py",
        "import collection.campaign.judging.judging",
        "Services stand on each other",
    ),
    ("collection/campaign/unplaced.py", "", "Services stand on each other"),
    ("collection/store/queue.py", "import collection.store.corpus", "Repositories stand on the connection"),
    ("collection/store/judgements.py", "from collection import pooling", "never import each other"),
    ("collection/pooling/depth_pool.py", "from collection import formats", "never import each other"),
    ("collection/active_learning/training_round.py", "from collection import store", "never import each other"),
    ("collection/campaign/progress/progress.py", "import streamlit", "The library does not know the app"),
    ("collection/cli/output.py", "import annotate.application", "The library does not know the app"),
    ("collection/campaign/progress/progress.py", "import sqlite3", "No SQL outside store and schema"),
    ("annotate/auth/session.py", "from collection.store import Store", "only what is public in the library"),
    ("annotate/views/loop/recall.py", "from collection.stopping import ledger", "only what is public in the library"),
    ("annotate/server/origins.py", "from annotate.auth import session", "The app imports downwards only"),
    ("annotate/views/widgets/display.py", "import annotate.views.loop.recall", "Groups of pages share"),
    ("annotate/unplaced.py", "", "The app imports downwards only"),
    ("annotate/views/loop/recall.py", "import annotate.views.results.compare", "Groups of pages share"),
    ("annotate/views/unplaced.py", "", "Groups of pages share"),
]


@functools.cache
def parsed(file: Path) -> list[ast.AST]:
    """All nodes of a Python file."""
    return list(ast.walk(ast.parse(file.read_text())))


def dotted(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the lint says of each contract, of packages with our modules, all empty but for the breaches."""
    folder = tmp_path_factory.mktemp("breaches")
    for file in modules().values():
        empty = folder / file.relative_to(ROOT)
        empty.parent.mkdir(parents=True, exist_ok=True)
        empty.touch()
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name, line, _ in BREACHES:
        with (folder / name).open("a") as file:
            file.write(f"{line}\n")
    wide = os.environ | {"COLUMNS": "300"}
    done = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], cwd=folder, env=wide, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout
    contracts = re.findall(r"^(.*) BROKEN$", done.stdout, re.M)
    _, *parts = re.split(r"^(" + "|".join(map(re.escape, contracts)) + r")\n-+\n", done.stdout, flags=re.M)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize(("file", "line", "contract"), BREACHES)
def test_a_breach_is_found(broken: dict[str, str], file: str, line: str, contract: str) -> None:
    """By the contract that forbids it, with the module and what it imports."""
    (said,) = [text for name, text in broken.items() if contract in name]
    if not line:
        assert re.search(rf"not listed as layers:\n\n- {re.escape(dotted(file))}\n", said)
    else:
        first, second = re.fullmatch(r"(?:import|from) (\S+)(?: import (\w+))?", line).groups()
        target = f"{first}.{second}" if second and second.islower() else first
        assert re.search(rf"^- +{re.escape(dotted(file))} -> {re.escape(target)} \(l\.\d+\)$", said, re.M)


def test_nothing_else_is_found(broken: dict[str, str]) -> None:
    found = re.findall(r"^- +(\S+)(?: -> .*)?$", "\n".join(broken.values()), re.M)
    assert set(found) == {dotted(file) for file, _, _ in BREACHES}


def modules() -> dict[str, Path]:
    """Every module of both packages by its dotted name."""
    files = [file for part in ("collection", "annotate") for file in (ROOT / part).rglob("*.py")]
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def imported(file: Path, known: Iterable[str]) -> set[str]:
    """The modules that a file imports anywhere, in functions and for types as well."""
    found = set()
    for node in parsed(file):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found & set(known)


def test_no_two_modules_import_each_other_even_indirectly() -> None:
    known = modules()
    packages = {name for name, file in known.items() if file.name == "__init__.py"}
    graph = {name: imported(file, known) - {name} for name, file in known.items()}
    for name, targets in graph.items():  # `from package import module` is an import of the module alone
        targets -= {t for t in targets & packages if any(other.startswith(f"{t}.") for other in targets)}
        targets -= {t for t in targets & packages if name.startswith(f"{t}.")}
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_modules_are_nouns() -> None:
    """A name that ends in -ing is a term of the field."""
    terms = {
        "active_learning",
        "judging",
        "llm_judging",
        "multiple_testing",
        "pooling",
        "ranking",
        "rendering",
        "sampling",
        "screening",
        "stopping",
    }
    assert {stem for name in modules() if (stem := name.rpartition(".")[2]).endswith("ing")} <= terms


HEADLESS = re.compile(r"(What|How|Where|Whether|When|Which|Who|Whose|Why|As|By|Of|If|For) ")
DESCRIBED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def headless(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Docstrings that begin with a subordinate clause or a preposition in place of a verb or a noun."""
    docs = (ast.get_docstring(node) or "" for node in nodes if isinstance(node, DESCRIBED))
    return (doc for doc in docs if HEADLESS.match(doc))


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    assert [(name, doc) for name, file in modules().items() for doc in headless(parsed(file))] == []
    assert list(headless(ast.walk(ast.parse('def f():\n    """Whether it is so."""')))) == ["Whether it is so."]


PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^[^\s:].*?(?=:|$)", re.MULTILINE)


def unknown_parameters(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names under "Parameters" that the function does not have."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and (listed := PARAMETERS.search(ast.get_docstring(node) or "")):
            known = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            names = {name.strip(" *") for entry in ENTRY.findall(listed[1]) for name in entry.split(",")}
            yield from sorted(names - known)


def test_documented_parameters_exist() -> None:
    assert [(name, each) for name, file in modules().items() for each in unknown_parameters(parsed(file))] == []
    planted = 'def f(a, *, b):\n    """Do.\n\n    Parameters\n    ----------\n    a, c\n        Both.\n    """'
    assert list(unknown_parameters(ast.walk(ast.parse(planted)))) == ["c"]


VAGUE = {"asked", "came_by", "kept", "made_of", "mine", "there", "told", "theirs"}


def vague(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that are participles or adverbs, and functions that begin with "of"."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name.strip("_").startswith("of_"):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) if name in VAGUE:
                yield name


def test_names_say_what_a_thing_is() -> None:
    stored = {"asked"}  # columns of tables that are printed
    assert [(name, each) for name, file in modules().items() for each in {*vague(parsed(file))} - stored] == []
    assert list(vague(ast.walk(ast.parse("def of_topic(there): kept = 1")))) == ["of_topic", "there", "kept"]


@pytest.mark.parametrize("composed", [Campaign, Store])
def test_campaign_and_store_are_composed(composed: type) -> None:
    assert composed.__bases__ == (object,)


def test_services_and_repositories_keep_what_is_private() -> None:
    """None reaches into another, and none asks itself which attributes it has."""
    of_tuples = {"_replace", "_asdict", "_make", "_fields"}
    for file in some((ROOT / "collection").rglob("*.py")):
        for node in parsed(file):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
                assert ast.unparse(node.args[0]) != "self", f"{file}:{node.lineno}"
            if isinstance(node, ast.Attribute):
                place = f"{file}:{node.lineno}"
                assert node.attr != "__dict__", place
                is_private = re.match("_[a-z]", node.attr) and node.attr not in of_tuples
                if is_private and {"campaign", "store"} & {*file.parts}:
                    assert ast.unparse(node.value) in ("self", "cls"), place


def test_no_file_of_the_app_hides_a_top_level_module() -> None:
    """Streamlit puts annotate/ first on the path."""
    names = {p.stem for p in (ROOT / "annotate").iterdir() if p.suffix == ".py" or p.is_dir()}
    names -= {"__init__", "__main__", "__pycache__"}
    taken = set(sys.stdlib_module_names) | set(importlib.metadata.packages_distributions())
    assert not names & (taken - {"annotate", "collection"})


def pages() -> list[Path]:
    return [ROOT / "annotate" / "views" / page.file for page in PAGES]


def imported_names(file: Path) -> set[str]:
    """The modules of this project that a file imports, with the names that it imports from them."""
    return {name for name in all_imports(file) if name.startswith(("annotate.", "collection."))}


def test_pages_import_what_they_draw_with_and_the_library() -> None:
    # The card, the types of what it is given, and the length of a note.
    allowed = ("annotate.views.", "annotate.auth.", "collection.", "annotate.card.server.card.")
    allowed += ("annotate.card.server.wire.", "annotate.card.server.unit_wire.PairFilter")
    allowed += ("annotate.card.server.lenient.LONGEST_NOTE",)
    scripts = {dotted(str(page.relative_to(ROOT))) for page in pages()}
    for page in pages():
        names = imported_names(page)
        assert {name for name in names if not name.startswith(allowed)} == set(), page
        assert not names & scripts, page


def test_the_library_and_the_app_below_the_pages_do_not_import_them() -> None:
    for file in some((ROOT / "annotate").rglob("*.py")):
        if "views" not in file.parts and file.name != "app.py":
            assert {name for name in imported_names(file) if name.startswith("annotate.views")} == set(), file.name


def test_comments_of_the_cards_name_files_that_exist() -> None:
    app = ROOT / "annotate"
    known = {path.name for folder in (app, ROOT / "collection") for path in folder.rglob("*.*")}
    card = app / "card"
    named = {
        (file.name, name)
        for file in [*card.rglob("*.js"), *card.rglob("*.css")]
        for name in re.findall(r"\b([\w-]+\.(?:js|css|py|html))\b", comments(file.read_text()))
    }
    assert len(named) > 2, "comments do name files"
    assert {(file, name) for file, name in named if name not in known} == set()


def comments(script: str) -> str:
    """The comments of a script or style sheet, without imports of types, which the type checker looks up."""
    found = "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", script, re.DOTALL))
    return re.sub(r"@import .*|import\([^)]*\)", "", found)


def mirrored_files() -> list[Path]:
    """The test files below tests/collection and tests/annotate."""
    return [file for part in ("collection", "annotate") for file in (ROOT / "tests" / part).rglob("test_*.py")]


PUBLIC_NAMES = {
    "collection.campaign": {
        "tests.conftest",
        "collection.Campaign",
        "collection.campaign.Campaign",
        "tests.helpers.ok",
    },
    "collection.cli": {"tests.helpers.ok", "tests.helpers.run", "tests.helpers.fails"},
    "annotate.card": {"tests.benchmarks.bench_overlap", "tests.helpers.node"},
    "annotate.views": {"streamlit.testing.v1.AppTest", "collection.Campaign"},
}
"""What a test of a package, or of one in it, may import instead of its modules."""


def test_every_test_lies_under_the_package_that_it_tests() -> None:
    known = modules()
    assert not list((ROOT / "tests").glob("test_*.py"))
    stray = []
    for file in mirrored_files():
        package = ".".join(file.parent.relative_to(ROOT / "tests").parts)
        assert known[package].name == "__init__.py", file
        public = (each for name, each in PUBLIC_NAMES.items() if f"{package}.".startswith(f"{name}."))
        names = {package, *chain.from_iterable(public)}
        if not any(found == name or found.startswith(f"{name}.") for found in all_imports(file) for name in names):
            stray.append(file.name)
    assert stray == []


def test_no_public_name_is_that_of_a_module_beside_it() -> None:
    """With an older lazy-loader, such a name is the module once it has been imported."""
    packages = [file.parent for file in (ROOT / "collection").rglob("__init__.pyi")]
    assert packages
    for package in packages:
        imports = (node for node in parsed(package / "__init__.pyi") if isinstance(node, ast.ImportFrom))
        listed = {alias.asname for node in imports for alias in node.names}
        assert not listed & {file.stem for file in package.iterdir()}, package


def all_imports(file: Path) -> set[str]:
    """Modules that a file imports, and the names that it imports from them."""
    found: set[str] = set()
    for node in parsed(file):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


NO_TIME = "no test asserts a time: count steps, or compare by grows_linearly() of tests.helpers"
WAITS = {
    "time.sleep": "until() of tests.helpers waits for what is to happen",
    "page.wait_for_function": "wait() of tests.browser.waiting says what does not come",
    "page.wait_for_timeout": "wait for what is to happen",
    **{f"time.{clock}": NO_TIME for clock in ("perf_counter", "thread_time", "process_time")},
    "time.monotonic": "until() of tests.helpers waits",
}
"""Calls in tests, and what to do instead."""

WAITING = {"tests/helpers.py", "tests/browser/waiting.py", "tests/browser/pictures.py", "tests/project/package.py"}
"""Files that wait for the others, and scripts that are no tests."""


def waits(file: Path) -> Iterator[tuple[int, str]]:
    """Places where a test waits, or looks at the clock, without the patience of all others."""
    for node in parsed(file):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        yield from (
            (node.lineno, why) for name, why in WAITS.items() if f"{called}()".endswith(name.removesuffix("()") + "()")
        )
        given = [each.value for each in node.keywords if each.arg and each.arg.endswith("timeout")]
        if called.rpartition(".")[2] in ("wait", "join", "settimeout", "result", "communicate"):
            given += node.args
        if any(isinstance(each, ast.Constant) and isinstance(each.value, int | float) for each in given):
            yield node.lineno, "a wait takes PATIENCE of tests.helpers"


def test_every_wait_says_what_for_and_is_generous() -> None:
    files = [file for file in (ROOT / "tests").rglob("*.py") if "benchmarks" not in file.parts]
    assert len(files) > 100
    found = [
        f"{file.relative_to(ROOT)}:{line}: {why}"
        for file in files
        if file.relative_to(ROOT).as_posix() not in WAITING
        for line, why in waits(file)
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "time.sleep(1)",
        "card.page.wait_for_function('x')",
        "begun = time.perf_counter()",
        "end = time.monotonic() + 5",
        "expect(node).to_be_visible(timeout=8_000)",
        "AppTest.from_file(script, default_timeout=60)",
        "thread.join(5)",
        "event.wait(0.5)",
        "client.settimeout(20)",
    ],
)
def test_an_impatient_wait_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "test_it.py").write_text(f"{line}\nuntil(there, 'it', seconds=PATIENCE)\n', '.join(words)\n")
    assert [number for number, _ in waits(tmp_path / "test_it.py")] == [1]


FOUND = ("glob", "rglob", "iterdir", "findall", "finditer")
"""Methods that may find nothing."""


def vacuous(file: Path) -> Iterator[tuple[int, str]]:
    """Places where a test may check nothing: loops over what was not found, and errors of every kind."""
    for node in parsed(file):
        match node:
            case ast.For(iter=items, body=body) if may_find_nothing(items):
                if any(isinstance(each, ast.Assert) for part in body for each in ast.walk(part)):
                    yield node.lineno, "loop over some(...) of tests.helpers"
            case ast.Assert(ast.Call(ast.Name("all"), [ast.GeneratorExp(generators=[first, *_])])):
                if may_find_nothing(first.iter):
                    yield node.lineno, "ask all(... for ... in some(...)) of tests.helpers"
            case ast.Call(func, [ast.Name("Exception" | "BaseException"), *_]) if ast.unparse(func) == "pytest.raises":
                yield node.lineno, "name the error that is raised"


def may_find_nothing(items: ast.expr) -> bool:
    match items:
        case ast.Call(ast.Name("sorted" | "list" | "set" | "enumerate"), [first, *_]):
            return may_find_nothing(first)
        case ast.Call(ast.Attribute(attr=name)):
            return name in FOUND
    return False


def test_no_test_checks_nothing() -> None:
    files = [file for file in some((ROOT / "tests").rglob("*.py")) if "benchmarks" not in file.parts]
    assert [f"{file.relative_to(ROOT)}:{line}: {why}" for file in files for line, why in vacuous(file)] == []


@pytest.mark.parametrize(
    "lines",
    [
        "for file in sorted(folder.glob('*.js')):\n    assert file",
        "assert all(link for link in re.findall(pattern, text))",
        "with pytest.raises(Exception, match='x'):\n    pass",
    ],
)
def test_a_test_that_may_check_nothing_is_found(tmp_path: Path, lines: str) -> None:
    good = "for file in some(folder.glob('*.js')):\n    assert file\nassert all(part for part in PARTS)\n"
    (tmp_path / "test_it.py").write_text(f"{lines}\n{good}")
    assert [number for number, _ in vacuous(tmp_path / "test_it.py")] == [1]


def test_work_that_grows_with_the_square_is_noticed() -> None:
    assert grows_linearly(lambda size: lambda: [2 * n for n in range(size)], 5000)
    assert not grows_linearly(lambda size: lambda: [m + n for m in range(size) for n in range(size)], 100)


def test_every_entry_of_every_table_describes_itself() -> None:
    from collection.active_learning.learners import LEARNERS
    from collection.adjudication import ADJUDICATION_RULES
    from collection.annotator_agreement import COEFFICIENTS
    from collection.machine_labels.rules import LABEL_RULES
    from collection.machine_labels.templates import TEMPLATES
    from collection.measures import MEASURES
    from collection.pooling import STRATEGIES
    from collection.preferences.choices import CHOICE_RULES
    from collection.stopping import RULE_FAMILIES, STOPPING_RULES

    for table in (
        ADJUDICATION_RULES,
        CHOICE_RULES,
        COEFFICIENTS,
        MEASURES,
        STRATEGIES,
        LEARNERS,
        STOPPING_RULES,
        RULE_FAMILIES,
        LABEL_RULES,
        TEMPLATES,
    ):
        assert len(table) > 0
        for entry in table:
            assert entry.label
            assert entry.description.endswith("."), entry.name
            assert "\n" not in entry.description
            assert entry.function.__doc__, entry.name
            assert table[entry.name] is entry


def test_every_command_and_option_has_a_help_text() -> None:
    """The reference of the documentation is generated from them."""
    from collection.cli import main
    from collection.cli.help import list_commands

    for name, command in list_commands(main).items():
        assert command.help, name
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help, (name, parameter.name)


def test_what_is_public_is_there() -> None:
    import collection

    for name in collection.__all__:
        assert getattr(collection, name).__name__ == name
    with pytest.raises(AttributeError):
        collection.nothing  # noqa: B018


def test_registry_refuses_a_name_twice() -> None:
    from collection.core.errors import InputError
    from collection.core.registry import Entry, Registry

    table = Registry("rule", Entry)
    table.add("one", label="One", description="The first.")(lambda: None)
    with pytest.raises(InputError, match="'one' is already registered"):
        table.add("one", label="One", description="Again.")(lambda: None)


@pytest.mark.parametrize("family", ["strategies", "learners", "stopping", "families", "rules", "label-rules"])
def test_methods_are_listed_as_json_although_types_of_arguments_are_imported_for_checkers_only(family: str) -> None:
    entries = json.loads(ok("methods", family, "--format", "json"))
    assert all(set(entry["choices"]) <= set(entry["parameters"]) for entry in entries)


def test_parameters_of_a_learner_are_read() -> None:
    from collection.active_learning.learners import LEARNERS

    assert LEARNERS["svm"].read("c", "1") == 1.0
