"""User models.

The value is the expected gain per document for a user who continues after rank i with probability w_(i+1) / w_i (C/W/L:
Moffat, Bailey, Scholer & Thomas, TOIS 2017). The gain is grade / max_rel, by default the highest grade of the qrels.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from collection.core.arrays import Floats
from collection.measures.aligned import Aligned
from collection.measures.graded import BY_CWL_EVAL, product_before
from collection.measures.table import MEASURES, Persistence, Positive, Within
from collection.measures.trace import show

Hoped = Annotated[float, Within(0.5)]
"""The gain that a user seeks; below 0.5, the continuation probability would not be in [0, 1]."""

DEPTH = 1000
"""The deepest rank that a user reaches."""


def _gain(aligned: Aligned, max_rel: float | None, depth: int = DEPTH) -> Floats:
    """(T, depth): the gain at each rank."""
    gain = np.zeros((len(aligned.topics), depth))
    top = aligned.top(depth)
    gain[:, : top.shape[1]] = np.clip(top, 0, None) / (max_rel or aligned.top_grade)
    return np.minimum(gain, 1)


def _expected_gain(aligned: Aligned, gain: Floats, continuation: Floats) -> Floats:
    """(T,): the expected gain per document; `continuation` are the probabilities of continuing, (T, depth)."""
    weight = product_before(continuation)
    weight /= weight.sum(axis=1, keepdims=True)
    retrieved = aligned.grades.shape[1]
    show("gain / max_rel", gain[:, :retrieved])
    show("continuation", continuation[:, :retrieved])
    show("weight", weight[:, :retrieved])
    return (weight * gain).sum(axis=1)


def _patience(T: float, left: Floats | float) -> Floats:
    """The continuation probability of INST and INSQ, for a user who still seeks the gain `left`."""
    behind = np.arange(1, DEPTH + 1) + T + left
    return ((behind - 1) / behind) ** 2


@MEASURES.add(
    "INST", label="INST", description="Expected gain per document for a user who seeks a gain of T and adapts.",
    graded=True, monotone=0, differs={"ir_measures": BY_CWL_EVAL},
)  # fmt: skip
def inst(aligned: Aligned, *, T: Hoped = 1.0, max_rel: Positive | None = None) -> Floats:
    """INST = sum over ranks i of w_i gain_i, where w_(i+1) / w_i = ((i + T + T_i - 1) / (i + T + T_i))^2.

    gain_i = grade / max_rel. T is the gain that the user seeks, and T_i = T - (gain of the first i ranks). The
    weights of the first 1,000 ranks sum to 1, as in cwl_eval. Source: Moffat, Bailey, Scholer & Thomas, ADCS 2015.
    """
    gain = _gain(aligned, max_rel)
    return _expected_gain(aligned, gain, _patience(T, T - np.cumsum(gain, axis=1)))


@MEASURES.add(
    "INSQ", label="INSQ", description="Expected gain per document for a user who seeks a gain of T.", graded=True,
    differs={"ir_measures": BY_CWL_EVAL},
)  # fmt: skip
def insq(aligned: Aligned, *, T: Hoped = 1.0, max_rel: Positive | None = None) -> Floats:
    """INSQ = sum over ranks i of w_i gain_i, where w_(i+1) / w_i = ((i + 2T - 1) / (i + 2T))^2.

    As INST, but the user does not adapt to what was found. Source: Moffat, Scholer & Thomas, ADCS 2012.
    """
    gain = _gain(aligned, max_rel)
    return _expected_gain(aligned, gain, np.broadcast_to(_patience(T, T), gain.shape))


@MEASURES.add(
    "BPM", label="Bejeweled player model",
    description="Gain per document for a user who stops with a gain of T or at rank k.", graded=True, monotone=0,
    differs={"ir_measures": BY_CWL_EVAL},
)  # fmt: skip
def bejeweled_player(aligned: Aligned, *, cutoff: int, T: Positive = 1.0, max_rel: Positive | None = None) -> Floats:
    """BPM@k = (gain of the first n ranks) / n, n the first rank to which the gain is T or more, or k.

    gain_i = grade / max_rel. This is the static model, in which T and k do not change with what the user finds.
    Source: Zhang, Liu, Li, Zhang, Xu & Ma, SIGIR 2017.
    """
    gain = _gain(aligned, max_rel, min(cutoff, DEPTH))
    so_far = show("gain so far", np.cumsum(gain, axis=1))
    # Seven gains of 1/7 must reach 1 in spite of rounding.
    continuation = (so_far < T - 1e-9).astype(np.float64)
    return _expected_gain(aligned, gain, continuation)


@MEASURES.add(
    "NERR8", label="NERR, equation 8",
    description="Expected gain per document for a user who stops with probability gain_i, and at rank k.",
    graded=True, monotone=0, differs={"ir_measures": BY_CWL_EVAL},
)  # fmt: skip
def nearly_err_cut(aligned: Aligned, *, cutoff: int, max_rel: Positive | None = None) -> Floats:
    """NERR8@k = sum over ranks i <= k of w_i gain_i, where w_(i+1) / w_i = 1 - gain_i.

    gain_i = grade / max_rel, and the weights sum to 1. Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 8.
    """
    gain = _gain(aligned, max_rel, min(cutoff, DEPTH))
    return _expected_gain(aligned, gain, 1 - gain)


@MEASURES.add(
    "NERR9", label="NERR, equation 9",
    description="As NERR8, for a user who is also less likely to continue at the first ranks.",
    graded=True, monotone=0, differs={"ir_measures": BY_CWL_EVAL},
)  # fmt: skip
def nearly_err_discounted(aligned: Aligned, *, cutoff: int, max_rel: Positive | None = None) -> Floats:
    """NERR9@k = sum over ranks i <= k of w_i gain_i, where w_(i+1) / w_i = (1 - gain_i) i / (i + 1).

    gain_i = grade / max_rel, and the weights sum to 1. Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 9.
    """
    gain = _gain(aligned, max_rel, min(cutoff, DEPTH))
    rank = np.arange(1, gain.shape[1] + 1)
    return _expected_gain(aligned, gain, rank / (rank + 1) * (1 - gain))


@MEASURES.add(
    "NERR10", label="NERR, equation 10",
    description="Expected gain per document for a user who continues with probability p (1 - gain_i).",
    graded=True, monotone=0, differs={"ir_measures": BY_CWL_EVAL},
)  # fmt: skip
def nearly_err_patient(aligned: Aligned, *, p: Persistence = 0.9, max_rel: Positive | None = None) -> Floats:
    """NERR10 = sum over ranks i of w_i gain_i, where w_(i+1) / w_i = p (1 - gain_i).

    gain_i = grade / max_rel. The weights of the first 1,000 ranks sum to 1, as in cwl_eval.
    Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 10.
    """
    gain = _gain(aligned, max_rel)
    return _expected_gain(aligned, gain, p * (1 - gain))


@MEASURES.add(
    "NERR11", label="NERR, equation 11",
    description="As INSQ, for a user who also stops with probability gain_i.",
    graded=True, monotone=0, differs={"ir_measures": BY_CWL_EVAL},
)  # fmt: skip
def nearly_err_goal(aligned: Aligned, *, T: Hoped = 1.0, max_rel: Positive | None = None) -> Floats:
    """NERR11 = sum over ranks i of w_i gain_i, where w_(i+1) / w_i = (1 - gain_i) ((i + 2T - 1) / (i + 2T))^2.

    gain_i = grade / max_rel. The weights of the first 1,000 ranks sum to 1, as in cwl_eval.
    Source: Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 11.
    """
    gain = _gain(aligned, max_rel)
    return _expected_gain(aligned, gain, _patience(T, T) * (1 - gain))
