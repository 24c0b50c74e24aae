// What goes to a card's routes, and what comes back. Part of the cards for lists, for preferences and for adjudication.

const RECENT = 40; // older decisions that a fresh card can look back at

function needsSync(state) {
  if (state.pending.length) return true;
  if (!state.view || state.asksFor !== TASK) return false; // not on screen: nothing to fetch
  return state.due || state.wantsRecent || state.asked !== undefined || wanted(state) > 0 || state.queue.some(isWaiting);
}

/** How many units to ask for. */
function wanted(state) {
  if (!state.view || state.exhausted) return 0;
  const held = state.queue.filter((unit) => !unit.skipped).length;
  return held < LOW ? FULL - held : 0;
}

function outgoing(state, batch) {
  return {
    task: TASK, decisions: batch.map((item) => item.decision), holding: state.queue.map((unit) => unit.id), want: 0, filter: state.filter,
  };
}

async function exchange(state) {
  if (state.view && !state.guidelines.asked && !state.guidelines.trouble) askGuidelines(state); // nothing waits for them
  const batch = [...state.pending];
  if (batch.length || state.due || wanted(state) > 0 || state.queue.some(isWaiting)) {
    const { due, returned = null } = state;
    const ask = { ...outgoing(state, batch), want: wanted(state), due };
    state.returned = null;
    state.due = false; // what becomes due from here on is not answered by this
    let reply;
    try {
      reply = await post(state, `${ROUTE}/sync`, ask);
    } catch (error) {
      state.due ||= due;
      state.returned ??= returned;
      throw error;
    }
    takeReply(state, ask, batch, reply);
    leaveClosed(state, returned, reply.closed);
    refresh(state);
  }
  if (!state.view || state.asksFor !== TASK) return;
  if (state.asked !== undefined) await takeAsked(state);
  if (state.wantsRecent) takeRecent(state, (await post(state, `${ROUTE}/recent`, { task: TASK, limit: RECENT })).decisions);
}

/** Drops the item on screen if it was decided on another device while the page was hidden, unless it was changed here. */
function leaveClosed(state, returned, closed) {
  const item = onScreen(state);
  if (!returned || !item || item.entry || state.panel === "note" || state.notes.has(item.key) || item.unit.chosen?.size) return;
  if (drawnAs(item) !== returned || state.clock?.pair !== returned || !closed.includes(item.unit.id)) return;
  if (state.pending.some(({ decision }) => idOf(decision) === item.unit.id)) return;
  state.queue = state.queue.filter((unit) => unit !== item.unit);
  say(state, ": no longer needs a decision", titleOf(item.unit));
}

function takeReply(state, ask, batch, reply) {
  takeAnswers(state, batch, reply);
  state.progress = reply.progress ?? grown(state, batch, reply);
  state.asksFor = reply.task;
  const shown = state.look === null ? onScreen(state)?.unit : null;
  if (reply.task !== TASK) { // what is on screen can be decided still; nothing else of this will be asked for
    state.queue = state.queue.filter((unit) => unit === shown);
    return;
  }
  const closed = new Set(reply.closed); // decided elsewhere meanwhile; what is on screen stays there
  const busy = new Set(state.pending.map(({ decision }) => idOf(decision)));
  state.queue = state.queue.filter((unit) => unit === shown || !closed.has(unit.id) || busy.has(unit.id));
  takePlans(state, batch, reply);
  if (ask.filter !== state.filter) return; // what came was chosen by the former one
  const held = new Set(state.queue.map((unit) => unit.id));
  for (const unit of reply.units.map(takeUnit)) if (!held.has(unit.id) && !busy.has(unit.id)) putInLine(state, unit);
  if (ask.want > 0) state.exhausted = reply.exhausted;
}

/** The progress where the server did not count again: the old one plus what it has saved. */
function grown({ progress }, batch, { saved }) {
  const done = batch.reduce((sum, { decision, delta }) => sum + (saved.includes(decision.uuid) ? delta : 0), progress?.done ?? 0);
  return progress && { ...progress, done };
}

/** A new unit goes before the skipped ones. */
function putInLine(state, unit) {
  const { query_id, note } = unit.topic;
  if (note) state.guidelines.notes.set(query_id, note);
  unit.skipped = state.skipped.has(unit.id);
  const at = unit.skipped ? -1 : state.queue.findIndex((each) => each.skipped);
  state.queue.splice(at < 0 ? state.queue.length : at, 0, unit);
}

/** Removes refused decisions from the history; the ones that they would have replaced return. */
function dropRefused(state, refused) {
  const standing = (entry) => {
    if (!entry) return null;
    entry.was = standing(entry.was);
    return refused.has(entry.decision.uuid) ? entry.was : entry;
  };
  changeHistory(state, state.history.filter((entry) => {
    const stands = standing(entry);
    if (stands && stands !== entry) {
      Object.assign(entry, stands, { unit: stands.unit ?? entry.unit });
      if (state.history[state.look] === entry) openAgain(entry);
    }
    return stands;
  }));
}

/** Forgets what the server has taken, and keeps what it refused in sight. */
function takeAnswers(state, batch, reply) {
  const refused = new Map(reply.refused.map((answer) => [answer.uuid, answer.reason]));
  const answered = new Set([...reply.saved, ...refused.keys()]);
  state.hasSaved ||= reply.saved.length > 0;
  if (refused.size) dropRefused(state, refused);
  for (const item of batch) {
    const { decision } = item;
    if (refused.has(decision.uuid)) {
      const words = decision.kind === "undone" ? "undo" : wordsFor(state, decision);
      state.refused.push({ uuid: decision.uuid, title: item.title, words, reason: refused.get(decision.uuid) });
      if (decision.note && !state.notes.has(subjectOf(decision))) putNote(state, subjectOf(decision), decision.note); // not lost with it
      state.exhausted = false; // its topic may be handed out again
      state.due = true;
    }
    if (!answered.has(decision.uuid)) continue;
    write(state, `pending:${item.order}:${decision.uuid}`, null);
    tellTabs(state, decision, true);
  }
  if (refused.size) write(state, "refused", JSON.stringify(state.refused));
  state.pending = state.pending.filter((item) => !answered.has(item.decision.uuid));
  if (batch.some((item) => !answered.has(item.decision.uuid))) throw new Failure(-1);
}

/** Older decisions for undo and looking back; what this browser knows is newer and wins. */
function takeRecent(state, decisions) {
  state.wantsRecent = false;
  const known = new Set([...state.history, ...state.pending].map(({ decision }) => subjectOf(decision)));
  const older = decisions.filter((decision) => !known.has(subjectOf(decision))).reverse();
  state.history.unshift(...older.map(({ title, ...decision }) => ({ decision, title: title || decision.query_id, unit: null, was: null })));
  if (state.look !== null) state.look += older.length;
}

/** The unit that the page was opened for: the next one, or what was decided of it. */
async function takeAsked(state) {
  const id = state.asked;
  const at = state.queue.findIndex((unit) => unit.id === id);
  let unit = state.queue[at];
  let trouble = "";
  try {
    if (at < 0) unit = takeUnit(await post(state, `${ROUTE}/unit`, { task: TASK, ...askFor(id) }));
  } catch (error) {
    if (!(error instanceof Failure) || error.status < 400 || error.status >= 500 || error.status === 401) throw error;
    trouble = causeOf(error);
  }
  if (state.asked === id) state.asked = undefined;
  const entry = unit && decidedBefore(unit);
  if (entry) {
    lookBackAt(state, entry);
  } else if (unit) {
    state.queue = [unit, ...state.queue.filter((each) => each !== unit)];
    unit.skipped = false;
    state.due = true; // tells the server what is in hand
  }
  refresh(state); // now: a key acts on what is drawn
  if (trouble) tell(state, `${TEXTS.asked} cannot be shown: ${trouble}.`);
}

/** The page goes away: one last request, beside the one that may be under way (saving is idempotent). */
function sendLast(state) {
  if (state.pending.length) send(state, `${ROUTE}/sync`, outgoing(state, state.pending)).catch(() => {});
}

// Other tabs of the same annotator: an item decided in one disappears from the others.

function listenToTabs(state) {
  if (typeof BroadcastChannel !== "function") return;
  state.channel = new BroadcastChannel(state.id);
  state.channel.addEventListener("message", ({ data: { decision, saved } }) => {
    decidedElsewhere(state, decision, saved);
    state.due ||= saved; // counts, and what comes next
    state.hasSaved ||= saved;
    refresh(state);
    pump(state);
  });
}

function tellTabs(state, decision, saved) {
  setTimeout(() => state.channel?.postMessage({ decision, saved })); // not before what comes next is drawn
}

/** A decision made in another tab replaces this tab's; an undone one is open again. */
function decidedElsewhere(state, decision, saved) {
  const before = onScreen(state);
  changeHistory(state, state.history.filter((entry) => subjectOf(entry.decision) !== subjectOf(decision)));
  dropDecided(state, decision, saved);
  if (before && onScreen(state)?.key !== before.key) say(state, ": decided in another tab", titleOf(before.unit));
}
