/**
 * The card for lists: shows a topic with its documents, of which annotators select those that answer it, or none.
 *
 * It holds the next topics, so that a key shows the next one at once; no key press waits for the network and none
 * triggers a Streamlit rerun. See units.js of parts for what it shares with the card for preferences.
 *
 * A unit of it has besides `chosen`, the ids that are ticked now; `before`, a decision that was taken back; `at`, where
 * the cursor is, and `open`, the document that is shown whole: numbers from 0, -1 for none.
 */

const TASK = "list";
const NOUN = "choice";
const SEVERAL = false;
const LOW = 6; // ask for more when fewer lists are held
const FULL = 12; // and ask for as many as make this

const subjectOf = ({ query_id }) => query_id;
const aboutOf = () => ({ shown: [], chosen: [] });
const saidOf = ({ shown, chosen }) => ({ shown, chosen });
const isWaiting = () => false;
const arrange = () => {};
const takePlans = () => {};

function wordsFor(state, { kind, shown, chosen, reason }) {
  if (kind !== "chosen") return reason ? `cannot judge (${reason})` : "cannot judge";
  if (!chosen.length) return "none of these";
  return `selected ${join(chosen.map((id) => shown.indexOf(id) + 1).sort((a, b) => a - b))}`;
}

function takeUnit(unit) {
  return Object.assign(unit, { id: unit.topic.query_id, chosen: new Set(unit.former?.chosen), before: null, at: -1, open: -1 });
}

function decidedBefore(unit) {
  return unit.former && { decision: unit.former, title: nameOfTopic(unit.topic), unit };
}

const shownIn = (unit) => ({ about: { shown: unit.documents.map((doc) => doc.doc_id), chosen: [] } });
const itemOf = shownIn;
const lookedAt = ({ unit }) => shownIn(unit);

function openAgain({ unit, decision }) {
  Object.assign(unit, { id: unit.topic.query_id, chosen: new Set(decision.chosen), at: -1, open: -1 });
}

function pass(state, { unit, entry }) {
  if (entry) return 0;
  state.queue = state.queue.filter((each) => each !== unit);
  return 1;
}

function bringBack(state, entry) {
  openAgain(entry);
  entry.unit.before = entry.decision;
  state.queue = [entry.unit, ...state.queue.filter((unit) => unit.topic.query_id !== entry.decision.query_id)];
  return -1;
}

function dropDecided(state, { query_id, kind }) {
  if (kind !== "undone") state.queue = state.queue.filter((unit) => unit.topic.query_id !== query_id);
}

// ------------------------------------------------------------------------------------------ choosing

const mostChosen = (state) => state.card.most_chosen ?? 1;

/** Ticks a document, or takes the tick away; where one can be chosen only, that decides. */
function choose(state, at, source) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const { unit } = item;
  const doc = unit.documents[at];
  if (!doc) return tell(state, `There is no document ${at + 1} in this list.`);
  const most = mostChosen(state);
  if (most === 1) return judge(state, "chosen", { chosen: [doc.doc_id], source });
  if (!unit.chosen.delete(doc.doc_id)) {
    if (unit.chosen.size >= most) return tell(state, `At most ${count(most, "document")}: deselect one first.`);
    unit.chosen.add(doc.doc_id);
  }
  if (state.notice?.urgent) state.notice = null;
  return refresh(state);
}

/** Submits the selected documents, or the current one where only one can be selected. */
function done(state, source) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const { unit } = item;
  if (mostChosen(state) === 1 && unit.at >= 0) return choose(state, unit.at, source);
  const none = keyHint(state, "none");
  if (!unit.chosen.size) return tell(state, `Select a document first, or \u201cNone of these\u201d${none && ` (${none})`}.`);
  const chosen = unit.documents.map((doc) => doc.doc_id).filter((id) => unit.chosen.has(id));
  return judge(state, "chosen", { chosen, source });
}

/** Submits "none of these", unless something is selected. */
function none(state, source) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const ticked = !item.entry && !item.unit.before && mostChosen(state) > 1 && item.unit.chosen.size;
  if (ticked) return tell(state, `${count(ticked, "document is", "documents are")} selected: deselect ${plural(ticked, "it", "them")} or submit.`);
  return judge(state, "chosen", { chosen: [], source });
}

/** Moves the cursor; through a document that is open and longer than the place for it, it scrolls first. */
function step(state, by) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const { unit } = item;
  const { view } = state;
  const row = view.rows[unit.at];
  if (row && unit.open === unit.at) {
    const [place, own] = [view.documents.getBoundingClientRect(), row.node.getBoundingClientRect()];
    const beyond = by > 0 ? own.bottom - place.bottom : place.top - own.top;
    if (beyond > 1) return view.documents.scrollBy(0, by * Math.min(beyond, place.height / 3));
  }
  const last = unit.documents.length - 1;
  const at = unit.at < 0 ? (by > 0 ? 0 : last) : Math.max(0, Math.min(last, unit.at + by));
  return setCursor(state, unit, at);
}

function setCursor(state, unit, at) {
  unit.at = at;
  refresh(state);
  const { node, tick } = state.view.rows[at];
  tick.focus({ preventScroll: true });
  node.scrollIntoView({ block: "nearest" });
}

/** Shows a document whole, in its place; the one that was open is closed. */
function openText(state, at) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const { unit } = item;
  const place = Math.max(0, at);
  if (!unit.documents[place]) return undefined;
  unit.open = unit.open === place ? -1 : place;
  unit.at = place;
  refresh(state);
  const { node, tick } = state.view.rows[place];
  tick.focus({ preventScroll: true });
  if (unit.open === place && node.offsetHeight > state.view.documents.clientHeight) node.scrollIntoView({ block: "start" });
  else node.scrollIntoView({ block: "nearest" });
  return undefined;
}
