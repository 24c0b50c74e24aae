// Highlights of the topic's terms and of the annotator's own words. Part of one module: see state.js.

const AT_ONCE = 4_000; // characters: a longer text that was not looked through before is so after it is painted
const MOST_OWN_WORDS = 300; // characters of one's own words for a topic
const MOST_KEPT = 4_000; // characters of those for other topics

/** The highlights that the annotator has turned on. */
const marksWanted = (state) => ({ topic: true, own: true, ...state.own.marks });

const ownWordsOf = (state, queryId) => state.own.words?.[queryId] ?? "";

/** The terms to highlight in the documents of a topic, cached until the topic or the annotator's words change. */
function lexiconOf(state, queryId) {
  const topic = state.byId.get(queryId);
  const words = ownWordsOf(state, queryId);
  const { lexicon } = state;
  const same = lexicon && lexicon.queryId === queryId && lexicon.title === topic?.title && lexicon.description === topic?.description;
  if (same && lexicon.words === words) return lexicon;
  state.lexicon = {
    queryId, title: topic?.title, description: topic?.description, words,
    topic: same ? lexicon.topic : termsOf(topic?.title, topic?.description),
    own: ownTermsOf(words),
  };
  return state.lexicon;
}

/**
 * Brings the highlights into line with what is drawn: just before the frame that shows it, so that no key waits for them and
 * none of them comes late; those of a long text that is new, after it.
 */
function renderTerms(state, view, item) {
  const wanted = marksWanted(state);
  const lexicon = lexiconOf(state, item.queryId);
  const { drawn, sheet } = view;
  const { marked } = drawn;
  if (marked && marked.version === sheet.version && marked.doc === item.doc && marked.lexicon === lexicon
    && marked.topic === wanted.topic && marked.own === wanted.own) return;
  drawn.marked = { version: sheet.version, doc: item.doc, lexicon, ...wanted };
  renderWords(state, view, item.queryId);
  if (!CAN_PAINT) return;
  view.frameAsked ??= requestAnimationFrame(() => beforeFrame(state, view));
}

function beforeFrame(state, view) {
  view.frameAsked = null;
  if (state.view !== view) return;
  const { sheet, drawn } = view;
  const { topic } = drawn.marked.lexicon;
  const known = sheet.segments.every(({ text }) => text.length <= AT_ONCE || topic.places?.has(text));
  if (known) paintTerms(view);
  clearTimeout(state.frameSeen);
  state.frameSeen = setTimeout(() => {
    if (state.view !== view) return;
    if (!known) paintTerms(view);
    whenIdle(() => lookAhead(state));
  });
}

/** The card goes away, or is mounted anew on the same nodes, and is then painted again. */
function forgetPaint(state, { drawn }) {
  paintNothing();
  drawn.marked = undefined;
  drawn.passages = undefined;
  if (state.finder) state.finder.version = null;
  if (state.steps) state.steps.drawn = null;
}

function paintTerms(view) {
  const { lexicon, topic, own } = view.drawn.marked;
  const title = view.title.textContent;
  const segments = [{ start: 0, from: null, text: title, root: view.title }, ...view.sheet.segments];
  const rangesOf = (terms) => segments.flatMap((segment) => rangesAt(segment, placesIn(terms, segment.text)));
  paint("cd-topic-term", topic ? rangesOf(lexicon.topic) : []);
  paint("cd-own-word", own ? rangesOf(lexicon.own) : []);
}

const whenIdle = (run) => (globalThis.requestIdleCallback ? requestIdleCallback(run, { timeout: 500 }) : setTimeout(run, 50));

/** Looks through the documents that come next, and fetches their pictures, while this one is read. */
function lookAhead(state) {
  if (!state.view || state.view.drawn.marked?.lexicon !== state.lexicon) return;
  const { lexicon } = state;
  for (const doc of state.queue.slice(0, 3)) {
    const texts = isFolded(state, doc) ? [] : [doc.text ?? ""]; // passages are short
    for (const text of texts) {
      placesIn(lexicon.topic, text);
      placesIn(lexicon.own, text);
    }
  }
  fetchPictures(state);
}

// ------------------------------------------------------------------------------------------- own words

function renderWords(state, view, queryId) {
  const wanted = marksWanted(state);
  const on = wanted.topic || wanted.own;
  view.highlight.setAttribute("aria-pressed", String(on && CAN_PAINT));
  view.highlight.disabled = !CAN_PAINT;
  if (!CAN_PAINT) view.highlight.title = "This browser cannot highlight words";
  const words = ownWordsOf(state, queryId);
  if (view.drawn.wordsOf === queryId && view.drawn.words === words) return;
  view.drawn.wordsOf = queryId;
  view.drawn.words = words;
  const writing = view.card.getRootNode().activeElement === view.ownWords;
  if (!writing || view.ownWords.dataset.query !== queryId) view.ownWords.value = words;
  view.ownWords.dataset.query = queryId;
}

function openWords(state) {
  if (!state.topics) return oneMoment(state);
  const field = state.view.ownWords;
  if (field.offsetParent === null) fold(state.view); // narrow, the topic is folded to its title, and the field with it
  field.focus();
  return field.select();
}

/** They are highlighted as they are written, and kept when a moment has passed. */
function ownWordsChanged(state) {
  const { ownWords } = state.view;
  const queryId = ownWords.dataset.query;
  if (queryId === undefined) return;
  const { [queryId]: _, ...others } = state.own.words ?? {};
  const words = ownWords.value.slice(0, MOST_OWN_WORDS);
  const kept = Object.entries(others);
  while (JSON.stringify(kept).length > MOST_KEPT) kept.shift(); // the server keeps no more than so much
  changeOwn(state, { words: Object.fromEntries(words.trim() ? [...kept, [queryId, words]] : kept) });
}

/** Both highlights off, or on again. */
function toggleMarks(state) {
  if (!CAN_PAINT) return tell(state, "This browser cannot highlight words.");
  const { topic, own } = marksWanted(state);
  const on = !(topic || own);
  changeOwn(state, { marks: { topic: on, own: on } });
  return tell(state, on ? "Highlights are on." : "Highlights are off.");
}

action("highlight", (state) => toggleMarks(state));
action("own-words", (state) => openWords(state));
