"""Types of numpy arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Hashes = NDArray[np.uint64]
Integers = NDArray[np.integer]
Ints = NDArray[np.int64]
