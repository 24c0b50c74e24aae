"""Make the inputs of this folder, and the values that other programs compute for them.

Needs an environment with irrCAC, krippendorff, pytrec_eval-terrier, scikit-learn, scipy and statsmodels.
"""

import itertools
import random
from collections.abc import Iterator
from math import log
from pathlib import Path

import irrCAC.raw
import krippendorff
import numpy as np
import pandas as pd
import pytrec_eval
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

FOLDER = Path(__file__).parent
TOPICS = ("7", "é", "12", "003")
ABSENT = "12"
"""The topic that `run-part` lacks."""
ALL = "-m all_trec"
PARAMETERS = (
    "-m set_F.0.25 -m Rprec_mult.0.5,1.5 -m P.1,3,7 -m iprec_at_recall.0.1,0.25,0.33"
    " -m success.1,3,5 -m relative_P.3 -m map_cut.7 -m recall.3 -m ndcg_cut.3,7"
)
WITHOUT_VALUES = {"runid", "relstring"}
OTHER_LEVELS = ("iprec_at_recall", "11pt_avg")
"""Measures whose recall levels trec_eval 10 rounds to whole documents in another way."""

Qrels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def ranking_inputs() -> tuple[Qrels, Scores]:
    """Graded qrels with negative grades, and a run with ties and with scores that are equal only as 32-bit floats."""
    rng = random.Random(38)
    doc_ids = [f"d{n}" for n in range(30)] + ["Ä1", "z", "Z", "中"]
    qrels: Qrels = {t: {d: rng.choice([-1, 0, 0, 0, 1, 1, 2, 3]) for d in rng.sample(doc_ids, 24)} for t in TOPICS}
    qrels["003"] = {doc_id: min(grade, 1) for doc_id, grade in qrels["003"].items()}
    scores = {t: {d: rng.randint(-4, 12) / 4 for d in rng.sample(doc_ids, 22)} for t in TOPICS}
    scores["7"] = {doc_id: 1e8 + place % 5 / 8 for place, doc_id in enumerate(scores["7"])}
    return qrels, scores


def exact_order(scores: dict[str, float]) -> dict[str, float]:
    """Whole numbers in the order of the scores as doubles, ties by document id: how trec_eval 10 sorts."""
    order = sorted(scores, key=lambda doc_id: (scores[doc_id], doc_id.encode()))
    return {doc_id: float(place) for place, doc_id in enumerate(order)}


def trec_eval(qrels: Qrels, scores: Scores, options: str, version: int) -> Iterator[dict[str, object]]:
    """Yield a row per measure: its value for each topic, and of all topics."""
    words = options.split()
    measures = {word for word in words if not word.startswith("-")}
    level = next((int(word[2:]) for word in words if word.startswith("-l")), 1)
    depth = next((int(word[2:]) for word in words if word.startswith("-M")), None)
    ordered = {t: exact_order(of) if version == 10 else of for t, of in scores.items()}
    if depth:
        exact = {t: exact_order({d: float(np.float32(s)) for d, s in of.items()}) for t, of in ordered.items()}
        ordered = {t: {d: s for d, s in of.items() if exact[t][d] >= len(of) - depth} for t, of in ordered.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures, level, "-J" in words)
    values = {t: evaluator.evaluate({t: of})[t] for t, of in ordered.items()}
    for name in sorted(set(values[TOPICS[0]]) - WITHOUT_VALUES):
        if version == 10 and name.startswith(OTHER_LEVELS):
            continue
        summary = name.startswith("gm_") or name == "num_q"
        absent = [absent_value(name, grades) for topic, grades in qrels.items() if topic not in values]
        written = "set_F_0.25" if name == "set_F" and options == PARAMETERS else name
        row: dict[str, object] = {"version": version, "options": options, "measure": written}
        row |= {t: "" if summary or t not in values else f"{values[t][name]:.15g}" for t in TOPICS}
        of_all = [*(of[name] for of in values.values()), *absent]
        yield row | {"all": f"{pytrec_eval.compute_aggregated_measure(name, of_all):.15g}"}


def absent_value(name: str, grades: dict[str, int]) -> float:
    """Return what a topic that the run lacks adds to the summary under ``-c``."""
    if name == "num_rel":
        return sum(grade > 0 for grade in grades.values())
    return log(1e-5) if name.startswith("gm_") else float(name == "num_q")


def write_rankings() -> None:
    qrels, scores = ranking_inputs()
    part = {topic: of for topic, of in scores.items() if topic != ABSENT}
    lines = [f"{t} 0 {d} {grade}\n" for t, of in qrels.items() for d, grade in of.items()]
    (FOLDER / "qrels").write_text("".join(lines))
    for name, run in (("run", scores), ("run-part", part)):
        lines = [f"{t} Q0 {d} 1 {score!r} r\n" for t, of in run.items() for d, score in of.items()]
        (FOLDER / name).write_text("".join(lines))
    rows = [
        row
        for options in (ALL, f"{ALL} -M10", f"{ALL} -l2", f"{ALL} -J", f"{ALL} -c", PARAMETERS)
        for version in (10, 9)
        if version == 10 or options in (ALL, PARAMETERS)
        for row in trec_eval(qrels, part if "-c" in options else scores, options, version)
    ]
    pd.DataFrame(rows).to_csv(FOLDER / "trec_eval.tsv", sep="\t", index=False)


def write_agreement() -> None:
    """Three annotators who grade 150 documents from 0 to 3, some of them not all."""
    rng = np.random.default_rng(38)
    truth = rng.choice([0, 0, 0, 1, 2, 3], 150)
    ratings = pd.DataFrame({f"rater{n}": np.clip(truth + rng.choice([-1, 0, 0, 0, n], 150), 0, 3) for n in (1, 2, 3)})
    ratings = ratings.astype(float).mask(rng.random(ratings.shape) < 0.06)
    ratings.astype("Int64").rename_axis("unit").to_csv(FOLDER / "ratings.tsv", sep="\t")
    rows: list[tuple[str, float, str]] = []
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff.alpha(ratings.to_numpy().T, level_of_measurement=level)
        rows.append((f"alpha_{level}", alpha, "krippendorff 0.9.0"))
    for weights in ("identity", "linear", "quadratic"):
        cac = irrCAC.raw.CAC(ratings, weights=weights, digits=12)
        for name, function in (("gwet", cac.gwet), ("fleiss", cac.fleiss), ("krippendorff", cac.krippendorff)):
            if (name, weights) in {("fleiss", "linear"), ("fleiss", "quadratic"), ("krippendorff", "linear")}:
                continue  # not computed by Cleverdon
            made = function()["est"]
            rows.append((f"{name}_{weights}", made["coefficient_value"], f"irrCAC 0.4.4 se={made['se']}"))
    for a, b in itertools.combinations((1, 2, 3), 2):
        both = ratings[[f"rater{a}", f"rater{b}"]].dropna().astype(int)
        x, y = both.to_numpy().T
        for name, weight in (("unweighted", None), ("linear", "linear"), ("quadratic", "quadratic")):
            rows.append((f"cohen_{name}_{a}{b}", cohen_kappa_score(x, y, weights=weight), "scikit-learn"))
        rows.append((f"cohen_binary_{a}{b}", cohen_kappa_score(x > 0, y > 0), "scikit-learn"))
        overlap = ((x > 0) & (y > 0)).sum() / ((x > 0) | (y > 0)).sum()
        rows.append((f"overlap_rel_{a}{b}", overlap, "intersection over union"))
    table = pd.DataFrame(rows, columns=["coefficient", "value", "source"])
    table.to_csv(FOLDER / "agreement.tsv", sep="\t", index=False, float_format="%.15g")


def permuted_tukey(scores: pd.DataFrame, draws: int = 100_000) -> np.ndarray:
    """Return p of each pair of systems: how often the largest difference of permuted rows reaches its difference."""
    rng, values = np.random.default_rng(1), scores.to_numpy()
    largest = np.array([np.ptp(rng.permuted(values, axis=1).mean(axis=0)) for _ in range(draws)])
    pairs = itertools.combinations(values.mean(axis=0), 2)
    return np.array([(largest >= abs(a - b) - 1e-12).mean() for a, b in pairs])


def write_significance() -> None:
    """Scores of three systems for 12 topics, in eighths: differences are exact, and some of them tie or are 0."""
    rng = np.random.default_rng(38)
    base = rng.random(12)
    made = {name: base + rng.normal(shift, 0.15, 12) for name, shift in (("a", 0), ("b", 0.1), ("c", 0.2))}
    scores = (pd.DataFrame(made, index=pd.Index(range(1, 13), name="topic")).clip(0, 1) * 8).round().div(8)
    scores.to_csv(FOLDER / "scores.tsv", sep="\t")
    rows: list[tuple[str, str, float]] = []
    of_pairs: list[float] = []
    pairs = list(itertools.combinations(scores, 2))
    for a, b in pairs:
        pair, d = f"{b}-{a}", (scores[b] - scores[a]).to_numpy()
        tested = stats.ttest_rel(scores[b], scores[a])
        interval = tested.confidence_interval()
        signs = np.array(list(itertools.product((1, -1), repeat=len(d))))
        rows += [
            ("mean_diff", pair, d.mean()),
            ("paired_t_statistic", pair, tested.statistic),
            ("paired_t_p", pair, tested.pvalue),
            ("paired_t_ci95_low", pair, interval.low),
            ("paired_t_ci95_high", pair, interval.high),
            ("cohen_dz", pair, d.mean() / d.std(ddof=1)),
            ("permutation_exact_p", pair, (abs(signs @ d) >= abs(d.sum()) - 1e-9).mean()),
        ]
        for zeros in ("wilcox", "pratt", "zsplit"):
            signed = stats.wilcoxon(d, zero_method=zeros, method="approx")
            rows += [
                (f"wilcoxon_p_{zeros}_approx", pair, signed.pvalue),
                (f"wilcoxon_stat_{zeros}", pair, signed.statistic),
            ]
        of_pairs.append(tested.pvalue)
    names = [f"{b}-{a}" for a, b in pairs]
    for method in ("bonferroni", "holm", "fdr_bh"):
        rows += zip([f"paired_t_p_{method}"] * 3, names, multipletests(of_pairs, method=method)[1], strict=True)
    rows += zip(["randomised_tukey_hsd_p"] * 3, names, permuted_tukey(scores), strict=True)
    table = pd.DataFrame(rows, columns=["test", "pair", "value"]).assign(dataset="scores")
    table.to_csv(FOLDER / "significance.tsv", sep="\t", index=False, float_format="%.15g")


if __name__ == "__main__":
    write_rankings()
    write_agreement()
    write_significance()
