"""Files of a campaign that documents name: images and PDF files, each named after its content."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path

from collection import formats
from collection.core.layout import IMAGES, create_private, make_folder, sync_folder

FOLDER = IMAGES

PDF, ORIGINAL = "pdf", "original"
"""Types of PDF files: those that browsers may show, and imported ones with active content or not checked for it."""

NAME = re.compile(r"[0-9a-f]{64}\.(?:" + "|".join((*formats.IMAGE_TYPES, PDF, ORIGINAL)) + r")\Z")
"""File names: the SHA-256 of the content, and its type."""


class ContentFiles:
    """Writes files into a campaign, in one import.

    Parameters
    ----------
    directory
        The campaign's.
    written
        Gets every new file, and the folder if it is new, so that an import that fails can remove them.
    """

    def __init__(self, directory: Path, written: list[Path]) -> None:
        self.folder, self.written = directory / FOLDER, written
        self.new = 0

    def write(self, content: bytes, kind: str) -> str:
        """Write a file completely and durably, unless it is there; returns its name, for the database."""
        name = f"{hashlib.sha256(content).hexdigest()}.{kind}"
        target = self.folder / name
        if target.exists():
            return name
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
        return name

    def sync(self) -> None:
        """Make the names of the new files durable."""
        if self.new:
            sync_folder(self.folder)
