"""Answers and labels for tests, written in short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from collection.core.answers import SupportLabels
from collection.generated_answers import LabelledAnswers, label_answers

ANSWER = ["run", "query_id"]


def frame(rows: list[tuple[Any, ...]], *columns: str) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=list(columns))
    return made.astype({"grade": "Int8"}) if "grade" in made else made


def answers(rows: list[tuple[str, str, int]]) -> pd.DataFrame:
    return frame(rows, *ANSWER, "words").assign(team="", stated_words=pd.array([None] * len(rows), "Int64"))


def nuggets(rows: list[tuple[str, str, str, float]]) -> pd.DataFrame:
    return frame(rows, "query_id", "nugget", "importance", "weight").assign(text="")


def assignments(rows: list[tuple[str, str, str, int | None]]) -> pd.DataFrame:
    return frame(rows, *ANSWER, "nugget", "grade")


def support_labels(sentences: dict[tuple[str, str], list[list[int | None]]], words: int = 9) -> SupportLabels:
    """Labels from the grades of the citations of each sentence, by run and topic."""
    said, graded = [], []
    for key, of_answer in sentences.items():
        for number, grades in enumerate(of_answer):
            names = [f"d{number}.{place}" for place in range(len(grades))]
            said.append((*key, number, "", tuple(names)))
            graded += [(*key, number, place, name, grades[place]) for place, name in enumerate(names)]
    return SupportLabels(
        answers([(*key, words) for key in sentences]),
        frame(said, *ANSWER, "sentence", "text", "citations"),
        frame(graded, *ANSWER, "sentence", "position", "doc_id", "grade"),
    )


def parse_answer(measure: str, text: str) -> LabelledAnswers:
    """One answer from a golden row: nuggets (``v2`` vital, ``3:1`` with a weight), grades of citations, or words."""
    key = ("run", "1")
    if measure.startswith("words"):
        return label_answers(answers=answers([(*key, int(text))]))

    def grade(token: str) -> int | None:
        return None if token == "-" else int(token)

    if measure.startswith("support"):
        return label_answers(support=support_labels({key: [[grade(t) for t in s.split()] for s in text.split("|")]}))
    kinds = {"v": "vital", "o": "okay", "?": ""}
    parts = [token.split(":") if ":" in token else (token[0], token[1:]) for token in text.split()]
    rows = [
        ("1", str(n), kinds.get(kind, ""), np.nan if kind in kinds else float(kind))
        for n, (kind, _) in enumerate(parts)
    ]
    labels = [(*key, str(n), grade(token)) for n, (_, token) in enumerate(parts)]
    return label_answers(nuggets=nuggets(rows), nugget_assignments=assignments(labels))
