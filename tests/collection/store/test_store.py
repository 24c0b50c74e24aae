"""The store alone: what goes in comes out, what is said stays said."""

import functools
import math
import random
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection import assignment
from collection.core.errors import CampaignError, ConflictError, StorageError
from collection.core.records import COUNTS_AS, Document, Judgement, Topic
from collection.store import Added, PairState, Selection, Store
from collection.store.connection import explain
from collection.store.corpus import BATCH
from tests.helpers import at_once, tries


@pytest.fixture
def store() -> Store:
    with Store(":memory:", create=True) as store:
        with store.transaction():
            store.corpus.add_topics([Topic("1", "one"), Topic("2", "two")])
            store.corpus.add_documents([Document(d, d.upper(), f"text of {d}", {"n": 1}) for d in "abc"])
            store.pool.add(
                pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "c"], "rank": [1, 2, 1]}),
                "depth",
                {"depth": 2},
                ["r"],
            )
        yield store


def say(
    store: Store,
    doc: str,
    kind: str = "graded",
    relevance: int | None = None,
    annotator: str = "ann",
    topic: str = "1",
    **more: Any,
) -> None:
    pair = store.judgements.pair(topic, doc, annotator)
    assert pair is not None
    uuid = f"{doc}{store.judgements.counts()['logged']}"
    with store.transaction():
        store.judgements.append(Judgement(uuid, annotator, topic, doc, kind, relevance, **more), pair)  # type: ignore[arg-type]


def test_durable_and_concurrent_by_pragma(tmp_path: Path) -> None:
    with Store(tmp_path / "campaign.db", create=True) as store:
        assert store.connection.db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert store.connection.db.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert store.connection.db.execute("PRAGMA fullfsync").fetchone()[0] == 1
        assert store.connection.db.execute("PRAGMA foreign_keys").fetchone()[0] == 1


def test_a_missing_database_and_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="expected the database of a campaign, found no file"):
        Store(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("not a database, but long enough to be looked at as one\n" * 40)
    with pytest.raises(CampaignError, match="cannot be opened"):
        Store(tmp_path / "text.db")


def test_a_transaction_that_raises_leaves_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError), store.transaction():
        store.corpus.add_topics([Topic("3", "three")])
        raise RuntimeError
    assert store.corpus.topics()["query_id"].tolist() == ["1", "2"]


def test_the_log_cannot_be_changed(store: Store) -> None:
    say(store, "a", relevance=2)
    for statement in ("UPDATE judgements SET relevance = 0", "DELETE FROM judgements"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store.connection.db.execute(statement)


@pytest.mark.parametrize(
    ("kind", "relevance"),
    [("graded", None), ("cannot judge", 1), ("undone", 0), ("graded", -1), ("perhaps", 1)],
)
def test_the_database_refuses_what_no_judgement_can_say(store: Store, kind: str, relevance: int | None) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        say(store, "a", kind, relevance)


def test_current_is_the_last_word_and_the_log_keeps_all(store: Store) -> None:
    say(store, "a", relevance=2)
    say(store, "a", relevance=3)
    say(store, "b", relevance=1)
    say(store, "b", "undone")
    current = store.judgements.table()
    assert current[["doc_id", "relevance"]].values.tolist() == [["a", 3]]
    log = store.judgements.table(current=False)
    assert log["kind"].tolist() == ["graded", "graded", "graded", "undone"]
    assert log["revises"].fillna("-").tolist() == ["-", "a0", "-", "b2"]
    assert str(log["relevance"].dtype) == "Int64"


@pytest.mark.slow
def test_one_topic_s_judgements_do_not_read_the_whole_log(store: Store) -> None:
    """The work grows with the topic, not with the log: counted in steps of SQLite's virtual machine."""
    with store.transaction():
        store.corpus.add_documents([Document(f"d{n}", "", "text") for n in range(1000)])
    for topic, documents in (("1", range(1000)), ("2", range(20))):
        with store.transaction():
            for n in documents:
                pair = store.judgements.pair(topic, f"d{n}", "ann")
                assert pair is not None
                store.judgements.append(Judgement(f"{topic} {n}", "ann", topic, f"d{n}", "graded", 1), pair)
    steps: list[None] = []
    store.connection.db.conn.set_progress_handler(lambda: steps.append(None), 1)
    assert len(store.judgements.table(query_id="2")) == 20
    assert store.judgements.table(query_id="2", doc_id="d7")["uuid"].tolist() == ["2 7"]
    assert len(store.judgements.table(query_id="2", annotator="ann", last=3)) == 3
    store.connection.db.conn.set_progress_handler(None, 0)
    assert len(steps) < 10_000


def test_progress_counts_pairs_not_judgements(store: Store) -> None:
    say(store, "a", relevance=2)
    say(store, "a", relevance=1, annotator="bob")
    say(store, "b", "cannot judge")
    progress = store.judgements.progress().set_index("query_id")
    assert progress.loc["1", ["pool", "judged", "cannot_judge"]].tolist() == [2, 2, 1]
    assert progress.loc["2", ["pool", "judged", "cannot_judge"]].tolist() == [1, 0, 0]
    assert progress.loc["1", ["wanted", "made"]].tolist() == [2, 2]
    assert store.assignments.standings_for("ann") == {"1": (2, 2, 2), "2": (1, 0, 0)}
    say(store, "b", "undone")
    assert store.assignments.standings_for("ann")["1"] == (2, 1, 1)
    assert store.judgements.progress("1")["judged"].tolist() == [1]


def test_a_part_of_the_log_is_that_part_of_the_whole(store: Store) -> None:
    for doc, annotator in (("a", "ann"), ("a", "bob"), ("b", "ann"), ("c", "bob")):
        say(store, doc, relevance=2, annotator=annotator, flagged=doc == "b", passages=((0, 3),))
    store.corpus.add_document_ids(["d"])
    say(store, "c", "cannot judge", annotator="cat", counts_as="adjudication")
    say(store, "d", relevance=0)
    store.assignments.set_qualification_set([("1", "d")])
    whole = store.judgements.table()
    columns = ["doc_id", "relevance", "revises", "passages"]
    pd.testing.assert_frame_equal(store.judgements.table(columns=columns), whole[columns])
    several = whole[whole["doc_id"] != "b"].reset_index(drop=True)
    pd.testing.assert_frame_equal(store.judgements.table(several=True), several, check_dtype=False)
    flagged = whole[whole["doc_id"] == "b"].reset_index(drop=True)
    for current in (True, False):
        table = store.judgements.table(flagged=True, current=current)
        pd.testing.assert_frame_equal(table, flagged, check_dtype=False)


def standing(store: Store, query_id: str, annotator: str) -> tuple[int, int, int]:
    """What `AssignmentTables.standings_for` says of a topic, counted from the candidates."""
    pool = [c for c in store.queue.candidates(query_id, annotator, 5.0) if c.wanted > 0 and not c.held_back]
    done = [c for c in pool if c.own or (not c.qualification and (c.adjudicated or c.others >= c.wanted))]
    return len(pool), len(done), len(store.judgements.judged_rows(query_id))


def recount(store: Store) -> pd.DataFrame:
    """What `JudgementTables.progress` says, counted from the tables."""
    frame = store.connection.frame
    current = frame(
        "SELECT c.topic, c.doc, c.counts_as, j.kind "
        "FROM current_judgements AS c JOIN judgements AS j ON j.id = c.judgement"
    )
    pool = frame("SELECT topic, doc, wanted FROM pool").set_index(["topic", "doc"])["wanted"].to_dict()
    texts = dict(store.connection.execute("SELECT doc, text IS NOT NULL FROM documents"))
    rows = []
    for topic, query_id, title in store.connection.execute("SELECT topic, query_id, title FROM topics ORDER BY topic"):
        row = dict.fromkeys(store.judgements.progress().columns, 0) | {"query_id": query_id, "title": title}
        for doc, has_text in texts.items():
            said = current[(current["topic"] == topic) & (current["doc"] == doc)]
            judged, graded = len(said) > 0, (said["kind"] == "graded").any()
            if (topic, doc) not in pool:
                row["elsewhere"] += judged
                row["elsewhere_cannot"] += judged and not graded
                continue
            wanted = pool[topic, doc]
            made = min(int((said["counts_as"] == "judgement").sum()), wanted)
            made = wanted if (said["counts_as"] == "adjudication").any() else made
            held = any(texts.values()) and not has_text
            for name, number in {
                "pool": 1, "wanted": wanted, "made": made, "judged": judged, "cannot_judge": judged and not graded,
                "without_text": held and not judged, "waiting": (wanted - made) * held,
            }.items():  # fmt: skip
                row[name] += number
        rows.append(row)
    return pd.DataFrame(rows)


def check_counts(store: Store) -> None:
    """Compare what the database keeps with a count of everything."""
    expected = recount(store)
    pd.testing.assert_frame_equal(store.judgements.progress(), expected, check_dtype=False)
    one = store.judgements.progress("2")
    pd.testing.assert_frame_equal(one, expected[1:2].reset_index(drop=True), check_dtype=False)
    assert store.judgements.count_judged_outside_pool() == expected["elsewhere"].sum()
    log, current = store.judgements.table(current=False), store.judgements.table()
    assert store.judgements.counts() == {
        "topics": len(expected),
        "documents": store.connection.count("SELECT count(*) FROM documents WHERE text IS NOT NULL"),
        "runs": 0,
        "pool": store.connection.count("SELECT count(*) FROM pool"),
        "judgements": len(current),
        "logged": len(log),
    }
    assert [store.judgements.count_entries(q) for q in expected["query_id"]] == [
        (log["query_id"] == q).sum() for q in expected["query_id"]
    ]
    said = current[current["counts_as"] == "judgement"].astype({"seconds": "float64"})
    said["judged_at"] = said["judged_at"].where(said["source"] != "imported")
    by_name = said.groupby("annotator", as_index=False).agg(
        judgements=("annotator", "size"), seconds=("seconds", "median"), last_at=("judged_at", "max")
    )
    kept, by_name = (f.astype(object).where(f.notna(), None) for f in (store.judgements.annotators(), by_name))
    pd.testing.assert_frame_equal(kept, by_name)
    for name in ("ann", "bob"):
        standings = {q: standing(store, q, name) for q in ("1", "2")}
        assert store.assignments.standings_for(name) == standings
        assert store.assignments.standings_for(name, ["2"]) == {"2": standings["2"]}
        for query_id in ("1", "2"):
            pool = assignment.next_pairs(store.queue.candidates(query_id, name, 5.0))
            unfinished = assignment.next_pairs(store.queue.unfinished(query_id, name, 5.0))
            assert unfinished == [c for c in pool if not c.qualification or c.others < c.wanted]
    judged: dict[str, int] = {}
    for query_id in ("1", "2"):
        judged |= {query_id: n} if (n := len(store.judgements.judged_rows(query_id))) else {}
    assert store.queue.count_taken(math.inf) == judged
    held = [c.doc_id for c in store.queue.candidates("1", "", 5.0) if c.leased]
    elsewhere = set(held) - set(store.corpus.doc_ids(store.judgements.judged_rows("1")))
    assert store.queue.count_taken(5.0).get("1", 0) == judged.get("1", 0) + len(elsewhere)
    missing = store.connection.column(
        "SELECT DISTINCT d.doc_id FROM pool JOIN documents AS d USING (doc) WHERE text IS NULL"
    )
    assert sorted(store.corpus.missing_documents()) == sorted(missing)


@pytest.mark.slow
@tries(40)
@given(st.randoms(use_true_random=False))
def test_counts_that_are_kept_equal_a_recount(rng: random.Random) -> None:
    with Store(":memory:", create=True) as store:
        store.corpus.add_topics([Topic("1", "one"), Topic("2", "two")])
        documents = [f"d{n}" for n in range(6)]
        store.corpus.add_document_ids(documents[:3])
        for step in range(25):
            act, topic, doc = rng.randrange(11), rng.choice("12"), rng.choice(documents)
            name = rng.choice(["ann", "bob", "cat"])
            store.corpus.add_document_ids([doc])
            if act == 0:
                store.corpus.add_documents([Document(doc, doc, "a text")], replace=True)
            elif act == 1 and store.pool.find_missing(topic, [doc]):
                store.pool.add(pd.DataFrame({"query_id": [topic], "doc_id": [doc], "rank": [1]}), "depth", {}, [])
            elif act == 2:
                pooled = store.pool.annotators_wanted()[["topic", "doc"]].itertuples(index=False, name=None)
                store.pool.set_wanted([(rng.randrange(1, 4), *pair) for pair in pooled if rng.random() < 0.5])
            elif act == 3:
                store.assignments.set_qualification_set([(topic, doc)])
            elif act == 4 and store.pool.rows(topic):
                among = store.corpus.doc_ids(store.pool.rows(topic))
                store.queue.lease(topic, [Selection(rng.choice(among))], name, 1.0, 9.0)
            elif act > 4:
                counts_as = rng.choice(["judgement"] * 3 + list(COUNTS_AS))
                pair = store.judgements.pair(topic, doc, name, counts_as)
                assert pair is not None
                kinds = ["graded", "graded", "cannot judge"] + ["undone"] * (pair.judgement is not None)
                kind = rng.choice(kinds)
                said = Judgement(
                    f"u{step}", name, topic, doc, kind, 1 if kind == "graded" else None, counts_as=counts_as,
                    judged_at=f"2026-03-{rng.randrange(1, 29):02d}", seconds=rng.choice([None, 1.5, 2.0, 9.25]),
                    source=rng.choice(["card", "imported"]),
                )  # fmt: skip
                with suppress(ZeroDivisionError), store.transaction():
                    store.judgements.append(said, pair)
                    if rng.random() < 0.2:
                        raise ZeroDivisionError  # takes it all back
        check_counts(store)


def test_an_interrupted_import_leaves_neither_documents_nor_words(store: Store) -> None:
    def interrupted() -> Iterator[Document]:
        yield from [Document(f"n{number}", "New", "brandnew words") for number in range(2 * BATCH)]
        yield Document("a", "A", "another text", {"n": 1})
        raise KeyboardInterrupt

    before = list(store.connection.db.conn.iterdump())
    with pytest.raises(KeyboardInterrupt):
        store.corpus.add_documents(interrupted(), replace=True)
    assert list(store.connection.db.conn.iterdump()) == before
    assert store.corpus.search("brandnew", 5).documents == []


def test_all_words_are_found_however_a_document_came(store: Store) -> None:
    store.corpus.add_document_ids(["later", "never"])
    texts = {"later": "one text", "new": "two text", "a": "three text"}
    store.corpus.add_documents([Document(d, "", text) for d, text in texts.items()], replace=True)
    store.corpus.add_documents([Document("new", "", "four text"), Document("newest", "", "five text")], replace=True)
    words = ("one", "two", "three", "four", "five")
    found = {word: [row[0] for row in store.corpus.search(word, 9).documents] for word in words}
    assert found == {"one": ["later"], "two": [], "three": ["a"], "four": ["new"], "five": ["newest"]}
    store.corpus.add_documents([Document("never", "", "six")])
    # Compares the index with the texts, and raises if they differ.
    store.connection.execute("INSERT INTO documents_fts (documents_fts, rank) VALUES ('integrity-check', 1)")


def test_words_of_a_document_that_one_import_adds_and_replaces_are_the_later_ones() -> None:
    others = [Document(f"n{number}", "", "other") for number in range(BATCH)]
    again = [Document("twice", "", "early"), *others, Document("twice", "", "late")]
    with Store(":memory:", create=True) as store:  # SQLite refuses to remove words from an index without documents
        assert store.corpus.add_documents(again, replace=True) == Added(BATCH + 1, 1, 0)
        found = {word: [row[0] for row in store.corpus.search(word, 9).documents] for word in ("early", "late")}
        assert found == {"early": [], "late": ["twice"]}
        store.connection.execute("INSERT INTO documents_fts (documents_fts, rank) VALUES ('integrity-check', 1)")


def test_documents_text_comes_later(store: Store) -> None:
    with store.transaction():
        store.corpus.add_document_ids(["a", "z"])
        store.pool.add(pd.DataFrame({"query_id": ["2"], "doc_id": ["z"], "rank": [2]}), "depth", {}, [])
    assert store.corpus.missing_documents() == ["z"]
    assert store.corpus.find_without_text(["a", "z", "unknown"]) == {"z", "unknown"}
    assert store.corpus.documents(["z"])["z"].text is None
    with store.transaction():
        assert store.corpus.add_documents([Document("z", "Z", "here")]) == Added(1, 0, 0)
    assert store.corpus.missing_documents() == []


def test_documents_are_read_in_the_order_of_their_keys_without_a_sort_of_their_texts(store: Store) -> None:
    statements: list[str] = []
    store.connection.db.conn.set_trace_callback(statements.append)
    list(store.corpus.iterate_documents(["b", "a"]))
    store.connection.db.conn.set_trace_callback(None)
    plan = store.connection.frame(f"EXPLAIN QUERY PLAN {statements[0]}")["detail"]
    assert "INTEGER PRIMARY KEY" in plan[0]
    assert not plan.str.contains("TEMP B-TREE").any()


def test_the_same_again_changes_nothing_and_other_content_is_a_conflict(store: Store) -> None:
    same = Document("a", "A", "text of a", {"n": 1})
    assert store.corpus.add_documents([same]) == Added(0, 0, 1)
    with pytest.raises(ConflictError, match="document 'a'.*--replace"):
        store.corpus.add_documents([same._replace(text="other")])
    assert store.corpus.add_documents([same._replace(text="other")], replace=True) == Added(0, 1, 0)
    with pytest.raises(ConflictError, match="topic '1'.*--replace"):
        store.corpus.add_topics([Topic("1", "another")])
    assert store.corpus.add_topics([Topic("1", "another"), Topic("2", "two")], replace=True) == Added(0, 1, 1)


def test_leases_and_skips_as_the_assignment_sees_them(store: Store) -> None:
    with store.transaction():
        store.queue.lease("1", [Selection("a")], "bob", at=0.0, until=100.0)
        store.queue.skip("1", "b", "ann", at=50.0)
    before, after = store.queue.candidates("1", "ann", at=99.0), store.queue.candidates("1", "ann", at=101.0)
    assert [c.leased for c in before] == [1, 0]
    assert [c.leased for c in after] == [0, 0]
    assert [c.skipped for c in before] == [None, 50.0]
    assert [c.leased for c in store.queue.candidates("1", "bob", at=99.0)] == [0, 0]


@pytest.mark.slow
def test_a_writer_waits_for_another(tmp_path: Path) -> None:
    path = tmp_path / "campaign.db"
    Store(path, create=True).close()
    errors: list[Exception] = []

    def write(name: str) -> None:
        try:
            with Store(path) as store:
                for n in range(25):
                    with store.transaction():
                        store.corpus.topics()  # a read first, then a write: what SQLite refuses without IMMEDIATE
                        store.corpus.add_topics([Topic(f"{name}{n}", "t")])
        except Exception as error:
            errors.append(error)

    at_once(*(functools.partial(write, name) for name in "abcd"))
    assert errors == []
    with Store(path) as store:
        assert store.judgements.counts()["topics"] == 100


def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "campaign.db") as foreign:
        foreign.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(CampaignError, match="expected the database of a campaign, found another one"):
        Store(tmp_path / "campaign.db")
    with sqlite3.connect(tmp_path / "campaign.db") as foreign:
        assert foreign.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]


def test_a_judged_pair_is_not_held_by_its_lease_too(store: Store) -> None:
    with store.transaction():
        store.queue.lease("1", [Selection("a")], "bob", at=0.0, until=100.0)
    say(store, "a", relevance=1, annotator="bob")
    first = store.queue.candidates("1", "ann", at=50.0)[0]
    assert (first.others, first.leased) == (1, 0)


words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=20)


@pytest.mark.slow
@tries(40)
@given(
    st.lists(
        st.builds(Document, words.filter(bool), words, words, st.dictionaries(words, words, max_size=2)),
        unique_by=lambda d: d.doc_id,
    )
)
def test_documents_come_out_as_they_went_in(documents: list[Document]) -> None:
    with Store(":memory:", create=True) as store:
        with store.transaction():
            store.corpus.add_documents(documents)
        assert store.corpus.documents([d.doc_id for d in documents]) == {d.doc_id: d for d in documents}


def test_a_full_disk_is_named_and_nothing_is_half_written(store: Store) -> None:
    pages = store.connection.value("PRAGMA page_count")
    store.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError, match="the disk of the campaign is full; free some space"), store.transaction():
        store.corpus.add_topics([Topic("new", "x")])
        store.corpus.add_documents([Document("new", "", "x" * 100_000)])
    assert "new" not in set(store.corpus.topics()["query_id"])
    store.connection.execute(f"PRAGMA max_page_count = {10 * pages}")
    with store.transaction():
        store.corpus.add_documents([Document("new", "", "x" * 100_000)])


def test_a_change_that_was_rolled_back_does_not_pass_for_a_commit(store: Store) -> None:
    """SQLite itself rolls back on some errors: whoever catches these would otherwise believe the rest saved."""
    with pytest.raises(StorageError, match="undone the change"), store.transaction():
        store.corpus.add_topics([Topic("new", "x")])
        store.connection.execute("ROLLBACK")
    assert "new" not in set(store.corpus.topics()["query_id"])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (sqlite3.SQLITE_IOERR_WRITE, "cannot be read or written"),
        (sqlite3.SQLITE_READONLY_DBMOVED, "make its directory and files writable"),
        (sqlite3.SQLITE_CANTOPEN, "make its directory and files writable"),
        (sqlite3.SQLITE_CORRUPT_INDEX, "is damaged"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "the campaign is busy"),
    ],
)
def test_an_error_of_the_disk_says_what_to_do(code: int, message: str) -> None:
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorcode = code
    assert message in str(explain(error))
    assert "(what SQLite says)" in str(explain(error))
    assert explain(sqlite3.IntegrityError("of the program")) is None


def test_a_commit_that_fails_leaves_nothing_open(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, connection: object) -> None:
            self.connection = connection

        def __getattr__(self, name: str) -> object:
            return getattr(self.connection, name)

        def commit(self) -> None:
            raise sqlite3.OperationalError("disk I/O error")

    real = store.connection.db.conn
    monkeypatch.setattr(store.connection.db, "conn", Broken(real))
    with pytest.raises(sqlite3.OperationalError), store.transaction():
        store.settings.put("x", 1)
    monkeypatch.setattr(store.connection.db, "conn", real)
    assert not real.in_transaction
    assert store.settings.get("x") is None
    with store.transaction():
        store.settings.put("x", 2)
    assert store.settings.get("x") == 2


ODD = ("d", 'a"quote', "a\\slash", "null", '","', "[]", "日本", "a\tb", "")
"""Texts that JSON writes with marks of its own."""


@tries(40)
@given(st.randoms(use_true_random=False))
def test_long_tables_have_what_each_entry_says(rng: random.Random) -> None:
    with Store(":memory:", create=True) as store:
        topics, documents = ODD[:3], [text or "e" for text in ODD]
        store.corpus.add_topics(Topic(topic, topic) for topic in topics)
        store.corpus.add_document_ids(rng.sample(documents, len(documents)))
        said: list[Judgement] = []
        for number in range(rng.randrange(40)):
            kind, grade = rng.choice([("graded", rng.randrange(4)), ("cannot judge", None), ("undone", None)])
            said.append(
                Judgement(
                    str(number), rng.choice(ODD), rng.choice(topics), rng.choice(documents), kind, grade,  # type: ignore[arg-type]
                    judged_at=str(number), seconds=rng.choice([None, 0.1 + 0.2]), probability=rng.choice([None, 1 / 3]),
                    strategy=rng.choice([None, "overlap", *ODD]), model_round=rng.choice([None, 7]),
                    note=rng.choice([None, *ODD]),
                    counts_as=rng.choice(COUNTS_AS), flagged=rng.random() < 0.3, passages=rng.choice([(), ((0, 2),)]),
                )
            )  # fmt: skip
            keys = store.corpus.doc_keys(documents)
            place = (topics.index(said[-1].query_id) + 1, keys[said[-1].doc_id])
            store.judgements.append(said[-1], PairState(*place, *[None] * 4, number % 3 + 1, None, False, False, False))
        turns: dict[tuple[str, ...], list[Judgement]] = {}  # of each annotator and pair, since the last undo
        for entry in said:
            key = (entry.annotator, entry.query_id, entry.doc_id, entry.counts_as)
            turns[key] = [] if entry.kind == "undone" else [*turns.get(key, []), entry]
        found = [turn for turn in turns.values() if turn and turn[0].counts_as != "surplus"]
        last = sorted((turn[-1] for turn in found), key=lambda entry: int(entry.uuid))
        for frame, entries in ((store.judgements.table(current=False), said), (store.judgements.table(), last)):
            rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
            assert [Judgement(*row) for row in rows] == entries
        marked = store.judgements.table(current=False, columns=("uuid", "current"))
        assert marked.loc[marked["current"], "uuid"].tolist() == [entry.uuid for entry in last]
        firsts: dict[tuple[str, str], Judgement] = {}  # of each document, also if it was undone
        for entry in sorted(said, key=lambda entry: entry.strategy == "overlap"):
            if entry.counts_as == "judgement":
                firsts.setdefault((entry.query_id, entry.doc_id), entry)
        for turn in sorted(found, key=lambda turn: int(turn[-1].uuid), reverse=True):
            firsts.setdefault((turn[0].query_id, turn[0].doc_id), turn[-1])
        first_of = {id(turn): firsts[turn[0].query_id, turn[0].doc_id] for turn in found}
        found.sort(key=lambda turn: (int(first_of[id(turn)].uuid), int(turn[-1].uuid)))
        for query_id in (None, *topics):
            turn_of = [turn for turn in found if query_id in (None, turn[0].query_id)]
            now = store.judgements.current_judgements(query_id)
            wanted = [
                (t[0].query_id, keys[t[0].doc_id] - 1, t[0].annotator, t[0].counts_as, t[-1].kind,
                 t[-1].relevance, f.strategy, f.model_round, int(f.uuid) % 3 + 1, f.probability)
                for t in turn_of for f in [first_of[id(t)]]
            ]  # fmt: skip
            columns = ["query_id", "row", "annotator", "counts_as", "kind", "relevance", "strategy"]
            frame = now[[*columns, "model_round", "conditions", "probability"]]
            assert list(frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)) == wanted
