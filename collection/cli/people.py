"""`cleverdon people`: who may come in, and as what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collection.cli.options import DIRECTORY, FORMAT
from collection.cli.printing import echo, echo_data, print_table

if TYPE_CHECKING:
    from collection.campaign import Campaign


@click.command()
@DIRECTORY
@click.option("--invite", metavar="NAME", help="Make an account, and print the link with which a password is chosen.")
@click.option("--link", metavar="NAME", help="Print a new such link for somebody who has an account.")
@click.option("--role", help="With --invite: manager, annotator (if left out) or reader.")
@click.option("--group", "groups", multiple=True, metavar="G", help="With --invite or --set-groups; may be repeated.")
@click.option("--email", metavar="E", help="With --invite: the address by which a provider knows the person.")
@click.option("--set-role", nargs=2, metavar="NAME ROLE", help="Give an account another role.")
@click.option("--set-groups", metavar="NAME", help="Make somebody a member of each --group, and of no others.")
@click.option("--set-email", nargs=2, metavar="NAME E", help="Give an account another address; '' for none.")
@click.option(
    "--lock",
    multiple=True,
    metavar="NAME",
    help="Lock an account: nobody signs in with it, its sessions end at once; may be repeated.",
)
@click.option("--unlock", multiple=True, metavar="NAME", help="Open a locked account again; may be repeated.")
@FORMAT
def people(
    directory: Path,
    invite: str | None,
    link: str | None,
    role: str | None,
    groups: tuple[str, ...],
    email: str | None,
    set_role: tuple[str, str] | None,
    set_groups: str | None,
    set_email: tuple[str, str] | None,
    lock: tuple[str, ...],
    unlock: tuple[str, ...],
    form: str,
) -> None:
    """Show who has an account in DIR, or change it: invite, lock, give a role or groups."""
    from collection.campaign import Campaign

    changes = [invite, link, set_role, set_groups, set_email, lock or None, unlock or None]
    if sum(change is not None for change in changes) > 1:
        raise click.UsageError(
            "give one of --invite, --link, --set-role, --set-groups, --set-email, --lock, --unlock at a time"
        )
    if (role is not None or email is not None) and invite is None:
        raise click.UsageError("--role and --email go with --invite; --set-role and --set-email change an account")
    if groups and invite is None and set_groups is None:
        raise click.UsageError("--group goes with --invite or --set-groups")
    with Campaign(directory) as campaign:
        if invite is not None:
            _print_link(campaign, invite.strip(), campaign.invite(invite, role or "annotator", groups, email))
        elif link is not None:
            _print_link(campaign, link, campaign.invite_again(link))
        elif set_role is not None:
            campaign.set_role(*set_role)
        elif set_groups is not None:
            campaign.set_groups(set_groups, groups)
        elif set_email is not None:
            campaign.set_email(*set_email)
        elif lock or unlock:
            with campaign.together():
                for name in lock:
                    campaign.lock(name)
                for name in unlock:
                    campaign.unlock(name)
        if invite is None and link is None:
            _print_people(campaign, form)


def _print_link(campaign: Campaign, name: str, token: str) -> None:
    from collection.campaign.access import LINK_DAYS

    path = f"/invitation?token={token}"
    address = campaign.address()
    echo(f"Send this link to {name}, who chooses a password with it. It works once, for {LINK_DAYS} days:")
    echo(f"\n    {address or ''}{path}\n")
    if address is None:
        echo("Put the address of the app before it: `cleverdon serve` has not yet told one.")
    elif "://127.0.0.1" in address or "://[::1]" in address:
        echo(f"On another machine, put the address by which it reaches this one in the place of {address}.")


def _print_people(campaign: Campaign, form: str) -> None:
    table = campaign.accounts()
    if form == "json":
        echo_data(json.dumps(table.to_dict("records"), indent=2, ensure_ascii=False))
        return
    if table.empty:
        echo("Nobody has an account yet: the first `cleverdon serve` makes one, or --invite does.")
        return
    rows = [
        [
            account["name"],
            account["role"],
            ", ".join(account["groups"]),
            account["state"],
            "yes" if account["has_password"] else "no",
            _minutes(account["signed_in_at"]),
            _minutes(account["last_at"]),
            account["email"] or "",
        ]
        for account in table.to_dict("records")
    ]
    heads = ["name", "role", "groups", "state", "password", "signed in (UTC)", "last judgement (UTC)", "e-mail"]
    print_table(heads, rows)


def _minutes(at: str | None) -> str:
    return "-" if at is None else at[:16].replace("T", " ")
