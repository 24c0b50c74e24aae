// Streamlit's own dialog about a lost connection.
//
// It covers the page and takes every key, while the card could go on: it holds what comes next, keeps what is decided and
// says by itself that there is no connection. So this one dialog is closed as soon as it is there, at each attempt anew.

const LOST = /^\s*Connection error/;

/**
 * While the card is there; what of it had the focus has it again, so that words that are being written stay words.
 *
 * @param {HTMLElement} card @param {AbortSignal} signal
 */
export function closeLostDialogs(card, signal) {
  /** @type {HTMLElement | null} */
  let taken = null; // from which node of the card a dialog has taken the focus
  const giveFocusBack = () => {
    const root = /** @type {Document | ShadowRoot} */ (card.getRootNode());
    if (!taken?.isConnected || root.activeElement) return;
    taken.focus({ preventScroll: true });
  };
  /** @param {Node} node */
  const close = (node, times = 60) => {
    const isDialog = node instanceof Element && node.isConnected && node.matches(".stDialog");
    const dialog = isDialog ? node.querySelector("[role=dialog]") : null;
    if (!dialog || !LOST.test(dialog.textContent ?? "")) return;
    /** @type {HTMLElement | null} */ (dialog.querySelector("button[aria-label=Close]"))?.click();
    if (times > 0 && !signal.aborted) setTimeout(() => close(node, times - 1), 20); // it does not listen yet while it comes in
  };
  const observer = new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) close(node);
    if (!taken || document.querySelector(".stDialog")) return;
    giveFocusBack();
    requestAnimationFrame(() =>
      setTimeout(() => {
        // the dialog's own way of giving it back does not look into a card
        giveFocusBack();
        taken = null;
      }),
    );
  });
  observer.observe(document.body, { childList: true });
  for (const node of document.body.childNodes) close(node);
  /** @param {FocusEvent} event */
  const leave = (event) => {
    const { relatedTarget: to } = event;
    if (to instanceof Element && to.closest(".stDialog")) taken = /** @type {HTMLElement} */ (event.composedPath()[0]);
  };
  card.addEventListener("focusout", leave, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
}
