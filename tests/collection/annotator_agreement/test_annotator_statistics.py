"""How annotators work: facts from logs that were made by hand."""

from datetime import UTC, datetime, timedelta
from itertools import product
from math import isnan
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection.annotator_agreement.annotator_statistics import (
    AnnotatorStatistics,
    compute_statistics,
    longest_streak,
    streak_probability,
)
from collection.campaign import Campaign
from collection.core.errors import ColumnsError
from collection.core.records import Judgement

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)


def log_of(annotator: str, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A log: `at` in minutes after nine, `doc`, `grade` (None: cannot judge), `seconds`, anything else as it is."""
    rows = []
    for n, entry in enumerate(entries):
        grade = entry.get("grade", 0)
        rows.append(
            {
                "uuid": f"{annotator}{n}",
                "annotator": annotator,
                "query_id": "1",
                "doc_id": entry.get("doc", f"d{n}"),
                "kind": entry.get("kind", "cannot judge" if grade is None else "graded"),
                "relevance": grade,
                "judged_at": (MORNING + timedelta(minutes=entry.get("at", n))).isoformat(timespec="milliseconds"),
                "seconds": entry.get("seconds", 10.0),
                "source": entry.get("source", "key"),
                "revises": entry.get("revises"),
                "counts_as": entry.get("counts_as", "judgement"),
                "away": entry.get("away"),
                "flagged": entry.get("flagged", False),
            }
        )
    return rows


def looked(*logs: list[dict[str, Any]]) -> AnnotatorStatistics:
    """Statistics where the last row of each annotator on each pair stands, unless it was taken back."""
    log = pd.DataFrame([row for rows in logs for row in rows]).astype({"relevance": "Int64"})
    log = log.sort_values("judged_at", kind="stable").reset_index(drop=True)
    last = log.drop_duplicates(["annotator", "query_id", "doc_id", "counts_as"], keep="last")
    return compute_statistics(log, last[(last["kind"] != "undone") & (last["counts_as"] != "surplus")])


def of(conduct: AnnotatorStatistics, annotator: str) -> dict[str, Any]:
    facts = conduct.facts.set_index("annotator")
    return facts.loc[annotator].to_dict()


def graded(annotator: str, grades: list[int | None], **more: Any) -> list[dict[str, Any]]:
    return log_of(annotator, [{"grade": g, **more} for g in grades])


# --- facts ---------------------------------------------------------------------------------------------


def test_sessions_end_with_a_pause_and_hours_count_from_the_first_document() -> None:
    """9:00 (12 s on screen) to 9:29, 9:59 (a pause of just 30 minutes), then 11:00 to 11:30, then the next day."""
    at = [0, 29, 59, 120, 150, 24 * 60]
    ann = of(looked(log_of("ann", [{"at": a, "seconds": 12.0} for a in at])), "ann")
    assert ann["sessions"] == 3
    assert ann["hours"] == pytest.approx((59 + 30) / 60 + 3 * 12 / 3600)
    assert ann["per_hour"] == pytest.approx(6 / ann["hours"])
    assert ann["days"] == 2
    assert ann["per_day"] == 3


def test_seconds_have_quartiles_and_only_where_there_are_seconds() -> None:
    seconds = [0.4, 1.0, 2.0, 3.0, 10.0, None]
    ann = of(looked(log_of("ann", [{"seconds": s} for s in seconds])), "ann")
    assert (ann["timed"], ann["quick"]) == (5, 1)  # 1.0 is not under a second
    assert [ann["seconds_low"], ann["seconds"], ann["seconds_high"]] == [1, 2, 3]


def test_time_away_is_apart_and_flags_are_those_that_stand() -> None:
    """Hours at work and away add up what there is; the pace is that of the seconds at work."""
    entries = [
        {"doc": "a", "seconds": 30.0, "away": 600.0, "flagged": True},
        {"doc": "b", "seconds": 10.0, "away": None, "flagged": True},
        {"doc": "b", "seconds": 20.0, "away": 12.0, "revises": "ann1"},
        {"doc": "c", "seconds": None, "away": None},
    ]
    ann = of(looked(log_of("ann", entries)), "ann")
    assert (ann["active"], ann["away"]) == pytest.approx((60 / 3600, 612 / 3600))
    assert ann["seconds"] == 20
    assert ann["flagged"] == 1  # b was judged again, without a flag


def test_grades_rows_revisions_and_what_was_taken_back() -> None:
    entries = [
        {"doc": "a", "grade": 1},
        {"doc": "b", "grade": 0},
        {"doc": "c", "grade": 0},
        {"doc": "a", "grade": 0, "revises": "ann0"},
        {"doc": "d", "grade": None},
        {"doc": "e", "grade": 2},
        {"doc": "e", "grade": None, "kind": "undone", "revises": "ann5"},
        {"doc": "f", "grade": 3},
    ]
    ann = of(looked(log_of("ann", entries)), "ann")
    assert ann["judgements"] == 5  # a b c d f
    assert ann["grades"] == "0: 3, 3: 1"
    assert (ann["top_grade"], ann["top_share"]) == (0, 0.75)
    assert (ann["row"], ann["row_grade"]) == (3, 0)  # b, c, and a again
    assert (ann["cannot_judge"], ann["revised"], ann["undone"]) == (1, 1, 1)


@pytest.mark.slow
def test_beside_the_others_by_hand() -> None:
    """Three on a, two on b, one on c: ann meets four words of others, and two of them are hers."""
    conduct = looked(
        log_of("ann", [{"doc": "a", "grade": 2}, {"doc": "b", "grade": 1}, {"doc": "c", "grade": 3}]),
        log_of("bob", [{"doc": "a", "grade": 2}, {"doc": "b", "grade": 0}]),
        log_of("cat", [{"doc": "a", "grade": 0}]),
    )
    ann, bob, cat = (of(conduct, name) for name in ("ann", "bob", "cat"))
    assert (ann["shared"], bob["shared"], cat["shared"]) == (2, 2, 1)
    assert ann["agreement"] == pytest.approx(1 / 3)
    assert cat["agreement"] == 0
    assert ann["higher"] == pytest.approx(((2 - 1) + (1 - 0)) / 2)
    assert bob["higher"] == pytest.approx(((2 - 1) + (0 - 1)) / 2)
    assert cat["higher"] == -2


def test_nobody_shares_a_pair() -> None:
    conduct = looked(graded("ann", [1, 0]), log_of("bob", [{"doc": "z", "grade": 1}]))
    ann = of(conduct, "ann")
    assert ann["shared"] == 0
    assert isnan(ann["agreement"])
    assert isnan(ann["higher"])
    assert conduct.remarks == {}


def test_adjudications_are_another_kind_of_work_and_surplus_is_the_same() -> None:
    entries = [{"doc": "a"}, {"doc": "a", "counts_as": "adjudication"}, {"doc": "b", "counts_as": "surplus"}]
    conduct = looked(log_of("ann", entries), log_of("eve", [{"doc": "a", "counts_as": "adjudication"}]))
    ann = of(conduct, "ann")
    assert conduct.facts["annotator"].tolist() == ["ann"]
    assert (ann["judgements"], ann["timed"]) == (1, 2)


def test_days_and_times_are_what_charts_need() -> None:
    conduct = looked(log_of("ann", [{"at": 0}, {"at": 5}, {"at": 24 * 60, "seconds": None}]))
    assert conduct.days["judgements"].tolist() == [2, 1]
    assert conduct.times["seconds"].tolist() == [10, 10]
    assert conduct.times["judged_at"].is_monotonic_increasing


def test_an_empty_log_says_nothing() -> None:
    log = pd.DataFrame(log_of("ann", [{}])).iloc[:0]
    conduct = compute_statistics(log, log)
    assert conduct.facts.empty
    assert conduct.remarks == {}
    assert conduct.times.empty
    assert conduct.days.empty
    with pytest.raises(ColumnsError, match="seconds"):
        compute_statistics(log.drop(columns="seconds"), log)


# --- rows of one grade ---------------------------------------------------------------------------------


@given(st.integers(4, 8), st.integers(1, 4), st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]))
def test_the_chance_of_a_row_is_bounded_by_the_expected_number_of_rows(among: int, row: int, share: float) -> None:
    """All sequences are gone through, with the number of rows in each."""
    chance = expected = 0.0
    for sequence in product([0, 1], repeat=among):
        rows = [len(run) for run in "".join(map(str, sequence)).split("0") if len(run) >= row]
        probability = share ** sum(sequence) * (1 - share) ** (among - sum(sequence))
        chance += probability * bool(rows)
        expected += probability * len(rows)
    bound = streak_probability(row, among, share)
    assert bound >= chance - 1e-12
    assert bound == pytest.approx(min(expected, 1), abs=1e-12)


@given(st.lists(st.integers(-1, 2), max_size=30))
def test_the_longest_row_is_there_and_no_longer_one_is(grades: list[int]) -> None:
    length, grade = longest_streak(grades)
    text = "".join("abcd"[g + 1] for g in grades)
    assert all("bcd"[g] * (length + 1) not in text for g in range(3))
    assert grade is None or "bcd"[grade] * length in text


# --- remarks -------------------------------------------------------------------------------------------

MIXED = [0, 1, 2, 3, 1, 0, 2, 1, 3, 0] * 4


def remarks(conduct: AnnotatorStatistics, annotator: str, word: str) -> list[str]:
    return [said for said in conduct.remarks.get(annotator, []) if word in said]


@pytest.mark.slow
def test_ordinary_work_is_not_remarked() -> None:
    assert looked(graded("ann", MIXED), graded("bob", MIXED)).remarks == {}


def test_many_answers_in_under_a_second() -> None:
    seconds = [0.5] * 4 + [12.0] * 36
    conduct = looked(log_of("ann", [{"grade": g, "seconds": s} for g, s in zip(MIXED, seconds, strict=True)]))
    assert conduct.remarks["ann"] == ["4 of 40 judgements took less than 1 second."]
    seconds[0] = 12.0  # 3 of 40 are less than one in ten
    conduct = looked(log_of("ann", [{"grade": g, "seconds": s} for g, s in zip(MIXED, seconds, strict=True)]))
    assert conduct.remarks == {}


@pytest.mark.slow
def test_much_faster_than_the_others() -> None:
    conduct = looked(
        graded("ann", MIXED, seconds=2.0), graded("bob", MIXED, seconds=9.0), graded("cat", MIXED, seconds=11.0)
    )
    assert conduct.remarks == {"ann": ["Median of 2.0 s per judgement; other annotators: 9.0 to 11.0 s."]}
    assert looked(graded("ann", MIXED, seconds=2.5), graded("bob", MIXED, seconds=10.0)).remarks == {}


@pytest.mark.slow
def test_always_the_same_grade_beside_what_others_gave_to_the_same_pairs() -> None:
    conduct = looked(graded("ann", [0] * 40), graded("bob", MIXED))
    assert remarks(conduct, "ann", "Grade 0 in 40 of 40 judgements.") == [
        "Grade 0 in 40 of 40 judgements. On 40 common pairs: 100%; the others: 30%."
    ]
    assert looked(graded("ann", [0] * 40), graded("bob", [0] * 40)).remarks == {}  # the documents are like that


def test_a_long_row_says_how_rare_it_is() -> None:
    """Twenty ones and twenty zeros, one after the other: twenty of a kind in forty throws of a coin."""
    conduct = looked(graded("ann", [1] * 20 + [0] * 20))
    chance = streak_probability(20, 40, 0.5)
    assert len(conduct.remarks["ann"]) == 1
    assert conduct.remarks["ann"][0].startswith(
        f"Grade 1 was given 20 times in a row: by chance, one in {round(1 / chance):,} annotators with 40 grades "
    )
    assert looked(graded("ann", [1, 0] * 20)).remarks == {}


@pytest.mark.slow
def test_far_from_what_the_others_agree_on_and_stricter() -> None:
    lenient = [min(g + 1, 3) for g in MIXED]
    conduct = looked(graded("ann", lenient), graded("bob", MIXED), graded("cat", MIXED))
    assert set(conduct.remarks) == {"ann", "bob", "cat"}
    assert remarks(conduct, "ann", "Observed agreement") == [
        "Observed agreement with the other annotators: 20% on 40 common pairs; among the others: 100%."
    ]
    assert remarks(conduct, "ann", "on average") == [
        "Grades are 0.80 higher than the others' on average, on 40 common pairs."
    ]
    assert remarks(conduct, "bob", "comparisons") == []
    assert remarks(conduct, "bob", "on average") == [
        "Grades are 0.40 lower than the others' on average, on 40 common pairs."
    ]
    assert conduct.differences == []


@pytest.mark.slow
def test_of_two_annotators_neither_is_unusual() -> None:
    lenient, only_ann = graded("ann", [min(g + 1, 3) for g in MIXED]), graded("cat", MIXED[:10])
    conduct = looked(lenient, graded("bob", MIXED))
    assert conduct.remarks == {}
    assert conduct.differences == ["ann's grades are 0.80 higher than bob's on average, on 40 common pairs."]
    assert looked(lenient, only_ann).differences == []  # ten common pairs are too few


def test_cannot_judge_often() -> None:
    conduct = looked(graded("ann", [*MIXED[:32], *[None] * 8]))
    assert conduct.remarks["ann"] == ['"Cannot judge" for 8 of 40 pairs.']


def test_below_twenty_judgements_nothing_is_remarked() -> None:
    few = graded("ann", [0] * 19, seconds=0.1)
    assert looked(few, graded("bob", MIXED)).remarks == {}


def test_imported_judgements_have_no_times_and_no_order() -> None:
    conduct = looked(graded("qrels:x", [1] * 20 + [0] * 20, source="imported", seconds=None), graded("bob", MIXED))
    imported = of(conduct, "qrels:x")
    assert imported["judgements"] == 40
    assert imported["sessions"] == imported["hours"] == imported["timed"] == 0
    assert isnan(imported["per_hour"])
    assert isnan(imported["last_at"])  # the log has the time of the import only
    assert "qrels:x" not in set(conduct.days["annotator"])
    assert not [said for said in conduct.remarks.get("qrels:x", []) if "row" in said or "second" in said]


@pytest.mark.slow
def test_imported_grades_do_not_count_in_a_row_beside_own_ones() -> None:
    """Sixty zeros and sixty ones from a file, and one judgement of ann's own: the file's order is nobody's habit."""
    file = graded("ann", [0] * 60 + [1] * 60, source="imported", seconds=None)
    own = log_of("ann", [{"grade": 1, "at": 200, "doc": "own"}])
    facts = of(looked(file, own), "ann")
    assert (facts["graded"], facts["said"], facts["row"], facts["row_grade"]) == (121, 1, 1, 1)
    assert remarks(looked(file, own), "ann", "in a row") == []
    alone = of(looked(file, graded("bob", MIXED)), "ann")
    assert (alone["said"], alone["row"]) == (0, 0)
    more = log_of("ann", [{"grade": int(n < 20), "at": 200 + n, "doc": f"own{n}"} for n in range(40)])
    assert " annotators with 40 grades (50% of them 1) " in remarks(looked(file, more), "ann", "in a row")[0]


def test_a_campaign_looks_at_its_own_log(campaign: Campaign) -> None:
    def say(uuid: str, who: str, doc_id: str, grade: int | None, **more: Any) -> None:
        kind = "graded" if grade is not None else "undone"
        assert campaign.judging.judge_many([Judgement(uuid, who, "1", doc_id, kind, grade, **more)]).saved

    say("1", "ann", "d1", 2, seconds=3.0)
    say("2", "ann", "d1", 1, seconds=5.0)
    say("3", "bob", "d1", 1)
    say("4", "bob", "d2", 1)
    say("5", "bob", "d2", None)
    say("6", "eve", "d1", 0, counts_as="adjudication")
    conduct = campaign.results.agreement.annotator_statistics()
    assert conduct.facts["annotator"].tolist() == ["ann", "bob"]
    ann, bob = of(conduct, "ann"), of(conduct, "bob")
    assert (ann["judgements"], ann["revised"], ann["seconds"], ann["agreement"]) == (1, 1, 4, 1)
    assert (bob["judgements"], bob["undone"], bob["timed"]) == (1, 1, 0)
