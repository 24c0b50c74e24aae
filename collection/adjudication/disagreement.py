"""The pairs on which annotators differ, and their opinions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.adjudication.judgement_matrix import ADJUDICATION
from collection.core.arrays import Bools
from collection.core.frames import JUDGEMENTS
from collection.core.questions import RELEVANCE, Question, unordered
from collection.core.records import Answer

OPINION_COLUMNS = (
    "uuid", "annotator", "kind", "relevance", "reason", "note", "seconds", "judged_at", "source", "flagged", "passages",
    "answers",
)  # fmt: skip


class Disagreements(NamedTuple):
    """Numbers of pairs that several annotators graded, and of those on which they differ."""

    pairs: int
    differ: int


def _said_by_annotators(judgements: pd.DataFrame) -> Bools:
    """Mark the rows that are neither adjudications nor surplus."""
    if "counts_as" not in judgements:
        return np.ones(len(judgements), dtype=np.bool_)
    return (judgements["counts_as"] == "judgement").to_numpy(dtype=np.bool_)


def count_disagreements(judgements: pd.DataFrame) -> Disagreements:
    """Count the pairs that several annotators graded, by current :data:`collection.core.frames.JUDGEMENTS`.

    Adjudications do not count: an adjudicator is no party to the disagreement.
    """
    judgements = JUDGEMENTS.check(judgements)
    graded = judgements[(judgements["kind"] == "graded").to_numpy(dtype=np.bool_) & _said_by_annotators(judgements)]
    grades = graded.groupby(["query_id", "doc_id"])["relevance"]
    several = grades.size() > 1
    return Disagreements(int(several.sum()), int((grades.nunique() > 1).sum()))


def list_disagreements(
    judgements: pd.DataFrame,
    topics: Sequence[str] | None = None,
    *,
    ended: bool = False,
    questions: Sequence[Question] = (),
) -> pd.DataFrame:
    """List the pairs on which current judgements differ and that no adjudication has ended yet.

    A grade and "cannot judge" differ too, with distance 0, and so do different answers to one of the `questions`; who
    was not asked a question or did not answer it differs from nobody.

    Parameters
    ----------
    judgements
        :data:`collection.core.frames.JUDGEMENTS`, current ones; with `questions` also ``answers`` (dicts).
    topics
        Topics in their order, for pairs of the same distance; that of `judgements` if left out.
    ended
        Include the pairs that an adjudication has ended.

    Returns
    -------
    DataFrame
        One row per pair: ``query_id``, ``doc_id``, ``distance`` (between the highest and the lowest grade),
        ``annotators`` (how many), ``grades`` (as "0 2 2", with "?" for "cannot judge"), ``names`` (a tuple, in the
        order of the grades), ``ended``, ``differs`` (a tuple of the questions on which they differ, "relevance" for
        the grade). Largest distance first, then by topic, then in order of the first judgement.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("ann", "1", "x", 1), ("bob", "1", "x", 0), ("ann", "1", "y", 3), ("bob", "1", "y", 0)]
    >>> frame = pd.DataFrame(rows, columns=["annotator", "query_id", "doc_id", "relevance"]).assign(kind="graded")
    >>> list_disagreements(frame)[["doc_id", "distance", "grades"]].values.tolist()
    [['y', 3, '0 3'], ['x', 1, '0 1']]
    """
    judgements = JUDGEMENTS.check(judgements, "the queue")
    pair = ["query_id", "doc_id"]
    decisions = judgements[
        _said_by_annotators(judgements) & judgements["kind"].isin(["graded", "cannot judge"]).to_numpy()
    ]
    grade = pd.to_numeric(decisions["relevance"]).astype("Float64").where(decisions["kind"] == "graded")
    # -1 stands for "cannot judge", so that it differs from every grade.
    differs = _find_differing_answers(decisions, questions)
    decisions = decisions[[*pair, "annotator"]].assign(grade=grade.fillna(-1).astype("int64"), graded=grade)
    decisions["pair"] = decisions.groupby(pair, sort=False).ngroup()
    bounds = decisions.groupby("pair").agg(
        low=("graded", "min"), high=("graded", "max"), kinds=("grade", "nunique"), annotators=("grade", "size")
    )
    open_pairs = decisions.drop_duplicates("pair")[[*pair, "pair"]].merge(bounds.reset_index(), on="pair")
    differing = (open_pairs["kinds"] > 1).to_numpy(dtype=np.bool_)
    if differs:
        differing = differing | pd.MultiIndex.from_frame(open_pairs[pair]).isin(list(differs))
    open_pairs = open_pairs[differing].reset_index(drop=True)
    open_pairs["ended"] = (
        pd.MultiIndex.from_frame(open_pairs[pair]).isin(_ended(judgements)) if len(open_pairs) else False
    )
    if not ended:
        open_pairs = open_pairs[~open_pairs["ended"].astype(bool)]
    open_pairs["distance"] = (open_pairs["high"] - open_pairs["low"]).fillna(0).astype("int64")
    order = {topic: n for n, topic in enumerate(decisions["query_id"].unique() if topics is None else topics)}
    open_pairs["topic"] = open_pairs["query_id"].map(order).fillna(len(order)).astype("int64")
    result = open_pairs.sort_values(["distance", "topic"], ascending=[False, True], kind="stable", ignore_index=True)
    row = np.full(len(bounds), -1)
    row[result["pair"]] = result.index
    own = decisions.assign(row=row[decisions["pair"]])
    own = own[own["row"] >= 0]
    # "Cannot judge" comes after the grades.
    own = own.iloc[np.lexsort((own["grade"], own["grade"] < 0, own["row"]))]
    ends = np.cumsum(result["annotators"]).tolist()
    spans = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    grades, names = own["grade"].astype("str").replace("-1", "?").tolist(), own["annotator"].tolist()
    keys, kinds = zip(*(result[c].tolist() for c in pair), strict=True), (result["kinds"] > 1).tolist()
    asked = [(*([RELEVANCE] if kind else []), *differs.get(key, ())) for key, kind in zip(keys, kinds, strict=True)]
    result["differs"] = pd.Series(asked, dtype=object)
    result["grades"] = [" ".join(grades[span]) for span in spans]
    result["names"] = pd.Series([tuple(names[span]) for span in spans], dtype=object)
    return result[[*pair, "distance", "annotators", "grades", "names", "ended", "differs"]].astype({"ended": bool})


def differ_on(answers: Iterable[Mapping[str, Answer]], questions: Iterable[Question]) -> list[str]:
    """Names of the questions to which these decisions on one pair give different answers.

    >>> tags = Question("tags", "Which apply?", "tags", {"a": "A", "b": "B"})
    >>> differ_on([{"tags": ("a",)}, {"tags": ("a", "b")}, {}], [tags]), differ_on([{"tags": ("a",)}, {}], [tags])
    (['tags'], [])
    """
    given = list(answers)
    return [q.name for q in questions if len({unordered(each[q.name]) for each in given if q.name in each}) > 1]


def _find_differing_answers(decisions: pd.DataFrame, questions: Sequence[Question]) -> dict[tuple[str, str], list[str]]:
    """The questions on which annotators differ, by pair; pairs without any are missing."""
    if not questions:
        return {}
    answers: dict[tuple[str, str], list[Mapping[str, Answer]]] = defaultdict(list)
    for query_id, doc_id, given in zip(*(decisions[c] for c in ("query_id", "doc_id", "answers")), strict=True):
        if given:
            answers[query_id, doc_id].append(given)
    return {key: names for key, given in answers.items() if (names := differ_on(given, questions))}


def filter_queue(
    queue: pd.DataFrame,
    *,
    why: str | None = None,
    query_id: str | None = None,
    distance: int | None = None,
    names: Sequence[str] = (),
    question: str | None = None,
) -> pd.DataFrame:
    """Keep the rows of a queue (:meth:`.Adjudication.queue`) that meet all conditions.

    `why` is "disagreement" or "qualification"; all `names` have judged the pair; they differ on the `question`.
    """
    wanted = np.ones(len(queue), dtype=np.bool_)
    for column, value in (("why", why), ("query_id", query_id), ("distance", distance)):
        if value is not None:
            wanted &= (queue[column] == value).to_numpy(dtype=np.bool_)
    if names:
        wanted &= np.array([set(names) <= set(each) for each in queue["names"]], dtype=np.bool_)
    if question is not None:
        wanted &= np.array([question in each for each in queue["differs"]], dtype=np.bool_)
    return queue[wanted].reset_index(drop=True)


def _ended(judgements: pd.DataFrame) -> pd.MultiIndex:
    ending = judgements[judgements["kind"] != "undone"]
    ending = ending[ending["counts_as"] == ADJUDICATION] if "counts_as" in judgements else ending[:0]
    return pd.MultiIndex.from_frame(ending[["query_id", "doc_id"]])


def list_opinions(judgements: pd.DataFrame, query_id: str, doc_id: str) -> pd.DataFrame:
    """List each annotator's judgement of one pair, lowest grade first and "cannot judge" last, without adjudications.

    The columns are :data:`OPINION_COLUMNS`, as far as `judgements` has them.
    """
    of_pair = (judgements["query_id"] == query_id) & (judgements["doc_id"] == doc_id)
    decisions = judgements[of_pair.to_numpy(dtype=np.bool_) & _said_by_annotators(judgements)]
    order = pd.to_numeric(decisions["relevance"]).astype("Float64").sort_values(na_position="last", kind="stable").index
    return decisions.loc[order, [c for c in OPINION_COLUMNS if c in decisions]].reset_index(drop=True)
