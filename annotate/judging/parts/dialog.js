// Streamlit's own dialog about a lost connection. Part of every card.
//
// It covers the page and takes every key, while the card could go on: it holds what comes next, keeps what is decided and
// says by itself that there is no connection. So this one dialog is closed as soon as it is there, at each attempt anew.

const LOST = /^\s*Connection error/;

/** While the card is there; what of it had the focus has it again, so that words that are being written stay words. */
function closeLostDialogs({ card }, signal) {
  let taken = null; // from which node of the card a dialog has taken the focus
  const giveFocusBack = () => {
    if (!taken?.isConnected || card.getRootNode().activeElement) return;
    taken.focus({ preventScroll: true });
  };
  const close = (node, times = 60) => {
    const dialog = node.isConnected && node.matches?.(".stDialog") ? node.querySelector("[role=dialog]") : null;
    if (!dialog || !LOST.test(dialog.textContent)) return;
    dialog.querySelector("button[aria-label=Close]")?.click();
    if (times > 0 && !signal.aborted) setTimeout(() => close(node, times - 1), 20); // it does not listen yet while it comes in
  };
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach((node) => close(node));
    if (!taken || document.querySelector(".stDialog")) return;
    giveFocusBack();
    requestAnimationFrame(() => setTimeout(() => { // the dialog's own way of giving it back does not look into a card
      giveFocusBack();
      taken = null;
    }));
  });
  observer.observe(document.body, { childList: true });
  document.body.childNodes.forEach((node) => close(node));
  card.addEventListener("focusout", (event) => {
    if (event.relatedTarget?.closest?.(".stDialog")) [taken] = event.composedPath();
  }, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
}
