// Units of decision, topics or pairs: which are held, what is on screen, and what a decision does. Part of the cards for
// lists, for preferences and for adjudication.
//
// The routes are `sync`, `recent` and `unit` under a card's `ROUTE`, described in wire.py. A card says itself what its task is
// (`TASK`, `NOUN`, `SEVERAL`: whether a unit takes several decisions, `LOW`, `FULL`, and its `TEXTS`) and, with the functions of its own units.js, what an item of it is:
//   idOf(decision)                the id of its unit; `takeUnit` gives the unit the same
//   askFor(id)                    fields that ask the route for a unit
//   askedIn(state, data, isNew)   the id of the unit that the page asks for, undefined for none
//   titleOf(unit)                 how a unit is called
//   subjectOf(decision)           what it is about: a later decision with the same key replaces it
//   aboutOf(decision), saidOf(decision)  its fields that say what it is about, and what was said
//   wordsFor(state, decision)     what was decided, in a few words
//   takeUnit(unit)                makes a unit that has arrived ready
//   decidedBefore(unit)           the entry that says what was decided of it, or null where it is open
//   itemOf(unit)                  what is to be decided next in a unit: {about, kept}; null while that is not known
//   lookedAt(entry)               the same of a decision that is looked back at
//   openAgain(entry)              makes its unit ready to be looked at
//   isWaiting(unit)               whether the server has to be asked how a unit goes on
//   takePlans(state, batch, reply)  what the server says of the units that are held
//   pass(state, item, decision)   goes on after a decision; what that adds to the number of topics done
//   bringBack(state, entry)       puts a decision that is taken back in front; what that adds
//   dropDecided(state, decision, saved)  takes away what was decided in another tab, and is on the server by now or not yet
//   heard(item)                   what a screen reader says of it
//   arrange(state)                brings what is held into order before it is drawn
//
// A decision is bound to the item on screen at the key press, is written to localStorage before it is sent, and is
// forgotten only when the server names its uuid.

/**
 * @typedef {{id: string, topic: {query_id: string, title: string, description: string, narrative: string, note: string},
 *            documents: Doc[], skipped: ?boolean}} Unit and what each card adds
 * @typedef {{uuid: string, query_id: string, kind: string, reason: ?string, note: ?string, shown_at: string, seconds: number,
 *            away: number, source: "key"|"click"}} Decision and what each card adds
 * @typedef {{decision: Decision, title: string, unit: ?Unit, was: ?Entry}} Entry one decision that can be looked back at and taken
 *            back; `unit` is null until it is wanted, where the decision is an older one; `was` is what it replaced
 * @typedef {{queryId: string, key: string, unit: Unit, entry: ?Entry, about: Object, kept: ?Object}} Item what is on screen:
 *            `about` are fields of its decision that are known before it is made, `kept` what its entry is to remember
 * @typedef {{decision: Decision, order: number, delta: number, title: string}} Pending `delta` is what the decision adds to
 *            the number of units done
 */

const HISTORY = 300; // decisions kept for looking back

function stateFor(data) {
  const id = `${placeFor(data)}${TASK}:`;
  let state = states.get(id);
  if (!state) {
    const store = openStore(id);
    state = {
      id, annotator: data.annotator, store, storeFails: store === null, order: 0, noun: NOUN,
      queue: [], exhausted: false, progress: null, history: [], look: null, asksFor: TASK, asked: undefined,
      wantsRecent: true, due: true, skipped: new Set(readJson(store, `${id}skipped`) ?? []),
      pending: loadPending(store, id), refused: readJson(store, `${id}refused`) ?? [],
      inFlight: false, retry: null, failures: 0, failingSince: 0, trouble: null, detail: "", renewing: null,
      clock: null, panel: null, notice: null, askAgain: null, view: null,
      guidelines: { asked: false, html: null, notes: new Map(), trouble: "" }, notes: loadNotes(store, id), noted: null,
      own: loadOwn(store, id, data.own), keyMap: new Map(), aloud: { timer: null, notice: null, key: null }, filter: undefined,
    };
    listenToTabs(state);
    mapKeys(state);
    resumeOwn(state);
    states.set(id, state);
  }
  if (state.token !== data.token) {
    state.token = data.token;
    if (state.trouble === 401 || state.trouble === 403) wake(state);
  }
  state.routes = data.routes;
  state.scale = data.scale;
  state.rekey ??= null;
  state.reasons = data.reasons ?? [];
  state.card = data.card ?? {};
  setFilter(state, data.filter);
  return state;
}

/** Sets the page's filter of units; a new one discards the held units. */
function setFilter(state, filter) {
  if (JSON.stringify(filter) === JSON.stringify(state.filter)) return;
  Object.assign(state, { filter, queue: [], exhausted: false, due: true });
}

const nameOf = (doc) => doc.title || doc.doc_id;
const nameOfTopic = (topic) => topic.title || topic.query_id;

/** The unit that is open: none until the topic that the page was opened for is here. */
const openUnit = (state) => (state.asked === undefined ? state.queue[0] : undefined);

/** The item on screen: an earlier decision that is open, or the next decision of the first unit. */
function onScreen(state) {
  const entry = state.look === null ? null : state.history[state.look];
  const unit = entry ? entry.unit : openUnit(state);
  // A skipped topic waits until the server has nothing else.
  if (!unit || (!entry && unit.skipped && !state.exhausted)) return null;
  const item = entry ? lookedAt(entry) : itemOf(unit);
  const queryId = unit.topic.query_id;
  return item && { queryId, key: subjectOf({ query_id: queryId, ...item.about }), unit, entry, ...item };
}

/** What is drawn, as the clock has it. */
const drawnAs = (item) => item && item.key + (item.entry ? "\u0000back" : "");

const shownTopicId = (state) => onScreen(state)?.queryId ?? openUnit(state)?.topic.query_id ?? null;

/** Units done and to be done, including unsent decisions. */
function countOf(state) {
  if (!state.progress) return null;
  const { done, goal } = state.progress;
  const mine = state.pending.reduce((sum, item) => sum + item.delta, 0);
  return { done: Math.max(0, Math.min(goal, done + mine)), goal };
}

// ------------------------------------------------------------------------------------------ verbs

/** The one place where decisions are made: kept in the browser first, then on the way. */
function record(state, fields, title) {
  state.order = Math.max(state.order + 1, Date.now() * 1000);
  const item = { decision: { uuid: newUuid(), ...fields }, order: state.order, delta: 0, title };
  state.pending.push(item);
  return item;
}

function keep(state, item, delta) {
  item.delta = delta;
  if (state.skipped.delete(idOf(item.decision))) write(state, "skipped", JSON.stringify([...state.skipped]));
  write(state, `pending:${item.order}:${item.decision.uuid}`, JSON.stringify(item));
  tellTabs(state, item.decision, false);
}

/** Records a decision on the item on screen and goes on; `said` are the card's own fields of it. */
function judge(state, kind, { reason = null, source, ...said }) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  if (drawnAs(item) !== state.clock?.pair) return justCome(state);
  const { queryId, unit, entry } = item;
  const title = titleOf(unit);
  const pending = record(state, {
    query_id: queryId, kind, ...item.about, ...said, reason, note: noteOf(state, item), shown_at: state.clock.shownAt,
    ...readClock(state), source,
  }, title);
  const { decision } = pending;
  putNote(state, item.key, null); // it is on its way with the decision
  state.look = null;
  const at = state.history.findLastIndex((each) => subjectOf(each.decision) === item.key);
  const [was = null] = at >= 0 ? state.history.splice(at, 1) : [];
  keep(state, pending, pass(state, item, decision));
  state.history.push({ decision, title, unit, order: pending.order, ...item.kept, was });
  if (state.history.length > HISTORY) state.history.shift();
  sayDecided(state, pending, title, entry ? ", revised" : "");
  refresh(state);
  return pumpSoon(state);
}

/** Tells what was decided, how to undo it, and whether that finished the topic. */
function sayDecided(state, { decision, delta }, title, revised = "") {
  say(state, `: ${wordsFor(state, decision)}${revised}${undoHint(state)}`, title);
  if (SEVERAL && delta > 0) state.notice.lead = "Topic done: ";
}

/** Takes back the last decision, or the one looked at, and puts it on screen again. */
async function undo(state, source) {
  const entry = state.history[state.look ?? state.history.length - 1];
  if (!entry) return tell(state, "Nothing to undo.");
  const { clock } = state;
  if (!entry.unit && (!(await fetchUnit(state, entry)) || state.clock !== clock)) return undefined; // the annotator has gone on
  const at = state.history.indexOf(entry);
  if (at < 0) return undefined; // taken back in the meantime
  state.history.splice(at, 1);
  state.look = null;
  const { decision } = entry;
  const item = record(state, {
    query_id: decision.query_id, kind: "undone", ...aboutOf(decision), reason: null, note: null,
    shown_at: new Date().toISOString(), seconds: 0, away: 0, source,
  }, entry.title);
  keep(state, item, bringBack(state, entry));
  if (decision.note && !state.notes.has(subjectOf(decision))) putNote(state, subjectOf(decision), decision.note);
  say(state, `: ${wordsFor(state, decision)}, undone`, entry.title);
  refresh(state);
  return pumpSoon(state);
}

/** Puts the open unit behind the others. */
function skip(state) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const forward = keyHint(state, "forward");
  if (item.entry) return tell(state, `This is already decided${forward && `: press ${forward} to go forward`}.`);
  if (state.queue.length === 1 && state.exhausted) return tell(state, TEXTS.only);
  const unit = state.queue.shift();
  unit.skipped = true;
  state.queue.push(unit);
  state.skipped.add(unit.id);
  write(state, "skipped", JSON.stringify([...state.skipped]));
  say(state, ": skipped; it comes back after the others", titleOf(unit));
  refresh(state);
  return pumpSoon(state);
}

/** Looks at what was decided: -1 is one further back, +1 one forward, and past the last is the open one. */
async function look(state, step) {
  const at = (state.look ?? state.history.length) + step;
  if (at < 0) return tell(state, "No earlier decisions.");
  if (at > state.history.length) return undefined;
  const entry = state.history[at] ?? null;
  const { clock } = state;
  if (entry && !entry.unit && (!(await fetchUnit(state, entry)) || state.clock !== clock)) return undefined;
  state.look = entry ? state.history.indexOf(entry) : null;
  if (entry) {
    openAgain(entry);
    const forward = keyHint(state, "forward");
    say(state, `: ${wordsFor(state, entry.decision)} – answer again to change it${forward && `, ${forward} to go forward`}`, entry.title);
  } else {
    say(state, "Back to the first undecided one.");
  }
  return refresh(state);
}

/** What was decided of a unit that the page was opened for. */
function lookBackAt(state, entry) {
  state.history = [...state.history.filter((each) => subjectOf(each.decision) !== subjectOf(entry.decision)), entry];
  state.look = state.history.length - 1;
  openAgain(entry);
  say(state, `: ${wordsFor(state, entry.decision)} – answer again to change it`, entry.title);
}

/** An older decision is looked at: its documents are fetched. True where they are here. */
async function fetchUnit(state, entry) {
  tell(state, "Loading …");
  try {
    entry.fetching ??= post(state, `${ROUTE}/unit`, { task: TASK, ...askFor(idOf(entry.decision)) });
    const unit = await entry.fetching;
    entry.unit ??= takeUnit(unit);
  } catch (error) {
    tell(state, `The documents could not be loaded: ${causeOf(error)}.`);
    return false;
  } finally {
    entry.fetching = null;
  }
  return true;
}

/** The line above the buttons: a unit's title (kept apart, so that it cannot turn the line round) and words. */
function say(state, words, title = "") {
  state.notice = { title, words, urgent: false };
}

function oneMoment(state) {
  const coming = restOf(state)[0] === ONE_MOMENT;
  tell(state, coming ? "What comes next is loading." : "There is nothing on screen to decide.");
}

/** Fetches a document that was cut, whole. */
async function showAll(state, doc) {
  if (!doc?.truncated) return;
  const queryId = shownTopicId(state);
  tell(state, "Loading the full text …");
  const { notice } = state;
  try {
    Object.assign(doc, await post(state, "document", { query_id: queryId, doc_id: doc.doc_id }), { truncated: false });
    if (state.notice === notice) tell(state, ""); // what was said meanwhile stays
  } catch (error) {
    tell(state, `The full text could not be loaded: ${causeOf(error)}.`);
  }
  refresh(state);
}
