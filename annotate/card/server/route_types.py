"""The types of the request and the answer of each route of the cards."""

from typing import Any, NamedTuple, get_args

from annotate.card.server import history_wire, nugget_wire, unit_wire, wire


class RouteTypes(NamedTuple):
    """The types of a route's request and answer."""

    request: Any
    answer: Any


_OF_UNITS = {
    "sync": RouteTypes(unit_wire.UnitSyncRequest, unit_wire.UnitSyncAnswer),
    "recent": RouteTypes(unit_wire.UnitRecentRequest, unit_wire.UnitRecentAnswer),
    "unit": RouteTypes(unit_wire.UnitRequest, unit_wire.Unit),
}
"""The routes of each task with units."""

ROUTES = {
    "topics": RouteTypes(wire.TopicsRequest, wire.TopicsAnswer),
    "sync": RouteTypes(wire.SyncRequest, wire.SyncAnswer),
    "document": RouteTypes(wire.DocumentRequest, wire.DocumentAnswer),
    "why": RouteTypes(wire.WhyRequest, wire.WhyAnswer),
    "search": RouteTypes(wire.SearchRequest, wire.SearchAnswer),
    "take": RouteTypes(wire.TakeRequest, wire.DocumentPayload),
    "guidelines": RouteTypes(wire.GuidelinesRequest, wire.GuidelinesAnswer),
    "history": RouteTypes(history_wire.HistoryRequest, history_wire.HistoryAnswer),
    "near": RouteTypes(history_wire.NearRequest, history_wire.NearAnswer),
    "time": RouteTypes(history_wire.TimeRequest, history_wire.TimeAnswer),
    "settings": RouteTypes(history_wire.SettingsRequest, history_wire.SettingsAnswer),
    "nuggets": RouteTypes(nugget_wire.NuggetsRequest, nugget_wire.NuggetsAnswer),
    "token": RouteTypes(wire.TokenRequest, wire.TokenAnswer),
    **{f"{task}/{path}": types for path, types in _OF_UNITS.items() for task in get_args(wire.UnitTaskName)},
}
"""The routes of the judging cards, by path."""
