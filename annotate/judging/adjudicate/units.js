/**
 * The card for adjudication: shows a pair on which annotators differ with their judgements, and takes the adjudicated grade.
 *
 * It holds the next pairs, so that a key shows the next one at once; no key press waits for the network and none triggers
 * a Streamlit rerun. See units.js of parts for what it shares with the cards for lists and for preferences, and
 * wire.py for its routes.
 *
 * @typedef {{annotator: string, kind: string, relevance: ?number, reason: ?string, note: ?string, flagged: boolean,
 *            passages: [number, number][], quotes: string[], seconds: ?number, judged_at: string}} Opinion
 *
 * A unit of it has besides `opinions`, lowest grade first; `former`, this manager's current adjudication; and
 * `before`, an undone one.
 */

const ROUTE = "adjudicate";
const TASK = "adjudication";
const NOUN = "adjudication";
const SEVERAL = false;
const LOW = 24; // ask for more when fewer pairs are held
const FULL = 36; // and ask for as many as make this

const TEXTS = {
  first: "Fetching the first pairs.",
  asked: "The requested pair",
  only: "This is the only pair left.",
  nothing: ["Nothing to adjudicate", "No pair matches the filter."],
  done: ["Nothing left to adjudicate", "Every pair that matches the filter is adjudicated. The adjudicated grades are in the qrels on the Export page."],
  busy: ["Nothing to adjudicate right now", "Checking for new disagreements every 10 seconds."],
};

const idOf = ({ query_id, doc_id }) => JSON.stringify([query_id, doc_id]);
const askFor = (id) => ({ pair: id });
const titleOf = ({ documents: [doc] }) => nameOf(doc);

/** The pair that was picked on the page comes next, even while another decision is open. */
function askedIn(state, { pair, picked }) {
  if (picked === state.picked || !pair) return undefined;
  state.picked = picked;
  state.look = null;
  return idOf({ query_id: pair[0], doc_id: pair[1] });
}

const subjectOf = idOf;
const aboutOf = ({ doc_id }) => ({ doc_id });
const saidOf = ({ relevance }) => ({ relevance });
const isWaiting = () => false;
const arrange = () => {};
const takePlans = () => {};

function wordsFor(state, { kind, relevance, reason }) {
  if (kind !== "graded") return reason ? `cannot judge (${reason})` : "cannot judge";
  const grade = state.scale.find((each) => each.grade === relevance);
  return grade ? `${relevance} ${grade.label}` : String(relevance);
}

function takeUnit(unit) {
  const { topic, documents: [doc] } = unit;
  return Object.assign(unit, { id: idOf({ query_id: topic.query_id, doc_id: doc.doc_id }), before: null });
}

function decidedBefore(unit) {
  return unit.former && { decision: unit.former, title: titleOf(unit), unit };
}

const itemOf = ({ documents: [doc] }) => ({ about: { doc_id: doc.doc_id } });
const lookedAt = ({ unit }) => itemOf(unit);
const openAgain = () => {};

function pass(state, { unit, entry }) {
  if (entry) return 0;
  state.queue = state.queue.filter((each) => each !== unit);
  return 1;
}

function bringBack(state, { unit, decision }) {
  unit.before = decision;
  state.queue = [unit, ...state.queue.filter(({ id }) => id !== unit.id)];
  return -1;
}

function dropDecided(state, decision) {
  if (decision.kind !== "undone") state.queue = state.queue.filter(({ id }) => id !== idOf(decision));
}
