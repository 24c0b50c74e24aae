// The card's nodes, and the height that is there for them. Part of every card.

/** The nodes of the card by name. A rerun on the same nodes keeps the record of what is drawn. */
function viewOf(state, root) {
  const card = root.querySelector("[data-part=card]");
  if (card.cleverdon?.state === state) return card.cleverdon;
  const view = { card, state, scrolled: false, drawn: {}, isNew: true };
  for (const node of root.querySelectorAll("[data-part]")) {
    view[node.dataset.part.replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = node;
  }
  card.cleverdon = view;
  return view;
}

/** Fills the height that is there, so that the buttons are in sight and only the document scrolls. */
function fit(view) {
  let top = view.frame.getBoundingClientRect().top + window.scrollY;
  for (let node = view.frame; node; node = node.parentNode ?? node.host) {
    if (node !== document.documentElement && node !== document.body) top += node.scrollTop ?? 0;
  }
  const height = Math.max(320, Math.floor(window.innerHeight - top - 12));
  view.frame.style.setProperty("--cd-height", `${height}px`);
}
