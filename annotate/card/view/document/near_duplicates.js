// Documents that are nearly the same as one that is judged: said under the title, one key away.

/** @import { Item, NearDuplicate, Part, Unit, View } from "../types.js" */

import { topicOf } from "../../core/kinds/counts.js";
import { pairId } from "../../core/kinds/pairs.js";
import { cut } from "../frame/nodes.js";
import { lookBack, standingOf, wordsOf } from "../units/grades.js";

/** Documents of one question. */
const MOST = 50;

/** Ms until the next question while the server has not compared all. */
const AGAIN = 3_000;

/** @param {View} view @returns {Part} */
export function nearDuplicates(view) {
  const { card } = view;
  /** Answers by pair. @type {Map<string, NearDuplicate[]>} */
  const known = new Map();
  /** Units that need no question now. @type {Set<string>} */
  const compared = new Set();
  let isAsking = false;
  /** Those that were held at the last question. @type {Unit[] | null} */
  let units = null;
  /** The near-duplicate that is shown, and the earlier judgement that it was opened from. @type {{ to: string, from: string | null } | null} */
  let trip = null;

  /** True if near-duplicates are pointed out here; a sentence that cites a single document has none. */
  function isPointedOut() {
    const { scope } = view.state;
    const { card: settings, keys, task } = view.data;
    const isAlone = task !== undefined && topicOf(scope, scope.topic)?.pool === 1;
    return settings.near !== false && "near" in keys.actions && !isAlone;
  }

  const newOnes = () => view.state.units.filter(({ id, documents }) => !compared.has(id) && documents[0]?.text);

  /** Asks in an idle moment about new units; with the next ones a question that failed is asked again. */
  function askSoon() {
    if (isAsking || units === view.state.units || !isPointedOut()) return;
    units = view.state.units;
    if (!newOnes().length) return;
    isAsking = true;
    const idle = window.requestIdleCallback ?? ((/** @type {() => void} */ run) => setTimeout(run, 200)); // Safari has none
    idle(ask, { timeout: 2_000 });
  }

  async function ask() {
    const { outbox, scope } = view.state;
    const { topic } = scope;
    const fresh = newOnes().slice(0, MOST);
    // Also those that the server may not know as judged yet: held documents and unsent judgements.
    const held = [...fresh, ...view.state.units].map(({ documents: [doc] }) => doc?.doc_id);
    const unsent = outbox.flatMap(({ decision }) => (decision.query_id === topic ? [decision.doc_id] : []));
    const doc_ids = [...new Set([...held, ...unsent])].slice(0, MOST);
    const { answer } = await view.ask("near", { query_id: topic, doc_ids });
    isAsking = false;
    if (!answer) return;
    for (const { id } of fresh) compared.add(id);
    for (const [docId, alike] of Object.entries(answer.near)) known.set(pairId(topic, docId), alike);
    if (answer.more)
      setTimeout(() => {
        for (const { id } of fresh) compared.delete(id);
        units = null;
        askSoon();
      }, AGAIN);
    view.render();
  }

  /** The most similar judged document, with its judgement. @param {Item | null} item */
  function nearest(item) {
    for (const alike of known.get(item?.subject ?? "") ?? []) {
      const said = standingOf(view, pairId(item?.unit.queryId ?? "", alike.doc_id), alike.said);
      if (said) return { ...alike, said };
    }
    return null;
  }

  /** True if the document on screen was opened as a near-duplicate. */
  const isShown = () => trip !== null && Boolean(view.item?.entry) && view.item?.subject === trip.to;

  /** Opens the near-duplicate, or returns from it. */
  function show() {
    const { item } = view;
    const alike = nearest(item);
    if (isShown()) return leave();
    if (!item || !alike) return undefined;
    const { queryId } = item.unit;
    trip = { to: pairId(queryId, alike.doc_id), from: item.entry && item.subject };
    return lookBack(view, { query_id: queryId, ...alike, ...alike.said });
  }

  function leave() {
    const entry = view.state.history.find(({ decision }) => card.kind.subject(decision) === trip?.from);
    trip = null;
    if (entry) card.dispatch({ type: "open", decision: entry.decision, title: entry.title });
    else card.dispatch({ type: "look", step: Infinity });
  }

  return {
    actions: {
      near: {
        run: show,
        when: () => isShown() || nearest(view.item) !== null,
        refusal: "No judged near-duplicate of this document is known.",
      },
    },
    stepBack: () => (isShown() ? leave : null),
    render(item, turned) {
      const back = isShown();
      if (turned && !back) trip = null;
      const alike = back ? null : nearest(item);
      view.setHidden("near", !alike && !back);
      if (!alike && !back) return;
      const before = alike && alike.similarity >= 1 ? "Same text as " : "Near-duplicate of ";
      view.setText("nearWords", alike ? before : "This is the near-duplicate.");
      view.setText("nearTitle", alike ? cut(alike.title || alike.doc_id, 120) : "");
      view.setText("nearSaid", alike ? view.words`, which you judged ${wordsOf(view, alike.said)}.` : "");
      view.setText("nearShow", alike ? "Show" : "Back");
    },
    rendered: askSoon,
  };
}
