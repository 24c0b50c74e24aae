"""Pages of the app as a browser receives them, without a browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from annotate.auth.page_access import PAGES
from annotate.server.error_log import UNEXPECTED


class Drawn(NamedTuple):
    """A page: its alerts, and those of them and the tracebacks that say that the page failed."""

    alerts: list[str]
    failures: list[str]


@contextmanager
def open_page(port: int, cookie: str, page: str = "judge") -> Iterator[Drawn]:
    """Open a session as a browser does, and have a page drawn in it."""
    headers: dict[str, Any] = {"Cookie": cookie}
    with connect(
        f"ws://127.0.0.1:{port}/_stcore/stream",
        additional_headers=headers,
        subprotocols=["streamlit"],  # type: ignore[list-item]
        compression=None,
        max_size=None,
    ) as connection:
        message = BackMsg()
        message.rerun_script.page_name = page
        connection.send(message.SerializeToString())
        drawn = Drawn([], [])
        while (received := ForwardMsg.FromString(connection.recv(60))).WhichOneof("type") != "script_finished":  # type: ignore[arg-type]
            element = received.delta.new_element
            if element.WhichOneof("type") == "alert":
                drawn.alerts.append(element.alert.body)
                if UNEXPECTED in element.alert.body:
                    drawn.failures.append(element.alert.body)
            elif element.WhichOneof("type") == "exception":
                drawn.failures.append(f"{element.exception.type}: {element.exception.message}")
        yield drawn


def draw(port: int, cookie: str, *pages: str) -> dict[str, Drawn]:
    """Draw these pages, all without any, each in a session of its own."""
    drawn = {}
    for page in pages or ["" if entry.default else entry.url_path for entry in PAGES]:
        with open_page(port, cookie, page) as drawn[page]:
            pass
    return drawn


def require_no_failure(drawn: dict[str, Drawn]) -> None:
    """Fail if a page had an unexpected error, of which it shows the id, or in Streamlit's own hands a traceback."""
    failed = {page: found.failures for page, found in drawn.items() if found.failures}
    assert not failed, failed
