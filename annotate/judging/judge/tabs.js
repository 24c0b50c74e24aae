// Several tabs of one annotator: each tells the others what it did, so that nothing is judged twice. Part of one module: see state.js.
//
// Messages, each with the sender's `tab`:
//   there?                  who is there is to answer
//   here                   the answer, and the first word of a new tab's
//   bye                     the page goes away
//   said {item, doc}        a judgement was made: it waits in that tab, or in the browser's storage
//   answered {saved, refused}  the server has answered those
//   skipped {query_id, doc_id}

const BEAT = 4_000; // how often the others are asked whether they are there
const DEAF = 2; // questions without an answer after which a tab counts as gone
const CATCH_UP = 400; // how soon the counts are asked for after another tab's save

/** `others`: questions unanswered by tab; `told`: what others judged, by uuid, until an answer of the server counts it in. */
const emptyTabs = () => ({ me: newUuid(), channel: null, others: new Map(), told: new Map(), catchUp: null });

function openTabs(state) {
  const slot = Symbol.for(`cleverdon.judging.tabs ${state.id}`);
  window[slot]?.(); // of another copy of this module
  if (!window.BroadcastChannel) return;
  const { tabs } = state;
  const controller = new AbortController();
  const on = (type, react) => window.addEventListener(type, react, { signal: controller.signal });
  tabs.channel = new BroadcastChannel(state.id);
  tabs.channel.onmessage = ({ data }) => hear(state, data);
  const beat = setInterval(() => askAround(state), BEAT);
  const call = (type) => tabs.channel.postMessage({ type, tab: tabs.me });
  on("pagehide", () => call("bye"));
  on("pageshow", (event) => event.persisted && call("there?"));
  on("storage", (event) => takeStored(state, event));
  call("there?");
  window[slot] = () => {
    controller.abort();
    clearInterval(beat);
    tabs.channel.close();
    tabs.channel = null;
    tabs.others.clear();
  };
}

const hasOthers = (state) => state.tabs.others.size > 0;

/** Sends a message after the paint, so that it does not delay this tab. */
function tellTabs(state, message) {
  if (!hasOthers(state)) return;
  setTimeout(() => state.tabs.channel?.postMessage({ ...message, tab: state.tabs.me }));
}

function askAround(state) {
  const { tabs } = state;
  for (const [tab, unanswered] of tabs.others) {
    if (unanswered >= DEAF) takeOver(state, tab);
    else tabs.others.set(tab, unanswered + 1);
  }
  if (tabs.others.size) tabs.channel.postMessage({ type: "there?", tab: tabs.me });
}

function hear(state, message) {
  const { tabs } = state;
  const { type, tab } = message ?? {};
  if (typeof tab !== "string" || tab === tabs.me) return;
  if (type === "bye") {
    takeOver(state, tab);
    return;
  }
  if (type === "said" && !(message.item?.judgement?.uuid && message.doc)) return; // of another edition of this card
  const isNew = !tabs.others.has(tab);
  tabs.others.set(tab, 0);
  if (isNew) leaveTo(state, tab);
  if (type === "there?") tabs.channel.postMessage({ type: "here", tab: tabs.me });
  if (type === "said") takeSaid(state, message);
  if (type === "answered") takeAnswered(state, message);
  if (type === "skipped") takeSkipped(state, message);
}

// ------------------------------------------------------------------------------- whose it is to send

/** What was found in the browser's storage and waits in a tab that is alive is sent by that one. */
function leaveTo(state, tab) {
  for (const item of state.pending.filter((each) => each.tab === tab)) state.tabs.told.set(item.judgement.uuid, { item, tab, saved: false });
  state.pending = state.pending.filter((item) => item.tab !== tab);
  refresh(state);
}

/** A tab is gone: what it has not sent is sent from here. */
function takeOver(state, tab) {
  const { tabs } = state;
  tabs.others.delete(tab);
  takeUnsent(state, (one) => one.tab === tab);
}

/** Sent twice it is saved once: the server knows it by its uuid. */
function takeUnsent(state, isIt) {
  const { told } = state.tabs;
  const items = [...told.values()].filter((one) => !one.saved && isIt(one)).map(({ item }) => item);
  if (!items.length) return;
  for (const { judgement } of items) told.delete(judgement.uuid);
  state.pending = [...state.pending, ...items].sort((a, b) => a.order - b.order);
  refresh(state);
  pump(state);
}

/** Sends another tab's unsent judgements of a pair first, so that this tab's do not overtake them. */
function takeUnsentOf(state, queryId, docId) {
  if (state.tabs.told.size) takeUnsent(state, ({ item: { judgement } }) => judgement.query_id === queryId && judgement.doc_id === docId);
}

/** All that is judged and not yet counted by the server's last answer: of this tab and of others, in their order. */
function outstanding(state) {
  if (!state.tabs.told.size) return state.pending;
  return [...[...state.tabs.told.values()].map(({ item }) => item), ...state.pending].sort((a, b) => a.order - b.order);
}

// ------------------------------------------------------------------------------------- what is heard

/** Moves a document that another tab has judged from the queue to the history. */
function takeSaid(state, { tab, item, doc }) {
  const { judgement } = item;
  const { query_id: queryId, doc_id: docId, kind } = judgement;
  const shown = onScreen(state);
  const here = shown && shown.queryId === queryId && shown.doc.doc_id === docId;
  state.pending = state.pending.filter((each) => each.judgement.uuid !== judgement.uuid); // read from the storage already
  state.tabs.told.set(judgement.uuid, { item, tab, saved: false });
  state.order = Math.max(state.order, item.order);
  const queue = queryId === state.queryId ? state.queue : state.apart.get(queryId) ?? [];
  const held = queue.find((each) => each.doc_id === docId);
  if (held) queue.splice(queue.indexOf(held), 1);
  const at = heldAt(state, queryId, docId);
  const known = at < 0 ? null : state.history[at];
  const said = { ...entryMarks(judgement), kind, relevance: judgement.relevance, reason: judgement.reason };
  const words = kind === "undone" ? "undone" : `judged ${wordsFor(state, said)}`;
  if (kind === "undone") {
    changeHistory(state, state.history.filter((entry) => entry !== known));
  } else if (known && here && shown.entry) {
    Object.assign(known, said, { uuid: judgement.uuid, judged_at: item.judged_at, was: wasOf(known) });
  } else {
    const entry = { query_id: queryId, doc: known?.doc ?? held ?? doc, ...said, uuid: judgement.uuid, judged_at: item.judged_at };
    entry.was = known ? wasOf(known) : [];
    changeHistory(state, [...state.history.filter((each) => each !== known), entry].slice(-HISTORY));
  }
  if (here) say(state, `: ${words} in another tab`, shown.doc);
  refresh(state);
  pump(state);
}

/** The server has answered another tab; the counts are brought up to date a moment later. */
function takeAnswered(state, { tab, saved, refused }) {
  const { tabs } = state;
  state.hasSaved ||= saved.length > 0;
  const isSaved = new Set(saved);
  const isRefused = new Set(refused);
  for (const item of state.pending) {
    const { uuid } = item.judgement;
    if (isSaved.has(uuid)) tabs.told.set(uuid, { item, tab, saved: true });
  }
  state.pending = state.pending.filter(({ judgement: { uuid } }) => !isSaved.has(uuid) && !isRefused.has(uuid));
  for (const one of tabs.told.values()) if (isSaved.has(one.item.judgement.uuid)) one.saved = true;
  if (isRefused.size) {
    for (const uuid of isRefused) tabs.told.delete(uuid);
    dropRefused(state, isRefused);
    state.exhausted = false; // its document may be handed out again
  }
  tabs.catchUp ??= setTimeout(() => {
    tabs.catchUp = null;
    state.due = true;
    pump(state);
  }, CATCH_UP);
  refresh(state);
}

function takeSkipped(state, { query_id: queryId, doc_id: docId }) {
  if (queryId !== state.queryId) return;
  const shown = onScreen(state);
  const doc = state.queue.find((each) => each.doc_id === docId);
  if (!doc || doc.skipped) return;
  doc.skipped = true;
  doc.kept = false;
  state.queue = [...state.queue.filter((each) => each !== doc), doc];
  if (shown?.doc === doc) say(state, ": skipped in another tab", doc);
  refresh(state);
  pump(state);
}

/** What other tabs write into the storage that all share: how the card is arranged, notes and flags that wait, refusals. */
function takeStored(state, { key, newValue }) {
  if (!key?.startsWith(state.id)) return;
  let value;
  try {
    value = JSON.parse(newValue ?? "null");
  } catch {
    return; // not written by a card
  }
  const name = key.slice(state.id.length);
  if (name === "own" && value?.own) {
    if (JSON.stringify(value.own) === JSON.stringify(state.own)) return;
    clearTimeout(state.ownTimer);
    state.own = { ...OWN, ...value.own };
    mapKeys(state);
  } else if (name === "refused") {
    state.refused = value ?? [];
  } else if (name.startsWith("draft:")) {
    try {
      const [queryId, docId] = JSON.parse(name.slice("draft:".length));
      if (value === null) state.drafts.delete(pairOf(queryId, docId));
      else state.drafts.set(pairOf(queryId, docId), value);
    } catch {
      return;
    }
  } else {
    return;
  }
  refresh(state);
}

// ------------------------------------------------------------------------------------- the counts

/** What the server had saved for other tabs when this tab's question went out; its answer counts that. */
const savedByOthers = (state) => [...state.tabs.told.values()].filter(({ saved }) => saved);

/** An answer counts them in: for the topic it is about, and in all; the other topics' own counts take them here. */
function countIn(state, counted, queryId) {
  for (const { item: { judgement, delta } } of counted) {
    if (!state.tabs.told.delete(judgement.uuid)) continue;
    const topic = state.byId.get(judgement.query_id);
    if (topic && judgement.query_id !== queryId) topic.judged += delta;
  }
}

/** Others are told what was judged here, with the document, so that they can look back at it. */
function tellSaid(state, item, doc) {
  if (!hasOthers(state)) return;
  const { former, skipped, kept, taken, ...plain } = doc;
  tellTabs(state, { type: "said", item, doc: plain });
}
