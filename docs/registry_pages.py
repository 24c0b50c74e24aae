"""Write the members of registries into the pages that list them: ``python docs/registry_pages.py``, by `make docs`.

A page has ``<!-- registry: MODULE NAME -->`` before them, and ``<!-- end of the registry -->`` behind.
"""

from __future__ import annotations

import re
from pathlib import Path

from collection.documentation import describe_registry

DOCS = Path(__file__).parent
PLACE = re.compile(r"(<!-- registry: (.+) -->\n).*?(<!-- end of the registry -->)", re.DOTALL)


def filled(text: str) -> str:
    """A page with the members that its registries have now."""
    return PLACE.sub(lambda found: f"{found[1]}\n{describe_registry(*found[2].split())}\n\n{found[3]}", text)


if __name__ == "__main__":
    for page in DOCS.rglob("*.md"):
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
