"""Images of documents: files of the campaign, named after their content, and links."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from collection import formats
from collection.core.layout import IMAGES, create_private, make_folder, sync_folder

FOLDER = IMAGES

NAME = re.compile(r"[0-9a-f]{64}\.(?:" + "|".join(formats.IMAGE_TYPES) + r")\Z")
"""File names: the SHA-256 of the content, and its type."""


class DocumentImage(NamedTuple):
    """An image of a document: a `file` of the campaign or a `link`; the other is None.

    An image that is not `allowed`, a link to a host that the manager has not named, is shown as a link.
    """

    file: str | None
    link: str | None
    alt: str
    allowed: bool


def images_of(metadata: Mapping[str, object], hosts: Iterable[str] = ()) -> list[DocumentImage]:
    """The valid images in a document's metadata; linked ones are allowed from `hosts`.

    >>> images_of({"images": [{"link": "https://x.org/a.png", "alt": "A wing"}]}, ["x.org"])
    [DocumentImage(file=None, link='https://x.org/a.png', alt='A wing', allowed=True)]
    """
    named = metadata.get("images")
    images: list[DocumentImage] = []
    for each in named if isinstance(named, list) else []:
        if not isinstance(each, dict):
            continue
        alt = each.get("alt") if isinstance(each.get("alt"), str) else ""
        file, link = each.get("file"), each.get("link")
        if isinstance(file, str) and NAME.match(file):
            images.append(DocumentImage(file, None, alt or "", True))
        elif isinstance(link, str) and (host := formats.parse_host(link)):
            images.append(DocumentImage(None, link, alt or "", host in set(hosts)))
    return images


def named_files(metadata: Iterable[Mapping[str, object]]) -> set[str]:
    """Return the files of the images that the metadata of documents name."""
    return {image.file for each in metadata for image in images_of(each) if image.file is not None}


class ImageImport:
    """Copies images into a campaign, in one import.

    Parameters
    ----------
    directory
        The campaign's.
    written
        Gets every new file, and the folder if it is new, so that an import that fails can remove them.
    """

    def __init__(self, directory: Path, written: list[Path]) -> None:
        self.folder, self.written = directory / FOLDER, written
        self.files: set[str] = set()
        self.new = 0
        self.links: dict[str, int] = {}

    def add(self, path: str | PathLike[str], number: int, named: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
        """Copy the images that a line names; returns their entries in the metadata.

        Raises
        ------
        FormatError
            An image cannot be read; with path and line.
        """
        entries: list[dict[str, str]] = []
        for each in named:
            if "path" in each:
                content, kind = formats.read_image(path, number, each["path"])
                name = f"{hashlib.sha256(content).hexdigest()}.{kind}"
                self._write(name, content)
                entries.append({"file": name, "alt": each["alt"]})
            else:
                host = formats.parse_host(each["link"]) or ""
                self.links[host] = self.links.get(host, 0) + 1
                entries.append({"link": each["link"], "alt": each["alt"]})
        return entries

    def _write(self, name: str, content: bytes) -> None:
        """Write a file completely and durably before the database names it."""
        self.files.add(name)
        target = self.folder / name
        if target.exists():
            return
        if not self.folder.is_dir():
            make_folder(self.folder)
            self.written.append(self.folder)
        part = self.folder / f"{name}.{secrets.token_hex(4)}.part"
        self.written += [target, part]
        with create_private(part) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        self.new += 1

    def sync(self) -> None:
        """Make the names of the new files durable."""
        if self.new:
            sync_folder(self.folder)
