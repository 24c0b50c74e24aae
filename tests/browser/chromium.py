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

LIGHT = ("chromium-headless-shell",)
"""The same engine without a browser's own window, toolbar and pages: the tests take two thirds of the time in it."""


def find(*, light: bool = True) -> str | None:
    """The path of a Chromium: CLEVERDON_CHROMIUM, one on the path (a light one first), or the one of Playwright."""
    named = os.environ.get("CLEVERDON_CHROMIUM")
    if named:
        return named
    for name in (*(LIGHT if light else ()), "chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        fetched = driver.chromium.executable_path
    return fetched if Path(fetched).exists() else None


def install() -> None:
    """Debian's package when root, else Playwright's own."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        # Ubuntu's package `chromium` only points to a snap, which needs a running snapd: then Playwright's.
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=False)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"]
        for package in (*LIGHT, "chromium"):
            if subprocess.run([*install, package], env=quiet, check=False).returncode == 0 and find():
                return
    extra = ["--with-deps"] if os.geteuid() == 0 else []
    subprocess.run([sys.executable, "-m", "playwright", "install", *extra, "chromium"], check=False)


if __name__ == "__main__":
    if find() is None:
        print("Installing Chromium for the browser tests ...", flush=True)
        install()
        if find() is None:
            sys.exit(HELP)
