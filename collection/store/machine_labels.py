"""Labels by models, rules and clicks."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from collection.store import columns as columns_of
from collection.store.connection import Repository, is_held, json_text, writes

LabelKind = Literal["llm", "rule", "clicks"]


class LabelSet(NamedTuple):
    """Labels made in one way."""

    key: int
    name: str
    kind: LabelKind
    settings: Mapping[str, Any]
    """All that made the labels."""
    made_at: str


class SampleInUse(NamedTuple):
    """The sample that people judge in place of the pool."""

    label_set: int
    """Key of the label set that it was drawn for."""
    pairs: int
    """Number of its first pairs."""


class LabelRow(NamedTuple):
    """A label, or what came instead of one."""

    query_id: str
    doc_id: str
    status: Literal["graded", "no grade", "failed"]
    relevance: float | None
    labelled_at: str
    prompt: str | None = None
    reply: str | None = None
    model: str | None = None
    revision: str | None = None
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    problem: str | None = None
    sample: int = 1
    """Number of the sample: a judge may label a pair several times."""


class LogCount(NamedTuple):
    """Rows of a pair in the log of a label set."""

    rows: int = 0
    answers: int = 0
    """Those with a reply, with or without a grade; the others failed."""


class ViewCounts(NamedTuple):
    """Pairs whose label annotators have seen."""

    judged: int
    """Pairs that the annotator judged afterwards."""
    reserved: int
    """Pairs that are reserved for the annotator."""


_COLUMNS = LabelRow._fields[2:]
_PROBE_COLUMNS = _COLUMNS[:-1]
"""A probe has no samples."""


def _places(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


def _selected(columns: Sequence[str]) -> str:
    return ", ".join(f"m.{name}" for name in columns)


_PAIR = ["query_id", "doc_id"]
_ORDER = {"graded": 0, "no grade": 1, "failed": 2}


def combine_samples(samples: pd.DataFrame) -> pd.DataFrame:
    """Combine the samples of each pair into its label: the lower median of their grades, which the judge gave.

    A pair without a graded sample is "no grade" if a sample is, and "failed" otherwise.

    Parameters
    ----------
    samples
        ``query_id``, ``doc_id``, ``sample``, ``status`` ("graded", "no grade" or "failed"), ``relevance`` (nan without
        a grade); the rows of a pair are next to each other.

    Returns
    -------
    DataFrame
        The same columns without ``sample``, each pair once, in the order of `samples`.

    Examples
    --------
    >>> pair = {"query_id": "1", "doc_id": "a", "status": "graded"}
    >>> samples = pd.DataFrame([{**pair, "sample": n, "relevance": grade} for n, grade in enumerate([3.0, 0, 2, 1], 1)])
    >>> combine_samples(samples)["relevance"].tolist()
    [1.0]
    """
    if (samples["sample"] == 1).all():  # without a pair twice
        return samples.drop(columns="sample")
    pair = samples.groupby(_PAIR, sort=False).ngroup()
    ordered = samples.assign(pair=pair, order=samples["status"].map(_ORDER).astype("int64"))
    ordered = ordered.sort_values(["pair", "order", "relevance", "sample"], kind="stable")
    grades = (ordered["order"] == 0).groupby(ordered["pair"]).transform("sum")
    place = ordered.groupby("pair").cumcount()
    chosen = ordered[place == ((grades - 1) // 2).clip(lower=0)]
    return chosen.drop(columns=["pair", "order", "sample"]).reset_index(drop=True)


class MachineLabelTables(Repository):
    """Label sets and their labels, views and samples."""

    @writes
    def create(self, name: str, kind: LabelKind, settings: Mapping[str, Any], made_at: str) -> LabelSet:
        """Add a label set without labels; its name is new."""
        text = json.dumps(dict(settings), ensure_ascii=False, sort_keys=True, allow_nan=False)
        key = self.connection.insert("label_sets", {"name": name, "kind": kind, "settings": text, "made_at": made_at})
        assert key is not None
        return LabelSet(key, name, kind, dict(settings), made_at)

    def sets(self) -> list[LabelSet]:
        """All label sets, in order of creation."""
        rows = self.connection.execute("SELECT label_set, name, kind, settings, made_at FROM label_sets ORDER BY 1")
        return [LabelSet(key, name, kind, json.loads(settings), at) for key, name, kind, settings, at in rows]

    @writes
    def rename(self, label_set: int, name: str) -> None:
        """Give a label set another name, which is new."""
        self.connection.execute("UPDATE label_sets SET name = ? WHERE label_set = ?", (name, label_set))

    def folded_names(self) -> set[str]:
        """The names of all label sets, case-folded: no annotator may have one."""
        return {name.casefold() for name in self.connection.column("SELECT name FROM label_sets ORDER BY label_set")}

    @writes
    def add(self, label_set: int, rows: Iterable[LabelRow]) -> None:
        """Append labels of pairs whose topics and documents the campaign has."""
        self.connection.executemany(
            f"INSERT INTO machine_labels (label_set, topic, doc, {', '.join(_COLUMNS)}) VALUES (?, "
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), "
            f"{_places(_COLUMNS)})",
            ((label_set, *_packed_row(row)) for row in rows),
        )

    @writes
    def add_probe(self, label_set: int, rows: Iterable[LabelRow]) -> None:
        """Append answers of an injection probe, whose ``doc_id`` is the name of the request."""
        self.connection.executemany(
            f"INSERT INTO injection_probes (label_set, topic, request, {', '.join(_PROBE_COLUMNS)}) VALUES (?, "
            f"(SELECT topic FROM topics WHERE query_id = ?), ?, {_places(_PROBE_COLUMNS)})",
            ((label_set, *_packed_row(row)[:-1]) for row in rows),
        )

    def probe(self, label_set: int) -> list[LabelRow]:
        """Return the rows of an injection probe as :meth:`add_probe` takes them; the last reply of each pair counts."""
        rows = self.connection.execute(
            f"SELECT t.query_id, m.request, {_selected(_PROBE_COLUMNS)} FROM injection_probes AS m "
            "JOIN topics AS t USING (topic) WHERE m.label_set = ? ORDER BY m.id",
            (label_set,),
        )
        return list(map(_unpacked_row, rows))

    def log_counts(self, label_set: int, sample: int = 1) -> dict[tuple[str, str], LogCount]:
        """Return the number of rows of each pair (query_id, doc_id) in the log of a sample of a set."""
        rows = self.connection.execute(
            "SELECT t.query_id, d.doc_id, count(*), sum(m.status != 'failed') FROM machine_labels AS m "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) WHERE m.label_set = ? AND m.sample = ? "
            "GROUP BY m.topic, m.doc ORDER BY m.topic, m.doc",
            (label_set, sample),
        )
        return {(query_id, doc_id): LogCount(*numbers) for query_id, doc_id, *numbers in rows}

    def probe_counts(self, label_set: int) -> dict[tuple[str, str], LogCount]:
        """Return the number of rows of each topic and request (query_id, name) of an injection probe."""
        rows = self.connection.execute(
            "SELECT t.query_id, m.request, count(*), sum(m.status != 'failed') FROM injection_probes AS m "
            "JOIN topics AS t USING (topic) WHERE m.label_set = ? GROUP BY m.topic, m.request "
            "ORDER BY m.topic, m.request",
            (label_set,),
        )
        return {(query_id, request): LogCount(*numbers) for query_id, request, *numbers in rows}

    def current(self, label_set: int) -> pd.DataFrame:
        """The label of each pair, the median of its samples (:func:`.combine_samples`), or its last reply or failure.

        ``query_id``, ``doc_id``, ``status``, ``relevance`` (float64, nan without a grade), by topic and document.
        """
        return self.with_ids(combine_samples(self.coded(label_set)))

    def samples(self, label_set: int) -> pd.DataFrame:
        """The columns of :meth:`current` and ``sample`` for each sample of each pair, in the order of samples."""
        return self.with_ids(self.coded(label_set))

    def with_ids(self, labels: pd.DataFrame) -> pd.DataFrame:
        """Put ids in place of the keys of :meth:`coded`, and texts in place of the categories."""
        return columns_of.with_ids(self.connection, labels.astype({"status": "str"}))

    def coded(self, label_set: int) -> pd.DataFrame:
        """:meth:`samples` with keys as ``query_id`` and ``doc_id``, and with categories as ``status``.

        The first grade of a sample counts, whatever is asked or fails later; before it the last reply, or failure: as
        in the view current_machine_labels, which reads each row for itself.
        """
        short = {"query_id": "topic", "doc_id": "doc", "sample": "sample", "status": "status"}
        rows = "FROM machine_labels WHERE label_set = ? ORDER BY topic, doc, id"
        frame = columns_of.read(self.connection, short, {"relevance": "relevance"}, rows, (label_set,))
        keys = {"query_id": "int64", "doc_id": "int64", "sample": "int64", "relevance": "float64"}
        frame = frame.astype({**keys, "status": pd.CategoricalDtype(list(_ORDER))})
        pair = columns_of.pack_keys(frame["query_id"], frame["doc_id"])
        if not (pair[1:] == pair[:-1]).any():
            return frame
        order = frame["status"].cat.codes.to_numpy()
        place = np.where(order == 0, 1, -1) * np.arange(len(frame))
        first = np.lexsort((place, order, frame["sample"].to_numpy(), pair))
        return frame.iloc[first].drop_duplicates(["query_id", "doc_id", "sample"], ignore_index=True)

    def grades_of(self, label_set: int, query_id: str, doc_ids: Iterable[str] | None = None) -> dict[str, float]:
        """The labels of these documents of a topic, by default of all; those without a grade are left out."""
        among = "AND m.doc IN (SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?))) "
        rows = self.connection.execute(
            "SELECT d.doc_id, m.relevance FROM current_machine_labels AS m JOIN documents AS d USING (doc) "
            "WHERE m.label_set = ? AND m.topic = (SELECT topic FROM topics WHERE query_id = ?) "
            f"{'' if doc_ids is None else among}AND m.relevance IS NOT NULL ORDER BY m.doc, m.relevance",
            (label_set, query_id, *(() if doc_ids is None else (json_text(doc_ids),))),
        )
        samples: dict[str, list[float]] = {}
        for doc_id, relevance in rows:
            samples.setdefault(doc_id, []).append(relevance)
        return {doc_id: median_low(grades) for doc_id, grades in samples.items()}

    def highest(self, label_set: int) -> float | None:
        """Return the highest label of a set; None without a label."""
        return self.connection.value("SELECT max(relevance) FROM machine_labels WHERE label_set = ?", (label_set,))

    def topic_version(self, label_set: int, query_id: str) -> int:
        """Return a number that grows with the log of a topic in a label set; 0 without a row."""
        last = self.connection.value(
            "SELECT max(id) FROM machine_labels WHERE label_set = ? "
            "AND topic = (SELECT topic FROM topics WHERE query_id = ?)",
            (label_set, query_id),
        )
        return last or 0

    def topic_versions(self, label_set: int) -> dict[str, int]:
        """Return :meth:`topic_version` of each topic with a row, in the order of topics."""
        return self.connection.mapping(
            "SELECT t.query_id, max(m.id) FROM machine_labels AS m JOIN topics AS t USING (topic) "
            "WHERE m.label_set = ? GROUP BY m.topic ORDER BY m.topic",
            (label_set,),
        )

    def last_row(self) -> int:
        """Return the number of the last row of all label sets; 0 without one."""
        return self.connection.value("SELECT max(id) FROM machine_labels") or 0

    def log(self, label_set: int) -> Iterable[LabelRow]:
        """All rows of a set in order, with prompts and replies."""
        rows = self.connection.execute(
            f"SELECT t.query_id, d.doc_id, {_selected(_COLUMNS)} FROM machine_labels AS m "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) WHERE m.label_set = ? ORDER BY m.id",
            (label_set,),
        )
        yield from map(_unpacked_row, rows)

    def version(self) -> list[int]:
        """Numbers that change with every label set, label, view and sample, and never return to earlier values."""
        created = self.connection.value("SELECT max(seq) FROM sqlite_sequence WHERE name = 'label_sets'")
        tables = ("label_sets", "machine_labels", "label_views", "human_samples")
        return [created or 0, *(self.connection.count(f"SELECT count(*) FROM {table}") for table in tables)]

    def totals(self, label_set: int) -> pd.DataFrame:
        """Sum the log by ``status``: ``rows``, ``prompt_tokens``, ``reply_tokens``, ``cost``, ``seconds``."""
        return self.connection.frame(
            "SELECT status, count(*) AS rows, coalesce(sum(prompt_tokens), 0) AS prompt_tokens, "
            "coalesce(sum(reply_tokens), 0) AS reply_tokens, coalesce(sum(cost), 0.0) AS cost, "
            "coalesce(sum(seconds), 0.0) AS seconds FROM machine_labels WHERE label_set = ? "
            "GROUP BY status ORDER BY status",
            (label_set,),
        )

    def tokens(self, label_set: int) -> tuple[int, int, int]:
        """Return the number of answers whose tokens are known, and their prompt and reply tokens."""
        answers, prompt, reply = self.connection.execute(
            "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(reply_tokens), 0) FROM machine_labels "
            "WHERE label_set = ? AND prompt_tokens IS NOT NULL AND reply_tokens IS NOT NULL",
            (label_set,),
        ).fetchone()
        return answers, prompt, reply

    def cost(self, label_set: int, prompt_price: float, reply_price: float) -> float:
        """Return the cost of a set and its probe; the prices, of a million tokens, are for rows without a cost."""
        columns = "SELECT cost, prompt_tokens, reply_tokens FROM"
        return float(
            self.connection.value(
                "SELECT coalesce(sum(coalesce(cost, (prompt_tokens * :prompt + reply_tokens * :reply) / 1e6)), 0.0) "
                f"FROM ({columns} machine_labels WHERE label_set = :label_set "
                f"UNION ALL {columns} injection_probes WHERE label_set = :label_set)",
                {"label_set": label_set, "prompt": prompt_price, "reply": reply_price},
            )
        )

    @writes
    def record_view(self, annotator: str, label_set: int, pairs: Iterable[tuple[str, str]], shown_at: str) -> None:
        """Record that an annotator saw labels of pairs (query_id, doc_id); the first time counts."""
        self.connection.executemany(
            "INSERT INTO label_views (annotator, label_set, topic, doc, shown_at) VALUES (?, ?, "
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), ?) "
            "ON CONFLICT DO NOTHING",
            ((annotator, label_set, query_id, doc_id, shown_at) for query_id, doc_id in pairs),
        )

    def views(self) -> pd.DataFrame:
        """``annotator``, ``label_set`` (name), ``query_id``, ``doc_id``, ``shown_at``, in order of time."""
        return self.connection.frame(
            "SELECT v.annotator, s.name AS label_set, t.query_id, d.doc_id, v.shown_at FROM label_views AS v "
            "JOIN label_sets AS s USING (label_set) JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            "ORDER BY v.shown_at, v.annotator, v.topic, v.doc, v.label_set"
        )

    def count_viewed(self, label_set: int, at: float) -> ViewCounts:
        """Count the pairs of a set whose label annotators have seen; reservations are those at a time."""
        pair = "o.topic = v.topic AND o.doc = v.doc AND o.annotator = v.annotator"
        judged = f"SELECT 1 FROM judgements AS o WHERE {pair} AND o.judged_at >= v.shown_at"
        reserved = f"SELECT 1 FROM leases AS o WHERE {pair} AND {is_held('o.until')}"
        row = self.connection.execute(
            f"SELECT coalesce(sum(EXISTS ({judged})), 0), coalesce(sum(EXISTS ({reserved})), 0) "
            "FROM label_views AS v WHERE v.label_set = :label_set",
            {"label_set": label_set, "at": at},
        ).fetchone()
        return ViewCounts._make(row)

    @writes
    def delete(self, label_set: int) -> None:
        """Delete a label set with its labels, injection probe, views and sample."""
        # The set goes first: the log refuses to lose rows of a set that exists. This setting ends with the transaction.
        self.connection.execute("PRAGMA defer_foreign_keys = ON")
        for table in ("label_sets", "machine_labels", "injection_probes", "label_views", "human_samples"):
            self.connection.execute(f"DELETE FROM {table} WHERE label_set = ?", (label_set,))

    @writes
    def set_sample(self, label_set: int, sample: pd.DataFrame) -> None:
        """Keep a sample: ``query_id``, ``doc_id``, ``size``, ``priority`` (nan if judged before); made once only."""
        priorities = [None if pd.isna(each) else float(each) for each in sample["priority"]]
        self.connection.executemany(
            "INSERT INTO human_samples (label_set, topic, doc, size, priority) VALUES (?, "
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), ?, ?)",
            zip(
                [label_set] * len(sample), sample["query_id"], sample["doc_id"], sample["size"].tolist(), priorities,
                strict=True,
            ),
        )  # fmt: skip

    def sample(self, label_set: int) -> pd.DataFrame:
        """The pairs of a sample in order, those judged before (with the priority nan) last; columns as above."""
        frame = self.connection.frame(
            "SELECT t.query_id, d.doc_id, s.size, s.priority FROM human_samples AS s "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) WHERE s.label_set = ? "
            "ORDER BY s.priority IS NULL, s.priority DESC, s.topic, s.doc",
            (label_set,),
        )
        return frame.astype({"query_id": "str", "doc_id": "str", "size": "float64", "priority": "float64"})

    @writes
    def use_sample(self, sample: SampleInUse | None) -> None:
        """Keep which sample people judge now; None for the whole pool."""
        self.connection.execute("DELETE FROM sample_in_use")
        if sample is not None:
            self.connection.insert("sample_in_use", sample._asdict())

    def sample_in_use(self) -> SampleInUse | None:
        """Return the sample that people judge now; None for the whole pool."""
        row = self.connection.execute("SELECT label_set, pairs FROM sample_in_use").fetchone()
        return None if row is None else SampleInUse._make(row)


def _packed_row(row: LabelRow) -> tuple[object, ...]:
    packed = {name: _packed(getattr(row, name)) for name in ("prompt", "reply")}
    return tuple(packed.get(name, value) for name, value in row._asdict().items())


def _packed(text: str | None) -> bytes | None:
    return None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpacked_row(row: tuple[Any, ...]) -> LabelRow:
    label = LabelRow(*row)
    return label._replace(prompt=_unpacked(label.prompt), reply=_unpacked(label.reply))


def _unpacked(packed: object) -> str | None:
    return zlib.decompress(packed).decode("utf-8", "surrogatepass") if isinstance(packed, bytes) else None
