"""Account: the signed-in person, their password, sessions, and sign-out."""

import streamlit as st

from annotate.auth import session
from annotate.auth.rate_limit import OLD_PASSWORD_FAILURES, wait_message
from annotate.views.account import signin_pages
from annotate.views.widgets import widgets
from annotate.views.widgets.sessions import draw_sessions
from collection.accounts import SHORTEST_PASSWORD
from collection.core.errors import CleverdonError, InputError, WrongPasswordError
from collection.core.records import ROLES

now = session.current()
campaign = now.campaign

st.title("Account")
own = next(
    account for account in campaign.store.accounts.table().to_dict("records") if account["name"] == now.annotator
)
role = widgets.words().apply(now.role)
article = "an" if role[0] in "aeiou" else "a"
name = widgets.plain(now.annotator)
st.write(f"You are signed in as **{name}**. As {article} {role}, you can {widgets.words().apply(ROLES[now.role])}.")
if own["groups"]:
    st.write(f"Groups: {widgets.plain(', '.join(own['groups']))}.")
if own["email"]:
    st.write(f"E-mail: {widgets.plain(own['email'])}.")

has_one = bool(own["has_password"])
st.subheader("Change password" if has_one else "Choose a password")
if not has_one:
    st.write("With a password, you can sign in on any browser without a link.")
with st.form("password", clear_on_submit=True, width=460):
    old = st.text_input("Current password", type="password", autocomplete="current-password") if has_one else ""
    hint = f"At least {SHORTEST_PASSWORD} characters, for example a few unrelated words."
    new = st.text_input("New password", type="password", autocomplete="new-password", help=hint)
    again = st.text_input("Repeat password", type="password", autocomplete="new-password")
    if st.form_submit_button("Save", type="primary"):
        if new != again:
            st.error("The two passwords are different.")
        elif (wait := OLD_PASSWORD_FAILURES.wait(now.annotator, now.digest, is_known=True)) > 0:
            st.error(wait_message(wait))
        else:
            OLD_PASSWORD_FAILURES.failed(now.annotator, now.digest, is_known=True)
            try:
                campaign.people.accounts.change_password(now.annotator, old, new, keep=now.digest)
            except CleverdonError as error:
                # If only the new password is refused, the old one was right.
                if isinstance(error, InputError) and not isinstance(error, WrongPasswordError):
                    OLD_PASSWORD_FAILURES.succeeded(now.annotator, now.digest, is_known=True)
                st.error(widgets.sentence(str(error)))
            else:
                OLD_PASSWORD_FAILURES.succeeded(now.annotator, now.digest, is_known=True)
                st.success("Password saved. You are signed out on other browsers.")

st.subheader("Sessions")
st.write("Browsers in which you are signed in. End those that you do not know, and change your password.")
draw_sessions(campaign, now.annotator, now.digest)
with st.container(horizontal=True):
    if st.button("Sign out here", key="leave-here"):
        signin_pages.sign_out()
    if st.button("Sign out everywhere", key="leave-everywhere"):
        signin_pages.sign_out(everywhere=True)
