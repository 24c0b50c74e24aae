"""How the app is started: ports, and what is printed."""

from __future__ import annotations

import click
import pytest

from annotate.__main__ import bind


def test_the_first_free_port_is_taken_and_a_busy_one_is_named() -> None:
    with bind("127.0.0.1", None) as first, bind("127.0.0.1", None) as second:
        ports = [s.getsockname()[1] for s in (first, second)]
        assert ports[0] != ports[1]
        with pytest.raises(click.ClickException, match=rf"cannot listen on 127.0.0.1, port {ports[0]}: "):
            bind("127.0.0.1", ports[0])
