"""Tests, which run in one process per processor: more threads for linear algebra would only wait for each other."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # read when numpy is imported, which is later
