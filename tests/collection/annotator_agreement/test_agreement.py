"""How far annotators agree: published values, other tools' values, properties, files of labels, campaigns, command."""

import csv
import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock
from uuid import uuid4

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import cohen_kappa_score

from collection import Campaign, Judgement, annotator_agreement as agreement, formats
from collection.annotator_agreement import COEFFICIENTS, REST, Labels, Patterns, coefficients
from collection.annotator_agreement.bootstrap import VALUES
from collection.annotator_agreement.coefficients import MIN_COMMON_PAIRS
from collection.core.errors import ColumnsError, ConflictError, FormatError, InputError, UnknownNameError
from collection.measures import parse
from tests.helpers import GOLDEN, SHARED, cases, fails, ok, run, some, tries

OWN, ACCEPTANCE = GOLDEN / "official", SHARED / "vectors" / "10_agreement"
COLUMNS = ["annotator", "query_id", "doc_id", "relevance"]
EXACT = 1e-9


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Nothing that is computed here may warn: nan is an answer, and its note is the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def labels_of(*raters: str, topics: int = 1) -> pd.DataFrame:
    """Labels from one line of grades a rater, a dot where there is none; pairs go round the topics."""
    rows = [
        (f"r{n}", str(place % topics), f"d{place}", int(grade))
        for n, line in enumerate(raters)
        for place, grade in enumerate(line.split())
        if grade != "."
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def from_counts(*units: str) -> pd.DataFrame:
    """Labels of annotators without names: each unit says how many gave each grade."""
    rows = []
    for place, unit in enumerate(units):
        given = [grade for grade, times in enumerate(map(int, unit.split())) for _ in range(times)]
        rows += [(f"r{n:02}", "1", f"d{place}", grade) for n, grade in enumerate(given)]
    return pd.DataFrame(rows, columns=COLUMNS)


def from_confusion(*lines: str) -> pd.DataFrame:
    """Labels of two annotators from their confusion matrix."""
    cells = [(a, b, int(n)) for a, line in enumerate(lines) for b, n in enumerate(line.split())]
    pairs = [(a, b) for a, b, times in cells for _ in range(times)]
    return labels_of(" ".join(str(a) for a, _ in pairs), " ".join(str(b) for _, b in pairs))


def value(frame: pd.DataFrame, coefficient: str, scale: str = "graded", level: float = 1) -> float:
    found = agreement.values(Labels.of(frame), level=level, resamples=0)
    return float(agreement.select_value(found, coefficient, scale)["value"])


# --- published values, typed in ---------------------------------------------------------------------

KRIPPENDORFF_C = labels_of(
    "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."
)

"""Krippendorff (2011), Computing Krippendorff's alpha-reliability, example C; Gwet's example too."""
FLEISS = from_counts(
    "0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1",
    "7 7 0 0 0", "3 2 6 3 0", "2 5 3 2 2", "6 5 2 1 0", "0 2 2 3 7",
)  # fmt: skip
COHEN = from_confusion("20 5", "10 15")
CONFUSED = from_confusion("0 4 1", "0 8 0", "0 1 5")


@pytest.mark.parametrize(
    ("frame", "coefficient", "published", "within"),
    [
        (KRIPPENDORFF_C, "alpha-nominal", 0.743, 5e-4),
        (KRIPPENDORFF_C, "alpha-ordinal", 0.815, 5e-4),
        (KRIPPENDORFF_C, "alpha-interval", 0.849, 5e-4),
        (KRIPPENDORFF_C, "ac1", 0.77544, 5e-6),
        (KRIPPENDORFF_C, "ac2-quadratic", 0.91400, 5e-6),
        (KRIPPENDORFF_C, "fleiss", 0.76117, 5e-6),
        (FLEISS, "fleiss", 0.210, 5e-4),
        (COHEN, "cohen", 0.4, EXACT),
        (COHEN, "observed", 0.7, EXACT),
        # With two grades all weights are the same coefficient.
        (COHEN, "cohen-linear", 0.4, EXACT),
        (COHEN, "cohen-quadratic", 0.4, EXACT),
        (CONFUSED, "cohen", 0.484162895927602, EXACT),
        (CONFUSED, "cohen-linear", 0.470119521912351, EXACT),
        (CONFUSED, "cohen-quadratic", 0.45016077170418, EXACT),
    ],
)
def test_published_values(frame: pd.DataFrame, coefficient: str, published: float, within: float) -> None:
    assert value(frame, coefficient) == pytest.approx(published, abs=within)


def test_overlap_is_intersection_over_union() -> None:
    frame = labels_of("0 1 2 0 3 .", "1 1 0 0 2 3", topics=2)
    assert value(frame, "overlap", "binary", level=1) == pytest.approx(2 / 4)
    assert value(frame, "overlap", "binary", level=2) == pytest.approx(1 / 2)
    three = labels_of("1 1 0 0", "1 0 1 0", "1 1 1 0")
    assert value(three, "overlap", "binary") == pytest.approx((1 / 3 + 2 / 3 + 2 / 3) / 3)


# --- other tools' values ----------------------------------------------------------------------------

OFFERED = {
    "alpha_nominal": "alpha-nominal", "alpha_ordinal": "alpha-ordinal", "alpha_interval": "alpha-interval",
    "AC1": "ac1", "AC2_quadratic": "ac2-quadratic", "fleiss_kappa_irrCAC_missing": "fleiss", "fleiss_kappa": "fleiss",
    "cohen_kappa": "cohen", "cohen_kappa_linear": "cohen-linear", "cohen_kappa_quadratic": "cohen-quadratic",
    "gwet_identity": "ac1", "gwet_linear": "ac2-linear", "gwet_quadratic": "ac2-quadratic", "fleiss_identity": "fleiss",
    "krippendorff_identity": "alpha-nominal", "krippendorff_quadratic": "alpha-interval",
}  # fmt: skip
OF_TWO = {
    "cohen_unweighted": ("cohen", "graded"), "cohen_linear": ("cohen-linear", "graded"),
    "cohen_quadratic": ("cohen-quadratic", "graded"), "cohen_binary": ("cohen", "binary"),
    "overlap_rel": ("overlap", "binary"),
}  # fmt: skip
NOT_OFFERED = {
    "alpha_ratio", "conger_kappa", "brennan_prediger", "AC2_ordinal_weights", "AC1_se", "randolph_free_marginal",
    "fleiss_quadratic", "fleiss_linear", "krippendorff_linear", "conger_identity", "conger_quadratic", "conger_linear",
    "bp_identity", "bp_quadratic", "bp_linear",
}  # fmt: skip
"""Other coefficients: none of them is on offer under any name."""


def vector(folder: Path, name: str) -> pd.DataFrame:
    if (path := folder / f"{name}.counts.tsv").exists():
        return from_counts(*path.read_text().splitlines())
    if (path := folder / f"{name}.confusion.tsv").exists():
        return from_confusion(*path.read_text().splitlines())
    path = folder / "ratings.tsv" if folder == OWN else folder / f"{name}.ratings.tsv"
    wide = pd.read_csv(path, sep="\t").rename(columns={"unit": "doc_id"})
    return wide.melt("doc_id", var_name="annotator", value_name="relevance").assign(query_id="1")


def expected_values(folder: Path) -> list[dict[str, str]]:
    """Coefficients of other tools, which name the data set where there are several."""
    name = "agreement.tsv" if folder == OWN else "expected.tsv"
    return [
        {"dataset": "ratings"} | row for row in csv.DictReader((folder / name).read_text().splitlines(), delimiter="\t")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "count"), [(OWN, 24), pytest.param(ACCEPTANCE, 60, marks=pytest.mark.shared)])
def test_every_value_of_a_coefficient_that_is_offered(folder: Path, count: int) -> None:
    expected, compared = expected_values(folder), 0
    for name in {row["dataset"] for row in expected}:
        labels = Labels.of(vector(folder, name))
        of_all = agreement.values(labels, resamples=0)
        for row in (r for r in expected if r["dataset"] == name):
            what, wanted = row["coefficient"], float(row["value"])
            within = 5.1e-6 if "irrCAC" in row["source"] else EXACT
            stem, _, two = what.rpartition("_")
            if stem in OF_TWO and two.isdigit():
                coefficient, scale = OF_TWO[stem]
                found = agreement.values(labels.between(f"rater{two[0]}", f"rater{two[1]}"), level=1, resamples=0)
            elif what in OFFERED:
                coefficient, scale, found = OFFERED[what], "graded", of_all
            else:
                assert what in NOT_OFFERED
                continue
            got = agreement.select_value(found, coefficient, scale)["value"]
            assert got == pytest.approx(wanted, abs=within), (name, what)
            compared += 1
    assert compared == sum(row["coefficient"] not in NOT_OFFERED for row in expected) == count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "name", "within"),
    [
        (OWN, "ratings", 0.2),
        *(
            pytest.param(ACCEPTANCE, name, within, marks=pytest.mark.shared)
            for name, within in (
                ("generated_3x200_grades", 0.2), ("fleiss1971_diagnoses", 0.3), ("wikipedia_cohen_2x2", 0.2),
            )
        ),
    ],
)  # fmt: skip
def test_intervals_are_about_as_wide_as_the_analytic_ones(folder: Path, name: str, within: float) -> None:
    """By irrCAC's standard errors, which hold for many pairs: 150 or 200 of three annotators, and Fleiss' 30."""
    found = agreement.values(Labels.of(vector(folder, name)), resamples=2000, seed=7)
    rows = [row for row in expected_values(folder) if row["dataset"] == name and "se=" in row["source"]]
    for row in some(row for row in rows if row["coefficient"] in OFFERED):
        error = float(row["source"].split("se=")[1].split()[0])
        got = agreement.select_value(found, OFFERED[row["coefficient"]])
        assert (got["high"] - got["low"]) / (2 * 1.96) == pytest.approx(error, rel=within), row
        assert got["low"] < got["value"] < got["high"]


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("part", [0, 1])
def test_the_reannotation_data(shared: Path, part: int) -> None:
    folder = shared / "data" / "dl-reannotation-main"
    expected = json.loads((folder / "expected_agreement.json").read_text())[part]
    found = agreement.agreement(formats.read_labels(folder / expected["file"]), level=2, resamples=0)
    names = {
        "krippendorff_alpha_nominal": "alpha-nominal", "krippendorff_alpha_ordinal": "alpha-ordinal",
        "krippendorff_alpha_interval": "alpha-interval", "fleiss_kappa": "fleiss",
    }  # fmt: skip
    kappas = {"none": "cohen", "linear": "cohen-linear", "quadratic": "cohen-quadratic"}
    wanted = {names[k]: v for k, v in expected.items() if k in names}
    wanted |= {kappas[k]: v for k, v in expected["mean_pairwise"].items()}
    for coefficient, number in wanted.items():
        assert agreement.select_value(found.values, coefficient)["value"] == pytest.approx(number, abs=5.1e-7), (
            coefficient
        )
    assert (len(found.annotators), found.pairs, found.judgements, found.complete) == (
        expected["annotators"], expected["pairs"], expected["labels"], expected["complete"],
    )  # fmt: skip
    between = found.between[found.between["scale"] == "graded"].pivot(
        index=["a", "b", "pairs"], columns="coefficient", values="value"
    )
    for two in expected["pairwise"]:
        row = between.loc[two["a"], two["b"], two["n"]]
        assert row["observed"] == pytest.approx(two["agree"], abs=5.1e-7)
        for weights, coefficient in kappas.items():
            assert row[coefficient] == pytest.approx(two[f"kappa_{weights}"], abs=5.1e-7)
    # Two annotators who met on a single pair have no kappa, and do not count in the means.
    assert set(between.index.get_level_values("pairs")) - {two["n"] for two in expected["pairwise"]} <= {1}


# --- properties -------------------------------------------------------------------------------------

CELL = st.one_of(st.none(), st.integers(0, 3))
TABLE = st.integers(1, 5).flatmap(
    lambda raters: st.lists(st.lists(CELL, min_size=raters, max_size=raters), min_size=0, max_size=14)
)


def table(units: list[list[int | None]], topics: int = 3) -> pd.DataFrame:
    rows = [
        (f"r{n}", str(place % topics), f"d{place}", grade)
        for place, unit in enumerate(units)
        for n, grade in enumerate(unit)
        if grade is not None
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"relevance": "float64"})


def numbers(frame: pd.DataFrame, **options: object) -> pd.Series:
    found = agreement.values(Labels.of(frame), resamples=0, **options)  # type: ignore[arg-type]
    return found.set_index(["scale", "coefficient"])["value"]


@pytest.mark.slow
@tries(30)
@given(TABLE)
def test_no_table_is_too_odd(units: list[list[int | None]]) -> None:
    found = agreement.agreement(table(units), resamples=20, level=2)
    for part in (found.values, found.between, found.topics, found.rest, found.windows):
        assert list(part.columns[-len(VALUES) :]) == list(VALUES)
        known = part.dropna(subset="value")
        assert (known["value"] <= 1 + EXACT).all()
        assert (known.dropna(subset="low")["low"] <= known.dropna(subset="low")["high"]).all()
        assert (part.loc[part["value"].isna(), "note"] != "").all()
    assert agreement.interpret(found)


@pytest.mark.slow
@tries(25)
@given(TABLE, st.randoms(use_true_random=False))
def test_order_and_names_mean_nothing(units: list[list[int | None]], random: object) -> None:
    frame = table(units)
    before = numbers(frame)
    names = ["r0", "r1", "r2", "r3", "r4"]
    shuffled = list(names)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    renamed = frame.assign(annotator=frame["annotator"].map(dict(zip(names, shuffled, strict=True))).astype("str"))
    for other in (frame.sample(frac=1, random_state=3), renamed, frame.assign(doc_id="x" + frame["doc_id"])):
        pd.testing.assert_series_equal(numbers(other), before, atol=EXACT)


@pytest.mark.slow
@tries(40)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(2, 4))
def test_perfect_agreement_is_one(grades: list[int], raters: int) -> None:
    found = numbers(table([[g] * raters for g in grades]))
    several = len(set(grades)) > 1
    assert found["graded", "observed"] == 1
    for coefficient in (e.name for e in COEFFICIENTS if "graded" in e.scales and e.name != "observed"):
        assert found["graded", coefficient] == pytest.approx(1) if several else np.isnan(found["graded", coefficient])
    assert found["binary", "overlap"] == 1 if any(grades) else np.isnan(found["binary", "overlap"])


@pytest.mark.slow
@tries(40)
@given(TABLE)
def test_a_copy_of_an_annotator_raises_nothing_above_one(units: list[list[int | None]]) -> None:
    frame = table([[*unit, unit[0]] for unit in units])
    assert (numbers(frame).dropna() <= 1 + EXACT).all()


@pytest.mark.slow
@tries(40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=30))
def test_cohen_as_scikit_learn_has_it(pairs: list[tuple[int, int]]) -> None:
    pairs = [*pairs, (0, 1), (1, 2), (2, 3), (3, 0)]  # its weights go by the place among the grades that occur
    frame = table([list(pair) for pair in pairs])
    for name, weights in (("cohen", None), ("cohen-linear", "linear"), ("cohen-quadratic", "quadratic")):
        wanted = cohen_kappa_score(*zip(*pairs, strict=True), weights=weights)
        assert value(frame, name) == pytest.approx(wanted, abs=EXACT)


@pytest.mark.slow
@tries(60)
@given(TABLE, st.integers(0, 2**32 - 1))
def test_a_resample_is_what_its_pairs_give(units: list[list[int | None]], seed: int) -> None:
    """Weights of patterns give what a table of the drawn pairs gives; alpha there is the krippendorff package's."""
    # With repeats two annotators may meet ten times; whose means count is decided on the labels as they are.
    with mock.patch.object(coefficients, "MIN_COMMON_PAIRS", 1):
        labels = Labels.of(table(units))
        pairs = len(labels.pairs)
        drawn = np.random.default_rng(seed).integers(0, max(pairs, 1), pairs)
        patterns = Patterns(labels)
        weights = np.bincount(patterns.of_pair[drawn], minlength=len(patterns.times)).astype(float)[None, :]
        at = labels.finished_at.iloc[drawn]
        again = Labels(labels.annotators, labels.pairs.iloc[drawn], labels.codes[drawn], labels.grades, at)
        own = Patterns(again).label_sums()
    for entry in COEFFICIENTS:
        if entry.name == "overlap":
            continue
        got, wanted = entry.function(patterns.sums(weights))[0], entry.function(own)[0]
        assert got == pytest.approx(wanted, abs=EXACT, nan_ok=True), entry.name


@pytest.mark.slow
@tries(100)
@given(TABLE, st.sampled_from(["alpha-nominal", "alpha-ordinal", "alpha-interval"]))
def test_alpha_of_resamples_is_that_of_the_krippendorff_package(units: list[list[int | None]], name: str) -> None:
    """The package gives the value, the formula for resamples the same where every pair is drawn once."""
    own = Patterns(Labels.of(table(units))).label_sums()
    alpha = COEFFICIENTS[name].function
    assert own.value_counts is not None
    assert alpha(replace(own, value_counts=None)) == pytest.approx(alpha(own), abs=EXACT, nan_ok=True)


# --- intervals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "coefficient", ["alpha-ordinal", *(pytest.param(n, marks=pytest.mark.slow) for n in ("cohen", "ac1", "overlap"))]
)
@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.long
def test_the_interval_holds_the_true_value_as_often_as_it_says(coefficient: str) -> None:
    joint = np.array([[0.42, 0.06, 0.02], [0.08, 0.16, 0.06], [0.02, 0.04, 0.14]])
    cells = [(a, b) for a in range(3) for b in range(3)]
    scale = "binary" if coefficient == "overlap" else "graded"
    truth = value(from_confusion(*(" ".join(str(round(5000 * p)) for p in row) for row in joint)), coefficient, scale)
    random, held, sets = np.random.default_rng(5), 0, cases(60, 240)
    for _ in range(sets):
        chosen = [cells[n] for n in random.choice(9, size=120, p=joint.ravel())]
        frame = labels_of(" ".join(str(a) for a, _ in chosen), " ".join(str(b) for _, b in chosen))
        found = agreement.values(Labels.of(frame), resamples=200, seed=int(random.integers(1000)))
        row = agreement.select_value(found, coefficient, scale)
        held += row["low"] <= truth <= row["high"]
    # Percentile intervals are a little too narrow; of 60 with 95%, 57 hold it, give or take 1.7.
    assert held >= cases(52, 216)


def test_topics_that_are_read_differently_make_the_interval_by_topics_wider() -> None:
    # Of twelve topics both annotators read half alike and half the other way round.
    same, other = "0 1 2 0 1 2 0 1 2 0", "2 1 0 2 1 0 2 1 0 2"
    frame = pd.concat(
        labels_of(same, same if topic % 2 else other).assign(query_id=str(topic)).assign(doc_id=lambda f: f["doc_id"])
        for topic in range(12)
    )
    widths = {}
    for by in ("pairs", "topics"):
        row = agreement.select_value(agreement.values(Labels.of(frame), by=by), "alpha-interval")
        widths[by] = row["high"] - row["low"]
    assert widths["topics"] > 1.5 * widths["pairs"]


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    labels = Labels.of(KRIPPENDORFF_C)
    first, again, other = (agreement.values(labels, resamples=300, seed=s) for s in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first["low"].equals(other["low"])


@pytest.mark.parametrize(
    ("options", "said"), [({"by": "runs"}, "expected pairs or topics"), ({"resamples": -1}, "expected 0 or more")]
)
def test_options_that_do_not_exist(options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        agreement.values(Labels.of(COHEN), **options)  # type: ignore[arg-type]


# --- what has no value ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "coefficient", "scale", "note"),
    [
        (labels_of(), "observed", "graded", "there are no grades"),
        (labels_of("0 1 2"), "alpha-ordinal", "graded", "there is only one annotator"),
        (labels_of("0 1 . .", ". . 1 2"), "ac1", "graded", "no pair was graded by two annotators"),
        (labels_of("1 1 1", "1 1 1"), "cohen", "graded", "all grades are equal on this scale; chance-corrected"),
        (labels_of("0 0 0", "0 0 0"), "overlap", "binary", "no document is graded relevant"),
        (labels_of("2 2 2", "2 2 2"), "alpha-nominal", "binary", "all grades are equal on this scale;"),
    ],
)
def test_no_value_and_why(frame: pd.DataFrame, coefficient: str, scale: str, note: str) -> None:
    row = agreement.select_value(agreement.values(Labels.of(frame)), coefficient, scale)
    assert np.isnan(row["value"])
    assert np.isnan(row["low"])
    assert row["note"].startswith(note)


def test_an_annotator_pair_without_a_value_is_left_out_and_told() -> None:
    frame = labels_of("0 0 0 0 . . . .", "0 0 0 0 0 1 1 0", ". . . . 0 1 0 0")
    row = agreement.select_value(agreement.values(Labels.of(frame), resamples=0), "cohen")
    assert row["value"] == pytest.approx(value(frame[frame["annotator"] != "r0"], "cohen"))
    assert row["note"] == "1 of 2 pairs of annotators left out: no value"


def test_annotators_who_hardly_met_do_not_count_in_a_mean_while_others_did() -> None:
    frame = labels_of("0 1 2 0 1 2 0 1 2 0 . .", "0 1 2 0 1 2 0 1 1 1 0 1", ". . . . . . . . . . 1 0")
    found = agreement.agreement(frame, resamples=0)
    alone = value(frame[frame["annotator"] != "r2"], "cohen")
    assert agreement.select_value(found.values, "cohen")["value"] == pytest.approx(alone)
    assert any("1 pair of annotators with fewer than 10 common pairs is left out" in note for note in found.notes)


# --- labels -----------------------------------------------------------------------------------------


def test_the_last_word_counts_and_grades_that_are_missing_do_not() -> None:
    frame = pd.DataFrame(
        [("a", "1", "x", 0), ("a", "1", "y", None), ("b", "1", "x", 2), ("a", "1", "x", 2)], columns=COLUMNS
    )
    found = agreement.agreement(frame, resamples=0)
    assert (found.pairs, found.judgements) == (1, 2)
    assert agreement.select_value(found.values, "observed")["value"] == 1
    assert any("1 row left out" in note for note in found.notes)


def test_the_scale_counts_for_gwet() -> None:
    wide = agreement.agreement(COHEN, resamples=0, grades=range(4))
    assert wide.grades == (0, 1, 2, 3)
    # Chance is (1/2 x 1/2 + 1/2 x 1/2) / 3, with the shares .55 and .45 instead of halves.
    chance = (0.55 * 0.45 * 2) / 3
    assert agreement.select_value(wide.values, "ac1")["value"] == pytest.approx((0.7 - chance) / (1 - chance))


@pytest.mark.slow
@tries(30)
@given(TABLE)
def test_grades_that_nobody_gave_count_for_gwet_alone(units: list[list[int | None]]) -> None:
    frame = table(units)
    bare, wide = (agreement.agreement(frame, resamples=0, grades=g).values for g in (None, range(6)))
    others = ~bare["coefficient"].isin(["ac1", "ac2-linear", "ac2-quadratic"])
    np.testing.assert_allclose(bare["value"][others], wide["value"][others], atol=1e-12)


def test_where_all_is_one_grade_of_a_larger_scale_gwet_says_one() -> None:
    """Both said 0 of all: they agree always, and chance, sum of p(1 - p) / 3 with p = 1 and 0, brings nothing."""
    frame = labels_of("0 0 0 0", "0 0 0 0")
    wide = agreement.agreement(frame, resamples=50, grades=range(4)).values
    for coefficient in ("ac1", "ac2-linear", "ac2-quadratic"):
        row = agreement.select_value(wide, coefficient)
        assert row[["value", "low", "high"]].tolist() == [1, 1, 1]
    assert np.isnan(agreement.select_value(wide, "alpha-ordinal")["value"])
    assert np.isnan(value(frame, "ac1"))  # of the one grade that occurs: nobody could have said otherwise


def test_scores_are_no_grades() -> None:
    """Their codes would not fit, and work grows with the square of their number."""
    frame = labels_of(" ".join(map(str, range(101))))
    with pytest.raises(InputError, match=r"at most 100 different grades, found 101; .* round them"):
        Labels.of(frame)
    assert Labels.of(frame[1:]).count == 100
    with pytest.raises(InputError, match="at most 100"):
        Labels.of(COHEN, grades=range(200))


@pytest.mark.parametrize("level", [np.nan, np.inf, -np.inf])
def test_a_level_is_finite(level: float) -> None:
    with pytest.raises(InputError, match=f"level: expected a finite grade, found {level:g}"):
        agreement.agreement(COHEN, level=level)


def test_who_met_whom() -> None:
    labels = Labels.of(table([[0, 1, None], [0, None, None], [1, 1, None], [None, None, 2], [None, 0, 2]]))
    a, b, c = labels.annotators
    assert labels.met() == {(a, b): 2, (b, c): 1}
    assert Labels.of(COHEN[:0]).met() == {}


@pytest.mark.parametrize(
    ("frame", "error", "said"),
    [
        (COHEN.drop(columns="annotator"), ColumnsError, "expected the column annotator"),
        (COHEN.assign(relevance="high"), InputError, "expected numbers in the column relevance, found"),
        (COHEN.assign(relevance=np.inf), InputError, "finite grades"),
        (COHEN.assign(doc_id=None), InputError, "row 1 has no doc_id"),
    ],
)
def test_frames_that_are_none(frame: pd.DataFrame, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Labels.of(frame)


def test_a_grade_beyond_the_scale() -> None:
    with pytest.raises(InputError, match=r"grades of the scale \(0, 1\), found 3"):
        Labels.of(labels_of("0 3"), grades=[0, 1])


def test_unknown_names_are_told() -> None:
    labels = Labels.of(COHEN)
    with pytest.raises(UnknownNameError, match="unknown annotator 'r9'"):
        labels.between("r0", "r9")
    with pytest.raises(UnknownNameError, match="unknown topic '7'"):
        agreement.select_labels(COHEN, topics=["7"])


# --- views ------------------------------------------------------------------------------------------


def test_confusion_between_two_and_over_all() -> None:
    labels = Labels.of(labels_of("0 1 2 0 .", "1 1 0 0 2", ". . 2 1 2"))
    assert agreement.confusion(labels, "r0", "r1").to_numpy().tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert agreement.confusion(labels, "r1", "r0").to_numpy().tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 0]]
    everybody = agreement.confusion(labels).to_numpy()
    assert (everybody == everybody.T).all()
    assert np.tril(everybody).sum() == 4 + 3 + 2  # all two judgements of a pair, each once
    assert everybody.tolist() == [[1, 3, 2], [3, 1, 0], [2, 0, 2]]


def test_disagreements_are_in_order_and_can_be_asked_for_by_cell() -> None:
    labels = Labels.of(labels_of("0 1 3 0 .", "1 1 0 0 2", ". . 3 1 2", topics=2))
    found = agreement.disagreements(labels)
    assert found[["query_id", "doc_id", "distance"]].to_numpy().tolist() == [
        ["0", "d2", 3],
        ["0", "d0", 1],
        ["1", "d3", 1],
    ]
    assert found["grades"].tolist()[0] == {"r0": 3, "r1": 0, "r2": 3}
    assert agreement.disagreements(labels, query_id="1")["doc_id"].tolist() == ["d3"]
    assert agreement.disagreements(labels, annotators=("r0", "r1"))["doc_id"].tolist() == ["d2", "d0"]
    counts = agreement.confusion(labels, "r1", "r0")
    for one in labels.grades:
        for other in labels.grades:
            cell = agreement.disagreements(labels, annotators=("r1", "r0"), grades=(one, other))
            assert len(cell) == counts.loc[one, other]
    assert agreement.disagreements(labels, grades=(3, 3))["doc_id"].tolist() == ["d2"]
    assert agreement.disagreements(labels, grades=(0, 1))["doc_id"].tolist() == ["d0", "d3"]


def test_against_the_majority_of_the_others() -> None:
    labels = Labels.of(labels_of("3 0 2 .", "1 0 2 1", "1 2 0 1"))
    # Of the third pair the others say 2 and 0, of the second 0 and 2: the lower counts.
    rest = labels.against_rest("r0")
    assert rest.annotators == ("r0", REST)
    assert labels.grades[rest.codes].tolist() == [[3, 1], [0, 0], [2, 0]]
    # The difference is to the mean of the others: r0 is 2 above, 1 below and 1 above it.
    found = agreement.agreement(labels, resamples=0, sides=["rest"]).rest
    assert found.groupby("annotator")["difference"].first().round(3).to_dict() == {
        "r0": 0.667,
        "r1": -0.25,
        "r2": -0.25,
    }


def test_topics_and_windows_are_parts_of_the_whole() -> None:
    frame = labels_of("0 1 2 0 1 2 " * 10, "0 1 1 0 1 2 " * 10, topics=3)
    # The second half was judged by somebody who had begun to see everything as relevant.
    place = frame["doc_id"].str[1:].astype(int)
    late = (place >= 30) & (frame["annotator"] == "r1")
    frame.loc[late, "relevance"] = 2
    frame["judged_at"] = [f"2026-01-01T10:{n:02}:00+00:00" for n in place]
    found = agreement.agreement(frame, resamples=0)
    of = found.topics[(found.topics["scale"] == "graded") & (found.topics["coefficient"] == "observed")]
    shares = of.set_index("query_id")["value"]
    whole = agreement.select_value(found.values, "observed")["value"]
    assert shares.mean() == pytest.approx(whole)
    assert shares["1"] == pytest.approx(value(frame[frame["query_id"] == "1"], "observed"))
    windows = found.windows[(found.windows["scale"] == "graded") & (found.windows["coefficient"] == "observed")]
    assert windows["pairs"].tolist() == [10] * 6
    assert windows["value"].iloc[:3].min() > windows["value"].iloc[3:].max()
    assert windows["first_at"].is_monotonic_increasing


def test_no_windows_where_nobody_knows_when() -> None:
    frame = labels_of("0 1 2 0 1 2 " * 10, "0 1 1 0 1 2 " * 10)
    assert agreement.agreement(frame, resamples=0).windows.empty
    half = frame.assign(judged_at=["2026-01-01T10:00:00Z"] * 60 + [None] * 60)
    assert agreement.agreement(half, resamples=0).windows.empty


def test_views_can_be_left_out() -> None:
    found = agreement.agreement(KRIPPENDORFF_C, resamples=0, sides=("rest",))
    assert found.between.empty
    assert found.topics.empty
    assert len(found.rest)


# --- files of labels --------------------------------------------------------------------------------


def test_labels_are_read_by_any_of_their_names(tmp_path: Path) -> None:
    wanted = [["ann", "1", "d1", 2], ["bob, jr", "1", "d1", 0]]
    for name, text in {
        "a.csv": 'annotator,query_id,doc_id,relevance\nann,1,d1,2\n"bob, jr",1,d1,0\n',
        "b.csv": '\ufeffGrade,docno,QID,note,assessor\n2,d1,1,"a ""b""",ann\n+0,d1,1,,"bob, jr"\n',
        "c.tsv": "annotator\tqid\tdocno\tgrade\nann\t1\td1\t2.0\nbob, jr\t1\td1\t0\n",
        "d.jsonl": '{"annotator": "ann", "qid": 1, "docno": "d1", "grade": 2}\n'
        '{"annotator": "bob, jr", "qid": "1", "docno": "d1", "grade": 0}\n',
    }.items():
        (tmp_path / name).write_text(text)
        found = formats.read_labels(tmp_path / name)
        assert found.to_numpy().tolist() == wanted, name
        assert found["relevance"].dtype == "int64"


HEADER = "annotator,query_id,doc_id,relevance\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "an empty file"),
        (HEADER, 1, "only a header"),
        ('""\n', 1, "expected labels with a header that names the columns"),
        ("annotator,query_id,relevance\na,1,2\n", 1, "no doc_id in"),
        ("a,1,d1,2\n", 1, "no query_id in"),
        (HEADER + "a,1,d1,high\n", 2, "expected a number as grade, found 'high'"),
        (HEADER + ",1,d1,2\n", 2, "expected an annotator's name without surrounding blanks, found none"),
        (HEADER + " a,1,d1,2\n", 2, "found ' a'"),
        (HEADER + "a,1,d 1,2\n", 2, "blanks separate the columns"),
        (HEADER + "a,1,d1\n", 2, "expected 4 columns"),
        (HEADER + "a,1,d1,2\nb,1,d1,2\na,1,d1,1\n", 4, "again with another grade (2 in line 2)"),
        ("annotator,query_id,query_id,relevance\n", 1, "'query_id' twice"),
        (HEADER + 'a,1,"d1,2\n', 2, "a CSV record"),
        ('[{"annotator": "a"}]\n', 1, "expected labels with topics, found none"),
        (HEADER.replace("\n", ",kind\n") + "a,1,d1,2,grade\n", 2, "expected a kind of judgement"),
        (HEADER.replace("\n", ",kind,counts_as\n") + "a,1,d1,2,graded,nothing\n", 2, "expected counts_as as one of"),
    ],
)
def test_labels_that_are_none(tmp_path: Path, text: str, line: int | None, said: str) -> None:
    path = tmp_path / ("labels.jsonl" if text.startswith("[") else "labels.csv")
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        formats.read_labels(path)
    assert caught.value.line == line
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


NAME = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(
    lambda s: s == s.strip()
)
ID = st.text(
    st.characters(codec="utf-8", exclude_characters=" \t\r\n\0\x0b\x0c\x85\u2028\u2029\x1c\x1d\x1e"), min_size=1
)


@pytest.mark.slow
@tries(60)
@given(
    rows=st.dictionaries(st.tuples(NAME, ID, ID), st.one_of(st.integers(0, 9), st.floats(-9, 9)), min_size=1),
    ending=st.sampled_from(["csv", "tsv", "csv.gz"]),
)
def test_writing_and_reading_labels_is_the_identity(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[tuple[str, str, str], float], ending: str
) -> None:
    path = tmp_path_factory.mktemp("labels") / f"labels.{ending}"
    frame = pd.DataFrame([(*key, grade) for key, grade in rows.items()], columns=COLUMNS)
    formats.write_labels(frame, path)
    assert formats.read_labels(path).to_numpy().tolist() == frame.to_numpy().tolist()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("a ", "1", "d1", 1), "expected annotator names without surrounding blanks"),
        (("a", "1 2", "d1", 1), "expected an id that is not empty"),
        (("a", "1", "", 1), "expected an id that is not empty"),
        (("a", "1", "d1", None), "labels: expected a grade in every row"),
        (("a", "1", "d0", 1), "found ('a', '1', 'd0') twice"),
    ],
)
def test_labels_that_could_not_be_read_back_are_not_written(tmp_path: Path, row: tuple[object, ...], said: str) -> None:
    frame = pd.DataFrame([("a", "1", "d0", 0), row], columns=COLUMNS)
    with pytest.raises(InputError) as caught:
        formats.write_labels(frame, tmp_path / "labels.csv")
    assert said in str(caught.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"ends in \.csv or \.tsv for labels"):
        formats.write_labels(frame, tmp_path / "labels.txt")


# --- in a campaign ----------------------------------------------------------------------------------

GRADES = {
    "ann": {("1", "d1"): 2, ("1", "d2"): 0, ("1", "d6"): 1, ("2", "d4"): 3, ("2", "d5"): 0},
    "bob": {("1", "d1"): 1, ("1", "d2"): 2, ("1", "d6"): 1, ("2", "d4"): 3, ("2", "d7"): 0},
}


def say(campaign: Campaign, annotator: str, pair: tuple[str, str], relevance: int | None, **more: object) -> None:
    kind = "graded" if relevance is not None else "cannot judge"
    reason = None if relevance is not None else "text is missing or broken"
    judgement = Judgement(str(uuid4()), annotator, *pair, kind, relevance, reason=reason, **more)  # type: ignore[arg-type]
    assert not campaign.judging.judge_many([judgement]).refused


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """The small campaign with the grades of two annotators."""
    for annotator, grades in GRADES.items():
        for pair, grade in grades.items():
            say(campaign, annotator, pair, grade)
    return campaign


def as_grades(frame: pd.DataFrame) -> dict[str, dict[tuple[str, str], int]]:
    found: dict[str, dict[tuple[str, str], int]] = {}
    for row in frame.to_dict("records"):
        found.setdefault(row["annotator"], {})[row["query_id"], row["doc_id"]] = row["relevance"]
    return found


def test_labels_are_current_judgements_of_annotators(judged: Campaign) -> None:
    say(judged, "ann", ("1", "d1"), 3)
    say(judged, "ann", ("2", "d7"), None)
    say(judged, "eve", ("1", "d1"), 0, counts_as="adjudication")
    say(judged, "eve", ("1", "d2"), 0, counts_as="surplus")
    assert as_grades(judged.results.agreement.labels()) == {**GRADES, "ann": GRADES["ann"] | {("1", "d1"): 3}}
    found = judged.results.agreement.report(resamples=0)
    assert found.annotators == ("ann", "bob")
    assert any('1 "cannot judge" judgement left out' in note for note in found.notes)
    assert any("1 adjudication left out" in note for note in found.notes)


@pytest.mark.slow
def test_cannot_judge_is_counted_of_annotators_who_are_there(judged: Campaign) -> None:
    """An adjudicator's is an adjudication, and who is left out is left out here too."""
    say(judged, "ann", ("2", "d7"), None)
    say(judged, "bob", ("2", "d5"), None)
    say(judged, "eve", ("1", "d1"), None, counts_as="adjudication")

    def notes(**options: Any) -> list[str]:
        return [note for note in judged.results.agreement.report(resamples=0, **options).notes if "left out" in note]

    assert [n for n in notes() if "cannot judge" in n] == ['2 "cannot judge" judgements left out.']
    assert [n[:2] for n in notes(without=["bob"]) if "cannot judge" in n] == ["1 "]
    assert not [n for n in notes(topics=["1"]) if "cannot judge" in n]
    assert [n[:2] for n in notes() if "adjudication" in n] == ["1 "]


@pytest.mark.slow
def test_a_campaign_s_scale_is_the_same_however_it_is_looked_at(judged: Campaign) -> None:
    """Topic 1 has grades 0, 1 and 2 alone; its row, and the campaign narrowed to it, read the same four grades."""
    whole, alone = (
        judged.results.agreement.report(resamples=0),
        judged.results.agreement.report(resamples=0, topics=["1"]),
    )
    assert whole.grades == alone.grades == (0, 1, 2, 3)
    row = whole.topics[whole.topics["query_id"] == "1"].reset_index(drop=True)
    columns = ["scale", "coefficient", "value"]
    pd.testing.assert_frame_equal(row[columns], alone.values[columns])
    pd.testing.assert_frame_equal(row[columns], alone.topics[columns])
    # d1: 2 and 1, d2: 0 and 2, d6: 1 and 1; shares 1/6, 3/6, 2/6, 0 of four grades.
    chance = (5 + 9 + 8) / 36 / 3
    ac1 = agreement.select_value(alone.values, "ac1")["value"]
    assert ac1 == pytest.approx((1 / 3 - chance) / (1 - chance))


@pytest.mark.slow
def test_topics_and_annotators_can_be_left_out(judged: Campaign, tmp_path: Path) -> None:
    (tmp_path / "nist.txt").write_text("1 0 d1 2\n1 0 d2 0\n")
    judged.imports.import_files(qrels=tmp_path / "nist.txt")
    assert judged.results.agreement.report(resamples=0).annotators == ("ann", "bob", "qrels:nist")
    assert any("qrels:nist" in note for note in judged.results.agreement.report(resamples=0).notes)
    found = judged.results.agreement.report(resamples=0, topics=["1"], without=["bob"])
    assert found.annotators == ("ann", "qrels:nist")
    assert agreement.select_value(found.values, "observed")["value"] == 1
    with pytest.raises(UnknownNameError, match="annotator 'bop'; did you mean 'bob'"):
        judged.results.agreement.labels(without=["bop"])
    with pytest.raises(UnknownNameError, match="topic '9'"):
        judged.results.agreement.labels(topics=["9"])


@pytest.mark.slow
def test_the_level_is_the_loop_s_unless_said(judged: Campaign) -> None:
    judged.settings.set_loop(level=2)
    assert judged.results.agreement.report(resamples=0).level == 2
    assert judged.results.agreement.report(resamples=0, level=3).level == 3


@pytest.mark.slow
def test_conclusions_rest_on_what_both_graded(judged: Campaign) -> None:
    only = judged.results.agreement.conclusions(parse("P@1"))
    assert len(only) == 1
    found = only[0]
    assert (found.a, found.b, found.topics, found.pairs, found.runs) == ("ann", "bob", 2, 4, 2)
    # First of alpha: d1 and d4; of beta: d2 and d4. By ann d2 is not relevant, by bob all are.
    table = found.table.set_index("run")
    assert table[["a", "b"]].to_numpy().tolist() == [[1.0, 1.0], [0.5, 1.0]]
    assert table["place_b"].tolist() == [1, 1]
    assert np.isnan(found.tau)
    assert found.note == "all runs have the same value by the grades of bob"
    better = judged.results.agreement.conclusions(parse("nDCG@2"))[0]
    assert better.tau == -1
    assert better.swaps == 1
    with pytest.raises(InputError, match="needs qrels with subtopics"):
        judged.results.agreement.conclusions(parse("alpha_nDCG@10"))


def test_conclusions_know_where_less_is_better(judged: Campaign) -> None:
    """The last relevant document by ann: of alpha d1 and d4, first in both topics; of beta d6, second in topic 1."""
    found = judged.results.agreement.conclusions(parse("LastRel"))[0]
    assert found.table[["run", "a", "place_a"]].to_numpy().tolist() == [["alpha", 1, 1], ["beta", 1.5, 2]]
    # By bob d2 is relevant too, which alpha has second.
    assert found.table[["b", "place_b"]].to_numpy().tolist() == [[1.5, 1], [1.5, 1]]


@pytest.mark.slow
def test_any_name_of_an_annotator_has_conclusions(campaign: Campaign) -> None:
    for annotator, grades in zip(("run", "value"), GRADES.values(), strict=True):
        for pair, grade in grades.items():
            say(campaign, annotator, pair, grade)
    for measure in ("P@1", "nDCG@2"):
        found = campaign.results.agreement.conclusions(parse(measure))[0]
        assert (found.a, found.b, found.runs) == ("run", "value", 2)
    assert found.tau == -1
    assert "\nrun          value " in ok("agreement", campaign.directory, "--measure", "nDCG@2", "--resamples", 0)


@pytest.mark.slow
def test_only_those_who_met_most_are_concluded_if_so_asked(judged: Campaign) -> None:
    for pair in (("1", "d1"), ("1", "d2"), ("1", "d6")):
        say(judged, "cat", pair, 1)
    met = {(c.a, c.b): c.pairs for c in judged.results.agreement.conclusions(parse("P@1"))}
    assert met == {("ann", "bob"): 4, ("ann", "cat"): 3, ("bob", "cat"): 3}
    assert [(c.a, c.b) for c in judged.results.agreement.conclusions(parse("P@1"), most=1)] == [("ann", "bob")]
    assert len(judged.results.agreement.conclusions(parse("P@1"), most=2)) == 2


def test_no_conclusions_without_runs(tmp_path: Path, files: Path) -> None:
    with Campaign.create(tmp_path / "bare") as campaign:
        campaign.imports.import_files(documents=[files / "documents.jsonl"], topics=files / "topics.jsonl")
        say(campaign, "ann", ("1", "d1"), 1)
        say(campaign, "bob", ("1", "d1"), 1)
        assert campaign.results.agreement.conclusions(parse("AP")) == []


def test_the_key_changes_with_all_that_is_read(judged: Campaign, files: Path) -> None:
    keys = [judged.results.agreement.cache_key()]
    say(judged, "ann", ("2", "d7"), 1)
    keys.append(judged.results.agreement.cache_key())
    judged.settings.set_loop(level=2)
    keys.append(judged.results.agreement.cache_key())
    (files / "c.run").write_text("1 Q0 d1 1 1.0 gamma\n")
    judged.imports.import_files(runs=[files / "c.run"])
    keys.append(judged.results.agreement.cache_key())
    assert len(set(keys)) == 4


@pytest.mark.slow
def test_export_then_import_of_labels_is_the_identity(
    judged: Campaign, make_campaign: Callable[..., Campaign], tmp_path: Path
) -> None:
    say(judged, "eve", ("1", "d1"), 0, counts_as="adjudication")
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert judged.exports.files.write(labels=first) == {str(first): 10}
    other = make_campaign("other")
    other.people.assignments.update(annotators=2)
    report = other.imports.import_files(labels=first)
    assert report.done == [f"{first}: 10 judgements by 2 annotators (10 new)"]
    assert as_grades(other.results.agreement.labels()) == GRADES
    other.exports.files.write(labels=second)
    assert second.read_text() == first.read_text()
    assert other.imports.import_files(labels=first).done == [
        f"{first}: 10 judgements by 2 annotators (0 new, 10 unchanged)"
    ]
    # Over time nothing can be said of what was graded elsewhere.
    assert other.results.agreement.labels()["judged_at"].isna().all()
    # What agreement finds is the same in the campaign, in the file and in the other campaign.
    tables = [
        judged.results.agreement.report().values,
        other.results.agreement.report().values,
        agreement.agreement(formats.read_labels(first)).values,
    ]
    pd.testing.assert_series_equal(tables[0]["value"], tables[1]["value"])
    pd.testing.assert_series_equal(tables[0]["value"], tables[2]["value"])


def test_the_exported_log_is_read_as_labels_too(judged: Campaign, tmp_path: Path) -> None:
    say(judged, "ann", ("1", "d1"), 3)
    say(judged, "ann", ("2", "d7"), None)
    say(judged, "eve", ("1", "d1"), 0, counts_as="adjudication")
    judged.judging.judge("bob", "2", "d7", undo=True)
    wanted = as_grades(judged.results.agreement.labels())
    assert ("2", "d7") not in wanted["bob"]
    for name in ("log.csv", "log.jsonl"):
        judged.exports.files.write(judgements=tmp_path / name)
        assert as_grades(formats.read_labels(tmp_path / name)) == wanted


def test_labels_that_conflict_change_nothing_unless_they_shall(judged: Campaign, tmp_path: Path) -> None:
    say(judged, "bob", ("2", "d5"), None)
    path = tmp_path / "labels.csv"
    path.write_text(HEADER + "eve,1,d1,1\nann,1,d1,0\n")
    with pytest.raises(
        ConflictError, match="expected 2, the grade of 'ann' in the campaign .*, found 0; rename the annotator"
    ):
        judged.imports.import_files(labels=path)
    assert as_grades(judged.results.agreement.labels()) == GRADES
    path.write_text(HEADER + "bob,2,d5,1\n")
    with pytest.raises(ConflictError, match="expected cannot judge, the grade of 'bob' in the campaign .*, found 1"):
        judged.imports.import_files(labels=path)
    judged.imports.import_files(labels=path, replace=True)
    assert as_grades(judged.results.agreement.labels())["bob"]["2", "d5"] == 1


def test_names_that_differ_only_in_case_are_told(judged: Campaign, tmp_path: Path) -> None:
    """Neither beside an account, nor beside somebody in the log, nor both in one file."""
    judged.people.accounts.add("Dora", "annotator")
    path = tmp_path / "labels.csv"
    for rows, names in {
        "dora,1,d1,1\n": "'dora' and 'Dora'",
        "eve,1,d1,1\nBOB,1,d2,1\n": "'BOB' and 'bob'",
        "eve,1,d1,1\nEve,1,d1,2\n": "'Eve' and 'eve'",
    }.items():
        path.write_text(HEADER + rows)
        with pytest.raises(ConflictError, match=f"{names} differ only in upper and lower case; use one spelling"):
            judged.imports.import_files(labels=path)
    assert as_grades(judged.results.agreement.labels()) == GRADES
    path.write_text(HEADER + "Dora,1,d8,1\nbob,1,d7,1\n")
    judged.imports.import_files(labels=path)
    assert set(as_grades(judged.results.agreement.labels())) == {"ann", "bob", "Dora"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            HEADER + "ann,1,d1,1\nann,1,d2,7\n",
            r"labels\.csv, line 3: expected a grade of this campaign \(0, 1, 2, 3\), found 7",
        ),
        (HEADER + "ann,1,d1,0.5\n", r"labels\.csv, line 2: .* found 0\.5"),
        (HEADER + "ann,9,d1,1\n", "expected topics of the campaign"),
        (HEADER.replace("\n", ",kind\n") + "ann,1,d1,,cannot judge\n", "found no grades"),
    ],
)
def test_labels_that_cannot_be_imported(campaign: Campaign, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        campaign.imports.import_files(labels=tmp_path / "labels.csv")
    assert campaign.results.agreement.labels().empty


# --- the command ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_on_a_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    formats.write_labels(KRIPPENDORFF_C, path)
    printed = ok("agreement", path, "--resamples", 100)
    assert printed.startswith("4 annotators gave 41 grades to 12 pairs; 11 pairs have 2 or more grades.\n")
    assert "alpha-ordinal    Krippendorff's alpha, ordinal     0.815 (" in printed
    assert "\npairs of annotators\n" in printed
    assert "\ntopics, lowest Krippendorff's alpha, ordinal first\n" in printed
    assert "\neach annotator vs. the majority of the others\n" in printed
    written = json.loads(ok("agreement", path, "--format", "json", "--resamples", 0, "--level", 3))
    assert (written["pairs"], written["several"], written["level"], written["grades"]) == (12, 11, 3, [1, 2, 3, 4, 5])
    alpha = next(r for r in written["values"] if r["coefficient"] == "alpha-nominal" and r["scale"] == "graded")
    assert alpha["value"] == pytest.approx(0.743, abs=5e-4)
    assert alpha["low"] is None
    assert {r["annotator"] for r in written["rest"]} == {"r0", "r1", "r2", "r3"}
    assert len({(r["a"], r["b"]) for r in written["between"]}) == 6
    alone = json.loads(ok("agreement", path, "--format", "json", "--resamples", 0, "--without", "r1", "--topic", "0"))
    assert alone["annotators"] == ["r0", "r2", "r3"]


@pytest.mark.slow
def test_the_command_on_a_campaign(judged: Campaign) -> None:
    place = judged.directory
    printed = ok("agreement", place, "--measure", "nDCG@2")
    assert re.search(r"^ann +bob +2 +4 +2 +-1\.000 +1$", printed, re.M)
    written = json.loads(ok("agreement", place, "--measure", "P@1", "--format", "json", "--by", "topics", "--seed", 4))
    assert (written["by"], written["seed"]) == ("topics", 4)
    assert written["conclusions"][0]["tau"] is None
    assert written["conclusions"][0]["table"][0] == {"run": "alpha", "a": 1.0, "b": 1.0, "place_a": 1, "place_b": 1}
    found = judged.results.agreement.report(by="topics", seed=4).values
    assert [r["low"] for r in written["values"]] == [None if np.isnan(v) else v for v in found["low"]]


@pytest.mark.slow
def test_a_file_can_be_told_its_scale(judged: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    formats.write_labels(judged.results.agreement.labels(topics=["1"]), path)
    wanted = judged.results.agreement.report(topics=["1"], resamples=0)
    for scale in ("0-3", "0,1, 2,3"):
        written = json.loads(ok("agreement", path, "--resamples", 0, "--grades", scale, "--format", "json"))
        assert written["grades"] == [0, 1, 2, 3]
        assert [r["value"] for r in written["values"]] == [None if np.isnan(v) else v for v in wanted.values["value"]]
    assert json.loads(ok("agreement", path, "--resamples", 0, "--format", "json"))["grades"] == [0, 1, 2]


@pytest.mark.slow
def test_topics_are_sorted_by_the_coefficient_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    frame = pd.concat([labels_of("0 0 0 0 0 1", "0 0 0 0 1 0").assign(query_id="rare"),
                       labels_of("0 1 2 0 1 2", "0 1 2 1 2 1").assign(query_id="even")])  # fmt: skip
    formats.write_labels(frame, path)
    by_alpha = ok("agreement", path, "--resamples", 0)
    by_ac1 = ok("agreement", path, "--resamples", 0, "--coefficient", "ac1")
    assert by_alpha.index("\nrare ") < by_alpha.index("\neven ")
    assert by_ac1.index("\neven ") < by_ac1.index("\nrare ")


@pytest.mark.slow
def test_the_command_with_too_little_says_so(campaign: Campaign) -> None:
    assert ok("agreement", campaign.directory).startswith("Agreement cannot be computed: there are no grades.")
    say(campaign, "ann", ("1", "d1"), 1)
    printed = ok("agreement", campaign.directory)
    assert "Agreement cannot be computed: there is only one annotator." in printed
    assert len(printed.splitlines()) == 3  # no table without a value
    written = json.loads(ok("agreement", campaign.directory, "--format", "json"))
    assert all(row["value"] is None and row["note"] for row in written["values"])


@pytest.mark.slow
def test_what_holds_for_every_coefficient_is_printed_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    labels_of("0 1 2 0", "0 1 1 1").to_csv(path, index=False)
    printed = run("agreement", path, "--by", "topics")
    assert printed.output.count("no interval: fewer than two topics to resample") == 1
    assert "in brackets" not in printed.stderr
    assert "in brackets: 95% confidence intervals" in run("agreement", path).stderr


def test_the_command_fails_by_name(judged: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(HEADER + "a,1,d1,x\n")
    assert f"{path}, line 2: expected a number as grade" in fails("agreement", path)
    assert "no such file" in fails("agreement", tmp_path / "none.csv")
    (tmp_path / "folder").mkdir()
    assert "there is no campaign in" in fails("agreement", tmp_path / "folder")
    path.write_text(HEADER + "a,1,d1,1\n")
    assert "--measure needs the runs of a campaign" in fails("agreement", path, "--measure", "AP")
    assert "did you mean 'alpha-ordinal'" in fails("agreement", path, "--coefficient", "alpha-ordnal")
    assert "unknown annotator 'z'" in fails("agreement", path, "--without", "z")
    for level in ("nan", "inf"):
        assert "level: expected a finite grade" in fails("agreement", path, "--level", level, "--format", "json")
    for scale in ("0", "x", "0,nan", "3-0"):
        assert "--grades: expected two or more grades, such as 0-3" in fails("agreement", path, "--grades", scale)
    assert "a grade of the scale (2, 3), found 1" in fails("agreement", path, "--grades", "2-3")
    assert "has its own grade scale" in fails("agreement", judged.directory, "--grades", "0-3")
    assert "did you mean" in fails("agreement", judged.directory, "--measure", "nDGC@10")


def test_the_command_imports_and_exports_labels(
    judged: Campaign, make_campaign: Callable[..., Campaign], tmp_path: Path
) -> None:
    path, other = tmp_path / "labels.tsv", make_campaign("other", pooled=False)
    assert ok("export", judged.directory, "--labels", path) == f"{path}: 10 lines\n"
    assert "10 judgements by 2 annotators (10 new)" in ok("import", other.directory, "--labels", path)
    assert as_grades(other.results.agreement.labels()) == GRADES


def test_every_coefficient_is_on_the_scales_of_its_measurement() -> None:
    assert all(("binary" in e.scales) == (e.measurement in ("nominal", "binary")) for e in COEFFICIENTS)
    # What is left out of a mean is said where it is described; whose overlap is compared is called as people are here.
    assert f"fewer than {MIN_COMMON_PAIRS} pairs in common are left out" in COEFFICIENTS["cohen"].description
    trec = agreement.interpret(agreement.agreement(COHEN, resamples=0))[-1]
    assert "In TREC-4 it was 42% to 49%" in trec
    assert trec.endswith("(Voorhees 2000); check the effect on your own rankings.")


def test_what_a_log_has_besides_labels_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [
        ("ann", "1", "d1", "graded", 2, "judgement"),
        ("ann", "1", "d2", "cannot judge", None, "judgement"),
        ("boss", "1", "d1", "graded", 1, "adjudication"),
        ("boss", "1", "d2", "undone", None, "adjudication"),
        ("ben", "1", "d1", "graded", 0, "surplus"),
    ]
    names = ("annotator", "query_id", "doc_id", "kind", "relevance", "counts_as")
    log.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    assert formats.read_labels(log).values.tolist() == [["ann", "1", "d1", 2]]
    assert formats.read_label_log(log).left_out == {"adjudication": 1, "surplus": 1, "cannot judge": 1}


@pytest.mark.parametrize(
    ("alpha", "low", "said"),
    [
        (0.222, -0.259, "not significantly above chance"),
        (0.8, 0.748, "uncertain: alpha is in the reliable range, but its confidence interval extends below 0.8"),
        (0.9, 0.85, "reliable"),
        (0.7, 0.67, "tentative"),
        (0.7, 0.1, "uncertain: alpha is in the tentative range, but its confidence interval extends below 0.667"),
        (0.4, 0.3, "below the conventional limits"),
        (0.9, float("nan"), "reliable"),
        (-0.1, float("nan"), "not above chance"),
    ],
)
def test_the_sentence_goes_by_the_lower_end_of_the_interval(alpha: float, low: float, said: str) -> None:
    found = agreement.agreement(table([[0, 0], [1, 2], [2, 2]]), resamples=0)
    values = found.values.copy()
    values.loc[values["coefficient"].str.startswith("alpha"), ["value", "low", "high"]] = [alpha, low, 0.95]
    _, reading, *more = agreement.interpret(replace(found, values=values, several=21))
    assert reading == f"Agreement on the order of the grades, on exact grades and on binary relevance is {said}."
    on = "on the order of the grades, on exact grades and on binary relevance"
    asks = f"21 pairs cannot distinguish agreement {on} from chance: let a second annotator judge more pairs."
    assert (asks in more) == said.startswith("not ")
    # On a scale of two grades, all these are the same.
    two = agreement.interpret(replace(found, values=values, several=21, grades=(0.0, 1.0)))
    assert two[1] == f"Agreement is {said}."
    assert two[2].startswith("Krippendorff's alpha: ordinal ")
    assert "nominal" not in two[2]


def test_agreement_is_not_reliable_on_the_most_forgiving_coefficient_alone(
    tmp_path: Path,
) -> None:
    """Two annotators agree on what is relevant, and often differ by one grade: alpha by order alone is high."""
    random = np.random.default_rng(0)
    one = random.choice([0, 0, 0, 1, 2, 3, 3, 3], 200)
    near = np.where(np.isin(one, (1, 2)) & (random.random(200) < 0.7), 3 - one, one)
    frame = table(np.column_stack([one, near]).tolist())
    found = agreement.agreement(frame, resamples=200)
    expected = {
        name: krippendorff.alpha(np.array([one, near], dtype=float), level_of_measurement=name)
        for name in ("ordinal", "nominal")
    }
    assert expected["ordinal"] > 0.95
    assert expected["nominal"] < 0.8
    _, reading, values, *_ = agreement.interpret(found)
    assert reading.startswith("Agreement on the order of the grades and on binary relevance is reliable.")
    assert " Agreement on exact grades is tentative" in reading
    assert f"ordinal {expected['ordinal']:.3f} (95% CI " in values
    assert f"nominal {expected['nominal']:.3f} (95% CI " in values
    assert values.endswith(
        "Ordinal alpha counts neighbouring grades as a small difference; nominal alpha counts every difference in "
        "full; binary alpha counts only differences across grade 1."
    )
    frame.to_csv(tmp_path / "labels.csv", index=False)
    printed = ok("agreement", tmp_path / "labels.csv", "--resamples", "200")
    assert reading in printed
    assert re.search(r"alpha-ordinal .* grades of neighbouring rank, in part", printed)
    assert re.search(r"^cohen .* nothing$", printed, re.M)


@pytest.mark.parametrize("annotators", [1, 5, 60])
def test_patterns_of_many_annotators_are_their_different_rows_in_order(annotators: int) -> None:
    rng = np.random.default_rng(annotators)
    codes = rng.integers(-1, 4, (40, annotators)).astype(np.int8)[rng.integers(0, 40, 300)]
    rows, of_pair, times = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    pairs = pd.DataFrame({"query_id": "1", "doc_id": [f"d{n}" for n in range(300)]})
    names = tuple(f"a{n:02}" for n in range(annotators))
    labels = Labels(names, pairs, codes, np.arange(4.0), pd.Series(pd.NaT, index=range(300)))
    patterns = Patterns(labels)
    assert patterns.rows.tolist() == rows.tolist()
    assert patterns.of_pair.tolist() == of_pair.reshape(-1).tolist()
    assert patterns.times.tolist() == times.tolist()
