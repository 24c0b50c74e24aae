"""The feature matrices of all documents, brought up to date when documents come or change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from collection.active_learning import features
from collection.active_learning.features import Cluster, write_to_cluster
from collection.campaign.log.results import ProgressCallback
from collection.core import clock, layout
from collection.core.errors import CampaignError, CleverdonError, FormatError, InputError
from collection.store import Store

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from collection.active_learning.features import FeatureMatrix, Report

HERE = "none"
"""In place of the address of a cluster: this machine."""


class FeaturesState(NamedTuple):
    """The number of documents that the features were made of, and whether none has come or changed since."""

    documents: int
    blocks: list[str]
    made_at: datetime | None
    """UTC; None without features."""
    current: bool
    note: str = ""
    """For the manager."""
    cluster: str = ""
    """Address of the cluster; "" for this machine."""
    folder: str = ""
    """Folder of the partitions on the cluster."""

    @property
    def where(self) -> str:
        """Location of the features, after their blocks; nothing on this machine."""
        return f"; on the cluster at {self.cluster}" if self.cluster else ""


def feature_options(store: Store) -> tuple[list[str], bool]:
    """Return the blocks of the features, and whether they have bigrams: as built, or as an update would build them."""
    built = store.settings.get("features", {})
    usual = features.usual_blocks(store.corpus.document_rows())
    return list(built.get("blocks", usual)), bool(built.get("bigrams", False))


@dataclass(eq=False)
class Features:
    """The feature matrices of all documents, brought up to date when documents come or change."""

    store: Store
    directory: Path
    _opened: tuple[str, FeatureMatrix] | None = field(default=None, init=False)
    _cluster: Cluster | None = field(default=None, init=False)

    def update(
        self,
        *,
        blocks: tuple[str, ...] | None = None,
        bigrams: bool | None = None,
        dense: Path | str | None = None,
        progress: ProgressCallback | None = None,
        processes: int | None = None,
        cluster: str | None = None,
        partitions: str | None = None,
    ) -> Report:
        """Make or update the features of all documents; only new and changed documents are read.

        On a cluster, all documents are written as partitions, and whoever opens the features makes them there.

        Parameters
        ----------
        blocks
            Of "words", "chars" and "dense"; unchanged by default, at first words and characters, or words alone
            from 100,000 documents on.
        bigrams
            Pairs of words as well.
        dense
            A .npy file of embeddings, one row per document in the order of import.
        processes
            The number of cores by default.
        cluster
            Address of a Dask scheduler; "none" for this machine. Unchanged by default, at first this machine.
        partitions
            Folder for the documents that the workers can read: any path that fsspec knows. Unchanged by default.

        Raises
        ------
        ClusterError
            The cluster cannot be reached; nothing was changed.
        """
        settings = self.store.settings.all()
        version = settings.get("documents_version", 0)
        before = settings.get("features", {})
        if not self.store.corpus.document_rows():
            raise CampaignError(
                "features need documents, found none; import some with `cleverdon import DIR --documents FILE`"
            )
        used, with_bigrams = feature_options(self.store)
        used = used if blocks is None else list(blocks)
        with_bigrams = with_bigrams if bigrams is None else bigrams
        if dense is not None and "dense" not in used:
            used.append("dense")
        stored = before.get("cluster", {})
        address = stored.get("address", HERE) if cluster is None else cluster
        remote = None
        if address != HERE:
            target = partitions or stored.get("partitions")
            if target is None or "dense" in used:
                expected = "a folder for partitions" if target is None else "words and characters"
                embeddings = "none; name it with --partitions" if target is None else "your own embeddings"
                raise InputError(f"features on a cluster: expected {expected}, found {embeddings}")
            report = write_to_cluster(address, target, self.store.corpus.texts())
            # The name of a new folder is its fingerprint.
            folder, documents = report.fingerprint, report.documents
            remote = {"address": address, "partitions": target, "folder": folder, "documents": documents}
            remote["made_at"] = clock.now()
        else:
            report = features.update(
                self.directory / layout.FEATURES,
                self.store.corpus.texts(),
                blocks=tuple(used),
                bigrams=with_bigrams,
                dense=None if dense is None else Path(dense),
                progress=progress,
                processes=processes,
            )
        with self.store.transaction():
            built = {"version": version, "blocks": used, "bigrams": with_bigrams, "fingerprint": report.fingerprint}
            if remote is not None:
                built["cluster"] = remote
            if blocks is None and dense is None and "note" in before:
                built["note"] = before["note"]
            self.store.settings.put("features", built)
        return report

    def version(self) -> str:
        """Differs when documents came or features were made again, by any process."""
        settings = self.store.settings.all()
        return json.dumps([settings.get("documents_version", 0), settings.get("features", {}).get("fingerprint")])

    @property
    def opened_version(self) -> str | None:
        """:meth:`version` of the features that :meth:`open` gave last, or None."""
        return None if self._opened is None else self._opened[0]

    def open(self, progress: ProgressCallback | None = None) -> FeatureMatrix:
        """The features of all documents, updated first where documents came or changed."""
        settings = self.store.settings.all()
        if self._opened is not None and self._opened[0] == self.version():
            return self._opened[1]
        current = settings.get("features", {}).get("version") == settings.get("documents_version", 0)
        try:
            opened = self._open_made() if current else None
        except FormatError:  # damaged, or not copied with the rest
            opened = None
        if opened is None or opened.fingerprint != settings["features"].get("fingerprint"):
            self._update_or_do_without(progress)
            opened = self._open_made()
        # The version they were made of: documents may have come meanwhile.
        version = self.store.settings.all()["features"]["version"]
        self._opened = (json.dumps([version, opened.fingerprint]), opened)
        return opened

    def _open_made(self) -> FeatureMatrix:
        """Open the features as they were made."""
        if self._cluster is not None:
            self._cluster.close()  # else the workers would keep its features
            self._cluster = None
        built = self.store.settings.all()["features"]
        if (remote := built.get("cluster")) is None:
            return features.open_features(self.directory / layout.FEATURES)
        self._cluster = Cluster(remote["address"], remote["folder"], built["blocks"], built["bigrams"])
        return self._cluster.open_features(built["fingerprint"])

    def rows(self, doc_ids: Sequence[str] | pd.Series[str]) -> csr_matrix:
        """Return the features of documents as rows, empty for documents that the campaign does not have."""
        from scipy.sparse import csr_matrix, diags

        matrix, at = self.open(), self.store.corpus.rows_of(list(dict.fromkeys(doc_ids)))
        rows = np.array([at.get(doc_id, matrix.size) for doc_id in doc_ids], dtype=np.int64)
        known = rows < matrix.size
        values = matrix.rows(np.where(known, rows, 0))
        return csr_matrix(diags(known.astype(np.float32)) @ values)

    def _update_or_do_without(self, progress: ProgressCallback | None) -> None:
        """Update the features, without embeddings that lack the newest documents."""
        used = self.store.settings.all().get("features", {}).get("blocks", [])
        try:
            self.update(progress=progress)
        except InputError:
            if "dense" not in used or self._rows_of_embeddings() == self.store.corpus.document_rows():
                raise
            rest = tuple(block for block in used if block != "dense") or ("words",)
            self.update(blocks=rest, progress=progress)
            with self.store.transaction():
                built = self.store.settings.all()["features"]
                note = "your embeddings no longer have one row per document and are not used"
                self.store.settings.put(
                    "features",
                    built | {"note": f"{note}; provide new ones with `cleverdon features DIR --embeddings FILE.npy`"},
                )

    def _rows_of_embeddings(self) -> int | None:
        """Number of rows of the embeddings in the features; None without embeddings."""
        try:
            opened = features.open_features(self.directory / layout.FEATURES)
        except FormatError:
            return None
        return next((block.shape[0] for block in opened.blocks if block.name == "dense"), None)

    def state(self) -> FeaturesState:
        """The state of the features as they are."""
        settings, directory = self.store.settings.all(), self.directory / layout.FEATURES
        built = settings.get("features", {})
        blocks = built.get("blocks", [])
        current = built.get("version") == settings.get("documents_version", 0)
        if (remote := built.get("cluster")) is not None:
            made_at = datetime.fromisoformat(remote["made_at"])
            return FeaturesState(remote["documents"], blocks, made_at, current, "", remote["address"], remote["folder"])
        try:
            opened = features.open_features(directory)
            made_at = datetime.fromtimestamp((directory / "meta.json").stat().st_mtime, UTC)
        except (CleverdonError, OSError):
            return FeaturesState(0, blocks, None, False)
        with_text = [getattr(block, "documents", 0) for block in opened.blocks]
        return FeaturesState(max(with_text) or opened.size, blocks, made_at, current, built.get("note", ""))
