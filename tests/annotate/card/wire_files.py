"""Write what other languages know of the wire format of the cards: TypeScript declarations and a JSON Schema.

`make wire` runs this; `tests/annotate/card/server/test_wire.py` fails while a file is stale.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from annotate.card.server import history_wire, nugget_wire, unit_wire, wire
from annotate.card.server.route_types import ROUTES

HERE = Path(__file__).parent
DECLARATIONS = HERE.parents[2] / "annotate" / "card" / "wire.d.ts"
SCHEMA = HERE / "wire.schema.json"
PRIMITIVES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
Schema = dict[str, Any]


def comments() -> dict[str, dict[str, str]]:
    """The comment after each field, by class and field."""
    source = "\n".join(map(inspect.getsource, (wire, history_wire, nugget_wire, unit_wire)))
    lines = source.splitlines()
    found: dict[str, dict[str, str]] = {}
    for record in ast.parse(source).body:
        if isinstance(record, ast.ClassDef):
            of = found[record.name] = {}
            for base in record.bases:
                of |= found.get(ast.unparse(base), {})
            for field in record.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    of[field.target.id] = lines[field.lineno - 1].partition("  # ")[2]
    return found


COMMENTS = comments()


def schema_of(kind: Any, records: dict[str, Schema]) -> Schema:
    """The JSON Schema of a type; those of the records in it are added to `records`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is object:
        return {}
    if kind in PRIMITIVES:
        return {"type": PRIMITIVES[kind]}
    if is_typeddict(kind):
        if kind.__name__ not in records:
            records[kind.__name__] = {}  # a record may contain itself
            records[kind.__name__] |= record_of(kind, records)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin in (Annotated, NotRequired):
        bounds = [{"maxItems": mark.items} for mark in arguments[1:] if isinstance(mark, wire.Most)]
        return schema_of(arguments[0], records) | (bounds[0] if bounds else {})
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each, records) for each in arguments]}
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0], records)}
    if origin is tuple:
        places = [schema_of(each, records) for each in arguments]
        return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}
    if origin in (dict, Mapping):
        names = {} if arguments[0] is str else {"propertyNames": schema_of(arguments[0], records)}
        return {"type": "object", **names, "additionalProperties": schema_of(arguments[1], records)}
    raise TypeError(f"expected a type that JSON has, found {kind!r}")


def record_of(kind: Any, records: dict[str, Schema]) -> Schema:
    """The JSON Schema of a TypedDict, which allows no other fields."""
    properties = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        said = COMMENTS[kind.__name__][name]
        properties[name] = schema_of(hint, records) | ({"description": said} if said else {})
    return {
        "description": inspect.cleandoc(kind.__doc__),
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in kind.__required_keys__],
        "additionalProperties": False,
    }


def list_bounds(request: Any) -> dict[str, int]:
    """The most items of each bounded list of a request, by field; not of lists within its records."""
    fields = record_of(request, {})["properties"].items()
    return {name: part["maxItems"] for name, part in fields if "maxItems" in part}


def schema() -> Schema:
    """One definition for each record; the root is an object of routes with `request` and `answer`."""
    records: dict[str, Schema] = {}
    routes = {
        path: {
            "type": "object",
            "properties": {name: schema_of(kind, records) for name, kind in types._asdict().items()},
            "additionalProperties": False,
        }
        for path, types in ROUTES.items()
    }
    schema_of(wire.ErrorAnswer, records)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": dict(sorted(records.items())),
        "type": "object",
        "properties": routes,
        "additionalProperties": False,
    }


def typescript(part: Schema) -> str:
    """A JSON Schema as a TypeScript type."""
    if "$ref" in part:
        return str(part["$ref"]).rpartition("/")[2]
    if "enum" in part:
        return " | ".join(map(json.dumps, part["enum"]))
    if "anyOf" in part:
        return " | ".join(map(typescript, part["anyOf"]))
    if "prefixItems" in part:
        return f"[{', '.join(map(typescript, part['prefixItems']))}]"
    if part.get("type") == "array":
        items = typescript(part["items"])
        return f"({items})[]" if " | " in items else f"{items}[]"
    if part.get("type") == "object":
        names, partial = part.get("propertyNames"), "additionalProperties"
        record = f"Record<{typescript(names) if names else 'string'}, {typescript(part[partial])}>"
        return f"Partial<{record}>" if names else record
    return {"integer": "number"}.get(part.get("type", ""), part.get("type", "unknown"))


def jsdoc(words: str, indent: str = "") -> str:
    """A comment in JSDoc; nothing for no words."""
    lines = words.replace("``", "`").splitlines()
    if len(lines) <= 1:
        return "".join(f"{indent}/** {line} */\n" for line in lines)
    return "".join([f"{indent}/**\n", *(f"{indent} * {line}".rstrip() + "\n" for line in lines), f"{indent} */\n"])


def declarations() -> str:
    """All records as TypeScript interfaces, and `Routes` with the request and the answer of each route."""
    whole = schema()
    parts = ["// Written by `make wire` from annotate/card/server/*wire.py: do not edit.\n"]
    for name, record in whole["$defs"].items():
        fields = "".join(
            jsdoc(field.get("description", ""), "  ")
            + f"  {label}{'' if label in record['required'] else '?'}: {typescript(field)};\n"
            for label, field in record["properties"].items()
        )
        parts.append(f"{jsdoc(record['description'])}export interface {name} {{{chr(10) if fields else ''}{fields}}}\n")
    routes = ""
    for path, types in whole["properties"].items():
        label = json.dumps(path) if "/" in path else path
        pair = "; ".join(f"{name}: {typescript(kind)}" for name, kind in types["properties"].items())
        routes += f"  {label}: {{ {pair} }};\n"
    parts.append(f"{jsdoc('Request and answer of each route, by path.')}export interface Routes {{\n{routes}}}\n")
    return "\n".join(parts)


def one_per_line(name: str, parts: Schema) -> str:
    """A member of a JSON object, with a line for each of its own."""
    lines = ",\n".join(f"    {json.dumps(key)}: {json.dumps(part, ensure_ascii=False)}" for key, part in parts.items())
    return f"  {json.dumps(name)}: {{\n{lines}\n  }}"


def files() -> dict[Path, str]:
    """The content of each file."""
    whole = schema()
    parts = [f"  {json.dumps(name)}: {json.dumps(part)}" for name, part in whole.items() if not isinstance(part, dict)]
    parts += [one_per_line(name, part) for name, part in whole.items() if isinstance(part, dict)]
    return {DECLARATIONS: declarations(), SCHEMA: "{\n" + ",\n".join(parts) + "\n}\n"}


if __name__ == "__main__":
    for path, content in files().items():
        path.write_text(content, encoding="utf-8")
