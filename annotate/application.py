"""The pages, the judging routes and the sign-in routes of a campaign as one ASGI app.

``python -m annotate DIR`` serves it; :func:`create_app` is for other ASGI servers. Run one process only: the judging
routes write in a thread of it.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config
from streamlit.runtime import Runtime

from annotate import documentation
from annotate.auth import oidc
from annotate.auth.error_page import ErrorPage
from annotate.auth.request_guard import RequestGuard
from annotate.auth.roles import require_roles
from annotate.auth.routes import SignInService
from annotate.auth.session import DIRECTORY_VARIABLE
from annotate.card.server.health import HealthService
from annotate.card.server.routes import JudgingService
from annotate.card.server.trainer import Trainer
from annotate.server import backup_schedule, error_log, uploads
from annotate.server.origins import Origins
from collection.campaign import Campaign
from collection.core.errors import CleverdonError

SCRIPT = Path(__file__).with_name("app.py")


def create_app(
    directory: Path,
    trainer: Trainer | None = None,
    *,
    host: str = "localhost",
    public_addresses: Sequence[str] = (),
    max_upload: int = uploads.DEFAULT_MEGABYTES,
) -> st.App:
    """Create the app on the campaign in `directory`; raises as :class:`Campaign` and :func:`.read_provider` do.

    A `trainer` has been started already; `host` and `public_addresses` are as for :class:`Origins`; `max_upload` is the
    limit in megabytes on the files of one session.
    """
    provider = oidc.read_provider(directory)
    origins = Origins([*public_addresses, *([provider.address] if provider else [])], host)
    judging, signing = JudgingService(directory, trainer), SignInService(directory, provider, origins)
    health = HealthService(directory, judging.trainer)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        error_log.take_over_streamlit()
        tasks = [asyncio.create_task(_free_uploads()), asyncio.create_task(backup_schedule.run(directory))]
        tasks.append(asyncio.create_task(asyncio.to_thread(read_ahead, directory)))
        try:
            async with judging.lifespan(app):
                yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await signing.close()
            await health.close()

    with Campaign(directory) as campaign:
        secrets = None if provider is None else provider.secrets(campaign.operations.server_state.secret())
    # Pages are drawn in threads of this process, and a save would wait 5 ms each time that it needs the interpreter.
    sys.setswitchinterval(0.0005)
    os.environ[DIRECTORY_VARIABLE] = str(directory.resolve())
    app = st.App(
        SCRIPT,
        routes=require_roles([*judging.routes(), *signing.routes(), *health.routes(), *documentation.routes()]),
        middleware=[
            Middleware(ErrorPage),
            Middleware(RequestGuard, service=signing, origins=origins, max_upload=max_upload * 2**20),
        ],
        lifespan=lifespan,
        on_script_error=draw_error,
        secrets=secrets,
    )
    # The app has read its configuration by now. The size is that of one file.
    config.set_option("server.maxUploadSize", max_upload)
    config.set_option("runner.magicEnabled", False)  # it draws docstrings of constants on the page
    config.set_option("client.showErrorDetails", "none")  # for errors that do not come to draw_error, such as of syntax
    return app


def draw_error(error: Exception) -> bool:
    """Log the exception of a page, and show its id in the place of Streamlit's traceback."""
    st.error(error_log.explain(error_log.record(error, "page")))
    return True


def read_ahead(directory: Path) -> None:
    """Read what pages share of the judgements, so that the first page of a large campaign takes no seconds."""
    import pyarrow as pa
    import scipy.special  # noqa: F401 - intervals and tests need it, and it takes a quarter of a second

    with suppress(CleverdonError), Campaign(directory) as campaign:
        campaign.store.judgements.read_ahead()
        campaign.results.overview.next_step()
        campaign.results.overview.annotators()
        campaign.results.qrels.graded_topics()
        campaign.corpus.coded_runs()
        campaign.progress.loop_scope.topic_ledgers(campaign.store.corpus.topics()["query_id"])
    pa.default_memory_pool().release_unused()  # what the texts took that were read


async def _free_uploads() -> None:
    while True:
        await asyncio.sleep(uploads.KEPT_SECONDS / 4)
        if Runtime.exists():
            uploads.free(Runtime.instance())
