"""One process: the pages, the judging card's routes and signing in, as one ASGI app.

``python -m annotate DIR`` serves it; :func:`create_app` is for other ASGI servers. One process only:
the judging routes keep their writer in a thread of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from annotate.guarding import declared
from annotate.judging.routes import JudgingService
from annotate.judging.trainer import Trainer
from annotate.session import DIRECTORY_VARIABLE
from annotate.signing import provider
from annotate.signing.routes import Door, SigningService
from annotate.views import PAGES
from collection.campaign import Campaign

SCRIPT = Path(__file__).with_name("app.py")


def create_app(directory: Path, trainer: Trainer | None = None) -> st.App:
    """The app on one campaign; with what learns in its loop, if that is there already.

    Raises
    ------
    CampaignError
        There is no campaign in `directory`.
    FormatError
        Its ``sso.toml`` is not what it should be.
    """
    known = provider.read(directory)
    judging, signing = JudgingService(directory, trainer), SigningService(directory, known)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        async with judging.lifespan(app), signing.lifespan(app):
            yield

    with Campaign(directory) as campaign:
        secrets = None if known is None else known.secrets(campaign.secret())
    # Pages are drawn in threads of this process. A save that arrives meanwhile takes the interpreter over several
    # times, and would wait 5 ms for it each time.
    sys.setswitchinterval(0.0005)
    os.environ[DIRECTORY_VARIABLE] = str(directory.resolve())
    pages = frozenset("" if page.default else page.url_path for page in PAGES)
    return st.App(
        SCRIPT,
        routes=declared([*judging.routes(), *signing.routes()]),
        middleware=[Middleware(Door, service=signing, pages=pages)],
        lifespan=lifespan,
        secrets=secrets,
    )
