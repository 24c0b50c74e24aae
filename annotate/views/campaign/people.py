"""People: accounts, roles, groups, invitations and sessions."""

import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.views.widgets import display, invitations, widgets
from annotate.views.widgets.display import text, timestamp
from annotate.views.widgets.sessions import draw_sessions
from collection.core.phrases import count, join
from collection.core.records import ROLES

now = session.current()
campaign = now.campaign
words, is_review = campaign.settings.vocabulary, campaign.settings.review() is not None

st.title("People")


invitations.draw_link("*How people sign in* below")

table = campaign.store.accounts.table()
member_of = dict(zip(table["name"], table["groups"], strict=True))
roles = table["role"].value_counts()
alone = " Invite annotators to judge with you." if len(table) == 1 else ""
people = join(count(int(roles[role]), role) for role in ROLES if role in roles)
st.write(words.apply(f"This {'review' if is_review else 'campaign'} has {people}.{alone}"))
widgets.documentation_link("operations/team-server", "How people sign in")
table["groups"] = [", ".join(groups) for groups in table["groups"]]
display.table(
    table.assign(role=table["role"].map(words.apply)),
    {
        "name": text("Name", "medium"),
        "role": text("Role", "small"),
        "groups": "Groups",
        "state": text("State", "small"),
        "has_password": CheckboxColumn("Has password", width="small"),
        "signed_in_at": timestamp("Last sign-in (UTC)"),
        "last_at": timestamp(words.apply("Last judgement (UTC)")),
    },
    placeholder="–",
    alt="Accounts",
)

st.subheader("Invite a person")
st.caption("You get a link to send to the person, who uses it to choose a password. Cleverdon sends no e-mail.")
# A new key after each invitation empties the fields; they stay filled if the name is refused.
with st.form(f"invite-{len(table)}"):
    left, right = st.columns(2)
    new_name = left.text_input(
        "Name", max_chars=64, help=words.apply("Judgements are stored under this name. It cannot be changed.")
    )
    about_roles = "\n".join(f"- {role}: {may}" for role, may in ROLES.items())
    new_role = right.selectbox("Role", list(ROLES), index=1, format_func=words.apply, help=words.apply(about_roles))
    new_groups = left.multiselect("Groups", list(campaign.store.accounts.groups()), accept_new_options=True)
    new_email = right.text_input("E-mail", help="Only for sign-in with OpenID Connect.")
    takes_over = invitations.draw_takeover(campaign)
    if st.form_submit_button("Invite", type="primary"):
        with widgets.shown_errors():
            token = campaign.people.accounts.invite(new_name, new_role, new_groups, new_email, imported=takes_over)
            invitations.keep_link(new_name.strip(), token)
            st.rerun()

st.subheader("Change an account")
names = table["name"].tolist()
name = st.selectbox("Account", names, index=names.index(now.annotator))
row = table[table["name"] == name].iloc[0]
groups = member_of[name]
# The name is part of the key, so that the form cannot change another account.
with st.form(f"change-{name}"):
    left, right = st.columns(2)
    index = list(ROLES).index(row["role"])
    role = left.selectbox("Role", list(ROLES), index=index, format_func=words.apply, key=f"role-{name}")
    choices = sorted({*campaign.store.accounts.groups(), *groups})
    member = right.multiselect("Groups", choices, default=groups, accept_new_options=True, key=f"groups-{name}")
    email = left.text_input("E-mail", row["email"] or "", key=f"email-{name}")
    if st.form_submit_button("Save"):
        with widgets.saving("Saved."), campaign.transaction():
            if role != row["role"]:
                campaign.people.accounts.set_role(name, role)
            campaign.people.accounts.set_groups(name, member)
            campaign.people.accounts.set_email(name, email)
is_locked = bool(row["locked"])
with st.container(horizontal=True):
    hint = "For a forgotten password. The old password works until a new one is chosen."
    renew = st.button("Create password link", key=f"again-{name}", disabled=is_locked, help=hint)
    hint = words.apply("A locked account cannot sign in, and its sessions end at once. Its judgements are kept.")
    switch = st.button("Unlock" if is_locked else "Lock", key=f"lock-{name}", help=hint)
if renew:
    with widgets.shown_errors():
        invitations.keep_link(name, campaign.people.accounts.invite_again(name))
        st.rerun()
if switch:
    with widgets.saving("Unlocked." if is_locked else "Locked; all sessions ended."):
        (campaign.people.accounts.unlock if is_locked else campaign.people.accounts.lock)(name)

st.subheader(f"Sessions of {widgets.plain(name)}")
if not row["sessions"]:
    st.write("Not signed in on any browser.")
draw_sessions(campaign, name, now.digest if name == now.annotator else None)
