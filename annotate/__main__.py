"""``python -m annotate DIR``: serve the app on a campaign and print the sign-in link."""

from __future__ import annotations

import getpass
import socket
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from collection.errors import CleverdonError

FIRST_PORT, LAST_PORT = 8501, 8600


class CannotServe(click.ClickException):
    """What ends the command in one line, with the exit status of every other refusal."""

    exit_code = 2


def bind(host: str, port: int | None, usual: int | None = None) -> socket.socket:
    """A listening socket: on `port`, or on the `usual` one or the first free one from 8501."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    error: OSError | None = None
    for candidate in [port] if port else [*([usual] if usual else []), *range(FIRST_PORT, LAST_PORT)]:
        # Named as TCP: asyncio turns Nagle's algorithm off on no other, and now and then an answer, which goes out in
        # two pieces, would wait 40 ms for the browser's acknowledgement of the first.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, candidate))
            # Listening at once: until somebody listens, another server may bind the same port beside us.
            sock.listen(128)
            return sock
        except OSError as problem:
            error = problem
            sock.close()
    tried = f"port {port}" if port else f"any port from {FIRST_PORT} to {LAST_PORT - 1}"
    raise CannotServe(f"cannot listen on {host}, {tried}: {error and error.strerror}")


def login_name() -> str:
    """Who runs this process, as the system calls them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for the user
        return "annotator"


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1")
@click.option("--port", type=int)
@click.option("--as", "annotator")
@click.option("--no-browser", is_flag=True)
def main(directory: Path, host: str, port: int | None, annotator: str | None, no_browser: bool) -> None:
    """Serve the app on the campaign in DIR."""
    from annotate.judging.trainer import Trainer
    from collection.campaign import Campaign

    trainer = Trainer(directory)
    with suppress(CleverdonError), Campaign(directory) as campaign:
        trainer.start(campaign)  # it takes a second, as what follows does

    from annotate.asgi import create_app
    from annotate.signing import provider

    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    try:
        known = provider.read(directory)
        with Campaign(directory) as campaign:
            person, link_token = campaign.start_signin(annotator, login_name())
            # The same port as last time: a browser keeps unsent judgements under the address where they were made.
            sock = bind(host, port, campaign.port(person))
            campaign.keep_port(person, sock.getsockname()[1])
            address = known.address if known else f"http://{shown}:{sock.getsockname()[1]}"
            campaign.keep_address(address)
        app = create_app(directory, trainer)
    except CleverdonError as error:
        raise CannotServe(str(error)) from error
    if known is not None and known.readable:
        click.echo(
            f"Others on this machine can read {directory / provider.FILE}, which has a secret: chmod 600", err=True
        )
    import uvicorn

    link = f"{address}/signin?token={link_token}"
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, ws="websockets-sansio", timeout_graceful_shutdown=3)
    )

    def announce() -> None:
        # From a thread that waits: a link that is printed before the server listens is opened too early.
        while not server.started:
            if server.should_exit:
                return
            threading.Event().wait(0.05)
        click.echo(f"Cleverdon serves {directory} at {address}")
        click.echo(f"Open this link, once, to sign in as {person}:\n\n    {link}\n")
        click.echo(
            "A browser that has signed in stays signed in. Stop with Ctrl+C; judgements are saved as they are made."
        )
        if not no_browser:
            webbrowser.open(link)

    threading.Thread(target=announce, daemon=True).start()
    with suppress(KeyboardInterrupt):  # Ctrl+C is how it is stopped, not a failure
        server.run(sockets=[sock])


if __name__ == "__main__":
    main()
