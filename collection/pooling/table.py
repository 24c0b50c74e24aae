"""The two tables of pooling strategies, and what their members are."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.registry import Registry

Ties = Literal["listed", "both"]

Indices = npt.NDArray[np.integer]
"""Documents by their places in some list of ids."""

Asking = Generator[int, bool, None]
"""Yields the document to judge next and is sent whether it was relevant."""

Adaptive = Callable[..., Asking]

STRATEGIES: Registry[Callable[..., pd.DataFrame]] = Registry("pooling strategy", group="cleverdon.pooling")
"""Every strategy: (runs, *, parameters) -> pool frame."""

ADAPTIVE: Registry[Adaptive] = Registry("adaptive pooling strategy", group="cleverdon.adaptive")
"""Every adaptive strategy: (rankings of one topic, *, parameters) -> Asking.

`rankings` is a sequence with one array a run, which holds document indices in rank order (what
:func:`collection.pooling.rankings_of` gives). No document is asked for twice, whatever the answers; the
generator ends when all documents that any run has were judged. The order follows from the rankings and the
answers and from nothing else, so who stops in the middle goes on by sending the old answers again.
"""
