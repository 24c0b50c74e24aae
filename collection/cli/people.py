"""`cleverdon people`: accounts, roles and groups."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from collection.cli.methods import Names
from collection.cli.options import FORMAT, open_campaign
from collection.cli.output import echo, print_json, print_table
from collection.core import layout
from collection.core.phrases import join

if TYPE_CHECKING:
    from collection.campaign import Campaign


@click.command()
@open_campaign
@click.option(
    "--invite",
    "invited",
    multiple=True,
    metavar="NAME",
    help="Create an account and print its invitation link; repeatable.",
)
@click.option(
    "--link",
    "linked",
    multiple=True,
    metavar="NAME",
    help="Print a new link for an existing account; repeatable.",
)
@click.option("--role", type=Names("manager", "annotator", "reader"), help="Role with --invite; by default annotator.")
@click.option("--group", "groups", multiple=True, metavar="G", help="Group with --invite or --set-groups; repeatable.")
@click.option("--email", metavar="E", help="E-mail address for single sign-on, with --invite.")
@click.option(
    "--imported", is_flag=True, help="Let the person of --invite continue the judgements imported under this name."
)
@click.option("--set-role", nargs=2, metavar="NAME ROLE", help="Change the role of an account.")
@click.option("--set-groups", metavar="NAME", help="Replace the groups of an account by those of --group.")
@click.option("--set-email", nargs=2, metavar="NAME E", help="Change the e-mail address of an account ('' = none).")
@click.option(
    "--lock",
    multiple=True,
    metavar="NAME",
    help="Lock an account and end its sessions; repeatable.",
)
@click.option("--unlock", multiple=True, metavar="NAME", help="Unlock an account; repeatable.")
@click.option("--sessions", is_flag=True, help="List the browsers in which people are signed in.")
@click.option(
    "--end-sessions", "ended", multiple=True, metavar="NAME", help="Sign a person out everywhere; repeatable."
)
@click.option(
    "--rotate-secret",
    "rotated",
    is_flag=True,
    help="Replace the key that signs cookies, end all sessions, and invalidate all one-time links.",
)
@FORMAT
def people(
    campaign: Campaign,
    role: str | None,
    groups: tuple[str, ...],
    email: str | None,
    imported: bool,
    form: str,
    **changes: Any,
) -> None:
    """Show or change accounts, roles and groups.

    Without options, lists the accounts. Make one kind of change at a time.

    For example:
      cleverdon people DIR --invite ann --invite bob --group students
      cleverdon people DIR --set-role ann manager
      cleverdon people DIR --end-sessions bob
    """
    if sum(change not in (None, (), False) for change in changes.values()) > 1:
        raise click.UsageError(
            "expected only one of --invite, --link, --set-role, --set-groups, --set-email, --lock, --unlock, "
            "--sessions, --end-sessions and --rotate-secret"
        )
    invited = tuple(dict.fromkeys(changes["invited"]))  # a name given twice is one person
    if (role is not None or email is not None) and not invited:
        raise click.UsageError("--role and --email need --invite; change an account with --set-role or --set-email")
    if imported and not invited:
        raise click.UsageError("--imported needs --invite")
    if email is not None and len(invited) > 1:
        raise click.UsageError("--email needs exactly one --invite")
    if groups and not invited and changes["set_groups"] is None:
        raise click.UsageError("--group needs --invite or --set-groups")
    if invited or changes["linked"]:
        with campaign.transaction():
            asked = {"role": role or "annotator", "groups": groups, "email": email, "imported": imported}
            tokens = {name: _invite(campaign, name, asked) for name in invited}
            tokens |= {name: campaign.people.accounts.invite_again(name) for name in changes["linked"]}
        _print_links(campaign, tokens)
    elif changes["sessions"]:
        _print_sessions(campaign, form)
    else:
        done = _change(campaign, groups, changes)
        if done and form == "table":
            echo(f"{done}\n")
        _print_people(campaign, form)


def _change(campaign: Campaign, groups: tuple[str, ...], changes: Mapping[str, Any]) -> str:
    """Change an account, or end sessions; return what was done."""
    accounts = campaign.people.accounts
    if changes["rotated"]:
        campaign.operations.server_state.rotate_secret()
        done = "Replaced the key, ended all sessions and invalidated all one-time links."
        done += " A running server uses the new key at once."
        if (campaign.directory / layout.PROVIDER).exists():
            done += " Restart it for single sign-on: until then, whoever has the old key can sign in."
        return done
    if changes["set_role"] is not None:
        accounts.set_role(*changes["set_role"])
        return "Changed the role of {} to {}.".format(*changes["set_role"])
    if (name := changes["set_groups"]) is not None:
        accounts.set_groups(name, groups)
        return f"Changed the groups of {name} to {join(groups) or 'none'}."
    if changes["set_email"] is not None:
        name, email = changes["set_email"]
        accounts.set_email(name, email)
        return f"Changed the e-mail address of {name} to {email or 'none'}."
    for option, verb, change in (
        ("lock", "Locked", accounts.lock),
        ("unlock", "Unlocked", accounts.unlock),
        ("ended", "Signed out", accounts.end_sessions),
    ):
        if names := changes[option]:
            with campaign.transaction():
                for name in names:
                    change(name)
            return f"{verb} {join(names)}."
    return ""


def _invite(campaign: Campaign, name: str, asked: Mapping[str, Any]) -> str:
    """Invite a person; if the name is taken, name the options that change an account."""
    from collection.core.errors import ConflictError

    known = {account.casefold(): account for account in campaign.store.accounts.table()["name"]}
    try:
        return campaign.people.accounts.invite(name, **asked)
    except ConflictError as error:
        account = known.get(name.strip().casefold())
        if account is None:
            raise ConflictError(campaign.settings.vocabulary.apply(str(error))) from None
        raise ConflictError(
            f"{error}. To change the existing account: --link {quote(account)} prints a new link, "
            f"--set-groups {quote(account)} --group G replaces its groups"
        ) from None


def _print_links(campaign: Campaign, tokens: Mapping[str, str]) -> None:
    from collection.campaign.operations.server_state import is_loopback
    from collection.campaign.people.accounts import LINK_DAYS

    address = campaign.operations.server_state.address()
    for name, token in tokens.items():
        echo(f"Invitation for {name.strip()}, to choose a password (works once, within {LINK_DAYS} days):")
        echo(f"\n    {address or ''}/invitation?token={token}\n")
    if address is None:
        echo("Put the address of the app, which `cleverdon serve` prints, in front of each link before you send it.")
    elif is_loopback(address):
        echo(
            f"People on other machines cannot open {address}: serve the app at an address that they can reach "
            "(`cleverdon docs operations/team-server`), and put it in place of this one."
        )


def _print_sessions(campaign: Campaign, form: str) -> None:
    table = campaign.people.accounts.sessions().drop(columns="session")
    if form == "json":
        print_json(table)
        return
    if table.empty:
        echo("Nobody is signed in.")
        return
    rows = [
        [account, device or "-", address or "-", *("-" if at is None else at[:16].replace("T", " ") for at in times)]
        for account, device, address, *times in table.itertuples(index=False)
    ]
    print_table(["account", "browser", "address", "signed in (UTC)", "last seen (UTC)"], rows)


def _print_people(campaign: Campaign, form: str) -> None:
    table = campaign.store.accounts.table()
    if form == "json":
        print_json(table)
        return
    if table.empty:
        echo("No accounts yet. The first `cleverdon serve` creates one, or use --invite.")
        return
    rows = []
    for account in table.to_dict("records"):
        groups, password = ", ".join(account["groups"]), "yes" if account["has_password"] else "no"
        times = (account[name] for name in ("signed_in_at", "last_at"))
        minutes = ("-" if at is None else at[:16].replace("T", " ") for at in times)
        name, role, state, email = (account[column] for column in ("name", "role", "state", "email"))
        rows.append([name, role, groups, state, password, *minutes, email or ""])
    heads = ["name", "role", "groups", "state", "password", "signed in (UTC)", "last judgement (UTC)", "e-mail"]
    print_table(heads, rows, optional=["groups", "e-mail"])
