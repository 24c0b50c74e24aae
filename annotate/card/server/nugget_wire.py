"""Wire format of the nuggets of campaigns with generated answers; see :mod:`.wire`."""

from typing import Annotated, Literal, NotRequired, TypedDict

from annotate.card.server.wire import SENT, UNREAD, Longest, Most, Refused, Whole

Importance = Literal["vital", "okay", ""]


class NuggetSource(TypedDict):
    """A passage that contains a nugget; without start and end, the whole document."""

    doc_id: str
    start: Annotated[int | None, Whole(0)]
    end: Annotated[int | None, Whole(0)]


class NuggetEdit(TypedDict):
    """A change to one of the annotator's nuggets, made while documents are judged."""

    uuid: str
    kind: Literal["add", "change", "delete"]
    nugget: NotRequired[str]  # To change or delete: its id, or the uuid of the edit that adds it.
    text: NotRequired[Annotated[str, Longest(2000)]]
    importance: NotRequired[Importance]
    sources: NotRequired[Annotated[list[NuggetSource], Most(100)]]


class NuggetsRequest(TypedDict):
    """Save edits of nuggets, then ask for the annotator's nuggets of a topic."""

    query_id: str
    edits: NotRequired[Annotated[list[Annotated[NuggetEdit, UNREAD]], SENT]]


class OwnNugget(TypedDict):
    """A current nugget that the annotator alone made."""

    nugget: str
    added: str  # The uuid of the edit that added it; "" if it was split from another nugget.
    text: str
    importance: Importance
    sources: list[NuggetSource]


class NuggetsAnswer(TypedDict):
    """The uuids of saved edits, refused ones, and the annotator's nuggets in their order."""

    saved: list[str]
    refused: list[Refused]
    nuggets: list[OwnNugget]
