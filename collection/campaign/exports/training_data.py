"""Training examples for rankers, from the judgements."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pandas as pd

from collection import formats, pooling
from collection.adjudication import parse_rule
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.corpus.document_texts import DocumentTexts
from collection.campaign.exports.export import RULE_FILE
from collection.campaign.results.qrels import QrelsBuilder, RuleChoice
from collection.campaign.settings.settings import Settings
from collection.core import clock, layout
from collection.core.errors import CampaignError, InputError, require_known
from collection.core.frames import QRELS
from collection.documents import near_duplicates
from collection.export import training_examples as training
from collection.export.training_examples import Examples
from collection.store import Store

PAIR = ["query_id", "doc_id"]

RanksOf = Literal["fusion", "any"]
"""Ranks for a rule for negatives: of a reciprocal rank fusion of all runs, or the best of any run."""


class TrainingFile(NamedTuple):
    """A written file of training data, its number of examples, and the content of FILE.rule.json."""

    path: str
    lines: int
    report: dict[str, Any]


@dataclass(eq=False)
class TrainingData:
    """Training examples for rankers, from the judgements."""

    store: Store
    directory: Path
    settings: Settings
    corpus: Corpus
    qrels: QrelsBuilder

    def examples(
        self,
        negatives: str = "judged",
        *,
        count: int = 1,
        ranks: tuple[int, int] | None = None,
        ranks_of: RanksOf = "fusion",
        level: int | None = None,
        margin: int | None = None,
        positives: int | None = None,
        whole: bool = False,
        apart: bool = False,
        texts: bool = False,
        seed: int = 0,
        rule: RuleChoice = None,
    ) -> Examples:
        """Pair each relevant document with some that are not; see :func:`collection.export.training_examples.examples`.

        No negative is a document that anybody graded as relevant or chose for the topic; pairs that somebody could not
        judge are in no example. Where the task is to choose from lists, positives are the sparse qrels.

        Parameters
        ----------
        negatives, count
            A name of :data:`collection.export.training_examples.NEGATIVES`, and the number for each positive.
        ranks, ranks_of
            For rules that look at runs: first and last rank (default 1 to 100), and whose.
        level
            Minimum grade of a positive; the relevance level of the loop by default.
        positives
            Maximum number of positives for each topic, chosen at random.
        whole, margin
            As for :func:`collection.export.training_examples.examples`.
        apart
            Leave out negatives that are near-duplicates of a positive of the topic. Takes time.
        texts
            Only documents with a text.

        Raises
        ------
        CampaignError
            Nothing is relevant yet, or the rule looks at runs and there are none.
        UnknownNameError, InputError
            There is no such rule; a number is not in its range.
        """
        parameters = training.NEGATIVES[negatives].parameters
        require_known("source of ranks", get_args(RanksOf), ranks_of)
        if ranks is not None and "first" not in parameters:
            raise InputError(f"rule {negatives} for negatives does not use ranks; leave them out")
        first, last = ranks or (parameters.get("first", 1), parameters.get("last", 1))
        qrels = self.qrels.from_choices() if self._chooses_from_lists() else self.qrels.build(rule)
        if qrels.empty:
            raise CampaignError("training data needs grades, found none; judge some pairs first")
        ranked = self._ranked(ranks_of, first, last) if "first" in parameters else None
        pool = self._ids_with_text() if negatives == "unjudged-random" else []
        named = [qrels["doc_id"], *([] if ranked is None else [ranked["doc_id"]])]
        candidates = list(dict.fromkeys([*pd.concat(named).tolist(), *pool])) if apart else []
        missing = self.store.corpus.find_without_text(pd.concat(named).unique()) if texts else set()
        judgements = self._judgements()
        return training.examples(
            qrels,
            rule=negatives,
            parameters={"first": first, "last": last} if "first" in parameters else {},
            ranked=ranked,
            documents=pool,
            usable=(lambda doc_id: doc_id not in missing) if missing else None,
            marked=self._marked(judgements),
            excluded=judgements.loc[judgements["kind"] == "cannot judge", PAIR],
            near=self._near_groups(candidates) if apart else None,
            level=self._level(level),
            margin=margin,
            negatives=count,
            whole=whole,
            per_topic=positives,
            seed=seed,
        )

    def export(
        self,
        *,
        triples: Path | str | None = None,
        tuples: Path | str | None = None,
        negatives: str = "judged",
        **how: Any,
    ) -> list[TrainingFile]:
        """Write training data: ``.tsv`` has ids, ``.jsonl`` texts; see :func:`collection.formats.write_training`.

        FILE.rule.json next to FILE records the settings. The text of a topic is its title, or its first text.

        Parameters
        ----------
        triples
            One line for each positive and negative.
        tuples
            One line for each positive that has as many negatives as were asked for.
        negatives, **how
            As for :meth:`examples`, without ``texts`` and ``whole``, which follow from the file.
        """
        for file in (triples, tuples):
            layout.require_output(file, self.directory)
        written = []
        for path, whole in ((triples, False), (tuples, True)):
            if path is None:
                continue
            texts = Path(path).name.removesuffix(".gz").endswith(".jsonl")
            examples = self.examples(negatives, whole=whole, texts=texts, **how)
            lines = formats.write_training(
                examples.frame,
                path,
                tuples=whole,
                flagged=training.takes_unjudged(negatives),
                queries=self._queries(),
                documents=self.store.corpus.documents,
            )
            form = "tuples" if whole else "triples"
            report = self._report(examples, negatives, form, texts, how)
            formats.write_report(report, path, RULE_FILE)
            written.append(TrainingFile(str(path), lines, report))
        return written

    def _report(
        self, examples: Examples, negatives: str, form: str, texts: bool, how: Mapping[str, Any]
    ) -> dict[str, Any]:
        entry = training.NEGATIVES[negatives]
        by_rank, listed = "first" in entry.parameters, self._chooses_from_lists()
        return {
            "form": form,
            "positives": "chosen from lists" if listed else f"grade {self._level(how.get('level'))} or more",
            "rule_of_grades": "majority" if listed else str(parse_rule(how.get("rule"))),
            "negatives": negatives,
            "description": entry.description,
            "unjudged": training.takes_unjudged(negatives),
            "ranks": list(how.get("ranks") or entry.parameters.values()) if by_rank else None,
            "ranks_of": how.get("ranks_of", "fusion") if by_rank else None,
            "runs": self.store.corpus.runs()["run"].tolist() if by_rank else None,
            "negatives_each": how.get("count", 1),
            "margin": how.get("margin"),
            "most_positives": how.get("positives"),
            "near_duplicates_left_out": bool(how.get("apart")),
            "only_with_text": texts,
            "seed": how.get("seed", 0),
            "counts": examples.counts,
            "campaign": self.settings.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }

    def _chooses_from_lists(self) -> bool:
        return self.settings.judging_page().task == "list"

    def _queries(self) -> dict[str, str]:
        topics = ({str(k): str(v) for k, v in topic.items()} for topic in self.store.corpus.topics().to_dict("records"))
        return {topic["query_id"]: formats.query_text(topic) for topic in topics}

    def _level(self, level: int | None) -> int:
        if level is not None:
            return level
        return 1 if self._chooses_from_lists() else self.settings.loop().level

    def _ranked(self, ranks_of: RanksOf, first: int, last: int) -> pd.DataFrame:
        """``query_id``, ``doc_id``, ``rank`` of the pairs that the runs have at these ranks."""
        runs = list(self.corpus.runs())
        if not runs:
            raise CampaignError(
                "hard negatives need runs, found none; import some with `cleverdon import DIR --run FILE`"
            )
        pairs = pooling.evidence(runs)
        rank = pairs["best"] if ranks_of == "any" else pairs.groupby("query_id", sort=False).cumcount() + 1
        return pairs.assign(rank=rank)[rank.between(first, last)][[*PAIR, "rank"]].reset_index(drop=True)

    def _ids_with_text(self) -> list[str]:
        without = set(self.store.corpus.without_text_rows())
        return self.store.corpus.doc_ids([r for r in range(self.store.corpus.document_rows()) if r not in without])

    def _judgements(self) -> pd.DataFrame:
        """All current judgements, surplus ones too."""
        log = self.store.judgements.table(current=False)
        return pd.concat([self.store.judgements.table(), log[log["counts_as"] == "surplus"]])

    def _marked(self, judgements: pd.DataFrame) -> pd.DataFrame:
        """Every grade; chosen documents have the highest."""
        graded = judgements.loc[judgements["kind"] == "graded", list(QRELS.names)]
        chosen = self.store.topic_tasks.choices()[["query_id", "chosen"]].explode("chosen").dropna()
        chosen = chosen.rename(columns={"chosen": "doc_id"}).assign(relevance=max(self.settings.grades.sentences))
        return pd.concat([graded, chosen], ignore_index=True)

    def _near_groups(self, doc_ids: Sequence[str]) -> dict[str, int]:
        read = partial(self.store.corpus.iterate_documents, doc_ids)
        texts = DocumentTexts(read, self.settings.judging_page().form)
        return near_duplicates.group_numbers(near_duplicates.groups(texts))
