"""Fusions, quotas and samples: worked examples, a second count by plain loops, and what their chances promise."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from collection.core.errors import ColumnsError, InputError, UnknownNameError
from collection.core.frames import POOL
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.pooling import (
    borda,
    combmnz,
    combsum,
    depth,
    parse_strata,
    quota,
    rbp,
    read_parameters,
    sparse,
    statap,
    strategies,
    stratified,
    uniform,
)
from collection.pooling.sampling import SAMPLE_COLUMNS, _prior, _probabilities
from tests.helpers import tries

STRATEGIES = strategies(adaptive=False)

BUDGETED = ("rrf", "combsum", "combmnz", "borda", "rbp")
SAMPLES = ("uniform", "stratified", "statap")


def scored(name: str, **topics: dict[str, float]) -> Run:
    rows = [(topic, doc, score) for topic, docs in topics.items() for doc, score in docs.items()]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return Run(name, rank_run(table.astype({"query_id": "str", "doc_id": "str", "score": "float64"})))


def listing(name: str, **topics: str) -> Run:
    """A run from one string a topic, best document first, one letter each."""
    return scored(name, **{topic: {doc: -place for place, doc in enumerate(docs)} for topic, docs in topics.items()})


def ids(pool: pd.DataFrame, topic: str = "t") -> str:
    return "".join(pool.loc[pool["query_id"] == topic, "doc_id"])


# a: x 10, y 6, z 2 -> 1, 1/2, 0    b: y 3, w 2, x 1 -> 1, 1/2, 0    c: z 5 alone -> 1
THREE = [
    scored("a", t={"x": 10, "y": 6, "z": 2}),
    scored("b", t={"y": 3, "w": 2, "x": 1}),
    scored("c", t={"z": 5}),
]


def test_sums_of_normalised_scores_by_hand() -> None:
    # CombSUM: y = 1/2 + 1, x = 1 + 0, z = 0 + 1, w = 1/2. x and z are level, and both first somewhere: by id.
    assert ids(combsum(THREE)) == "yxzw"
    # CombMNZ: times the runs that have it: y 3, x 2, z 2, w 1/2; nothing changes places here,
    assert ids(combmnz(THREE)) == "yxzw"
    # but where one run is sure and two are lukewarm: p = 1, q = 2/5 + 2/5, and times two 8/5.
    runs = [scored("a", t={"p": 10, "n": 0}), *(scored(r, t={f"o{r}": 5, "q": 2, f"n{r}": 0}) for r in "bc")]
    assert combsum(runs)["doc_id"].tolist().index("p") < combsum(runs)["doc_id"].tolist().index("q")
    assert combmnz(runs)["doc_id"].tolist()[0] == "q"


def test_borda_by_hand() -> None:
    # Four candidates. a: x 4, y 3, z 2, and w what is left, 1. b: y 4, w 3, x 2, z 1.
    # c: z 4, and x, y, w share 3 + 2 + 1: 2 each. So y 9, x 8, z 7, w 6.
    assert ids(borda(THREE)) == "yxzw"
    # Without c: y 7, x 6, w 4, z 3.
    assert ids(borda(THREE[:2])) == "yxwz"


def test_rbp_weights_by_hand() -> None:
    # p = 1/2, weights 1/2 1/4 1/8: x 1/2 + 1/8, y 1/4 + 1/2, z 1/8 + 1/2, w 1/4.
    assert ids(rbp(THREE, p=0.5)) == "yxzw"
    # Nearer to 1 the number of runs decides: x, y and z have two or three, w one; nearer to 0 the first places do.
    assert ids(rbp([listing("a", t="ab"), listing("b", t="cb")], p=0.9))[0] == "b"
    assert ids(rbp([listing("a", t="ab"), listing("b", t="cb")], p=0.1))[0] == "a"


def test_sparse_takes_the_first_of_the_fusion_asked_for() -> None:
    runs = [listing("a", t="vwx"), listing("b", t="wvy"), listing("c", t="zw")]
    for name in BUDGETED:
        pool = sparse(runs, budget=2, fusion=name)  # type: ignore[arg-type]
        assert ids(pool) == ids(STRATEGIES[name].function(runs, budget=2))
        assert set(pool["strategy"]) == {"sparse"}
    with pytest.raises(UnknownNameError, match="did you mean 'borda'"):
        sparse(runs, fusion="bodra")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected 1 or more pairs per topic, found 0"):
        sparse(runs, budget=0)


scores = st.integers(0, 4) | st.sampled_from([0.1, 2.5, -3.0, 1e300])
some_runs = st.lists(
    st.dictionaries(
        st.sampled_from(["t1", "t2", "t3"]),
        st.dictionaries(st.sampled_from("abcdefghij\u00e9\U0001f600"), scores, max_size=9),
        max_size=3,
    ),
    min_size=1,
    max_size=5,
)


def weights(runs: list[Run], name: str) -> dict[tuple[str, str], Fraction]:
    """By plain loops and in fractions: what each document weighs."""
    lists: dict[str, dict[str, list[tuple[str, Fraction]]]] = defaultdict(dict)
    for run in runs:
        for row in run.frame.sort_values("listed").itertuples():
            lists[row.query_id].setdefault(run.name, []).append((row.doc_id, Fraction(row.score)))
    total: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for topic, of_runs in lists.items():
        candidates = {doc for docs in of_runs.values() for doc, _ in docs}
        count = len(candidates)
        for run in runs:
            docs = of_runs.get(run.name, [])
            if name == "borda":
                left = sum(range(1, count - len(docs) + 1))
                for doc in candidates - {doc for doc, _ in docs}:
                    total[topic, doc] += Fraction(left, count - len(docs))
            low, high = min((s for _, s in docs), default=0), max((s for _, s in docs), default=0)
            for place, (doc, score) in enumerate(docs):
                total[topic, doc] += {
                    "rrf": Fraction(1, 61 + place),
                    "rbp": Fraction(1, 5) * Fraction(4, 5) ** place,
                    "borda": Fraction(count - place),
                    "combsum": (score - low) / (high - low) if high > low else Fraction(1),
                    "combmnz": (score - low) / (high - low) if high > low else Fraction(1),
                }[name]
        for doc in candidates:
            if name == "combmnz":
                total[topic, doc] *= sum(any(d == doc for d, _ in docs) for docs in of_runs.values())
            if name == "borda":
                total[topic, doc] /= count
    return total


@tries(50)
@given(some_runs, st.sampled_from(BUDGETED), st.integers(1, 12), st.integers(1, 30))
@pytest.mark.slow
def test_a_budget_buys_the_highest_weights(
    found: list[dict[str, dict[str, float]]], name: str, budget: int, total: int
) -> None:
    runs = [scored(str(n), **topics) for n, topics in enumerate(found)]
    known = weights(runs, name)
    pool = STRATEGIES[name].function(runs, budget=budget)
    assert list(pool.columns) == [*POOL.names, "runs"]
    for topic in {topic for topic, _ in known}:
        chosen = set(ids(pool, topic))
        others = {doc for t, doc in known if t == topic} - chosen
        assert len(chosen) == min(budget, len(chosen) + len(others))
        # Sums of doubles may be a rounding apart from the fractions.
        lowest = min(known[topic, doc] for doc in chosen)
        assert all(known[topic, doc] <= lowest * (1 + Fraction(1, 10**9)) + Fraction(1, 10**12) for doc in others)
    over_all = STRATEGIES[name].function(runs, total=total)
    assert len(over_all) == min(total, len(known))
    chosen_pairs = set(zip(over_all["query_id"], over_all["doc_id"], strict=True))
    lowest = min((known[pair] for pair in chosen_pairs), default=Fraction(0))
    left = set(known) - chosen_pairs
    assert all(known[pair] <= lowest * (1 + Fraction(1, 10**9)) + Fraction(1, 10**12) for pair in left)
    # In each topic a total takes the same order from its top.
    everything = STRATEGIES[name].function(runs, budget=100)
    for topic in set(over_all["query_id"]):
        assert ids(everything, topic).startswith(ids(over_all, topic))
    # The order of the runs changes no choice.
    again = STRATEGIES[name].function(runs[::-1], total=total)
    assert set(zip(again["query_id"], again["doc_id"], strict=True)) == chosen_pairs or len(again) < len(known)


def test_a_total_goes_where_it_weighs_most() -> None:
    # In agreed both runs say x, which weighs 2/5; in split there are two firsts of 1/5 and two seconds of 4/25.
    runs = [listing("a", agreed="x", split="pq"), listing("b", agreed="x", split="rs")]
    assert rbp(runs, total=1)["query_id"].tolist() == ["agreed"]
    assert rbp(runs, total=3)["doc_id"].tolist() == ["x", "p", "r"]
    assert len(rbp(runs, total=99)) == 5
    with pytest.raises(InputError, match="found -1"):
        rbp(runs, total=-1)


def test_parameters_out_of_range_are_refused() -> None:
    for name in BUDGETED:
        with pytest.raises(InputError, match="expected 1 or more pairs per topic, found 0"):
            STRATEGIES[name].function(THREE, budget=0)
    for p in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(InputError, match="above 0 and below 1"):
            rbp(THREE, p=p)
    endless = Run("endless", THREE[0].frame.assign(score=[math.inf, 1.0, 0.0]))
    with pytest.raises(
        InputError,
        match="run endless: sums of scores need finite scores, found nan or infinity; choose a strategy that uses",
    ):
        combsum([endless])
    with pytest.raises(ColumnsError, match="run a"):
        combmnz([Run("a", THREE[0].frame.drop(columns="score"))])
    with pytest.raises(InputError, match="quota: expected 1 or more documents per run and topic, found 0"):
        quota(THREE, n=0)


def test_scores_may_be_as_far_apart_as_doubles_can() -> None:
    assert ids(combsum([scored("a", t={"x": 1.7e308, "y": 0.0, "z": -1.7e308}), listing("b", t="y")])) == "yxz"


# --- quotas -------------------------------------------------------------------------------------------


def test_runs_take_turns() -> None:
    # First a takes v, b w, c z. Then w is taken, so a takes x; v is, so b takes y; w is, so c has nothing left.
    runs = [listing("a", t="vwx"), listing("b", t="wvy"), listing("c", t="zw")]
    pool = quota(runs, n=2)
    assert ids(pool) == "vwzxy"
    assert pool["rank"].tolist() == [1, 2, 3, 4, 5]
    assert pool["runs"].tolist() == [2, 3, 1, 1, 1]
    # Copies of one system bring as much together as the odd one brings alone, for each of them brings something new.
    copies = [listing(name, t="abcdef") for name in "123"]
    assert ids(quota([*copies, listing("odd", t="uvw")], n=1)) == "abcu"
    assert ids(depth([*copies, listing("odd", t="uvw")], depth=1)) == "au"


@tries(50)
@given(st.lists(st.lists(st.sampled_from("abcdefghij"), unique=True), min_size=1, max_size=5), st.integers(1, 4))
@pytest.mark.slow
def test_every_run_brings_its_quota_or_all_it_has(lists: list[list[str]], n: int) -> None:
    runs = [listing(str(number), t="".join(docs), u="a") for number, docs in enumerate(lists)]
    pool = ids(quota(runs, n=n))
    assert len(set(pool)) == len(pool)
    assert len(pool) <= n * len(runs)
    if len(pool) < n * len(runs):  # somebody ran out, and then has nothing left that is not in the pool
        assert any(set(docs) <= set(pool) for docs in lists)
    assert all(set(docs[:n]) <= set(pool) for docs in lists)
    more = ids(quota(runs, n=n + 1))
    assert more.startswith(pool[: len(lists)]) or not pool


# --- samples ------------------------------------------------------------------------------------------


def many(count: int = 8, length: int = 60, topics: int = 3) -> list[Run]:
    random = np.random.default_rng(3)
    runs = []
    for number in range(count):
        tables = {
            f"t{topic}": {f"d{doc}": float(-place) for place, doc in enumerate(random.permutation(90)[:length])}
            for topic in range(topics)
        }
        runs.append(scored(f"r{number}", **tables))
    return runs


MANY = many()


def test_strata_are_read_and_refused() -> None:
    assert parse_strata(" 10:1, 50:.3 ,100:0.1") == [(10, 1.0), (50, 0.3), (100, 0.1)]
    for wrong, said in {
        "": "found ''",
        "10": "found '10'",
        "10:1,": "found ''",
        "ten:1": "found 'ten:1'",
        "10:1,10:.5": "found 10 after 10",
        "50:1,10:.5": "found 10 after 50",
        "10:0": "found '10:0'",
        "10:1.5": "found '10:1.5'",
        "10:nan": "found '10:nan'",
        "0:1": "found '0:1'",
        "1.5:1": "found '1.5:1'",
    }.items():
        with pytest.raises(InputError, match="as in 10:1,50:.3,100:.1") as raised:
            parse_strata(wrong)
        assert said in str(raised.value)
        with pytest.raises(InputError, match="strata: expected depth:rate"):
            stratified(MANY, strata=wrong)


def test_a_stratified_sample_is_the_depth_pool_with_exact_shares() -> None:
    pool = stratified(MANY, strata="5:1,20:.3,40:.1", seed=4)
    whole = depth(MANY, depth=40)
    assert list(pool.columns) == list(SAMPLE_COLUMNS)
    assert set(zip(pool["query_id"], pool["doc_id"], strict=True)) == set(
        zip(whole["query_id"], whole["doc_id"], strict=True)
    )
    for (_, stratum), part in pool.groupby(["query_id", "stratum"]):
        assert part["rank"].between(*[(1, 5), (6, 20), (21, 40)][stratum]).all()
        number = math.ceil([Fraction(1), Fraction(3, 10), Fraction(1, 10)][stratum] * len(part))
        assert part["drawn"].sum() == number
        assert (part["probability"] == number / len(part)).all()
    for _, part in pool.groupby("query_id"):
        assert part["drawn"].is_monotonic_decreasing
        for _, half in part.groupby("drawn"):
            assert half["rank"].is_monotonic_increasing


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_rests_on_seed_topic_and_documents_alone(name: str) -> None:
    sample = STRATEGIES[name].function
    size = {"budget": 20} if name == "statap" else {}
    pool = sample(MANY, seed=7, **size)
    pd.testing.assert_frame_equal(pool, sample(MANY, seed=7, **size))
    assert not pool["doc_id"].equals(sample(MANY, seed=8, **size)["doc_id"])
    one = [Run(run.name, run.frame[run.frame["query_id"] == "t1"].reset_index(drop=True)) for run in MANY]
    of_topic = pool[pool["query_id"] == "t1"].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_topic, sample(one, seed=7, **size))
    pd.testing.assert_frame_equal(of_topic, sample(one[::-1], seed=7, **size))


def test_the_least_rate_draws_one_of_each_stratum() -> None:
    pool = uniform(MANY, rate=1e-12)
    assert (pool.groupby("query_id")["drawn"].sum() == 1).all()
    np.testing.assert_allclose(pool["probability"], 1 / pool.groupby("query_id")["doc_id"].transform("size"))


@pytest.mark.slow
def test_a_higher_rate_keeps_what_was_drawn() -> None:
    drawn = [set(map(tuple, p.loc[p["drawn"], ["query_id", "doc_id"]].to_numpy())) for p in (
        uniform(MANY, depth=50, rate=rate, seed=2) for rate in (0.05, 0.1, 0.4, 1.0)
    )]  # fmt: skip
    assert all(less < more for less, more in pairwise(drawn))
    assert len(drawn[-1]) == len(depth(MANY, depth=50))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("uniform", {"depth": 12, "rate": 0.25}),
        ("stratified", {"strata": "2:.5,12:.2"}),
        ("statap", {"budget": 12, "depth": 12}),
    ],
)
@pytest.mark.slow
@pytest.mark.long
def test_a_document_is_drawn_as_often_as_its_probability_says(name: str, parameters: dict[str, object]) -> None:
    """Over many topics with the same lists, and so the same chances: each document's share, and unbiased estimates."""
    topics = 1500
    lists = [np.random.default_rng(number).permutation(40)[:20] for number in range(4)]
    runs = [
        Run(
            str(number),
            rank_run(
                pd.DataFrame(
                    {
                        "query_id": np.repeat([f"t{topic}" for topic in range(topics)], 20),
                        "doc_id": np.tile([f"d{doc}" for doc in docs], topics),
                        "score": np.tile(-np.arange(20.0), topics),
                    }
                )
            ),
        )
        for number, docs in enumerate(lists)
    ]
    pool = STRATEGIES[name].function(runs, **parameters)
    probability = pool.groupby("doc_id")["probability"].agg(["min", "max"])
    assert (probability["min"] == probability["max"]).all()
    chance, times = probability["min"], pool.groupby("doc_id")["drawn"].sum()
    sizes = pool.groupby("query_id")["drawn"].sum()
    assert sizes.nunique() == 1
    assert chance.sum() == pytest.approx(sizes.iloc[0])
    certain = chance == 1
    assert (times[certain] == topics).all()
    assert (times - topics * chance)[~certain].abs().lt(4.5 * np.sqrt(topics * chance * (1 - chance))[~certain]).all()
    relevant = {f"d{number}" for number in range(0, 40, 3)}
    weight = pool["doc_id"].isin(relevant) * pool["drawn"] / pool["probability"]
    estimates = weight.groupby(pool["query_id"]).sum()
    assert abs(estimates.mean() - len(relevant & set(chance.index))) < 4.5 * estimates.std() / math.sqrt(topics)


def test_the_weights_of_statap_are_those_of_the_paper() -> None:
    # n = 3: (1 + 1 + 1/2 + 1/3, 1 + 1/2 + 1/3, 1 + 1/3) / 6
    assert _prior(np.array([1, 2, 3]), np.array([3, 3, 3])).tolist() == pytest.approx([17 / 36, 11 / 36, 8 / 36])
    for length in (1, 2, 10, 1000):
        ranks = np.arange(1, length + 1)
        assert _prior(ranks, np.full(length, length)).sum() == pytest.approx(1)
    # What would weigh more than a place is certain, and the rest shares what is left: 6, 2, 1, 1 for 2 places.
    assert _probabilities(np.array([6.0, 2.0, 1.0, 1.0]), 2).tolist() == [1.0, 0.5, 0.25, 0.25]
    # Certainty spreads: 6, 3, 1, 1 for 3 places: after the first, 3 of 5 in 2 places is more than one.
    assert _probabilities(np.array([6.0, 3.0, 1.0, 1.0]), 3).tolist() == [1.0, 1.0, 0.5, 0.5]
    assert _probabilities(np.array([6.0, 3.0]), 3).tolist() == [1.0, 1.0]


@tries(40)
@given(some_runs, st.integers(1, 12), st.integers(0, 50))
@pytest.mark.slow
def test_statap_draws_what_it_is_asked_for(found: list[dict[str, dict[str, float]]], budget: int, seed: int) -> None:
    runs = [scored(str(n), **topics) for n, topics in enumerate(found)]
    pool = statap(runs, budget=budget, seed=seed)
    assert pool["stratum"].isna().all()
    for _, part in pool.groupby("query_id"):
        assert part["drawn"].sum() == min(budget, len(part))
        assert part["probability"].between(0, 1, inclusive="right").all()
        assert part["probability"].sum() == pytest.approx(min(budget, len(part)))


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_makes_an_empty_sample(name: str) -> None:
    for runs in ([], [scored("empty")]):
        pool = STRATEGIES[name].function(runs)
        assert pool.empty
        assert list(pool.columns) == list(SAMPLE_COLUMNS)
        assert pool["drawn"].dtype == np.bool_


def test_samples_out_of_range_are_refused() -> None:
    for rate in (0, -0.1, 1.01, math.nan):
        with pytest.raises(InputError, match="a share above 0 and at most 1, found"):
            uniform(MANY, rate=rate)
    for sample in (uniform, statap):
        with pytest.raises(InputError, match="expected a rank of 1 or more, found 0"):
            sample(MANY, depth=0)
    with pytest.raises(InputError, match="expected 1 or more pairs per topic, found 0"):
        statap(MANY, budget=0)


# --- every strategy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_takes_numbers_beyond_32_bits(name: str) -> None:
    entry = STRATEGIES[name]
    for parameter, default in entry.parameters.items():
        if isinstance(default, int):
            assert not entry.function(MANY[:2], **{parameter: 10**12}).empty


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_is_fit_for_the_command_line_and_the_page(name: str) -> None:
    entry = STRATEGIES[name]
    assert "Source: " in (entry.function.__doc__ or "") or name in ("quota", "combmnz")
    pool = entry.function(MANY)
    assert not pool.duplicated(["query_id", "doc_id"]).any()
    assert set(pool["strategy"]) == {name}
    assert (pool["rank"] >= 1).all()
    assert list(dict.fromkeys(pool["query_id"])) == sorted(set(pool["query_id"]))
    assert entry.function([]).empty
    # What the defaults say as text is what they are as values.
    assert read_parameters(entry, [f"{key}={value}" for key, value in entry.parameters.items()]) == entry.parameters


def test_parameters_are_read_from_text() -> None:
    assert read_parameters(STRATEGIES["stratified"], ["strata = 10:1,20:.5", "seed=3"]) == {
        "strata": "10:1,20:.5",
        "seed": 3,
    }
    assert read_parameters(STRATEGIES["sparse"], ["fusion=borda", "budget=5"]) == {"fusion": "borda", "budget": 5}
    for name, setting, said in (
        ("rrf", "budget", "expected a parameter as NAME=VALUE, such as budget=100, found 'budget'"),
        ("rrf", "=5", "expected a parameter as NAME=VALUE, such as budget=100, found '=5'"),
        ("rrf", "budget=ten", "budget of rrf: expected a whole number, found 'ten'"),
        ("rbp", "p=high", "p of rbp: expected a number, found 'high'"),
        ("rbp", "q=.5", "unknown rbp parameter 'q'"),
        ("depth", "ties=random", "unknown value of ties for depth 'random'; choose from both, listed"),
    ):
        with pytest.raises(InputError, match=said):
            read_parameters(STRATEGIES[name], [setting])
