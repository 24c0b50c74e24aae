"""Whose a route is, as data: every route says it, and none is served that does not."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from starlette.routing import BaseRoute, Route

from collection.records import ROLES, Role

ANYBODY: tuple[Role, ...] = ()
"""The roles of a route that answers without a sign-in."""
EVERYBODY: tuple[Role, ...] = tuple(ROLES)
JUDGES: tuple[Role, ...] = ("manager", "annotator")
MANAGERS: tuple[Role, ...] = ("manager",)
READERS: tuple[Role, ...] = ("manager", "reader")

E = TypeVar("E", bound=Callable[..., Any])


def open_to(roles: tuple[Role, ...]) -> Callable[[E], E]:
    """Say of an endpoint whose it is. That says it and no more: the endpoint has to look who comes."""

    def declare(endpoint: E) -> E:
        endpoint.roles = roles  # type: ignore[attr-defined]
        return endpoint

    return declare


def roles_of(route: BaseRoute) -> tuple[Role, ...]:
    """Whose a route is.

    Raises
    ------
    TypeError
        Its endpoint does not say.
    """
    roles: tuple[Role, ...] | None = getattr(route.endpoint, "roles", None) if isinstance(route, Route) else None
    if roles is None:
        raise TypeError(f"{route!r} does not say whose it is; declare its endpoint with open_to")
    return roles


def require_roles(routes: Sequence[BaseRoute]) -> list[BaseRoute]:
    """The routes, all of which say whose they are; raises :class:`TypeError` for one that does not."""
    for route in routes:
        roles_of(route)
    return list(routes)
