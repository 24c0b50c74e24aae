// Search: finds documents of the whole collection, to be judged next or to be looked back at.

/** @import { FoundDocument, Part, Reaction, View } from "../types.js" */

import { pairId } from "../../core/kinds/pairs.js";
import { byInput } from "../frame/keys.js";
import { apart, cut, forward, isMadeId, make } from "../frame/nodes.js";
import { count } from "../frame/phrases.js";
import { lookBack, standingOf, wordsOf } from "../units/grades.js";
import { headLine, ListBox } from "../units/list_box.js";
import { shownTopic } from "./topics.js";

/** Ms in typing after which it is searched. */
export const PAUSE = 350;

/** @typedef {FoundDocument & { mark: string }} Row a document, and what is known of it */

/** An empty result. */
const NOTHING = {
  words: "",
  documents: /** @type {FoundDocument[]} */ ([]),
  more: false,
  ranked: /** @type {number | null} */ (null),
};

/** @param {View} view @returns {Part} */
export function search(view) {
  const { card } = view;
  const field = view.field("searchWords");
  /** @type {ListBox<Row>} */
  const list = new ListBox(view.node("found"), [field], "take", ({ doc_id }) => doc_id, drawResult);
  /** The topic that is searched for. */
  let queryId = "";
  /** The last result, and the words of the running search. */
  let result = NOTHING;
  let pending = "";
  let trouble = "";
  /** The document that is being taken. @type {string | null} */
  let taking = null;
  let timer = 0;

  const words = () => field.value.trim();
  const isCurrent = () => result.words === words();

  function open() {
    const { scope, look } = view.state;
    if (scope.topic === null) return view.reply();
    // An earlier judgement of another topic is left.
    if (look && shownTopic(view)?.query_id !== scope.topic) card.dispatch({ type: "look", step: Infinity });
    if (queryId !== scope.topic) [queryId, pending, result] = [scope.topic, "", NOTHING];
    change();
    view.setPanel("search");
    field.select();
    return run();
  }

  /** After a change of the words, an early Enter must not take a result of the old ones. @param {number} [pause] until they are searched */
  function change(pause) {
    [list.chosen, trouble] = [null, ""];
    clearTimeout(timer);
    if (pause) timer = window.setTimeout(run, pause);
    draw();
  }

  async function run() {
    clearTimeout(timer);
    if (pending ? pending === words() : isCurrent() && !trouble) return;
    const request = { query_id: queryId, words: words() };
    [pending, trouble] = [request.words, ""];
    if (!pending) result = NOTHING;
    draw();
    if (!pending) return;
    const { answer, cause } = await view.ask("search", request);
    if (pending !== request.words || queryId !== request.query_id) return; // other words are asked for by now
    [pending, list.chosen] = ["", null];
    result = { ...NOTHING, ...answer, words: request.words };
    trouble = cause ? `The search failed: ${cause}.` : "";
    list.node.scrollTop = 0;
    draw();
  }

  /** Takes the selected result; without one it searches, then selects the first result. */
  function enter() {
    const match = list.row();
    if (match) return take(match);
    return isCurrent() && !trouble ? choose(1) : run();
  }

  /** @param {number} step */
  function choose(step) {
    if (taking !== null || !isCurrent()) return;
    list.step(step);
    draw();
  }

  /** Keys in the field: choosing and taking. @param {string} key @returns {Reaction | undefined} */
  function react(key) {
    if (key === "Enter") return enter;
    if (key === "ArrowDown") return () => choose(1);
    return key === "ArrowUp" ? () => choose(-1) : undefined;
  }

  /** The annotator's judgement of a result. @param {FoundDocument} match */
  function standing({ doc_id, judged, relevance }) {
    const said = judged ? { kind: relevance === null ? "cannot judge" : "graded", relevance } : null;
    return standingOf(view, pairId(queryId, doc_id), said);
  }

  /** @param {FoundDocument} match */
  const isOnScreen = ({ doc_id }) => !view.item?.entry && view.item?.subject === pairId(queryId, doc_id);

  /** Puts a result on screen: to be judged, or to be looked back at if it is judged. @param {FoundDocument | undefined} match */
  async function take(match) {
    if (!match || taking !== null) return;
    const topic = queryId;
    const { doc_id } = match;
    const said = standing(match);
    if (said) {
      lookBack(view, { query_id: topic, ...match, ...said });
    } else if (isOnScreen(match)) {
      view.setPanel(null);
      view.reply("on-screen-already");
    } else {
      [taking, trouble] = [doc_id, ""];
      draw();
      const { answer: doc, cause } = await view.ask("take", { query_id: topic, doc_id });
      // If the panel was closed in the meantime, the document on screen stays.
      const atOnce = taking === doc_id;
      if (atOnce) taking = null;
      if (cause) {
        trouble = view.words`The document could not be taken: ${cause}.`;
        return draw();
      }
      if (atOnce) view.setPanel(null);
      card.dispatch({ type: "take", queryId: topic, doc, atOnce });
    }
  }

  function says() {
    const n = result.documents.length;
    if (taking !== null) return view.words("Loading the document …");
    if (trouble && !n) return "";
    if (pending) return "Searching …";
    if (!words())
      return view.words("Finds documents with all words. Use \u201cexact phrase\u201d, prefix* or NOT word to refine.");
    if (!isCurrent()) return byInput("Press Enter to search.", "");
    if (!n) return view.words("No document matches.");
    const next = byInput("Select one with \u2193, judge it next with Enter.", "Tap one to judge it next.");
    return view.words(`${result.more ? shown(n) : count(n, "document")}. ${next}`);
  }

  /** Says which results are shown if there are more. @param {number} n */
  function shown(n) {
    if (result.ranked === 0) return `First ${count(n, "document")} in the order of import, not ranked`;
    const of = result.ranked === null ? "" : ` of the first ${count(result.ranked, "match", "matches")}`;
    return `Best ${count(n, "document")}${of}`;
  }

  /** @param {FoundDocument} match */
  function markOf(match) {
    const said = standing(match);
    return said ? view.words`Judged: ${wordsOf(view, said)}` : isOnScreen(match) ? "On screen" : "";
  }

  function draw() {
    if (view.panel !== "search") return;
    const { documents } = result;
    list.draw(documents.map((match) => ({ ...match, mark: markOf(match) })));
    list.node.classList.toggle("cd-stale", !isCurrent());
    field.ariaExpanded = String(documents.length > 0);
    field.readOnly = taking !== null;
    view.setLine("searchTrouble", trouble);
    view.setText("searchSays", says());
  }

  return {
    clicks: { take: (row) => take(list.row(row)) },
    panels: {
      search: {
        open,
        focus: "searchWords",
        field: "searchWords",
        inField: ({ key }) => react(key),
        keys: (_, { key }) => (key === "ArrowUp" || key === "ArrowDown" ? react(key) : undefined),
        render: draw,
        left() {
          clearTimeout(timer);
          taking = null;
        },
      },
    },
    attach(on) {
      on(field, "input", () => change(PAUSE));
    },
  };
}

/** @param {Row} found */
function drawResult({ doc_id, title, snippet, mark }) {
  const head = headLine(title || doc_id, ...(mark ? [apart("span", mark, "cd-badge")] : []));
  return [
    head,
    ...(title ? [apart("div", cut(doc_id, 200), isMadeId(doc_id) ? "cd-id cd-made-id" : "cd-id")] : []),
    snippetOf(snippet),
  ];
}

/** Words that were found stand between U+0002 and U+0003; everything is a text node. @param {string} snippet */
function snippetOf(snippet) {
  const line = apart("div", "", "cd-snippet");
  const parts = forward(cut(snippet, 2000)).replaceAll("\u0003", "\u0002").split("\u0002");
  for (const [i, part] of parts.entries()) line.append(i % 2 ? make("mark", {}, part) : part);
  return line;
}
