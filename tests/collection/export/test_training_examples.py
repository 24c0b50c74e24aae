"""Training data: what may be a negative, how it is drawn, and the files with ids and with texts."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import Campaign, Judgement, formats
from collection.core.errors import CampaignError, ColumnsError, InputError, UnknownNameError
from collection.core.records import Choice, Document, GradeScale
from collection.export import training_examples
from collection.export.training_examples import NEGATIVES, examples
from tests.conftest import frame
from tests.helpers import fails, ok, run, tries

DOCS = [f"d{i}" for i in range(12)]


def triples(made: training_examples.Examples) -> list[tuple[str, str, str]]:
    return list(made.frame[["query_id", "positive_id", "negative_id"]].itertuples(index=False, name=None))


def negatives_of(made: training_examples.Examples) -> set[str]:
    return set(made.frame["negative_id"])


# --- rules ------------------------------------------------------------------------------------------

QRELS = frame("1 good 2\n1 fair 1\n1 bad 0\n1 worse 0\n2 other 0\n3 lone 1", "query_id", "doc_id", "relevance")
RANKED = frame("1 new 1\n1 bad 2\n1 good 3\n1 deep 4\n1 worse 5\n3 far 1", "query_id", "doc_id", "rank")
COLLECTION = ["good", "fair", "bad", "worse", "other", "lone", "new", "deep", "far"]


@pytest.mark.parametrize(
    ("rule", "parameters", "wanted"),
    [
        ("judged", {}, {"bad", "worse"}),
        ("hard", {}, {"bad", "worse"}),
        ("hard", {"last": 4}, {"bad"}),
        ("hard", {"first": 3, "last": 4}, set()),
        ("unjudged-hard", {"last": 4}, {"new", "bad", "deep"}),
        ("unjudged-hard", {"first": 4, "last": 5}, {"deep", "worse"}),
        ("unjudged-random", {}, {"bad", "worse", "other", "lone", "new", "deep", "far"}),
    ],
)
def test_what_each_rule_takes(rule: str, parameters: dict[str, int], wanted: set[str]) -> None:
    made = examples(QRELS, rule=rule, parameters=parameters, ranked=RANKED, documents=COLLECTION, negatives=20)
    of_first = made.frame[made.frame["query_id"] == "1"]
    assert set(of_first["negative_id"]) == wanted
    assert set(of_first["positive_id"]) == ({"good", "fair"} if wanted else set())
    said = of_first.set_index("negative_id")["judged"].to_dict()
    assert said == {doc_id: doc_id in {"bad", "worse"} for doc_id in wanted}
    assert of_first.loc[~of_first["judged"], "negative_relevance"].isna().all()
    assert (made.counts["negatives_unjudged"] > 0) == rule.startswith("unjudged")


def test_every_rule_describes_itself() -> None:
    for rule in NEGATIVES:
        assert rule.label
        assert rule.description.endswith(".")
        assert rule.function.__doc__


def test_no_rule_takes_unjudged_documents_unless_it_is_called_so() -> None:
    for rule in NEGATIVES:
        made = examples(QRELS, rule=rule.name, ranked=RANKED, documents=COLLECTION, negatives=20)
        assert made.frame["judged"].all() != training_examples.takes_unjudged(rule.name)
    assert next(iter(NEGATIVES)).name == "judged"


def test_the_level_and_the_margin() -> None:
    qrels = frame("1 a 3\n1 b 2\n1 c 1\n1 d 0", "query_id", "doc_id", "relevance")
    found = {t[1:] for t in triples(examples(qrels, level=2, negatives=9))}
    assert found == {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")}
    found = {t[1:] for t in triples(examples(qrels, level=1, margin=1, negatives=9))}
    assert found == {("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")}
    found = {t[1:] for t in triples(examples(qrels, level=1, margin=2, negatives=9))}
    assert found == {("a", "c"), ("a", "d"), ("b", "d")}


def test_whoever_marked_it_relevant_it_is_no_negative() -> None:
    marked = frame("1 bad 0\n1 bad 1\n1 worse 0", "query_id", "doc_id", "relevance")
    assert negatives_of(examples(QRELS, marked=marked, negatives=9)) == {"worse"}
    # Beside a perfect document it can stand as the less relevant one.
    assert ("1", "good", "bad") in triples(examples(QRELS, marked=marked, margin=1, negatives=9))
    assert ("1", "fair", "bad") not in triples(examples(QRELS, marked=marked, margin=1, negatives=9))


def test_left_out_pairs_and_near_duplicates() -> None:
    excluded = frame("1 fair\n1 bad\n2 worse", "query_id", "doc_id")
    assert triples(examples(QRELS, excluded=excluded, negatives=9)) == [("1", "good", "worse")]
    near = {"bad": 0, "good": 0, "worse": 1, "other": 1}
    assert negatives_of(examples(QRELS, near=near, negatives=9)) == {"worse"}
    assert negatives_of(examples(QRELS, usable=lambda d: d != "bad", negatives=9)) == {"worse"}


def test_counts_add_up() -> None:
    made = examples(QRELS, negatives=3)
    assert made.counts == {
        "topics": 3, "topics_used": 1, "positives": 3, "positives_drawn": 3, "positives_short": 3,
        "topics_short": 2, "positives_used": 2, "negatives": 2, "negatives_unjudged": 0, "examples": 4,
    }  # fmt: skip
    assert examples(QRELS, negatives=3, whole=True).frame.empty
    assert examples(QRELS, negatives=2, whole=True).counts["examples"] == 4


# --- draws ------------------------------------------------------------------------------------------

pairs = st.tuples(st.sampled_from(["1", "2", "3"]), st.sampled_from(DOCS))
tables = st.dictionaries(pairs, st.integers(-1, 3), max_size=30)


def qrels_of(table: dict[tuple[str, str], int]) -> pd.DataFrame:
    rows = [(*pair, grade) for pair, grade in table.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


@tries(60)
@given(
    table=tables,
    said=tables,
    out=st.sets(pairs, max_size=6),
    rule=st.sampled_from([entry.name for entry in NEGATIVES]),
    margin=st.sampled_from([None, 1, 2]),
    level=st.integers(1, 3),
    negatives=st.integers(1, 4),
    per_topic=st.sampled_from([None, 1, 3]),
    whole=st.booleans(),
    groups=st.dictionaries(st.sampled_from(DOCS), st.integers(0, 2)),
    seed=st.integers(0, 5),
)
@pytest.mark.slow
def test_what_holds_of_all_examples(
    table: dict[tuple[str, str], int], said: dict[tuple[str, str], int], out: set[tuple[str, str]], rule: str,
    margin: int | None, level: int, negatives: int, per_topic: int | None, whole: bool,
    groups: dict[str, int], seed: int,
) -> None:  # fmt: skip
    qrels = qrels_of(table)
    ranks = [(q, d, r) for q in "123" for r, d in enumerate(DOCS[:8], start=1)]
    how = {
        "rule": rule, "documents": DOCS, "marked": qrels_of(said), "near": groups, "level": level, "margin": margin,
        "excluded": pd.DataFrame(sorted(out), columns=["query_id", "doc_id"]), "negatives": negatives, "whole": whole,
        "per_topic": per_topic, "seed": seed, "parameters": {"first": 2, "last": 6} if "hard" in rule else {},
        "ranked": pd.DataFrame(ranks, columns=["query_id", "doc_id", "rank"]),
    }  # fmt: skip
    made = examples(qrels, **how)  # type: ignore[arg-type]
    positives = {pair for pair, grade in table.items() if grade >= level}
    for query_id, positive, grade, negative, other, judged in made.frame.itertuples(index=False):
        pair = (query_id, negative)
        assert table[query_id, positive] == grade >= level
        assert {pair, (query_id, positive)}.isdisjoint(out)
        highest = max(table.get(pair, -9), said.get(pair, -9))
        assert highest < level if margin is None else highest <= grade - margin
        assert judged == (table.get(pair, -1) >= 0) == (other == other)
        assert judged or rule.startswith("unjudged")
        assert negative not in groups or all(
            groups[negative] != groups.get(d) for q, d in positives if q == query_id and d in groups
        )
        if "hard" in rule:
            assert negative in DOCS[1:6]
    of_positive = made.frame.groupby(["query_id", "positive_id"])["negative_id"].agg(["size", "nunique"])
    assert (of_positive["size"] == of_positive["nunique"]).all()
    assert (of_positive["size"] == negatives).all() if whole else (of_positive["size"] <= negatives).all()
    if per_topic is not None:
        assert (of_positive.groupby(level=0).size() <= per_topic).all()
    if margin is None:  # every candidate is used as often as any other, or once less or more
        used = made.frame.groupby("query_id")["negative_id"].value_counts().groupby(level=0)
        assert ((used.max() - used.min()) <= 1).all()
    # The order of rows says nothing, and a topic's examples do not depend on other topics.
    shuffled = qrels.sample(frac=1, random_state=seed) if len(qrels) else qrels
    again = examples(shuffled, **how)  # type: ignore[arg-type]
    assert sorted(triples(again)) == sorted(triples(made))
    alone = examples(qrels[qrels["query_id"] == "2"], **how)  # type: ignore[arg-type]
    assert triples(alone) == [t for t in triples(made) if t[0] == "2"]


def test_the_draw_is_the_same_on_every_machine() -> None:
    """Python promises the sequence of random() for a text; these rows were written down once."""
    qrels = qrels_of({("1", d): int(i < 3) for i, d in enumerate(DOCS)})
    assert [t[1:] for t in triples(examples(qrels, negatives=2, seed=7))] == SEEDED
    assert [t[1:] for t in triples(examples(qrels, negatives=2, seed=8))] != SEEDED


SEEDED = [("d0", "d4"), ("d0", "d10"), ("d1", "d8"), ("d1", "d7"), ("d2", "d11"), ("d2", "d6")]


def test_every_candidate_is_drawn_as_often_as_any_other() -> None:
    draws = [training_examples._drawn(DOCS, 3, Random(f"{seed}\t1")) for seed in range(2400)]
    counts = pd.Series([drawn[2] for drawn in draws]).value_counts().reindex(DOCS, fill_value=0)
    assert all(len(set(drawn)) == 3 for drawn in draws)
    # Chi-square of 12 cells with 200 each: 31.3 is passed by chance once in a thousand.
    assert ((counts - 200) ** 2 / 200).sum() < 31.3


def test_a_large_collection_costs_what_is_drawn_from_it() -> None:
    class Ids(Sequence):  # type: ignore[type-arg]
        looked = 0

        def __len__(self) -> int:
            return 50_000_000

        def __getitem__(self, place: object) -> str:
            self.looked += 1
            return f"n{place}"

    ids = Ids()
    made = examples(QRELS, rule="unjudged-random", documents=ids, negatives=100)
    assert made.counts["examples"] == 300
    assert ids.looked < 1000


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"level": 0}, "level of positives: expected a grade above 0, found 0"),
        ({"margin": 0}, "margin between positive and negative: expected a number above 0"),
        ({"negatives": 0}, "at least 1 negative"),
        ({"per_topic": 0}, "at least 1 negative and 1 positive"),
        (
            {"rule": "hard", "parameters": {"first": 5, "last": 4}},
            "ranks: expected a first rank of 1 or more .* found 5 to 4",
        ),
        ({"rule": "hard", "parameters": {"first": 0}}, "found 0 to 100"),
    ],
)
def test_numbers_out_of_range(how: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        examples(QRELS, **how)  # type: ignore[arg-type]


def test_names_and_frames_that_are_wrong() -> None:
    with pytest.raises(UnknownNameError, match="unknown rule for negatives 'hrad'; did you mean 'hard'"):
        examples(QRELS, rule="hrad")
    with pytest.raises(UnknownNameError, match="unknown judged parameter 'first'"):
        examples(QRELS, parameters={"first": 1})
    with pytest.raises(ColumnsError, match="relevance"):
        examples(QRELS.drop(columns="relevance"))
    with pytest.raises(InputError, match=r"each pair once, found \['1', 'good'\] twice"):
        examples(pd.concat([QRELS, QRELS.head(1)]))
    with pytest.raises(InputError, match="ranks for training data: expected each pair once"):
        examples(QRELS, rule="hard", ranked=pd.concat([RANKED, RANKED]))


# --- files ------------------------------------------------------------------------------------------


@pytest.fixture
def made() -> pd.DataFrame:
    rows = [("1", "a", 2.0, "x", 0.0, True), ("1", "a", 2.0, "y", np.nan, False), ("2", "b", 1.5, "x", 0.0, True)]
    return pd.DataFrame(rows, columns=list(training_examples.COLUMNS))


def test_ids_in_columns(tmp_path: Path, made: pd.DataFrame) -> None:
    path = tmp_path / "t.tsv"
    assert formats.write_training(made, path) == 3
    assert path.read_text() == "query_id\tpositive_id\tnegative_id\n1\ta\tx\n1\ta\ty\n2\tb\tx\n"
    formats.write_training(made, path, flagged=True)
    assert path.read_text().splitlines()[2] == "1\ta\ty\tfalse"
    assert formats.write_training(made, path, tuples=True, flagged=True) == 2
    assert path.read_text() == "query_id\tpositive_id\tnegative_ids\tjudged\n1\ta\tx y\ttrue false\n2\tb\tx\ttrue\n"


def test_texts_in_json_lines_are_fetched_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collection.formats.training_examples.BATCH", 4)
    rows = [(str(i), f"p{i}", 1.0, f"n{i}", 0.0, True) for i in range(10)]
    asked: list[list[str]] = []

    def fetch(doc_ids: Sequence[str]) -> dict[str, Document]:
        asked.append(list(doc_ids))
        return {d: Document(d, f"Title {d}", f"Text\t\u2028 of {d}\n") for d in doc_ids}

    path = tmp_path / "t.jsonl.gz"
    queries = {str(i): f"query {i}" for i in range(10)}
    frame_of = pd.DataFrame(rows, columns=list(training_examples.COLUMNS))
    assert formats.write_training(frame_of, path, queries=queries, documents=fetch) == 10
    assert list(map(len, asked)) == [8, 8, 4]
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        read = [json.loads(line) for line in file]
    assert read[3] == {
        "query_id": "3",
        "query": "query 3",
        "positive": {"doc_id": "p3", "title": "Title p3", "text": "Text\t\u2028 of p3\n", "relevance": 1},
        "negatives": [
            {"doc_id": "n3", "title": "Title n3", "text": "Text\t\u2028 of n3\n", "relevance": 0, "judged": True}
        ],
    }


def test_tuples_with_texts_say_what_was_not_judged(tmp_path: Path, made: pd.DataFrame) -> None:
    path = tmp_path / "t.jsonl"
    documents = {d: Document(d, "", d.upper()) for d in "abxy"}
    formats.write_training(made, path, tuples=True, queries={"1": "q", "2": "r"}, documents=lambda ids: documents)
    first, second = map(json.loads, path.read_text().splitlines())
    assert [(n["doc_id"], n["judged"], n["relevance"]) for n in first["negatives"]] == [
        ("x", True, 0),
        ("y", False, None),
    ]
    assert second["positive"]["relevance"] == 1.5


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, made: pd.DataFrame) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("old")
    with pytest.raises(InputError, match="expected a text for document 'a', found none"):
        formats.write_training(made, path, queries={"1": "q", "2": "r"})
    with pytest.raises(InputError, match="expected a text for topic '1'"):
        formats.write_training(made, path)
    assert path.read_text() == "old"
    with pytest.raises(InputError, match=r"ends in \.tsv or \.jsonl for training data"):
        formats.write_training(made, tmp_path / "t.csv")
    with pytest.raises(InputError, match="white space"):
        formats.write_training(made.assign(negative_id="a b"), tmp_path / "t.tsv")
    with pytest.raises(ColumnsError, match="judged"):
        formats.write_training(made.drop(columns="judged"), tmp_path / "t.tsv")


# --- in a campaign ----------------------------------------------------------------------------------


def say(campaign: Campaign, annotator: str, query_id: str, doc_id: str, grade: int | None, **more: object) -> None:
    kind = "cannot judge" if grade is None else "graded"
    reason = None if grade is not None else "unreadable"
    judgement = Judgement(str(uuid4()), annotator, query_id, doc_id, kind, relevance=grade, reason=reason, **more)  # type: ignore[arg-type]
    result = campaign.judging.judge_many([judgement])
    assert not result.refused, result.refused


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """Topic 1: d1 relevant, d2 and d6 not, d3 unjudged. Topic 2: d4 relevant, d5 unclear, d7 not."""
    for query_id, doc_id, grade in [("1", "d1", 3), ("1", "d2", 0), ("1", "d6", 0), ("2", "d4", 1), ("2", "d7", 0)]:
        say(campaign, "ann", query_id, doc_id, grade)
    say(campaign, "ann", "2", "d5", None)
    return campaign


@pytest.mark.slow
def test_negatives_of_a_campaign(judged: Campaign) -> None:
    found = triples(judged.exports.training_data.examples(count=9))
    assert sorted(found) == [("1", "d1", "d2"), ("1", "d1", "d6"), ("2", "d4", "d7")]
    # Fusion of topic 1: d2 (ranks 2 and 1), d1, d6, d3; of topic 2: d4, d5, d7. Nobody could judge d5, or judged d3.
    assert set(triples(judged.exports.training_data.examples("hard", count=9, ranks=(1, 2)))) == {
        ("1", "d1", "d2"),
    }
    unjudged = judged.exports.training_data.examples("unjudged-hard", count=9)
    assert set(triples(unjudged)) == {("1", "d1", "d2"), ("1", "d1", "d6"), ("1", "d1", "d3"), ("2", "d4", "d7")}
    assert unjudged.frame.set_index("negative_id")["judged"].to_dict() == {
        "d2": True,
        "d6": True,
        "d3": False,
        "d7": True,
    }
    assert negatives_of(
        judged.exports.training_data.examples("unjudged-hard", count=9, ranks=(3, 3), ranks_of="any")
    ) == {"d3"}
    everywhere = judged.exports.training_data.examples("unjudged-random", count=9)
    assert set(everywhere.frame.query("query_id == '2'")["negative_id"]) == {"d1", "d2", "d3", "d6", "d7", "d8"}


def test_a_grade_that_was_voted_down_still_bars(judged: Campaign) -> None:
    judged.people.assignments.update(annotators=3)
    say(judged, "ben", "1", "d2", 2)
    say(judged, "cid", "1", "d2", 0)
    assert judged.results.qrels.build("majority").set_index(["query_id", "doc_id"])["relevance"]["1", "d2"] == 0
    assert negatives_of(judged.exports.training_data.examples(count=9, rule="majority")) == {"d6", "d7"}


def test_a_judgement_that_came_too_late_still_bars(judged: Campaign) -> None:
    say(judged, "ben", "1", "d2", 2, counts_as="surplus")
    assert judged.results.qrels.build().set_index(["query_id", "doc_id"])["relevance"]["1", "d2"] == 0
    assert negatives_of(judged.exports.training_data.examples(count=9)) == {"d6", "d7"}


@pytest.mark.slow
def test_a_pair_that_somebody_too_late_could_not_judge_is_in_no_example(judged: Campaign) -> None:
    before = negatives_of(judged.exports.training_data.examples(count=9))
    say(judged, "ben", "1", "d2", None, counts_as="surplus")
    assert negatives_of(judged.exports.training_data.examples(count=9)) == before - {"d2"} != before


@pytest.mark.slow
def test_the_level_is_that_of_the_loop_unless_one_is_given(judged: Campaign) -> None:
    judged.settings.set_loop(level=2)
    assert set(judged.exports.training_data.examples(count=9).frame["positive_id"]) == {"d1"}
    assert set(judged.exports.training_data.examples(count=9, level=1).frame["positive_id"]) == {"d1", "d4"}
    # At level 2 the document d4 is a negative of nothing: its topic has no positive.
    assert "d4" not in negatives_of(judged.exports.training_data.examples(count=9))


@pytest.mark.slow
def test_near_duplicates_of_positives_are_left_out(judged: Campaign, files: Path) -> None:
    text = "Air flows past the wing and the wing is lifted by it as long as the flow holds."
    rows = [{"doc_id": d, "text": text} for d in ("d1", "d6")]
    (files / "same.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged.imports.import_files(documents=[files / "same.jsonl"], replace=True)
    assert negatives_of(judged.exports.training_data.examples(count=9)) == {"d2", "d6", "d7"}
    assert negatives_of(judged.exports.training_data.examples(count=9, apart=True)) == {"d2", "d7"}


@pytest.mark.slow
def test_texts_that_are_not_here_are_not_asked_for(judged: Campaign, files: Path, tmp_path: Path) -> None:
    (files / "c.run").write_text("1 Q0 gone 1 9.0 gamma\n1 Q0 d8 2 8.0 gamma\n")
    judged.imports.import_files(runs=[files / "c.run"])
    assert "gone" in negatives_of(judged.exports.training_data.examples("unjudged-hard", count=20))
    (file,) = judged.exports.training_data.export(triples=tmp_path / "t.jsonl", negatives="unjudged-hard", count=20)
    read = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert len(read) == file.lines
    assert {r["negatives"][0]["doc_id"] for r in read} == {"d2", "d6", "d3", "d8", "d7"}
    assert read[0]["query"] == "running average"
    assert read[0]["positive"] == {
        "doc_id": "d1",
        "title": "Title 1",
        "text": "The text of document 1.",
        "relevance": 3,
    }
    assert all(r["negatives"][0]["judged"] == (r["negatives"][0]["doc_id"] not in {"d3", "d8"}) for r in read)


@pytest.mark.slow
def test_beside_a_file_stands_what_made_it(judged: Campaign, tmp_path: Path) -> None:
    (file,) = judged.exports.training_data.export(
        tuples=tmp_path / "t.tsv", negatives="hard", count=2, ranks=(1, 50), seed=3
    )
    assert (tmp_path / "t.tsv").read_text().splitlines()[0] == "query_id\tpositive_id\tnegative_ids"
    said = json.loads((tmp_path / "t.tsv.rule.json").read_text())
    assert said == file.report
    wanted = {
        "form": "tuples", "positives": "grade 1 or more", "negatives": "hard", "unjudged": False, "ranks": [1, 50],
        "ranks_of": "fusion", "runs": ["alpha", "beta"], "negatives_each": 2, "seed": 3,
    }  # fmt: skip
    assert {name: said[name] for name in wanted} == wanted
    # Topic 2 has one negative and two were wanted.
    assert said["counts"]["positives_short"] == 1
    assert said["counts"]["positives_used"] == file.lines == 1
    first = (tmp_path / "t.tsv").read_bytes()
    judged.exports.training_data.export(tuples=tmp_path / "t.tsv", negatives="hard", count=2, ranks=(1, 50), seed=3)
    assert (tmp_path / "t.tsv").read_bytes() == first


def test_positives_that_were_chosen_from_lists(campaign: Campaign) -> None:
    campaign.settings.set_judging_page(task="list")
    with pytest.raises(CampaignError, match="training data needs grades, found none"):
        campaign.exports.training_data.examples("unjudged-hard")
    choice = Choice(str(uuid4()), "ann", "1", "chosen", shown=("d2", "d1", "d6"), chosen=("d1",))
    assert not campaign.judging.topic_tasks.choose([choice]).refused
    assert campaign.exports.training_data.examples().frame.empty  # nobody said of any document that it is not relevant
    found = campaign.exports.training_data.examples("unjudged-hard", count=9)
    assert set(triples(found)) == {("1", "d1", "d2"), ("1", "d1", "d6"), ("1", "d1", "d3")}
    assert not found.frame["judged"].any()


def test_what_is_chosen_from_a_list_is_no_negative_of_grades(judged: Campaign) -> None:
    judged.settings.set_judging_page(task="list")
    choice = Choice(str(uuid4()), "ben", "1", "chosen", shown=("d2", "d1", "d6"), chosen=("d6",))
    assert not judged.judging.topic_tasks.choose([choice]).refused
    judged.settings.set_judging_page(task="grades")
    assert negatives_of(judged.exports.training_data.examples(count=9)) == {"d2", "d7"}


@pytest.mark.slow
def test_campaigns_that_are_not_ready(tmp_path: Path, campaign: Campaign) -> None:
    with pytest.raises(CampaignError, match="judge some pairs first"):
        campaign.exports.training_data.examples()
    with pytest.raises(InputError, match="rule judged for negatives does not use ranks"):
        campaign.exports.training_data.examples(ranks=(1, 5))
    with pytest.raises(UnknownNameError, match="unknown source of ranks 'best'"):
        campaign.exports.training_data.examples("hard", ranks_of="best")  # type: ignore[arg-type]
    with Campaign.create(tmp_path / "none", grades=GradeScale({0: "no", 1: "yes"})) as other:
        (tmp_path / "t.tsv").write_text("1\tone\n")
        (tmp_path / "q.txt").write_text("1 0 a 1\n1 0 b 0\n")
        other.imports.import_files(topics=tmp_path / "t.tsv", qrels=tmp_path / "q.txt")
        assert triples(other.exports.training_data.examples()) == [("1", "a", "b")]
        with pytest.raises(CampaignError, match="hard negatives need runs, found none"):
            other.exports.training_data.examples("hard")


@pytest.mark.slow
def test_in_the_command_line(judged: Campaign, tmp_path: Path) -> None:
    path, more = tmp_path / "t.tsv", tmp_path / "t.jsonl"
    options = ["--negatives", "unjudged-hard", "--ranks", "1-4", "--ranks-of", "any", "--negatives-each", 3]
    said = ok("export", judged.directory, "--triples", path, "--tuples", more, *options, "--level", 1, "--seed", 5)
    assert f"{path}: 4 lines" in said
    assert f"{more}: 1 line" in said
    assert path.read_text().splitlines()[0].endswith("\tjudged")
    (line,) = map(json.loads, more.read_text().splitlines())
    assert sorted(n["doc_id"] for n in line["negatives"]) == ["d2", "d3", "d6"]
    ok("export", judged.directory, "--triples", path, "--margin", 3, "--positives", 1, "--apart")
    assert {tuple(row.split("\t")[:2]) for row in path.read_text().splitlines()[1:]} == {("1", "d1")}
    assert "unknown rule for negatives 'random'" in fails(
        "export", judged.directory, "--triples", path, "--negatives", "random"
    )
    assert "ends in .tsv or .jsonl for training data" in fails(
        "export", judged.directory, "--triples", tmp_path / "t.csv"
    )


@pytest.mark.slow
def test_topics_with_fewer_negatives_than_asked_for_are_counted(judged: Campaign, tmp_path: Path) -> None:
    path, more = tmp_path / "t.tsv", tmp_path / "u.tsv"
    done = run("export", judged.directory, "--triples", path, "--tuples", more, "--negatives-each", 2)
    assert done.exit_code == 0
    assert "t.tsv: 1 topic has fewer than 2 negatives of this kind: 1 of 2 positives with fewer negatives or none" in (
        done.stderr
    )
    assert "u.tsv: 1 topic has fewer than 2 negatives of this kind: 1 of 2 positives left out" in done.stderr
    assert judged.exports.training_data.examples(count=2).counts["topics_short"] == 1
    assert judged.exports.training_data.examples(count=1).counts["topics_short"] == 0


@pytest.mark.parametrize("option", ["--triples", "--missing-documents", "--qrels", "--collection"])
def test_standard_output_is_no_file(
    judged: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert "expected the name of a file to write, found '-'" in run("export", judged.directory, option, "-").stderr
    assert sorted(tmp_path.iterdir()) == before


def test_an_empty_file_is_said(make_campaign: Callable[..., Campaign], tmp_path: Path) -> None:
    campaign = make_campaign()
    say(campaign, "ann", "1", "d1", 0)
    done = run("export", campaign.directory, "--triples", tmp_path / "t.tsv")
    assert done.exit_code == 0
    assert "t.tsv is empty: no document is a positive (grade 1 or more)" in done.stderr
