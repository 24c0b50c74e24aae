"""Runs and qrels as nested dictionaries: random, with equal scores, unjudged documents, and topics of one side only."""

import random

import pandas as pd
from hypothesis import strategies as st

Nested = dict[str, dict[str, float]]

IDS = [f"d{n}" for n in range(24)] + ["é", "z", "Z", "中", "\U0001f600", "d01"]


def generated(seed: int, grades: str = "0 0 0 1 1 2 3 -1") -> tuple[dict[str, dict[str, int]], Nested]:
    """Qrels and a run of up to eight topics, which are numbers, as gdeval wants them."""
    rng = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: Nested = {}
    for topic in map(str, range(1, rng.randint(2, 8))):
        judged, retrieved = (rng.sample(IDS, rng.randint(1, len(IDS))) for _ in "12")
        qrels[topic] = {doc_id: int(rng.choice(grades.split())) for doc_id in judged}
        kinds = [lambda: float(rng.randint(-2, 4)), lambda: rng.gauss(0, 5), lambda: 1e8 + rng.random()]
        score = rng.choice(kinds)
        if rng.random() < 0.8:
            run[topic] = {doc_id: score() for doc_id in retrieved}
    run["99"] = {"d1": 1.0}
    return qrels, run


def as_frame(nested: Nested, column: str) -> pd.DataFrame:
    rows = [(topic, doc_id, number) for topic, documents in nested.items() for doc_id, number in documents.items()]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", column])


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], Nested]:
    """Smaller qrels and runs, which Hypothesis can shrink."""
    scores = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 1e300, 1e301]))
    documents = st.sampled_from(IDS)
    qrels = draw(st.dictionaries(st.sampled_from("123"), st.dictionaries(documents, st.integers(-1, 4)), max_size=3))
    run = draw(st.dictionaries(st.sampled_from("1234"), st.dictionaries(documents, scores, max_size=12), max_size=4))
    return qrels, run
