"""Memory of the server with a thousand idle WebSockets of strangers, from one address and from many.

``python tests/benchmarks/bench_idle_sockets.py``
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from annotate.auth.tokens import Tokens, cookie_name
from annotate.server.timed_http import allow_open_files
from collection import Campaign
from tests.annotate.server.test_slow_clients import hold
from tests.browser.serving import Serving
from tests.conftest import signed_in


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sockets", type=int, default=1000)
    options = parser.parse_args()
    allow_open_files()
    print("| addresses | sockets | accepted | server grew by (MB) | person let in | seconds |")
    print("|---|---|---|---|---|---|")
    for hosts in (1, 20, 250):
        with tempfile.TemporaryDirectory() as folder:
            with Campaign.create(Path(folder) / "campaign", title="Idle") as campaign:
                cookie = Tokens(campaign.operations.server_state.secret(), campaign.id).cookie(signed_in(campaign))
                header = f"{cookie_name(campaign.id)}={cookie}"
            serving = Serving(Path(folder) / "campaign")
            begun = time.perf_counter()
            accepted, grown, person = asyncio.run(hold(serving, options.sockets, header, hosts))  # noqa: TID251
            took = time.perf_counter() - begun
            serving.stop()
        print(f"| {hosts} | {options.sockets} | {accepted} | {grown:.1f} | {'yes' if person else 'no'} | {took:.1f} |")


if __name__ == "__main__":
    main()
