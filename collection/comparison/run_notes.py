"""Notes on runs and qrels that do not fit: their order, their ids, and topics and grades that count for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from collection.core.phrases import count, join_first, plural
from collection.id_matches import HARDLY_ANY, ask_for_ids, describe_alike, find_alike, loose_key
from collection.measures import Aligned, Measure, QrelsIndex
from collection.measures.aligned import UNJUDGED, UNPOOLED

SMALLEST = float(np.nextafter(0, 1))
"""The level of measures that read grades: anything above 0."""

FEW_TOPICS = 0.2
"""Share of topics that match below which the ids may be those of other topics."""


def describe_matches(name: str, aligned: Aligned, index: QrelsIndex) -> Iterator[str]:
    """Write notes on ids of a run that match hardly any of the qrels, or differ from theirs only in writing."""
    if aligned.ignored_topics and aligned.missing_topics:
        if alike := find_alike(aligned.ignored_topics, {loose_key(t): t for t in aligned.missing_topics}):
            yield describe_alike(name, "topic", alike, "qrels")
        both = len(aligned.topics) - len(aligned.missing_topics)
        possible = min(len(aligned.topics), both + len(aligned.ignored_topics))
        if both < FEW_TOPICS * possible:
            found = f"{both:,} of {count(possible, 'topic')} {plural(both, 'is', 'are')} in the qrels"
            yield ask_for_ids(name, found, aligned.ignored_topics, "qrels", aligned.missing_topics)
    if alike := find_alike(aligned.unnamed, index.by_loose_key):
        yield describe_alike(name, "document", alike, "qrels")
        return
    present = aligned.retrieved > 0
    possible = int(np.minimum(aligned.retrieved, index.sizes)[present].sum())
    named = int(np.count_nonzero(aligned.grades > UNPOOLED))
    if named < HARDLY_ANY * possible:
        found = f"{named:,} of up to {count(possible, 'document')} of the qrels {plural(named, 'is', 'are')} in the run"
        found = "no document of the run is in the qrels of its topic" if not named else found
        yield ask_for_ids(name, found, aligned.unnamed, "qrels", index.documents[:3].to_pylist())


def describe_grades(measures: Sequence[Measure], index: QrelsIndex) -> Iterator[str]:
    """Write notes on topics without a relevant document, and on fractions of grades below the default level."""
    levels = {m: m.parameters.get("rel", m.entry.parameters.get("rel")) for m in measures if not m.entry.descriptive}
    best = index.judged.max(axis=1, initial=UNJUDGED)
    judged = best > UNJUDGED
    for level in sorted({SMALLEST if level is None else level for level in levels.values()}):
        (without,) = np.nonzero(judged & (best < level))
        if 0 < len(without) < np.count_nonzero(judged):  # all of them: see out_of_reach()
            at_level = f" of grade {level:g} or more" if level > 1 else ""
            yield (
                f"{len(without):,} of {count(len(best), 'topic')} {plural(len(without), 'has', 'have')} no relevant "
                f"document{at_level} ({join_first([index.topics[row] for row in without.tolist()])}) and "
                f"{plural(len(without), 'counts', 'count')} in the means, as 0 for most measures"
            )
            break
    usual = [measure for measure, level in levels.items() if level == 1 and "rel" not in measure.parameters]
    below = index.judged[(index.judged > 0) & (index.judged < 1)]
    if usual and len(below) and index.highest >= 1:
        lowest = float(below.min())
        yield (
            f"{count(len(below), 'grade')} between 0 and 1 (such as {below.max():g}) {plural(len(below), 'is', 'are')} "
            f"below relevance level 1 and {plural(len(below), 'counts', 'count')} as not relevant "
            f"({', '.join(map(str, usual))}). Try --relevance-level {lowest:g}, or {usual[0](rel=lowest)}"
        )
