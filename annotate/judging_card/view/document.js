// The document to grade: as it is read, whole or folded, with its pictures.

/** @import { Doc, Item, Place } from "../core/types.js" */
/** @import { On, Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { DrawnDocument, fetchWhole } from "./drawn_document.js";
import { make } from "./nodes.js";
import { figure } from "./phrases.js";
import { fetchPictures, pictureNode, shownPictures } from "./pictures.js";
import { Ruler } from "./places.js";

/** Ms until the pictures of what comes next are fetched: not while fast keys go through documents. */
const FETCH_PICTURES = 100;

/** How one document is read: whole, or folded with these gaps opened. @typedef {{ whole?: boolean, opened: Place[] }} Reading */

/** @type {Reading} */
const USUAL = { opened: [] };

/** @implements {Part} */
export class DocumentPart {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    const { title, docId: id, chips, pictures, text, missing } = view.nodes;
    const nodes = /** @type {import("./drawn_document.js").DocumentNodes} */ ({
      title,
      id,
      chips,
      pictures,
      text,
      missing,
    });
    this.drawn = new DrawnDocument(nodes, { chips: 12, title: Number.POSITIVE_INFINITY });
    this.scroller = view.node("scroller");
    this.isScrolled = false;
    /** By unit. @type {Map<string, Reading>} */
    this.readings = new Map();
    /** The picture that is shown large. */
    this.at = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {import("./pictures.js").Picture | null} */
    this.large = null;
    this.actions = {
      whole: {
        run: () => this.showWhole(),
        when: () => !this.doc || Boolean(this.doc.excerpts?.length || this.doc.truncated),
        refusal: "This is the full text.",
      },
      picture: {
        run: () => this.showPicture(view.panel === "picture" ? this.at + 1 : 0),
        when: () => !this.doc || shownPictures(this.doc).length > 0,
        refusal: "This document has no pictures.",
      },
    };
    /** @type {Part["clicks"]} */
    this.clicks = {
      "show-all": () => this.fetchWhole(),
      "open-gap": ({ dataset: { start, end } }) => this.openGap([Number(start), Number(end)]),
      enlarge: ({ dataset: { picture } }) => this.showPicture(Number(picture)),
      "picture-size": () => view.node("large").classList.toggle("cd-own-size"),
    };
    this.panels = {
      picture: {
        node: "picturePanel",
        beside: true,
        isOfUnit: true,
        render: () => this.renderPicture(),
        left: () => {
          this.large = null;
        },
      },
    };
  }

  get sheet() {
    return this.drawn.sheet;
  }

  /** The one on screen. @returns {Doc | null} */
  get doc() {
    return this.view.item?.unit.documents[0] ?? null;
  }

  get reading() {
    return this.readings.get(this.view.item?.unit.id ?? "") ?? USUAL;
  }

  /** Whether only the passages of a document are shown that match its topic. @param {Doc} doc */
  isFolded(doc) {
    return Boolean(doc.excerpts?.length) && !(this.reading.whole ?? this.view.own.long === "whole");
  }

  /** @param {Item | null} item @param {boolean} turned */
  render(item, turned) {
    const { drawn, scroller, view } = this;
    const doc = item?.unit.documents[0] ?? null;
    if (turned && this.isScrolled) {
      // before the new text, while the layout is still valid
      scroller.scrollTop = 0;
      this.isScrolled = false;
    }
    view.setHidden("document", doc === null);
    if (!doc) return;
    const isFolded = this.isFolded(doc);
    drawn.draw(doc, isFolded ? this.reading.opened : null);
    view.setHidden("calibration", !doc.calibration);
    view.node("document").classList.toggle("cd-alone", doc.text === "" && doc.images.length > 0);
    this.renderMore(doc, isFolded);
    if (!turned) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      for (const unit of view.state.units.slice(1, 3)) unit.documents.forEach(fetchPictures);
    }, FETCH_PICTURES);
  }

  /** What is not shown of a long text, and how it is had. @param {Doc} doc @param {boolean} isFolded */
  renderMore(doc, isFolded) {
    const { reading, view } = this;
    const all = `Show all (${figure(doc.length)} characters)`;
    view.setHidden("more", !doc.truncated || isFolded);
    view.setText("showAll", all);
    view.setText("cap", `Showing the first ${figure(view.data.text_cap)} characters.`);
    const [first, ...others] = doc.excerpts ?? [];
    view.setHidden("folding", !first);
    if (!first) return;
    // Where nothing matches, the server gives the beginning alone.
    const isBeginning = first[0] === 0 && !others.length && !doc.terms.some(([start]) => start < first[1]);
    let says = "Showing the full text.";
    if (isFolded && reading.opened.length) says = "Showing passages that match the topic, and those you opened.";
    else if (isFolded && isBeginning) says = "Showing only the beginning: no passage matches the topic.";
    else if (isFolded) says = "Showing only passages that match the topic.";
    view.setText("foldingSays", says);
    view.setText("foldingDo", isFolded ? all : "Show passages only");
  }

  // -------------------------------------------------------------------------------------- long documents

  /** Shows the whole text, or only its passages again. */
  async showWhole() {
    const { doc, view } = this;
    if (!doc) return view.card.dispatch({ type: "notice", notice: { code: "nothing-here", urgent: true } });
    if (!doc.excerpts?.length) return this.fetchWhole();
    const isFolded = this.isFolded(doc);
    const read = this.reader({ whole: isFolded, opened: [] });
    return (!isFolded || (await this.fetchWhole())) && this.keepPlace(read);
  }

  /** Shows the hidden text between two passages. @param {Place} gap */
  async openGap(gap) {
    const { doc } = this;
    if (!doc) return;
    const read = this.reader({ ...this.reading, opened: [...this.reading.opened, gap] });
    const text = doc.text ?? "";
    const isHere = !doc.truncated || gap[1] <= new Ruler(text).points(text.length);
    if (isHere || (await this.fetchWhole())) this.keepPlace(read);
  }

  /** A change of how the document on screen is read. @param {Reading} reading */
  reader(reading) {
    const { id = "" } = this.view.item?.unit ?? {};
    return () => {
      this.readings.set(id, reading);
      this.view.render();
    };
  }

  /** Fetches what is missing of a text that was cut; true where the whole is here then. */
  async fetchWhole() {
    const { doc, view } = this;
    if (!doc?.truncated) return true;
    const whole = await fetchWhole(view, doc);
    if (whole) this.keepPlace(() => view.card.dispatch({ type: "whole", doc: whole }));
    return whole !== null;
  }

  /** Redraws the document by a change, keeping the visible text in place. @param {() => void} change */
  keepPlace(change) {
    const { scroller, sheet } = this;
    const seen = this.inSight();
    change();
    const top = seen && sheet.topOf(seen.place);
    if (seen && top !== null) scroller.scrollTop += top - seen.top;
  }

  /** The first letter of the text that is in sight; null while the beginning of the text is. */
  inSight() {
    return this.sheet.firstBelow(this.scroller.getBoundingClientRect().top);
  }

  // --------------------------------------------------------------------------------------------- pictures

  /** Shows a picture of the document large; after the last one, the document again. @param {number} at */
  showPicture(at) {
    const { doc, view } = this;
    if (!doc) return view.card.dispatch({ type: "notice", notice: { code: "nothing-here", urgent: true } });
    if (!shownPictures(doc)[at]) return view.setPanel(null);
    this.at = at;
    return view.panel === "picture" ? view.render() : view.setPanel("picture");
  }

  renderPicture() {
    const { at, doc, view } = this;
    const all = doc ? shownPictures(doc) : [];
    const image = all[at];
    if (!image || this.large === image) return;
    this.large = image;
    view.setText("pictureAlt", image.alt);
    view.setText("pictureCount", all.length > 1 ? `${at + 1} of ${all.length}` : "");
    const button = make("button", { type: "button", title: "Switch between full size and fit" });
    button.dataset.do = "picture-size";
    button.setAttribute("aria-label", `${image.alt || "Picture"}: switch between full size and fit`);
    button.append(pictureNode(image));
    const large = view.node("large");
    large.replaceChildren(button);
    large.classList.remove("cd-own-size");
    view.setHidden("pictureNext", all.length < 2);
  }

  /** @param {On} on */
  attach(on) {
    const scrolled = () => {
      this.isScrolled = true;
    };
    on(this.scroller, "scroll", scrolled, { passive: true });
    return () => clearTimeout(this.timer);
  }
}
