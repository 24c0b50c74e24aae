"""The table of measures: worked examples, how measures are written, what is missing, and what a page of it says."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from collection import comparison, measures
from collection.core.errors import InputError, UnknownNameError
from collection.core.records import Run
from collection.measures import MEASURES, align, bounds, explain, from_grades, parse
from collection.measures.catalogue import describe
from tests.conftest import frame
from tests.helpers import GOLDEN, forget_members, grows_linearly


def qrels_of(text: str) -> pd.DataFrame:
    return frame(text, "query_id", "doc_id", "relevance")


def run_of(text: str) -> pd.DataFrame:
    return frame(text, "query_id", "doc_id", "score")


def value(measure: str, run: pd.DataFrame, qrels: pd.DataFrame) -> float:
    (only,) = parse(measure)(align(run, qrels))
    return float(only)


# --- values that were worked out without this code ------------------------------------------------


def golden_rows() -> list[tuple[str, str, str, str, str]]:
    lines = (GOLDEN / "measures.tsv").read_text().splitlines()[1:]
    return [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]


def golden_ranking(text: str) -> measures.Aligned:
    ranked, _, missed = text.partition("|")
    grades = [None if g == "-" else int(g) for g in ranked.split()]
    return from_grades([grades], [[g for g in grades if g is not None] + [int(g) for g in missed.split()]])


@pytest.mark.parametrize(("measure", "ranking", "expected", "within", "source"), golden_rows())
def test_golden(measure: str, ranking: str, expected: str, within: str, source: str) -> None:
    wanted = eval(expected, {"__builtins__": {}}, {"log2": math.log2, "log": math.log, "sum": sum, "range": range})
    (found,) = parse(measure)(golden_ranking(ranking))
    assert found == pytest.approx(wanted, abs=float(within or 1e-12)), source


def test_every_measure_has_a_golden_row() -> None:
    """Those that need more than grades have theirs elsewhere: ndeval.json, and the sampled pools below."""
    golden = {parse(row[0]).name for row in golden_rows()}
    assert {e.name for e in MEASURES if not e.needs} - golden == set()


def test_the_slide_that_divides_twice_by_log2_of_3() -> None:
    """A lecture gives the ideal of grades 3, 2, 2, 0 as 10.80 with exponential gains, and so an nDCG of .37.

    By the definition, which the same lecture states, it is 7 + 3 / log2(3) + 3 / log2(4) = 10.39: the slide took
    log2(3) = 1.58 for the third rank too.
    """
    ranking = from_grades([[1, 0, 0, 3]], [[3, 2, 2, 0]])
    facts = explain("nDCG(dcg='exp-log2')", ranking).facts
    assert facts["ideal DCG"] == pytest.approx(7 + 3 / math.log2(3) + 3 / 2, abs=1e-12)
    assert round(7 + 3 / 1.58 + 3 / 1.58, 2) == 10.80
    assert round(facts["DCG"] / 10.80, 2) == 0.37


def test_mrr_of_a_textbook() -> None:
    """The first relevant documents of three topics stand at ranks 2, 1 and 5."""
    values = measures.RR(from_grades([[0, 1], [1, 0], [0, 0, 0, 0, 1]]))
    assert round(measures.RR.summarise(values), 2) == 0.57


@pytest.mark.slow
def test_subtopic_measures_equal_ndeval() -> None:
    """At k=1 ndeval's ERR-IA is not normalised and exceeds 1; the file has no such rows."""
    ours = {
        "ERR-IA": "ERR_IA(alpha={a})", "nERR-IA": "nERR_IA(alpha={a})", "alpha-nDCG": "alpha_nDCG(alpha={a})",
        "P-IA": "P_IA", "strec": "StRecall", "NRBP": "NRBP(alpha={a})", "MAP-IA": "AP_IA",
    }  # fmt: skip
    compared = 0
    for qrels, run, alpha, values in json.loads((GOLDEN / "ndeval.json").read_text()):
        aligned = align(
            pd.DataFrame(run, columns=["query_id", "doc_id", "score"]),
            pd.DataFrame(qrels, columns=["query_id", "subtopic", "doc_id", "relevance"]),
        )
        for name, expected in values.items():
            theirs, _, cutoff = name.partition("@")
            measure = parse(ours[theirs].format(a=alpha) + ("@" + cutoff if cutoff else ""))
            assert measure(aligned)[0] == pytest.approx(expected, abs=1e-9), (measure, qrels, run)
            compared += 1
    assert compared > 200


def test_nnrbp_by_hand() -> None:
    """Document b covers both subtopics, a and c one each; the ideal ranking is b, c, a."""
    qrels = frame("1 x b 1\n1 y b 1\n1 x a 1\n1 y c 1\n1 x z 0", "query_id", "subtopic", "doc_id", "relevance")
    assert value("nNRBP", run_of("1 a 3\n1 b 2"), qrels) == pytest.approx((1 + 1.5 / 2) / (2 + 0.5 / 2 + 0.5 / 4))
    assert value("nNRBP(alpha=0.25,beta=0.5)", run_of("1 b 3"), qrels) == pytest.approx(2 / (2 + 0.75 / 2 + 0.75 / 4))


def ideal_gains(covers: dict[str, set[str]], alpha: float) -> list[float]:
    """The gains of the ideal ranking as in ndeval: highest gain first, then highest id."""
    left, weight, gains = dict(covers), dict.fromkeys(set().union(*covers.values()), 1.0), []
    while left:
        gain, best = max((sum(weight[s] for s in subtopics), doc_id) for doc_id, subtopics in left.items())
        gains.append(gain)
        for subtopic in left.pop(best):
            weight[subtopic] *= 1 - alpha
    return gains


@pytest.mark.parametrize("seed", range(20))
def test_the_ideal_ranking_of_subtopics_is_that_of_ndeval(seed: int) -> None:
    """The order of documents with equal gain changes the gains at later ranks."""
    rng = np.random.default_rng(seed)
    covers = {f"d{n}": {f"s{s}" for s in rng.permutation(8)[: rng.integers(1, 5)]} for n in rng.permutation(9)}
    rows = [("1", subtopic, doc_id, 1) for doc_id, subtopics in covers.items() for subtopic in sorted(subtopics)]
    qrels = pd.DataFrame(rows, columns=["query_id", "subtopic", "doc_id", "relevance"])
    gains = ideal_gains(covers, 0.5)
    first = rows[0][2]
    assert value("nNRBP", run_of(f"1 {first} 1"), qrels) == pytest.approx(
        len(covers[first]) / sum(gain / 2**i for i, gain in enumerate(gains))
    )
    assert value("alpha_nDCG@8", run_of(f"1 {first} 1"), qrels) == pytest.approx(
        len(covers[first]) / sum(gain / math.log2(i + 2) for i, gain in enumerate(gains[:8]))
    )


def test_equal_gains_are_equal_whatever_the_order_of_their_sum() -> None:
    """After d, both a (1 + 0.1 + 0.1) and c (0.1 + 0.1 + 1) gain 1.2, and c has the higher id."""
    covers = {"a": "qst", "b": "ru", "c": "stu", "d": "rst"}
    rows = [("1", subtopic, doc_id, 1) for doc_id, subtopics in covers.items() for subtopic in subtopics]
    qrels = pd.DataFrame(rows, columns=["query_id", "subtopic", "doc_id", "relevance"])
    ideal = 3 + 1.2 / math.log2(3) + 1.02 / 2 + 0.2 / math.log2(5)
    assert value("alpha_nDCG(alpha=0.9)@4", run_of("1 d 1"), qrels) == pytest.approx(3 / ideal, abs=1e-12)


def test_a_subtopic_document_has_the_highest_of_its_grades() -> None:
    qrels = frame("1 a d 1\n1 b d 3\n1 a e 0", "query_id", "subtopic", "doc_id", "relevance")
    assert align(run_of("1 e 2\n1 d 1"), qrels).grades.tolist() == [[0, 3]]


def test_infndcg_of_a_sampled_pool() -> None:
    """Two strata: one judged in full, one judged for two of its four documents."""
    qrels = frame(
        "1 a 1 2\n1 b 1 0\n1 c 2 1\n1 d 2 0\n1 e 2 -1\n1 f 2 -1", "query_id", "doc_id", "stratum", "relevance"
    )
    run = run_of("1 a 4\n1 e 3\n1 c 2\n1 x 1")
    # Stratum 2: two of the retrieved (e and c), one of them judged; each relevant stands for two.
    dcg = 2 / math.log2(2) + (2 / 1) * 1 / math.log2(4)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert value("infNDCG", run, qrels) == pytest.approx(dcg / ideal, abs=1e-12)
    # Above c at rank 3: a of stratum 1, relevant; e of stratum 2, nothing known of it.
    e = 1e-5
    at_c = 1 / 3 + (1 * (1 + e) / (1 + 3 * e) + 1 * e / (3 * e)) / 3
    assert value("xinfAP", run, qrels) == pytest.approx((1 + 2 * at_c) / 3, abs=1e-12)


def test_a_pool_judged_in_full_is_no_sample() -> None:
    qrels = qrels_of("1 a 2\n1 b 0\n1 c 1").assign(probability=1.0)
    run = run_of("1 b 3\n1 a 2\n1 c 1")
    assert value("infNDCG", run, qrels) == pytest.approx(value("nDCG", run, qrels), abs=1e-12)
    assert value("xinfAP", run, qrels) == pytest.approx(value("AP", run, qrels), abs=1e-4)


def test_probabilities_weigh_by_their_inverse() -> None:
    """Half of the documents of c's kind were judged: it counts twice, whether or not the others are named."""
    qrels = qrels_of("1 a 1\n1 c 1").assign(probability=[1.0, 0.5])
    aligned = align(run_of("1 a 2\n1 c 1"), qrels)
    expected = (1 + 2 / math.log2(3)) / (1 + 1 / math.log2(3) + 1 / math.log2(4))
    assert parse("infNDCG")(aligned)[0] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(InputError, match="above 0 and at most 1"):
        align(run_of("1 a 2"), qrels.assign(probability=0.0))


# --- semantics ------------------------------------------------------------------------------------


def test_order_is_score_then_document_id_descending() -> None:
    qrels = qrels_of("1 a 1\n1 b 0")
    assert value("RR", run_of("1 a 1\n1 b 1"), qrels) == 0.5
    assert value("RR", run_of("1 a 1\n1 b 0.5"), qrels) == 1


def test_version_9_compares_scores_as_32_bit_floats() -> None:
    run, qrels = run_of("1 a 1.00000000001\n1 b 1\n2 a 1e300\n2 b 1e299"), qrels_of("1 a 1\n1 b 0\n2 a 1\n2 b 0")
    assert parse("RR")(align(run, qrels)).tolist() == [1, 1]
    assert parse("RR")(align(run, qrels, version=9)).tolist() == [0.5, 0.5]


def test_version_9_rounds_recall_levels_up() -> None:
    aligned = from_grades([[1, 0, 0, 0, *[1] * 11]])
    # .1 * 12 is 1.2: one document when rounded, two by version 9.
    assert parse("IPrec@0.1")(aligned)[0] == 1
    assert parse("IPrec@0.1")(replace(aligned, version=9))[0] == pytest.approx(12 / 15)


def test_negative_grades_are_unjudged() -> None:
    qrels, run = qrels_of("1 a -1\n1 b -2\n1 c 1"), run_of("1 a 4\n1 b 3\n1 c 2\n1 d 1")
    aligned = align(run, qrels)
    assert aligned.grades.tolist() == [[measures.UNJUDGED, measures.UNJUDGED, 1, measures.UNPOOLED]]
    assert value("Judged@2", run, qrels) == 0
    assert value("bpref", run, qrels) == 1
    assert value("nDCG", run, qrels) == pytest.approx(0.5)


@pytest.mark.parametrize("grades", ["-2", "-1 -1", "0 0", "127 0", "0.3 0.9", "-1 127 0.5", "32767 1"])
def test_no_grades_crash_any_measure(grades: str) -> None:
    """A topic judged only -2 kills trec_eval and everything that wraps it."""
    rows = [("1", f"d{i}", float(g)) for i, g in enumerate(grades.split())]
    qrels = pd.DataFrame([*rows, ("2", "d0", 1)], columns=["query_id", "doc_id", "relevance"])
    qrels = qrels.assign(subtopic="s", stratum="a")
    aligned = align(run_of("1 d1 3\n1 d0 2\n1 x 1\n2 d0 2"), qrels)
    for entry in MEASURES:
        if "32767" in grades and entry.name in ("ERR", "nERR"):
            with pytest.raises(InputError, match="pass a smaller one, or use nDCG"):
                parse(entry.example)(aligned)
            continue
        values = parse(entry.example)(aligned)
        assert np.isfinite(values).all(), entry.name
        assert (values >= entry.lowest).all(), entry.name
        assert (values <= entry.highest + 1e-12).all(), entry.name


def test_exponential_gain_of_a_huge_grade_is_an_error() -> None:
    with pytest.raises(InputError, match="too large for the grade 2000"):
        parse("nDCG(dcg='exp-log2')")(from_grades([[2000]]))


def test_grades_with_fractions() -> None:
    """Labels inferred from clicks: gains as they are, relevance from a level that one names."""
    aligned = from_grades([[0.25, 0.5]])
    assert parse("nDCG")(aligned)[0] == pytest.approx((0.25 + 0.5 / math.log2(3)) / (0.5 + 0.25 / math.log2(3)))
    assert parse("AP(rel=0.5)")(aligned)[0] == 0.5
    assert parse("AP")(aligned)[0] == 0
    assert parse("GAP")(aligned)[0] == pytest.approx((1 + 1 + 0.5) / (2 + 1))


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        ("1 a 2\n1 a 1", "1 a 1", "found 'a' of topic '1' twice"),
        ("1 a 2", "1 a 1e30", "below 2,147,483,648"),
        ("1 a x", "1 a 1", "expected numbers in the column score, found str"),
    ],
)
@pytest.mark.parametrize("version", [9, 10])
def test_frames_that_cannot_be_aligned(run: str, qrels: str, message: str, version: measures.Version) -> None:
    rows = [line.split() for line in run.splitlines()]
    ranked = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    if "x" not in run:
        ranked = ranked.astype({"score": float})
    with pytest.raises(InputError, match=message):
        align(ranked, qrels_of(qrels), version=version)


def test_a_grade_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"row 2 has no relevance \(query_id '1', doc_id 'b'\)"):
        align(run_of("1 a 1"), qrels_of("1 a 1\n1 b 1").assign(relevance=[1, None]))


def test_strata_have_no_gaps() -> None:
    qrels = qrels_of("1 a 1\n1 b 0").assign(stratum=["x", None])
    with pytest.raises(InputError, match=r"row 2 has no stratum \(query_id '1', doc_id 'b'\)"):
        align(run_of("1 a 1"), qrels)
    assert parse("infNDCG")(align(run_of("1 a 1"), qrels.iloc[:0])).tolist() == []


def test_frames_of_any_kind_are_aligned_alike() -> None:
    """Integer ids, categories, objects, rows in no order, an index of anything."""
    run = pd.DataFrame(
        {"query_id": [2, 1, 2, 1], "doc_id": [10, 11, 12, 10], "score": [1, 5, 3, 4]}, index=[9, 9, 3, 1]
    )
    qrels = pd.DataFrame({"query_id": [1, 2, 2], "doc_id": [10, 10, 12], "relevance": [2, 1, 3]})
    for kind in ("int64", "object", "str", "category"):
        aligned = align(run.astype({"query_id": kind, "doc_id": kind}), qrels.astype({"query_id": "str"}))
        assert aligned.grades.tolist() == [[measures.UNPOOLED, 2], [3, 1]], kind
    one = comparison.explain(Run("one", run), qrels, parse("RR"), "1")
    assert one.value == 0.5
    assert one.ranks["doc_id"].tolist() == ["11", "10"]


def test_missing_topics_count_zero_and_are_named() -> None:
    qrels = qrels_of("1 a 1\n2 b 1")
    evaluation = comparison.evaluate([Run("one", run_of("1 a 1\n1 y 0.5\n3 x 1"))], qrels, [parse("P@1")])
    assert evaluation.means().loc["one", "P@1"] == 0.5
    (coverage,) = evaluation.coverage
    assert coverage.missing_topics == ("2",)
    assert coverage.ignored_topics == ("3",)
    assert (coverage.retrieved, coverage.unjudged, coverage.unjudged_at_10) == (2, 1, 0.5)


def test_counts_are_summed_and_gmap_is_geometric() -> None:
    asked = [parse(m) for m in ("NumRelRet", "NumQ", "GMAP", "AP")]
    evaluation = comparison.evaluate(
        [Run("one", run_of("1 x 2\n1 a 1\n2 b 1"))], qrels_of("1 a 1\n2 b 1\n3 c 1"), asked
    )
    means = evaluation.means().loc["one"]
    assert means["NumRelRet"] == 2
    assert means["NumQ"] == 3
    assert means["AP"] == 0.5
    assert means["GMAP"] == pytest.approx((0.5 * 1 * 1e-5) ** (1 / 3))


def test_a_run_of_other_topics_is_refused_with_examples_of_both() -> None:
    with pytest.raises(InputError, match=r"'other' has no topic of the qrels.*\['9'\].*\['1'\]"):
        comparison.evaluate([Run("other", run_of("9 a 1"))], qrels_of("1 a 1"), [parse("AP")])


def test_costs_stand_beside_the_runs_that_they_name() -> None:
    runs = [Run(name, run_of("1 a 1")) for name in ("one", "two")]
    costs = pd.DataFrame({"run": ["two", "three"], "latency_ms": [3.5, 9.0], "hardware": ["1 CPU", None]})
    found = comparison.with_costs(comparison.evaluate(runs, qrels_of("1 a 1"), [parse("RR")]), costs).costs
    assert found is not None
    assert found.index.tolist() == ["one", "two"]
    assert found.loc["two", "latency_ms"] == 3.5
    assert found.loc["one"].isna().all()
    with pytest.raises(InputError, match="expected costs of one of the runs"):
        comparison.with_costs(comparison.evaluate(runs[:1], qrels_of("1 a 1"), [parse("RR")]), costs)


def test_the_work_of_aligning_grows_with_the_topics_and_not_with_their_square() -> None:
    def prepare(size: int) -> Callable[[], object]:
        run = pd.DataFrame({"query_id": [str(n) for n in range(size)], "doc_id": "d", "score": 1.0})
        qrels = run[["query_id", "doc_id"]].iloc[: size // 2].assign(relevance=1)
        assert len(align(run, qrels).ignored_topics) == size - size // 2
        return lambda: align(run, qrels)

    assert grows_linearly(prepare, 2000)


def test_high_recall_measures_need_the_whole_collection() -> None:
    with pytest.raises(InputError, match="documents: expected at least 3, .* found 2"):
        parse("WSS(documents=2)@0.95")(from_grades([[1, 0, 0]]))


def test_measures_say_which_qrels_they_need() -> None:
    aligned = from_grades([[1, 0]])
    with pytest.raises(InputError, match="a sampled pool"):
        parse("xinfAP")(aligned)
    with pytest.raises(InputError, match="the subtopic in the second column"):
        parse("StRecall@5")(aligned)
    with pytest.raises(InputError, match="has no bounds"):
        bounds(parse("infNDCG"), aligned)
    with pytest.raises(InputError, match="P needs a cut-off, for example P@10"):
        measures.P(aligned)


# --- how measures are written ---------------------------------------------------------------------


def test_relevance_level() -> None:
    run, qrels = run_of("1 a 2\n1 b 1"), qrels_of("1 a 1\n1 b 2")
    assert value("RR", run, qrels) == 1
    assert value("RR(rel=2)", run, qrels) == 0.5
    assert str(parse("RR", 2)) == "RR(rel=2)"
    assert str(parse("nDCG@10", 2)) == "nDCG@10"
    assert str(parse("RR(rel=3)", 2)) == "RR(rel=3)"
    assert str(parse("RR(rel=1)", 2)) == "RR"
    assert parse("RR")(align(run, qrels), rel=2).tolist() == [0.5]
    assert value("nDCG(rel=2)", run, qrels) == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize(
    "text",
    [
        "nDCG@10", "AP", "AP(rel=2)@100", "P@5", "bpref", "Judged@10", "RR(rel=2)", "IPrec@0.1", "WSS@0.95",
        "nDCG(dcg='exp-log2')@10", "nDCG(gains={1:1,2:3,3:7})@10", "RBP(p=0.5,rel=1)", "P(judged_only=True)@10",
        "AP(norm='min')@10", "ERR(max_rel=4)@20",
    ],
)  # fmt: skip
def test_a_measure_is_written_as_it_is_read(text: str) -> None:
    assert str(parse(text)) == text


def test_spellings() -> None:
    assert parse("ndcg@10") == parse("nDCG") @ 10 == measures.nDCG @ 10
    assert parse(" AP( rel = 2 ) @ 100 ") == measures.AP(rel=2) @ 100
    assert parse("AP(rel=1)") == parse("AP")
    assert len({parse("AP"), parse("AP(rel=1)"), parse("ap")}) == 1
    assert parse("WSS@95") == parse("WSS@95%") == parse("WSS@0.95")
    assert parse("WSS@1%") == parse("WSS@0.01")
    assert parse("alpha-nDCG@5") == parse("alpha_nDCG@5")
    assert parse("bpref-10") == parse("bpref10")
    assert len({parse("AP(rel=2)"), parse("AP(rel=2.0)")}) == 1
    assert len({parse("nDCG(gains={1:1,2:3})"), parse("nDCG(gains={2:3,1:1})")}) == 1
    assert parse(str(parse("IPrec@0.33333333"))) == parse("IPrec@0.33333333") != parse("IPrec@0.33333334")
    assert parse("Effort@1") == parse("Effort@100")
    with pytest.raises(AttributeError):
        measures.nDGC  # noqa: B018


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nDGC@10", UnknownNameError, "did you mean 'nDCG@10'"),
        ("AP(norm=min)@10", InputError, "text in quotes (norm='min')"),
        ("P", InputError, "needs a cut-off, for example P@10"),
        ("WSS", InputError, "needs a recall, for example WSS@0.95"),
        ("bpref@10", InputError, "has no cut-off"),
        ("P@0", InputError, "a rank from 1 to"),
        ("P@2.5", InputError, "a rank from 1 to"),
        ("P@10%", InputError, "expected a rank, found a percentage"),
        ("P@" + "1" * 400, InputError, "expected notation such as nDCG@10"),
        ("AP(rel=1" + "0" * 400 + ")", InputError, "a number"),
        ("F(beta=2e9)@10", InputError, "and at most 1e+09"),
        ("INST(T=0.1)", InputError, "from 0.5 to 1e+09"),
        ("AP(rel=1)(rel=2)", InputError, "numbers, True, False, or text in quotes"),
        ("rbp_0.8", InputError, "expected its persistence as in RBP(p=0.8)"),
        ("IPrec@101", InputError, "a recall from 0 to 1"),
        ("Judged@99999999999999999999", InputError, "a rank from 1 to"),
        ("AP(level=2)", UnknownNameError, "AP parameter 'level'"),
        ("AP(2)", InputError, "name=value"),
        ("AP(rel=__import__('os'))", InputError, "numbers, True, False, or text in quotes"),
        ("AP(rel=0)", InputError, "a number above 0"),
        ("AP(rel=nan)", InputError, "numbers, True, False, or text in quotes"),
        ("AP(rel=1e999)", InputError, "a number"),
        ("RBP(p=1)", InputError, "between 0 and 1, both excluded"),
        ("RBP(p='x')", InputError, "a number"),
        ("nDCG(dcg='ln')", UnknownNameError, "dcg of nDCG"),
        ("nDCG(gains=3)", InputError, "a gain of 0 or more for each grade"),
        ("nDCG(gains={1:-1})", InputError, "a gain of 0 or more for each grade"),
        ("AP(judged_only=1)", InputError, "True or False"),
        ("WSS(documents=2.5)@0.9", InputError, "a whole number"),
        ("AP@@3", InputError, "expected notation such as nDCG@10"),
        ("", InputError, "expected notation such as nDCG@10"),
    ],
)
def test_bad_measures_say_what_is_wrong(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        parse(text)
    assert message in str(caught.value)


def test_a_measure_of_one_s_own_gives_a_value_a_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_members(monkeypatch, MEASURES)

    @MEASURES.add("Mine", label="Mine", description="Mine.")
    def mine(aligned, *, cutoff=5):
        return len(aligned.topics)

    with pytest.raises(InputError, match="Mine: expected one value for each of the 1 topics"):
        parse("Mine@3")(from_grades([[1]]))
    with pytest.raises(InputError, match="expected a number after @, found '10'"):
        measures.nDCG @ "10"  # type: ignore[operator]


def test_a_perfect_ranking_is_exactly_1() -> None:
    rng = np.random.default_rng(1)
    grades = [sorted(rng.integers(0, 4, 60).tolist(), reverse=True) for _ in range(50)]
    for text in ("nDCG", "nDCG@10", "nDCG(dcg='exp-log2')", "AP", "Q", "nERR"):
        assert set(parse(text)(from_grades(grades)).tolist()) <= {0.0, 1.0}, text


def test_a_measure_of_one_s_own_needs_a_name_that_can_be_written() -> None:
    with pytest.raises(InputError, match="expected a letter, then letters"):
        MEASURES.add("P@k", label="x", description="x")(lambda aligned: aligned)


# --- explanations and the catalogue ---------------------------------------------------------------


def test_an_explanation_reads_like_a_lecture() -> None:
    text = str(explain("AP@10", align(run_of("1 a 3\n1 b 2\n1 c 1"), qrels_of("1 a 1\n1 c 2\n1 d 1")), doc_ids="abc"))
    assert text == (
        "AP@10 of topic 1\n"
        "AP = (1/R) * sum of P@i over the ranks i of relevant documents; with @k over i <= k.\n"
        "\n"
        "rank  doc_id  grade  P at i\n"
        "   1  a           1       1\n"
        "   2  b           -\n"
        "   3  c           2  0.6667\n"
        "sum of P at i = 1.66667\n"
        "R = 3\n"
        "AP@10 = 0.555556"
    )


def test_a_notebook_shows_the_ranks_that_are_printed() -> None:
    explanation = explain("AP", [1, 0, 0, 0, 0, 1] * 20)
    rows = explanation._repr_html_().split("<tr>")[1:]
    shown = [[cell for cell in re.findall("<td>(.*)</td>", row) if cell] for row in rows]
    printed = [line.split() for line in str(explanation).split("P at i\n")[1].splitlines()]
    assert shown == printed[: len(shown)]
    assert sum(row[1:2] == ["1"] for row in shown) == 40, "every relevant document"


def test_an_explanation_of_condensed_lists_names_the_right_documents() -> None:
    aligned = align(run_of("1 a 3\n1 b 2\n1 c 1"), qrels_of("1 b 0\n1 c 2"))
    ranks = explain("RR(judged_only=True)", aligned, doc_ids=["a", "b", "c"]).ranks
    assert ranks["doc_id"].tolist() == ["b", "c"]


def test_explanations_ask_for_what_they_need() -> None:
    aligned = from_grades([[1], [0, 1]])
    with pytest.raises(InputError, match="topic: expected one of the 2 topics to explain, found none"):
        explain("AP", aligned)
    with pytest.raises(UnknownNameError, match="unknown topic '3'"):
        explain("AP", aligned, topic="3")
    with pytest.raises(InputError, match="doc_ids: expected the 2 documents"):
        explain("AP", aligned, topic="2", doc_ids=["a"])


def test_what_is_shown_leads_to_the_value() -> None:
    """Worked again from the numbers on the board alone."""
    ranking = golden_ranking("2 0 - 1 | 1")
    sums = {
        "AP": lambda r, f: r["P at i"].sum() / f["R"],
        "nDCG": lambda r, f: (r["gain"] / np.log2(r["rank"] + 1)).sum() / f["ideal DCG"],
        "nDCG(rel=2)": lambda r, f: (r["gain"] / np.log2(r["rank"] + 1)).sum() / f["ideal DCG"],
        "ERR": lambda r, f: r["s * reaches / i"].sum(),
        "nERR": lambda r, f: r["s * reaches / i"].sum() / f["ideal ERR"],
        "RBP": lambda r, f: r["product"].sum(),
        "Q@2": lambda r, f: r["blended ratio"].sum() / f["min(R, k)"],
        "GAP": lambda r, f: f["sum of w S"] / f["sum of w R"],
        "bpref": lambda r, f: r["kept"].sum() / f["R"],
        "infAP": lambda r, f: r["expected P at i"].sum() / f["R"],
        "INST": lambda r, f: (r["weight"] * r["gain / max_rel"]).sum(),
        "SDCG@4": lambda r, f: f["sum"] / f["sum of 1 / log2(i + 1)"],
        "GainArea": lambda r, f: r["N - i + 1"].sum() / (f["R"] * f["N"]),
        "WSS@0.5": lambda r, f: (f["N"] - f["read"]) / f["N"] - 0.5,
        "Utility": lambda r, f: f["documents of weight a"] - f["documents of weight b"],
    }
    for name, worked in sums.items():
        explanation = explain(name, ranking)
        assert worked(explanation.ranks, explanation.facts) == pytest.approx(explanation.value, abs=1e-12), name
    # The column of grades shows what was judged, also where the measure takes it as yes or no.
    assert explain("nDCG(rel=2)", ranking).ranks["grade"].tolist()[0] == 2


def test_bounds_with_gains_of_one_s_own() -> None:
    """The lower grade gains more: the best that could be at rank 1 is grade 1."""
    aligned = from_grades([[None, 0, 0, 3, *[None] * 7]], [[0, 0, 3]])
    aligned = replace(aligned, levels=(1.0, 2.0, 3.0))
    assert bounds(parse("nDCG(gains={1:5,2:1})@1"), aligned).highest[0] == 1
    # Grade 0 gains most; the least is what an unjudged document gains, nothing.
    assert bounds(parse("DCG(gains={0:9,1:5,2:1})@1"), aligned) == (np.array([0.0]), np.array([9.0]))


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@5", "nDCG(dcg='exp-log2')", "AP", "RBP", "R@5"])
def test_bounds_of_longer_rankings_equal_a_full_search(measure: str) -> None:
    """Every number of documents of each grade, better ones above or below: 21 unjudged, two levels."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        grades = [[None if u < 0.7 else int(u * 10) % 3 for u in rng.random(30)]]
        aligned = replace(from_grades(grades, [[g for g in grades[0] if g is not None] + [2, 1]]), levels=(1.0, 2.0))
        places = [i for i, g in enumerate(grades[0]) if g is None]
        found = []
        for order in (places, places[::-1]):
            for tops in range(len(places) + 1):
                for seconds in range(len(places) + 1 - tops):
                    full = list(grades[0])
                    for n, place in enumerate(order):
                        full[place] = 2 if n < tops else 1 if n < tops + seconds else 0
                    found.append(full)
        everything = replace(from_grades(found, [[*full, 2, 1] for full in found]), levels=(1.0, 2.0))
        values = parse(measure)(everything)
        low, high = bounds(parse(measure), aligned)
        assert low[0] == pytest.approx(values.min(), abs=1e-12)
        assert high[0] == pytest.approx(values.max(), abs=1e-12)


def test_every_measure_is_described() -> None:
    for entry in MEASURES:
        assert entry.formula.startswith((f"{entry.name} = ", f"{entry.name}@k = ", f"{entry.name}@r = ")), entry.name
        assert entry.label, entry.name
        assert entry.description.endswith("."), entry.name
        text = describe(entry)
        assert entry.formula in text
        assert entry.source in text
