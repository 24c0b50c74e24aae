"""The nuggets of topics: pieces of information that an answer should, or should not, contain."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from collection.campaign.settings.settings import Settings
from collection.core.characters import one_line, require_writable
from collection.core.errors import ConflictError, InputError, require_known
from collection.store import Added, EditKind, Nugget, NuggetEdit, Store

IMPORTANCES = ("vital", "okay", "")
"""Importance of a nugget, "" for unknown."""

IMPORTED = "imported"
"""Annotator of nuggets imported from a file."""

Place: TypeAlias = tuple[str, int | None, int | None]
"""A document, and start and end of a passage in characters of its text as it is shown; None for all of it."""

PROPOSAL, PROPOSED_BY = "proposal", "proposed_by"
"""Fields that name the model or file that proposed a nugget, before and after a person accepts it."""

PROPOSAL_ID = "p"
"""Prefix of the ids of proposals, which leaves the numbers to the nuggets of imported files."""

EXTRA = ("question", "answers", "sub_narrative", "source")
"""Columns of a file of nuggets that are kept as fields."""


@dataclass(eq=False)
class Nuggets:
    """The nuggets of topics: an append-only log of edits, and the list that results from them.

    A nugget has a version, which increases when its text changes, so that each label belongs to one text. The list has
    no proposals that nobody has accepted yet.
    """

    store: Store
    settings: Settings

    def current(self, query_id: str | None = None) -> list[Nugget]:
        """Return the current nuggets of a topic or of all, in order, without proposals."""
        return [each for each in self.store.answers.nuggets(query_id) if PROPOSAL not in each.fields]

    def proposals(self, query_id: str | None = None) -> list[Nugget]:
        """Return the nuggets that a model or a file proposes (field `proposal`) and nobody has accepted yet.

        Those whose text the topic has as a nugget by now, apart from case and white space, are left out.
        """
        known = {(each.query_id, _folded(each.text)) for each in self.current(query_id)}
        return [
            each
            for each in self.store.answers.nuggets(query_id)
            if PROPOSAL in each.fields and (each.query_id, _folded(each.text)) not in known
        ]

    def makers(self, query_id: str) -> dict[str, tuple[str, ...]]:
        """Return the makers of each nugget that a topic ever had: people, or the model or file that proposed it.

        A merged or split nugget has the makers of its origins.
        """
        makers: dict[str, tuple[str, ...]] = {}
        for nugget, kind, annotator, *_ in self.log(query_id):
            if kind == "added":  # once more for an id that a proposal has left to the nugget of a file
                makers[nugget.nugget] = (str(nugget.fields.get(PROPOSAL) or annotator),)
            elif nugget.nugget not in makers:
                makers[nugget.nugget] = tuple(
                    dict.fromkeys(maker for origin in nugget.origins for maker in makers.get(origin, ()))
                )
        return makers

    def table(self) -> pd.DataFrame:
        """Return all current nuggets: :data:`~collection.core.frames.NUGGETS`, with ``version``."""
        rows = [
            {
                "query_id": each.query_id, "nugget": each.nugget, "text": each.text, "importance": each.importance,
                "weight": math.nan if each.weight is None else each.weight, "version": each.version, **each.fields,
            }
            for each in self.current()
        ]  # fmt: skip
        columns = ["query_id", "nugget", "text", "importance", "weight", "version"]
        frame = pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)
        return frame.astype(
            {"query_id": "str", "nugget": "str", "text": "str", "importance": "str", "weight": "float64"}
        )

    def log(self, query_id: str | None = None) -> list[NuggetEdit]:
        """Return the log of edits, oldest first: a nugget after an edit, with kind, annotator and time of the edit."""
        return self.store.answers.nugget_log(query_id)

    def add(
        self,
        query_id: str,
        text: str,
        *,
        annotator: str,
        importance: str = "",
        weight: float | None = None,
        sources: Iterable[Place] = (),
        edit: str | None = None,
        **fields: Any,
    ) -> Nugget:
        """Add a nugget at the end of a topic's list; `sources` are the passages that contain it.

        Raises InputError for an empty text, and UnknownNameError for an unknown topic or importance.
        """
        self.settings.require_topic(query_id)
        with self.store.transaction():
            (nugget,) = self._new(query_id, [text], importance, weight, tuple(sources))
            nugget = nugget._replace(fields=fields)
            self.store.answers.log_nuggets([nugget], "added", annotator, edit=edit)
        return nugget

    def change(self, query_id: str, nugget: str, *, annotator: str, edit: str | None = None, **changes: Any) -> Nugget:
        """Change `text`, `importance`, `weight`, `sources` or `fields` of a nugget; a new text gives it a new version.

        Changing a proposal accepts it. Changes with the same `edit`, a uuid, are undone together.
        """
        with self.store.transaction():
            known = self._get(query_id, nugget)
            require_known("field of a nugget", ("text", "importance", "weight", "sources", "fields"), *changes)
            changed = _checked(known._replace(**changes))
            if changed != known:
                if changed.text != known.text:
                    changed = changed._replace(version=self._last_version(query_id, nugget) + 1)
                changed = changed._replace(fields=_accepted(changed.fields))
                self.store.answers.log_nuggets([changed], "changed", annotator, edit=edit)
        return changed

    def accept(self, query_id: str, nugget: str, *, annotator: str, edit: str | None = None, **changes: Any) -> Nugget:
        """Accept a proposal, optionally with changes; its field `proposed_by` names the model or file."""
        with self.store.transaction():
            fields = _accepted(self._get(query_id, nugget).fields)
            return self.change(query_id, nugget, annotator=annotator, edit=edit, fields=fields, **changes)

    def propose(self, nuggets: pd.DataFrame, source: str, *, annotator: str) -> int:
        """Add nuggets (:data:`~collection.core.frames.NUGGETS`) as proposals of a model or file; return their number.

        Texts that a topic already has, apart from case and white space, are left out. Raises UnknownNameError for an
        unknown topic.
        """
        require_writable(source, "source of proposals")
        if not one_line(source):
            raise InputError("source of proposals: expected the name of a model or file, found none")
        added = 0
        with self.store.transaction():
            for query_id, rows in nuggets.groupby("query_id", sort=False):
                topic = str(query_id)
                self.settings.require_topic(topic)
                known = {_folded(each.text) for each in self.store.answers.nuggets(topic)}
                folded = rows["text"].map(_folded)
                other = rows[~folded.isin(known) & ~folded.duplicated()]
                proposals = [
                    _checked(
                        new._replace(
                            importance=str(row["importance"]),
                            weight=None if pd.isna(row["weight"]) else float(row["weight"]),
                            fields=_extra_fields(row) | {PROPOSAL: one_line(source)},
                        )
                    )
                    for new, row in zip(
                        self._new(topic, other["text"].tolist(), "", None, (), PROPOSAL_ID),
                        other.to_dict("records"),
                        strict=True,
                    )
                ]
                self.store.answers.log_nuggets(proposals, "added", annotator)
                added += len(proposals)
        return added

    def delete(self, query_id: str, *nuggets: str, annotator: str, edit: str | None = None) -> None:
        """Delete nuggets; their labels stay in the log."""
        with self.store.transaction():
            ended = [self._get(query_id, nugget)._replace(deleted=True) for nugget in dict.fromkeys(nuggets)]
            self.store.answers.log_nuggets(ended, "deleted", annotator, edit=edit)

    def undo(self, query_id: str, *, annotator: str) -> EditKind | None:
        """Undo the last edit of an annotator in a topic that is not undone yet; return its kind, or None without one.

        Raises ConflictError if somebody has changed one of its nuggets since.
        """
        with self.store.transaction():
            log = self.log(query_id)
            undone = {each.edit for each in log if each.kind == "undone"}
            standing = [each for each in log if each.edit not in undone]
            own = [each for each in standing if each.annotator == annotator]
            if not own:
                return None
            _, kind, _, _, edit = own[-1]
            states = {each.nugget: each for each, *_ in log}
            rows: dict[str, list[NuggetEdit]] = {}
            for each in standing:
                rows.setdefault(each.nugget.nugget, []).append(each)
            restored = [
                _before(edit, rows[name], states[name])
                for name in dict.fromkeys(each.nugget.nugget for each in standing if each.edit == edit)
            ]
            self.store.answers.log_nuggets(restored, "undone", annotator, edit=edit)
        return kind

    def merge(self, query_id: str, nuggets: Sequence[str], text: str, *, annotator: str) -> Nugget:
        """Merge nuggets into one with this text, at the position of the first, with the highest importance."""
        with self.store.transaction():
            merged = [self._get(query_id, nugget) for nugget in dict.fromkeys(nuggets)]
            if len(merged) < 2:
                raise InputError(f"nuggets: expected 2 or more to merge, found {len(merged)}")
            importance = min((each.importance for each in merged), key=IMPORTANCES.index)
            sources = tuple(dict.fromkeys(source for each in merged for source in each.sources))
            weights = [each.weight for each in merged if each.weight is not None]
            (whole,) = self._new(query_id, [text], importance, max(weights, default=None), sources)
            whole = whole._replace(
                position=min(each.position for each in merged), origins=tuple(each.nugget for each in merged)
            )
            whole = whole._replace(fields=_origin_fields(merged))
            self._log_end(merged, "merged", annotator, whole)
        return whole

    def split(self, query_id: str, nugget: str, texts: Sequence[str], *, annotator: str) -> Sequence[Nugget]:
        """Replace a nugget by several with these texts, in its place, with its importance and sources."""
        with self.store.transaction():
            whole = self._get(query_id, nugget)
            if len(texts) < 2:
                raise InputError(f"texts: expected 2 or more parts, found {len(texts)}")
            later = [each.position for each in self.current(query_id) if each.position > whole.position]
            step = (min(later, default=whole.position + 1) - whole.position) / len(texts)
            parts = [
                part._replace(position=whole.position + place * step, origins=(whole.nugget,))
                for place, part in enumerate(self._new(query_id, texts, whole.importance, whole.weight, whole.sources))
            ]
            parts = [part._replace(fields=_origin_fields([whole])) for part in parts]
            self._log_end([whole], "split", annotator, *parts)
        return parts

    def arrange(self, query_id: str, order: Sequence[str], *, annotator: str, edit: str | None = None) -> None:
        """Put the nuggets of a topic into this order; nuggets that it does not name follow."""
        with self.store.transaction():
            known = {each.nugget: each for each in self.store.answers.nuggets(query_id)}
            require_known("nugget", known, *order)
            arranged = [known[name] for name in dict.fromkeys([*order, *known])]
            moved = [
                each._replace(position=float(place))
                for place, each in enumerate(arranged, start=1)
                if each.position != place
            ]
            self.store.answers.log_nuggets(moved, "moved", annotator, edit=edit)

    def import_table(self, nuggets: pd.DataFrame, *, annotator: str = IMPORTED, replace: bool = False) -> Added:
        """Add the nuggets of a file (:data:`~collection.core.frames.NUGGETS`), which keep their ids.

        A nugget that the campaign has with other content is changed with `replace`, and raises ConflictError otherwise.
        Nuggets that are no longer listed (see :meth:`ended`) stay deleted. A proposal whose id the file has gets
        another.
        """
        new = changed = same = 0
        with self.store.transaction():
            nuggets = nuggets[~self.ended(nuggets)]
            ids = set(zip(nuggets["query_id"].astype("str"), nuggets["nugget"].astype("str"), strict=True))
            yielding = [
                each
                for each in self.store.answers.nuggets()
                if PROPOSAL in each.fields and (each.query_id, each.nugget) in ids
            ]
            self.store.answers.log_nuggets((each._replace(deleted=True) for each in yielding), "deleted", annotator)
            known = {(each.query_id, each.nugget): each for each in self.store.answers.nuggets()}
            versions, ends = dict[tuple[str, str], int](), dict[str, float]()
            for each, *_ in self.log():
                key = each.query_id, each.nugget
                versions[key] = max(each.version, versions.get(key, 0))
                ends[each.query_id] = max(each.position, ends.get(each.query_id, 0.0))
            for row in nuggets.to_dict("records"):
                key = str(row["query_id"]), str(row["nugget"])
                weight = None if pd.isna(row["weight"]) else float(row["weight"])
                fields = _extra_fields(row)
                before = known.get(key)
                position = ends.get(key[0], 0.0) + 1 if before is None else before.position
                imported = _checked(
                    (before or Nugget(*key, "", position=position))._replace(
                        text=str(row["text"]), importance=str(row["importance"]), weight=weight, fields=fields
                    )
                )
                if imported == before:
                    same += 1
                    continue
                if before is not None and not replace:
                    raise ConflictError(
                        f"nugget {key[1]!r} of topic {key[0]!r} is already in the campaign with other content; use "
                        "--replace"
                    )
                new, changed = new + (before is None), changed + (before is not None)
                if before is None or imported.text != before.text:
                    imported = imported._replace(version=versions.get(key, 0) + 1)
                ends[key[0]] = max(position, ends.get(key[0], 0.0))
                self.store.answers.log_nuggets([imported], "added" if before is None else "changed", annotator)
            for each in yielding:
                (new_id,) = self._new(each.query_id, [each.text], "", None, (), PROPOSAL_ID)
                renamed = each._replace(nugget=new_id.nugget, version=1)
                self.store.answers.log_nuggets([renamed], "added", annotator)
        return Added(new, changed, same)

    def ended(self, nuggets: pd.DataFrame) -> pd.Series:
        """Return for each nugget of a file whether the campaign had it, with this text, and has deleted it since.

        A merged or split nugget is deleted as well. A proposal that nobody accepted was no nugget.
        """
        had: set[tuple[str, str, str]] = set()
        listed: dict[tuple[str, str], bool] = {}
        for each, *_ in self.log():
            if PROPOSAL in each.fields:
                continue
            had.add((each.query_id, each.nugget, each.text))
            listed[each.query_id, each.nugget] = not each.deleted
        rows = zip(nuggets["query_id"].astype("str"), nuggets["nugget"], nuggets["text"], strict=True)
        return pd.Series(
            [
                not listed.get((topic, nugget), True) and (topic, nugget, text.strip()) in had
                for topic, nugget, text in rows
            ],
            index=nuggets.index,
            dtype="bool",
        )

    def _get(self, query_id: str, nugget: str) -> Nugget:
        known = {each.nugget: each for each in self.store.answers.nuggets(query_id)}
        require_known(f"nugget of topic {query_id!r}", known, nugget)
        return known[nugget]

    def _last_version(self, query_id: str, nugget: str) -> int:
        """Return the highest version that a nugget ever had; an undone version is not reused for another text."""
        return max(each.version for each, *_ in self.log(query_id) if each.nugget == nugget)

    def _log_end(self, ended: Iterable[Nugget], kind: EditKind, annotator: str, *new: Nugget) -> None:
        """Log deleted nuggets and the nuggets that replace them as one edit."""
        self.store.answers.log_nuggets([*(each._replace(deleted=True) for each in ended), *new], kind, annotator)

    def _new(
        self,
        query_id: str,
        texts: Sequence[str],
        importance: str,
        weight: float | None,
        sources: tuple[Place, ...],
        prefix: str = "",
    ) -> Sequence[Nugget]:
        """Return new nuggets at the end of a topic, with ids (`prefix` and a number) that none of them ever had."""
        log = [each for each, *_ in self.log(query_id)]
        numbers = [each.nugget.removeprefix(prefix) for each in log if each.nugget.startswith(prefix)]
        first = max((int(number) for number in numbers if number.isdecimal()), default=0) + 1
        end = max((each.position for each in log), default=0.0) + 1
        return [
            _checked(
                Nugget(query_id, f"{prefix}{first + place}", text, importance, weight, end + place, sources=sources)
            )
            for place, text in enumerate(texts)
        ]


def _before(edit: str, rows: Sequence[NuggetEdit], now: Nugget) -> Nugget:
    """Return a nugget as it was before an edit; `rows` are its edits that are not undone. Reordering is kept."""
    place = next(place for place, each in enumerate(rows) if each.edit == edit)
    kinds = {each.kind for each in rows if each.edit == edit}
    if not place:
        before = now._replace(deleted=True)
    elif kinds == {"moved"}:
        return now._replace(position=rows[place - 1].nugget.position)
    else:
        before = rows[place - 1].nugget
    later = [each for each in rows[place:] if each.edit != edit and each.kind != "moved"]
    if later:
        raise ConflictError(
            f"nugget {now.nugget!r} of topic {now.query_id!r}: {later[-1].annotator} has changed it since, so the "
            "edit cannot be undone"
        )
    return before if "moved" in kinds else before._replace(position=now.position)


def _extra_fields(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    """Return the fields that a nugget of a file has, as the log gives them back."""
    given = {name: row[name] for name in EXTRA if _is_given(row.get(name))}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _accepted(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an accepted nugget, in which `proposal` becomes `proposed_by`."""
    return {PROPOSED_BY if name == PROPOSAL else name: value for name, value in fields.items()}


def _origin_fields(nuggets: Iterable[Nugget]) -> dict[str, Any]:
    """Return the field `proposed_by` of a merged or split nugget, if a model or file proposed its origins."""
    sources = dict.fromkeys(str(by) for each in nuggets if (by := _accepted(each.fields).get(PROPOSED_BY)))
    return {PROPOSED_BY: ", ".join(sources)} if sources else {}


def _folded(text: str) -> str:
    """Return a text as texts of nuggets are compared, without differences of case and white space."""
    return one_line(text).casefold()


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value)) and value not in ("", (), [])


def _checked(nugget: Nugget) -> Nugget:
    """Return a nugget with a stripped text; raises InputError if its text or importance is invalid."""
    require_writable(nugget.text, "text of a nugget")
    text = nugget.text.strip()
    if not one_line(text):
        raise InputError(f"text of a nugget of topic {nugget.query_id!r}: expected a text, found none")
    require_known("importance", IMPORTANCES, nugget.importance)
    return nugget._replace(text=text)
