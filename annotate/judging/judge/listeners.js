// Attaching to the page: what this card listens for besides what all do. Part of one module: see state.js.

// ------------------------------------------------------------------------------------- attaching

function attach(state, data, root) {
  const view = viewOf(state, root);
  state.view = view;
  fillButtons(state, view);
  const { on, leaving } = listen(state, view);
  on(view.topics, "change", () => {
    changeTopic(state, view.topics.value);
    letGo(view);
  });
  on(view.searchWords, "input", () => wordsChanged(state));
  on(view.pastWords, "input", () => filterPast(state));
  for (const filter of [view.pastTopic, view.pastGrade]) on(filter, "change", () => filterPast(state, { soon: true }));
  on(view.past, "scroll", () => pastScrolled(state), { passive: true });
  on(view.finderWords, "input", () => finderChanged(state));
  on(view.ownWords, "input", () => ownWordsChanged(state));
  on(document, "selectionchange", () => selectionChanged(state));
  on(view.marker, "pointerdown", (event) => event.preventDefault()); // a click on it must not take the selection away
  on(view.scroller, "scroll", () => { view.scrolled = true; }, { passive: true });
  const watching = setInterval(() => watchTime(state), WATCH);
  start(state, data, view);
  return leaving(() => {
    clearInterval(watching);
    clearTimeout(state.lookAgain);
    state.lookAgain = null;
    forgetPaint(state, view);
  });
}

/** On a new page the leases and the counts are brought up to date, and the page may ask for another topic. */
function start(state, data, view) {
  const queryId = data.query_id ?? undefined;
  if (view.isNew) {
    view.isNew = false;
    state.panel = null;
    Object.assign(state.guidelines, { asked: false, trouble: "" }); // they may have been rewritten
    state.due = true;
    state.topicsDue = true;
    state.arriving = queryId === undefined;
    if (queryId !== undefined && queryId !== state.asked && queryId !== state.queryId && state.topics) {
      changeTopic(state, queryId);
    }
    state.asked = queryId;
  }
  runClock(state);
  refresh(state);
  pump(state);
}

