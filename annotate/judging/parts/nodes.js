// Small things that drawing is made of. Part of every card.

function setText(view, part, text) {
  if (view.drawn[part] === text) return;
  view.drawn[part] = text;
  view[part].textContent = forward(text);
}

/** Text without the signs that turn all that follows round; one of no width for each, so that places stay. */
const forward = (text) => text.replace(/[\u202D\u202E]/g, "\u2060");

function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

const cut = (text, length) => (text.length > length ? `${text.slice(0, length)} …` : text);

function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}

/** Key cap and words; the whole sentence as tooltip and for screen readers. */
function labelled(cap, words, sentence, dataset) {
  const button = make("button", { type: "button", title: sentence });
  button.setAttribute("aria-label", sentence);
  Object.assign(button.dataset, dataset);
  button.append(make("kbd", { textContent: cap }), make("span", { className: "cd-apart", textContent: words }));
  return button;
}

/** What is printed on a key. */
const capOf = (key) => CAPS[key] ?? key;

const kbd = (key) => make("kbd", { textContent: capOf(key) });

