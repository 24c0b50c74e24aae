"""The documentation in the browser, at ``/documentation/PAGE``."""

import re
from functools import cache
from html import escape
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from annotate.auth.roles import ANYBODY, open_to
from collection import documentation
from collection.core.errors import UnknownNameError

PATH = "/documentation"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
}
SECTIONS = ("start", "tutorials", "how-to", "explanation", "reference", "operations")
"""The folders of the documentation in the order of the menu."""

_STYLE = """
:root { color-scheme: light dark; --line: #8a93a055; --blue: #1f5fbf; --code: #8a93a022; }
@media (prefers-color-scheme: dark) { :root { --blue: #8ab4f8; } }
* { box-sizing: border-box; }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0; overflow-wrap: anywhere; background: Canvas;
  color: CanvasText; }
.page { max-width: 75em; margin: 0 auto; padding: 1.5em; display: flex; gap: 3em; }
main { flex: 1; min-width: 0; max-width: 48em; }
nav { flex: 0 0 15em; font-size: .9em; }
nav ul { list-style: none; margin: .2em 0 1em; padding: 0; line-height: 1.8; }
h1, h2, h3 { line-height: 1.25; }
a { color: var(--blue); }
:is(a, .table):focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
[aria-current] { font-weight: 700; }
code { font-size: .92em; background: var(--code); border-radius: .25em; padding: .1em .3em; }
pre { background: var(--code); padding: .8em 1em; border-radius: .5em; white-space: pre-wrap; }
pre code { background: none; padding: 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .35em .9em .35em 0; text-align: left; vertical-align: top;
  overflow-wrap: normal; }
blockquote { border-left: 4px solid var(--blue); margin: 1em 0; padding: .1em 1em; background: var(--code); }
img { max-width: 100%; }
@media (max-width: 800px) { .page { display: block; } nav { border-top: 1px solid var(--line); margin-top: 2em; } }
"""


def routes() -> list[Route]:
    """The route of all pages and pictures."""
    return [Route(path, show, methods=["GET"]) for path in (PATH, PATH + "/{name:path}")]


@open_to(ANYBODY)
def show(request: Request) -> Response:
    """Answer with a page, or a picture of one; open to everybody, since it tells nothing about the campaign."""
    name = request.path_params.get("name", "")
    if name in documentation.list_pictures():
        if (file := documentation.folder() / name).is_file():
            return FileResponse(file, headers=HEADERS)
        return Response(documentation.read_picture(name), media_type=documentation.PICTURE, headers=HEADERS)
    if not name or name.endswith((".md", ".ipynb")):
        page = name.removesuffix(".md").removesuffix(".ipynb")
        return RedirectResponse(f"{PATH}/{page or documentation.START}")
    try:
        return HTMLResponse(_draw(name), headers=HEADERS)
    except UnknownNameError:
        body = f'<p>The documentation has no page {escape(name)}.</p><p><a href="{PATH}/index">All pages</a></p>'
        return HTMLResponse(_frame("No such page", body, ""), 404, HEADERS)


@cache
def _draw(name: str) -> str:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = renderer.parse(documentation.read_page(name, rich=True))
    for heading, words in pairwise(tokens):
        if heading.type == "heading_open":  # links lead to its id, which is that of the built documentation
            heading.attrSet("id", re.sub(r"[^\w -]", "", words.content.lower()).replace(" ", "-"))
    body = renderer.renderer.render(tokens, renderer.options, {})
    body = body.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")
    return _frame(documentation.list_pages()[name], body, name)


def _frame(title: str, body: str, name: str) -> str:
    pages = documentation.list_pages()
    menu = [f'<p><a href="{PATH}/index">Cleverdon documentation</a></p>']
    for section in SECTIONS:
        items = [
            f'<li><a href="{PATH}/{page}"{" aria-current=page" if page == name else ""}>{escape(label)}</a></li>'
            for page, label in pages.items()
            if page.startswith(f"{section}/") and not page.endswith("/index")
        ]
        menu += [f"<b>{section.capitalize()}</b><ul>", *items, "</ul>"] if items else []
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} - Cleverdon</title><style>{_STYLE}</style>"
        f'<div class="page"><main>{body}</main><nav aria-label="Documentation">{"".join(menu)}</nav></div></html>'
    )
