"""What the stopping rules and the recall intervals keep of their promises, over generated campaigns.

Collections are like Reuters-21578 (21,578 documents, categories from a handful to 12% of them) and, for a share
of the campaigns, like systematic reviews (about 2,000 documents). The ranking is good to very good, but a part of
the relevant documents looks irrelevant, or worse than that, and comes in clumps: one found brings the others up.
Every document is judged to the last as `next_sources` says, and the rules look on; the heuristics of the literature
see the same campaigns without random draws. Rules look after every 1% of the documents, the default rule also
just before every relevant draw; QBCB and "in a row" after every judgement. Prints tables, then one line a claim;
exit status 1 if a claim is not reached (with few campaigns it may be chance).

    python tests/benchmarks/bench_stopping.py [--campaigns 500] [--seed 1] [--examples]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.cli.output import print_table
from collection.stopping import STOPPING_RULES, Ledger, advise, betting, estimate, next_sources, smallest_sample
from collection.stopping.martingale import GRID, LARGE, STAKES
from collection.stopping.table import too_many

TARGETS = (0.8, 0.9, 0.95)
SHARES = (0.0, 0.1)
"""Shares of random draws from the beginning, for which the campaigns are judged again."""

CONFIDENCE = 0.95
COVERED = 0.93
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of the documents judged at which the intervals are read."""

SMALL = 0.3
"""Share of the campaigns with about 2,000 documents."""

CLUMP = 3

ALWAYS, STOP, RANDOM = "at all times at once", "when the rule stops (90%)", "at a random look"


class Collection(NamedTuple):
    """One topic: which documents are relevant, in what order they are ranked, and which bring each other up."""

    relevant: list[bool]
    order: list[int]
    clumps: dict[int, list[int]]

    @property
    def size(self) -> int:
        return len(self.relevant)


def generate(rng: np.random.Generator, small: bool) -> Collection:
    """A topic with a ranking; the documents are numbered at random, relevant ones first."""
    size = int(rng.integers(1500, 2501)) if small else 21_578
    least, most = (8, 0.15 * size) if small else (4, 0.12 * size)
    total = round(least * (most / least) ** (rng.random() ** 1.3))
    hidden = int(rng.binomial(total, 0.3 * rng.random() ** 2))
    scores = rng.standard_normal(size)
    scores[:total] += rng.uniform(2.0, 4.0)
    scores[:hidden] = rng.standard_normal(hidden) - rng.uniform(0.0, 1.5)
    clumps = {d: list(range(c, min(c + CLUMP, hidden))) for c in range(0, hidden, CLUMP) for d in range(c, c + CLUMP)}
    return Collection([d < total for d in range(size)], np.argsort(-scores).tolist(), clumps)


def judge(
    topic: Collection, rng: np.random.Generator, share: float, length: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """All documents in the order in which they are judged, and which were drawn: `next_sources`, without its cost."""
    size, relevant, order, clumps = topic.size, topic.relevant, topic.order, topic.clumps
    unjudged, place = list(range(size)), list(range(size))
    uniform = rng.random(size).tolist()
    rising: list[int] = []
    judged: list[int] = []
    drawn: list[bool] = []
    draws = ranked = pointer = 0
    for n in range(size):
        random = draws < share * (n + 1) or ranked >= length
        if random:
            document = unjudged[int(uniform[n] * (size - n))]
        else:
            document = -1
            while rising and document < 0:
                document = rising.pop()
                document = document if place[document] >= 0 else -1
            while document < 0:
                document = order[pointer] if place[order[pointer]] >= 0 else -1
                pointer += 1
        here, last = place[document], unjudged.pop()
        if last != document:
            unjudged[here], place[last] = last, here
        place[document] = -1
        draws += random
        ranked = 0 if relevant[document] else ranked + (not random)
        rising += clumps.get(document, ())
        judged.append(document)
        drawn.append(random)
    return np.array(judged), np.array(drawn)


def ledger_of(topic: Collection, rng: np.random.Generator, share: float) -> Ledger:
    """The ledger of a campaign as the app runs it, judged to the last document."""
    length = 200 if topic.size >= LARGE else 50
    judged, drawn = judge(topic, rng, share, length)
    return Ledger.of(np.array(topic.relevant)[judged], topic.size, drawn=drawn)


def check_choices(ledger: Ledger, share: float, step: int) -> None:
    """The loop above decides as the library does."""
    for n in range(0, ledger.judged, step):
        wanted = next_sources(ledger.prefix(n), 1, share=share)[0]
        assert wanted == ("random" if ledger.drawn[n] else "ranking"), f"{wanted} after {n} of {ledger.size}"


def evidence_at_draws(ledger: Ledger, total: int) -> NDArray[np.float64]:
    """(draws,) log of the money that `estimate` bets against the truth, after each draw; computed afresh here."""
    before, urn = ledger.found_before[ledger.draws], ledger.unjudged_before[ledger.draws]
    hit = ledger.relevant[ledger.draws]
    grid = np.unique(np.round(np.geomspace(1, ledger.size + 1, GRID)) - 1)

    def likelihood(candidates: NDArray[np.float64]) -> NDArray[np.float64]:
        left = candidates[:, None] - before
        ways = np.where((left >= 0) & (left <= urn), np.where(hit, left, urn - left), 0)
        return np.log(ways / urn).cumsum(axis=1)

    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(hit, 0.0, (total - before) / urn)
        money = [
            np.log(part) + np.where(hit, np.log(kept), np.log1p(-kept * p) - np.log1p(-p)).cumsum()
            for kept, part in STAKES
        ]
        spread = np.logaddexp.reduce(likelihood(grid), axis=0) - np.log(len(grid))
        more = spread - likelihood(np.array([float(total)]))[0]
        return np.logaddexp(np.log(0.8) + np.logaddexp.reduce(money), np.log(0.2) + more)


def grid_of(size: int) -> list[int]:
    """Numbers of judgements at which every rule looks."""
    return [round(size * k / 100) for k in range(1, 101)]


def betting_stops(ledger: Ledger) -> dict[float, int]:
    """For each target, the first look at which the default rule stops."""
    # Just before a relevant draw the evidence is at its highest: the looks that would show a broken promise.
    hits = ledger.draws[ledger.relevant[ledger.draws]]
    looks = np.unique(np.concatenate((grid_of(ledger.size), hits)))
    stops: dict[float, int] = {}
    for n in looks.tolist():
        now = ledger.prefix(n)
        for target in TARGETS[len(stops) :]:
            # What does not do for a target does not do for a higher one.
            if not betting(now, target=target, confidence=CONFIDENCE).stop:
                break
            stops[target] = n
        if len(stops) == len(TARGETS):
            break
    return stops


def may_stop_by_buscar(ledger: Ledger, target: float) -> bool:
    """Whether buscar, slow where much is found, is worth asking: below p = .05 a window lies 1.3 deviations low."""
    starts = np.concatenate(([0], np.flatnonzero(ledger.relevant) + 1))
    starts = starts[starts < ledger.judged]
    k = ledger.found - ledger.found_before[starts]
    urn, draws = ledger.unjudged_before[starts], ledger.judged - starts
    share = (too_many(ledger, target) - ledger.found_before[starts]) / urn
    if (share * urn > urn - draws + k).any():
        return True
    variance = draws * share * (1 - share) * (urn - draws) / np.maximum(urn - 1, 1)
    return bool((k + 0.5 < draws * share - 1.3 * np.sqrt(variance)).any())


def heuristic_stops(ledger: Ledger) -> dict[str, dict[float, int]]:
    """For each published rule and target, when it stops on the ranking alone."""
    stops: dict[str, dict[float, int]] = {"knee": {}, "budget": {}, "50 in a row": {}, "buscar": {}}
    for n in grid_of(ledger.size):
        now = ledger.prefix(n)
        for name in ("knee", "budget"):
            if not stops[name] and STOPPING_RULES[name].function(now).stop:
                stops[name] = dict.fromkeys(TARGETS, n)
        for target in TARGETS[len(stops["buscar"]) :]:
            if n < ledger.size and not may_stop_by_buscar(now, target):
                break
            if not STOPPING_RULES["buscar"].function(now, target=target, confidence=CONFIDENCE).stop:
                break
            stops["buscar"][target] = n
    found = np.flatnonzero(ledger.relevant)
    gaps = np.diff(found, prepend=-1, append=ledger.size)
    long = np.flatnonzero(gaps > 50)
    n = int(np.append(found, ledger.size)[long[0]] - gaps[long[0]]) + 51 if len(long) else ledger.size
    assert n == ledger.size or STOPPING_RULES["consecutive"].function(ledger.prefix(n), length=50).stop
    stops["50 in a row"] = dict.fromkeys(TARGETS, n)
    return stops


def qbcb_stops(topic: Collection, walk: NDArray[np.int64], rng: np.random.Generator) -> dict[float, tuple[int, int]]:
    """For each target, judgements and relevant found when QBCB stops: a control sample, then the ranking alone."""
    relevant = np.array(topic.relevant)
    sample = rng.permutation(topic.size)
    rank = np.empty(topic.size, dtype=np.int64)
    rank[walk] = np.arange(topic.size)
    stops = {}
    for target in TARGETS:
        positives = smallest_sample(target, CONFIDENCE)
        assert positives is not None
        hits = np.flatnonzero(relevant[sample])
        if len(hits) < positives:
            stops[target] = (topic.size, int(relevant.sum()))
            continue
        control = sample[: hits[positives - 1] + 1]
        last = int(rank[control[relevant[control]]].max())
        judged = np.zeros(topic.size, dtype=bool)
        judged[control] = judged[walk[: last + 1]] = True
        stops[target] = (int(judged.sum()), int(relevant[judged].sum()))
    return stops


class Outcome(NamedTuple):
    """Where a rule stopped in one campaign."""

    size: int
    effort: float
    recall: float
    missed: bool


class Seen(NamedTuple):
    """What an interval said at one look."""

    size: int
    covered: bool
    width: float


class Results:
    """Everything that the tables are made of."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, float], list[Outcome]] = defaultdict(list)
        self.seen: dict[tuple[float, str], list[Seen]] = defaultdict(list)

    def stopped(self, rule: str, target: float, size: int, total: int, judged: int, found: int) -> None:
        self.outcomes[rule, target].append(Outcome(size, judged / size, found / total, found < target * total - 1e-9))

    def look(self, share: float, where: str, ledger: Ledger, total: int) -> bool:
        e = estimate(ledger, CONFIDENCE)
        covered = e.low <= total <= e.high
        self.seen[share, where].append(Seen(ledger.size, covered, e.recall_high - e.recall_low))
        return covered


def default_rule(share: float) -> str:
    """What the tables call the default rule."""
    return f"betting, {100 * share:g}% drawn at least"


def run_campaign(results: Results, topic: Collection, rng: np.random.Generator, checked: bool) -> None:
    """Judge one topic in every way, and note what each rule and interval said."""
    size, total = topic.size, sum(topic.relevant)
    for share in SHARES:
        ledger = ledger_of(topic, rng, share)
        if checked:
            check_choices(ledger, share, 1 if size < LARGE else 97)
        found = np.cumsum(ledger.relevant)
        stops = betting_stops(ledger)
        for target, n in stops.items():
            results.stopped(default_rule(share), target, size, total, n, int(found[n - 1]))

        against = evidence_at_draws(ledger, total)
        always = bool((against < -np.log(1 - CONFIDENCE)).all())
        first = int(ledger.draws[0]) + 1
        looks = {f"at {100 * level:g}% judged": round(level * size) for level in LEVELS}
        looks |= {STOP: stops[0.9], RANDOM: int(rng.integers(first, size))}
        for where, n in looks.items():
            covered = results.look(share, where, ledger.prefix(n), total)
            # What the library says is what follows from the bets as they stand above.
            if ledger.drawn[n - 1] and abs((at := against[ledger.draws.searchsorted(n) - 1]) - np.log(20)) > 1e-6:
                assert covered or at > np.log(20), f"the truth is left out, with evidence {at}"
            always &= covered
        results.seen[share, ALWAYS].append(Seen(size, always, np.nan))

    walk, _ = judge(topic, rng, 0.0, np.inf)
    ledger = Ledger.of(np.array(topic.relevant)[walk], size)
    found = np.cumsum(ledger.relevant)
    for name, by_target in heuristic_stops(ledger).items():
        for target, n in by_target.items():
            results.stopped(name, target, size, total, n, int(found[n - 1]))
    for target, (n, hits) in qbcb_stops(topic, walk, rng).items():
        results.stopped("QBCB", target, size, total, n, hits)


def percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f}"


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.mean(values)) if values else np.nan


def print_stops(results: Results) -> None:
    """One table a target."""
    rules = [*map(default_rule, SHARES), "QBCB", "buscar", "knee", "budget", "50 in a row"]
    for target in TARGETS:
        rows = []
        for rule in rules:
            outcomes = results.outcomes[rule, target]
            row: list[float] = [mean(o.missed for o in outcomes), mean(o.recall for o in outcomes)]
            row += [min(o.recall for o in outcomes), mean(o.effort for o in outcomes)]
            row += [mean(o.effort for o in outcomes if (o.size >= LARGE) == large) for large in (True, False)]
            rows.append([rule, *map(percent, row)])
        print(f"\ntarget {100 * target:g}% at {100 * CONFIDENCE:g}% confidence, in per cent")
        header = ["rule", "missed", "mean recall", "worst", "effort", "of 21,578", "of about 2,000"]
        print_table(header, rows, numbers=True)


def print_intervals(results: Results) -> None:
    """Coverage and width of the recall intervals, for each share of draws."""
    places = [f"at {100 * level:g}% judged" for level in LEVELS] + [RANDOM, STOP, ALWAYS]
    for share in SHARES:
        rows = []
        for where in places:
            seen = results.seen[share, where]
            widths = [mean(s.width for s in seen if (s.size >= LARGE) == large) for large in (True, False)]
            rows.append([where, percent(mean(s.covered for s in seen)), *map(percent, widths)])
        print(f"\n95% intervals of recall, {100 * share:g}% drawn at least, in per cent")
        print_table(["look", "covered", "mean width of 21,578", "of about 2,000"], rows, numbers=True)


def claims(results: Results) -> Iterator[bool]:
    """One line a claim, and whether it is reached."""

    def claim(text: str, reached: bool) -> bool:
        print(f"{'reached' if reached else 'not reached'}: {text}")
        return reached

    print()
    for share in SHARES:
        name = default_rule(share)
        covered = {where: mean(s.covered for s in seen) for (of, where), seen in results.seen.items() if of == share}
        least = min(covered.keys() - {ALWAYS}, key=lambda where: (covered[where], where))
        for where, what in ((least, f"{least}, the worst of single looks,"), (ALWAYS, ALWAYS)):
            text = f"{name}: the 95% interval holds the truth {what} in {percent(covered[where])}% of campaigns"
            yield claim(f"{text}; at least {percent(COVERED)}% is wanted", covered[where] >= COVERED)
        for target in TARGETS:
            missed = mean(o.missed for o in results.outcomes[name, target])
            text = f"{name}: stops short of {100 * target:g}% recall in {percent(missed)}% of campaigns"
            yield claim(f"{text}; at most {percent(1 - CONFIDENCE)}% is stated", missed <= 1 - CONFIDENCE)


def print_examples(seed: int) -> None:
    """The advice at typical moments of a campaign of about 2,000 documents."""
    rng = np.random.default_rng([seed, 10**9])
    while not 40 <= sum((topic := generate(rng, small=True)).relevant) <= 80:
        pass
    ledger = ledger_of(topic, rng, 0.0)
    hits = ledger.draws[ledger.relevant[ledger.draws]]
    stop = betting_stops(ledger)[0.9]
    first = int(ledger.draws[0])
    moments = {
        "nothing judged": 0,
        "the ranking gives": 60,
        "the draws begin": first,
        "a draw was relevant": int(hits[0]) + 1 if len(hits) else first + 200,
        "short of the stop": stop - 20,
        "the stop": stop,
    }
    print(f"\nadvice for a target of 90%; {ledger.size:,} documents, {ledger.found} relevant")
    for moment, n in moments.items():
        now = ledger.prefix(n)
        print(f"\n{moment}: {n:,} judged, {len(now.draws)} drawn, recall {percent(now.found / ledger.found)}%")
        print(f"  advice    {advise(now).reason}")
        print(f"  estimate  {estimate(now).reason}")
        print(f"  next      {next_sources(now, 1)[0]}")


def main() -> int:
    """Generate, judge, print; 1 if a claim is not reached."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--campaigns", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", action="store_true", help="print what the advice says at typical moments")
    options = parser.parse_args()
    start = time.perf_counter()
    results = Results()
    sizes = []
    for campaign in range(options.campaigns):
        rng = np.random.default_rng([options.seed, campaign])
        topic = generate(rng, small=bool(rng.random() < SMALL))
        sizes.append((topic.size, sum(topic.relevant)))
        run_campaign(results, topic, rng, checked=campaign < 5)
    relevant = np.percentile([total for _, total in sizes], [0, 25, 50, 75, 100]).astype(int).tolist()
    large = sum(size >= LARGE for size, _ in sizes)
    print(f"{len(sizes)} campaigns, {large} of 21,578 documents and {len(sizes) - large} of about 2,000")
    print(f"relevant documents: least, quartiles and most {relevant}")
    print_stops(results)
    print_intervals(results)
    reached = list(claims(results))
    if options.examples:
        print_examples(options.seed)
    print(f"\n{time.perf_counter() - start:.0f} s, {time.process_time():.0f} s of it computing")
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
