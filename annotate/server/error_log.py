"""The server's log: warnings, and each unexpected error with its traceback under an id that the page shows instead."""

from __future__ import annotations

import json
import logging
import os
import secrets
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, Literal, get_args

from streamlit import logger as streamlit_logger

Format = Literal["text", "json"]
FORMATS: tuple[str, ...] = get_args(Format)

FILE_BYTES = 10 * 2**20  # size at which a new file is begun
PRIVATE = 0o600  # readable and writable by the owner only
OLD_FILES = 5  # older files kept: FILE.1, the latest, to FILE.5
UNEXPECTED = "An unexpected error occurred."
"""The beginning of a page's message about a failure."""

_log = logging.getLogger(__name__)


def record(error: BaseException, place: str) -> str:
    """Log an unexpected error with its traceback, and return its id; `place` is a page, or a method and a path."""
    error_id = secrets.token_hex(4)
    # A path is whatever a client sent: its line breaks must not look like lines of the log.
    line = f"unexpected error {error_id} in {place!r}"
    _log.error(line, exc_info=error, extra={"error_id": error_id, "place": place})
    return error_id


def explain(error_id: str) -> str:
    """Say on a page that something failed, without the cause."""
    return (
        f"{UNEXPECTED} Its id is {error_id}: report it to the person who runs this server, whose log has the details."
    )


def set_up(file: Path | None, form: Format = "text") -> None:
    """Send warnings and errors of all libraries to a rotating file that only its owner reads, or to standard error."""
    handler = logging.StreamHandler() if file is None else _PrivateFile(file)
    handler.setFormatter(_JsonLines() if form == "json" else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)


def take_over_streamlit() -> None:
    """Have Streamlit's loggers write to the server's log; the app calls this when Streamlit has set them up."""
    for each in list(streamlit_logger._loggers.values()):
        for handler in list(each.handlers):
            each.removeHandler(handler)
        each.propagate = True
    # The app's own handler logs the exception of a page, with its id.
    logging.getLogger("streamlit.error_util").disabled = True


class _PrivateFile(RotatingFileHandler):
    """A rotating file; it is created readable by its owner only, since tracebacks quote ids of documents and names."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, maxBytes=FILE_BYTES, backupCount=OLD_FILES, encoding="utf-8", errors="backslashreplace")

    def _open(self) -> IO[str]:  # type: ignore[override]
        def private(path: str, flags: int) -> int:
            return os.open(path, flags, PRIVATE)

        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=private)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Write the time in UTC, the level, the module and the message; a traceback follows."""
        return f"{_time(record)} {record.levelname} {record.name}: {super().format(record)}"


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Write one JSON object on one line."""
        entry = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: getattr(record, name) for name in ("error_id", "place") if hasattr(record, name)}
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
