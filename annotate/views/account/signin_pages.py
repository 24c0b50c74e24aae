"""Pages without a session, and signing out."""

from collections.abc import Mapping
from urllib.parse import quote

import streamlit as st

from annotate.auth import oidc, session
from annotate.auth.security_headers import CONTINUE_SCRIPT
from annotate.views.widgets.widgets import documentation_link, plain, sentence
from collection.core.errors import InputError
from collection.core.records import Role

SHOW_ALL = "show-all-pages"  # key of the switch, which the menu reads
AT_PROVIDER = "at-provider"  # path of the page that leads to the provider


def pages() -> list[st.Page]:
    """The pages that need no session."""
    signed_out = st.Page(signed_out_page, title="Sign in", default=True)
    return [signed_out, st.Page(provider_page, title="Sign in", url_path=AT_PROVIDER)]


def signed_out_page() -> None:
    """Draw the page for people who are not signed in; sign in those who come back from the provider."""
    st.title("Sign in")
    with session.open_campaign() as campaign:
        known = oidc.read_provider(campaign.directory)
        claims = _claims() if known else None
        if known is not None and claims is not None:
            try:
                if (newcomer := known.identify(claims)) is not None:
                    token = campaign.people.accounts.admit(newcomer.email, newcomer.role, newcomer.name)
                    if token is None:
                        raise InputError(f"the account of {newcomer.email} is locked; ask a manager of this campaign")
                    go_to(f"/signin?token={quote(token)}", "Continue")
                    return
            except InputError as error:
                _draw_refusal(str(error), known.title)
                return
    st.write("You are not signed in, or your session has ended.")
    go_to("/signin", "Sign in")


def provider_page() -> None:
    """Forward to the provider, if there is one."""
    st.title("Sign in")
    with session.open_campaign() as campaign:
        known = oidc.read_provider(campaign.directory)
    if known is None:
        st.write("This campaign has no sign-in provider.")
        go_to("/signin", "Sign in")
        return
    st.write("Redirecting to the sign-in provider ...")
    st.login(oidc.NAME)


def sign_out(everywhere: bool = False) -> None:
    """End this session, or all sessions of this person, and leave."""
    now = session.current()
    if everywhere:
        now.outer.people.accounts.end_sessions(now.annotator)
    else:
        now.outer.people.accounts.end_session(now.digest)
    if _claims() is not None:
        st.logout()  # otherwise the provider would let the browser in again
    else:
        go_to("/signin", "Sign in")
    st.stop()


def draw_menu_switch(role: Role) -> None:
    """Draw the switch below the menu of a literature review that adds the other pages."""
    if role != "annotator":
        with st.sidebar:
            st.toggle("Show all pages", key=SHOW_ALL, help="Adds pages that literature reviews rarely need.")


def draw_account(title: str, annotator: str, role: str, *, is_review: bool) -> None:
    """Draw the campaign, the account that is signed in, and the sign-out button below the menu."""
    with st.sidebar:
        documentation_link("tutorials/systematic-review" if is_review else "index", "Documentation")
        st.caption(f"{plain(title)}  \nsigned in as **{plain(annotator)}**, {role}")
        if st.button("Sign out", key="sign-out", icon=":material/logout:", type="tertiary"):
            sign_out()


def go_to(address: str, label: str) -> None:
    """Go to an address of this server, and use it if it is a one-time link; without JavaScript, people click it."""
    st.html(
        f'<p><a class="cleverdon-continue" href="{address}" target="_self">{label}</a></p>'
        f"<script>{CONTINUE_SCRIPT}</script>",
        unsafe_allow_javascript=True,
    )


def _draw_refusal(reason: str, title: str) -> None:
    st.error(sentence(reason))
    if st.button(f"Sign out of {plain(title)} to use another account", key="leave"):
        st.logout()
    st.html('<p><a href="/signin" target="_self">Sign in with a password</a></p>')


def _claims() -> Mapping[str, object] | None:
    """The provider's claims about the person at this browser; None for people who did not sign in there."""
    user = st.user.to_dict()
    return user if user.get("is_logged_in") is True and user.get("provider") == oidc.NAME else None
