// What the browser keeps: unsent decisions, drafts, and how the annotator has arranged the card. Part of every card.

function openStore(id) {
  try {
    localStorage.setItem(`${id}probe`, "1");
    localStorage.removeItem(`${id}probe`);
    return localStorage;
  } catch {
    return null; // private mode, or storage switched off
  }
}

function readJson(store, key) {
  try {
    return JSON.parse(store?.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** Each judgement has a key of its own, so that two tabs of one annotator never overwrite each other's. */
function loadPending(store, id) {
  const found = [];
  for (let i = 0; i < (store?.length ?? 0); i += 1) {
    const key = store.key(i);
    const item = key.startsWith(`${id}pending:`) ? readJson(store, key) : null;
    if ((item?.judgement ?? item?.decision)?.uuid) found.push(item);
  }
  return found.sort((a, b) => a.order - b.order);
}

function write(state, key, value) {
  try {
    if (value === null) state.store?.removeItem(state.id + key);
    else state.store?.setItem(state.id + key, value);
  } catch {
    state.storeFails = true; // full: the judgement still waits in memory and the status line says so
  }
}

/** crypto.randomUUID exists on https and localhost only; a campaign on a LAN address needs one as well. */
function newUuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// How an annotator has arranged the card: the server keeps it for their other devices, this browser for the next start.

const OWN = { keys: {}, words: {} };
const TELL_SERVER = 1_000; // after the last change

/** What the server knows is as new as what this browser knows, unless a change of this browser is still on its way. */
function loadOwn(store, id, own) {
  const kept = readJson(store, `${id}own`);
  return { ...OWN, ...(kept?.unsent ? kept.own : own ?? kept?.own) };
}

/** Changes some of it: at once here, a moment later on the server. */
function changeOwn(state, changes) {
  state.own = { ...state.own, ...changes };
  write(state, "own", JSON.stringify({ own: state.own, unsent: true }));
  mapKeys(state);
  tellOwnSoon(state);
  if (state.view) refresh(state);
}

function tellOwnSoon(state) {
  clearTimeout(state.ownTimer);
  state.ownTimer = setTimeout(() => tellOwn(state), TELL_SERVER);
}

/** At the start: a change that did not reach the server the last time is sent now. */
function resumeOwn(state) {
  if (readJson(state.store, `${state.id}own`)?.unsent) tellOwnSoon(state);
}

async function tellOwn(state) {
  const { own } = state;
  try {
    await post(state, "settings", { settings: own });
  } catch {
    return; // it stays marked as unsent, and goes with the next change or the next start
  }
  if (state.own !== own) return;
  write(state, "own", JSON.stringify({ own, unsent: false }));
}

