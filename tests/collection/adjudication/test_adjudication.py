"""Judgements into qrels: every rule by hand, adjudications, Dawid-Skene against crowd-kit, rules side by side."""

import importlib.metadata
import json
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, strategies as st

from collection.adjudication import (
    ADJUDICATION_RULES,
    DEFAULT_RULE,
    ORIGINS,
    adjudicate,
    compare,
    count_disagreements,
    dawid_skene,
    filter_queue,
    fit_dawid_skene,
    list_disagreements,
    list_opinions,
    parse_rule,
)
from collection.campaign import Campaign
from collection.cli import main
from collection.core.errors import CampaignError, ColumnsError, InputError, UnknownNameError
from collection.core.records import Judgement
from collection.formats import read_qrels
from collection.measures import parse as measure
from tests.helpers import GOLDEN, grows_linearly, tries

DAWID_SKENE = json.loads((GOLDEN / "dawid_skene.json").read_text())
ANNOTATORS_ONLY = ("majority", "highest", "lowest", "mean", "annotator(annotator=ann)", "dawid-skene")


def judged(text: str) -> pd.DataFrame:
    """Lines of annotator, query_id, doc_id, grade ("?": cannot judge), and "adj" where it is an adjudication."""
    rows = [(*line.split(), "judgement")[:5] for line in text.splitlines()]
    table = pd.DataFrame(rows, columns=["annotator", "query_id", "doc_id", "relevance", "counts_as"])
    table["counts_as"] = table["counts_as"].replace("adj", "adjudication")
    table["kind"] = np.where(table["relevance"] == "?", "cannot judge", "graded")
    table["relevance"] = pd.to_numeric(table["relevance"].where(table["relevance"] != "?")).astype("Int64")
    return table


def settle(judgements: pd.DataFrame, rule: str = DEFAULT_RULE, **parameters: str) -> pd.DataFrame:
    return adjudicate(judgements, rule, **parameters).grades


def settled(judgements: pd.DataFrame, rule: str = DEFAULT_RULE, **parameters: Any) -> dict[str, tuple[float, str]]:
    """doc_id -> grade and how it came about."""
    qrels = settle(judgements, rule, **parameters)
    return {d: (g, b) for d, g, b in zip(qrels["doc_id"], qrels["relevance"], qrels["by"], strict=True)}


THREE = judged("ann 1 x 2\nbob 1 x 0\ncat 1 x 2\nann 1 y 3\nbob 1 y 1\nann 2 z 0\nann 2 w 1\nbob 2 w 1")
ONE, AGREED = (0, "one judgement"), (1, "agreed")


# --- each rule by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "x", "y"),
    [
        ("majority", (2, "majority"), (1, "tie")),
        ("majority(ties=lower)", (2, "majority"), (1, "tie")),
        ("majority(ties=higher)", (2, "majority"), (3, "tie")),
        ("majority(ties=adjudicate)", (2, "majority"), None),
        ("adjudicated-or-majority", (2, "majority"), (1, "tie")),
        ("adjudicated-or-majority(ties=higher)", (2, "majority"), (3, "tie")),
        ("adjudicated-or-majority(ties=adjudicate)", (2, "majority"), None),
        ("latest", (2, "latest"), (1, "latest")),
        ("highest", (2, "highest"), (3, "highest")),
        ("lowest", (0, "lowest"), (1, "lowest")),
        ("mean", (4 / 3, "mean"), (2, "mean")),
    ],
)
def test_each_rule_by_hand(rule: str, x: tuple[float, str], y: tuple[float, str] | None) -> None:
    expected = {"x": x, **({} if y is None else {"y": y}), "z": ONE, "w": AGREED}
    found = settled(THREE, rule)
    assert list(found) == list(expected)
    for doc_id, (grade, by) in expected.items():
        assert found[doc_id] == (pytest.approx(grade), by)


def test_the_named_annotator_is_the_only_one_who_counts() -> None:
    assert settled(THREE, "annotator", annotator="bob") == {
        "x": (0, "annotator"), "y": (1, "annotator"), "w": (1, "annotator"),
    }  # fmt: skip
    with pytest.raises(InputError, match=r"rule annotator needs a name.*annotators with grades: ann, bob, cat"):
        settle(THREE, "annotator")
    with pytest.raises(UnknownNameError, match="did you mean 'bob'"):
        settle(THREE, "annotator(annotator=bib)")


def test_what_settling_gives() -> None:
    qrels = settle(THREE)
    assert list(qrels.columns) == ["query_id", "doc_id", "relevance", "by"]
    assert qrels["relevance"].dtype == np.int64
    assert settle(THREE, "mean")["relevance"].dtype == np.float64
    assert str(adjudicate(THREE).rule) == DEFAULT_RULE
    assert str(adjudicate(THREE, "majority", ties="higher").rule) == "majority(ties=higher)"
    assert list(adjudicate(THREE).qrels) == ["query_id", "doc_id", "relevance"]


def test_latest_is_the_last_in_the_log() -> None:
    found = {d: g for d, (g, _) in settled(THREE.iloc[::-1], "latest").items()}
    assert found == {"x": 2, "y": 3, "z": 0, "w": 1}


def test_no_judgements_make_no_qrels() -> None:
    for rule in (*ANNOTATORS_ONLY, "latest", DEFAULT_RULE):
        if not rule.startswith("annotator"):
            assert settle(THREE.iloc[:0], rule).empty
            assert settle(judged("ann 1 x ?"), rule).empty


def test_a_frame_that_says_nothing_of_adjudications_holds_judgements_alone() -> None:
    pd.testing.assert_frame_equal(settle(THREE.drop(columns="counts_as")), settle(THREE))


def test_columns_that_are_missing_are_named() -> None:
    with pytest.raises(ColumnsError, match="relevance"):
        settle(THREE.drop(columns="relevance"))


def test_the_default_is_majority_where_nobody_adjudicated() -> None:
    pd.testing.assert_frame_equal(settle(THREE), settle(THREE, "majority"))


# --- adjudications -------------------------------------------------------------------------------------

ENDED = "ann 1 x 2\nbob 1 x 2\nann 1 y 3\nbob 1 y 1\neve 1 x 0 adj\neve 1 y 2 adj\nann 1 z 1\nbob 1 z 0"


DIFFERING = "ann 1 x 3\nbob 1 x 0\ncat 1 x 2"
OWN = "ann 1 x 2\nbob 1 x 0\nbob 1 x 1 adj"
UNABLE = "ann 1 x 2\nbob 1 x 0\neve 1 x ? adj"
ALONE = "ann 1 x ?\nbob 1 x ?\neve 1 x 2 adj"


@pytest.mark.parametrize(
    ("judgements", "rule", "expected"),
    [
        pytest.param(DIFFERING, "majority", {"x": (0, "tie")}, id="a tie of three"),
        pytest.param(DIFFERING, "majority(ties=higher)", {"x": (3, "tie")}, id="a tie of three, the higher"),
        pytest.param("ann 1 x ?\nbob 1 x 1\nann 1 y ?", DEFAULT_RULE, {"x": (1, "one judgement")}, id="cannot judge"),
        pytest.param(
            ENDED, DEFAULT_RULE, {"x": (0, "adjudicated"), "y": (2, "adjudicated"), "z": (0, "tie")},
            id="an adjudication beats the majority",
        ),
        pytest.param(OWN, DEFAULT_RULE, {"x": (1, "adjudicated")}, id="an adjudicator who judged it too"),
        pytest.param(OWN, "annotator(annotator=bob)", {"x": (0, "annotator")}, id="an adjudicator as annotator"),
        pytest.param(OWN, "lowest", {"x": (0, "lowest")}, id="an adjudicator's lower judgement"),
        pytest.param(
            ENDED, "majority(ties=adjudicate)", {"x": (2, "agreed"), "y": (2, "adjudicated")},
            id="only ties wait for an adjudication",
        ),
        pytest.param(
            ENDED, f"{DEFAULT_RULE}(ties=adjudicate)", {"x": (0, "adjudicated"), "y": (2, "adjudicated")},
            id="ties wait for an adjudication, which beats agreement",
        ),
        pytest.param(
            "ann 1 x 2\neve 1 x 0 adj\nbob 1 x 3\nann 1 y 1\neve 1 y 2 adj", "latest",
            {"x": (3, "latest"), "y": (2, "adjudicated")}, id="to latest an adjudication is a judgement like others",
        ),
        *(
            pytest.param(f"ann 1 x 2\nbob 1 x 0\n{order}", DEFAULT_RULE, {"x": (grade, "adjudicated")}, id=f"by {name}")
            for name, order, grade in (
                ("fay last", "eve 1 x 1 adj\nfay 1 x 3 adj", 3), ("eve last", "fay 1 x 3 adj\neve 1 x 1 adj", 1),
            )
        ),
        pytest.param(UNABLE, DEFAULT_RULE, {}, id="an adjudicator who cannot judge leaves no qrel"),
        pytest.param(UNABLE, "majority", {"x": (0, "tie")}, id="to majority it makes no difference"),
        pytest.param(ALONE, DEFAULT_RULE, {"x": (2, "adjudicated")}, id="graded by the adjudicator alone"),
        pytest.param(ALONE, "mean", {}, id="the mean of no grades"),
        pytest.param("ann 1 x 2\nbob 1 x 0 surplus", DEFAULT_RULE, {"x": (2, "one judgement")}, id="surplus"),
    ],
)  # fmt: skip
def test_grades_by_hand(judgements: str, rule: str, expected: dict[str, tuple[int, str]]) -> None:
    assert settled(judged(judgements), rule) == expected


@pytest.mark.parametrize("rule", ANNOTATORS_ONLY)
def test_rules_of_annotators_words_do_not_look_at_adjudications(rule: str) -> None:
    ended = judged(ENDED)
    without = ended[ended["counts_as"] == "judgement"]
    pd.testing.assert_frame_equal(settle(ended, rule), settle(without, rule))


def test_surplus_makes_no_disagreement() -> None:
    assert list_disagreements(judged("ann 1 x 2\nbob 1 x 0 surplus")).empty


# --- writing rules down --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "parameters", "error"),
    [
        ("majorty", {}, "did you mean 'majority'"),
        ("majority(tise=lower)", {}, "majority parameter 'tise'; did you mean 'ties'"),
        ("majority(ties=up)", {}, "choose from adjudicate, higher, lower"),
        ("majority", {"ties": "up"}, "choose from adjudicate, higher, lower"),
        ("majority", {"annotator": "ann"}, "choose from ties"),
        ("highest(ties=lower)", {}, "rule highest has no parameters"),
        ("majority(higher)", {}, "rule: expected a name, such as majority"),
        ("majority(ties=higher", {}, "rule: expected a name, such as majority"),
        ("", {}, "unknown adjudication rule ''"),
    ],
)
def test_a_wrong_rule_is_explained(written: str, parameters: dict[str, str], error: str) -> None:
    with pytest.raises(InputError, match=error):
        parse_rule(written, **parameters)


@given(
    st.sampled_from(
        ["ann", "bob smith", "a, b", "qrels:x.txt", "a=b", "ü", "Smith, John, b=2", "a)", '"', " a ", "a\nb"]
    )
    | st.text(alphabet='ab,=()" \n\\é', min_size=1)
    | st.text(min_size=1)
)
def test_a_rule_is_read_as_it_is_written(name: str) -> None:
    chosen = parse_rule("annotator", annotator=name)
    assert parse_rule(str(chosen)) == chosen == parse_rule(chosen)
    assert parse_rule(chosen, annotator=None) == chosen
    with_blanks = str(chosen).replace("(annotator=", " ( annotator = ", 1)
    assert parse_rule(f" {with_blanks} ") == chosen


def test_values_may_stand_in_quotes() -> None:
    for written in ('annotator(annotator="Smith, John, b=2")', 'annotator( annotator = "Smith, John, b=2" )'):
        assert parse_rule(written).parameters == {"annotator": "Smith, John, b=2"}
    assert str(parse_rule('annotator(annotator="ann")')) == "annotator(annotator=ann)"
    assert parse_rule('annotator(annotator="the ""old"" one")').parameters == {"annotator": 'the "old" one'}
    assert parse_rule('majority(ties="higher")').parameters == {"ties": "higher"}
    # without quotes as before: up to what looks like another parameter
    assert parse_rule("annotator(annotator=Smith, John)").parameters == {"annotator": "Smith, John"}
    for written in ('annotator(annotator="ann)', 'annotator(annotator="ann" b)', 'annotator(annotator=""")'):
        with pytest.raises(InputError, match="rule: expected a name, such as majority"):
            parse_rule(written)


# --- for any judgements --------------------------------------------------------------------------------

TABLES = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.sampled_from("xyz"),
        st.integers(0, 3),
        st.sampled_from(["judgement", "judgement", "judgement", "adjudication"]),
    ),
    max_size=16,
    unique_by=lambda t: (t[0], t[1], t[3]),
)


def table_of(rows: list[tuple[str, str, int, str]]) -> pd.DataFrame:
    columns = ["annotator", "doc_id", "relevance", "counts_as"]
    return pd.DataFrame(rows, columns=columns).assign(query_id="1", kind="graded")


@pytest.mark.slow
@tries(40)
@given(TABLES)
def test_each_pair_has_one_grade_within_what_was_said(rows: list[tuple[str, str, int, str]]) -> None:
    table = table_of(rows)
    for rule in ADJUDICATION_RULES:
        if rule.name == "annotator":
            continue
        qrels = settle(table, rule.name)
        adjudications = rule.name in ("latest", "adjudicated-or-majority")
        said = {d: [g for _, e, g, c in rows if e == d and (adjudications or c == "judgement")] for _, d, _, _ in rows}
        assert set(qrels["doc_id"]) == {d for d, grades in said.items() if grades}
        assert qrels["doc_id"].is_unique
        assert set(qrels["by"]) <= {*ORIGINS, *(rule.name for rule in ADJUDICATION_RULES)}
        for doc_id, grade in zip(qrels["doc_id"], qrels["relevance"], strict=True):
            assert min(said[doc_id]) <= grade <= max(said[doc_id]) or rule.name == "dawid-skene"
            assert grade in said[doc_id] or rule.name in ("mean", "dawid-skene")


@pytest.mark.slow
@tries(40)
@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_judgements_changes_nothing(rows: list[tuple[str, str, int, str]], random: Any) -> None:
    rows = [r for r in rows if r[3] == "judgement"]
    mixed = random.sample(rows, len(rows))
    for rule in ("majority", "majority(ties=higher)", "highest", "lowest", "mean", "dawid-skene", DEFAULT_RULE):
        assert settled(table_of(rows), rule) == settled(table_of(mixed), rule)


@pytest.mark.slow
@tries(40)
@given(TABLES, st.permutations("abcd"))
def test_the_names_of_annotators_change_nothing(rows: list[tuple[str, str, int, str]], names: list[str]) -> None:
    table = table_of(rows)
    renamed = table.assign(annotator=table["annotator"].map(dict(zip("abcd", names, strict=True))))
    for rule in ("majority", "majority(ties=adjudicate)", "highest", "lowest", "mean", "latest", DEFAULT_RULE):
        assert settled(table, rule) == settled(renamed, rule)


@pytest.mark.slow
@tries(40)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 4))
def test_where_all_agree_every_rule_says_so(truth: list[int], annotators: int) -> None:
    rows = [(a, f"d{n}", grade, "judgement") for a in "abcd"[:annotators] for n, grade in enumerate(truth)]
    for rule in ADJUDICATION_RULES:
        if rule.name != "annotator":
            qrels = settle(table_of(rows), rule.name)
            assert qrels["relevance"].tolist() == truth
            assert set(qrels["by"]) == {"agreed" if annotators > 1 else "one judgement"}


# --- Dawid and Skene -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", list(DAWID_SKENE["cases"]))
def test_dawid_skene_says_what_crowd_kit_says(case: str) -> None:
    """Both stop where no probability moves any more; crowd-kit's values are written to ten decimals."""
    golden = DAWID_SKENE["cases"][case]
    table = pd.DataFrame(golden["judgements"], columns=["annotator", "doc_id", "relevance"])
    table = table.assign(query_id="1", kind="graded")
    found = fit_dawid_skene(table)
    assert found.converged
    posterior = found.posterior.set_index("doc_id")[golden["grades"]]
    expected = pd.DataFrame.from_dict(golden["posterior"], orient="index", columns=golden["grades"])
    np.testing.assert_allclose(posterior, expected.loc[posterior.index], atol=1e-7)
    np.testing.assert_allclose(found.priors.to_numpy(), golden["priors"], atol=1e-7)
    for annotator, rates in golden["errors"].items():
        mine = found.errors[found.errors["annotator"] == annotator]
        np.testing.assert_allclose(mine.pivot(index="true", columns="said", values="probability"), rates, atol=1e-7)
    assert {d: g for d, (g, _) in settled(table, "dawid-skene").items()} == golden["labels"]


def test_dawid_skene_learns_who_can_be_relied_upon() -> None:
    """Two who say anything outvote a good one where votes are counted, and not where their errors are known."""
    rng = np.random.default_rng(5)
    truth = np.arange(120) % 2
    said = {"good": truth, "fair": np.where(rng.random(120) < 0.05, 1 - truth, truth)}
    said |= {"coin": rng.integers(0, 2, 120), "dice": rng.integers(0, 2, 120)}
    docs = [f"d{n:03d}" for n in range(120)]
    table = pd.concat(
        pd.DataFrame({"annotator": a, "query_id": "1", "doc_id": docs, "kind": "graded", "relevance": g})
        for a, g in said.items()
    )
    right = {r: float((settle(table, r)["relevance"].to_numpy() == truth).mean()) for r in ("majority", "dawid-skene")}
    assert right["majority"] < 0.9
    assert right["dawid-skene"] >= 0.95
    errors = fit_dawid_skene(table).errors
    wrong = errors[(errors["true"] == 0) & (errors["said"] == 1)].set_index("annotator")["probability"]
    assert wrong["good"] < 0.1
    assert 0.35 < wrong["coin"] < 0.65
    assert np.allclose(errors.groupby(["annotator", "true"])["probability"].sum(), 1)


def test_dawid_skene_breaks_a_tie_that_nothing_decides_to_the_lower() -> None:
    assert settled(judged("ann 1 x 2\nbob 1 x 0"), "dawid-skene") == {"x": (0, "dawid-skene")}


def sparse(seed: int) -> pd.DataFrame:
    """Sixty pairs with the grades of two of six annotators each, who are right in six of ten cases."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 60)
    rows = [
        (f"a{who}", "1", f"d{n}", int(true if rng.random() < 0.6 else rng.integers(0, 4)))
        for n, true in enumerate(truth)
        for who in rng.choice(6, 2, replace=False)
    ]
    frame = pd.DataFrame(rows, columns=["annotator", "query_id", "doc_id", "relevance"])
    return frame.assign(kind="graded", counts_as="judgement")


@pytest.mark.slow
def test_dawid_skene_comes_to_rest_on_sparse_tables_and_says_when_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [fit_dawid_skene(sparse(seed)) for seed in range(4)]
    assert max(f.rounds for f in found) > 1000  # which were all that it was once given
    assert all(f.converged for f in found)
    table = adjudicate(sparse(0), "dawid-skene")
    assert (table.rounds, table.converged, table.caution) == (found[0].rounds, True, "")
    assert adjudicate(sparse(0)).converged is None
    monkeypatch.setattr(dawid_skene, "ROUNDS", 3)
    table = adjudicate(sparse(0), "dawid-skene")
    assert (table.rounds, table.converged) == (3, False)
    assert table.caution.startswith("dawid-skene did not converge after 3 rounds")


def test_dawid_skene_of_nothing() -> None:
    found = fit_dawid_skene(THREE.iloc[:0])
    assert found.posterior.empty
    assert found.errors.empty
    assert found.converged


# --- disagreements -------------------------------------------------------------------------------------


def test_disagreements_are_counted_by_pairs() -> None:
    assert count_disagreements(THREE) == (3, 2)
    assert count_disagreements(judged("ann 1 x 2\nbob 1 x 2\nann 1 y 1")) == (1, 0)
    assert count_disagreements(judged("ann 1 x 2\nbob 1 x 2\neve 1 x 0 adj")) == (1, 0)
    assert count_disagreements(THREE.iloc[:0]) == (0, 0)


def test_the_queue_begins_with_the_largest_distance_then_topics_in_order() -> None:
    table = judged(
        "ann 1 a 1\nbob 1 a 0\nann 2 b 3\nbob 2 b 0\nann 1 c 0\nbob 1 c 3\ncat 1 c 1\nann 1 d 2\nbob 1 d 2\n"
        "ann 2 e 1\nbob 2 e ?\nann 1 f 0\nbob 1 f 3\neve 1 f 2 adj\nann 1 g ?\nbob 1 g ?"
    )
    found = list_disagreements(table, ["2", "1"])
    assert found[["query_id", "doc_id", "distance"]].values.tolist() == [
        ["2", "b", 3], ["1", "c", 3], ["1", "a", 1], ["2", "e", 0],
    ]  # fmt: skip
    assert found["grades"].tolist() == ["0 3", "0 1 3", "0 1", "1 ?"]
    assert found["names"].tolist() == [("bob", "ann"), ("ann", "cat", "bob"), ("bob", "ann"), ("ann", "bob")]
    assert found["annotators"].tolist() == [2, 3, 2, 2]
    assert list_disagreements(table)["doc_id"].tolist() == ["c", "b", "a", "e"]  # topic 1 came first in the log
    everything = list_disagreements(table, ["2", "1"], ended=True)
    assert everything.loc[everything["ended"], "doc_id"].tolist() == ["f"]


def test_an_empty_queue_has_its_columns() -> None:
    found = list_disagreements(judged("ann 1 x 2\nbob 1 x 2"))
    assert found.empty
    columns = ["query_id", "doc_id", "distance", "annotators", "grades", "names", "ended", "differs"]
    assert list(found.columns) == columns
    assert list_disagreements(THREE.iloc[:0]).empty


def test_imported_qrels_are_a_side_like_any_other() -> None:
    assert list_disagreements(judged("qrels:x 1 a 1\nbob 1 a 0"))["names"].tolist() == [("bob", "qrels:x")]


def test_sides_lowest_grade_first_and_without_adjudications() -> None:
    table = judged("ann 1 x 3\nbob 1 x ?\ncat 1 x 1\neve 1 x 2 adj\nann 1 y 0")
    assert list_opinions(table, "1", "x")["annotator"].tolist() == ["cat", "ann", "bob"]


# --- one rule beside another ---------------------------------------------------------------------------


def test_two_rules_compared_by_hand() -> None:
    found = compare(settle(THREE, "lowest"), settle(THREE, "highest"))
    assert (found.pairs, found.differ, found.only_first, found.only_second) == (4, 2, 0, 0)
    assert found.confusion.loc[0, 2] == 1  # x
    assert found.confusion.loc[1, 3] == 1  # y
    assert found.confusion.loc[0, 0] == found.confusion.loc[1, 1] == 1
    assert found.confusion.to_numpy().sum() == 4
    assert found.changed[["doc_id", "first", "second"]].values.tolist() == [["x", 0, 2], ["y", 1, 3]]
    waiting = compare(settle(THREE, "majority(ties=adjudicate)"), settle(THREE, "majority"))
    assert (waiting.pairs, waiting.differ, waiting.only_first, waiting.only_second) == (3, 0, 0, 1)
    nothing = compare(settle(THREE.iloc[:0]), settle(THREE.iloc[:0]))
    assert nothing[:4] == (0, 0, 0, 0)


# --- a campaign ----------------------------------------------------------------------------------------


def say(campaign: Campaign, annotator: str, query_id: str, doc_id: str, grade: int | None, **more: Any) -> Judgement:
    """Write one judgement; None as a grade takes one back."""
    kind = more.pop("kind", "graded" if grade is not None else "undone")
    judgement = Judgement(str(uuid4()), annotator, query_id, doc_id, kind, grade, **more)
    result = campaign.judging.judge_many([judgement])
    assert not result.refused, result.refused
    return judgement


def end(campaign: Campaign, query_id: str, doc_id: str, grade: int | None, who: str = "eve", **more: Any) -> None:
    say(campaign, who, query_id, doc_id, grade, counts_as="adjudication", **more)


@pytest.fixture
def differing(campaign: Campaign) -> Campaign:
    """ann and bob differ on d1 (by 3) and d4 (by 1), and agree on d2; the runs alpha and beta are imported."""
    for who, d1, d4, d2 in (("ann", 3, 1, 2), ("bob", 0, 0, 2)):
        say(campaign, who, "1", "d1", d1, seconds=4.0, note=f"{who} on d1")
        say(campaign, who, "2", "d4", d4)
        say(campaign, who, "1", "d2", d2)
    return campaign


def grades(campaign: Campaign, rule: str | None = None) -> dict[str, float]:
    qrels = campaign.results.qrels.build(rule)
    return dict(zip(qrels["doc_id"], qrels["relevance"], strict=True))


@pytest.mark.slow
def test_a_disagreement_is_adjudicated_and_taken_back(differing: Campaign) -> None:
    assert differing.judging.adjudication.queue()["doc_id"].tolist() == ["d1", "d4"]
    assert grades(differing) == {"d1": 0, "d2": 2, "d4": 0}
    end(differing, "1", "d1", 2, note="it answers the need")
    assert differing.judging.adjudication.queue()["doc_id"].tolist() == ["d4"]
    assert grades(differing) == {"d1": 2, "d2": 2, "d4": 0}
    assert differing.log.adjudications("eve")[["doc_id", "note"]].values.tolist() == [["d1", "it answers the need"]]
    assert differing.results.agreement.disagreements() == (3, 2)
    end(differing, "1", "d1", None)
    assert differing.judging.adjudication.queue()["doc_id"].tolist() == ["d1", "d4"]
    assert grades(differing) == {"d1": 0, "d2": 2, "d4": 0}
    assert len(differing.store.judgements.table(current=False)) == 8  # the log still shows both


def test_an_adjudication_revises_the_adjudicator_s_former_one_and_not_their_judgement(differing: Campaign) -> None:
    end(differing, "1", "d1", 1, who="ann")
    end(differing, "1", "d1", 2, who="ann")
    log = differing.store.judgements.table(current=False).set_index("uuid")
    second = log.iloc[-1]
    assert log.loc[second["revises"], "counts_as"] == "adjudication"
    current = differing.store.judgements.table(annotator="ann", query_id="1")
    assert current.loc[current["doc_id"] == "d1", ["counts_as", "relevance"]].values.tolist() == [
        ["judgement", 3], ["adjudication", 2],
    ]  # fmt: skip
    assert grades(differing, "annotator(annotator=ann)")["d1"] == 3


def adjudication_of(doc_id: str, grade: int | None, who: str = "eve", query_id: str = "1", **more: Any) -> Judgement:
    kind = more.pop("kind", "graded" if grade is not None else "cannot judge")
    reason = "broken" if kind == "cannot judge" else None
    return Judgement(str(uuid4()), who, query_id, doc_id, kind, grade, reason=reason, **more)


@pytest.mark.slow
def test_nobody_s_adjudication_is_replaced_unseen(differing: Campaign) -> None:
    first = adjudication_of("d1", 2)
    assert differing.judging.adjudication.adjudicate([first]).saved == [first.uuid]
    late = adjudication_of("d1", 0, "dan")
    assert differing.judging.adjudication.adjudicate([late]).refused == [
        (late.uuid, "eve has already adjudicated this pair, with grade 2")
    ]
    again = adjudication_of("d1", None)  # one's own
    assert differing.judging.adjudication.adjudicate([first, again]).saved == [first.uuid, again.uuid]
    reason = 'eve has already adjudicated this pair, as "cannot judge"'
    assert differing.judging.adjudication.adjudicate([late]).refused[0].reason == reason
    undo = adjudication_of("d1", None, kind="undone")
    assert differing.judging.adjudication.adjudicate([undo, late]).saved == [undo.uuid, late.uuid]
    assert differing.log.adjudications()[["annotator", "relevance"]].values.tolist() == [["dan", 0]]
    assert len(differing.store.judgements.table(current=False).query("counts_as == 'adjudication'")) == 4


@pytest.mark.slow
def test_only_a_pair_that_wants_an_adjudication_takes_one(differing: Campaign) -> None:
    agreed, unknown = adjudication_of("d2", 1), adjudication_of("d99", 1)
    result = differing.judging.adjudication.adjudicate([agreed, unknown])
    assert [refused.reason for refused in result.refused] == [
        "annotators do not disagree on this pair", "annotators do not disagree on this pair",
    ]  # fmt: skip
    differing.people.qualification_set.set_pairs([("1", "d2")])
    assert differing.judging.adjudication.adjudicate([agreed]).saved
    assert differing.judging.adjudication.queue(ended=True).query("why == 'qualification'")["ended"].tolist() == [True]


def test_what_cannot_be_written_is_refused_and_the_rest_is_saved(differing: Campaign) -> None:
    bad, good = adjudication_of("d1", 7), adjudication_of("d4", 1, query_id="2")
    result = differing.judging.adjudication.adjudicate([bad, good])
    assert (result.saved, result.refused[0].uuid) == ([good.uuid], bad.uuid)
    assert "found 7" in result.refused[0].reason


def test_a_queue_is_filtered(differing: Campaign) -> None:
    found = differing.judging.adjudication.queue()
    assert filter_queue(found)["doc_id"].tolist() == ["d1", "d4"]
    assert filter_queue(found, query_id="2")["doc_id"].tolist() == ["d4"]
    assert filter_queue(found, distance=3)["doc_id"].tolist() == ["d1"]
    assert filter_queue(found, names=["ann", "bob"], why="disagreement")["doc_id"].tolist() == ["d1", "d4"]
    assert filter_queue(found, names=["eve"]).empty
    assert filter_queue(found, why="qualification").empty


def test_an_adjudication_ends_the_pair_for_those_who_have_not_judged_it(differing: Campaign) -> None:
    differing.people.assignments.update(annotators=3)
    assert "d1" in {d.doc_id for d in differing.judging.next_pairs("cat", "1", count=9).documents}
    end(differing, "1", "d1", 2)
    assert "d1" not in {d.doc_id for d in differing.judging.next_pairs("dan", "1", count=9).documents}
    end(differing, "1", "d1", None)
    assert "d1" in {d.doc_id for d in differing.judging.next_pairs("cat", "1", count=9).documents}


def test_what_the_card_sends_is_never_an_adjudication(differing: Campaign) -> None:
    given_out = differing.judging.next_pairs("cat", "1", count=1).documents[0].doc_id
    judgement = Judgement(str(uuid4()), "cat", "1", given_out, "graded", 2, counts_as="adjudication")
    result = differing.judging.judge_many([judgement], leased_only=True)
    assert not result.saved
    assert "adjudication" in result.refused[0].reason
    assert differing.log.adjudications().empty


def test_nothing_to_take_back_is_refused(differing: Campaign) -> None:
    undo = Judgement(str(uuid4()), "ann", "1", "d1", "undone", counts_as="adjudication")
    assert "nothing to undo" in differing.judging.judge_many([undo]).refused[0].reason.replace(
        "no adjudication of 'd1'", "nothing"
    )
    assert len(list_opinions(differing.store.judgements.table(), "1", "d1")) == 2


def test_sides_of_a_pair_have_notes_and_seconds(differing: Campaign) -> None:
    found = list_opinions(differing.store.judgements.table(), "1", "d1")
    assert found[["annotator", "relevance", "seconds", "note"]].values.tolist() == [
        ["bob", 0, 4.0, "bob on d1"], ["ann", 3, 4.0, "ann on d1"],
    ]  # fmt: skip


def test_exported_qrels_say_which_rule_made_them(differing: Campaign, tmp_path: Path) -> None:
    end(differing, "1", "d1", 2)
    written = differing.exports.files.write(qrels=tmp_path / "q.txt", rule="adjudicated-or-majority(ties=higher)")
    assert written == {str(tmp_path / "q.txt"): 3}
    assert (tmp_path / "q.txt").read_text() == "1 0 d1 2\n1 0 d2 2\n2 0 d4 1\n"
    report = json.loads((tmp_path / "q.txt.rule.json").read_text())
    assert report.pop("made_at") > "2026"
    assert report.pop("cleverdon") == importlib.metadata.version("cleverdon")
    assert report == {
        "rule": "adjudicated-or-majority",
        "parameters": {"ties": "higher"},
        "description": ADJUDICATION_RULES["adjudicated-or-majority"].description,
        "grades": {str(g): s for g, s in differing.settings.grades.sentences.items()},
        "topics": 2,
        "pairs": 3,
        "by": {"agreed": 1, "tie": 1, "adjudicated": 1},
        "judgements": 6,
        "cannot_judge": 0,
        "adjudications": 1,
        "annotators": {"ann": 3, "bob": 3},
        "adjudicators": {"eve": 1},
        "campaign": "campaign",
    }
    assert str(differing.results.qrels.with_sources("highest").rule) == "highest"


@pytest.mark.slow
def test_what_an_estimate_took_is_written_beside_it_and_said(
    differing: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> tuple[int, bool]:
        differing.exports.files.write(qrels=tmp_path / "q.txt", rule="dawid-skene")
        report = json.loads((tmp_path / "q.txt.rule.json").read_text())
        return report["rounds"], report["converged"]

    rounds, converged = told()
    assert 1 <= rounds < 10_000
    assert converged
    assert differing.results.evaluation.compare_rules("lowest", "dawid-skene").cautions == ()
    assert "converged" not in differing.results.qrels.rule_report("majority")
    monkeypatch.setattr(dawid_skene, "ROUNDS", 0)
    assert told() == (0, False)
    sentence = "dawid-skene did not converge after 0 rounds; more rounds might change some grades"
    assert differing.results.evaluation.compare_rules("dawid-skene", "dawid-skene").cautions == (sentence,)
    done = cleverdon("rules", differing.directory, "--against", "dawid-skene")
    assert done.exit_code == 0
    assert sentence in done.stderr
    done = cleverdon("rules", differing.directory, "--against", "dawid-skene", "--format", "json")
    assert json.loads(done.stdout)["cautions"] == [sentence]


@pytest.mark.slow
def test_qualification_pairs_that_cannot_be_judged_leave_the_queue(differing: Campaign) -> None:
    """d6: nobody has judged it; d1: ann and bob differ. eve says of both that no grade can be given."""
    differing.people.qualification_set.set_pairs([("1", "d1"), ("1", "d6"), ("2", "d5")])
    assert differing.judging.adjudication.queue()["doc_id"].tolist() == ["d1", "d4", "d6", "d5"]
    for doc_id in ("d1", "d6"):
        end(differing, "1", doc_id, None, kind="cannot judge", reason="broken")
    assert differing.judging.adjudication.queue()[["doc_id", "why"]].values.tolist() == [
        ["d4", "disagreement"], ["d5", "qualification"],
    ]  # fmt: skip
    assert differing.judging.adjudication.queue(ended=True)[["doc_id", "ended"]].values.tolist() == [
        ["d1", True], ["d4", False], ["d6", True], ["d5", False],
    ]  # fmt: skip
    end(differing, "1", "d6", None)
    assert "d6" in differing.judging.adjudication.queue()["doc_id"].tolist()


def test_means_keep_their_fraction_from_judgement_to_file_and_value(differing: Campaign, tmp_path: Path) -> None:
    differing.exports.files.write(qrels=tmp_path / "q.txt", rule="mean")
    assert (tmp_path / "q.txt").read_text() == "1 0 d1 1.5\n1 0 d2 2\n2 0 d4 0.5\n"
    assert read_qrels(tmp_path / "q.txt")["relevance"].tolist() == [1.5, 2, 0.5]
    values = differing.results.evaluation.evaluate([measure("nDCG"), measure("P@1")], rule="mean").per_topic()
    found = values.set_index(["run", "query_id", "measure"])["value"]
    # alpha ranks d1 (1.5), d2 (2), the ideal d2, d1; beta has d2 first and d6, which nobody judged
    ideal = 2 + 1.5 / log2(3)
    assert found["alpha", "1", "nDCG"] == pytest.approx((1.5 + 2 / log2(3)) / ideal)
    assert found["beta", "1", "nDCG"] == pytest.approx(2 / ideal)
    assert found["alpha", "2", "nDCG"] == 1
    # a mean of 0.5 does not reach the grade from which a document is relevant
    assert found["alpha", "1", "P@1"] == 1
    assert found["alpha", "2", "P@1"] == 0


def test_a_system_that_changes_place_by_hand(differing: Campaign) -> None:
    """By the lowest grade d1 is worth nothing, so beta (d2 first) leads; by the highest alpha does (d1 first)."""
    found = differing.results.evaluation.compare_rules("lowest", "highest", "nDCG@1")
    assert (found.grades.pairs, found.grades.differ) == (3, 2)
    places = found.places
    assert places is not None
    assert found.measure == "nDCG@1"
    table = places.table.set_index("run")
    # topic 2: d4 is first for both; worth 0 of 0 by the lowest, all of it by the highest
    assert table.loc["alpha", ["first", "second"]].tolist() == [0, 1]
    assert table.loc["beta", ["first", "second"]].tolist() == pytest.approx([0.5, (2 / 3 + 1) / 2])
    assert table.loc["alpha", ["first_place", "second_place"]].tolist() == [2, 1]
    assert places.table["run"].tolist() == ["beta", "alpha"]
    assert places.moved == ["beta", "alpha"]
    assert places.tau == -1


@pytest.mark.slow
def test_rules_that_say_the_same_move_nobody(differing: Campaign) -> None:
    found = differing.results.evaluation.compare_rules(None, "majority", "nDCG@1")
    assert found.grades.differ == 0
    assert found.places is not None
    assert found.places.moved == []
    assert found.places.tau == 1


@pytest.mark.slow
def test_comparing_rules_without_what_it_takes(make_campaign: Callable[..., Campaign], tmp_path: Path) -> None:
    campaign = make_campaign("bare")
    assert campaign.results.evaluation.compare_rules("lowest", "highest", "AP").places is None  # nothing is judged
    with Campaign.create(tmp_path / "no-runs") as bare:
        (tmp_path / "t.tsv").write_text("1\twing\n")
        (tmp_path / "d.tsv").write_text("d1\tFlow.\n")
        bare.imports.import_files(topics=tmp_path / "t.tsv", documents=[tmp_path / "d.tsv"])
        say(bare, "ann", "1", "d1", 1)
        assert bare.results.evaluation.compare_rules("lowest", "highest").grades.pairs == 1
        with pytest.raises(CampaignError, match="import some with --run"):
            bare.results.evaluation.compare_rules("lowest", "highest", "AP")


# --- the command ---------------------------------------------------------------------------------------


def cleverdon(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.mark.slow
def test_the_command_adjudicates_compares_and_exports(differing: Campaign, tmp_path: Path) -> None:
    there = differing.directory
    differing.close()
    pair = ("--topic", "1", "--doc", "d1", "--annotator", "eve", "--adjudicate")
    done = cleverdon("judge", there, *pair, "--grade", 2)
    assert "Topic 1, document d1: adjudicated grade 2 by eve." in done.stdout, done.stderr
    assert cleverdon("export", there, "--qrels", tmp_path / "q", "--ties", "higher").exit_code == 0
    assert (tmp_path / "q").read_text() == "1 0 d1 2\n1 0 d2 2\n2 0 d4 1\n"
    assert cleverdon("judge", there, *pair, "--undo").exit_code == 0
    done = cleverdon("export", there, "--qrels", tmp_path / "q", "--rule", "annotator", "--annotator", "ann")
    assert done.exit_code == 0
    assert (tmp_path / "q").read_text() == "1 0 d1 3\n1 0 d2 2\n2 0 d4 1\n"

    done = cleverdon("rules", there, "--rule", "lowest", "--against", "highest", "-m", "nDCG@1")
    assert "3 pairs with a grade by both rules; 2 different (66.7%)" in done.stdout
    assert "2 of 2 runs change rank: beta, alpha; Kendall's tau -1.000" in done.stdout
    told = json.loads(cleverdon("rules", there, "--against", "majority(ties=adjudicate)", "--format", "json").stdout)
    assert told["only_first"] == 2
    assert told["confusion"] == [{"first": 2, "second": 2, "pairs": 1}]

    wrong = cleverdon("rules", there, "--against", "majority(ties=up)")
    assert wrong.exit_code == 2
    assert wrong.stderr == (
        "cleverdon: unknown value of ties for majority 'up'; choose from adjudicate, higher, lower\n"
        "See `cleverdon docs how-to/adjudicate`.\n"
    )


def test_the_command_lists_every_rule() -> None:
    listed = cleverdon("methods", "rules").output
    for rule in ADJUDICATION_RULES:
        assert rule.name in listed
        assert rule.description in listed
    table = json.loads(cleverdon("methods", "rules", "--format", "json").output)
    assert table[0]["choices"] == {"ties": ["lower", "higher", "adjudicate"]}


@pytest.mark.slow
def test_the_work_of_settling_grows_with_the_judgements() -> None:
    rng = np.random.default_rng(1)

    def prepare(size: int) -> Callable[[], object]:
        names = {"query_id": [f"q{i % 50}" for i in range(size)], "doc_id": [f"d{i}" for i in range(size)]}
        grades = [
            pd.DataFrame({**names, "annotator": each, "relevance": rng.integers(0, 4, size)})
            for each in ("a", "b", "c")
        ]
        table = pd.concat(grades, ignore_index=True).assign(kind="graded", counts_as="judgement")
        assert len(settle(table)) == size
        return lambda: settle(table)

    assert grows_linearly(prepare, 5000)
