// What screen readers hear: one region, one sentence a step. Part of one module: see state.js.

const PAUSE_ALOUD = 250; // fast keys are not read one by one

/** `words` were said last, of the document `doc`. */
const emptyAloud = () => ({ timer: null, notice: null, doc: null });

/** After the paint: what was done, and the document that is there now. */
function sayAloud(state, item) {
  const { aloud } = state;
  const doc = item?.doc ?? null;
  if (aloud.notice === state.notice && aloud.doc === doc) return;
  if (aloud.timer !== null) return;
  aloud.timer = setTimeout(() => {
    aloud.timer = null;
    const { view } = state;
    const now = onScreen(state)?.doc ?? null;
    const { title = "", words = "" } = state.notice ?? {};
    const parts = [];
    if (aloud.notice !== state.notice) parts.push(`${title}${words}`);
    if (aloud.doc !== now && now) parts.push(`Now: ${nameOf(now)}`);
    Object.assign(aloud, { notice: state.notice, doc: now });
    if (view) setText(view, "aloud", parts.filter(Boolean).map((part) => cut(part.replace(/\.$/, ""), 300)).join(". "));
  }, PAUSE_ALOUD);
}
