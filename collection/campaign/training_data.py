"""Training data from a campaign, and what click logs say of its documents."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pandas as pd

from collection import clicks, clock, formats, layout, pooling
from collection.adjudication import Chosen
from collection.adjudication import parse as parse_rule
from collection.campaign.adjudication import RULE_FILE
from collection.campaign.document_texts import Texts
from collection.campaign.near_duplicates import Nearing
from collection.campaign.topic_decisions import Deciding
from collection.clicks import SMOOTHING, ClickEstimate
from collection.documents import near_duplicates
from collection.errors import CampaignError, InputError, UnknownNameError
from collection.export import training_examples as training
from collection.export.training_examples import Examples
from collection.frames import QRELS

PAIR = ["query_id", "doc_id"]

RanksOf = Literal["fusion", "any"]
"""Whose ranks a rule for negatives looks at: those of a reciprocal rank fusion of all runs, or the best of any run."""


class TrainingFile(NamedTuple):
    """A file of training data that was written.

    Attributes
    ----------
    path
        The file.
    lines
        How many examples it has.
    report
        What made it, as plain data: what stands beside it in FILE.rule.json.
    """

    path: str
    lines: int
    report: dict[str, Any]


class Schooling(Deciding, Nearing):
    """The part of a campaign from which rankers learn: people's judgements as examples, and clicks by themselves."""

    # --- examples ---------------------------------------------------------------------------------------

    def training_examples(
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
        rule: str | Chosen | None = None,
    ) -> Examples:
        """For each relevant document some that are not; see :func:`collection.export.training_examples.examples`.

        No negative is a document that anybody graded as relevant or chose for the topic, whatever the rule made of it.
        A pair of which anybody says that it cannot be judged is in no example. Where the task is to choose from lists,
        positives are the sparse qrels, and nothing is judged as not relevant.

        Parameters
        ----------
        negatives
            A name of :data:`collection.export.training_examples.NEGATIVES`.
        count
            Negatives for each positive.
        ranks, ranks_of
            For the rules that look at the runs: first and last rank (1 to 100 if left out), and whose.
        level
            The lowest grade of a positive; that of the loop if left out.
        margin
            Instead of negatives below the level: those at least so many grades below the positive.
        positives
            At most so many for each topic, by lot.
        whole
            Leave out positives that have fewer negatives than `count`.
        apart
            No negative is a near-duplicate of a positive of its topic. Compares all candidates, which takes time.
        texts
            Only documents whose text is here.
        seed
            Of the draw.
        rule
            How several annotators' judgements become one grade, as :meth:`qrels` takes it.

        Raises
        ------
        CampaignError
            Nothing is relevant yet, or the rule looks at runs and there are none.
        UnknownNameError, InputError
            There is no such rule; a number is not in its range.
        """
        parameters = training.NEGATIVES[negatives].parameters
        if ranks_of not in get_args(RanksOf):
            raise UnknownNameError("choice of ranks", ranks_of, get_args(RanksOf))
        if ranks is not None and "first" not in parameters:
            raise InputError(f"the rule {negatives} for negatives does not look at ranks; leave them out")
        first, last = ranks or (parameters.get("first", 1), parameters.get("last", 1))
        listed = self.card_settings().task == "list"
        qrels = self.sparse_qrels() if listed else self.qrels(rule)
        if qrels.empty:
            raise CampaignError("there is no grade yet to make training data of; judge some pairs first")
        ranked = self._ranked(ranks_of, first, last) if "first" in parameters else None
        pool = self._ids_with_text() if negatives == "unjudged-random" else []
        named = [qrels["doc_id"], *([] if ranked is None else [ranked["doc_id"]])]
        candidates = list(dict.fromkeys([*pd.concat(named).tolist(), *pool])) if apart else []
        missing = self.store.without_text(pd.concat(named).unique()) if texts else set()
        said = self._everything_said()
        return training.examples(
            qrels,
            rule=negatives,
            parameters={"first": first, "last": last} if "first" in parameters else {},
            ranked=ranked,
            documents=pool,
            usable=(lambda doc_id: doc_id not in missing) if missing else None,
            marked=self._marked(said),
            excluded=said.loc[said["kind"] == "cannot judge", PAIR],
            near=self._near_groups(candidates) if apart else None,
            level=self._level(level),
            margin=margin,
            negatives=count,
            whole=whole,
            per_topic=positives,
            seed=seed,
        )

    def export_training(
        self,
        *,
        triples: Path | str | None = None,
        tuples: Path | str | None = None,
        negatives: str = "judged",
        **how: Any,
    ) -> list[TrainingFile]:
        """Write training data: ``.tsv`` has ids, ``.jsonl`` texts; see :func:`collection.formats.write_training`.

        Beside FILE stands FILE.rule.json, which says what made it: the rule, its numbers, and how much came of it. The
        text of a topic is its title, or the first that it has.

        Parameters
        ----------
        triples
            One line for each positive and negative.
        tuples
            One line for each positive that has as many negatives as were asked for.
        negatives, **how
            As :meth:`training_examples` takes them, but ``texts`` and ``whole``, which follow from the file.
        """
        for file in (triples, tuples):
            layout.require_output(file, self.directory)
        written = []
        for path, whole in ((triples, False), (tuples, True)):
            if path is None:
                continue
            texts = Path(path).name.removesuffix(".gz").endswith(".jsonl")
            made = self.training_examples(negatives, whole=whole, texts=texts, **how)
            lines = formats.write_training(
                made.frame,
                path,
                tuples=whole,
                flagged=training.takes_unjudged(negatives),
                queries=self._queries(),
                documents=self.store.documents,
            )
            report = self._training_report(made, negatives, "tuples" if whole else "triples", texts, how)
            formats.write_report(report, path, RULE_FILE)
            written.append(TrainingFile(str(path), lines, report))
        return written

    def _training_report(
        self, made: Examples, negatives: str, form: str, texts: bool, how: dict[str, Any]
    ) -> dict[str, Any]:
        entry = training.NEGATIVES[negatives]
        by_rank = "first" in entry.parameters
        listed = self.card_settings().task == "list"
        return {
            "form": form,
            "positives": "chosen from lists" if listed else f"grade {self._level(how.get('level'))} or more",
            "rule_of_grades": "majority" if listed else str(parse_rule(how.get("rule"))),
            "negatives": negatives,
            "description": entry.description,
            "unjudged": training.takes_unjudged(negatives),
            "ranks": list(how.get("ranks") or entry.parameters.values()) if by_rank else None,
            "ranks_of": how.get("ranks_of", "fusion") if by_rank else None,
            "runs": self.store.runs()["run"].tolist() if by_rank else None,
            "negatives_each": how.get("count", 1),
            "margin": how.get("margin"),
            "most_positives": how.get("positives"),
            "near_duplicates_left_out": bool(how.get("apart")),
            "only_with_text": texts,
            "seed": how.get("seed", 0),
            "counts": made.counts,
            "campaign": self.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }

    def _queries(self) -> dict[str, str]:
        topics = ({str(k): str(v) for k, v in topic.items()} for topic in self.topics().to_dict("records"))
        return {topic["query_id"]: formats.query_text(topic) for topic in topics}

    def _level(self, level: int | None) -> int:
        if level is not None:
            return level
        return 1 if self.card_settings().task == "list" else self.loop_settings().level

    def _ranked(self, ranks_of: RanksOf, first: int, last: int) -> pd.DataFrame:
        """``query_id``, ``doc_id``, ``rank`` of what the runs have at these ranks."""
        runs = list(self.runs())
        if not runs:
            raise CampaignError(
                "no run is there whose ranks would say which negatives are hard; import some with --run"
            )
        pairs = pooling.evidence(runs)
        rank = pairs["best"] if ranks_of == "any" else pairs.groupby("query_id", sort=False).cumcount() + 1
        return pairs.assign(rank=rank)[rank.between(first, last)][[*PAIR, "rank"]].reset_index(drop=True)

    def _ids_with_text(self) -> list[str]:
        without = set(self.store.without_text_rows())
        return self.store.doc_ids([row for row in range(self.store.document_rows()) if row not in without])

    def _everything_said(self) -> pd.DataFrame:
        """Everything that anybody said of a pair and stands by, wanted or not."""
        log = self.store.judgements(current=False)
        return pd.concat([self.store.judgements(), log[log["counts_as"] == "surplus"]])

    def _marked(self, said: pd.DataFrame) -> pd.DataFrame:
        """Every grade among it; what was chosen has the highest."""
        given = said.loc[said["kind"] == "graded", list(QRELS.names)]
        chosen = self.choices()[["query_id", "chosen"]].explode("chosen").dropna().rename(columns={"chosen": "doc_id"})
        return pd.concat([given, chosen.assign(relevance=max(self.grades.sentences))], ignore_index=True)

    def _near_groups(self, doc_ids: Sequence[str]) -> dict[str, int]:
        groups = near_duplicates.groups(Texts(self.store, doc_ids, self.card_settings().form))
        return {doc_id: n for n, group in enumerate(groups) for doc_id in group.doc_ids}

    # --- clicks -----------------------------------------------------------------------------------------

    def clicks(self, sources: Iterable[str] | None = None) -> pd.DataFrame:
        """Imported logs of clicks: ``source``, ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``.

        Parameters
        ----------
        sources
            Only these, by the names of their files.

        Raises
        ------
        UnknownNameError
            No log has such a name.
        """
        if sources is None:
            return self.store.clicks()
        known, wanted = self.click_sources()["source"].tolist(), list(sources)
        if unknown := [name for name in wanted if name not in known]:
            raise UnknownNameError("log of clicks", unknown[0], known)
        found = self.store.clicks()
        return found[found["source"].isin(wanted)].reset_index(drop=True)

    def click_sources(self) -> pd.DataFrame:
        """Which logs of clicks were imported: ``source``, ``rows`` (pairs at a rank); by name. Reads no log."""
        return self.store.click_sources()

    def click_estimate(self, sources: Iterable[str] | None = None, *, smoothing: float = SMOOTHING) -> ClickEstimate:
        """What clicks say of the documents; see :func:`collection.clicks.estimate`. It is nobody's judgement.

        Parameters
        ----------
        sources
            Only these logs; all together if left out. Logs of pages that are laid out differently are better
            estimated apart: one examination is estimated for each rank.
        smoothing
            Impressions that each pair is given beside its own.

        Raises
        ------
        CampaignError
            No log was imported.
        """
        counts = self.clicks(sources)
        if counts.empty:
            raise CampaignError("there is no log of clicks; import one with --clicks")
        return clicks.estimate(counts.drop(columns="source"), smoothing=smoothing)

    def export_clicks(
        self,
        *,
        table: Path | str | None = None,
        qrels: Path | str | None = None,
        sources: Iterable[str] | None = None,
        smoothing: float = SMOOTHING,
    ) -> tuple[dict[str, int], ClickEstimate]:
        """Write what clicks say, apart from what people judged.

        Beside each FILE stands FILE.clicks.json, which says that it is made of clicks, and how.

        Parameters
        ----------
        table
            TSV with a header: ``query_id doc_id shown clicked ctr attractiveness by``.
        qrels
            Attractiveness in TREC form, as labels with fractions: ``cleverdon evaluate`` reads them.
        sources, smoothing
            As :meth:`click_estimate` takes them.

        Returns
        -------
        tuple
            Path -> number of rows, and the estimate.
        """
        for file in (table, qrels):
            layout.require_output(file, self.directory)
        found = self.click_estimate(sources, smoothing=smoothing)
        written: dict[str, int] = {}
        if table is not None:
            formats.write_clicks(found.documents, table)
            written[str(table)] = len(found.documents)
        if qrels is not None:
            labels = clicks.labels(found)
            formats.write_qrels(labels, qrels)
            written[str(qrels)] = len(labels)
        for path in written:
            formats.write_report(self._click_report(found, sources), path, CLICKS_FILE)
        return written, found

    def _click_report(self, found: ClickEstimate, sources: Iterable[str] | None) -> dict[str, Any]:
        ranks = found.ranks.astype(object).where(found.ranks.notna(), None)
        return {
            "by": clicks.BY,
            "description": "Labels made of clicks by a position-based model; no person judged these pairs.",
            "sources": (self.click_sources()["source"].tolist() if sources is None else sorted(set(sources))),
            "smoothing": found.smoothing,
            "rank_examined_by_all": found.first,
            "ranks": ranks.to_dict("records"),
            "rounds": found.rounds,
            "converged": found.converged,
            "cautions": clicks.cautions(found),
            "campaign": self.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }


CLICKS_FILE = ".clicks.json"
"""What is put behind the name of a file for the file that says how it was made of clicks."""
