// Drawing: brings the nodes of the card into line with its state. Part of one module: see state.js.

// --------------------------------------------------------------------------------------- drawing

/** Brings the screen up to date. Everything is compared first, so calling it often costs nothing. */
function refresh(state) {
  const item = onScreen(state);
  const pair = drawnAs(item);
  const turned = pair !== (state.clock?.pair ?? null);
  if (turned && state.panel === "reasons") state.panel = null;
  if (turned && state.panel === "note") leaveNote(state);
  if (turned && DOCUMENT_PANELS.has(state.panel)) leaveDocumentPanel(state);
  if (turned && state.notice?.urgent) state.notice = null;
  if (item) item.doc.skipped = false; // it has come round again
  if (item && !item.entry) item.doc.kept = true;
  const { view } = state;
  if (view) {
    if (turned && view.scrolled) { // before the new text, while the layout is still valid
      view.scroller.scrollTop = 0;
      view.scrolled = false;
    }
    renderDocument(state, view, item);
    renderMarks(view, item);
  }
  if (turned) {
    addTime(state);
    restartClock(state, pair);
  }
  if (!view) return;
  applyLooks(state, view);
  renderFlag(state, view, item);
  renderNear(state, view, item);
  renderNotice(state, view);
  renderNote(state, view, item);
  renderFeedback(state, view);
  renderResting(state, view);
  sayAloud(state, item);
  renderRest(state, view, item);
  renderTopic(state, view);
  renderGuidelines(state, view);
  if (turned && item) setTimeout(() => state.view === view && renderProgress(state, view), AFTER_FRAMES); // the document first
  else renderProgress(state, view);
  renderStatus(state, view);
  renderRefused(state, view);
  explain(state);
  renderPanels(state, view);
  renderKeys(state, view);
}

/** Marks the grade that the document on screen has, or had before it was taken back. */
function renderMarks(view, item) {
  const { former = null } = item ?? {};
  const mark = !former ? "" : former.kind === "graded" ? String(former.relevance) : "cannot judge";
  const kind = `${mark}${item?.entry ? "" : " before"}`;
  if (view.drawn.mark === kind) return;
  view.drawn.mark = kind;
  for (const button of view.grades.children) setMark(button, button.dataset.grade === mark, item);
  setMark(view.cannotJudge, mark === "cannot judge", item);
}

/** Whether the open topic is done, as far as is known without asking. */
const doneHere = (state, topic) => Boolean(topic && isDone(state, topic));

/** What stands in place of a document when there is none: title, words and whether to offer the next topic. */
function restOf(state) {
  const topic = state.byId.get(state.queryId);
  if (isCutOff(state) && !state.exhausted && !doneHere(state, topic)) return [...CUT_OFF, Boolean(topic)];
  if (!state.topics) return [ONE_MOMENT, "The topics are being fetched.", false];
  if (!topic) return ["Nothing to judge yet", "Documents appear here once topics and a pool are made, and once topics are assigned to you.", false];
  const { without_text: withoutText = 0 } = topic;
  if (state.topics.every((each) => isDone(state, each)) && state.topics.some((each) => each.without_text)) {
    return ["Everything that has a text is judged", "Thank you. Documents whose text is missing come once it is imported.", false];
  }
  if (state.topics.every((each) => isDone(state, each))) {
    return ["Everything in the pool is judged", "Thank you. What is settled from all judgements is written as qrels on the Export page.", false];
  }
  const { judged, pool } = countOf(state, topic);
  if (state.exhausted && state.budget) {
    const words = state.nextTopic === null
      ? "Thank you. A manager can raise it on the Loop page: new documents then appear here by themselves."
      : "Go on with the next topic.";
    return [state.budget, words, state.nextTopic !== null];
  }
  if (pool === null && state.exhausted && state.problem) {
    return ["The model cannot choose documents just now", `Asking again every 10 seconds. It says: ${state.problem}`, true];
  }
  if (pool === null && state.exhausted && state.inLoop) {
    const words = "Each document is judged, or another annotator holds it. Go on with the next topic when you like.";
    return ["Nothing is left in this topic", words, true];
  }
  if (pool === null) return [ONE_MOMENT, "The model is choosing the next documents.", false];
  if (!pool && withoutText) return ["No document has a text yet", "The documents of this topic come once their texts are imported. Go on with the next topic.", true];
  if (!pool) return ["Nothing is pooled for this topic", "Go on with the next one.", true];
  if (judged >= pool) {
    const missing = withoutText ? ` The text of ${figure(withoutText)} more is missing.` : "";
    const words = `No pair of it wants a judgement of yours any more.${missing} Go on with the next topic when you like.`;
    return [`Topic done: ${figure(judged)} of ${figure(pool)}`, words, true];
  }
  if (!state.exhausted) return [ONE_MOMENT, "The next documents are being fetched.", false];
  if (state.nextTopic !== null) {
    return ["No document of this topic is free just now", "Other annotators hold what is left of it. Go on with the next topic.", true];
  }
  return ["No document is free just now", "Other annotators hold what is left. Asking again every 10 seconds.", true];
}

function renderRest(state, view, item) {
  view.grades.classList.toggle("cd-idle", item === null || state.panel === "search"); // they stay where they are, and say that nothing is there
  setHidden(view.rest, item !== null);
  const waiting = !item && state.exhausted && !isDone(state, state.byId.get(state.queryId));
  if (!waiting) {
    clearTimeout(state.askAgain);
    state.askAgain = null;
  } else if (state.askAgain === null) {
    state.askAgain = setTimeout(() => askOnce(state), ASK_AGAIN);
  }
  if (item) return;
  const [title, words, offerNext] = restOf(state);
  setText(view, "restTitle", title);
  setText(view, "restWords", words);
  setHidden(view.restNext, !offerNext || nextUnfinished(state) === null);
}

function askOnce(state) {
  state.askAgain = null;
  state.tried.clear();
  state.due = true;
  pump(state);
  refresh(state);
}

/** An option is drawn by the browser, outside the card's isolation: direction signs are left out there. */
function optionText(state, topic) {
  const { judged, pool } = countOf(state, topic);
  const count = pool === null ? figure(judged) : judged >= pool ? "✓" : `${judged}/${pool}`;
  const title = (topic.title || topic.query_id).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return `${title.length > 40 ? `${title.slice(0, 40)}…` : title} · ${count}`; // the title first: letters that are typed find it
}

function renderTopic(state, view) {
  if (!state.topics) return;
  if (view.drawn.topics !== state.topics) {
    view.drawn.topics = state.topics;
    view.topics.replaceChildren(...state.topics.map((each) => (
      make("option", { value: each.query_id, textContent: forward(optionText(state, each)) }))));
    view.drawn.topic = undefined;
  }
  const topic = state.byId.get(shownTopicId(state));
  if (!topic || view.drawn.topic === topic) return;
  view.drawn.topic = topic;
  const at = state.topics.indexOf(topic);
  view.topics.selectedIndex = at;
  view.previousTopic.disabled = at === 0;
  view.nextTopic.disabled = at === state.topics.length - 1;
  setText(view, "foldTitle", topic.title || topic.query_id);
  setText(view, "topicTitle", topic.title || topic.query_id);
  setText(view, "topicId", `Topic ${cut(topic.query_id, 60)}`);
  setHidden(view.topicId, !topic.title); // without a title the id stands in its place
  setText(view, "description", topic.description ?? "");
  setText(view, "narrative", topic.narrative ?? "");
  setHidden(view.narrativeBlock, !topic.narrative);
  view.need.scrollTop = 0;
}

function renderProgress(state, view) {
  const topic = state.byId.get(shownTopicId(state));
  if (!topic) return;
  for (const [name, count] of [["topic", countOf(state, topic)], ["all", countOf(state, null)]]) {
    const words = count.pool === null ? `${figure(count.judged)} judged` : `${figure(count.judged)} of ${figure(count.pool)}`;
    if (view.drawn[`${name}Count`] === words) continue;
    setText(view, `${name}Count`, words);
    view[`${name}Bar`].parentNode.hidden = count.pool === null;
    view[`${name}Bar`].style.transform = `scaleX(${count.pool ? count.judged / count.pool : 0})`;
  }
  for (const each of new Set([topic, state.byId.get(state.queryId), ...(view.drawn.touched ?? [])])) {
    const option = each && view.topics.options[state.topics.indexOf(each)];
    const words = each && optionText(state, each);
    if (option && option.textContent !== forward(words)) option.textContent = forward(words);
  }
  view.drawn.touched = new Set(outstanding(state).map((item) => state.byId.get(item.judgement.query_id)));
}

function fillButtons(state, view) {
  const key = JSON.stringify([state.scale, state.reasons]);
  if (view.drawn.buttons === key) return;
  view.drawn.buttons = key;
  fillGrades(state, view);
  view.drawn.keys = undefined;
  fillReasons(state, view);
  view.drawn.mark = undefined;
}
