"""Settings of the judging page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from collection.core.errors import InputError, require_known

Task = Literal["grades", "list", "preference"]

TASKS: dict[Task, tuple[str, str]] = {
    "grades": ("Grades", "Grade one document at a time, for dense qrels."),
    "list": ("Lists", "Choose the few documents in a list that answer the topic, for sparse qrels."),
    "preference": ("Preferences", "Choose the better of two documents."),
}
"""Label and description of each task of annotators."""

DocumentForm = Literal["auto", "plain", "preformatted", "markdown", "html"]

FORMS: dict[DocumentForm, tuple[str, str]] = {
    "auto": (
        "Automatic",
        "The document's `format` field if set, HTML if the text looks like a web page, otherwise plain.",
    ),
    "plain": ("Plain", "Wrapped lines, with paragraphs."),
    "preformatted": ("Preformatted", "Monospaced, for code and tables aligned with spaces."),
    "markdown": ("Markdown", "Rendered headings, lists, tables and emphasis."),
    "html": ("HTML", "The text of a web page, without tags and scripts."),
}
"""Label and description of each form of a document's text."""

Long = Literal["whole", "passages"]

MOST_CHOSEN = 50
"""Upper limit of :attr:`JudgingPageSettings.most_chosen`."""

_HOST = re.compile(r"(?:\w(?:[\w-]*\w)?\.)*\w(?:[\w-]*\w)?")


@dataclass(frozen=True)
class JudgingPageSettings:
    """Settings of the judging page.

    Attributes
    ----------
    task, form
        Names of :data:`TASKS` and :data:`FORMS`.
    list_size, most_chosen
        Documents of a list, the first of the topic's pool (2 to 50), and how many of them can be chosen.
    preference_size
        Documents of a topic that are compared, the first of its pool (2 to 100).
    long, long_from
        Documents from this number of characters on are shown "whole", or folded to the "passages" that match the topic.
    marking
        Annotators can mark passages.
    near
        A notice marks documents that are nearly the same as a judged one.
    image_hosts
        Hosts from which linked images are shown.
    rest_after
        Minutes of judging without a break after which the card suggests one; 0: never.
    show_labels
        Name of the label set whose labels annotators see beside the documents that they grade; "": none.
    """

    task: Task = "grades"
    list_size: int = 10
    most_chosen: int = 3
    preference_size: int = 10
    form: DocumentForm = "auto"
    long: Long = "whole"
    long_from: int = 3000
    marking: bool = True
    near: bool = True
    image_hosts: tuple[str, ...] = ()
    rest_after: int = 50
    show_labels: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "image_hosts", tuple(dict.fromkeys(host.lower() for host in self.image_hosts)))
        for host in self.image_hosts:
            if len(host) > 253 or not _HOST.fullmatch(host):
                raise InputError(
                    f"image_hosts: expected a host name such as images.example.org, found {host!r}; "
                    "leave out https://, the port and the path"
                )
        for name, known in (("task", TASKS), ("form", FORMS), ("long", dict.fromkeys(get_args(Long)))):
            require_known(name, known, str(getattr(self, name)))
        ranges = {
            "list_size": (2, 50),
            "most_chosen": (1, MOST_CHOSEN),
            "preference_size": (2, 100),
            "long_from": (200, 10_000_000),
            "rest_after": (0, 24 * 60),
        }
        for name, (least, most) in ranges.items():
            if not least <= getattr(self, name) <= most:
                raise InputError(f"{name}: expected a number from {least:,} to {most:,}, found {getattr(self, name):,}")
