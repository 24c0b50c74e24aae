"""The pages: one short script each, and the one table of them, which says whose each is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from annotate.auth.roles import EVERYBODY, JUDGES, MANAGERS, READERS
from annotate.server import uploads
from collection.records import Role

_HERE = Path(__file__).parent

SECTIONS = ("", "Judge", "Build", "Results", "People")
"""Sections of the menu, in order."""


class PageEntry(NamedTuple):
    """One page. Who has none of its `roles` is refused, also by the page's address."""

    file: str
    """The script, in this folder."""
    title: str
    icon: str
    section: str
    """One of :data:`SECTIONS`."""
    url_path: str
    roles: tuple[Role, ...]
    default: bool = False
    has_uploader: bool = False
    """Whether people choose files there that their browser sends."""


PAGES: tuple[PageEntry, ...] = (
    PageEntry("overview.py", "Overview", ":material/home:", "", "overview", EVERYBODY, default=True),
    PageEntry("judge.py", "Judge", ":material/gavel:", "Judge", "judge", JUDGES),
    PageEntry("my_judgements.py", "My judgements", ":material/history:", "Judge", "my-judgements", JUDGES),
    PageEntry("adjudicate.py", "Adjudicate", ":material/balance:", "Judge", "adjudicate", MANAGERS),
    PageEntry("guidelines.py", "Guidelines", ":material/menu_book:", "Judge", "guidelines", EVERYBODY),
    PageEntry("import_files.py", "Import", ":material/upload:", "Build", "import", MANAGERS, has_uploader=True),
    PageEntry("pool.py", "Pool", ":material/stacks:", "Build", "pool", MANAGERS),
    PageEntry("judging_page.py", "Judging page", ":material/view_carousel:", "Build", "judging-page", MANAGERS),
    PageEntry("loop.py", "Loop", ":material/autorenew:", "Build", "loop", MANAGERS),
    PageEntry("recall.py", "Recall", ":material/travel_explore:", "Results", "recall", READERS),
    PageEntry("agreement.py", "Agreement", ":material/handshake:", "Results", "agreement", READERS),
    PageEntry("export.py", "Export", ":material/download:", "Results", "export", READERS),
    PageEntry("compare.py", "Compare", ":material/leaderboard:", "Results", "compare", READERS),
    PageEntry("reusability.py", "Reusability", ":material/recycling:", "Results", "reusability", READERS),
    PageEntry("assign.py", "Assign", ":material/assignment_ind:", "People", "assign", MANAGERS),
    PageEntry("annotators.py", "Annotators", ":material/monitoring:", "People", "annotators", MANAGERS),
    PageEntry("people.py", "People", ":material/group:", "People", "people", MANAGERS),
    PageEntry("account.py", "Account", ":material/account_circle:", "People", "account", EVERYBODY),
)


def entry(file: str) -> PageEntry:
    """The entry of a view script, by its file name."""
    return next(page for page in PAGES if page.file == file)


def navigation(role: Role) -> dict[str, list[st.Page]]:
    """The menu of somebody with this role; made anew in each script run, as Streamlit wants it.

    A page of other roles is there under its address too, out of the menu, and only says whose it is: so nobody
    takes it for one that does not exist, and its script never runs.
    """
    menu: dict[str, list[st.Page]] = {section: [] for section in SECTIONS}
    for page in PAGES:
        script: Path | Callable[[], None] = _HERE / page.file
        section = page.section
        if role not in page.roles:
            script, section = refusal(page), ""
        menu[section].append(
            st.Page(
                script,
                title=page.title,
                icon=page.icon,
                url_path=page.url_path,
                default=page.default,
                visibility="visible" if role in page.roles else "hidden",
            )
        )
    return {section: pages for section, pages in menu.items() if pages}


def of_roles(roles: Sequence[Role]) -> str:
    """``managers and readers``."""
    return " and ".join(f"{role}s" for role in roles)


def refusal(page: PageEntry) -> Callable[[], None]:
    """What stands in the place of a page that is not for this role."""

    def refuse() -> None:
        st.title(page.title)
        st.error(f"This page is for {of_roles(page.roles)}.")
        st.write("Ask a manager of the campaign if you need it.")

    return refuse


def run(page: st.Page, role: Role) -> None:
    """Run the page that was chosen, after one more look at whose it is."""
    chosen = next(entry for entry in PAGES if page.url_path == ("" if entry.default else entry.url_path))
    uploads.page_drawn(has_uploader=chosen.has_uploader and role in chosen.roles)
    if role in chosen.roles:
        page.run()
    else:
        refusal(chosen)()
