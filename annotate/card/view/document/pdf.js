// The PDF file of a document: its pages in the browser's viewer, in place of the text, or a link to it.

/** @import { Doc, DrawnDocument, On, Part, View } from "../types.js" */

import { hasNoKeyboard } from "../frame/keys.js";
import { make, setHidden } from "../frame/nodes.js";
import { count, figure } from "../frame/phrases.js";

/** @typedef {NonNullable<Doc["pdf"]>} Pdf */

/** Share of the visible part by which the keys that scroll move: lines, a screen. */
const STEPS = [0, 0.2, 0.85];

/** Ms after the Tab key in which the viewer gets the focus by it. */
const BY_TAB = 500;

/** Ms until the files of what comes next are fetched: the document first. */
const FETCH = 300;

/** Pixels of the viewer beside the page: its scroll bar and edges. */
const BESIDE = 24;

/** Phones have no viewer, or show the first page only. */
const hasViewer = () => navigator.pdfViewerEnabled && !hasNoKeyboard();

/** Chrome's viewer can be shown without its buttons and fields, which need the focus. */
const isBare = () => navigator.userAgent.includes("Chrome/");

/** A link to the file, in a tab of its own. @param {Pdf} pdf @param {string} words */
const fileLink = ({ file }, words) =>
  make("a", { href: file, target: "_blank", rel: "noopener noreferrer", textContent: words });

/** Draws a link to the PDF file. @param {HTMLElement} node @param {Doc} doc */
export function drawPdfLink(node, { pdf }) {
  if (!pdf) return;
  const words = `Open the PDF (${count(pdf.pages, "page")})`;
  node.append(make("p", { className: "cd-picture-link" }, fileLink(pdf, words)));
  setHidden(node, false);
}

/** Says that a full text has no PDF file, with a link to the publication. @param {HTMLElement} node @param {Doc} doc */
export function drawNoPdf(node, { no_pdf: link }) {
  if (link === undefined) return;
  const words = link ? "No PDF is attached. " : "No PDF is attached, and the record has no link.";
  const open = { href: link, target: "_blank", rel: "noopener noreferrer", textContent: "Open the publication" };
  node.append(make("p", { className: "cd-picture-link" }, words, ...(link ? [make("a", open)] : [])));
  setHidden(node, false);
}

/** Open position in the pages of a unit. @typedef {{ pdf: Pdf, drawn: string | null, page: number, top: number }} Place */

/** @param {View} view @param {DrawnDocument} drawn @returns {Part} */
export function pdfPart(view, drawn) {
  const scroller = view.node("scroller");
  const field = view.field("pdfPage");
  /** Whether the annotator reads the text: of the following documents, too. */
  let wantsText = false;
  /** What is shown, and where. @type {Place | null} */
  let shown = null;
  /** Where the annotator left the pages for the text. @type {Place | null} */
  let left = null;
  /** The viewer, and whether it has loaded. @type {HTMLIFrameElement | null} */
  let viewer = null;
  let tabbed = -BY_TAB;

  const pdfOn = () => view.item?.unit.documents[0]?.pdf;
  const hasPages = () => Boolean(pdfOn()?.shown) && hasViewer();

  /** Points of the page's height that are visible. @param {Pdf} pdf */
  function visible({ width }) {
    const { clientHeight, clientWidth } = view.node("pdfFrame");
    return (clientHeight / Math.max(1, clientWidth - BESIDE)) * width;
  }

  /** Shows a page, from this many points below its top. A viewer does not follow a new address: it is a new one. @param {number} page @param {number} top */
  function go(page, top = 0) {
    if (!shown?.pdf.shown) return;
    Object.assign(shown, { page, top });
    // Firefox counts from the bottom of the page, and has its own name for it.
    const place = isBare()
      ? `view=FitH,${Math.round(top)}&toolbar=0&navpanes=0`
      : `pagemode=none&zoom=FitH,${Math.round(shown.pdf.height - top)}`;
    const src = `${shown.pdf.shown}#page=${page}&${place}`;
    const title = `Pages of the PDF file: ${view.item?.unit.documents[0]?.title || "document"}`;
    viewer = make("iframe", { src, title, dataset: { loading: "" } });
    viewer.addEventListener("load", ({ target }) => {
      if (target instanceof HTMLElement) delete target.dataset.loading;
      giveBack();
    });
    if (!isBare()) viewer.addEventListener("mouseleave", giveBack);
    view.node("pdfFrame").replaceChildren(viewer);
    field.value = String(page);
  }

  /** Moves by a share of what is visible; past the end of a page to the next one. @param {number} step */
  function scroll(step) {
    if (!shown || viewer?.dataset.loading !== undefined) return;
    const { pdf, page, top } = shown;
    const [size, sign] = [Math.abs(step), Math.sign(step)];
    const last = Math.max(0, pdf.height - visible(pdf));
    if (size === 3) return go(sign < 0 ? 1 : pdf.pages, sign < 0 ? 0 : last);
    const next = top + sign * (STEPS[size] ?? 0) * visible(pdf);
    if (sign > 0 && top >= last - 1) return page < pdf.pages ? go(page + 1) : undefined;
    if (sign < 0 && top <= 0) return page > 1 ? go(page - 1, last) : undefined;
    return go(page, Math.min(last, Math.max(0, next)));
  }

  /** @param {number} step */
  function turn(step) {
    if (!shown) return;
    const page = Math.min(shown.pdf.pages, Math.max(1, shown.page + step));
    if (page !== shown.page) return go(page);
    view.card.say(step > 0 ? "This is the last page." : "This is the first page.");
  }

  /** Takes the focus back from the viewer, so that the keys judge. */
  function giveBack() {
    if (!viewer || view.active !== viewer || performance.now() - tabbed < BY_TAB) return;
    viewer.blur();
    view.setHidden("pdfHint", true);
  }

  function jump() {
    const page = Number.parseInt(field.value, 10);
    if (shown && page >= 1 && page <= shown.pdf.pages) go(page);
    else if (shown) field.value = String(shown.page);
  }

  function toggle() {
    wantsText = !wantsText;
    view.render();
  }

  drawn.uncover = () => {
    if (shown) toggle();
  };

  /** Applies to pages on screen; says so if nothing is. @param {() => unknown} run */
  const onPages = (run) => ({
    run: () => (view.item ? run() : view.reply()),
    when: () => !view.item || shown !== null,
    refusal: "There are no pages of a PDF file on screen.",
  });

  return {
    actions: {
      pages: {
        run: () => (view.item ? toggle() : view.reply()),
        when: () => !view.item || hasPages(),
        refusal: "This document has no PDF file, or this browser cannot show it.",
      },
      "next-page": onPages(() => turn(1)),
      "previous-page": onPages(() => turn(-1)),
      page: onPages(() => field.select()),
    },
    clicks: { "pdf-focus": giveBack },
    scrolls(step) {
      if (!shown) return false;
      scroll(step);
      return true;
    },
    attach(/** @type {On} */ on) {
      on(field, "change", jump);
      on(window, "keydown", (/** @type {KeyboardEvent} */ { key }) => {
        if (key === "Tab") tabbed = performance.now();
      });
      // The browser tells only that the page lost the focus; then the viewer has it.
      on(window, "blur", () => {
        setTimeout(() => {
          if (!viewer || view.active !== viewer) return;
          if (isBare()) giveBack();
          view.setHidden("pdfHint", view.active !== viewer);
        }, 0);
      });
      on(window, "focus", () => view.setHidden("pdfHint", true));
      return () => {
        viewer?.remove();
        [viewer, shown] = [null, null];
      };
    },
    render(item, turned) {
      const pdf = pdfOn();
      const pages = pdf && hasPages() && !wantsText ? pdf : null;
      scroller.classList.toggle("cd-has-pdf", pages !== null);
      view.setHidden("pdf", !pages);
      view.setHidden("toPages", !pdf || pages !== null || !hasPages());
      if (!pages) {
        if (viewer) view.node("pdfFrame").replaceChildren();
        left = shown ?? left;
        [viewer, shown] = [null, null];
      } else if (!shown || shown.pdf.shown !== pages.shown || shown.drawn !== item?.drawn) {
        view.setText("pdfPages", `of ${figure(pages.pages)}`);
        field.max = String(pages.pages);
        view.node("pdfLink").replaceChildren(fileLink(pages, "Open the PDF"));
        const subject = item?.drawn ?? null;
        const { page, top } = left?.pdf.shown === pages.shown && left.drawn === subject ? left : { page: 1, top: 0 };
        shown = { pdf: pages, drawn: subject, page, top };
        go(page, top);
      }
      const next = view.state.units[1]?.documents[0]?.pdf?.shown;
      if (turned && next && pages) setTimeout(() => fetch(next).catch(() => undefined), FETCH);
    },
  };
}
