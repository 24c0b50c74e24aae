"""The loop: learners, one round, the queue with random draws, and everything that must not break it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from collection.active_learning.evidence_trust import RUNS, UNDECIDED
from collection.active_learning.features import FeatureMatrix, build
from collection.active_learning.learners import LEARNERS, balance
from collection.active_learning.training_round import Evidence, Ranking, Recipe, Space, build_queue, train_and_rank
from collection.core.errors import InputError, UnknownNameError
from collection.stopping import Ledger
from tests.helpers import tries

TEXTS = [
    "wing flow", "flow past a wing", "a wing in a tunnel", "wing flutter", "flow over wings",
    "heat in a slab", "heat transfer", "a hot slab", "slab of steel", "cooling heat",
    "rocket motor", "a motor", "rocket fuel", "fuel burns", "motor and fuel",
]  # fmt: skip
WINGS = np.arange(15) < 5


def space(texts: list[str | None] = TEXTS, text: str = "wing", evidence: Evidence | None = None) -> Space:
    features = build(texts)
    allowed = np.array([t is not None for t in texts], dtype=bool)
    return Space(features, allowed, text, evidence)


def rows(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def runs_say(scores: list[float]) -> Evidence:
    fusion = np.array(scores, dtype=np.float32)
    best = np.where(fusion > 0, 1 + np.argsort(np.argsort(-fusion)), 0).astype(np.float32)
    return Evidence(fusion, best, (fusion > 0).astype(np.float32))


# Learners


def test_the_relevant_weigh_as_much_as_the_ratio_says() -> None:
    made = balance(np.array([True, False, False, False]), np.ones(4), 9.8)
    assert made[0] / made[1:].sum() == pytest.approx(9.8)
    assert made.mean() == pytest.approx(1)


@pytest.mark.parametrize("learner", [entry.name for entry in LEARNERS])
def test_every_learner_tells_wings_from_the_rest(learner: str) -> None:
    here = space()
    known = rows(0, 1, 5, 6, 10)
    ranking = train_and_rank(here, known, WINGS[known].astype(int), Recipe(learner, presumed=0), 1, 15)
    assert ranking.strategy == "model"
    assert set(ranking.rows[:3].tolist()) == {2, 3, 4}
    assert len(ranking.rows) == 10


@pytest.mark.parametrize("learner", [entry.name for entry in LEARNERS])
def test_a_score_is_the_sum_of_weights_times_features(learner: str) -> None:
    here = space()
    known = rows(0, 5, 10)
    ranking = train_and_rank(here, known, rows(1, 0, 0), Recipe(learner, presumed=0, topic=0), 1, 15)
    assert ranking.model is not None
    expected = here.features.rows(ranking.rows).toarray() @ ranking.model.weights
    np.testing.assert_allclose(ranking.scores, expected, atol=1e-5)


def test_the_svm_equals_scikit_learn_on_all_columns() -> None:
    from sklearn.svm import LinearSVC

    here = space()
    known, labels = rows(0, 1, 5, 6), np.array([True, True, False, False])
    features = here.features.rows(known)
    ours = LEARNERS["svm"].function(features, labels, np.ones(4), 3).weights
    theirs = LinearSVC(C=0.11, dual=True, tol=1e-3, random_state=3)
    theirs.fit(features, labels, sample_weight=balance(labels, np.ones(4), 9.8))
    np.testing.assert_allclose(ours, theirs.coef_[0], atol=1e-6)


def test_a_naive_bayes_weight_by_hand() -> None:
    # One feature of two: (1, 0) is relevant, (0, 1) is not; alpha 1: log((1+1)/3) - log((0+1)/3) = log 2.
    from scipy.sparse import csr_matrix

    features = csr_matrix(np.eye(2, dtype=np.float32))
    made = LEARNERS["naive-bayes"].function(features, np.array([True, False]), np.ones(2), 0, alpha=1.0)
    np.testing.assert_allclose(made.weights, [np.log(2), -np.log(2)], rtol=1e-6)


# One round


def test_before_anything_is_relevant_runs_and_words_take_turns() -> None:
    # Rows 8 to 14 were retrieved in this order, wings were not; BM25 prefers shorter texts: row 0 before the others.
    here = space(evidence=runs_say([0.0] * 8 + [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]))
    words = [row for row in here.features.bm25("wing").argsort(kind="stable")[::-1].tolist() if row < 5]
    ranking = train_and_rank(here, rows(), rows(), Recipe(), 1, 15)
    assert (ranking.strategy, ranking.model, ranking.trust) == ("fusion", None, {})
    # 1/2, 1/3, then 1/4 three times: rows in order where scores are equal.
    assert ranking.rows[:2].tolist() == [8, 9]
    assert set(ranking.rows[2:4].tolist()) == {10, *[r for r in range(5) if here.start[r] == 0.25]}
    wings = [row for row in ranking.rows.tolist() if row < 5]
    assert here.features.bm25("wing")[wings].tolist() == here.features.bm25("wing")[words].tolist()
    assert set(ranking.rows[:12].tolist()) == {*range(5), *range(8, 15)}


def test_runs_without_a_relevant_document_do_not_hold_up_the_first_one() -> None:
    texts = [f"heat slab {i}" for i in range(300)] + ["wing flow", "wing"]
    here = space(texts, "wing", runs_say([1 / (60 + i) for i in range(300)] + [0.0, 0.0]))
    ranking = train_and_rank(here, rows(), rows(), Recipe(), 1, 10)
    assert {300, 301} <= set(ranking.rows.tolist())


def test_places_count_among_the_documents_that_may_be_judged() -> None:
    allowed = np.ones(15, dtype=bool)
    allowed[8:12] = False
    here = Space(build(TEXTS), allowed, "wing", runs_say([0.0] * 8 + [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]))
    assert here.start[12:].tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 4])
    assert (here.start[8:12] == 0).all()


def test_the_prior_is_the_logarithm_of_the_fusion_over_half_the_lowest() -> None:
    here = space(evidence=runs_say([0.0] * 12 + [0.4, 0.2, 0.1]))
    np.testing.assert_allclose(here.prior, [0.0] * 12 + [np.log(8), np.log(4), np.log(2)], rtol=1e-6)
    # Documents in no run change nothing, however many they are.
    more = space([*TEXTS, *["other words"] * 985], evidence=runs_say([0.0] * 12 + [0.4, 0.2, 0.1] + [0.0] * 985))
    assert more.prior[:15].tolist() == here.prior.tolist()
    assert (space().prior == 0).all()


def test_without_runs_the_topics_words_order() -> None:
    ranking = train_and_rank(space(), rows(), rows(), Recipe(), 1, 4)
    assert ranking.strategy == "topic text"
    assert set(ranking.rows.tolist()) == {0, 1, 2, 3}


def test_without_runs_and_words_there_is_an_order_all_the_same() -> None:
    ranking = train_and_rank(space(text="?!"), rows(), rows(), Recipe(), 1, 15)
    assert ranking.strategy == "no order"
    assert sorted(ranking.rows.tolist()) == list(range(15))


def test_the_runs_do_not_outweigh_many_judgements() -> None:
    # The runs are for heat, the judgements for wings.
    texts = [f"wing flow {i}" for i in range(40)] + [f"heat slab {i}" for i in range(40)]
    against = runs_say([0.01] * 40 + [0.1] * 40)
    known = np.concatenate((np.arange(36), np.arange(40, 50)))
    many = train_and_rank(space(texts, evidence=against), known, (known < 40).astype(int), Recipe(presumed=0), 1, 1)
    assert many.rows[0] in range(36, 40)


def topic_with_runs(kind: str) -> Space:
    """60 relevant documents, which words tell apart with some errors, and runs that rank them first, last or anyhow."""
    random = np.random.default_rng(5)
    relevant = np.arange(600) < 60
    words = [f"w{i}" for i in range(40)]
    texts = [
        " ".join(random.choice(words[:30] if r else words[10:], 12))
        + (" wing" if random.random() < 0.5 + r / 3 else "")
        for r in relevant
    ]
    order = {"perfect": np.argsort(~relevant, kind="stable"), "worst": np.argsort(relevant, kind="stable")}.get(
        kind, random.permutation(600)
    )
    fusion = np.zeros(600)
    fusion[order] = 1 / (1 + np.arange(600))  # as steep as a fusion of many runs
    return space(texts, "wing", runs_say(fusion.tolist()))


def trust_after(kind: str, judged: np.ndarray) -> float:
    known = np.asarray(judged, dtype=np.int64)
    return train_and_rank(topic_with_runs(kind), known, (known < 60).astype(int), Recipe(), 3, 5).trust["runs"]


def test_trust_falls_with_runs_that_are_noise_and_stays_with_perfect_ones() -> None:
    judged = np.concatenate((np.arange(30), np.arange(60, 300)))
    perfect, noise, worst = (trust_after(kind, judged) for kind in ("perfect", "noise", "worst"))
    assert perfect > 0.9 * RUNS.after(30)
    assert noise < 0.75 * RUNS.after(30)
    assert worst == 0
    # Runs cost nothing once they are known to be wrong: the ranking is that of the text.
    here, grades = topic_with_runs("worst"), (judged < 60).astype(int)
    ranked = train_and_rank(here, judged, grades, Recipe(), 3, 50).rows
    assert ranked.tolist() == train_and_rank(here, judged, grades, Recipe(evidence="none"), 3, 50).rows.tolist()


def test_one_relevant_document_lowers_trust_if_the_runs_ranked_it_below_irrelevant_ones() -> None:
    irrelevant = np.arange(60, 90)
    first, last = (trust_after(kind, np.append(irrelevant, 0)) for kind in ("perfect", "worst"))
    assert last < RUNS.after(1) < first


def test_trust_is_measured_the_same_each_time_and_whatever_the_number_of_opinions() -> None:
    judged = np.concatenate((np.arange(6), np.arange(60, 100)))
    assert trust_after("noise", judged) == trust_after("noise", judged)
    twice = np.concatenate((judged, judged[:6]))
    assert trust_after("noise", twice) == pytest.approx(trust_after("noise", judged), abs=0.3)


def test_without_runs_there_is_no_trust_and_the_scores_are_those_of_the_text() -> None:
    here = space()
    ranking = train_and_rank(here, rows(0, 5), rows(1, 0), Recipe(topic=0), 1, 15)
    none = train_and_rank(here, rows(0, 5), rows(1, 0), Recipe(topic=0, evidence="none"), 1, 15)
    assert ranking.trust == none.trust == {}
    assert ranking.scores.tolist() == none.scores.tolist()


# Labels that lead

RELEVANT = np.arange(600) < 60


def labelled(labels: np.ndarray, runs: str | None = None, agreement: float = 1.0) -> Space:
    """A topic of 600 documents whose words tell little of the 60 relevant ones, with labels and perhaps runs."""
    random, words = np.random.default_rng(5), [f"w{i}" for i in range(40)]
    texts = [
        " ".join(random.choice(words[: 40 - 3 * r] if r else words[3:], 12))
        + (" wing" if random.random() < 0.3 + r / 3 else "")
        for r in RELEVANT
    ]
    evidence = topic_with_runs(runs).evidence if runs else None
    return replace(space(texts, "wing", evidence), labels=labels.astype(np.float32), agreement=agreement)


def judged_until(here: Space, seed: int = 1) -> tuple[int, float]:
    """Judgements until 9 of 10 relevant documents are found, and the last trust in the labels."""
    judged: list[int] = []
    trust = 0.0
    while RELEVANT[judged].sum() < 54:
        known = rows(*judged)
        ranking = train_and_rank(here, known, RELEVANT[known].astype(int), Recipe(), seed, 5)
        judged += ranking.rows.tolist()
        trust = ranking.trust.get("labels", 0.0)
    return len(judged), trust


@pytest.mark.parametrize("runs", [None, "noise"])
@pytest.mark.long
def test_good_labels_lead_and_random_ones_are_not_followed(runs: str | None) -> None:
    random = np.random.default_rng(4)
    good = np.where(random.random(600) < 0.85, RELEVANT, ~RELEVANT).astype(float)
    without = labelled(np.full(600, np.nan), runs)
    (usual, _), (led, trust), (misled, distrust) = map(
        judged_until, (without, labelled(good, runs), labelled(random.permutation(good), runs, UNDECIDED))
    )
    assert led < usual
    assert misled <= 1.02 * usual
    assert distrust < 0.5 < 1 < trust


def test_labels_that_do_not_agree_change_nothing() -> None:
    good = np.where(np.random.default_rng(4).random(600) < 0.85, RELEVANT, ~RELEVANT).astype(float)
    judged = np.concatenate((np.arange(5), np.arange(60, 80)))
    for some in (judged, judged[:0]):
        one, other = (
            train_and_rank(here, some, RELEVANT[some].astype(int), Recipe(), 1, 40)
            for here in (replace(labelled(good), labels=None), labelled(good, agreement=0.0))
        )
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()


def test_labels_that_are_all_the_same_or_missing_or_outside_change_nothing() -> None:
    known, judged = topic_with_runs("perfect"), np.concatenate((np.arange(5), np.arange(60, 80)))
    inside = np.arange(600) % 2 == 0
    outside = np.where(inside, np.nan, np.random.default_rng(1).random(600))
    for allowed, labels in (
        (known.allowed, np.full(600, 2 / 3)),
        (known.allowed, np.where(inside, 1 / 3, np.nan)),
        (known.allowed, np.full(600, np.nan)),
        (inside, outside),
    ):
        seen = judged[allowed[judged]]
        plain = Space(known.features, allowed, known.text, known.evidence)
        led = Space(known.features, allowed, known.text, known.evidence, labels.astype(np.float32), 1.0)
        for some in (seen, seen[:0]):
            one, other = (train_and_rank(s, some, RELEVANT[some].astype(int), Recipe(), 1, 40) for s in (plain, led))
            assert one.rows.tolist() == other.rows.tolist()
            assert one.trust.keys() == other.trust.keys()


def test_a_missing_label_counts_as_the_mean_of_the_topic() -> None:
    here = labelled(np.where(np.arange(600) < 300, np.arange(600) % 4 / 3, np.nan))
    assert here.label_prior[:4].tolist() == pytest.approx([-1 / 2, -1 / 6, 1 / 6, 1 / 2])
    assert (here.label_prior[300:] == 0).all()


def test_labels_are_merged_into_the_order_before_a_relevant_document_is_known() -> None:
    # Runs rank rows 60 and above best, but labels, which agree with BM25, know better.
    texts = ["wing"] * 10 + ["wing flow past a slab in a tunnel"] * 90
    labels = np.concatenate((np.ones(10), np.zeros(90))).astype(np.float32)
    features = build(texts)
    here = Space(features, np.ones(100, dtype=bool), "wing", None, labels, 1.0)
    assert set(train_and_rank(here, rows(), rows(), Recipe(), 1, 10).rows.tolist()) == set(range(10))
    against = Space(features, np.ones(100, dtype=bool), "wing", None, 1 - labels, 0.0)
    assert set(train_and_rank(against, rows(), rows(), Recipe(), 1, 10).rows.tolist()) == set(range(10))


def test_labels_tell_documents_without_words_apart() -> None:
    texts = ["wing flow", "wing tunnel", "heat slab", "hot slab", *[""] * 16]
    labels = np.array([1, 1, 0, 0, *[1, 0] * 8], dtype=np.float32)
    here = Space(build(texts), np.ones(20, dtype=bool), "wing", None, labels, 1.0)
    assert not here.blank.any()
    ranking = train_and_rank(here, rows(0, 2, 4, 5), rows(1, 0, 1, 0), Recipe(), 1, 20)
    without_words = [row for row in ranking.rows.tolist() if row >= 4]
    assert all(labels[row] == 1 for row in without_words[:7])


def test_columns_of_runs_and_labels_go_together() -> None:
    here = labelled(RELEVANT.astype(float), "perfect")
    judged = np.concatenate((np.arange(5), np.arange(60, 80)))
    ranking = train_and_rank(here, judged, RELEVANT[judged].astype(int), Recipe(evidence="columns"), 1, 30)
    assert set(ranking.trust) == {"labels"}
    assert RELEVANT[ranking.rows].mean() > 0.9


@pytest.mark.slow
def test_random_draws_do_not_depend_on_labels() -> None:
    """Labels change what is ranked; what is drawn stays uniform over the documents that are left, at 1 / their number.

    The labels of every second document are the highest, so a draw that followed them would prefer even rows.
    """
    texts = [f"wing {'flow' if row < 4 else 'slab'} word{row}" for row in range(24)]
    features, judged, grades = build(texts), rows(0, 1, 20), rows(1, 0, 0)
    labels = np.where(np.arange(24) % 2 == 0, 1.0, 0.0).astype(np.float32)
    left = np.ones(24, dtype=bool)
    left[judged] = False
    ledger, drawn = Ledger.of([1, 0, 0], 24), {"plain": np.zeros(24), "led": np.zeros(24)}
    for name, own in (("plain", None), ("led", labels)):
        here = Space(features, np.ones(24, dtype=bool), "wing", None, own, 1.0)
        ranking = train_and_rank(here, judged, grades, Recipe(), 1, 21)
        for seed in range(2000):
            first = next(c for c in build_queue(ranking, ledger, left, seed, share=1.0) if c.rank is None)
            assert first.probability == 1 / 21
            drawn[name][first.row] += 1
    # The same seed draws the same document, whatever leads the ranking.
    assert drawn["plain"].tolist() == drawn["led"].tolist()
    np.testing.assert_allclose(drawn["led"][left], 2000 / 21, atol=45)


def test_runs_as_columns_are_learned_from() -> None:
    say = runs_say([0.1 if row % 2 else 0.0 for row in range(15)])
    known = rows(1, 7, 13, 0, 6, 12)
    recipe = Recipe(evidence="columns", presumed=0, topic=0)
    ranking = train_and_rank(space(evidence=say), known, rows(1, 1, 1, 0, 0, 0), recipe, 1, 4)
    assert ranking.model is not None
    assert (ranking.model.weights[-3:] > 0).all()
    assert all(row % 2 for row in ranking.rows.tolist())


def test_grades_are_weights_or_a_threshold() -> None:
    known, grades = rows(0, 5, 10), rows(3, 1, 0)
    weak = train_and_rank(space(), known, grades, Recipe(level=2, presumed=0, topic=0), 1, 15)
    hard = train_and_rank(space(), known, grades, Recipe(level=2, presumed=0, topic=0, grades="threshold"), 1, 15)
    place = {name: ranking.rows.tolist().index(6) for name, ranking in (("weak", weak), ("hard", hard))}
    assert place["weak"] < place["hard"]  # heat has a grade of 1, which is something where grades weigh


def test_the_same_log_gives_the_same_ranking_and_another_seed_other_examples() -> None:
    here = space()
    one, same = (train_and_rank(here, rows(0, 5), rows(1, 0), Recipe(presumed=3), 7, 15) for _ in range(2))
    assert one.rows.tolist() == same.rows.tolist()
    assert one.scores.tolist() == same.scores.tolist()
    scores = {
        tuple(train_and_rank(here, rows(0, 5), rows(1, 0), Recipe(presumed=3), seed, 15).scores) for seed in range(5)
    }
    assert len(scores) > 1


def test_documents_without_a_word_come_when_they_promise_more() -> None:
    texts = ["wing flow"] * 5 + ["heat slab"] * 60 + ["", "?"]
    here = space(texts)
    assert np.flatnonzero(here.blank).tolist() == [65, 66]
    few = train_and_rank(here, np.arange(0, 10), np.array([1, 1] + [0] * 8), Recipe(presumed=0), 1, 57)
    assert few.rows[-2:].tolist() == [65, 66]
    # After fifty irrelevant documents with words in a row, those without are as good as their share.
    judged = np.arange(0, 56)
    many = train_and_rank(here, judged, np.array([1] * 5 + [0] * 51), Recipe(presumed=0), 1, 11)
    assert many.rows[:2].tolist() == [65, 66]
    # One of many blank documents judged irrelevant, again and again: the others have the turn.
    texts = ["wing flow"] * 5 + ["heat slab"] * 60 + [""] * 300
    here = space(texts)
    judged = np.concatenate((np.arange(0, 56), np.arange(65, 360)))
    late = train_and_rank(here, judged, np.array([1] * 6 + [0] * 345), Recipe(presumed=0), 1, 11)
    assert late.rows[0] >= 360  # none of the last fifty with words is relevant: no share is below that
    late = train_and_rank(
        here, np.concatenate((judged, [56])), np.array([1] * 6 + [0] * 345 + [1]), Recipe(presumed=0), 1, 11
    )
    assert late.rows[0] < 65


# What must not break it


@pytest.mark.parametrize("evidence", ["prior", "columns", "none"])
@pytest.mark.parametrize("learner", [entry.name for entry in LEARNERS])
@pytest.mark.parametrize(
    ("texts", "judged", "grades"),
    [
        pytest.param(TEXTS, [0, 1, 2], [0, 0, 0], id="nothing-relevant"),
        pytest.param(TEXTS, [14], [1], id="one-relevant-and-nothing-else"),
        pytest.param(TEXTS, list(range(14)), [1] * 13 + [0], id="90-percent-relevant"),
        pytest.param(TEXTS, list(range(15)), [1] * 15, id="everything-judged"),
        pytest.param(TEXTS, [0, 0, 1, 1], [1, 0, 0, 1], id="labels-that-contradict"),
        pytest.param(["", "", " ", "?", "wing"], [0, 1], [1, 0], id="empty-documents"),
        pytest.param(["wing"], [], [], id="one-document"),
        pytest.param(["wing"], [0], [1], id="one-document-judged"),
        pytest.param([None, None, "wing", "heat"], [2], [1], id="documents-without-a-text"),
        pytest.param(["same words"] * 6, [0, 1], [1, 0], id="all-the-same"),
    ],
)
@pytest.mark.long
def test_odd_topics(learner: str, evidence: str, texts: list[str | None], judged: list[int], grades: list[int]) -> None:
    for presumed in (0, 100):
        for say in (None, runs_say([0.0] * (len(texts) - 1) + [0.01])):
            here = space(texts, evidence=say)
            recipe = Recipe(learner, presumed=presumed, evidence=evidence)  # type: ignore[arg-type]
            known = np.array(judged, dtype=np.int64)
            ranking = train_and_rank(here, known, np.array(grades, dtype=np.int64), recipe, 1, 100)
            left = {row for row, text in enumerate(texts) if text is not None} - set(judged)
            assert set(ranking.rows.tolist()) == left
            assert np.isfinite(ranking.scores).all()


def test_what_nobody_could_grade_is_not_ranked() -> None:
    ranking = train_and_rank(space(), rows(0, 5), rows(1, 0), Recipe(), 1, 15, passed=rows(1, 2))
    assert {1, 2}.isdisjoint(ranking.rows.tolist())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learner": "smv"}, "did you mean 'svm'"),
        ({"evidence": "priors"}, "did you mean 'prior'"),
        ({"grades": "weight"}, "did you mean 'weights'"),
        ({"parameters": {"d": 1}}, "svm parameter"),
    ],
)
def test_a_recipe_explains_what_it_does_not_know(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        Recipe(**arguments)  # type: ignore[arg-type]


def test_a_recipe_refuses_senseless_numbers() -> None:
    with pytest.raises(InputError, match="level above 0"):
        Recipe(level=0)


@tries(60)
@given(st.data())
def test_nothing_that_is_judged_comes_again(data: st.DataObject) -> None:
    judged = data.draw(st.lists(st.integers(0, 14), unique=True))
    grades = data.draw(st.lists(st.integers(0, 3), min_size=len(judged), max_size=len(judged)))
    level = data.draw(st.integers(1, 3))
    known = np.array(judged, dtype=np.int64)
    ranking = train_and_rank(SPACE, known, np.array(grades, dtype=np.int64), Recipe(level=level), 1, 15)
    assert sorted([*ranking.rows.tolist(), *judged]) == list(range(15))
    assert (np.diff(ranking.scores) <= 0).all()


SPACE = space()


# The queue


def ranking_of(*order: int) -> Ranking:
    return Ranking(rows(*order), np.zeros(len(order), dtype=np.float32), None, "model")


def test_the_queue_is_the_ranking_until_it_runs_dry() -> None:
    left = np.ones(10, dtype=bool)
    made = build_queue(ranking_of(3, 1, 4), Ledger.of([], 10), left, 1)
    assert [c.row for c in made] == [3, 1, 4]
    assert [c.rank for c in made] == [1, 2, 3]
    assert all(c.probability is None for c in made)


def test_after_a_row_of_irrelevant_documents_it_is_drawn() -> None:
    left = np.arange(20) >= 5
    ledger = Ledger.of([1, 0, 0, 0, 0], 20)
    made = build_queue(ranking_of(*range(5, 12)), ledger, left, 1, run=6)
    # Four irrelevant ones were ranked: two more, then draws from the 13 that are left, then from 12.
    assert [c.rank for c in made[:2]] == [1, 2]
    assert all(c.rank is None for c in made[2:])
    assert [c.probability for c in made[2:4]] == [1 / 13, 1 / 12]
    assert len({c.row for c in made}) == len(made)
    assert all(c.rank is not None for c in build_queue(ranking_of(*range(5, 12)), ledger, left, 1, run=0))


def test_a_control_share_is_kept_from_the_beginning() -> None:
    made = build_queue(ranking_of(*range(40)), Ledger.of([], 100), np.ones(100, dtype=bool), 1, share=0.25)
    assert sum(c.rank is None for c in made) == 10


@pytest.mark.slow
def test_each_draw_is_uniform_over_what_is_left_when_its_turn_comes() -> None:
    left = np.arange(6) != 2
    ledger = Ledger.of([0], 6, drawn=[0])
    counts = np.zeros(6)
    for seed in range(3000):
        made = build_queue(ranking_of(0, 1, 3), ledger, left, seed, run=2)
        first = next(c for c in made if c.rank is None)
        counts[first.row] += 1
    # Row 0 is ranked first, row 2 is judged: the draw is among the four others.
    assert counts[[0, 2]].tolist() == [0, 0]
    np.testing.assert_allclose(counts[[1, 3, 4, 5]], 750, atol=90)


@pytest.mark.slow
def test_what_is_drawn_is_not_what_the_round_presumed() -> None:
    here = space([f"word{i} word{i % 7}" for i in range(400)] + ["wing flow"] * 2)
    judged, grades = rows(400, 0, 1), rows(1, 0, 0)
    left = np.ones(402, dtype=bool)
    left[judged] = False
    ledger = Ledger.of([1, 0, 0], 402, drawn=[0, 0, 0])
    shared = []
    for seed in range(40):
        ranking = train_and_rank(here, judged, grades, Recipe(presumed=60), seed, 60)
        presumed = np.random.default_rng(seed).choice(np.flatnonzero(left), 60, replace=False)
        drawn = {c.row for c in build_queue(ranking, ledger, left, seed, share=1.0) if c.rank is None}
        assert len(drawn) == 60
        shared.append(len(drawn & set(presumed.tolist())))
    assert np.mean(shared) == pytest.approx(60 * 60 / 399, abs=3)  # by chance, and no more


def test_embeddings_whose_values_cancel_out_are_not_blank() -> None:
    centred = np.random.default_rng(0).choice([-1.0, 1.0], size=(200, 8)).astype(np.float32)
    centred[7] = 0
    here = Space(FeatureMatrix.of(centred), np.ones(200, dtype=bool))
    assert np.flatnonzero(here.blank).tolist() == [7]


def test_several_opinions_of_one_document_are_one_document() -> None:
    say = runs_say([0.01] * 5 + [0.1] * 5 + [0.01] * 5)
    once = train_and_rank(space(evidence=say), rows(0, 5), rows(1, 0), Recipe(presumed=0), 1, 15)
    often = train_and_rank(
        space(evidence=say), rows(0, 0, 0, 0, 5, 5, 5, 5), rows(1, 1, 1, 1, 0, 0, 0, 0), Recipe(presumed=0), 1, 15
    )
    np.testing.assert_allclose(once.scores, often.scores, atol=0.35)
    assert once.rows.tolist()[:4] == often.rows.tolist()[:4]


@pytest.mark.parametrize("parameters", [{"c": -1}, {"ratio": 0}, {"c": float("nan")}, {"c": "1"}])
def test_a_recipe_refuses_parameters_that_no_learner_can_use(parameters: dict[str, object]) -> None:
    with pytest.raises(InputError, match="a number above 0"):
        Recipe(parameters=parameters)


def test_features_of_ready_matrices_will_do() -> None:
    random = np.random.default_rng(0)
    here = Space(FeatureMatrix.of(random.normal(size=(30, 4)).astype(np.float32)), np.ones(30, dtype=bool), "words")
    ranking = train_and_rank(here, rows(0, 1), rows(1, 0), Recipe(presumed=5), 1, 30)
    assert ranking.strategy == "model"
    assert len(ranking.rows) == 28
