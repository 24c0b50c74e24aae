"""People: accounts, roles, groups and invitations."""

from urllib.parse import quote, urlsplit

import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.elements import display, widgets
from annotate.elements.columns import text, timestamp
from collection.campaign.accounts import LINK_DAYS
from collection.records import ROLES

now = session.current()
campaign = now.campaign

st.title("People")
st.write(
    "Who may come in, and as what. An invitation is a link that you send yourself: nothing is mailed. With it a person "
    "chooses a password; their judgements are kept under their name here."
)


def show_link(name: str, token: str) -> None:
    """Keep a new link for the next run, which shows it."""
    parts = urlsplit(st.context.url or "")
    home = f"{parts.scheme}://{parts.netloc}" if parts.netloc else campaign.server_state.address() or ""
    st.session_state["link"] = (name, f"{home}/invitation?token={quote(token)}")


if link := st.session_state.pop("link", None):
    with st.container(border=True):
        st.write(f"**The link for {widgets.plain(link[0])}**, shown this once. It works once, for {LINK_DAYS} days:")
        st.code(link[1], language=None, wrap_lines=True)

table = campaign.accounts.table()
member_of = dict(zip(table["name"], table["groups"], strict=True))
table["groups"] = [", ".join(groups) for groups in table["groups"]]
display.table(
    table,
    {
        "name": text("Name", "medium"),
        "role": text("Role", "small"),
        "groups": "Groups",
        "state": text("State", "small"),
        "has_password": CheckboxColumn("Password", width="small", help="Has chosen a password."),
        "signed_in_at": timestamp("Signed in (UTC)", help="The newest of the sessions that are kept."),
        "last_at": timestamp("Last judgement (UTC)"),
        "email": "E-mail",
    },
    alt="Every account",
)

st.subheader("Invite somebody")
# Another key after each invitation empties the fields; they stay filled where the name was refused.
with st.form(f"invite-{len(table)}"):
    left, right = st.columns(2)
    new_name = left.text_input("Name", max_chars=64, help="Their judgements are kept under it, and it stays.")
    new_role = right.selectbox("Role", list(ROLES), index=1, format_func=lambda r: f"{r}: {ROLES[r]}")
    new_groups = left.multiselect("Groups", list(campaign.accounts.groups()), accept_new_options=True)
    new_email = right.text_input("E-mail", help="Only for signing in at a provider; nothing is sent to it.")
    if st.form_submit_button("Make the link", type="primary"):
        with widgets.shown_errors():
            show_link(new_name.strip(), campaign.accounts.invite(new_name, new_role, new_groups, new_email))
            st.rerun()

st.subheader("Change an account")
names = table["name"].tolist()
name = st.selectbox("Account", names, index=names.index(now.annotator))
row = table[table["name"] == name].iloc[0]
groups = member_of[name]
# The key carries the name, so that the form cannot change another account.
with st.form(f"change-{name}"):
    left, right = st.columns(2)
    role = left.selectbox("Role", list(ROLES), index=list(ROLES).index(row["role"]), key=f"role-{name}")
    choices = sorted({*campaign.accounts.groups(), *groups})
    member = right.multiselect("Groups", choices, default=groups, accept_new_options=True, key=f"groups-{name}")
    email = left.text_input("E-mail", row["email"] or "", key=f"email-{name}")
    if st.form_submit_button("Save the change"):
        with widgets.saving("Saved."), campaign.transaction():
            if role != row["role"]:
                campaign.accounts.set_role(name, role)
            campaign.accounts.set_groups(name, member)
            campaign.accounts.set_email(name, email)
is_locked = bool(row["locked"])
with st.container(horizontal=True):
    hint = "For somebody who has forgotten theirs. The old password works until a new one is chosen."
    renew = st.button("New link for a password", key=f"again-{name}", disabled=is_locked, help=hint)
    hint = "Whoever is locked cannot sign in; their open sessions end at once. Their judgements stay."
    switch = st.button("Unlock" if is_locked else "Lock", key=f"lock-{name}", help=hint)
if renew:
    with widgets.shown_errors():
        show_link(name, campaign.accounts.invite_again(name))
        st.rerun()
if switch:
    with widgets.saving("Unlocked." if is_locked else "Locked: their sessions have ended."):
        (campaign.accounts.unlock if is_locked else campaign.accounts.lock)(name)
