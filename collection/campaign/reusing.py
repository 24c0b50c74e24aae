"""Whether the campaign's collection is fair to a system that was not pooled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collection import reusability
from collection.adjudication import Chosen
from collection.campaign.settling import Settling
from collection.errors import CampaignError
from collection.measures import Measure
from collection.reusability import Groups, Reusability, groups_by_prefix


class Reusing(Settling):
    """The part of a campaign that looks at its own pool."""

    def reusability(
        self,
        measures: Sequence[Measure] = (),
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
            self.runs(), qrels, measures, groups=groups, depth=depth, rel=rel, with_bounds=with_bounds
        )
