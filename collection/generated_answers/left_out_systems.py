"""Leave-one-out over systems: values of answers without the nuggets that only their own system contributed.

Nuggets come from documents that people read, mostly those that the answers of the evaluated systems cite. A system that
joins later cannot contribute nuggets. Leaving out each evaluated system estimates how much this costs.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.core.frames import NUGGET_SOURCES, SENTENCES
from collection.generated_answers.evaluation import evaluate_labelled
from collection.generated_answers.labelled_answers import NUGGET, LabelledAnswers
from collection.generated_answers.registry import AnswerMeasure, as_answer_measures
from collection.reusability import (
    Groups,
    GroupsLeftOut,
    assign_groups,
    groups_by_prefix,
    place_runs,
    tabulate_left_out,
)


def leave_out_systems(
    labelled: LabelledAnswers,
    measures: AnswerMeasure | str | Iterable[AnswerMeasure | str],
    *,
    groups: Groups = groups_by_prefix,
    sources: pd.DataFrame | None = None,
    sentences: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Remove the nuggets that only one group of systems contributed, each group in turn, and evaluate all runs.

    The groups whose answers cite a source of a nugget contributed it; if the nugget has no sources, the groups whose
    answers contain it at least in part. Nuggets that no group contributed are kept. Means are over the same topics as
    before; a topic without any nugget left has the value 0.

    Parameters
    ----------
    labelled
        Answers with nugget assignments, from :func:`.label_answers`.
    measures
        Answer measures of nuggets.
    groups
        Run -> group of runs to leave out together; None leaves out each run by itself. By default, runs whose names
        begin alike are a group.
    sources
        :data:`.NUGGET_SOURCES`: the documents from which people made nuggets.
    sentences
        :data:`.SENTENCES` of the answers with their citations, needed with `sources`.

    Returns
    -------
    DataFrame
        As from :func:`collection.reusability.leave_out`; ``unique`` counts the nuggets that only the group contributed,
        ``relevant`` the vital ones among them.

    Raises
    ------
    InputError, UnknownNameError
        A measure does not read nuggets, the runs form fewer than two groups, sources are given without sentences, or a
        run has no group.
    """
    measured = as_answer_measures(measures)
    for measure in measured:
        if "nugget" not in measure.entry.reads:
            raise InputError(f"{measure} does not read nuggets, so none can be left out; use a measure of nuggets")
    runs = list(dict.fromkeys(labelled.answers["run"]))
    named = assign_groups(runs, groups(runs) if callable(groups) else groups)
    every = list(dict.fromkeys(named))
    if len(every) < 2:
        raise InputError("groups: expected two or more, found one; leaving it out leaves nothing")
    group = np.array([every.index(name) for name in named])
    brought = _brought_in(labelled, group[pd.Index(runs).get_indexer(pd.Index(labelled.answers["run"]))], len(every))
    if sources is not None:
        if sentences is None:
            raise InputError("sources: expected sentences as well; pass those of the answers as `sentences`")
        brought = _cited(labelled, brought, SENTENCES.check(sentences), NUGGET_SOURCES.check(sources), runs, group)
    alone = brought & (brought.sum(axis=1) == 1)[:, None]
    vital = np.zeros(len(labelled.listed), dtype=bool)
    vital[labelled.nuggets.nugget[labelled.nuggets.vital]] = True

    def means(chosen: Bools) -> Floats:
        return evaluate_labelled(labelled.keep_nuggets(chosen), measured).means().loc[runs].to_numpy().T

    before = means(np.ones(len(alone), dtype=bool))
    place_before = place_runs(measured, before)
    after, place_after = np.empty_like(before), np.empty_like(place_before)
    for number in range(len(every)):
        members = group == number
        without = means(~alone[:, number])
        after[:, members] = without[:, members]
        place_after[:, members] = place_runs(measured, without)[:, members]
    unique, of_vital = alone.sum(axis=0)[group], (alone & vital[:, None]).sum(axis=0)[group]
    return tabulate_left_out(
        measured, GroupsLeftOut(named, runs, unique, of_vital, before, after, place_before, place_after)
    )


def _brought_in(labelled: LabelledAnswers, group: Ints, number: int) -> Bools:
    """(nuggets, groups) whether an answer of the group contains the nugget; `group` is that of each answer."""
    contained = labelled.nuggets.grade > 0
    brought = np.zeros((len(labelled.listed), number), dtype=bool)
    brought[labelled.nuggets.nugget[contained], group[labelled.nuggets.answer[contained]]] = True
    return brought


def _cited(
    labelled: LabelledAnswers,
    brought: Bools,
    sentences: pd.DataFrame,
    sources: pd.DataFrame,
    runs: list[str],
    group: Ints,
) -> Bools:
    """Return `brought` after crediting each nugget with sources to the groups that cite one of them."""
    listed = labelled.listed.assign(nugget_number=np.arange(len(labelled.listed)))
    known = sources.astype(dict.fromkeys(NUGGET_SOURCES.names, "str")).merge(listed, on=NUGGET)
    cited = sentences[["run", "query_id", "citations"]].explode("citations").rename(columns={"citations": "doc_id"})
    cited = cited[cited["doc_id"].notna()].astype("str")
    cited["group"] = group[pd.Index(runs).get_indexer(pd.Index(cited["run"]))]
    both = known.merge(cited[cited["run"].isin(runs)], on=["query_id", "doc_id"])
    found = brought.copy()
    found[known["nugget_number"].to_numpy()] = False
    found[both["nugget_number"].to_numpy(), both["group"].to_numpy()] = True
    return found


def nuggets_read(sources: pd.DataFrame, order: pd.DataFrame) -> pd.DataFrame:
    """Count the nuggets found against the documents read.

    Parameters
    ----------
    sources
        :data:`.NUGGET_SOURCES`: the documents that contain each nugget.
    order
        ``query_id``, ``doc_id``: the documents of each topic in the order of reading.

    Returns
    -------
    DataFrame
        ``query_id``, ``documents`` (number of documents read, from 0), ``nuggets`` (number of nuggets found in them),
        ``recall`` (share of the topic's nuggets that have a source). Topics without such nuggets are left out.

    Examples
    --------
    >>> sources = pd.DataFrame({"query_id": "1", "nugget": ["a", "b", "b"], "doc_id": ["d2", "d1", "d2"]})
    >>> nuggets_read(sources, pd.DataFrame({"query_id": "1", "doc_id": ["d1", "d2"]}))["recall"].tolist()
    [0.0, 0.5, 1.0]
    """
    known = NUGGET_SOURCES.check(sources)[list(NUGGET_SOURCES.names)].astype("str")
    read = order[["query_id", "doc_id"]].astype("str").drop_duplicates()
    read["documents"] = read.groupby("query_id", sort=False).cumcount() + 1
    total = known.groupby("query_id")["nugget"].nunique()
    read = read[read["query_id"].isin(total.index)]
    first = known.merge(read, on=["query_id", "doc_id"]).groupby(NUGGET)["documents"].min().reset_index()
    new = first.groupby(["query_id", "documents"]).size()
    topics = read["query_id"].drop_duplicates()
    curve = pd.concat([pd.DataFrame({"query_id": topics, "documents": 0}), read[["query_id", "documents"]]])
    curve = curve.sort_values("documents", kind="stable")
    curve["nuggets"] = new.reindex(pd.MultiIndex.from_frame(curve), fill_value=0).to_numpy(dtype=np.int64)
    curve["nuggets"] = curve.groupby("query_id", sort=False)["nuggets"].cumsum()
    curve["recall"] = curve["nuggets"] / curve["query_id"].map(total).astype("float64")
    place = pd.Index(topics).get_indexer(pd.Index(curve["query_id"]))
    return curve.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)
