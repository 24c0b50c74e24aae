"""How long evaluation takes from files to means, and how much memory, beside pytrec_eval, ir-measures and ranx.

Two sets of files are made (seeded, in a temporary folder): one run of 6,980 topics x 1,000 documents with about
one relevant document a topic, as for MS MARCO, and a tenth of it; and 40 runs of 50 topics x 1,000 with 300 judged
documents a topic, as at TREC. Each tool is a fresh process that reads the files and prints the means of AP, RR,
P@10, R@1000 and nDCG@10. Tools take turns, so that noise hits them all. The table has medians of the wall seconds and
of the seconds of all cores, medians over the turns of the ratios to ours (also without the start of the process), and
the highest peak of resident memory. Then the same without files: how long values take from what is in memory; and what
`cleverdon evaluate` takes on a run of 2,000 lines.

The other tools live in environments of their own under .bench/, made at first use; one that cannot be made is
reported as a row. ranx compiles what it runs and keeps it: every tool has a run that does not count.

    python tests/benchmarks/bench_evaluate.py [--repeats 5] [--tools cleverdon,pytrec_eval]
    python tests/benchmarks/bench_evaluate.py --lines 100000000 [--depth 1000] --repeats 1 --tools cleverdon

With --lines, there is only one run of that length, which takes about 40 bytes per line in the temporary folder. The
other tools hold it in memory.

Exit status 1 if the means differ in the first four decimals.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.ratios import Row, keep  # noqa: E402

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An installed package is compiled; sources that are compiled at every start take half a second longer."""

OURS = "cleverdon"
MEASURES = ("AP", "RR", "P@10", "R@1000", "nDCG@10")
IN_MEMORY = ("AP", "RR", "nDCG@10", "R@1000")


class Tool(NamedTuple):
    """Another tool: what pip installs, and its script, given the qrels and one run or more."""

    package: str
    script: str
    in_memory: str = ""
    """Prints the seconds that values take from what is in memory, several times."""

    @property
    def start(self) -> str:
        """The script's imports and nothing else: what any small evaluation costs at least."""
        return "\n".join(line for line in self.script.splitlines() if line.startswith(("import ", "from ")))


TOOLS = {
    "cleverdon": Tool(
        "",
        """
import json, sys
import pyarrow.compute, pyarrow.csv
from collection.comparison import evaluate
from collection.formats import RunFiles, read_index

measures = ["AP", "RR", "P@10", "R@1000", "nDCG@10"]
columns = evaluate(RunFiles(sys.argv[2:]), read_index(sys.argv[1]), measures).columns
means = [v for topic, v in zip(columns["query_id"], columns["value"]) if topic == "all"]
for first in range(0, len(means), len(measures)):
    print(json.dumps(means[first : first + len(measures)]))
""",
        """
import sys, time
from collection import formats
from collection.measures import align, parse

measures = [parse(m) for m in ("AP", "RR", "nDCG@10", "R@1000")]
qrels, run = formats.read_qrels(sys.argv[1]), formats.read_run(sys.argv[2]).frame
for _ in range(int(sys.argv[3])):
    begin = time.perf_counter()
    aligned = align(run, qrels)
    values = [m(aligned) for m in measures]
    print(time.perf_counter() - begin)
""",
    ),
    "pytrec_eval": Tool(
        "pytrec-eval-terrier==0.5.11",
        """
import json, sys
import pytrec_eval

names = {"map": "map", "recip_rank": "recip_rank", "P.10": "P_10", "recall.1000": "recall_1000"}
names["ndcg_cut.10"] = "ndcg_cut_10"
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names))
for path in sys.argv[2:]:
    with open(path) as file:
        run = pytrec_eval.parse_run(file)
    values = evaluator.evaluate(run).values()
    print(json.dumps([sum(v[name] for v in values) / len(values) for name in names.values()]))
""",
        """
import sys, time
import pytrec_eval

with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "recip_rank", "ndcg_cut.10", "recall.1000"})
for _ in range(int(sys.argv[3])):
    begin = time.perf_counter()
    values = evaluator.evaluate(run)
    print(time.perf_counter() - begin)
""",
    ),
    "ir-measures": Tool(
        "ir-measures==0.4.3",
        """
import json, sys
import ir_measures
from ir_measures import AP, RR, P, R, nDCG

measures = [AP, RR, P @ 10, R @ 1000, nDCG @ 10]
evaluator = ir_measures.evaluator(measures, list(ir_measures.read_trec_qrels(sys.argv[1])))
for path in sys.argv[2:]:
    means = evaluator.calc_aggregate(ir_measures.read_trec_run(path))
    print(json.dumps([means[m] for m in measures]))
""",
    ),
    "ranx": Tool(
        "ranx==0.3.21",
        """
import json, sys
from ranx import Qrels, Run, evaluate

measures = ["map", "mrr", "precision@10", "recall@1000", "ndcg@10"]
qrels = Qrels.from_file(sys.argv[1], kind="trec")
for path in sys.argv[2:]:
    means = evaluate(qrels, Run.from_file(path, kind="trec"), measures, make_comparable=True)
    print(json.dumps([float(means[m]) for m in measures]))
""",
    ),
}


# The tools ------------------------------------------------------------------------------------------


def environment(name: str) -> str:
    """The interpreter that has the tool, after making its environment if it is not there; or an error."""
    package = TOOLS[name].package
    if not package:
        return sys.executable
    folder = ROOT / ".bench" / package.replace("==", "-")
    python = folder / "bin" / "python"
    if not python.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True, text=True)
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
            subprocess.run(pip, check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            shutil.rmtree(folder, ignore_errors=True)
            said = [line for line in (error.stderr or error.stdout).splitlines() if line.strip()]
            raise RuntimeError(said[-1] if said else str(error)) from None
    return str(python)


class Measured(NamedTuple):
    """One process: its wall seconds, those of all cores, the peak of its memory in MB, what it printed."""

    seconds: float
    of_cores: float
    memory: float
    printed: list[str]


def measured(python: str, script: str, arguments: list[object]) -> Measured:
    """Run a script in a fresh process.

    This process stays small: on Linux a child's peak begins with the memory of whoever started it.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaint:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [python, "-c", script, *map(str, arguments)], stdout=out, stderr=complaint, env=ENVIRONMENT
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        complaint.seek(0)
        if process.returncode:
            raise RuntimeError((complaint.read().strip().splitlines() or [f"exit status {process.returncode}"])[-1])
        unit = 1 if sys.platform == "darwin" else 1024
        of_cores = usage.ru_utime + usage.ru_stime
        return Measured(seconds, of_cores, usage.ru_maxrss * unit / 1e6, out.read().splitlines())


def ratio(theirs: list[float], ours: list[float]) -> float:
    """The median over the turns."""
    return statistics.median(a / b for a, b in zip(theirs, ours, strict=True))


# The tables -----------------------------------------------------------------------------------------


def from_files(title: str, pythons: dict[str, str], qrels: Path, runs: list[Path], repeats: int) -> tuple[float, bool]:
    """Print one table. Returns our seconds, and whether the means of all tools agree."""
    done: dict[str, list[Measured]] = {name: [] for name in pythons}
    starts: dict[str, list[float]] = {name: [] for name in pythons}
    for turn in range(repeats + 1):
        for name, python in pythons.items():
            start, one = measured(python, TOOLS[name].start, []), measured(python, TOOLS[name].script, [qrels, *runs])
            if turn:  # the first one does not count
                starts[name].append(start.seconds)
                done[name].append(one)
    times = f"{'seconds':>8}  {'least':>6}  {'most':>6}  {'start':>6}  {'of cores':>8}"
    print(f"\n{title}\n{'':>14}  {times}  {'of ours':>8}  {'without start':>13}  {'peak MB':>8}")
    for name, some in done.items():
        times, ours = ([m.seconds for m in each] for each in (some, done[OURS]))
        working, ours_working = (
            [time - start for time, start in zip(*each, strict=True)]
            for each in ((times, starts[name]), (ours, starts[OURS]))
        )
        print(
            f"{name:>14}  {statistics.median(times):>8.2f}  {min(times):>6.2f}  {max(times):>6.2f}"
            f"  {statistics.median(starts[name]):>6.2f}  {statistics.median(m.of_cores for m in some):>8.2f}"
            f"  {ratio(times, ours):>7.1f}x  {ratio(working, ours_working):>12.1f}x"
            f"  {max(m.memory for m in some):>8.0f}"
        )
        if name != OURS:
            figure = f"{statistics.median(ours):.2f} s, {max(m.memory for m in done[OURS]):.0f} MB"
            for what, faster in (
                ("evaluate", ratio(times, ours)),
                ("evaluate without start", ratio(working, ours_working)),
            ):
                keep(Row(f"{what}, beside {name}", title, figure, f"{faster:.1f}", f"{name}, times as long"))
    means = {name: list(map(json.loads, some[0].printed)) for name, some in done.items()}
    worst = max(
        (abs(a - b), name, measure)
        for name, rows in means.items()
        for mine, row in zip(means[OURS], rows, strict=True)
        for measure, a, b in zip(MEASURES, mine, row, strict=True)
    )
    same = worst[0] < 0.00005
    print(
        f"{'':>14}  means " + ("agree to 4 decimals" if same else f"DIFFER: {worst[2]} of {worst[1]} by {worst[0]:.2g}")
    )
    return statistics.median(m.seconds for m in done[OURS]), same


def of_command(qrels: Path, run: Path, repeats: int) -> None:
    """Print what `cleverdon evaluate` takes."""
    script = "import sys; from collection.cli import main; main(['evaluate', *sys.argv[1:]])"
    done = [measured(sys.executable, script, [qrels, run]) for _ in range(repeats)]
    seconds, of_cores = statistics.median(m.seconds for m in done), statistics.median(m.of_cores for m in done)
    print(f"\ncleverdon evaluate on a run of 2,000 lines: {seconds:.2f} s, {of_cores:.2f} s of cores")


def in_memory(pythons: dict[str, str], qrels: Path, run: Path, repeats: int) -> None:
    """Print how long values take from frames, and from the dicts of pytrec_eval."""
    print(f"\nFrom what is in memory: {', '.join(IN_MEMORY)} of the run of 6,980 topics")
    seconds = {
        name: statistics.median(map(float, measured(python, TOOLS[name].in_memory, [qrels, run, repeats]).printed))
        for name, python in pythons.items()
        if TOOLS[name].in_memory
    }
    for name, some in seconds.items():
        print(f"{name:>14}  {some:>8.3f}  {'':>14}  {some / seconds[OURS]:>7.1f}x")


def main() -> int:
    """Make the files and the environments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="how often each tool runs (default: 5)")
    parser.add_argument("--tools", default=",".join(TOOLS), help="which to compare with (default: all)")
    parser.add_argument("--lines", type=int, help="only a run of so many lines")
    parser.add_argument("--depth", type=int, default=1000, help="lines of each of its topics (default: 1000)")
    options = parser.parse_args()
    pythons = {}
    for name in [OURS, *(t for t in TOOLS if t != OURS and t in options.tools.split(","))]:
        try:
            pythons[name] = environment(name)
        except RuntimeError as error:
            print(f"{name:>14}  not installed: {error}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        size = [] if options.lines is None else [str(options.lines), str(options.depth)]
        subprocess.run([sys.executable, Path(__file__).with_name("evaluation_files.py"), folder, *size], check=True)
        if options.lines is not None:
            title = f"One run of {options.lines:,} lines, {options.depth:,} a topic"
            return 1 - from_files(title, pythons, folder / "long.qrels", [folder / "long.run"], options.repeats)[1]
        whole, tenth = folder / "sparse.run", folder / "tenth.run"
        title = "One run, 6,980 topics x 1,000 documents, one relevant document a topic"
        long, agree = from_files(title, pythons, whole.with_suffix(".qrels"), [whole], options.repeats)
        title = "One run, 698 topics x 1,000 documents"
        short, also = from_files(title, pythons, tenth.with_suffix(".qrels"), [tenth], options.repeats)
        print(f"{'':>14}  ours: {long / short:.1f} times as long for 10 times the lines")
        title = "40 runs, 50 topics x 1,000 documents, 300 judged a topic"
        runs = sorted(folder.glob("dense*.run"))
        _, at_last = from_files(title, pythons, folder / "dense.qrels", runs, options.repeats)
        title = "One run of 2,000 lines"
        _, and_small = from_files(title, pythons, folder / "small.qrels", [folder / "small.run"], options.repeats)
        of_command(folder / "small.qrels", folder / "small.run", options.repeats)
        in_memory(pythons, whole.with_suffix(".qrels"), whole, options.repeats)
    return 0 if agree and also and at_last and and_small else 1


if __name__ == "__main__":
    sys.exit(main())
