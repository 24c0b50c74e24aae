"""The pages, one short script each, and the menu of them."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from annotate.auth.page_access import PAGES, SECTIONS, PageEntry, role_names
from annotate.server import uploads
from collection.records import Role

_HERE = Path(__file__).parent


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


def refusal(page: PageEntry) -> Callable[[], None]:
    """What stands in the place of a page that is not for this role."""

    def refuse() -> None:
        st.title(page.title)
        st.error(f"This page is for {role_names(page.roles)}.")
        st.write("Ask a manager of the campaign if you need it.")

    return refuse


def run(page: st.Page, role: Role) -> None:
    """Run the page that was chosen, after one more look at whose it is."""
    chosen = next(entry for entry in PAGES if page.url_path == ("" if entry.default else entry.url_path))
    uploads.allow_for_page(has_uploader=chosen.has_uploader and role in chosen.roles)
    if role in chosen.roles:
        page.run()
    else:
        refusal(chosen)()
