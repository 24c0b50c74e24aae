"""How long each pooling strategy takes: ``python tests/benchmarks/bench_strategies.py``.

Forty runs of 50 topics x 1,000 documents (those of bench_evaluate.py, always the same), read into memory before the
clock starts; the usual parameters; the median of three.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from evaluation_files import dense

from collection import formats
from collection.pooling import format_parameters, strategies

STRATEGIES = strategies(adaptive=False)

REPEATS = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        dense(Path(folder))
        runs = list(formats.read_runs(sorted(Path(folder).glob("dense*.run"))))
    print(f"{'strategy':<12}{'seconds':>8}{'pairs':>9}  parameters")
    for entry in STRATEGIES.values():
        seconds = []
        for _ in range(REPEATS):
            begun = time.perf_counter()
            pool = entry.function(runs)
            seconds.append(time.perf_counter() - begun)
        pairs = int(pool["drawn"].sum()) if "drawn" in pool else len(pool)
        print(f"{entry.name:<12}{statistics.median(seconds):>8.2f}{pairs:>9,}  {format_parameters(entry.parameters)}")


if __name__ == "__main__":
    main()
