""":data:`HEALTH`: whether judgements can be saved and models trained, for monitors."""

import asyncio
import time
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from annotate.auth.roles import ANYBODY, open_to
from annotate.card.server.trainer import Trainer
from annotate.server.campaign_thread import CampaignThread
from collection.campaign.operations.server_state import HEALTH
from collection.core.phrases import sentence

KEPT_SECONDS = 2.0  # requests in this time get the same answer, since anybody may ask and each check writes to the disk
TIMEOUT = 5.0  # seconds


class HealthService:
    """The route that says whether the server can do its work."""

    def __init__(self, directory: Path, trainer: Trainer) -> None:
        self._thread = CampaignThread(directory, "health")
        self._trainer = trainer
        self._check: asyncio.Task[str | None] | None = None
        self._checked_at = 0.0

    async def close(self) -> None:
        """Close the connection."""
        await self._thread.close()

    def routes(self) -> list[Route]:
        """The route, which needs no sign-in."""
        return [Route(HEALTH, self.answer, methods=["GET"])]

    @open_to(ANYBODY)
    async def answer(self, request: Request) -> Response:
        """Answer 200, or 503 with one sentence on what is wrong."""
        if self._check is None or (self._check.done() and time.monotonic() - self._checked_at > KEPT_SECONDS):
            self._check = asyncio.create_task(self._find_problem())
        try:
            problem = await asyncio.wait_for(asyncio.shield(self._check), TIMEOUT)
        except TimeoutError:
            problem = f"the database did not answer within {TIMEOUT:.0f} seconds"
        text, status = ("OK", 200) if problem is None else (sentence(problem), 503)
        return PlainTextResponse(f"{text}\n", status, {"Cache-Control": "no-store"})

    async def _find_problem(self) -> str | None:
        try:
            problem = await self._thread.run(lambda campaign: campaign.operations.server_state.find_problem())
        except Exception:  # the campaign cannot even be opened; the reason may name files
            problem = "the campaign cannot be opened"
        if problem is None and self._trainer.has_given_up:
            problem = "the training process ended repeatedly; the loop continues with its latest ranking"
        self._checked_at = time.monotonic()
        return problem
