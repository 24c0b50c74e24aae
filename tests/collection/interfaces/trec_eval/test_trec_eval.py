"""`cleverdon trec_eval` against recorded output of trec_eval 10 and 9, and by hand."""

import random
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from collection import formats
from collection.core.errors import InputError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.interfaces.trec_eval import (
    NICKNAMES,
    TREC_MEASURES,
    TrecOptions,
    choose,
    evaluate,
    format_lines,
    to_z_scores,
)
from collection.measures import MEASURES
from tests.helpers import GOLDEN, SHARED, cases, first_of, ok, run

RECORDED = SHARED / "vectors" / "13_trec_eval_cli"
OWN = GOLDEN / "official"
OWN_VALUES = pd.read_csv(OWN / "trec_eval.tsv", sep="\t", dtype=str, keep_default_na=False)
FAILING = {24, 25, 26, 27}
"""Command lines that trec_eval refuses, too."""
BEYOND_ITS_MEMORY = {"prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret"}
"""Measures for which trec_eval reads past the end of an array if there are grades below 0."""


def command(number: int) -> list[str]:
    """The arguments of a recorded command line; the files lie in its folder."""
    lines = (RECORDED / "cases.tsv").read_text().splitlines()
    *options, qrels, ranking = shlex.split(lines[number].split("\t")[1])
    options = [str(RECORDED / o) if o == "zscores" else o for o in options]
    return [*options, str(RECORDED / qrels), str(RECORDED / ranking)]


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("number", first_of((n for n in range(1, 31) if n not in FAILING), 10))
def test_equal_to_trec_eval_byte_for_byte(shared: Path, number: int) -> None:
    expected, found = (RECORDED / f"{number:02}.out").read_text(), ok("trec_eval", *command(number))
    if number == 22:
        expected, found = (without(text, BEYOND_ITS_MEMORY) for text in (expected, found))
        assert expected.count("\n") == 158
    assert found == expected


@pytest.mark.parametrize("seed", range(cases(5, 60)))
@pytest.mark.parametrize("complete", [False, True])
def test_version_9_equals_the_trec_eval_9_of_pytrec_eval(seed: int, complete: bool) -> None:
    rng = random.Random(seed)
    grades = {str(t): {str(d): rng.randrange(4) for d in rng.sample(range(40), 20)} for t in range(8)}
    # Scores that are equal as 32-bit floats only, ties, and a topic that one or the other lacks.
    scores = {
        str(t): {str(d): rng.choice([1 / 3, 1 / 3 + 1e-9, rng.random(), 2.0]) for d in rng.sample(range(40), 25)}
        for t in range(1, 10)
    }
    names = sorted({"map", "P", "recall", "ndcg", "ndcg_cut", "iprec_at_recall", "11pt_avg", "Rprec", "bpref",
                    "recip_rank", "num_ret", "num_rel", "num_rel_ret", "infAP", "success", "set_F"})  # fmt: skip
    theirs = pytrec_eval.RelevanceEvaluator(grades, names).evaluate(scores)
    qrels = pd.DataFrame(
        [(t, d, g) for t, of_topic in grades.items() for d, g in of_topic.items()],
        columns=["query_id", "doc_id", "relevance"],
    )
    frame = pd.DataFrame(
        [(t, d, s) for t, of_topic in scores.items() for d, s in of_topic.items()],
        columns=["query_id", "doc_id", "score"],
    )
    columns, _ = choose(names)
    options = TrecOptions(complete=complete, version=9)
    evaluation = evaluate(qrels, Run("r", rank_run(frame)), columns, "qrels", options)
    assert evaluation.topics == [str(t) for t in range(0 if complete else 1, 8)]
    compared = [each for each in evaluation.columns if each.column.name in theirs["1"]]
    assert len(compared) > 50
    for each in compared:
        values = dict(zip(evaluation.topics, each.values, strict=True))
        expected = [theirs[t][each.column.name] for t in sorted(theirs)]
        assert [values[t] for t in sorted(theirs)] == pytest.approx(expected, abs=1e-12), each.column.name


def without(text: str, names: set[str]) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if line.split("\t")[0].strip() not in names)


@pytest.mark.shared
@pytest.mark.parametrize("number", sorted(FAILING))
def test_what_trec_eval_refuses_is_an_error(shared: Path, number: int) -> None:
    result = run("trec_eval", *command(number))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("cleverdon: ")


ALL = "-q -m all_trec -m yaap"
VECTORS = [
    ("01_ties_precision", "all", ALL),
    ("01_ties_precision", "all_M10", f"{ALL} -M10"),
    ("02_grades_negative", "all", ALL),
    ("02_grades_negative", "all_l2", f"{ALL} -l2"),
    ("02_grades_negative", "all_J", f"{ALL} -J"),
    (
        "02_grades_negative",
        "gains",
        "-q -m iprec_at_recall.0.1,0.25,0.33 -m P.1,3,7 -m recall.3 -m Rprec_mult.0.5,1.5 -m utility.1,-1,0,0"
        " -m G.1=1,2=3,3=7 -m ndcg.1=1,2=3,3=7 -m Rndcg -m success.1,3,5 -m set_F.0.25",
    ),
    ("02_grades_negative", "rbp_p50", "-q -m rbp.p=0.5 -m rbp_resid.p=0.5"),
    ("02_grades_negative", "rbp_p80", "-q -m rbp.p=0.8 -m rbp_resid.p=0.8"),
    ("03_missing_queries", "c", "-q -m all_trec -c"),
    *(("04_formats", f"run_{f}", f"-q -m all_trec qrels.plain run.{f}") for f in
      ("plain", "tabs", "mixedspace", "crlf", "nofinalnl", "blanks_comments")),
    *(("04_formats", f"qrels_{f}", f"-q -m all_trec qrels.{f} run.plain") for f in
      ("tabs", "mixedspace", "crlf", "nofinalnl")),
    ("06_random_graded", "all", ALL),
    ("06_random_graded", "c", f"{ALL} -c"),
    ("06_random_graded", "c_l2", f"{ALL} -c -l2"),
    ("06_random_graded", "c_l3_M100", f"{ALL} -c -l3 -M100"),
    ("06_random_graded", "c_J", f"{ALL} -c -J"),
    ("06_random_graded", "c_N", "-q -c -N100000 -m utility.1,-1,-1,0.001"),
    ("08_sampled_pool", "all", "-q -m all_trec"),
    ("08_sampled_pool", "fullqrels", "-q -m all_trec qrels.full run"),
]  # fmt: skip


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize(("folder", "stem", "arguments"), VECTORS, ids=[f"{f[:2]}-{s}" for f, s, _ in VECTORS])
def test_equal_to_trec_eval_on_odd_files(shared: Path, folder: str, stem: str, arguments: str) -> None:
    case = shared / "vectors" / folder
    options = [str(case / a) if (case / a).exists() else a for a in arguments.split()]
    files = [] if (case / options[-1]).exists() else [str(case / "qrels"), str(case / "run")]
    found = read_lines(ok("trec_eval", *options, *files))
    expected = read_lines((case / f"{stem}.te10.tsv").read_text().partition("\n")[2])
    # rbp depends on memory that trec_eval never set; 0 / 0 is -nan there.
    expected = {key: value for key, value in expected.items() if key[0] != "rbp" and "nan" not in value}
    assert {key: found.get(key) for key in expected} == expected
    assert len(expected) > 15


@pytest.mark.parametrize("arguments", OWN_VALUES["options"].unique())
def test_equal_to_trec_eval_on_small_files(arguments: str) -> None:
    ranking = OWN / ("run-part" if "-c" in arguments else "run")
    found = read_lines(ok("trec_eval", "-q", *arguments.split(), OWN / "qrels", ranking))
    rows = OWN_VALUES.query("version == '10' and options == @arguments")
    expected = {
        (row["measure"], topic): f"{float(row[topic]):.{0 if row['measure'].startswith('num_') else 4}f}"
        for row in rows.to_dict("records")
        for topic in rows.columns[3:]
        if row[topic]
    }
    assert {key: found.get(key) for key in expected} == expected
    assert len(expected) > 50


@pytest.mark.parametrize("dress", ["\t", "   ", "\r\n", "no last line end", "comments"])
def test_equal_output_for_every_way_of_writing_the_files(dress: str, tmp_path: Path) -> None:
    """White space, line ends, blank lines and comments: trec_eval prints the same for all of them."""
    for name in ("qrels", "run"):
        text = (OWN / name).read_text()
        if not dress.strip(" \t"):
            text = text.replace(" ", dress)
        text = text.replace("\n", dress if dress == "\r\n" else "\n")
        if dress == "comments":
            text = "# a comment\n\n" + text.replace("\n", "\n\n", 3)
        (tmp_path / name).write_bytes((text.rstrip("\n") if "last" in dress else text).encode())
    found = ok("trec_eval", "-q", "-m", "all_trec", tmp_path / "qrels", tmp_path / "run")
    assert found == ok("trec_eval", "-q", "-m", "all_trec", OWN / "qrels", OWN / "run")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-q -m nosuchmeasure qrels run", "nosuchmeasure"),
        ("qrels missing_file", "missing_file"),
        ("qrels run-part", "12"),
        ("-m P.1,2,3,5,5 qrels run", "5"),
    ],
)
def test_what_trec_eval_refuses_on_small_files_is_an_error(arguments: str, message: str) -> None:
    result = run(
        "trec_eval", *(OWN / word if word in ("qrels", "run", "run-part") else word for word in arguments.split())
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("cleverdon: ")
    assert message in result.stderr


def read_lines(text: str) -> dict[tuple[str, str], str]:
    rows = (line.split("\t") for line in text.splitlines())
    return {(name.strip(), topic): value.strip() for name, topic, value in rows}


# --- the C program of trec_eval 9 -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(cases(3, 40)))
@pytest.mark.slow
def test_equal_to_the_c_program_on_random_files(seed: int, tmp_path: Path) -> None:
    """As trec_eval 9 prints it; scores are distinct as 32-bit floats, and its recall levels are others."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(rng.choice([8, 60, 200]))]
    grades, level = rng.choice([[0, 1], [0, 0, 1, 2, 3], [-1, 0, 0, 1, 2], [0, 5, 12]]), rng.choice([1, 2])
    qrels: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for topic in map(str, range(1, 12)):
        qrels[topic] = {"d0": 0} | {
            d: rng.choice(grades) for d in rng.sample(documents, rng.randint(1, len(documents)))
        }
        places = range(1, rng.choice([4, 1000]))
        scores[topic] = {d: float(rng.choice(places)) for d in rng.sample(documents, rng.randint(1, len(documents)))}
    write_qrels(tmp_path / "q", ((t, "0", d, g) for t, of in qrels.items() for d, g in of.items()))
    write_run(tmp_path / "r", ((t, d, s) for t, of in scores.items() for d, s in of.items()))
    names = set(pytrec_eval.supported_measures) - {"runid", "relstring", "gm_map", "gm_bpref", "num_q"}
    names -= {"iprec_at_recall", "11pt_avg"}
    expected = pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=level).evaluate(scores)
    found = read_lines(ok("trec_eval", "-q", "-n", "-m", "all_trec", f"-l{level}", tmp_path / "q", tmp_path / "r"))
    compared = {key: value for key, value in found.items() if key[0] in expected[key[1]]}
    shown = {(n, t): f"{expected[t][n]:.0f}" if n.startswith("num_") else f"{expected[t][n]:.4f}" for n, t in compared}
    assert compared == shown
    assert len(compared) > 500


def write_qrels(path: Path, rows: Iterable[Sequence[object]]) -> None:
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


def write_run(path: Path, rows: Iterable[tuple[str, str, float]]) -> None:
    path.write_text("".join(f"{topic} Q0 {doc} 0 {score!r} mine\n" for topic, doc, score in rows))


# --- measures, by hand ------------------------------------------------------------------------------------


def lines(
    qrels: Sequence[tuple[str, str, float]],
    ranking: Sequence[tuple[str, str]],
    *asked: str,
    by_topic: bool = False,
    **options: int,
) -> dict[tuple[str, str], str]:
    """What is printed for qrels (topic, document, grade), and for documents by topic from the best on."""
    judged = pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"])
    scored = [(topic, doc, float(-place)) for place, (topic, doc) in enumerate(ranking)]
    frame = rank_run(pd.DataFrame(scored, columns=["query_id", "doc_id", "score"]))
    evaluation = evaluate(judged, Run("mine", frame), choose(asked).columns, "qrels", TrecOptions(**options))
    return read_lines("\n".join(format_lines(evaluation, by_topic=by_topic, with_summary=True)))


ONE = [("1", "a", 2), ("1", "b", 0), ("1", "c", 1), ("1", "e", -1)]
"""Documents a to e are ranked; d is unjudged, e was pooled but not judged."""
RANKED = [("1", doc) for doc in "bdaec"]


def test_values_by_hand() -> None:
    found = lines(
        ONE, RANKED, "map", "P.2,3", "set_F.3", "utility.1,-1,0,0.5", "ndcg.0=1,1=0,2=4", "dcg", "ideal_dcg",
        "11pt_avg.0.5,1", "iprec_at_recall.0.5,1.5", "rbp_resid.p=0.5", documents=10,
    )  # fmt: skip
    assert {name: value for (name, _), value in found.items()} == {
        "map": "0.3667",  # (1/3 + 2/5) / 2
        "iprec_at_recall_0.50": "0.4000",
        "iprec_at_recall_1.50": "0.0000",
        "P_2": "0.0000",
        "P_3": "0.3333",
        "utility_1,-1,0,0.5": "1.5000",  # 2 - 3 + 5 / 2
        "11pt_avg_0.5,1": "0.4000",
        "set_F_3": "0.7273",  # 4 * 2/5 * 1 / (3 * 2/5 + 1)
        "ndcg_0=1,1=0,2=4": f"{(1 + 4 / 2) / (4 + 1 / np.log2(3)):.4f}",
        "dcg": f"{2 / 2 + 1 / np.log2(6):.4f}",
        "ideal_dcg": f"{2 + 1 / np.log2(3):.4f}",
        "rbp_resid_p=0.5": f"{0.5**5 + 0.5 * (0.5 + 0.5**3):.4f}",
    }


def test_grades_as_a_text() -> None:
    found = lines([*ONE, ("1", "d", 10)], RANKED, "relstring.4", "relstring.9", by_topic=True)
    assert found == {("relstring_4", "1"): "'0>2.'"}
    assert lines(ONE, RANKED, "relstring", by_topic=True) == {("relstring", "1"): "'0-2.1'"}


def test_geometric_means() -> None:
    qrels = [("1", "a", 1), ("1", "b", 0), ("2", "a", 1), ("2", "b", 0)]
    ranking = [("1", "a"), ("1", "b"), ("2", "b"), ("2", "a")]
    found = lines(qrels, ranking, "gm_map", "gm_bpref", by_topic=True)
    assert found == {("gm_map", "all"): "0.7071", ("gm_bpref", "all"): f"{(1 * 1e-5) ** 0.5:.4f}"}
    assert MEASURES["GMbpref"].summarise(np.array([1.0, 0.25])) == pytest.approx(0.5)


def test_a_topic_that_the_run_lacks() -> None:
    """trec_eval counts it as one document outside the pool, and then resets only measures without parameters."""
    names = ("num_ret", "num_rel", "P.1", "unj.1", "rbp_resid", "rbp_resid.p=0.5", "relstring", "utility.1,-1,0,0")
    qrels = [("1", "a", 1), ("2", "a", 2), ("2", "b", 1)]
    found = {}
    for name in names:
        found |= lines(qrels, [("1", "a")], name, by_topic=True, complete=True, level=2)
    assert {name: value for (name, topic), value in found.items() if topic == "2"} == {
        "num_ret": "0",
        "num_rel": "1",
        "P_1": "0.0000",
        "unj_1": "0.0000",
        "rbp_resid": "0.0000",
        "rbp_resid_p=0.5": "1.0000",
        "relstring": "''",
        "utility_1,-1,0,0": "-1.0000",
    }
    assert found["num_rel", "all"] == "3"  # with -c the level does not count
    with pytest.raises(InputError, match="the run lacks topics of the judgements: '2'; use -c to count"):
        lines(qrels, [("1", "a")], "map")


def test_means_are_summed_in_the_order_of_topics() -> None:
    """The exact mean, 2.9 / 16 = 0.18125, is printed as 0.1812; trec_eval's sum is 2.900000000000001."""
    hits = (3, 3, 0, 2, 3, 3, 2, 3, 2, 1, 1, 2, 1, 0, 2, 1)
    qrels = [(f"{t:02}", f"d{i}", 1) for t, _ in enumerate(hits) for i in range(3)]
    ranking = [(f"{t:02}", f"d{i}" if i < n else f"x{i}") for t, n in enumerate(hits) for i in range(5)]
    assert lines(qrels, ranking, "P.10")["P_10", "all"] == "0.1813"


def test_z_scores() -> None:
    judged = pd.DataFrame(ONE, columns=["query_id", "doc_id", "relevance"])
    frame = rank_run(pd.DataFrame({"query_id": "1", "doc_id": list("bdaec"), "score": [5.0, 4.0, 3.0, 2.0, 1.0]}))
    columns = choose(["P.1,2,3", "num_ret", "num_q", "runid", "relstring"]).columns
    evaluation = evaluate(judged, Run("mine", frame), columns, "qrels", TrecOptions())
    reference = pd.DataFrame(
        {
            "query_id": "1",
            "measure": ["P_1", "P_3", "num_ret", "num_q"],
            "mean": [0.0, 0.5, 6.0, 1.0],
            "deviation": [0.0, 0.25, 0.0, 1.0],
        }
    )
    found = read_lines("\n".join(format_lines(to_z_scores(evaluation, reference), by_topic=True, with_summary=True)))
    assert found == {
        ("Znum_ret", "1"): "-1000000.0000",  # not the mean, from which nothing deviates
        ("ZP_1", "1"): "0.0000",
        ("ZP_2", "1"): "-1000000.0000",  # not in the file
        ("ZP_3", "1"): "-0.6667",
        ("relstring", "1"): "'0-2.1'",
        ("runid", "all"): "mine",
        ("Znum_q", "all"): "1.0000",
        ("Znum_ret", "all"): "-1000000.0000",
        ("ZP_1", "all"): "0.0000",
        ("ZP_2", "all"): "-1000000.0000",
        ("ZP_3", "all"): "-0.6667",
    }


# --- preferences ----------------------------------------------------------------------------------------

DOCUMENTED = {
    "6 documents": ("u s d1 3|u s d2 2|u s d3 0|u s d4 6|u s d5 0|u s d6 2", 13),
    "2 subgroups": ("u s d1 3|u s d2 2|u s d3 1|u t d1 2|u t d2 1|u t d4 3", 6),
    "2 annotators": ("u s d1 3|u s d2 2|v s d1 0|v s d3 6|v s d4 2|v t d1 0|v t d2 8", 5),
    "transitive": ("u s d1 3|u s d2 2|u s d3 1|u t d2 5|u t d4 4", 5),
}
"""Examples of trec_eval's description of the format, with the number of preferences. It counts 5 in the second, without
that of d4 over d3, which follows from d4 over d2 and d2 over d3."""


def preference_lines(text: str, ranking: str, *asked: str, **options: int) -> dict[str, str]:
    """What is printed for rows ``group subgroup document level``, and for documents from the best on."""
    rows = [("1", *row.split()) for row in text.split("|")]
    levels = pd.DataFrame(rows, columns=["query_id", "group", "subgroup", "doc_id", "level"]).astype({"level": float})
    scores = [float(-place) for place in range(len(ranking.split()))]
    frame = rank_run(pd.DataFrame({"query_id": "1", "doc_id": ranking.split(), "score": scores}))
    columns = choose(asked or ["all_prefs"]).columns
    evaluation = evaluate(levels, Run("mine", frame), columns, "prefs", TrecOptions(**options))
    printed = read_lines("\n".join(format_lines(evaluation, by_topic=False, with_summary=True)))
    return {name: value for (name, _), value in printed.items()}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_number_of_preferences_in_documented_examples(name: str) -> None:
    text, number = DOCUMENTED[name]
    assert preference_lines(text, "d1", "prefs_num_prefs_poss") == {"prefs_num_prefs_poss": str(number)}


def test_preferences_of_two_groups_by_hand() -> None:
    """u: a > b, a > c (0), b > c. v: b > a. Ranking: b, a; c is not retrieved."""
    found = preference_lines("u s a 2|u s b 1|u s c 0|v s b 1|v s a 0", "b x a")
    assert found == {
        "runid": "mine",
        "num_q": "1",
        "prefs_num_prefs_poss": "4",
        "prefs_num_prefs_ful": "3",
        "prefs_num_prefs_ful_ret": "1",
        "prefs_simp": "0.7500",
        "prefs_pair": "0.8333",  # (1/2 + 1 + 1) / 3
        "prefs_avgjg": "0.8333",  # (2/3 + 1) / 2
        "prefs_avgjg_Rnonrel": "0.9000",  # u has 1 nonrelevant document too few: (2 + 2) / (3 + 2); v: 1 / 1
        "prefs_simp_ret": "0.5000",
        "prefs_pair_ret": "0.5000",
        "prefs_avgjg_ret": "0.5000",
        "prefs_avgjg_Rnonrel_ret": "0.9000",  # u: (0 + 4) / (1 + 4); v: 1 / 1
        "prefs_simp_imp": "0.7500",
        "prefs_pair_imp": "0.8333",
        "prefs_avgjg_imp": "0.8333",
    }


def test_pairs_that_are_not_retrieved_count_by_scope() -> None:
    found = preference_lines("u s a 3|u s b 2|u s c 1", "a x")
    shares = {name: found[name] for name in ("prefs_simp", "prefs_simp_imp", "prefs_simp_ret")}
    assert shares == {"prefs_simp": "0.6667", "prefs_simp_imp": "1.0000", "prefs_simp_ret": "0.0000"}


def test_repeated_rows_count_again_in_a_complete_order() -> None:
    assert preference_lines("u s a 2|u s a 2|u s b 1", "a", "prefs_num_prefs_poss") == {"prefs_num_prefs_poss": "2"}
    assert preference_lines("u s a 2|u s a 2|u s b 1|u t b 2|u t c 1", "a", "prefs_num_prefs_poss") == {
        "prefs_num_prefs_poss": "3"
    }


def test_levels_below_0_are_nonrelevant_too() -> None:
    """The first 2 of c, d and e count, each against all 5 documents; the 3 above d are fulfilled."""
    found = preference_lines("u s a 1|u s b 1|u s c 0|u s d 0|u s e -1", "c a b d e", "prefs_avgjg_Rnonrel")
    assert found == {"prefs_avgjg_Rnonrel": "0.3000"}


def test_ties_of_scores_are_in_ascending_order_of_documents() -> None:
    """All other measures use descending order."""
    levels = pd.DataFrame({"query_id": "1", "group": "u", "subgroup": "s", "doc_id": ["a", "b"], "level": [2.0, 1.0]})
    frame = rank_run(pd.DataFrame({"query_id": "1", "doc_id": ["b", "a"], "score": [1.0, 1.0]}))
    for depth, value in ((None, 1), (1, 1)):
        columns = choose(["prefs_num_prefs_ful"]).columns
        found = evaluate(levels, Run("mine", frame), columns, "prefs", TrecOptions(depth=depth)).columns[0].values
        assert list(found) == [value]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("u s a 2|u s b 1|u t b 2|u t a 1", "'a' is preferred to 'b' and 'b' to 'a'"),
        ("u s a 0|u s b 1|u t b 2|u t a 1", "document 'a' has the level 0 and another one"),
        ("u s a 2|u s a 1", "document 'a' has two levels in a subgroup"),
    ],
)
def test_contradictions_are_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        preference_lines(text, "a b")


# --- what -m takes ----------------------------------------------------------------------------------------


def test_the_order_of_the_output_is_fixed() -> None:
    names = [column.name for column in choose(["unj.5", "P.10,5", "runid", "iprec_at_recall..5,.25"]).columns]
    assert names == ["runid", "iprec_at_recall_0.25", "iprec_at_recall_0.50", "P_5", "P_10", "unj_5"]


def test_the_first_numbers_count() -> None:
    chosen = choose(["official", "P.7", "P.8", "map.5", "set.1"])
    assert [c.name for c in chosen.columns if c.measure.name == "P"] == ["P_7"]
    assert chosen.notes == [
        "P is given twice; .8 is ignored, as in trec_eval",
        "map takes no numbers; .5 is ignored, as in trec_eval",
        "set takes no numbers; .1 is ignored, as in trec_eval",
    ]


def test_cutoffs_are_truncated_to_integers() -> None:
    assert [c.name for c in choose(["ndcg_cut.10,23.4"]).columns] == ["ndcg_cut_10", "ndcg_cut_23"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "unknown measure 'nothing'"),
        ("P_10", "unknown measure 'P_10'; write P.10"),
        ("iprec_at_recall_0.10", "unknown measure 'iprec_at_recall_0.10'; write iprec_at_recall.0.10"),
        ("utility_1,-1,0,0", "unknown measure 'utility_1,-1,0,0'; write utility.1,-1,0,0"),
        ("map_10", "unknown measure 'map_10'; did you mean"),
        ("P.", "P: expected numbers after the point, found 'P.'"),
        ("P.5,x", "P: expected numbers separated by commas, found 'x'"),
        ("P.1e999", "P: expected numbers of at most 1e+09, found 1e999"),
        ("P.0,5", "P: expected cut-offs of 1 or more, found 0"),
        ("P.5,5", "P: expected each cut-off once, found 5 twice"),
        ("iprec_at_recall.0,0", "iprec_at_recall: expected each cut-off once, found 0 twice"),
        ("Rprec_mult.1,1.0", "Rprec_mult: expected each cut-off once, found 1 twice"),
        ("Rprec_mult.-1", "Rprec_mult: expected levels of 0 or more, found -1"),
        ("ndcg.3", "ndcg: expected grade=gain, such as 1=3,2=9, found '3'"),
        ("ndcg.-1=3", "ndcg: expected grade=gain"),
        ("ndcg.1=x", "ndcg: expected numbers"),
        ("rbp.0.8", "rbp: expected p=0.9 or grade=gain, found '0.8'"),
        ("rbp.p=1", "rbp: expected p between 0 and 1, both excluded, found 1"),
    ],
)
def test_numbers_that_a_measure_does_not_take(text: str, said: str) -> None:
    with pytest.raises((InputError, UnknownNameError)) as error:
        choose([text])
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [("utility.1,2", "utility: expected 4 numbers"), ("11pt_avg.0.5,0.2", "expected recall levels in ascending order")],
)
def test_numbers_that_have_no_value(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        lines(ONE, RANKED, text)


def test_nicknames_stand_for_measures_that_exist() -> None:
    assert {name for names in NICKNAMES.values() for name in names} <= set(TREC_MEASURES)
    assert len(TREC_MEASURES) == 57
    for nickname, names in NICKNAMES.items():
        assert [c.measure.name for c in choose([nickname]).columns] == sorted(
            (c.measure.name for name in names for c in choose([name]).columns), key=list(TREC_MEASURES).index
        )
    assert len(NICKNAMES["all_prefs"]) == 16
    assert not set(NICKNAMES["all_trec"]) & {"dcg", "ideal_dcg", "yaap"}


def test_every_measure_describes_itself() -> None:
    for name, measure in TREC_MEASURES.items():
        assert measure.name == name
        assert measure.description.endswith("."), name
        assert "\n" not in measure.description


def test_a_measure_needs_its_judgements() -> None:
    with pytest.raises(InputError, match="prefs_simp needs -R prefs or -R qrels_prefs, found -R qrels"):
        lines(ONE, RANKED, "prefs_simp")
    with pytest.raises(InputError, match="P_avgjg_5 needs -R qrels_jg, found -R qrels"):
        lines(ONE, RANKED, "P_avgjg")


# --- files --------------------------------------------------------------------------------------------


def test_files_of_trec_eval_alone(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("# preferences\n\n1 u s a 2.5\n1\tu\ts\tb\t-1\n")
    assert formats.read_levels(tmp_path / "p").to_numpy().tolist() == [
        ["1", "u", "s", "a", 2.5],
        ["1", "u", "s", "b", -1],
    ]
    (tmp_path / "z").write_text("301 map 0.25 .1\n")
    assert formats.read_reference_scores(tmp_path / "z").to_numpy().tolist() == [["301", "map", 0.25, 0.1]]


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [
        (
            "read_levels",
            "1 u s a\n",
            "line 1: expected 5 columns (query_id group subgroup doc_id level), found 4 columns",
        ),
        ("read_levels", "1 u s a high\n", "line 1: expected a number as level, found 'high'"),
        ("read_levels", "# nothing\n", "expected preferences, found"),
        ("read_reference_scores", "1 map 1 2 3\n", "line 1: expected 4 columns (query_id measure mean deviation)"),
        ("read_reference_scores", "1 map 1 x\n", "line 1: expected a number as deviation, found 'x'"),
        (
            "read_reference_scores",
            "1 map 1 2\n1 map 1 2\n",
            "line 2: expected each query_id measure once, found '1 map' again (first in line 1)",
        ),
    ],
)
def test_lines_that_do_not_fit(tmp_path: Path, reader: str, text: str, said: str) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError) as error:
        getattr(formats, reader)(tmp_path / "f")
    assert said in str(error.value)
