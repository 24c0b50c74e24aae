// The document to grade: as it is read, whole or folded, with its pictures.

/** @import { Doc, Item, Place } from "../core/types.js" */
/** @import { DocumentNodes } from "./drawn_document.js" */
/** @import { Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { DrawnDocument, fetchWhole } from "./drawn_document.js";
import { make } from "./nodes.js";
import { figure } from "./phrases.js";
import { fetchPictures, pictureNode, shownPictures } from "./pictures.js";
import { Ruler } from "./places.js";

/** Ms until the pictures of what comes next are fetched: the document first. */
const FETCH_PICTURES = 100;

/** How one document is read: whole, or folded with these gaps opened. @typedef {{ whole?: boolean, opened: Place[] }} Reading */
/** @type {Reading} */
const USUAL = { opened: [] };

/** @implements {Part} */
export class DocumentPart {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.drawn = new DrawnDocument(/** @type {DocumentNodes} */ (view.nodes), 12);
    this.scroller = view.node("scroller");
    /** By unit. @type {Map<string, Reading>} */
    this.readings = new Map();
    /** The picture that is shown large, and its place among all. @type {Doc["images"][number] | undefined} */
    this.large = undefined;
    this.at = 0;
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
      picture: { node: "picturePanel", beside: true, isOfUnit: true, render: () => this.renderPicture() },
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
    const { drawn, view } = this;
    const doc = item?.unit.documents[0];
    if (turned) this.scroller.scrollTop = 0; // before the new text, while the layout is still valid
    view.setHidden("document", !doc);
    if (!doc) return;
    const isFolded = this.isFolded(doc);
    drawn.draw(doc, isFolded ? this.reading.opened : null);
    view.setHidden("calibration", !doc.calibration);
    view.node("document").classList.toggle("cd-alone", doc.text === "" && doc.images.length > 0);
    this.renderMore(doc, isFolded);
    const next = () => view.state.units.slice(1, 3).flatMap(({ documents }) => documents.map(fetchPictures));
    if (turned) setTimeout(next, FETCH_PICTURES);
  }

  /** What is not shown of a long text, and how it is had. @param {Doc} doc @param {boolean} isFolded */
  renderMore({ excerpts, length, terms, truncated }, isFolded) {
    const { reading, view } = this;
    const all = `Show all (${figure(length)} characters)`;
    view.setHidden("more", !truncated || isFolded);
    view.setText("showAll", all);
    view.setText("cap", `Showing the first ${figure(view.data.text_cap)} characters.`);
    const [first, ...others] = excerpts ?? [];
    view.setHidden("folding", !first);
    if (!first) return;
    // Where nothing matches, the server gives the beginning alone.
    const matches = first[0] > 0 || others.length > 0 || terms.some(([start]) => start < first[1]);
    let says = matches
      ? "Showing only passages that match the topic."
      : "Showing only the beginning: no passage matches the topic.";
    if (reading.opened.length) says = "Showing passages that match the topic, and those you opened.";
    view.setText("foldingSays", isFolded ? says : "Showing the full text.");
    view.setText("foldingDo", isFolded ? all : "Show passages only");
  }

  // -------------------------------------------------------------------------------------- long documents

  /** Shows the whole text, or only its passages again. */
  showWhole() {
    const { doc, view } = this;
    if (!doc) return view.reply();
    if (!doc.excerpts?.length) return this.fetchWhole();
    const isFolded = this.isFolded(doc);
    return this.read({ whole: isFolded, opened: [] }, !isFolded);
  }

  /** Shows the hidden text between two passages. @param {Place} gap */
  openGap(gap) {
    const text = this.doc?.text ?? "";
    const isHere = gap[1] <= new Ruler(text).points(text.length);
    return this.read({ ...this.reading, opened: [...this.reading.opened, gap] }, isHere);
  }

  /** Changes how the document is read, once what that takes of its text is here. @param {Reading} reading @param {boolean} isHere */
  async read(reading, isHere) {
    const { item } = this.view;
    if (!item || !(isHere || (await this.fetchWhole()))) return;
    this.readings.set(item.unit.id, reading);
    this.keepPlace(() => this.view.render());
  }

  /** Fetches what is missing of a text that was cut; true where the whole is here then. */
  async fetchWhole() {
    const { doc, view } = this;
    const whole = doc?.truncated ? await fetchWhole(view, doc) : doc;
    if (whole && whole !== doc) this.keepPlace(() => view.card.dispatch({ type: "whole", doc: whole }));
    return whole !== null;
  }

  /** Draws a change of the document, keeping the visible text in place. @param {() => void} draw */
  keepPlace(draw) {
    const seen = this.inSight();
    draw();
    const top = seen && this.sheet.topOf(seen.place);
    if (seen && top !== null) this.scroller.scrollTop += top - seen.top;
  }

  /** The first letter of the text that is in sight; null while the beginning of the text is. */
  inSight() {
    return this.sheet.firstBelow(this.scroller.getBoundingClientRect().top);
  }

  // --------------------------------------------------------------------------------------------- pictures

  /** Shows a picture of the document large; after the last one, the document again. @param {number} at */
  showPicture(at) {
    const { doc, view } = this;
    if (!doc) return view.reply();
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
    const title = "Switch between full size and fit";
    const ariaLabel = `${image.alt || "Picture"}: switch between full size and fit`;
    const dataset = { do: "picture-size" };
    const button = make("button", { type: "button", title, ariaLabel, dataset }, pictureNode(image));
    view.node("large").replaceChildren(button);
    view.node("large").classList.remove("cd-own-size");
    view.setHidden("pictureNext", all.length < 2);
  }
}
