"""Images of documents in a campaign: their files, each called after its content, and what shows them."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from collection import formats
from collection.layout import IMAGES, PRIVATE_FOLDER, create_private, sync_folder

FOLDER = IMAGES
"""Where a campaign keeps files, in its directory."""


NAME = re.compile(r"[0-9a-f]{64}\.(?:" + "|".join(formats.IMAGE_TYPES) + r")\Z")
"""What a file is called: the SHA-256 of its content, and its kind."""


class Image(NamedTuple):
    """An image of a document: a `file` of the campaign or a `link`, the other is None; `alt` says what it shows.

    `allowed`: it may be drawn. A link whose host the manager has not named may be followed only.
    """

    file: str | None
    link: str | None
    alt: str
    allowed: bool


def images_of(metadata: Mapping[str, Any], hosts: Iterable[str] = ()) -> list[Image]:
    """The images of a document, as its metadata name them; whatever else stands there is none.

    Parameters
    ----------
    metadata
        A document's.
    hosts
        From which linked images may be drawn.

    Examples
    --------
    >>> images_of({"images": [{"link": "https://x.org/a.png", "alt": "A wing"}]}, ["x.org"])
    [Image(file=None, link='https://x.org/a.png', alt='A wing', allowed=True)]
    """
    named = metadata.get("images")
    found: list[Image] = []
    for each in named if isinstance(named, list) else []:
        if not isinstance(each, dict):
            continue
        alt = each.get("alt") if isinstance(each.get("alt"), str) else ""
        file, link = each.get("file"), each.get("link")
        if isinstance(file, str) and NAME.match(file):
            found.append(Image(file, None, alt or "", True))
        elif isinstance(link, str) and (host := formats.parse_host(link)):
            found.append(Image(None, link, alt or "", host in set(hosts)))
    return found


class Keeper:
    """Copies images into a campaign, in one import.

    Parameters
    ----------
    directory
        The campaign's.
    written
        Gets every file that is new, and the folder if it is, so that an import that fails can remove them.
    """

    def __init__(self, directory: Path, written: list[Path]) -> None:
        self.folder, self.written = directory / FOLDER, written
        self.files: set[str] = set()
        self.new = 0
        self.links: dict[str, int] = {}

    def kept(self, path: Path | str, number: int, named: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
        """What the metadata say of images that a line names, whose files are then on disk.

        Raises
        ------
        FormatError
            One of them cannot be taken; with path and line.
        """
        kept: list[dict[str, str]] = []
        for each in named:
            if "path" in each:
                content, kind = formats.read_image(path, number, each["path"])
                name = f"{hashlib.sha256(content).hexdigest()}.{kind}"
                self._write(name, content)
                kept.append({"file": name, "alt": each["alt"]})
            else:
                host = formats.parse_host(each["link"]) or ""
                self.links[host] = self.links.get(host, 0) + 1
                kept.append({"link": each["link"], "alt": each["alt"]})
        return kept

    def _write(self, name: str, content: bytes) -> None:
        """Write a file so that it is on disk, whole, before the database names it."""
        self.files.add(name)
        target = self.folder / name
        if target.exists():
            return
        if not self.folder.is_dir():
            self.folder.mkdir(mode=PRIVATE_FOLDER)
            self.written.append(self.folder)
        part = self.folder / f"{name}.{secrets.token_hex(4)}.part"
        self.written += [target, part]
        with create_private(part) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        self.new += 1

    def settle(self) -> None:
        """Make the names of the new files last, too."""
        if not self.new:
            return
        sync_folder(self.folder)
