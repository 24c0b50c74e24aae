"""Images of documents: files of the campaign, named after their content, and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from collection import formats
from collection.campaign.corpus.content_files import NAME, ContentFiles


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


class ImageImport:
    """Copies images into a campaign, in one import; parameters are those of :class:`.ContentFiles`."""

    def __init__(self, directory: Path, written: list[Path]) -> None:
        self.content = ContentFiles(directory, written)
        self.files: set[str] = set()
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
                name = self.content.write(*formats.read_image(path, number, each["path"]))
                self.files.add(name)
                entries.append({"file": name, "alt": each["alt"]})
            else:
                host = formats.parse_host(each["link"]) or ""
                self.links[host] = self.links.get(host, 0) + 1
                entries.append({"link": each["link"], "alt": each["alt"]})
        return entries
