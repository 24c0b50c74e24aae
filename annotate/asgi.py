"""One process: the pages, the judging card's routes and signing in, as one ASGI app.

``python -m annotate DIR`` serves it; :func:`create_app` is for other ASGI servers. One process only:
the judging routes keep their writer in a thread of it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import streamlit as st

from annotate.judging.routes import JudgingService
from annotate.session import DIRECTORY_VARIABLE

SCRIPT = Path(__file__).with_name("app.py")


def create_app(directory: Path) -> st.App:
    """The app on one campaign.

    Raises
    ------
    CampaignError
        There is no campaign in `directory`.
    """
    service = JudgingService(directory)
    # The model learns in a thread of this process. A save that arrives meanwhile takes the interpreter over several
    # times, and would wait 5 ms for it each time.
    sys.setswitchinterval(0.0005)
    os.environ[DIRECTORY_VARIABLE] = str(directory.resolve())
    return st.App(SCRIPT, routes=service.routes(), lifespan=service.lifespan)
