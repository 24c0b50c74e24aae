"""The route by which annotators make nuggets beside the documents that they judge."""

from __future__ import annotations

from typing import Any, cast

from annotate.card.server import fields, nugget_wire
from annotate.card.server.card import NUGGETS, grade_card
from annotate.card.server.handlers import PostRoute
from annotate.server.request_bodies import RequestError
from collection.campaign import Campaign
from collection.campaign.answers.nugget_sources import OwnEdit


def routes() -> list[PostRoute]:
    """Return the routes of this module."""
    return [PostRoute("nuggets", _nuggets, own_topic=True)]


def _nuggets(campaign: Campaign, annotator: str, request: nugget_wire.NuggetsRequest) -> nugget_wire.NuggetsAnswer:
    if request.get("edits") and grade_card(campaign) != NUGGETS:
        raise RequestError("this campaign has no generated answers")
    query_id, sources = request["query_id"], campaign.answers.sources
    readable, unreadable = fields.read_decisions(request.get("edits", ()), nugget_wire.NuggetEdit, _edit, annotator)
    result = sources.save_own(query_id, annotator, readable)
    added = {each.nugget.nugget: each.edit for each in campaign.answers.nuggets.log(query_id) if each.kind == "added"}
    return {
        "saved": result.saved,
        "refused": fields.refusals(unreadable + result.refused),
        "nuggets": [
            {
                "nugget": each.nugget,
                "added": added.get(each.nugget, ""),
                "text": each.text,
                "importance": cast(nugget_wire.Importance, each.importance),
                "sources": [{"doc_id": doc_id, "start": start, "end": end} for doc_id, start, end in each.sources],
            }
            for each, _ in sources.listed(query_id, annotator)
        ],
    }


def _edit(*, annotator: str, sources: tuple[nugget_wire.NuggetSource, ...] | None = None, **others: Any) -> OwnEdit:
    """Return an edit as the campaign takes it; whose nuggets it may change follows from the token."""
    del annotator
    places = None if sources is None else tuple((each["doc_id"], each["start"], each["end"]) for each in sources)
    return OwnEdit(**others, sources=places)
