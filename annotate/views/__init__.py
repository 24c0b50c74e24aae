"""The pages, one short script each, and the menu of them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from annotate.auth import session
from annotate.auth.page_access import PAGES, SECTIONS, SECTIONS_IN_REVIEW, PageEntry, role_names
from annotate.server import uploads
from annotate.views.widgets import widgets
from collection.core.records import Role

_HERE = Path(__file__).parent


def navigation(
    role: Role, *, is_review: bool = False, show_all: bool = False, in_task: bool = False, has_answers: bool = False
) -> dict[str, list[st.Page]]:
    """The menu of a role, new in each script run; hidden pages of other roles only show whose they are.

    Only managers get sections, because only they have many pages. The menus of a literature review (without `show_all`)
    and of a task of generated answers list only their own pages; addresses and links still open the others.
    """
    menu: dict[str, list[st.Page]] = {section: [] for section in SECTIONS}
    for page in PAGES:
        title = page.title_for(is_review=is_review)
        make = partial(st.Page, title=title, icon=page.icon, url_path=page.url_path, default=page.default)
        if role not in page.roles:
            menu[""].append(make(refusal(page), visibility="hidden"))
        elif page.is_listed(is_review=is_review, show_all=show_all, in_task=in_task, has_answers=has_answers):
            menu[page.section if role == "manager" else ""].append(make(_HERE / page.file))
        else:
            menu[""].append(make(_HERE / page.file, visibility="hidden"))
    names = SECTIONS_IN_REVIEW if is_review else {}
    return {names.get(section, section): pages for section, pages in menu.items() if pages}


def refusal(page: PageEntry) -> Callable[[], None]:
    """The page shown instead of one for other roles."""

    def refuse() -> None:
        st.title(widgets.page_title(page.url_path))
        st.error(f"This page is for {role_names(page.roles, widgets.words())}.")
        is_review = session.current().campaign.settings.review() is not None
        st.write(f"Ask a manager of the {'review' if is_review else 'campaign'} for access.")

    return refuse


def find_entry(page: st.Page) -> PageEntry:
    """Return the entry of the chosen page."""
    return next(entry for entry in PAGES if page.url_path == ("" if entry.default else entry.url_path))


def run(page: st.Page, role: Role) -> None:
    """Run the chosen page, unless it is for other roles."""
    chosen = find_entry(page)
    uploads.allow_for_page(has_uploader=role in chosen.uploaders)
    if role in chosen.roles:
        page.run()
    else:
        refusal(chosen)()
