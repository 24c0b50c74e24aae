"""Account: the person who is signed in, their password, and signing out."""

import streamlit as st

from annotate.auth import session
from annotate.auth.rate_limit import OLD_PASSWORD_FAILURES, wait_message
from annotate.elements import signin_pages, widgets
from collection.accounts import SHORTEST_PASSWORD
from collection.errors import CleverdonError, InputError, WrongPasswordError
from collection.phrases import count
from collection.records import ROLES

now = session.current()
campaign = now.campaign

st.title("Account")
mine = next(account for account in campaign.accounts.table().to_dict("records") if account["name"] == now.annotator)
st.write(f"You are **{widgets.plain(now.annotator)}**, {now.role}: {ROLES[now.role]}.")
if mine["groups"]:
    st.write(f"Groups: {widgets.plain(', '.join(mine['groups']))}.")
if mine["email"]:
    st.write(f"E-mail: {widgets.plain(mine['email'])}.")

has_one = bool(mine["has_password"])
st.subheader("Change the password" if has_one else "Choose a password")
if not has_one:
    st.write("You have none yet. With one you can sign in without a link, also in another browser.")
with st.form("password", clear_on_submit=True, width=460):
    old = st.text_input("The old password", type="password", autocomplete="current-password") if has_one else ""
    hint = f"{SHORTEST_PASSWORD} characters or more. A few words that do not belong together do well."
    new = st.text_input("The new password", type="password", autocomplete="new-password", help=hint)
    again = st.text_input("The same again", type="password", autocomplete="new-password")
    if st.form_submit_button("Keep it", type="primary"):
        if new != again:
            st.error("The two passwords are not the same.")
        elif (wait := OLD_PASSWORD_FAILURES.wait(now.annotator, now.digest, is_known=True)) > 0:
            st.error(wait_message(wait))
        else:
            OLD_PASSWORD_FAILURES.failed(now.annotator, now.digest, is_known=True)
            try:
                campaign.accounts.change_password(now.annotator, old, new, keep=now.digest)
            except CleverdonError as error:
                # Where only the new password is refused, the old one was right.
                if isinstance(error, InputError) and not isinstance(error, WrongPasswordError):
                    OLD_PASSWORD_FAILURES.succeeded(now.annotator, now.digest, is_known=True)
                st.error(widgets.sentence(str(error)))
            else:
                OLD_PASSWORD_FAILURES.succeeded(now.annotator, now.digest, is_known=True)
                st.success("Changed. In other browsers you are signed out.")

st.subheader("Sign out")
others = int(mine["sessions"]) - 1
elsewhere = f"in {count(others, 'more browser')}" if others else "nowhere else"
st.write(f"You are signed in here and {elsewhere}.")
with st.container(horizontal=True):
    if st.button("Sign out here", key="leave-here"):
        signin_pages.sign_out()
    if st.button("Sign out everywhere", key="leave-everywhere"):
        signin_pages.sign_out(everywhere=True)
