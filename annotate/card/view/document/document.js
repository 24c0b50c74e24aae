// The document to grade: as it is read, whole or folded, with its pictures.

/** @import { Doc, DrawnDocument, Part, Place, View } from "../types.js" */

import { make } from "../frame/nodes.js";
import { figure } from "../frame/phrases.js";
import { wordsOf } from "../units/grades.js";
import { fetchWhole } from "./drawn_document.js";
import { fetchPictures, pictureNode, shownPictures } from "./pictures.js";
import { Ruler } from "./places.js";
import { topOf } from "./text.js";

/** Ms until what comes next is prepared: the document first. */
const SOON = 100;

/** A label that no person gave. @param {View} view @param {NonNullable<Doc["label"]>} label */
function labelWords(view, { label_set: name, relevance }) {
  const words = wordsOf(view, { kind: "graded", relevance });
  return `Machine label by ${name}: ${words}`;
}

/** The reading state of a document: whole, or folded with these gaps opened. @typedef {{ whole?: boolean, opened: Place[] }} Reading */
/** @type {Reading} */
const USUAL = { opened: [] };

/** @param {View} view @param {DrawnDocument} drawn @returns {Part} */
export function documentPart(view, drawn) {
  const scroller = view.node("scroller");
  /** By unit. @type {Map<string, Reading>} */
  const readings = new Map();
  /** The picture that is shown large, by its place among all. */
  let picture = 0;

  /** The document that was prepared last. @type {Doc | undefined} */
  let prepared;
  let timer = 0;

  const shown = () => view.item?.unit.documents[0];
  const reading = () => readings.get(view.item?.unit.id ?? "") ?? USUAL;

  /** True if only the passages of a document that match its topic are shown. @param {Doc} doc */
  const isFolded = ({ excerpts }) => Boolean(excerpts?.length) && !(reading().whole ?? view.own.long === "whole");

  /** The hidden part of a long text, and how to show it. @param {Doc} doc @param {Place[] | null} opened */
  function renderMore({ excerpts, length, terms, truncated }, opened) {
    const isCut = truncated && !opened;
    view.setHidden("more", !isCut);
    view.setHidden("folding", !excerpts?.length);
    if (!isCut && !excerpts?.length) return;
    const all = `Show all (${figure(length)} characters)`;
    view.setText("showAll", all);
    view.setText("cap", `Showing the first ${figure(view.data.text_cap)} characters.`);
    const [first, ...others] = excerpts ?? [];
    // If nothing matches, the server sends only the beginning.
    const matches = others.length > 0 || (first && (first[0] > 0 || terms.some(([start]) => start < first[1])));
    let says = matches
      ? view.words("Showing only passages that match the topic.")
      : view.words("Showing only the beginning: no passage matches the topic.");
    if (opened?.length) says = view.words("Showing passages that match the topic, and those you opened.");
    view.setText("foldingSays", opened ? says : "Showing the full text.");
    view.setText("foldingDo", opened ? all : "Show passages only");
  }

  /** Shows the whole text, or only its passages again. */
  function showWhole() {
    const doc = shown();
    if (!doc) return view.reply();
    const folded = isFolded(doc);
    return read({ whole: folded, opened: [] }, Boolean(doc.excerpts?.length) && !folded);
  }

  /** Shows the hidden text between two passages. @param {Place} gap */
  function openGap(gap) {
    const text = shown()?.text ?? "";
    const opened = [...reading().opened, gap];
    return read({ ...reading(), opened }, gap[1] <= new Ruler(text).points(text.length));
  }

  /** Changes how the document is read, once what that takes of its text is here. @param {Reading} next @param {boolean} isHere */
  async function read(next, isHere) {
    const { item } = view;
    const doc = shown();
    if (!item || !doc || (!isHere && doc.truncated && !(await fetchWhole(view, doc)))) return;
    readings.set(item.unit.id, next);
    view.render();
  }

  /** The documents that come next: of this topic, or of those that were loaded ahead. */
  function following() {
    const { item, state } = view;
    const ahead = state.scope.ahead[0]?.units ?? [];
    const units = [...state.units.slice(0, 3), ...ahead.slice(0, 2)].filter((unit) => unit !== item?.unit);
    return units.slice(0, 2).flatMap(({ documents }) => documents);
  }

  /** Fetches the pictures of what comes next, and lays out its text. */
  function prepare() {
    timer = 0;
    const next = following();
    next.forEach(fetchPictures);
    [prepared] = next;
    drawn.drawAhead(prepared);
  }

  /** Shows a picture of the document large; after the last one, the document again. @param {number} at */
  function showPicture(at) {
    const doc = shown();
    if (!doc) return view.reply();
    const all = shownPictures(doc);
    const image = all[at];
    if (!image) return view.setPanel(null);
    picture = at;
    view.setText("pictureAlt", image.alt);
    view.setText("pictureCount", all.length > 1 ? `${at + 1} of ${all.length}` : "");
    view.setHidden("pictureNext", all.length < 2);
    const title = "Switch between full size and fit";
    const ariaLabel = `${image.alt || "Picture"}: switch between full size and fit`;
    const dataset = { do: "picture-size" };
    const button = make("button", { type: "button", title, ariaLabel, dataset }, pictureNode(image));
    view.node("large").replaceChildren(button);
    view.node("large").classList.remove("cd-own-size");
    return view.panel === "picture" ? undefined : view.setPanel("picture");
  }

  /** True if an action applies here; says so if nothing is on screen. @param {(doc: Doc) => boolean} can */
  const whenShown = (can) => () => {
    const doc = shown();
    return !doc || can(doc);
  };

  return {
    actions: {
      whole: {
        run: showWhole,
        when: whenShown(({ excerpts, truncated }) => truncated || Boolean(excerpts?.length)),
        refusal: "This is the full text.",
      },
      picture: {
        run: () => showPicture(view.panel === "picture" ? picture + 1 : 0),
        when: whenShown((doc) => shownPictures(doc).length > 0),
        refusal: "This document has no pictures.",
      },
    },
    clicks: {
      "show-all": () => read(reading(), false),
      "open-gap": ({ dataset: { start, end } }) => openGap([Number(start), Number(end)]),
      enlarge: ({ dataset }) => showPicture(Number(dataset.picture)),
      "picture-size": () => view.node("large").classList.toggle("cd-own-size"),
    },
    panels: { picture: { beside: true, isOfUnit: true } },
    render(item, turned) {
      const doc = item?.unit.documents[0];
      // Before the new text, while the layout is still valid; a document with a best passage is scrolled to that one.
      const stays = doc && (doc.best?.length || drawn.isInAnswer(doc));
      if (turned && !stays && scroller.scrollTop) scroller.scrollTop = 0;
      view.setHidden("document", !doc);
      if (!doc) return;
      const opened = isFolded(doc) ? reading().opened : null;
      // The visible text stays in place where only more of it is drawn, or less.
      const seen = turned || drawn.isDrawn(doc, opened) ? null : drawn.inSight(scroller);
      drawn.draw(doc, opened);
      view.setHidden("qualification", !doc.qualification);
      view.setHidden("machineLabel", !doc.label);
      if (doc.label) view.setText("machineLabel", labelWords(view, doc.label));
      view.node("document").classList.toggle("cd-alone", doc.text === "" && doc.images.length > 0);
      renderMore(doc, opened);
      if (seen) scroller.scrollTop += (topOf(drawn.segments, seen.place) ?? seen.top) - seen.top;
      if (following()[0] !== prepared && !timer) timer = window.setTimeout(prepare, SOON);
    },
  };
}
