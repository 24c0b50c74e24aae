"""A package outside Cleverdon adds a member to every table by entry points, and it is everywhere at once."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign
from collection.active_learning.learners import LEARNERS
from collection.adjudication import ADJUDICATION_RULES
from collection.core.errors import InputError
from collection.core.registry import Entry, Registry
from collection.measures import MEASURES
from collection.pooling import STRATEGIES
from collection.stopping import STOPPING_RULES
from tests.helpers import ROOT, Opened, at_once, fails, forget_members, ok

pytestmark = pytest.mark.slow

TABLES = {table.group: table for table in (MEASURES, STRATEGIES, LEARNERS, STOPPING_RULES, ADJUDICATION_RULES)}

MODULE = '''
"""Measures of an outside package."""

from typing import Annotated

import numpy as np

from collection.active_learning.learners import LEARNERS, Linear
from collection.adjudication import ADJUDICATION_RULES
from collection.adjudication import RuleResult
from collection.measures import MEASURES
from collection.pooling import STRATEGIES, depth
from collection.core.registry import Parameter
from collection.stopping import STOPPING_RULES
from collection.stopping import StopDecision


@MEASURES.add("Leader", label="Leader", description="Share of the first two documents that are relevant.")
def leader(aligned, *, cutoff: int = 2):
    """Relevant documents in the first k ranks, by k."""
    return aligned.count(1, cutoff) / cutoff


@STRATEGIES.add("first", label="First documents", description="The first n documents of every run.", limits=("n",))
def first(runs, *, n: Annotated[int, Parameter("Documents of each run", least=1)] = 1):
    """A depth pool by another name."""
    return depth(runs, depth=n).assign(strategy="first")


@STRATEGIES.add("in-turn", label="In turn", description="Takes the next document of each run in turn.", adaptive=True)
def in_turn(rankings):
    """Round robin."""
    seen = set()
    for rank in range(max(map(len, rankings), default=0)):
        for ranking in rankings:
            if rank < len(ranking) and ranking[rank] not in seen:
                seen.add(ranking[rank])
                yield int(ranking[rank])


@LEARNERS.add("centroid", label="Centroid", description="The difference of the mean vectors of the two classes.")
def centroid(rows, relevant, weight, seed, *, scale: float = 1.0):
    """Rocchio's classifier."""
    means = [np.asarray(rows[of].mean(axis=0)).ravel() for of in (relevant, ~relevant)]
    return Linear((scale * (means[0] - means[1])).astype(np.float32))


@STOPPING_RULES.add("enough", label="Enough found", description="Stop after a number of relevant documents.",
              promises="a number of relevant documents")
def enough(ledger, *, wanted: int = 1):
    """Stop when F >= wanted."""
    return StopDecision(ledger.found >= wanted, f"{ledger.found} of {wanted} are found")


@ADJUDICATION_RULES.add("weighted", label="Weighted mean", description="The mean of the grades, times a weight.",
                  fractional=True)
def weighted(words, *, weight: Annotated[float, Parameter("Weight of a grade", least=0)] = 0.5):
    """Half of the mean grade, unless told otherwise."""
    given = np.bincount(words.pair, minlength=len(words.pairs))
    total = np.bincount(words.pair, weights=words.grade, minlength=len(words.pairs))
    return RuleResult(weight * total / given, words.by("weighted"))
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Puts a distribution with one module on the path, as an installer would; the tables are restored afterwards."""
    site = tmp_path / "site-packages"
    names: list[str] = []

    def make(source: str, groups: tuple[str, ...] = tuple(TABLES), name: str = "bookshelf") -> Path:
        about = site / f"{name}-1.2.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (about / "entry_points.txt").write_text("".join(f"[{group}]\nmethods = {name}\n" for group in groups))
        (site / f"{name}.py").write_text(source)
        names.append(name)
        importlib.invalidate_caches()
        return site

    monkeypatch.syspath_prepend(site)
    forget_members(monkeypatch, *TABLES.values())
    for table in TABLES.values():
        monkeypatch.setattr(table, "_loaded", False)
        monkeypatch.setattr(table, "_failure", None)
    yield make
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def bookshelf(install: Callable[..., Path]) -> Path:
    return install(MODULE)


@pytest.fixture
def opened(opened: Opened, campaign: Campaign) -> Opened:
    def run(url_path: str, **query: str) -> AppTest:
        return opened(campaign, url_path, query=query)

    return run


def labels(app: AppTest, field: str) -> list[str]:
    return next(list(box.options) for box in [*app.selectbox, *app.radio] if box.label == field)


# --- one member of each family --------------------------------------------------------------------------


@pytest.mark.usefixtures("bookshelf")
def test_a_measure(files: Path, tmp_path: Path, opened: Opened) -> None:
    assert "Leader" in ok("measures")
    assert "Share of the first two documents" in ok("measures", "Leader")
    assert "## Measures of an outside package" in ok("measures", "--format", "markdown")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 d1 1\n1 0 d2 0\n2 0 d4 1\n2 0 d5 1\n")
    values = json.loads(ok("evaluate", qrels, files / "a.run", "-m", "Leader", "--format", "json"))["values"]
    assert [row["value"] for row in values] == [0.75]


@pytest.mark.usefixtures("bookshelf")
@pytest.mark.long
def test_a_measure_on_the_compare_page(campaign: Campaign, opened: Opened) -> None:
    for query_id, doc_id in (("1", "d1"), ("2", "d4")):
        judge(campaign, query_id, doc_id, 1)
    app = opened("compare")
    picker = next(box for box in app.multiselect if box.label == "Measures")
    assert "Leader" in picker.help
    picker.set_value(["Leader@2"]).run()
    assert not app.error


@pytest.mark.usefixtures("bookshelf")
@pytest.mark.long
def test_a_pooling_strategy(campaign: Campaign, files: Path, tmp_path: Path, opened: Opened) -> None:
    line = "| `first` | pool | `n=1` | The first n documents of every run. |"
    assert line in ok("methods", "strategies", "--format", "markdown")
    assert "first" in ok("methods", "strategies")
    app = opened("pool")
    assert "First documents" in labels(app, "Strategy")
    next(box for box in app.selectbox if box.label == "Strategy").set_value("first").run()
    field = app.number_input(key="first-n")
    assert (field.label, field.value, field.min) == ("Documents of each run", 1, 1)
    field.set_value(3).run()
    app.toggle(key="every").set_value(True).run()
    assert "First documents" in app.dataframe[0].value["strategy"].tolist()
    app.button(key="add").click().run()
    assert campaign.store.pool.rounds()["strategy"].tolist()[-1] == "first"
    assert "first (n 2)" in ok("pool", campaign.directory, "--strategy", "first", "--set", "n=2", "--dry-run")
    assert "\nfirst " in simulated(files, tmp_path, "--strategy", "first")


@pytest.mark.usefixtures("bookshelf")
def test_an_adaptive_strategy(campaign: Campaign, files: Path, tmp_path: Path, opened: Opened) -> None:
    assert "| `in-turn` | adaptive |" in ok("methods", "strategies", "--format", "markdown")
    assert "`cleverdon loop" in fails("pool", campaign.directory, "--strategy", "in-turn")
    app = opened("loop")
    assert "In turn (pooling)" in labels(app, "Document selection in the loop")
    assert "In turn" not in labels(opened("pool"), "Strategy")
    ok("loop", campaign.directory, "--mode", "loop", "--by", "in-turn")
    (document,) = campaign.judging.next_pairs("ann", "1", 1).documents
    assert document.doc_id == "d1"
    assert (
        campaign.judging.explanations.why("1", "d1", "ann").sentence
        == "Chosen by In turn: takes the next document of each run in turn."
    )
    assert "\nin-turn " in simulated(files, tmp_path, "--strategy", "in-turn")


@pytest.mark.usefixtures("bookshelf")
def test_a_learner(campaign: Campaign, files: Path, tmp_path: Path, opened: Opened) -> None:
    assert "| `centroid` | `scale=1.0` |" in ok("methods", "learners", "--format", "markdown")
    assert any("Centroid" in option for option in labels(opened("loop"), "Learner"))
    ok("loop", campaign.directory, "--mode", "loop", "--learner", "centroid")
    judge(campaign, "1", "d1", 2)
    judge(campaign, "1", "d2", 0)
    assert campaign.loop.next_round("1")
    assert len(campaign.judging.next_pairs("ann", "1", 2).documents) == 2
    assert "loop      centroid" in simulated(files, tmp_path, "--learner", "centroid")


@pytest.mark.usefixtures("bookshelf")
def test_a_stopping_rule(campaign: Campaign, files: Path, tmp_path: Path, opened: Opened) -> None:
    line = "| `enough` | a number of relevant documents |  | `wanted=1` |"
    assert line in ok("methods", "stopping", "--format", "markdown")
    judge(campaign, "1", "d1", 2)
    rules = campaign.recall.for_topic("1").rules.set_index("rule")
    assert rules.loc["Enough found"].tolist() == ["stop", "a number of relevant documents", "1 of 1 are found."]
    app = opened("recall", topic="1")
    assert any("Enough found" in table.value.astype(str).to_numpy() for table in app.dataframe)
    assert " enough " in simulated(files, tmp_path, "--stop", "enough")


@pytest.mark.usefixtures("bookshelf")
def test_an_adjudication_rule(campaign: Campaign, tmp_path: Path, opened: Opened) -> None:
    assert "| `weighted` | no | with fractions | `weight=0.5` |" in ok("methods", "rules", "--format", "markdown")
    judge(campaign, "1", "d1", 3)
    compared = ok("rules", campaign.directory, "--rule", "highest", "--against", "weighted(weight=.25)")
    assert "highest vs. weighted(weight=0.25)" in compared
    ok("export", campaign.directory, "--qrels", tmp_path / "qrels.txt", "--rule", "weighted")
    assert (tmp_path / "qrels.txt").read_text().split() == ["1", "0", "d1", "1.5"]
    assert fails("rules", campaign.directory, "--against", "weighted(weight=much)").endswith(
        "weight of weighted: expected a number, found 'much'\n"
    )
    app = opened("export")
    boxes = [box for box in app.selectbox if "Weighted mean" in box.options]
    assert boxes
    boxes[0].set_value("weighted").run()
    assert any(field.label == "Weight of a grade" for field in app.number_input)


def judge(campaign: Campaign, query_id: str, doc_id: str, grade: int) -> None:
    ok("judge", campaign.directory, "--topic", query_id, "--doc", doc_id, "--annotator", "ann", "--grade", grade)


def simulated(files: Path, folder: Path, *options: str) -> str:
    qrels = folder / "known.txt"
    qrels.write_text("1 0 d1 1\n1 0 d3 1\n2 0 d4 1\n2 0 d7 1\n")
    return ok(
        "simulate", "--documents", files / "documents.jsonl", "--topics", files / "topics.jsonl", "--qrels", qrels,
        "--run", files / "a.run", "--run", files / "b.run", *options,
    )  # fmt: skip


# --- what can go wrong ----------------------------------------------------------------------------------


def test_a_package_that_cannot_be_imported_is_named(install: Callable[..., Path]) -> None:
    install("import a_module_that_nobody_has")
    said = (
        "cleverdon: the package bookshelf 1.2 cannot add its adjudication rule (entry point methods = bookshelf): "
        "ModuleNotFoundError: No module named 'a_module_that_nobody_has'; update or uninstall it\n"
    )
    assert fails("methods", "rules") == said
    assert fails("methods", "rules") == said  # and not a table without it


def test_a_name_can_be_taken_once(install: Callable[..., Path]) -> None:
    install(
        "from collection.pooling import STRATEGIES\n"
        "@STRATEGIES.add('mtf', label='Mine', description='Mine.')\n"
        "def mine(runs): ...\n",
        groups=("cleverdon.pooling",),
    )
    with pytest.raises(InputError, match="the package bookshelf 1.2 cannot add .* 'mtf' is already registered"):
        list(STRATEGIES)
    assert STRATEGIES["depth"].name == "depth"  # no other package is needed for it
    assert "majority" in ADJUDICATION_RULES  # the other tables work on


def test_an_unknown_trait_is_refused(install: Callable[..., Path]) -> None:
    install(
        "from collection.stopping import STOPPING_RULES\n"
        "@STOPPING_RULES.add('mine', label='Mine', description='Mine.', promise='all')\n"
        "def mine(ledger): ...\n",
        groups=("cleverdon.stopping",),
    )
    with pytest.raises(InputError, match="bookshelf 1.2 .* unexpected keyword argument 'promise'"):
        list(STOPPING_RULES)


def test_a_module_may_look_into_the_table_that_it_extends(install: Callable[..., Path]) -> None:
    install("from collection.measures import MEASURES\nfound = 'AP' in MEASURES\n")
    assert "AP" in [entry.name for entry in MEASURES]
    assert sys.modules["bookshelf"].found


def test_threads_wait_for_the_whole_table(install: Callable[..., Path]) -> None:
    install(f"import time\ntime.sleep(.05)\n{MODULE}")
    found: list[bool] = []
    at_once(*[lambda: found.append("enough" in STOPPING_RULES)] * 4)
    assert found == [True] * 4


def test_nothing_is_loaded_before_a_look_up_that_needs_it(install: Callable[..., Path]) -> None:
    install("raise SystemError('not yet')")
    table = Registry("rule", Entry, group="cleverdon.stopping")
    table.add("one", label="One", description="The first.")(lambda: None)
    for command in ("--help", "pool --help", "loop --help", "simulate --help", "methods --help"):
        ok(*command.split())
    assert table["one"].label == "One"
    with pytest.raises(InputError, match="not yet"):
        table["two"]


def test_help_imports_neither_tables_nor_packages(install: Callable[..., Path]) -> None:
    site = install("raise SystemError('not yet')")
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r}); from collection.cli import main\n"
        "for command in ([], ['pool'], ['loop'], ['simulate'], ['methods'], ['rules'], ['measures']):\n"
        "    main([*command, '--help'], standalone_mode=False)\n"
        "print(sorted({'numpy', 'pandas', 'collection.core.registry', 'bookshelf'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_the_example_of_the_documentation_can_be_installed(install: Callable[..., Path]) -> None:
    page = (ROOT / "docs/contributing.md").read_text()
    example = page.split("## Add a pooling strategy")[1].split("```python\n")[1].split("```")[0]
    install(example, groups=("cleverdon.pooling",))
    assert STRATEGIES["first"].parameters == {"n": 5}
