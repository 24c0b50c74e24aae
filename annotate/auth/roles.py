"""The roles that may use a route: each endpoint declares them, and a route without a declaration is not served."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from starlette.routing import BaseRoute, Route

from collection.core.records import ROLES, Role

ANYBODY: tuple[Role, ...] = ()  # the roles of a route that answers without a sign-in
EVERYBODY: tuple[Role, ...] = tuple(ROLES)
JUDGES: tuple[Role, ...] = ("manager", "annotator")
MANAGERS: tuple[Role, ...] = ("manager",)
READERS: tuple[Role, ...] = ("manager", "reader")

E = TypeVar("E", bound=Callable[..., object])


def open_to(roles: tuple[Role, ...]) -> Callable[[E], E]:
    """Declare the roles of an endpoint, which still has to check them."""

    def declare(endpoint: E) -> E:
        endpoint.roles = roles  # type: ignore[attr-defined]
        return endpoint

    return declare


def roles_of(route: BaseRoute) -> tuple[Role, ...]:
    """Return the roles that a route's endpoint declares; raise :class:`TypeError` where it declares none."""
    roles: tuple[Role, ...] | None = getattr(route.endpoint, "roles", None) if isinstance(route, Route) else None
    if roles is None:
        raise TypeError(f"{route!r} declares no roles; decorate its endpoint with open_to")
    return roles


def require_roles(routes: Sequence[BaseRoute]) -> list[BaseRoute]:
    """Return the routes; raise :class:`TypeError` where one of them declares no roles."""
    for route in routes:
        roles_of(route)
    return list(routes)
