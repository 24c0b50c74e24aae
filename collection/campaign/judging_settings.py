"""What the judging page asks of annotators, and how it shows documents: the manager's settings of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from collection.errors import InputError, UnknownNameError

Task = Literal["grades", "list", "preference"]

TASKS: dict[Task, str] = {
    "grades": "Grades: one document at a time gets a grade, as dense qrels want it",
    "list": "Lists: of a topic's first documents the one or few that answer it are chosen, for sparse qrels",
    "preference": "Preferences: two documents side by side, which of them is better",
}
"""What annotators are asked: name -> what it means."""

Form = Literal["auto", "plain", "preformatted", "markdown", "html"]

FORMS: dict[Form, str] = {
    "auto": "by the document: its `format` where it has one, HTML where it begins like a page, else plain",
    "plain": "plain text: paragraphs are kept, lines are wrapped",
    "preformatted": "preformatted text: code, tables of blanks; set in letters of one width",
    "markdown": "Markdown: headings, lists, tables and emphasis are drawn",
    "html": "HTML: the words of the page, without anything that it would do",
}
"""How the text of documents is to be read: name -> what it means."""

Long = Literal["whole", "passages"]

MOST_CHOSEN = 50
"""So many documents of a list can be chosen at most, whatever the manager says."""

_HOST = re.compile(r"(?:\w(?:[\w-]*\w)?\.)*\w(?:[\w-]*\w)?")


@dataclass(frozen=True)
class CardSettings:
    """What the judging page asks, and how it shows documents.

    Attributes
    ----------
    task
        A name of :data:`TASKS`.
    list_size
        For lists: documents of a list, the first of the topic's pool; from 2 to 50.
    most_chosen
        For lists: how many of them can be chosen at most.
    preference_size
        For preferences: documents of a topic that are compared, the first of its pool; from 2 to 100.
    form
        A name of :data:`FORMS`.
    long
        Long documents come "whole", or folded to the "passages" that match the topic, with the rest one key away.
    long_from
        Characters from which on a document is long.
    marking
        Whether annotators can mark passages.
    near
        Whether a document says that it is nearly the same as one that they have judged.
    image_hosts
        Hosts whose images are shown where a document links to them. Files that were imported always are.
    rest_after
        Minutes of judging without a break after which the card says so; 0: never.
    """

    task: Task = "grades"
    list_size: int = 10
    most_chosen: int = 3
    preference_size: int = 10
    form: Form = "auto"
    long: Long = "whole"
    long_from: int = 3000
    marking: bool = True
    near: bool = True
    image_hosts: tuple[str, ...] = ()
    rest_after: int = 50

    def __post_init__(self) -> None:
        object.__setattr__(self, "image_hosts", tuple(dict.fromkeys(host.lower() for host in self.image_hosts)))
        for host in self.image_hosts:
            if len(host) > 253 or not _HOST.fullmatch(host):
                raise InputError(
                    f"image_hosts are names of hosts such as images.example.org, found {host!r}; "
                    "without https://, a port or a path"
                )
        for name, known in (("task", TASKS), ("form", FORMS), ("long", dict.fromkeys(get_args(Long)))):
            if getattr(self, name) not in known:
                raise UnknownNameError(name, str(getattr(self, name)), known)
        ranges = {
            "list_size": (2, 50),
            "most_chosen": (1, MOST_CHOSEN),
            "preference_size": (2, 100),
            "long_from": (200, 10_000_000),
            "rest_after": (0, 24 * 60),
        }
        for name, (least, most) in ranges.items():
            if not least <= getattr(self, name) <= most:
                raise InputError(f"{name} is a number from {least:,} to {most:,}, found {getattr(self, name):,}")
