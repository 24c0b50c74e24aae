"""Look for banned phrases in every text that people read, as `make lint` does.

Run by ``python tests/project/texts/check.py``.

In Python these are the strings, docstrings and comments, in scripts and styles all lines, in Markdown everything but
blocks of code. The phrases are in ``banned_phrases.tsv``. A line that ends in ``# text: ok`` is left out.
"""

import json
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
PHRASES = Path(__file__).with_name("banned_phrases.tsv")
FILES = (
    "collection/**/*.py",
    "annotate/**/*.py",
    "annotate/**/*.js",
    "annotate/**/*.html",
    "annotate/**/*.json",
    "docs/**/*.md",
    "docs/**/*.ipynb",
    "docs/*.py",
    "*.md",
)
EXEMPT = "# text: ok"


def read_phrases(lines: str) -> list[tuple[re.Pattern[str], str]]:
    """The patterns with what to write instead."""
    rows = [line.split("\t") for line in lines.splitlines() if line and not line.startswith("# ")]
    return [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in rows]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that people read, with their numbers."""
    if path.suffix == ".py":
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                if token.type in (tokenize.STRING, tokenize.COMMENT) and EXEMPT not in token.line:
                    yield from enumerate(token.string.splitlines(), token.start[0])
        return
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        yield from enumerate("\n".join(sources).splitlines(), 1)
        return
    in_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".md" and line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, line


def find(path: Path, phrases: list[tuple[re.Pattern[str], str]]) -> Iterator[str]:
    """Every banned phrase of a file, as a line for the terminal."""
    for number, line in texts(path):
        for pattern, instead in phrases:
            if found := pattern.search(line):
                yield f"{path}:{number}: {found[0]!r}: {instead}"


def main() -> None:
    phrases = read_phrases(PHRASES.read_text(encoding="utf-8"))
    paths = sorted({path for pattern in FILES for path in ROOT.glob(pattern) if "_build" not in path.parts})
    found = [line for path in paths for line in find(path, phrases)]
    print("\n".join(found))
    if found:
        sys.exit(f"{len(found)} banned phrases; they are listed in {PHRASES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
