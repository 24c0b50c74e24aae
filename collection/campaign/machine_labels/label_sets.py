"""Label sets, weak labels by rules and clicks, and their display to annotators."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection import accounts, clicks
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.settings.settings import Settings
from collection.clicks import SMOOTHING
from collection.core import clock, layout
from collection.core.arrays import Floats, Ints
from collection.core.errors import CampaignError, ConflictError, InputError, require_known
from collection.core.phrases import count, join, plural
from collection.core.records import Document, Topic
from collection.machine_labels.judgements import PEOPLE, labels_seen
from collection.machine_labels.model_families import runs_of_family
from collection.machine_labels.rules import LABEL_RULES, label_pairs
from collection.machine_labels.samples import SampleSpread, measure_spread
from collection.store import Store
from collection.store.columns import pack_keys
from collection.store.machine_labels import LabelKind, LabelRow, LabelSet, combine_samples

KINDS: Mapping[LabelKind, str] = {
    "llm": "Labels by a language model",
    "rule": "Labels by a rule",
    "clicks": "Labels estimated from clicks",
}
"""What labels of each kind are."""

BATCHES = "batches under way"
"""Key of the setting: name of a label set -> its batch of requests in progress."""

_BUILT_ON = "runs built on models"
"""Key of the setting: name of a label set -> runs."""

_IN_PROGRESS = (
    "a batch of requests is in progress; collect it with `cleverdon labels llm DIR --batch`, or cancel it with "
    "--cancel-batch"
)

_PAIR = ["query_id", "doc_id"]

MOST_READ = 8
"""Number of label sets whose labels stay in memory, with about 25 bytes per pair."""


class LabelledPairs(NamedTuple):
    """A label set after labelling: pairs that were labelled now, those of them without a grade, and all its pairs."""

    label_set: LabelSet
    added: int
    without_grade: int
    pairs: int
    differing: int = 0
    """Pairs that had another label before, which they keep."""


class _ReadLabels(NamedTuple):
    """The labels of a set."""

    current: pd.DataFrame
    """As :meth:`.MachineLabelTables.current`, with the keys and categories of :meth:`.MachineLabelTables.coded`."""
    spread: SampleSpread | None


@dataclass(frozen=True)
class LabelSetSummary:
    """A label set, for lists."""

    name: str
    kind: LabelKind
    made_at: str
    graded: int
    """Pairs whose last answer has a grade."""
    no_grade: int
    """Pairs whose last answer has none."""
    failed: int
    """Pairs whose last request failed."""
    spread: SampleSpread | None
    """Spread of the pairs that are labelled several times; None without any."""
    built_on: list[str]
    """As :meth:`LabelSets.runs_built_on`."""


class LabelSetContents(NamedTuple):
    """Contents of a label set, which are deleted with it."""

    graded: int
    """Pairs with a grade."""
    others: int
    """Pairs whose answer has no grade, or whose request failed."""
    probe_answers: int
    sample: int
    """Pairs of the random sample that was drawn for it."""

    def __str__(self) -> str:
        parts = [count(self.graded, "label")]
        parts += [f"{count(self.others, 'pair')} without a grade"] * bool(self.others)
        parts += [count(self.probe_answers, "probe answer")] * bool(self.probe_answers)
        parts += [f"a random sample of {count(self.sample, 'pair')}"] * bool(self.sample)
        return join(parts)


@dataclass(eq=False)
class LabelSets:
    """Label sets, weak labels by rules and clicks, and their display to annotators.

    Labels are never judgements: progress, recall, agreement of people and qrels do not read them. The loop reads those
    of the set that leads it, to order documents.
    """

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus

    # --- label sets

    def find(self, name: str) -> LabelSet | None:
        """The label set of this name; None if there is none."""
        return next((each for each in self.store.machine_labels.sets() if each.name == name), None)

    def named(self, name: str) -> LabelSet:
        """The label set of this name; UnknownNameError if there is none."""
        label_set = self.find(name)
        if label_set is None:
            require_known("label set", [each.name for each in self.store.machine_labels.sets()], name)
        assert label_set is not None
        return label_set

    def summaries(self) -> list[LabelSetSummary]:
        """All label sets, in order of creation."""
        return [self.summary(each) for each in self.store.machine_labels.sets()]

    def summary(self, label_set: LabelSet) -> LabelSetSummary:
        """Count the pairs of a label set."""
        graded, no_grade, failed = map(self.count_statuses(label_set).__getitem__, ("graded", "no grade", "failed"))
        runs = self.runs_built_on(label_set.name)
        name, kind, at = label_set.name, label_set.kind, label_set.made_at
        return LabelSetSummary(name, kind, at, graded, no_grade, failed, self.spread(label_set), runs)

    def spread(self, label_set: LabelSet) -> SampleSpread | None:
        """Measure how much the samples of pairs that are labelled several times differ; None without any."""
        return self._read(label_set).spread

    def count_statuses(self, label_set: LabelSet) -> Counter[str]:
        """Status -> number of pairs whose last row has it."""
        numbers = self._read(label_set).current["status"].value_counts()
        return Counter({str(status): int(number) for status, number in sorted(numbers.items()) if number})

    def labels(self, name: str) -> pd.DataFrame:
        """The labels of a set: ``query_id``, ``doc_id``, ``relevance`` (float64), in the order of topics."""
        with self.store.snapshot():
            rows = self._read(self.named(name)).current
            graded = rows.loc[rows["status"] == "graded", [*_PAIR, "relevance"]]
            return self.store.judgements.with_ids(self.store.judgements.sort_pairs(graded))

    def align(self, name: str, keys: Ints) -> Floats:
        """(N,) labels of pairs by their :meth:`.JudgementTables.pair_keys`, nan without one."""
        rows = self._read(self.named(name)).current
        own = pack_keys(rows["query_id"], rows["doc_id"])
        return pd.Series(rows["relevance"].to_numpy(), index=own).reindex(keys).to_numpy(dtype=np.float64)

    def _read(self, label_set: LabelSet) -> _ReadLabels:
        """Read the labels of a set, which stay in memory until there are others."""
        tables = self.store.machine_labels

        def read() -> _ReadLabels:
            samples = tables.coded(label_set.key)
            return _ReadLabels(combine_samples(samples), measure_spread(samples))

        last = tables.last_row()
        return self.store.cached("machine labels", last, read, member=label_set.key, most=MOST_READ, shared=True)

    def create(self, name: str, kind: LabelKind, settings: Mapping[str, Any]) -> LabelSet:
        """Add a label set without labels.

        Raises
        ------
        InputError, ConflictError
            The name is invalid; or it is that of another set, an account or an annotator, ignoring case.
        """
        with self.store.transaction():
            return self.store.machine_labels.create(self.require_free(name), kind, settings, clock.now())

    def require_free(self, name: str) -> str:
        """Return the name for a new label set, trimmed; the errors are those of :meth:`create`."""
        clean = accounts.clean_name(name, "label set")
        if clean.casefold() == PEOPLE:
            raise InputError(f"label set: {PEOPLE!r} stands for grades by people; choose another name")
        if clean.casefold() in self.store.machine_labels.folded_names():
            raise ConflictError(f"there is a label set {clean!r}; choose another name")
        people = {*self.store.accounts.names(), *self.store.accounts.names_in_the_log()}
        if clean.casefold() in {person.casefold() for person in people}:
            raise ConflictError(f"{clean!r} is the name of an annotator; choose another name for the label set")
        return clean

    def rename(self, name: str, new_name: str) -> LabelSet:
        """Give a label set another name; its labels, sample and declared runs stay, and pages that show it follow.

        Raises
        ------
        UnknownNameError, InputError, ConflictError
            There is no such set; or the new name is not free, as for :meth:`create`.
        BusyError
            Another process is labelling in this campaign.
        CampaignError
            A batch of requests is in progress for it.
        """
        with layout.locked(self.directory, "labelling"), self.store.transaction():
            label_set = self.named(name)
            if name in self.store.settings.get(BATCHES, {}):
                raise CampaignError(f"the label set {name!r} cannot be renamed: {_IN_PROGRESS}")
            if new_name.strip().casefold() != name.casefold():
                new_name = self.require_free(new_name)
            self.store.machine_labels.rename(label_set.key, new_name.strip())
            declared = self.store.settings.get(_BUILT_ON, {})
            if (runs := declared.pop(name, None)) is not None:
                self.store.settings.put(_BUILT_ON, {**declared, new_name.strip(): runs})
            if self.settings.judging_page().show_labels == name:
                self.settings.set_judging_page(show_labels=new_name.strip())
            if self.settings.loop().labels == name:
                self.settings.set_loop(labels=new_name.strip())
        return label_set._replace(name=new_name.strip())

    def preview_deletion(self, name: str) -> LabelSetContents:
        """Count what :meth:`delete` would delete, with its errors; nothing is changed."""
        tables, label_set = self.store.machine_labels, self.named(name)
        if problem := self._describe_use(label_set):
            raise CampaignError(f"the label set {name!r} cannot be deleted: {problem}")
        statuses = self.count_statuses(label_set)
        answers = sum(counts.answers for counts in tables.probe_counts(label_set.key).values())
        rest = statuses.total() - statuses["graded"]
        return LabelSetContents(statuses["graded"], rest, answers, len(tables.sample(label_set.key)))

    def _describe_use(self, label_set: LabelSet) -> str:
        """The reason for which a label set has to stay, with a remedy if there is one; "" if it can be deleted."""
        sample = self.store.machine_labels.sample_in_use()
        if label_set.name in self.store.settings.get(BATCHES, {}):
            return _IN_PROGRESS
        hide, end = "`cleverdon judging-page DIR --show-labels ''`", "`cleverdon loop DIR --labels ''`"
        uses = {
            self.settings.loop().labels: f"it leads the loop; choose another one, or none with {end}",
            self.settings.judging_page().show_labels: "annotators see its labels on the judging page; hide them with "
            + hide,
        }
        if use := uses.get(label_set.name):
            return use
        if sample is not None and sample.label_set == label_set.key:
            return (
                "annotators judge its random sample; return to the whole pool with `cleverdon labels ask DIR LABELS "
                "--whole-pool`"
            )
        return self._describe_record(label_set)

    def _describe_record(self, label_set: LabelSet) -> str:
        """Entries of the log that name a label set, for which it has to stay; "" for none."""
        viewed = self.store.machine_labels.count_viewed(label_set.key, clock.seconds())
        if viewed.judged:
            return (
                f"{count(viewed.judged, 'pair was', 'pairs were')} judged after the annotator saw the label, which "
                "exports of the log record as saw_label; keep it"
            )
        if led := self.store.judgements.count_led(label_set.key):
            return (
                f"{count(led, 'document was', 'documents were')} judged in the order that it led, which exports of the "
                "log record as led_by; keep it"
            )
        if viewed.reserved:
            return (
                f"{count(viewed.reserved, 'pair is', 'pairs are')} reserved for annotators who saw the label; release "
                "them with `cleverdon assign DIR --release-all`"
            )
        return ""

    def delete(self, name: str) -> LabelSetContents:
        """Delete a label set with its labels, injection probe, random sample and declared runs.

        Raises
        ------
        UnknownNameError
            There is no such set.
        BusyError
            Another process is labelling in this campaign.
        CampaignError
            A batch of requests is in progress, the set leads the loop, annotators see the labels or judge the sample,
            or a judgement was made after its annotator saw the label or while the set led the loop.
        """
        with layout.locked(self.directory, "labelling"), self.store.transaction():
            contents = self.preview_deletion(name)
            self.store.machine_labels.delete(self.named(name).key)
            declared = self.store.settings.get(_BUILT_ON, {})
            if declared.pop(name, None) is not None:
                self.store.settings.put(_BUILT_ON, declared)
        return contents

    # --- weak labels

    def label_by_rule(
        self, rule: str, parameters: Mapping[str, Any] | None = None, *, name: str | None = None
    ) -> LabelledPairs:
        """Label the pairs that are pooled or judged by a rule.

        A set of this name with the same settings keeps its labels, and gets those of pairs that came later.

        Parameters
        ----------
        rule, parameters
            A name of :data:`collection.machine_labels.rules.LABEL_RULES`, and those of its parameters that differ from
            the defaults.
        name
            Name of the label set; by default that of the rule.

        Raises
        ------
        UnknownNameError, InputError, ConflictError
            As :func:`.label_pairs` and :meth:`create`.
        """
        entry, given = LABEL_RULES[rule], dict(parameters or {})
        entry.require_parameters(given)
        settings = {
            "rule": rule,
            "parameters": {**entry.parameters, **given},
            "description": entry.description,
            "function": f"{entry.function.__module__}.{entry.function.__qualname__}",
        }
        pairs = self._documents_of(self._unlabelled(self._set_with(name := name or rule, "rule", settings)))
        labels = label_pairs(entry, pairs, self.settings.grades, given)  # takes time: others label meanwhile
        with self.store.transaction():
            label_set = self._set_with(name, "rule", settings) or self.create(name, "rule", settings)
            left = self._unlabelled(label_set)
            return self._append(label_set, labels.merge(left, on=_PAIR))

    def label_by_clicks(
        self, sources: Iterable[str] | None = None, *, name: str = "clicks", smoothing: float = SMOOTHING
    ) -> LabelledPairs:
        """Label the pairs of click logs by their attractiveness, from 0 to 1.

        `sources` and `smoothing` are those of :meth:`.ClickLogs.estimate`.

        Raises
        ------
        CampaignError, InputError, UnknownNameError, ConflictError
            As :meth:`.ClickLogs.estimate` and :meth:`create`; or the set has labels of other logs.
        """
        sources = None if sources is None else sorted(set(sources))
        estimate = self.corpus.clicks.estimate(sources, smoothing=smoothing)
        rows = self.corpus.clicks.log(sources).groupby("source")[["shown", "clicked"]].sum()
        settings = {
            "model": "position-based click model",
            "sources": {str(log): {"shown": int(n), "clicked": int(c)} for log, n, c in rows.itertuples()},
            "smoothing": smoothing,
        }
        labels = clicks.labels(estimate)
        with self.store.transaction():
            label_set = self._set_with(name, "clicks", settings)
            labels = self._in_campaign(labels) if label_set is None else labels.head(0)
            return self._append(label_set or self.create(name, "clicks", settings), labels)

    def label_by_file(
        self, labels: pd.DataFrame, name: str, kind: LabelKind, settings: Mapping[str, Any]
    ) -> LabelledPairs:
        """Label pairs whose labels were made elsewhere: ``query_id``, ``doc_id``, ``relevance``, at least 0.

        Several rows of a pair are samples of the judge. The campaign has the topics. Pairs that the set labels already
        keep their labels. A set can come from several files. Errors are those of :meth:`create`; ConflictError if a set
        of this name was made in another way, or has other labels from another file.
        """
        with self.store.transaction():
            label_set = self._set_with(name, kind, settings) or self.create(name, kind, settings)
            self.store.corpus.add_document_ids(labels["doc_id"].drop_duplicates())
            sampled = labels.astype({"relevance": "float64"})
            sampled = sampled.assign(sample=sampled.groupby(_PAIR, observed=True).cumcount() + 1, status="graded")
            known = self.store.machine_labels.current(label_set.key)[[*_PAIR, "relevance"]]
            rows = sampled.merge(known, on=_PAIR, how="left", suffixes=("", "_known"), indicator="place")
            again = rows[rows["place"] == "both"]
            other = combine_samples(again) if len(again) else again
            differing = int((other["relevance"] != other["relevance_known"]).sum())
            if differing and settings.get("file") != label_set.settings.get("file"):
                have = f"{count(differing, 'pair')} {plural(differing, 'has', 'have')}"
                raise ConflictError(f"{have} other labels in the label set {name!r}; choose another name")
            return self._append(label_set, rows[rows["place"] == "left_only"])._replace(differing=differing)

    def _set_with(self, name: str, kind: LabelKind, settings: Mapping[str, Any]) -> LabelSet | None:
        """The set of this name, which must have these settings; None if there is none."""
        label_set = self.find(name)
        if label_set is None:
            return None
        own, wanted = ({**each, "file": None} for each in (label_set.settings, settings))
        if label_set.kind != kind or own != json.loads(json.dumps(wanted)):
            raise ConflictError(f"the label set {name!r} was made in another way; choose another name")
        return label_set

    def _append(self, label_set: LabelSet, labels: pd.DataFrame) -> LabelledPairs:
        """Append labels (nan for none), each the first sample of its pair unless a column ``sample`` says otherwise."""
        at = clock.now()
        numbers = labels["sample"].tolist() if "sample" in labels else [1] * len(labels)
        rows = [
            LabelRow(
                query_id, doc_id, "no grade" if pd.isna(value) else "graded", None if pd.isna(value) else value, at,
                sample=number,
            )
            for (query_id, doc_id, value), number in zip(
                labels[[*_PAIR, "relevance"]].itertuples(index=False, name=None), numbers, strict=True
            )
        ]  # fmt: skip
        self.store.machine_labels.add(label_set.key, rows)
        first = [row for row in rows if row.sample == 1]
        missing = sum(row.relevance is None for row in first)
        return LabelledPairs(label_set, len(first), missing, len(self.store.machine_labels.current(label_set.key)))

    def _unlabelled(self, label_set: LabelSet | None) -> pd.DataFrame:
        """``query_id``, ``doc_id`` of the pooled and the judged pairs that a set does not label yet, by topic."""
        judged = self.store.judgements.table(columns=_PAIR)
        pairs = pd.concat([self.store.pool.pairs()[_PAIR], judged]).drop_duplicates()
        if label_set is None:
            return self.corpus.in_topic_order(pairs)
        known = self.store.machine_labels.current(label_set.key)[_PAIR].assign(known=True)
        left = pairs.merge(known, on=_PAIR, how="left")
        return self.corpus.in_topic_order(left.loc[left["known"].isna(), _PAIR])

    def _documents_of(self, pairs: pd.DataFrame) -> Iterator[tuple[Topic, Document]]:
        """Topic and document of each pair, reading the documents of one topic at a time."""
        topics = {each.query_id: each for each in self.store.corpus.topic_records()}
        for query_id, ids in pairs.groupby("query_id", sort=False)["doc_id"]:
            for document in self.store.corpus.iterate_documents(ids.tolist()):
                yield topics[str(query_id)], document

    def _in_campaign(self, labels: pd.DataFrame) -> pd.DataFrame:
        topics = labels["query_id"].isin(set(self.store.corpus.topics()["query_id"]))
        known = labels["doc_id"].isin(set(self.store.corpus.doc_keys(labels["doc_id"].tolist())))
        return labels[topics & known]

    # --- runs built on models

    def runs_built_on(self, name: str) -> list[str]:
        """Runs built on the family of a label set's model: declared ones, and those whose name has the family."""
        label_set = self.named(name)
        built_on = {*self.declared_runs(label_set), *self.runs_named_alike(label_set)}
        return [run for run in self.store.corpus.runs()["run"].tolist() if run in built_on]

    def declared_runs(self, label_set: LabelSet) -> list[str]:
        """Runs that :meth:`declare_runs` named."""
        return list(self.store.settings.get(_BUILT_ON, {}).get(label_set.name, []))

    def runs_named_alike(self, label_set: LabelSet, runs: Iterable[str] | None = None) -> list[str]:
        """Runs whose names suggest the family of the model, among `runs` or all runs of the campaign."""
        names = self.store.corpus.runs()["run"].tolist() if runs is None else list(runs)
        alike = {run for model in self.models(label_set) for run in runs_of_family(model, names)}
        return [name for name in names if name in alike]

    def models(self, label_set: LabelSet) -> list[str]:
        """Language models that gave the labels: one, those of the judges of a vote, or none."""
        models = [label_set.settings.get("model", "")] if label_set.kind == "llm" else []
        return list(dict.fromkeys(str(each) for each in label_set.settings.get("models", models) if each))

    def declare_runs(self, name: str, runs: Iterable[str]) -> None:
        """Declare which runs are built on the model of a label set, in place of those declared before.

        UnknownNameError for an unknown set or run.
        """
        wanted = list(dict.fromkeys(runs))
        self.named(name)
        require_known("run", self.store.corpus.runs()["run"].tolist(), *wanted)
        with self.store.transaction():
            self.store.settings.put(_BUILT_ON, {**self.store.settings.get(_BUILT_ON, {}), name: wanted})

    # --- what annotators see

    def show(self, annotator: str, query_id: str, doc_ids: Iterable[str]) -> dict[str, float]:
        """Labels to show an annotator with documents: nothing unless the manager shows a set; recorded as seen.

        Call it in the transaction that hands out the documents.
        """
        name = self.settings.judging_page().show_labels
        if not name:
            return {}
        label_set = self.named(name)
        labels = self.store.machine_labels.grades_of(label_set.key, query_id, doc_ids)
        if labels:
            pairs = [(query_id, doc_id) for doc_id in labels]
            self.store.machine_labels.record_view(annotator, label_set.key, pairs, clock.now())
        return labels

    def unseen(self, name: str, judgements: pd.DataFrame) -> pd.DataFrame:
        """The judgements that were not given after their annotator saw the label of this set.

        `judgements` has ``annotator``, ``query_id``, ``doc_id``, ``judged_at``, as :meth:`.AgreementStudy.labels`.
        """
        self.named(name)
        views = self.store.machine_labels.views()
        return judgements[labels_seen(judgements, views[views["label_set"] == name]) == ""]
