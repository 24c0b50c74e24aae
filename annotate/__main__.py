"""``python -m annotate DIR``: serve the app on a campaign and print the sign-in link."""

from __future__ import annotations

import gc
import getpass
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import click

from collection.core.errors import CleverdonError

if TYPE_CHECKING:
    import streamlit as st
    import uvicorn

    from annotate.card.server.trainer import Trainer

FIRST_PORT, LAST_PORT = 8501, 8600


class CannotServe(click.ClickException):
    """Print one line and exit with status 2."""

    exit_code = 2


def bind(host: str, port: int | None, usual: int | None = None) -> socket.socket:
    """Open a listening socket on `port`, or else on the `usual` one or the first free one from 8501."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    error: OSError | None = None
    for candidate in [port] if port else [*([usual] if usual else []), *range(FIRST_PORT, LAST_PORT)]:
        # With the protocol named, asyncio turns Nagle's algorithm off, which would delay some answers by 40 ms.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, candidate))
            sock.listen(128)  # until then another server may bind the same port
            return sock
        except OSError as problem:
            error = problem
            sock.close()
    tried = f"port {port}" if port else f"any port from {FIRST_PORT} to {LAST_PORT - 1}"
    raise CannotServe(
        f"cannot listen on {host}, {tried} ({error and error.strerror}); choose another with --host or --port"
    )


def login_name() -> str:
    """Return the name of the system's user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for the user
        return "annotator"


def clean_address(address: str) -> str:
    """Normalise the app's address behind a proxy; raise :class:`CannotServe` unless it is one."""
    from annotate.server.origins import encode_address, parse_origin

    parts = urlsplit(address)
    if parse_origin(address) is None or parts.path.strip("/") or parts.query or parts.fragment:
        raise CannotServe(
            f"--public-address: expected an address such as https://judging.example.org, found {address!r}"
        )
    return encode_address(f"{parts.scheme}://{parts.netloc}")


def require_network(proxy: str) -> None:
    """Raise :class:`CannotServe` unless `proxy` is an IP address or a network."""
    try:
        ipaddress.ip_network(proxy, strict=False)
    except ValueError:
        raise CannotServe(
            f"--trusted-proxy: expected an IP address or a network such as 10.0.0.0/8, found {proxy!r}"
        ) from None


def start_trainer(directory: Path) -> Trainer:
    """Start the process that trains the model, as far as the campaign can be opened."""
    from annotate.card.server.trainer import Trainer
    from collection.campaign import Campaign

    trainer = Trainer(directory)
    with suppress(CleverdonError), Campaign(directory) as campaign:
        trainer.start(campaign)
    return trainer


def make_server(app: st.App, trusted_proxies: Sequence[str]) -> uvicorn.Server:
    """Return the HTTP server of the app, which believes addresses that these proxies state."""
    import uvicorn

    from annotate.server.timed_http import TimedH11, allow_open_files

    allow_open_files()
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            http=TimedH11,
            ws="websockets-sansio",
            timeout_graceful_shutdown=3,
            # Otherwise anybody on this machine could pretend to have any address.
            proxy_headers=bool(trusted_proxies),
            forwarded_allow_ips=list(trusted_proxies),
        )
    )


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1")
@click.option("--port", type=int)
@click.option("--as", "annotator")
@click.option("--no-browser", is_flag=True)
@click.option("--no-link", is_flag=True)
@click.option("--public-address")
@click.option("--trusted-proxy", "trusted_proxies", multiple=True)
@click.option("--max-upload", type=int)
@click.option("--log", "log_file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text")
def main(
    directory: Path,
    host: str,
    port: int | None,
    annotator: str | None,
    no_browser: bool,
    no_link: bool,
    public_address: str | None,
    trusted_proxies: tuple[str, ...],
    max_upload: int | None,
    log_file: Path | None,
    log_format: Literal["text", "json"],
) -> None:
    """Serve the app on the campaign in DIR."""
    public = None if public_address is None else clean_address(public_address)
    for proxy in trusted_proxies:
        require_network(proxy)

    from collection.campaign import Campaign
    from collection.campaign.operations import server_lock

    try:
        keep_address = click.get_current_context().with_resource(server_lock.hold(directory))
    except CleverdonError as error:
        raise CannotServe(str(error)) from error
    trainer = start_trainer(directory)  # in parallel to the imports below: both take a second

    from annotate.application import create_app
    from annotate.auth import oidc
    from annotate.server import error_log, uploads
    from collection.campaign.people.accounts import SESSION_DAYS

    try:
        error_log.set_up(log_file, log_format)
    except OSError as error:
        raise CannotServe(f"--log: cannot write {log_file} ({error.strerror})") from error
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    try:
        provider = oidc.read_provider(directory)
        with Campaign(directory) as campaign:
            person, link_token = campaign.people.accounts.start_signin(annotator, login_name())
            # Reuse the last port: browsers keep unsent judgements under the address where they were made.
            sock = bind(host, port, campaign.operations.server_state.port(person))
            campaign.operations.server_state.keep_port(person, sock.getsockname()[1])
            address = public or (provider.address if provider else f"http://{shown}:{sock.getsockname()[1]}")
            campaign.operations.server_state.keep_address(address)
        keep_address(address)
        app = create_app(
            directory,
            trainer,
            host=host,
            public_addresses=[public] if public else [],
            max_upload=max_upload or uploads.DEFAULT_MEGABYTES,
        )
    except CleverdonError as error:
        raise CannotServe(str(error)) from error
    if provider is not None and provider.readable:
        click.echo(
            f"Other users of this machine can read the secret in {directory / oidc.FILE}; run chmod 600 on it", err=True
        )
    link = f"{address}/signin?token={link_token}"
    server = make_server(app, trusted_proxies)

    def announce() -> None:
        # In a thread that waits: a link that is printed before the server listens may be opened too early.
        while not server.started:
            if server.should_exit:
                return
            threading.Event().wait(0.05)
        click.echo(f"Serving {directory} at {address}")
        if not no_link:
            click.echo(f"Sign in as {person} with this link, which works once:\n\n    {link}\n")
        click.echo(
            f"Browsers stay signed in for {SESSION_DAYS} days. Judgements are saved immediately; press Ctrl+C to stop."
        )
        if not no_browser and not no_link:
            webbrowser.open(link)

    # After each run of a page Streamlit collects garbage in full, and would go through all modules each time.
    gc.collect()
    gc.freeze()
    threading.Thread(target=announce, daemon=True).start()
    with suppress(KeyboardInterrupt):  # the usual way to stop
        server.run(sockets=[sock])


if __name__ == "__main__":
    main()
