"""What is asked of every page: axe-core's rules, the keyboard, and a narrow window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Locator, Page, expect

from tests.browser.waiting import until_on

WIDE, MAGNIFIED, NARROW = (1280, 800), (640, 400), (390, 844)
"""Sizes of a window in pixels: a laptop's, as it is and at 200%, and a phone's."""
THEMES = ("light", "dark")

EXCEPTIONS = {
    # The menu of managers has sections, which Streamlit draws as `div` between the list and its entries.
    ("list", 'data-testid="stSidebarNavItems"'),
    ("listitem", "<li class="),
}
"""Faults of Streamlit's own elements, which no option or style changes: rule, and a part of the element."""

MAIN = "[data-testid=stMain]"
"""The part of a page of the app beside the menu."""

_DEEP = """
  const all = (root) => [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
  const isSeen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: false })
    && e.getClientRects().length;
  const tell = (e) => `<${e.localName} ${[...e.attributes].filter(({ name }) => !/^(class|style|id|d)$/.test(name))
    .map(({ name, value }) => `${name}=${value.slice(0, 60)}`).join(' ')}> ${e.textContent.trim().slice(0, 60)}`;
"""

_AXE = f"""async ([part, once]) => {{{_DEEP}
  const around = part ? document.querySelector(part) : document;
  const run = async (where, options) =>
    (await axe.run(where, {{ resultTypes: ['violations'], ...options }})).violations;
  const rules = {{ 'target-size': {{ enabled: true }}, 'color-contrast': {{ enabled: !once }} }};
  const violations = await run(around, {{ rules }});
  if (once) {{
    const grounds = new Map();  // element -> its opacity and the colours behind it
    const ground = (e) => {{
      if (!e) return '';
      if (!grounds.has(e)) {{
        const {{ opacity, backgroundColor, backgroundImage }} = getComputedStyle(e);
        const behind = ground(e.parentElement ?? e.getRootNode().host);
        grounds.set(e, [opacity, backgroundColor, backgroundImage, behind].join());
      }}
      return grounds.get(e);
    }};
    const looks = new Map();
    for (const e of all(around)) {{
      if (![...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !isSeen(e)) continue;
      const {{ color, fontSize, fontWeight, textShadow }} = getComputedStyle(e);
      looks.set([color, fontSize, fontWeight, textShadow, ground(e)].join(), e);
    }}
    violations.push(...await run([...looks.values()], {{ runOnly: ['color-contrast'] }}));
  }}
  return violations.filter(({{ impact }}) => ['serious', 'critical'].includes(impact)).flatMap(({{ id, nodes }}) =>
    nodes.map((node) => [id, node.html.slice(0, 300), node.failureSummary]));
}}"""

_SIDEWAYS = f"""() => {{{_DEEP}
  const scrollers = [document.documentElement, ...document.querySelectorAll('[data-testid=stMain]')];
  const wide = scrollers.filter((e) => e.scrollWidth > e.clientWidth + 1)
    .map((e) => `the page scrolls sideways by ${{e.scrollWidth - e.clientWidth}}`);
  const parent = (e) => e.parentElement ?? e.getRootNode().host;
  const scrolls = (e) => {{
    for (let up = e; up && up !== document.body; up = parent(up)) {{
      if (up.matches('[data-testid=stMain]')) return false;
      if (/auto|scroll/.test(getComputedStyle(up).overflowX)) return true;
    }}
    return false;
  }};
  const isCut = (e) => {{
    const {{ overflowX, textOverflow }} = getComputedStyle(e), box = e.getBoundingClientRect();
    if (box.right < 1 || box.left > innerWidth || box.width < 2 || box.height < 2 || scrolls(e)) return false;
    const isHidden = /hidden|clip/.test(overflowX) && e.scrollWidth > e.clientWidth + 1 && textOverflow !== 'ellipsis';
    return isHidden || box.right > innerWidth + 1 || box.left < -1;
  }};
  const hasText = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  // Charts keep labels that have no room, and former ones, as texts that nobody sees.
  const isShown = (e) => isSeen(e) && e.getAttribute('opacity') !== '0';
  return [...wide, ...all(document.body).filter((e) => hasText(e) && isShown(e) && isCut(e)).map(tell)];
}}"""

_WATCH = f"""(part) => {{{_DEEP}
  const ids = window.reachIds ??= new Map();
  const name = (e) => {{ if (!ids.has(e)) ids.set(e, ids.size); return ids.get(e); }};
  const isIn = (e, css) => {{
    for (let up = e; up; up = up.parentElement ?? up.getRootNode().host) if (up.matches(css)) return true;
    return false;
  }};
  const active = () => {{
    let e = document.activeElement;
    while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    return e === document.body ? null : e;
  }};
  const look = (e) => {{
    let around = [e];
    for (let up = e, n = 0; up && n < 6; n++, up = up.parentElement) around = [up, ...around];
    around.push(...[...(e.parentElement?.querySelectorAll('*') ?? [])].slice(0, 40));
    return around.map((each) => {{
      const s = getComputedStyle(each);
      return [s.outlineStyle, s.outlineWidth, s.boxShadow, s.borderColor, s.backgroundColor].join();
    }}).join('|');
  }};
  // Arrow keys choose within a group, so Tab leads to one of it.
  const stop = (e) => {{
    if (e.matches('[role=radio]')) return e.closest('[role=radiogroup]') ?? e;
    if (!e.matches('input[type=radio]')) return e;
    return all(document.body).find((other) => other.matches('input[type=radio]') && other.name === e.name);
  }};
  window.reach = {{
    focusable: () => all(document.querySelector(part)).filter((e) => e.tabIndex >= 0 && !e.disabled && isSeen(e)
      && e.matches('a[href], button, input, select, textarea, summary, [tabindex]')
      && !isIn(e, '[inert], [aria-hidden=true], details:not([open]) > :not(summary)'))
      .map((e) => [name(stop(e)), tell(e)]),
    at: () => {{
      const e = window.reachLast = active();
      if (!e) return null;
      window.reachLook = look(e);
      const box = e.getBoundingClientRect();
      const isCell = Boolean(e.closest('canvas'));  // the table draws the focus itself
      return [name(isCell ? e.closest('canvas') : stop(e)), tell(e), isCell || (box.right > 0 && box.left < innerWidth),
        isCell || e.matches('textarea, input:not([type]), input[type=text], input[type=number], input[type=password]'),
        isIn(e, part)];
    }},
    // Where the focus is now, and whether the element that it has left looks different without it.
    step: () => {{
      const differs = !window.reachLast?.isConnected || look(window.reachLast) !== window.reachLook;
      return [differs, window.reach.at()];
    }},
  }};
}}"""

STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"


def axe_faults(page: Page, part: str | None = None, *, once: bool = False) -> list[tuple[str, str, str]]:
    """Serious and critical faults that axe-core finds on a page, or a part: the rule, the element, what is wrong.

    Of texts that look alike, on the same grounds, the contrast may be computed `once`: it takes longest by far.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return [(rule, html, why) for rule, html, why in page.evaluate(_AXE, [part, once])]


def require_no_faults(
    page: Page, where: str, themes: Sequence[str] = THEMES, part: str | None = None, *, once: bool = False
) -> None:
    """Fail if axe-core finds a serious or critical fault in one of these themes, other than the exceptions."""
    page.add_style_tag(content=STILL)
    for theme in themes:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        if page.get_by_test_id("stApp").count():
            expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", theme)
        # Charts and tables are drawn in the new theme somewhat later.
        unexpected = partial(_unexpected, page, part, once)
        until_on(page, lambda there=unexpected: not there(), f"no fault, {where}, {theme}", unexpected)


def _unexpected(page: Page, part: str | None, once: bool) -> list[tuple[str, str, str]]:
    return [fault for fault in axe_faults(page, part, once=once) if not any(map(partial(_is, fault), EXCEPTIONS))]


def _is(fault: tuple[str, str, str], exception: tuple[str, str]) -> bool:
    return fault[0] == exception[0] and exception[1] in fault[1]


def unused_exceptions(page: Page) -> set[tuple[str, str]]:
    """The exceptions that no fault of a page is."""
    found = axe_faults(page)
    return {exception for exception in EXCEPTIONS if not any(_is(fault, exception) for fault in found)}


def resize(page: Page, size: tuple[int, int]) -> None:
    """Give the window another size."""
    page.set_viewport_size({"width": size[0], "height": size[1]})


def sideways(page: Page) -> list[str]:
    """What makes a page scroll sideways, and texts that are cut off."""
    return list(page.evaluate(_SIDEWAYS))


def walk(page: Page, part: str | None = None) -> list[str]:
    """Walk once through a page, or a part, by Tab; what is not reached, off the screen, or shows no focus.

    A page that is redrawn meanwhile has other elements at the end: what it lacks counts if a second walk finds it, too.
    """
    first = _walk_once(page, part)
    if not first:
        return first
    if page.get_by_test_id("stApp").count():
        settled(page)
    page.evaluate("document.activeElement?.blur()")
    return _walk_once(page, part)


def _walk_once(page: Page, part: str | None, most: int = 500) -> list[str]:
    page.add_style_tag(content=STILL)
    page.evaluate(_WATCH, part or "body")
    if part:  # the next Tab leads to its first element
        page.locator(part).evaluate("(e) => { e.tabIndex = -1; e.focus(); e.blur(); }")
    reached: dict[int, str] = {}
    problems: dict[str, None] = {}
    last: Any = None
    for _ in range(most):
        page.keyboard.press("Tab")
        before, (differs, last) = last, page.evaluate("reach.step()")
        if before and not before[3] and not differs:
            problems[f"does not show the focus: {before[1]}"] = None
        if part and reached and not (last and last[4]):
            break
        if last is None:
            continue
        if last[0] in reached and list(reached)[-1] != last[0]:
            break
        reached[last[0]] = last[1]
        if not last[2]:
            problems[f"is off the screen: {last[1]}"] = None
    else:
        problems["the walk does not end"] = None
    for name, told in page.evaluate("reach.focusable()"):
        if name not in reached:
            problems[f"is not reached: {told}"] = None
    return list(problems)


def settled(page: Page) -> None:
    """Wait until a page of the app is drawn, with the elements whose scripts come later, which move others."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)


def unfold(page: Page) -> None:
    """Open all expanders.

    Those that are closed now are clicked at once: a redraw may remove them, and a waiting click would time out.
    """
    closed = page.locator("details:not([open]) > summary:visible").and_(page.locator(":not([inert] *)"))
    while closed.count():
        closed.evaluate_all("summaries => summaries.forEach((summary) => summary.click())")
        settled(page)


def states(page: Page) -> Iterator[str]:
    """Draw a page of the app in each of its states: unfolded, then each tab and each choice of details."""
    settled(page)
    unfold(page)
    yield ""
    settled(page)
    main = page.get_by_test_id("stMain")
    for kind in (main.get_by_role("tab"), main.get_by_test_id("stButtonGroup").get_by_role("radio")):
        names = [each.inner_text() for each in kind.all()]
        for name in dict.fromkeys(names[1:]):
            _choose(page, kind.filter(has_text=name).first)
            yield name


def _choose(page: Page, choice: Locator) -> None:
    # What has the focus or the pointer may show a tooltip, which covers others.
    page.evaluate("document.activeElement?.blur()")
    page.mouse.move(0, 0)
    expect(page.get_by_test_id("stTooltipContent")).to_have_count(0)
    choice.click()
    settled(page)
    unfold(page)
