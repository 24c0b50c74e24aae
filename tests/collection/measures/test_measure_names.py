"""Names of measures in trec_eval, pytrec_eval, ir_measures and ranx: each has that value here, or is refused."""

import random
import re
import shutil
import sys
from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from ir_measures.measures import registry

from collection import comparison, reusability
from collection.campaign import Campaign
from collection.core.errors import InputError, UnknownNameError
from collection.measures import MEASURES, Measure, align, as_measures, bounds, explain, parse, parse_name, read
from collection.measures.catalogue import describe
from collection.measures.names import CUTOFFS, NAMES, REFUSED, bare
from tests.helpers import fails, ok, run, some

OWN = {bare(entry.name) for entry in MEASURES}

TREC_EVAL = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg",
    "binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P",
    "set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret", "yaap", "unj", "rbp",
    "rbp_resid", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp",
    "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret",
    "prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp", "map_avgjg", "P_avgjg",
    "Rprec_mult_avgjg", "official", "set", "prefs", "all_prefs", "all_trec", "qrels_jg",
)  # fmt: skip
"""Every name of `trec_eval -h -m all_trec` and its nicknames, versions 9 and 10."""

NUMBERED = (
    *(f"{name}_{k}" for name in ("P", "recall", "ndcg_cut", "map_cut", "relative_P") for k in CUTOFFS),
    *(f"success_{k}" for k in (1, 5, 10)),
    *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11)),
    *(f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)),
    *("set_F_0.25", "set_F_2", "set_F_4"),
)
"""What trec_eval and pytrec_eval write in their output."""

RANX = (
    "hits", "hit_rate", "precision", "recall", "f1", "r_precision", "r-precision", "bpref", "rbp.95", "rbp.5", "mrr",
    "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges",
)  # fmt: skip
CUT = ("hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges")
ALL_RANX = (*RANX, *(f"{name}@5" for name in CUT), *(f"{name}@5-l2" for name in CUT), "bpref-l2", "rbp.8-l2", "map-l3")


def graded(seed: int, ties: bool = False, missing: bool = False) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Qrels with grades 0 to 3 and holes, and a run, on topics that are numbers (gdeval.pl takes no others)."""
    rng = random.Random(seed)
    qrels, ranking = [], []
    for topic in range(12):
        documents = [f"d{i:02}" for i in range(60)]
        rng.shuffle(documents)
        qrels += [(str(topic), d, rng.choice([0, 0, 0, 1, 1, 2, 3])) for d in documents[:30]]
        if missing and topic == 11:
            continue
        rng.shuffle(documents)
        for place, d in enumerate(documents[: rng.randint(3, 50)]):
            ranking.append((str(topic), d, float(rng.randint(0, 12) if ties else 100 - place)))
    return (
        pd.DataFrame(qrels, columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(ranking, columns=["query_id", "doc_id", "score"]),
    )


def ours(name: str, ranking: pd.DataFrame, qrels: pd.DataFrame) -> dict[str, list[float]]:
    """Label -> values, in the order of the topics."""
    found, aligned = read(name), align(ranking, qrels, version=9)
    return {label: m(aligned).tolist() for label, m in zip(found.labels, found.measures, strict=True)}


def refusal(name: str) -> str:
    """The sentence with which a name is refused; '' where it is computed."""
    try:
        read(name)
    except InputError as error:
        return str(error)
    return ""


def suggested(sentence: str) -> list[str]:
    """The measures that a refusal names."""
    found = re.findall(r"(?:the nearest is|write|for example|did you mean|as in|or) '?([\w@.(=)]+)", sentence)
    return [name.rstrip(".") for name in found]


@pytest.mark.parametrize("name", sorted({*TREC_EVAL, *NUMBERED, *pytrec_eval.supported_measures}))
def test_names_of_trec_eval(name: str) -> None:
    """The value of pytrec_eval where it has one; trec_eval 10's other values are in test_measures_vectors."""
    said = refusal(name)
    if said:
        assert said.count("\n") == 0
        assert suggested(said)
        assert all(read(nearest) for nearest in suggested(said))
        return
    qrels, ranking = graded(7)
    computed = ours(name, ranking, qrels)
    try:
        evaluator = pytrec_eval.RelevanceEvaluator(as_dict(qrels, "relevance", int), {dotted(name)})
    except ValueError:
        assert name in ("yaap", "unj", "rbp"), "pytrec_eval has trec_eval 9's measures"
        return
    theirs = evaluator.evaluate(as_dict(ranking, "score", float))
    for label, values in computed.items():
        key = next((k for k in (label, name) if k in theirs["0"]), "") or next(iter(theirs["0"]))  # set_F_0.250000
        expected = [theirs[str(t)][key] for t in range(12)]
        if name in ("gm_map", "gm_bpref"):  # of a topic it gives the logarithm
            expected = [0.0 if v < -11.5 else np.exp(v) for v in expected]
        assert expected == pytest.approx(values, abs=1e-9), label


def dotted(name: str) -> str:
    """How pytrec_eval takes a name with a number: ``P.5``."""
    stem, _, number = name.rpartition("_")
    return f"{stem}.{number}" if re.fullmatch(r"[\d.]+", number) else name


def as_dict(frame: pd.DataFrame, column: str, kind: type) -> dict[str, dict[str, float]]:
    return {
        str(topic): {d: kind(v) for d, v in zip(rows["doc_id"], rows[column], strict=True)}
        for topic, rows in frame.groupby("query_id")
    }


def forms(name: str) -> Iterator[str]:
    """Every way of writing a measure of ir_measures that its registry allows."""
    takes = registry[name].SUPPORTED_PARAMS
    level = {"cutoff": "@5", "recall": "@0.5", None: ""}[
        registry[name].AT_PARAM if registry[name].AT_PARAM in takes else None
    ]
    needed = "max_rel=3" if "max_rel" in takes and takes["max_rel"].required else ""
    more = [
        f"{k}={v}"
        for k, v in {"rel": "2", "beta": "2.0", "dcg": "'exp-log2'", "judged_only": "True"}.items()
        if k in takes
    ]
    if "min_rel" in takes:
        more.append("min_rel=0")
    if name in ("NRBP", "nNRBP"):
        more.remove("beta=2.0")
    for parameter in ["", *more]:
        inside = ",".join(p for p in (needed, parameter) if p)
        for at in ("", level):
            yield name + (f"({inside})" if inside else "") + at


@pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="ir_measures reads names with what Python 3.14 removed from ast"
)
@pytest.mark.parametrize("name", sorted(registry))
@pytest.mark.parametrize("hard", [pytest.param(False, marks=[pytest.mark.slow, pytest.mark.long]), True])
def test_names_of_ir_measures(name: str, hard: bool) -> None:
    """Equal on graded data, with ties and a topic that the run lacks too; or the difference is stated."""
    qrels, ranking = graded(3, ties=hard, missing=hard)
    said = refusal(next(iter(forms(name))))
    if bare(name.replace("α", "alpha")) not in OWN | set(NAMES):
        assert suggested(said)
        return
    compared = 0
    if MEASURES[parse_name(registry[name].NAME).name].needs == "subtopics":
        subtopics = [str(n % 3) for n in range(len(qrels))]
        qrels = qrels.assign(subtopic=subtopics, iteration=subtopics)  # their names here and there
    for text in forms(name):
        try:
            asked = ir_measures.parse_measure(text)
            means, each = ir_measures.calc([asked], qrels, ranking)
            theirs, mean = {m.query_id: m.value for m in each}, means[asked]
        except (ValueError, RuntimeError, KeyError, AssertionError, TypeError):
            # Its cut-off is missing, the package that computes it there is not installed, or judged_only fails there.
            continue
        (measure,) = read(text).measures
        aligned = align(ranking, qrels)
        values = measure(aligned)
        equal = list(theirs) != [] and all(
            topic in theirs and theirs[topic] == pytest.approx(value, abs=1e-9)
            for topic, value in zip(aligned.topics, values, strict=True)
        )
        equal = equal and mean == pytest.approx(measure.summarise(values), abs=1e-9)
        assert equal or "ir_measures" in measure.entry.differs, (text, values, theirs)
        compared += 1
    elsewhere = {"ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA"}  # pyndeval
    elsewhere |= {
        "StRecall",
        "RBP",
        "SDCG",
        "INST",
        "INSQ",
        "BPM",
        "NERR8",
        "NERR9",
        "NERR10",
        "NERR11",
    }  # and cwl_eval
    elsewhere |= set() if shutil.which("perl") else {"ERR"}
    if read(text).measures[0].name not in elsewhere:
        assert compared, "nothing was compared"


def test_what_is_said_of_a_difference_holds() -> None:
    """The sentences name a way to write the other tool's value; it has that value."""
    qrels, ranking = graded(3)
    if shutil.which("perl"):
        (theirs,) = ir_measures.calc_aggregate([ir_measures.ERR @ 20], qrels, ranking).values()
        aligned = align(ranking, qrels)
        assert parse("ERR(max_rel=4)@20")(aligned).mean() == pytest.approx(theirs, abs=1e-5)
        assert abs(parse("ERR@20")(aligned).mean() - theirs) > 0.01
    (theirs,) = ir_measures.calc_aggregate([ir_measures.SetF(beta=4.0)], qrels, ranking).values()
    assert parse("SetF(beta=2)")(align(ranking, qrels)).mean() == pytest.approx(theirs)
    written = []
    for entry in MEASURES:
        for tool, sentence in entry.differs.items():
            assert f"differs from {tool}: {sentence}" in describe(entry)
            written += re.findall(r"is (\w+\([^)]*\)(?:@\d+)?) here", sentence)
    assert all(read(text) for text in some(written))
    assert "ERR(max_rel=4)@20" in ok("measures", "ERR")


@pytest.mark.parametrize("name", ALL_RANX)
def test_names_of_ranx(name: str) -> None:
    """By the definitions of its documentation, written down here once more."""
    said = refusal(name)
    if said:
        assert name in ("recall", "hit_rate")
        assert all(read(nearest) for nearest in suggested(said))
        return
    qrels, ranking = graded(5)
    (values,) = ours(name, ranking, qrels).values()
    for topic, value in enumerate(values):
        grades = dict(qrels[qrels["query_id"] == str(topic)][["doc_id", "relevance"]].itertuples(index=False))
        documents = ranking[ranking["query_id"] == str(topic)].sort_values("score", ascending=False)["doc_id"].tolist()
        assert value == pytest.approx(by_ranx(name, grades, documents)), (name, topic)


def by_ranx(name: str, grades: dict[str, int], documents: list[str]) -> float:
    name, _, level = name.partition("-l")
    name, _, p = name.partition(".")
    name, _, cut = name.partition("@")
    rel, depth = int(level or 1), int(cut or len(documents))
    relevant = {d for d, g in grades.items() if g >= rel}
    top = documents[:depth]
    hits = [d in relevant for d in top]
    precision, recall = sum(hits) / depth, sum(hits) / len(relevant)
    if name in ("ndcg", "dcg", "ndcg_burges", "dcg_burges"):
        gains = {d: float(2 ** grades[d] - 1 if "burges" in name else grades[d]) for d in relevant}
        dcg = sum(gains.get(d, 0) / log2(i + 2) for i, d in enumerate(top))
        best = sorted(gains.values(), reverse=True)[: int(cut) if cut else None]
        ideal = sum(g / log2(i + 2) for i, g in enumerate(best))
        return dcg / ideal if name.startswith("n") else dcg
    if name == "bpref":
        others, total = 0, 0.0
        for d in documents:
            if d in relevant:
                total += 1 - min(others, len(relevant)) / min(len(relevant), len(grades) - len(relevant))
            elif d in grades:
                others += 1
        return total / len(relevant)
    return {
        "hits": lambda: sum(hits),
        "hit_rate": lambda: float(any(hits)),
        "precision": lambda: precision,
        "recall": lambda: recall,
        "f1": lambda: 2 * precision * recall / (precision + recall) if any(hits) else 0.0,
        "r_precision": lambda: sum(d in relevant for d in documents[: len(relevant)]) / len(relevant),
        "r-precision": lambda: sum(d in relevant for d in documents[: len(relevant)]) / len(relevant),
        "rbp": lambda: (1 - float(f"0.{p}")) * sum(float(f"0.{p}") ** i for i, hit in enumerate(hits) if hit),
        "mrr": lambda: next((1 / (i + 1) for i, hit in enumerate(hits) if hit), 0.0),
        "map": lambda: sum(sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit) / len(relevant),
    }[name]()


@pytest.mark.parametrize(
    ("text", "written"),
    {
        "map": "AP", "MAP@10": "AP@10", "recip_rank": "RR", "MRR@100": "RR@100", "P_5": "P@5", "P.5,10": "P@5 P@10",
        "recall_100": "R@100", "Recall@1000": "R@1000", "ndcg_cut_10": "nDCG@10", "ndcg": "nDCG",
        "hit_rate@5": "Success@5", "r-precision": "Rprec", "f1@10": "F@10", "rbp.95": "RBP(p=0.95,rel=1)",
        "rbp.8-l2": "RBP(rel=2)", "precision": "SetP", "precision@5-l2": "P(rel=2)@5", "f1": "SetF",
        "ndcg_burges@10": "nDCG(dcg='exp-log2')@10", "ndcg@10-l3": "nDCG(gains={1:0,2:0})@10", "11pt_avg": "IPrec",
        "iprec_at_recall_0.10": "IPrec@0.1", "set_F.4": "SetF(beta=2)", "set_F_0.25": "SetF(beta=0.5)",
        "set_recall": "SetR", "utility_1,-1,-1,0.001": "Utility(c=-1,d=0.001)", "MAP(rel=2)@10": "AP(rel=2)@10",
        "ndcg_1=1,2=3,3=7": "nDCG(gains={1:1,2:3,3:7})", "SetRelP(rel=2)": "SetP(rel=2,relative=True)",
        "α_nDCG@5": "alpha_nDCG@5", "INST(T=1.0,min_rel=0,max_rel=3)": "INST(max_rel=3)",
        "success.1,5": "Success@1 Success@5", "rbp.95@3": "RBP(p=0.95,rel=1)@3", "rbp.95(rel=2)": "RBP(p=0.95,rel=2)",
        "ndcg.1=3,2=9@10": "nDCG(gains={1:3,2:9})@10", "ndcg_1=3@5": "nDCG(gains={1:3})@5",
    }.items(),
)  # fmt: skip
def test_translations(text: str, written: str) -> None:
    found = read(text)
    assert " ".join(map(str, found.measures)) == written
    assert found.note == "" or found.note.startswith(f"{text}: computed as {written.replace(' ', ', ')}")
    assert (found.note == "") == text.startswith(("α", "INST", "ndcg") if text == "ndcg" else ("α", "INST"))


@pytest.mark.parametrize(
    "text",
    [
        "Prec@10", "nDGC@10", "WSSS@0.9", "WSSS@95", "Efort", "bprf", "Rpec@5", "hitrat@5", "MEP", "NDCGG", "Sucess@10",
        "Pp@0.5",
        "rbp_0.8", "Judge", "alpha_DGC@5", *REFUSED, "recall", "hit_rate", "P", "WSS", "Success",
    ],
)  # fmt: skip
def test_whatever_is_suggested_can_be_written(text: str) -> None:
    said = refusal(text)
    assert all(read(name).measures for name in suggested(said))
    assert bool(suggested(said)) == (text not in ("hitrat@5", "MEP")), said  # whose nearest are not near enough


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((name, "has numbers and a cut-off") for name in (
            "P_5@10", "ndcg_cut_10@5", "recall_100@10", "utility_1,-1,0,0@10", "set_F.0.5@10", "map_cut_10(rel=2)@5",
        )),
        ("rbp.95(p=0.5)", "sets p twice"), ("set_F.4(beta=1)", "sets beta twice"),
        ("ndcg_1=3(gains={1:4})", "sets gains twice"),
    ],
)  # fmt: skip
def test_no_number_of_a_name_is_passed_over(text: str, said: str) -> None:
    assert refusal(text).startswith(f"{text!r} {said}; write ")


def test_parse_takes_one_measure() -> None:
    assert parse("map") == parse("AP")
    with pytest.raises(InputError, match="names 2 measures: P@5, P@10; name one of them"):
        parse("P.5,10")
    assert parse_name("ndcg_cut_10").name == "nDCG"
    assert as_measures("map") == as_measures([parse("AP")]) == [parse("AP")]
    assert [str(m) for m in as_measures(["P.5,10", parse("RR")], 2)] == ["P(rel=2)@5", "P(rel=2)@10", "RR"]
    with pytest.raises(InputError, match="expected a Measure or text such as"):
        as_measures([3])  # type: ignore[list-item]


def test_odd_names_are_refused_in_one_line() -> None:
    for text in (
        "map.", "P.", "P.5,", "P.,5", "rbp.", "rbp.1=2", "G.1", "utility_1,2", "set_F.-1", "map@5@6", "ndcg_1=", "α",
        "-l2", "map-l", "map-l0", "P_5-l2(", "map_cut_" + "1," * 500, "a" * 5000 + "_5", "P_1e5",
    ):  # fmt: skip
        said = refusal(text)
        assert said, text
        assert "\n" not in said


@pytest.mark.slow
def test_the_command_says_once_what_was_computed(tmp_path: Path) -> None:
    qrels, ranking = tmp_path / "qrels", tmp_path / "a.run"
    qrels.write_text("1 0 d 1\n1 0 e 0\n")
    ranking.write_text("1 Q0 e 1 2 a\n1 Q0 d 2 1 a\n")
    result = run("evaluate", qrels, ranking, "-m", "map", "-m", "P.1,2", "-m", "nDCG@10", "--format", "tsv")
    assert [line.split("\t")[2] for line in result.stdout.splitlines()] == ["map", "P_1", "P_2", "nDCG@10"]
    assert result.stderr.count("computed as") == 2
    assert "note: map: computed as AP; P.1,2: computed as P@1, P@2\n" in result.stderr
    assert "map is given twice" not in result.stderr
    assert (
        "the measures AP and map are the same (AP); give one of them"
        in run("evaluate", qrels, ranking, "-m", "AP", "-m", "map").stderr
    )
    assert "note: map: computed as AP\n" in run("compare", qrels, ranking, "-m", "map").stderr
    said = fails("evaluate", qrels, ranking, "-m", "prefs_simp")
    assert "`cleverdon trec_eval -R prefs` computes it; the nearest is bpref" in said


def test_a_name_that_nobody_uses() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown measure 'nDGC'; did you mean 'nDCG@10'\?"):
        read("nDGC@10")


@pytest.mark.slow
@pytest.mark.parametrize("asked", [["nDCG@10"], "nDCG@10", ("nDCG@10",), [parse("nDCG@10")], parse("nDCG@10")])
def test_every_function_takes_measures_as_text(campaign: Campaign, tmp_path: Path, asked: Any) -> None:
    one = asked if isinstance(asked, str | Measure) else asked[0]
    for annotator in ("ann", "bob"):
        labels = tmp_path / f"{annotator}.csv"
        pairs = next(campaign.corpus.runs()).frame[["query_id", "doc_id"]].itertuples(index=False)
        rows = [f"{annotator},{query_id},{doc_id},{n % 3}\n" for n, (query_id, doc_id) in enumerate(pairs)]
        labels.write_text("annotator,query_id,doc_id,relevance\n" + "".join(rows))
        campaign.imports.import_files(labels=labels)
    with campaign:
        runs, qrels = list(campaign.corpus.runs()), campaign.results.qrels.build()
        name = runs[0].name
        topic = str(qrels["query_id"].iloc[0])
        assert campaign.results.evaluation.evaluate(asked).means().columns.tolist() == ["nDCG@10"]
        assert campaign.results.evaluation.compare(asked).leaderboard["measure"].unique().tolist() == ["nDCG@10"]
        assert str(campaign.results.evaluation.explain(one, name, topic).measure) == "nDCG@10"
        assert campaign.results.evaluation.reusability(asked).verdict
        assert isinstance(campaign.results.agreement.conclusions(one), list)
        assert campaign.results.evaluation.compare_rules(None, "majority", one).places is not None
    assert comparison.evaluate(runs, qrels, asked).means().shape == (len(runs), 1)
    assert len(comparison.compare(comparison.evaluate(runs, qrels, asked)).leaderboard) == len(runs)
    assert comparison.explain(runs[0], qrels, one, topic).value >= 0
    assert (parse(str(one)).direction, parse(str(one)).cutoff) == (1, 10)
    assert bounds(one, align(runs[0].frame, qrels)).lowest.shape
    assert explain(one, [1, 0]).value == 1
    laid = reusability.build_run_matrix(runs, qrels)
    assert len(reusability.bound_means(laid, asked)) == len(runs)
    assert len(reusability.leave_out(laid, asked, laid.runs, 2)) == len(runs)
    assert reusability.measure_order_stability(laid, asked)["measure"].unique().tolist() == ["nDCG@10"]
    assert len(reusability.describe_topics(laid, one)) == qrels["query_id"].nunique()
