"""How long a leaderboard with Holm-corrected tests takes from files, beside ir-measures and ranx, and without files.

40 runs of 50 topics x 1,000 documents with 300 judged a topic (seeded, made in a temporary folder). Each tool is a
fresh process that reads the files, evaluates nDCG@10 and AP and tests every run against the first by a paired t test,
adjusted by Holm; it prints each adjusted p. ir-measures has no tests: scipy's ttest_rel and a few lines do Holm's
steps. ranx tests all pairs and does not adjust for their number, so its p are not compared. Tools take turns, and the
median of the wall seconds counts. Then how long our comparison takes once the runs are evaluated, by each test.

    python tests/benchmarks/bench_compare.py [--repeats 3] [--tools ir-measures,ranx]

Exit status 1 if the adjusted p differ in the first four decimals, or if ours takes 10 seconds or more.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_evaluate import environment, measured
from evaluation_files import dense

OURS = "cleverdon"
LIMIT = 10.0
"""Seconds that anybody waits for a leaderboard."""

SCRIPTS = {
    OURS: """
import json, sys
from collection import formats
from collection.comparison import compare
from collection.measures import parse

runs, qrels = formats.read_runs(sys.argv[2:]), formats.read_qrels(sys.argv[1])
tests = compare(runs, qrels, [parse("nDCG@10"), parse("AP")], baseline="dense00").tests
for measure, rows in tests.groupby("measure", sort=False):
    print(json.dumps(rows["p_adjusted"].tolist()))
""",
    "the command": "",
    "ir-measures": """
import json, sys
import ir_measures
from ir_measures import AP, nDCG

try:
    from scipy.stats import ttest_rel
except ImportError:
    sys.exit("scipy is not there")
measures = [nDCG @ 10, AP]
evaluator = ir_measures.evaluator(measures, list(ir_measures.read_trec_qrels(sys.argv[1])))
values = []
for path in sys.argv[2:]:
    of = {m: {} for m in measures}
    for one in evaluator.iter_calc(ir_measures.read_trec_run(path)):
        of[one.measure][one.query_id] = one.value
    values.append(of)
for m in measures:
    base = values[0][m]
    p = [ttest_rel([v[m][q] for q in base], list(base.values())).pvalue for v in values[1:]]
    order, adjusted, least = sorted(range(len(p)), key=p.__getitem__), [0] * len(p), 0
    for n, place in enumerate(order):
        least = max(least, min(1, p[place] * (len(p) - n)))
        adjusted[place] = float(least)
    print(json.dumps(adjusted))
""",
    "ranx": """
import json, sys
from ranx import Qrels, Run, compare

qrels = Qrels.from_file(sys.argv[1], kind="trec")
runs = [Run.from_file(path, kind="trec") for path in sys.argv[2:]]
report = compare(qrels, runs, ["ndcg@10", "map"], stat_test="student", make_comparable=True)
print(json.dumps(len(report.to_dict())))
""",
}
ASKED = "from collection.cli import main; main()"


def from_files(pythons: dict[str, str], qrels: Path, runs: list[Path], repeats: int) -> bool:
    """Print the table; whether ours is quick enough and says what ir-measures and scipy say."""
    seconds: dict[str, list[float]] = {name: [] for name in pythons}
    printed: dict[str, list[object]] = {}
    for turn in range(repeats + 1):
        for name, python in pythons.items():
            arguments: list[object] = [qrels, *runs]
            if name == "the command":
                begin = time.perf_counter()
                options = ["-m", "nDCG@10", "-m", "AP", "--baseline", "dense00"]
                command = [python, "-c", ASKED, "compare", *map(str, arguments), *options]
                subprocess.run(command, check=True, capture_output=True)
                took = time.perf_counter() - begin
            else:
                one = measured(python, SCRIPTS[name], arguments)
                took, printed[name] = one.seconds, one.printed
            if turn:  # the first one does not count: ranx compiles, and files are read from the disk
                seconds[name].append(took)
    print(
        f"\n40 runs, 50 topics x 1,000 documents: nDCG@10 and AP\n{'':>14}  {'seconds':>8}  {'least':>6}  {'most':>6}"
    )
    for name, times in seconds.items():
        print(f"{name:>14}  {statistics.median(times):>8.2f}  {min(times):>6.2f}  {max(times):>6.2f}")
    quick = statistics.median(seconds["the command"]) < LIMIT
    if "ir-measures" not in printed:
        return quick
    far = max(
        abs(a - b)
        for ours, theirs in zip(printed[OURS], printed["ir-measures"], strict=True)
        for a, b in zip(ours, theirs, strict=True)  # type: ignore[call-overload]
    )
    same = far < 0.00005
    print(f"{'':>14}  adjusted p " + ("agree to 4 decimals" if same else f"DIFFER by up to {far:.2g}"))
    return quick and same


def once_evaluated(qrels: Path, runs: list[Path]) -> None:
    """Print how long the comparison takes without reading and evaluating."""
    from collection import comparison, formats
    from collection.measures import parse
    from collection.statistics import TESTS

    evaluation = comparison.evaluate(
        formats.read_runs(runs), formats.read_qrels(qrels), [parse("nDCG@10"), parse("AP")]
    )
    print(f"\nOnce they are evaluated\n{'':>14}  {'seconds':>8}")
    for name, options in [*((t.name, {"test": t.name}) for t in TESTS), ("all pairs", {"all_pairs": True})]:
        times = []
        for _ in range(4):
            begin = time.perf_counter()
            comparison.compare(evaluation, baseline="dense00", **options)  # type: ignore[arg-type]
            times.append(time.perf_counter() - begin)
        print(f"{name:>14}  {statistics.median(times[1:]):>8.3f}")


def main() -> int:
    """Make the files and the environments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="how often each tool runs (default: 3)")
    parser.add_argument("--tools", default="ir-measures,ranx", help="which to compare with (default: both)")
    options = parser.parse_args()
    pythons = {OURS: sys.executable, "the command": sys.executable}
    for name in filter(None, options.tools.split(",")):
        try:
            pythons[name] = environment(name)
        except RuntimeError as error:
            print(f"{name:>14}  not installed: {error}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        dense(folder)
        runs = sorted(folder.glob("dense*.run"))
        good = from_files(pythons, folder / "dense.qrels", runs, options.repeats)
        once_evaluated(folder / "dense.qrels", runs)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
