// The buttons of a scale of grades, their keys, and which of them is marked. Part of the cards for grades and for adjudication.

/** The annotator's own key for a grade, beside its digit. */
function ownCap(grade) {
  const cap = make("kbd", { hidden: true });
  cap.dataset.key = `digit:${grade}`;
  return cap;
}

/** A button for each grade, and its key in the list of keys. */
function fillGrades(state, view) {
  const count = state.scale.length;
  view.grades.style.setProperty("--cd-grades", count);
  view.grades.style.setProperty("--cd-grades-narrow", count <= 4 ? count : Math.ceil(count / 2));
  view.grades.replaceChildren(...state.scale.map(({ grade, label, sentence }) => {
    const button = labelled(grade, label, `${grade} ${sentence}`, { do: "grade", grade });
    button.append(ownCap(grade));
    return button;
  }));
  view.gradeKeys.replaceChildren(...state.scale.flatMap(({ grade, sentence }) => {
    const key = make("dt");
    key.append(make("kbd", { textContent: grade }), " ", ownCap(grade));
    return [key, make("dd", { className: "cd-apart", textContent: forward(sentence) })];
  }));
}

function setMark(button, marked, item) {
  button.setAttribute("aria-pressed", String(marked && Boolean(item.entry)));
  button.classList.toggle("cd-former", marked && !item.entry);
}

/** The grade in a box that is the fuller the higher the grade is. */
function gradeBadge(state, { kind, relevance }) {
  const badge = make("span", { className: "cd-grade", textContent: kind === "graded" ? String(relevance) : "\u00d7" });
  const most = Math.max(1, ...state.scale.map(({ grade }) => grade));
  if (kind !== "graded") badge.classList.add("cd-grade-none");
  badge.style.setProperty("--cd-share", kind === "graded" ? Math.min(1, relevance / most) : 0);
  badge.setAttribute("aria-hidden", "true"); // the words say it
  return badge;
}
