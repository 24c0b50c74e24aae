"""Results of services, kept across script runs."""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import ParamSpec, TypeVar, cast

import streamlit as st

from annotate.auth import session
from collection.annotator_agreement import Labels
from collection.comparison import Evaluation

P = ParamSpec("P")
R = TypeVar("R")


def cached(method: Callable[P, R], cache_key: object, spinner: str | bool = False, entries: int = 16) -> Callable[P, R]:
    """A service's method whose results are kept, by its arguments, while the state that they rest on is the same.

    That state has to include what evaluations and labels among the arguments rest on, since these are not compared. Of
    each method so many `entries` are kept; `spinner` is shown while it computes.
    """
    results = _results(f"{method.__qualname__} {spinner} {entries}", spinner, entries)

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return cast(R, results(session.current().campaign.id, cache_key, args, kwargs, method))

    return call


@cache
def _results(name: str, spinner: str | bool, entries: int) -> Callable[..., object]:
    """A cache of its own for each method, since Streamlit tells caches apart by the names of functions."""

    def compute(
        campaign_id: str, cache_key: object, args: tuple[object], kwargs: dict[str, object], _method: Callable[..., R]
    ) -> R:
        return _method(*args, **kwargs)

    compute.__qualname__ = name
    return st.cache_data(
        show_spinner=spinner,
        max_entries=entries,
        hash_funcs={FunctionType: lambda f: f.__qualname__, Evaluation: lambda _: None, Labels: lambda _: None},
    )(compute)
