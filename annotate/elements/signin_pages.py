"""What Streamlit's script shows to somebody who is not signed in, and signing out."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import streamlit as st

from annotate.auth import oidc, session
from annotate.elements.widgets import plain, sentence
from collection.errors import InputError
from collection.records import Role

AT_PROVIDER = "at-provider"
"""The address of the page that leads to the provider."""


def pages() -> list[st.Page]:
    """The pages that there are without a session."""
    return [
        st.Page(signed_out_page, title="Sign in", default=True),
        st.Page(provider_page, title="Sign in", url_path=AT_PROVIDER),
    ]


def signed_out_page() -> None:
    """What somebody sees who is not signed in, or not any more; who comes from the provider is let in."""
    st.title("Sign in")
    with session.open_campaign() as campaign:
        known = oidc.read_provider(campaign.directory)
        claims = _claims() if known else None
        if known is not None and claims is not None:
            try:
                newcomer = known.identify(claims)
                if newcomer is not None:
                    token = campaign.accounts.admit(newcomer.email, newcomer.role, newcomer.name)
                    if token is None:
                        raise InputError(f"the account of {newcomer.email} is locked; ask a manager of the campaign")
                    use_link(token)
                    return
            except InputError as error:
                _refused(str(error), known.title)
                return
    st.write("You are not signed in, or not any more.")
    go_to("/signin", "Sign in")


def provider_page() -> None:
    """To the provider, if there is one."""
    st.title("Sign in")
    with session.open_campaign() as campaign:
        known = oidc.read_provider(campaign.directory)
    if known is None:
        st.write("This campaign has no provider to sign in at.")
        go_to("/signin", "Sign in")
        return
    st.write("On the way ...")
    st.login(oidc.NAME)


def sign_out(everywhere: bool = False) -> None:
    """End this session, or all of this person's, and leave."""
    now = session.current()
    if everywhere:
        now.campaign.accounts.end_sessions(now.annotator)
    else:
        now.campaign.accounts.end_session(now.digest)
    if _claims() is not None:
        st.logout()  # else the provider's word would let the browser in again
    else:
        go_to("/signin", "Sign in")
    st.stop()


def draw_account(title: str, annotator: str, role: Role) -> None:
    """Draw the campaign, the account that is signed in, and the sign-out button below the menu."""
    with st.sidebar:
        st.caption(f"{plain(title)}  \nsigned in as **{plain(annotator)}**, {role}")
        if st.button("Sign out", key="sign-out", icon=":material/logout:", type="tertiary"):
            sign_out()


def go_to(address: str, label: str) -> None:
    """Leave for an address of this server, made here; the link is for browsers that do not go by themselves."""
    st.html(
        f'<p><a href="{address}" target="_self">{label}</a></p><script>window.location.replace("{address}")</script>',
        unsafe_allow_javascript=True,
    )


def use_link(token: str) -> None:
    """Spend a one-time link that was made here for this browser, and go on; the link is for where that fails."""
    address, form = f"/signin?token={quote(token)}", f'new URLSearchParams({{token: "{quote(token)}"}})'
    st.html(
        f'<p><a href="{address}" target="_self">Go on</a></p><script>'
        f'fetch("/signin", {{method: "POST", body: {form}, redirect: "manual"}})'
        f'.then(() => window.location.replace("{address}"))</script>',
        unsafe_allow_javascript=True,
    )


def _refused(why: str, title: str) -> None:
    st.error(sentence(why))
    if st.button(f"Leave {plain(title)}, to sign in as somebody else", key="leave"):
        st.logout()
    go = "Sign in with a password"
    st.html(f'<p><a href="/signin" target="_self">{go}</a></p>')


def _claims() -> Mapping[str, Any] | None:
    """What the provider said of the person at this browser; None where nobody came from there."""
    user = st.user.to_dict()
    return user if user.get("is_logged_in") is True and user.get("provider") == oidc.NAME else None
