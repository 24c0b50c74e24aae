"""Agreement of people, or of people and a model, on nugget assignments or on support."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from collection.annotator_agreement import Agreement, agreement
from collection.core.errors import InputError
from collection.core.frames import NUGGET_ASSIGNMENTS, SUPPORT

GRADES = (0.0, 1.0, 2.0)


def label_agreement(label_sets: Mapping[str, pd.DataFrame], *, resamples: int = 1000, seed: int = 0) -> Agreement:
    """Measure the agreement of sets of nugget assignments, or of sets of support labels.

    A pair is an answer and a nugget, or a sentence and a document that it cites; labels without a grade are left out.

    Parameters
    ----------
    label_sets
        Name -> :data:`.NUGGET_ASSIGNMENTS` for all sets, or :data:`.SUPPORT` for all.
    resamples, seed
        As for :func:`collection.agreement`.

    Returns
    -------
    Agreement
        With kappa, alpha and other coefficients in ``values``; binary ones count partial support as support.

    Raises
    ------
    InputError
        Fewer than two sets, or a frame lacks columns.

    Examples
    --------
    >>> people = pd.DataFrame({"run": "x", "query_id": "1", "nugget": ["a", "b"], "grade": [2, 0]})
    >>> found = label_agreement({"people": people, "model": people.assign(grade=[2, 1])}, resamples=0)
    >>> float(found.values.set_index(["scale", "coefficient"])["value"]["graded", "observed"])
    0.5
    """
    if len(label_sets) < 2:
        raise InputError(f"label_sets: expected two or more, found {len(label_sets)}")
    parts = [_pairs(frame).assign(annotator=name) for name, frame in label_sets.items()]
    return agreement(pd.concat(parts, ignore_index=True), resamples=resamples, seed=seed, grades=GRADES)


def _pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the labels as grades of pairs of a topic and a document."""
    of_nuggets = "nugget" in frame
    checked = (NUGGET_ASSIGNMENTS if of_nuggets else SUPPORT).check(frame)
    names = ["run", "nugget"] if of_nuggets else ["run", "sentence", "doc_id"]
    pair = checked[names[0]].astype("str").str.cat(checked[names[1:]].astype("str"), sep=" / ")
    return pd.DataFrame({"query_id": checked["query_id"], "doc_id": pair, "relevance": checked["grade"]})
