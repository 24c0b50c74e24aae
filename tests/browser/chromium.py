"""Finds a Chromium for the browser tests, or installs one: never lets them be skipped without a word.

``python tests/browser/chromium.py`` is what `make test` calls first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HELP = (
    "The browser tests need Chromium: install it with `apt install chromium` or "
    "`python -m playwright install chromium`, or name one in CLEVERDON_CHROMIUM."
)


def find() -> str | None:
    """The path of a Chromium: CLEVERDON_CHROMIUM, one on the path, or the one that Playwright fetched."""
    named = os.environ.get("CLEVERDON_CHROMIUM")
    if named:
        return named
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        fetched = driver.chromium.executable_path
    return fetched if Path(fetched).exists() else None


def install() -> None:
    """Debian's package when root, else Playwright's own."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        # Ubuntu's package of this name only points to a snap, which needs a running snapd: then Playwright's.
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=False)
        package = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        if subprocess.run(package, env=quiet, check=False).returncode == 0 and find():
            return
    extra = ["--with-deps"] if os.geteuid() == 0 else []
    subprocess.run([sys.executable, "-m", "playwright", "install", *extra, "chromium"], check=False)


if __name__ == "__main__":
    if find() is None:
        print("Installing Chromium for the browser tests ...", flush=True)
        install()
        if find() is None:
            sys.exit(HELP)
