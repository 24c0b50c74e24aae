"""HTML of the sign-in pages: plain forms without a script."""

from html import escape

from starlette.responses import HTMLResponse

from collection.accounts import SHORTEST_PASSWORD
from collection.core.characters import without_bidi

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
}
"""The request guard adds the other security headers."""

_STYLE = """
:root { color-scheme: light dark; --line: #8a93a0; --blue: #1f5fbf; --red: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --line: #7a8390; --blue: #8ab4f8; --red: #f2a29b; } }
* { box-sizing: border-box; }
body { font: 17px/1.6 system-ui, sans-serif; max-width: 27em; margin: 12vh auto 2em; padding: 0 1.2em;
  overflow-wrap: anywhere; background: Canvas; color: CanvasText; }
h1 { font-size: 1.6em; line-height: 1.25; margin: 0 0 .6em; }
label { display: block; font-weight: 600; margin: 1em 0 .25em; }
input { font: inherit; width: 100%; padding: .5em .7em; border: 1px solid var(--line); border-radius: .5em;
  background: Field; color: FieldText; }
input[readonly] { background: transparent; }
button, .button { font: inherit; font-weight: 600; display: block; width: 100%; margin: 1.4em 0 0; padding: .6em;
  border: 1px solid var(--blue); border-radius: .5em; background: var(--blue); color: Canvas; cursor: pointer;
  text-align: center; text-decoration: none; }
.second { background: transparent; color: var(--blue); }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
.wrong { color: var(--red); border-left: 4px solid var(--red); padding-left: .8em; margin: 1em 0; }
.hint, .rest { font-size: .9em; opacity: .85; margin: .3em 0 0; }
.rest { margin-top: 2em; }
a { color: var(--blue); }
code { font-size: .95em; }
"""


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    html = without_bidi(
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Cleverdon: {escape(title)}</title><style>{_STYLE}</style>"
        f"<main><h1>{escape(title)}</h1>{body}</main></html>"
    )
    return HTMLResponse(html, status, HEADERS)


def signin(campaign: str, provider: str | None, wrong: str = "", name: str = "", status: int = 200) -> HTMLResponse:
    """Ask for name and password, with a link to the provider if there is one."""
    at_provider, focus = "", " autofocus"
    if provider:
        at_provider = f'<p><a class="button second" href="/at-provider">Sign in with {escape(provider)}</a></p>'
    return _page(
        "Sign in",
        f"<p>{escape(campaign)}</p>{_alert(wrong)}"
        '<form method="post" action="/signin">'
        f'{_name_field(name)} autocapitalize="none" spellcheck="false" maxlength="64" required{"" if name else focus}>'
        f'{_password_field("password", "Password", "current")} maxlength="1000" required{focus if name else ""}>'
        f"<button>Sign in</button></form>{at_provider}"
        '<p class="rest">No password yet, or forgotten? Ask a manager for a link to choose one. '
        "On the server, <code>cleverdon serve DIR</code> prints a sign-in link.</p>",
        status,
    )


def link(campaign: str, name: str, token: str, person: str | None = None) -> HTMLResponse:
    """Show the button that uses a one-time link."""
    return _page(
        "Sign in",
        f"<p>This link signs you in to <b>{escape(campaign)}</b> as <b>{escape(name)}</b>. It works once.</p>"
        f"{_replacing(person, name)}"
        '<form method="post" action="/signin">'
        f'<input type="hidden" name="token" value="{escape(token)}">'
        f"<button autofocus>Sign in as {escape(name)}</button></form>",
    )


def invitation(
    campaign: str, name: str, token: str, wrong: str = "", status: int = 200, person: str | None = None
) -> HTMLResponse:
    """Ask an invited person for a password; sending the form uses the invitation."""
    return _page(
        "Choose a password",
        f"<p>You are invited to <b>{escape(campaign)}</b>. Choose a password to sign in with this name.</p>"
        f"{_alert(wrong)}{_replacing(person, name)}"
        '<form method="post" action="/invitation">'
        f'<input type="hidden" name="token" value="{escape(token)}">{_name_field(name)} readonly>'
        f'{_password_field("password", "Password", "new")} minlength="{SHORTEST_PASSWORD}" maxlength="1000" '
        'aria-describedby="hint" required autofocus>'
        f'<p class="hint" id="hint">At least {SHORTEST_PASSWORD} characters. A few unrelated words make a good '
        "password.</p>"
        f'{_password_field("again", "Repeat password", "new")} maxlength="1000" required>'
        "<button>Save and sign in</button></form>",
        status,
    )


def expired_link() -> HTMLResponse:
    """Refuse a link that has been used, has expired or is unknown."""
    return _page(
        "This link is not valid",
        "<p>It has been used, has expired, or belongs to another campaign or review.</p>"
        "<p>If you have signed in on this browser before, open <a href='/'>the app</a>. If you have a password, "
        "<a href='/signin'>sign in</a>.</p>"
        '<p class="rest">Otherwise ask a manager for a new link. On the server, '
        "<code>cleverdon serve DIR</code> prints one.</p>",
        403,
    )


def refused(why: str, status: int = 403) -> HTMLResponse:
    """Refuse a request, with the reason."""
    return _page("Request refused", f"<p>{escape(why)}</p><p><a href='/signin'>Sign in</a></p>", status)


def failed(reason: str) -> HTMLResponse:
    """Answer a request that failed unexpectedly."""
    return _page("Something went wrong", f"<p>{escape(reason)}</p><p><a href='/'>Open the app again</a></p>", 500)


def _replacing(person: str | None, name: str) -> str:
    """Warn a person who is signed in on the browser under another name."""
    is_other = person not in (None, name)
    return _alert(f"This browser is signed in as {person}. Continuing signs {person} out." if is_other else "")


def _name_field(name: str) -> str:
    """The name field, without its last attributes and the closing bracket."""
    value = f'value="{escape(name)}" autocomplete="username"'
    return f'<label for="name">Name</label><input id="name" name="name" {value}'


def _password_field(name: str, label: str, which: str) -> str:
    attributes = f'id="{name}" name="{name}" type="password" autocomplete="{which}-password"'
    return f'<label for="{name}">{label}</label><input {attributes}'


def _alert(wrong: str) -> str:
    return f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
