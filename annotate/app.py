"""The script that Streamlit runs: navigation and nothing else."""

from pathlib import Path

import streamlit as st

from annotate import views
from annotate.auth import session
from annotate.server import uploads
from annotate.views.account import signin_pages, task_menu
from annotate.views.campaign import tour
from annotate.views.widgets import widgets
from collection.core.errors import CleverdonError

ICON = Path(__file__).with_name("icon.svg")  # a symbol by name would be fetched from a font server
st.set_page_config(page_title="Cleverdon", page_icon=str(ICON), layout="wide")
widgets.page_style()
try:
    with session.open_session() as signed_in:
        if signed_in is None:
            uploads.allow_for_page(has_uploader=False)
            st.navigation(signin_pages.pages(), position="hidden").run()
        else:
            is_review = signed_in.campaign.settings.review() is not None
            show_all = bool(st.session_state.get(signin_pages.SHOW_ALL))
            tasks = task_menu.offered(signed_in.campaign, signed_in.role)
            task = task_menu.chosen(tasks)
            menu = views.navigation(
                signed_in.role,
                is_review=is_review,
                show_all=show_all,
                in_task=task is not None,
                has_answers=signed_in.campaign.store.answers.exist(),
            )
            page = st.navigation(menu, expanded=True)
            tour.draw_next(signed_in.campaign)
            if is_review:
                signin_pages.draw_menu_switch(signed_in.role)
            task_menu.draw(tasks, task)
            words = signed_in.campaign.settings.vocabulary
            role = words.apply(signed_in.role)
            signin_pages.draw_account(signed_in.campaign.title, signed_in.annotator, role, is_review=is_review)
            with session.in_task(task if views.find_entry(page).in_task != "outer" else None):
                views.run(page, signed_in.role)
except CleverdonError as error:
    st.error(widgets.plain(str(error)))
