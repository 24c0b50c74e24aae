"""Whether the campaign's collection is fair to a system that was not pooled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from collection import reusability
from collection.adjudication import Chosen
from collection.campaign.qrels import Settling
from collection.errors import CampaignError
from collection.measures import Measure
from collection.reusability import Groups, Reusability, groups_by_prefix

ENOUGH_FINISHED = 0.5
"""From so large a share of the topics with grades on, those judged to the end are looked at alone: the others would add
holes that are no fault of the pool. With fewer the answer would rest on what happens to be finished first."""


class TopicsWithGrades(NamedTuple):
    """Which topics the pool can be looked at by.

    Attributes
    ----------
    graded
        Topics with a grade, by name.
    finished
        Those of them whose pool is judged to the end.
    """

    graded: tuple[str, ...]
    finished: tuple[str, ...]

    @property
    def usual(self) -> tuple[str, ...] | None:
        """What the page and the command take unless told otherwise; None: all that have a grade.

        Examples
        --------
        >>> TopicsWithGrades(("1", "2", "3"), ("1", "2")).usual
        ('1', '2')
        >>> TopicsWithGrades(("1", "2", "3"), ("1",)).usual
        """
        enough = ENOUGH_FINISHED * len(self.graded) <= len(self.finished) < len(self.graded)
        return self.finished if enough else None


class Reusing(Settling):
    """The part of a campaign that looks at its own pool."""

    def graded_topics(self, rule: str | Chosen | None = None) -> tuple[str, ...]:
        """The topics that have a grade by this rule, by name."""
        qrels = self._qrels_of(rule, None)
        return tuple(sorted(set(qrels.loc[qrels["relevance"] >= 0, "query_id"].astype(str))))

    def topics_with_grades(
        self, rule: str | Chosen | None = None, *, graded: tuple[str, ...] | None = None
    ) -> TopicsWithGrades:
        """The topics that have a grade by this rule, and which of them are finished.

        Parameters
        ----------
        rule
            As :meth:`qrels` takes it.
        graded
            :meth:`graded_topics`, if they are there already: settling all judgements takes a while.
        """
        graded = self.graded_topics(rule) if graded is None else graded
        progress = self.progress()
        done = ((progress["goal"] > 0) & (progress["made"] >= progress["goal"])).fillna(False)
        finished = set(progress.loc[done, "query_id"].astype(str))
        return TopicsWithGrades(graded, tuple(topic for topic in graded if topic in finished))

    def reusability(
        self,
        measures: Measure | str | Iterable[Measure | str] = (),
        *,
        rule: str | Chosen | None = None,
        topics: Iterable[str] | None = None,
        groups: Groups = groups_by_prefix,
        depth: int | None = None,
        rel: float = 1,
        with_bounds: bool = False,
    ) -> Reusability:
        """Ask whether the collection can be used for other systems; see :func:`collection.reusability.look`.

        Parameters
        ----------
        measures, groups, depth, rel, with_bounds
            As there. To which depth the runs were pooled is read off the judgements, not off the rounds of the pool:
            what is pooled and not yet judged helps nobody.
        rule, topics
            As :meth:`evaluate` takes them.

        Raises
        ------
        CampaignError
            There is no run, or no grade.
        """
        if not len(self.store.runs()):
            raise CampaignError("there is no run to leave out; import some with --run")
        qrels = self._qrels_of(rule, topics)
        if not len(qrels):
            raise CampaignError("there is no grade yet; judge some pairs first")
        return reusability.look(
            self.runs(),
            qrels,
            measures,
            groups=groups,
            depth=depth,
            rel=rel,
            with_bounds=with_bounds,
            grades=self.grades.sentences,
        )
