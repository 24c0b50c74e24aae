"""Import of labels that no person of the campaign gave, as label sets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from collection import formats
from collection.campaign.imports.import_session import ImportSession
from collection.campaign.machine_labels.label_files import read_report
from collection.campaign.machine_labels.label_sets import LabelSets
from collection.campaign.settings.settings import Settings
from collection.core.errors import ConflictError, InputError, require_known
from collection.core.phrases import count, join_first, percent, plural
from collection.formats.judge_labels import expected_kind
from collection.formats.source import FilePath
from collection.machine_labels.judgements import PEOPLE
from collection.machine_labels.model_families import find_model
from collection.machine_labels.replies import read_grade
from collection.machine_labels.samples import measure_spread
from collection.store import Added, LabelSet
from collection.store.machine_labels import LabelKind

_PAIR = ["query_id", "doc_id"]
_ENDING = re.compile(r"\.(qrels|csv|tsv|jsonl?|parquet)\Z", re.IGNORECASE)
_LABEL = [*_PAIR, "relevance"]


@dataclass(frozen=True)
class LabelChoices:
    """Selection, name and grades of imported labels."""

    name: str | None = None
    """Name of the label set; by default that of the judge in the file, or of the file."""
    judges: Sequence[str] = ()
    """Judges of the file whose labels are imported; by default all."""
    grades: Mapping[float, float] = field(default_factory=dict)
    """Grade in the file -> grade of the label set; other grades stay."""


@dataclass(eq=False)
class LabelSetImport:
    """Import of labels that no person of the campaign gave, as label sets."""

    session: ImportSession
    settings: Settings
    label_sets: LabelSets
    choices: LabelChoices = LabelChoices()
    _notices: dict[str, list[str]] = field(default_factory=dict, init=False)
    """Sentence -> the label sets that it is about."""

    def report(self) -> None:
        """Report what the user should know about the label sets, each sentence once."""
        for sentence, names in self._notices.items():
            sets = plural(len(names), "label set", "label sets")
            self.session.report.notices.append(f"{sets} {join_first(map(repr, names))}: {sentence}")
        self._notices.clear()
        notices = self.session.report.notices
        notices[:] = dict.fromkeys(notices)  # the judges of a file have the same unknown topics

    def _notice(self, name: str, sentence: str) -> None:
        self._notices.setdefault(self.session.words.apply(sentence), []).append(name)

    def import_file(self, path: FilePath, said: str = "") -> None:
        """Import labels of one judge or of several; `said` is what tells that a language model gave them."""
        self.session.refuse_other(path, expected_kind(path))
        report = read_report(path)
        scale = self.settings.grades
        labels = formats.read_judge_labels(
            path, names=scale.names, read_reply=lambda text: read_grade(text, scale).grade
        )
        if said and labels["judge"].replace("", None).nunique() <= 1:  # qrels, whose name or tag says so
            labels = labels.assign(judge="")
        labels = self._select(path, labels, report)
        for judge, rows in labels.groupby("judge", sort=False):
            if report:
                name, kind, settings = str(report["label_set"]), report["kind"], dict(report["settings"])
            else:
                name = str(judge) or self._name_file(path)
                kind, settings = "llm", {"file": Path(path).name, "model": find_model(said or name)}
                if "umbrela" in name.casefold():
                    settings["template"] = {"name": "umbrela"}
            if self.choices.grades:
                settings["grades_in_file"] = {f"{grade:g}": to for grade, to in self.choices.grades.items()}
            self.add(path, rows[_LABEL].reset_index(drop=True), self.choices.name or name, kind, settings)

    def _name_file(self, path: FilePath) -> str:
        """The name of a file without its ending; for a pipe, the name that the user chose."""
        if self.choices.name is not None and formats.is_unnamed(path):
            return self.choices.name
        return _ENDING.sub("", formats.named_stem(path, "the label set"))

    def _select(self, path: FilePath, labels: pd.DataFrame, report: Mapping[str, object]) -> pd.DataFrame:
        """The labels of the chosen judges; of one, if one name is given or FILE.labels.json says whose they are."""
        if isinstance(by := report.get("by"), dict):  # qrels of people, filled with labels
            pairs = zip(labels["query_id"], labels["doc_id"], strict=True)
            labels = labels[[by.get(query_id, {}).get(doc_id, PEOPLE) != PEOPLE for query_id, doc_id in pairs]]
        if report:
            return labels.assign(judge="")
        judges = list(map(str, labels["judge"].unique()))
        if self.choices.judges:
            require_known(f"judge in {path}", judges, *self.choices.judges)
            judges = list(dict.fromkeys(self.choices.judges))
        if self.choices.name is not None and len(judges) > 1:
            raise InputError(
                f"{path}: expected labels of one judge for the label set {self.choices.name!r}, found "
                f"{len(judges):,} ({join_first(judges)}); choose one with --judge, or leave out --name"
            )
        return labels[labels["judge"].isin(judges)]

    def add(
        self, path: FilePath, labels: pd.DataFrame, name: str, kind: LabelKind, settings: Mapping[str, object]
    ) -> None:
        """Add labels of one judge to a label set, and report what the user should know about them.

        `labels`: ``query_id``, ``doc_id``, ``relevance`` (nan or below 0 for no label).
        """
        graded = labels[labels["relevance"] >= 0].reset_index(drop=True)
        if graded.empty:
            self._notice(name, "not made, because all labels are empty or negative")
            return
        known, ignored = self.session.known_topics(path, graded)
        known = self._map_grades(path, known.astype({"query_id": "str"}), name)
        try:
            labelled = self.label_sets.label_by_file(known, name, kind, settings)
        except (ConflictError, InputError) as error:
            hint = "rename the file or the annotator in it, or name the label set with `cleverdon labels import --name`"
            raise type(error)(f"{path}: {error}; {hint}") from error
        pairs = known.drop_duplicates(_PAIR)
        added = Added(labelled.added, 0, len(pairs) - labelled.added)
        self.session.added(path, "machine label", added, f" in the label set {labelled.label_set.name!r}")
        self.session.ignored(path, ignored)
        name = labelled.label_set.name
        if left_out := len(labels) - len(graded):
            self._notice(
                name, f"skipped {count(left_out, 'label')} that {plural(left_out, 'is', 'are')} empty or negative"
            )
        if labelled.differing:
            differ = plural(labelled.differing, "differs from that", "differ from those")
            self._notice(
                name,
                f"{count(labelled.differing, 'label')} {differ} in the label set, which "
                f"{plural(labelled.differing, 'stays', 'stay')}; delete the label set first, or choose another name",
            )
        self._report_samples(labelled.label_set)
        self._report_pool(labelled.label_set, pairs)
        self._report_scale(name, known["relevance"])

    def _map_grades(self, path: FilePath, labels: pd.DataFrame, name: str) -> pd.DataFrame:
        """The labels with the grades that the user chose in place of those in the file."""
        wanted, present = self.choices.grades, set(labels["relevance"])
        if missing := sorted(grade for grade in wanted if grade not in present):
            grades = ", ".join(f"{grade:g}" for grade in missing)
            self._notice(name, f"no label has the {plural(len(missing), 'grade', 'grades')} {grades}")
        return labels.assign(
            relevance=labels["relevance"].map(lambda grade: wanted.get(grade, grade)).astype("float64")
        )

    def _report_samples(self, label_set: LabelSet) -> None:
        spread = measure_spread(self.session.store.machine_labels.samples(label_set.key))
        if spread is not None:
            self._notice(
                label_set.name,
                f"{count(spread.pairs, 'pair')} {plural(spread.pairs, 'is', 'are')} labelled several times, "
                f"{spread.samples / spread.pairs:.1f} times on average; the samples of {percent(spread.differing)} "
                f"differ, with a mean standard deviation of {spread.deviation:.2f}. "
                "The label of a pair is their lower median",
            )

    def _report_pool(self, label_set: LabelSet, pairs: pd.DataFrame) -> None:
        """Report labels of a file outside the pool, and pairs of the pool without a label in the set."""
        name = label_set.name
        pool = pd.MultiIndex.from_frame(self.session.store.pool.pairs()[_PAIR])
        if pool.empty:
            return
        outside = int((~pd.MultiIndex.from_frame(pairs[_PAIR]).isin(pool)).sum())
        labelled = pd.MultiIndex.from_frame(self.session.store.machine_labels.current(label_set.key)[_PAIR])
        without = int((~pool.isin(labelled)).sum())
        if outside:
            self._notice(
                name,
                f"{count(outside, 'label')} {plural(outside, 'is', 'are')} outside the pool. Corrected values and "
                "filled qrels leave them out; comparisons with people and other judges use them",
            )
        if without:
            has = plural(without, "has", "have")
            self._notice(name, f"{count(without, 'pair')} of the pool {has} no label")

    def _report_scale(self, name: str, grades: pd.Series[float]) -> None:
        """Report labels outside the grades of the campaign, or with two grades where the campaign has more."""
        scale, used = self.settings.grades, sorted(set(grades))
        wrong = [grade for grade in used if grade not in scale]
        if wrong:
            number, highest = int(grades.isin(wrong).sum()), max(scale.sentences)
            example = ",".join(f"{grade:g}={highest}" for grade in wrong)
            self._notice(
                name,
                f"{count(number, 'label')} {plural(number, 'is no grade', 'are no grades')} of this campaign "
                f"({scale}), such as {wrong[0]:g}. The agreement with people leaves {plural(number, 'it', 'them')} "
                "out, and qrels cannot be filled with these labels. Import the file under another name and map the "
                f"grades, such as `--map {example}`",
            )
        elif used == [0, 1] and len(scale.sentences) > 2:
            self._notice(
                name,
                f"the grades are 0 and 1, those of the campaign {scale}. If 1 stands for relevant, import the file "
                "under another name with the grade that it means, such as `--map 1=2`",
            )
