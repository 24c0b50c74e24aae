// Why a document came up, and search: the two panels that ask the server. Part of one module: see state.js.

// ------------------------------------------------------------------------------------------- why

const TERMS = 12; // terms shown of one document
const SETTLE = 200; // fast keys pass documents by: only one that stays is asked about
const STILL_LEARNING = 1_500; // how soon to ask again while the first model is made

/** Keeps the open panel with the document on screen; an answer for another one is dropped. */
function explain(state) {
  if (state.panel !== "why" || !state.view) {
    clearTimeout(state.whyTimer);
    state.why = null;
    return;
  }
  const item = onScreen(state);
  const pair = item && pairOf(item.queryId, item.doc.doc_id);
  if (state.why && state.why.pair === pair) return;
  clearTimeout(state.whyTimer);
  const delay = state.why ? SETTLE : 0;
  state.why = { pair, sentence: item ? ONE_MOMENT : "There is no document on screen.", terms: [] };
  if (item) state.whyTimer = setTimeout(() => askWhy(state, state.why, item), delay);
}

async function askWhy(state, why, { queryId, doc }) {
  let answer;
  try {
    answer = readWhy(await post(state, "why", { query_id: queryId, doc_id: doc.doc_id }));
  } catch (error) {
    answer = { sentence: `The reason could not be loaded: ${causeOf(error)}.`, terms: [] };
  }
  if (state.why !== why) return; // another document is on screen by now, or the panel is closed
  const searched = "You found it by searching.";
  // What the server says of a pool or a start is not why this one is here.
  if (doc.taken) answer.sentence = answer.terms.length ? `${searched} ${answer.sentence}` : searched;
  const next = { pair: why.pair, ...answer };
  state.why = next;
  if (answer.behind) state.whyTimer = setTimeout(() => askWhy(state, next, { queryId, doc }), STILL_LEARNING);
  renderWhy(state, state.view);
}

function readWhy({ sentence, terms, behind = false }) {
  if (typeof sentence !== "string" || !Array.isArray(terms)) throw new Failure(-1);
  const known = terms.slice(0, TERMS).map(([term, share]) => ({ term: String(term), share: Number(share) }));
  return {
    sentence, behind, terms: known.filter(({ share }) => share !== 0 && Number.isFinite(share))
      .map(({ term, share }) => ({ term, share: Math.max(-1, Math.min(1, share)) })),
  };
}

function renderWhy(state, view) {
  if (!view || state.panel !== "why" || view.drawn.why === state.why) return;
  view.drawn.why = state.why;
  const { sentence, terms: all } = state.why;
  const terms = all.filter(({ term }) => !FUNCTION_WORDS.has(term) && !/^\d+$/.test(term));
  setText(view, "whySentence", sentence);
  const sides = { for: terms.filter(({ share }) => share > 0), against: terms.filter(({ share }) => share < 0) };
  setHidden(view.whyScale, !terms.length);
  for (const [side, list, block] of [["for", view.whyFor, view.whyForBlock], ["against", view.whyAgainst, view.whyAgainstBlock]]) {
    setHidden(block, !sides[side].length);
    list.replaceChildren(...sides[side].sort((a, b) => Math.abs(b.share) - Math.abs(a.share)).map(termRow));
  }
}

function termRow({ term, share }) {
  const row = make("li", { className: share > 0 ? "cd-for" : "cd-against" });
  const bar = make("i", { className: "cd-weight", role: "img", ariaLabel: `${Math.round(Math.abs(share) * 100)}%` });
  bar.append(make("i"));
  bar.firstChild.style.width = `${Math.max(2, Math.abs(share) * 100)}%`;
  const letters = term.startsWith("chars:"); // a piece of a word: the model reads those as well
  const name = letters ? `letters ${term.slice("chars:".length)}` : term;
  row.append(
    make("span", {
      className: `cd-apart ${letters ? "cd-letters" : "cd-term"}`, dir: "auto", textContent: forward(name.slice(0, 100)),
    }),
    bar,
  );
  return row;
}

// ---------------------------------------------------------------------------------------- search

const PAUSE = 350; // in typing, after which it is searched

function openSearch(state) {
  if (state.panel === "search") return state.view.searchWords.focus();
  if (!state.byId.has(state.queryId)) return oneMoment(state);
  if (state.look !== null && onScreen(state).queryId !== state.queryId) state.look = null; // that is another topic's
  const { find } = state;
  if (find.queryId !== state.queryId) Object.assign(find, { queryId: state.queryId, searched: null, documents: [] });
  Object.assign(find, { chosen: -1, trouble: "", taking: null });
  const { searchWords } = state.view;
  searchWords.value = find.words;
  setPanel(state, "search");
  searchWords.select();
  return searchNow(state);
}

/** Keys in the field: choosing, taking, leaving; all others write. */
function reactionInSearch(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter") return () => enterSearch(state);
  if (event.key === "ArrowDown") return () => chooseFound(state, 1);
  if (event.key === "ArrowUp") return () => chooseFound(state, -1);
  return null;
}

/** After a change of the words, an early Enter must not take a result of the old ones. */
function wordsChanged(state) {
  const { find } = state;
  find.words = state.view.searchWords.value;
  find.chosen = -1;
  find.trouble = "";
  clearTimeout(find.timer);
  find.timer = setTimeout(() => searchNow(state), PAUSE);
  renderSearch(state, state.view);
}

/** Enter takes the selected result; without one it searches, then selects the first result. */
function enterSearch(state) {
  const { find } = state;
  const found = find.documents[find.chosen];
  if (found) return take(state, found.doc_id);
  if (find.searched !== find.words.trim() || find.trouble) return searchNow(state);
  return chooseFound(state, 1);
}

function chooseFound(state, step) {
  const { find } = state;
  if (find.taking !== null || !find.documents.length || find.searched !== find.words.trim()) return;
  const last = find.documents.length - 1;
  find.chosen = find.chosen < 0 && step < 0 ? last : Math.max(0, Math.min(last, find.chosen + step));
  renderSearch(state, state.view);
}

async function searchNow(state) {
  const { find } = state;
  clearTimeout(find.timer);
  const words = find.words.trim();
  const ask = { query_id: state.queryId, words };
  if (find.asked?.words === words && find.asked.query_id === ask.query_id) return; // under way
  if (find.searched === words && !find.trouble) return;
  find.asked = words ? ask : null;
  find.trouble = "";
  if (!words) Object.assign(find, { searched: "", documents: [], chosen: -1 });
  renderSearch(state, state.view);
  if (!words) return;
  let answer = {};
  let trouble = "";
  try {
    answer = await post(state, "search", ask);
    if (!Array.isArray(answer.documents)) throw new Failure(-1);
  } catch (error) {
    trouble = `The search failed: ${causeOf(error)}.`;
  }
  if (find.asked !== ask) return; // other words are asked for by now
  const documents = trouble ? [] : answer.documents;
  Object.assign(find, { asked: null, searched: words, documents, more: answer.more === true, chosen: -1, trouble });
  find.queryId = ask.query_id;
  renderSearch(state, state.view);
}

/** The annotator's judgement of a search result; the browser's state is newer than the answer. */
function standingOf(state, found) {
  const at = state.history.findLastIndex((entry) => (
    entry.query_id === state.queryId && entry.doc.doc_id === found.doc_id));
  if (at >= 0) return { at, ...state.history[at] };
  if (!found.judged || state.queue.some((doc) => doc.doc_id === found.doc_id)) return null;
  return { at: -1, kind: found.relevance === null ? "cannot judge" : "graded", relevance: found.relevance, reason: null };
}

/** Puts a document that was found on screen: to be judged, or to be looked back at if it is judged. */
async function take(state, docId) {
  const { find, queryId } = state;
  const found = find.documents.find((each) => each.doc_id === docId);
  if (!found || find.taking !== null) return undefined;
  const standing = standingOf(state, found);
  if (standing && standing.at >= 0) return lookAt(state, standing.at);
  if (!standing && state.look === null && onScreen(state)?.doc.doc_id === docId) {
    setPanel(state, null);
    return tell(state, "This document is already on screen.");
  }
  find.taking = docId;
  find.trouble = "";
  renderSearch(state, state.view);
  let doc = null;
  let entry = null;
  try {
    if (standing) entry = await fetchEntry(state, queryId, docId, standing);
    doc = entry ? entry.doc : await post(state, "take", { query_id: queryId, doc_id: docId });
    if (doc?.doc_id !== docId) throw new Failure(-1);
  } catch (error) {
    doc = null;
    find.trouble = `The document could not be ${standing ? "opened" : "taken"}: ${causeOf(error)}.`;
  }
  const waiting = find.taking === docId; // and the panel is still open
  if (waiting) find.taking = null;
  if (doc === null) return renderSearch(state, state.view);
  if (!standing) return putInFront(state, queryId, doc, waiting && state.panel === "search");
  if (!waiting || state.panel !== "search" || state.queryId !== queryId) return undefined;
  state.history.unshift(entry);
  return lookAt(state, 0);
}

function lookAt(state, at) {
  state.look = at;
  sayLookingBack(state, state.history[at]);
  state.notice.words += byInput(", Esc to return", ""); // one key from however far back
  setPanel(state, null);
}

/** The document on screen stays next. Where the panel was left meanwhile nothing is changed under the keys. */
function putInFront(state, queryId, doc, atOnce) {
  doc.taken = true;
  doc.kept = true;
  if (queryId !== state.queryId) { // the topic was changed: it waits there
    state.apart.set(queryId, [doc, ...(state.apart.get(queryId) ?? [])]);
    return;
  }
  const shown = onScreen(state);
  const open = shown && !shown.entry;
  const bySelf = open && shown.doc.doc_id === doc.doc_id; // it has come up while it was being fetched
  if (!bySelf) state.queue = state.queue.filter((each) => each.doc_id !== doc.doc_id);
  if (bySelf) {
    tell(state, "This document is already on screen.");
  } else if (atOnce || !open) {
    state.queue.unshift(doc);
    if (atOnce) state.look = null;
    say(state, ": found by searching; judge it now", doc);
  } else {
    state.queue.splice(1, 0, doc);
    say(state, ": found by searching; it comes next", doc);
  }
  state.due = true; // tells the server what is in front, so that its lease is prolonged
  if (atOnce) setPanel(state, null);
  else refresh(state);
  pump(state);
}

function renderSearch(state, view) {
  if (!view || state.panel !== "search") return;
  const { find } = state;
  const judgedNow = find.documents.map((found) => markOf(state, found)).join("\u0000");
  if (view.drawn.found !== find.documents || view.drawn.foundMarks !== judgedNow) {
    view.drawn.found = find.documents;
    view.drawn.foundMarks = judgedNow;
    view.found.replaceChildren(...find.documents.map((found, i) => foundRow(state, found, i)));
    view.drawn.chosen = -1;
    view.found.scrollTop = 0;
  }
  const stale = find.searched !== find.words.trim();
  view.found.classList.toggle("cd-stale", stale);
  setHidden(view.found, !find.documents.length);
  view.searchWords.setAttribute("aria-expanded", String(find.documents.length > 0));
  view.searchWords.readOnly = find.taking !== null;
  if (view.drawn.chosen !== find.chosen) {
    view.found.children[view.drawn.chosen]?.setAttribute("aria-selected", "false");
    view.drawn.chosen = find.chosen;
    const row = view.found.children[find.chosen];
    row?.setAttribute("aria-selected", "true");
    row?.scrollIntoView({ block: "nearest" });
    if (row) view.searchWords.setAttribute("aria-activedescendant", row.id);
    else view.searchWords.removeAttribute("aria-activedescendant");
  }
  setText(view, "searchTrouble", find.trouble);
  setHidden(view.searchTrouble, !find.trouble);
  setText(view, "searchSays", searchWordsOf(find, stale));
}

function searchWordsOf(find, stale) {
  if (find.taking !== null) return "Loading the document …";
  if (find.trouble && !find.documents.length) return "";
  if (find.asked) return "Searching …";
  if (!find.words.trim()) return "Finds documents with all words. Use \u201cexact phrase\u201d, prefix* or NOT word to refine.";
  if (stale) return byInput("Press Enter to search.", "");
  const n = find.documents.length;
  if (!n) return "No document matches.";
  const found = find.more ? `Best ${count(n, "document")}` : count(n, "document");
  return `${found}. ${byInput("Select one with \u2193, judge it next with Enter.", "Tap one to judge it next.")}`;
}

/** What is known of a document in the list. */
function markOf(state, found) {
  const standing = standingOf(state, found);
  if (standing) return `Judged: ${wordsFor(state, standing)}`;
  const shown = onScreen(state);
  return shown && !shown.entry && shown.doc.doc_id === found.doc_id ? "On screen" : "";
}

function foundRow(state, found, i) {
  const row = make("li", { id: `cd-found-${i}` });
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", "false");
  Object.assign(row.dataset, { do: "take", doc: found.doc_id });
  const mark = markOf(state, found);
  const head = make("div", { className: "cd-found-head" });
  head.append(make("b", { className: "cd-apart", dir: "auto", textContent: forward(cut(found.title || found.doc_id, 200)) }));
  if (mark) head.append(make("span", { className: "cd-badge cd-apart", textContent: mark }));
  row.append(head);
  if (found.title) row.append(make("div", { className: "cd-id cd-apart", textContent: forward(cut(found.doc_id, 200)) }));
  row.append(snippetOf(found.snippet ?? ""));
  return row;
}

/** U+0002 and U+0003 stand around the words that were found; everything is a text node. */
function snippetOf(snippet) {
  const line = make("div", { className: "cd-snippet cd-apart", dir: "auto" });
  for (const [i, part] of cut(snippet, 2000).split("\u0002").entries()) {
    const [marked, ...rest] = i === 0 ? ["", part] : part.split("\u0003");
    if (marked) line.append(make("mark", { textContent: forward(marked) }));
    line.append(forward(rest.join("")));
  }
  return line;
}

