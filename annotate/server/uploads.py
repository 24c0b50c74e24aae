"""Limits on uploaded files, which Streamlit takes at any time and keeps in memory as long as the session.

Here only a session whose page has an uploader may send files, and they are freed when it leaves the page or has been
disconnected for long.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from streamlit.runtime import Runtime

DEFAULT_MEGABYTES = 500  # default limit on the files of one session; `cleverdon import` reads larger ones from the disk
KEPT_SECONDS = 120.0  # time after which the files of a disconnected session are freed

_open: dict[str, float | None] = {}  # sessions whose page has an uploader, and since when they have been disconnected
_reserved: Counter[str] = Counter()  # bytes of requests that are being read, by session


def allow_for_page(*, has_uploader: bool) -> None:
    """Open the session of this script run for uploads, or close it and free what it has uploaded."""
    context = get_script_run_ctx()
    if context is None:
        return
    if has_uploader:
        _open[context.session_id] = None
    elif context.session_id in _open:
        del _open[context.session_id]
        context.uploaded_file_mgr.remove_session_files(context.session_id)


def is_open(session_id: str) -> bool:
    """Return whether the session's page has an uploader."""
    return session_id in _open


@contextmanager
def reserve(session_id: str, size: int, limit: int, runtime: Runtime) -> Iterator[bool]:
    """Return whether the session may hold `size` bytes more, which count from now on; `limit` is in bytes.

    If the session leaves the page meanwhile, its files are freed on exit.
    """
    storage = runtime.uploaded_file_mgr.file_storage  # type: ignore[attr-defined]
    held = sum(len(file.data) for file in list(storage.get(session_id, {}).values()))
    if held + _reserved[session_id] + size > limit:
        yield False
        return
    _reserved[session_id] += size
    try:
        yield True
    finally:
        _reserved[session_id] -= size
        if not _reserved[session_id]:
            del _reserved[session_id]
        if not is_open(session_id):  # its other files were freed before this one was added
            runtime.uploaded_file_mgr.remove_session_files(session_id)


def free(runtime: Runtime, at: float | None = None) -> None:
    """Free files of sessions long disconnected, which Streamlit only does when another one is disconnected."""
    at = time.monotonic() if at is None else at
    for session_id, since in list(_open.items()):
        if runtime.is_active_session(session_id):
            _open[session_id] = None
        elif since is None:
            _open[session_id] = at
        elif at - since >= KEPT_SECONDS:
            del _open[session_id]
            runtime.uploaded_file_mgr.remove_session_files(session_id)
