"""Starting the app: ports, addresses and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import click
import pytest
import uvicorn
from click.testing import CliRunner

from annotate import __main__ as serving
from annotate.__main__ import bind, clean_address
from collection import Campaign
from tests.helpers import awaited


def test_the_first_free_port_is_taken_and_a_busy_one_is_named() -> None:
    with bind("127.0.0.1", None) as first, bind("127.0.0.1", None) as second:
        ports = [s.getsockname()[1] for s in (first, second)]
        assert ports[0] != ports[1]
        with pytest.raises(click.ClickException, match=rf"cannot listen on 127.0.0.1, port {ports[0]} "):
            bind("127.0.0.1", ports[0])


@pytest.mark.parametrize(
    ("address", "clean"),
    [
        ("https://judging.example.org", "https://judging.example.org"),
        ("https://judging.example.org/", "https://judging.example.org"),
        ("http://10.0.0.7:8501", "http://10.0.0.7:8501"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://Faß.example:8443/", "https://xn--fa-hia.example:8443"),  # UTS 46, as in the URL Standard
        ("https://[::1]:8443", "https://[::1]:8443"),
        (f"https://{'ü' * 70}.example", None),
        ("judging.example.org", None),
        ("https://example.org/judging", None),
        ("https://ann@example.org", None),
        ("ftp://example.org", None),
        ("https://example.org:port", None),
        ("", None),
    ],
)
def test_the_public_address_is_an_origin(address: str, clean: str | None) -> None:
    if clean is None:
        with pytest.raises(click.ClickException, match="--public-address: expected"):
            clean_address(address)
    else:
        assert clean_address(address) == clean


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch, root_logger: None) -> list[uvicorn.Config]:
    """Record how the server would be started, without starting it."""
    configs: list[uvicorn.Config] = []

    class Server:
        started = should_exit = True

        def __init__(self, config: uvicorn.Config) -> None:
            configs.append(config)

        def run(self, sockets: Any) -> None:
            for sock in sockets:
                sock.close()

    monkeypatch.setattr(uvicorn, "Server", Server)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # whatever an environment says
    return configs


def client_of(config: uvicorn.Config, peer: str, forwarded: str) -> tuple[str, str]:
    """Whom the app takes for the client, and the scheme, when `peer` sends X-Forwarded-For and -Proto."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)

    config.app, config.loaded = app, False
    config.load()
    headers = [(b"x-forwarded-for", forwarded.encode()), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "scheme": "http", "client": (peer, 1), "headers": headers, "asgi": {"version": "3.0"}}
    awaited(config.loaded_app(scope, None, None))  # type: ignore[arg-type]
    return seen[0]["client"][0], seen[0]["scheme"]


def serve(campaign: Campaign, *arguments: str) -> Any:
    return CliRunner().invoke(serving.main, [str(campaign.directory), "--no-browser", "--as", "ann", *arguments])


@pytest.mark.long
def test_nobody_is_a_proxy_unless_named(campaign: Campaign, configured: list[uvicorn.Config]) -> None:
    assert serve(campaign).exit_code == 0
    assert client_of(configured[0], "127.0.0.1", "10.0.0.9") == ("127.0.0.1", "http")
    assert serve(campaign, "--trusted-proxy", "127.0.0.1", "--trusted-proxy", "10.1.0.0/16").exit_code == 0
    assert client_of(configured[1], "127.0.0.1", "6.6.6.6, 10.0.0.9, 10.1.2.3") == ("10.0.0.9", "https")
    assert client_of(configured[1], "10.2.0.1", "10.0.0.9") == ("10.2.0.1", "http")


@pytest.mark.parametrize("proxy", ["*", "proxy.example.org", "", "10.0.0.0/99"])
def test_a_proxy_that_is_no_address_is_refused(campaign: Campaign, proxy: str) -> None:
    result = serve(campaign, "--trusted-proxy", proxy)
    assert result.exit_code == 2
    assert "--trusted-proxy: expected an IP address or a network" in result.output


@pytest.mark.long
def test_links_are_made_with_the_public_address(campaign: Campaign, configured: list[uvicorn.Config]) -> None:
    assert serve(campaign, "--public-address", "https://judging.example.org/").exit_code == 0
    assert campaign.operations.server_state.address() == "https://judging.example.org"


def test_a_log_that_cannot_be_written_is_refused(campaign: Campaign, configured: list[uvicorn.Config]) -> None:
    result = serve(campaign, "--log", str(campaign.directory / "missing" / "server.log"))
    assert result.exit_code == 2
    assert "--log: cannot write" in result.output
    assert not configured


def test_a_service_prints_no_link(campaign: Campaign, configured: list[uvicorn.Config]) -> None:
    """The system's log, which others may read, has everything that a service prints."""
    said: list[str] = []
    campaign.people.accounts.add("ann", "manager")
    with mock.patch.object(serving.click, "echo", said.append), mock.patch.object(serving.threading, "Thread", Direct):
        assert serve(campaign).exit_code == serve(campaign, "--no-link").exit_code == 0
    assert [line.count("token=") for line in said if "Sign in as" in line] == [1]
    assert sum("Serving" in line for line in said) == 2


class Direct:
    """A thread that does its work at once; the server of these tests has started."""

    def __init__(self, target: Callable[[], None], daemon: bool) -> None:
        self.start = target
