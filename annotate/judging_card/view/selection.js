// What is selected on the page.

/**
 * A selection in a shadow root is told in three ways, by the browser.
 *
 * @param {Node} root
 * @returns {AbstractRange | null}
 */
export function selectedRange(root) {
  const selection = document.getSelection();
  if (!(root instanceof ShadowRoot)) return selection?.rangeCount ? selection.getRangeAt(0) : null;
  if (selection && "getComposedRanges" in selection) {
    try {
      return selection.getComposedRanges({ shadowRoots: [root] })[0] ?? null;
    } catch {
      const composed = /** @type {(root: ShadowRoot) => StaticRange[]} */ (
        /** @type {unknown} */ (selection.getComposedRanges)
      );
      return composed.call(selection, root)[0] ?? null; // Safari's first form of it
    }
  }
  const own = /** @type {{ getSelection?: () => Selection | null }} */ (root).getSelection?.() ?? selection;
  return own?.rangeCount ? own.getRangeAt(0) : null;
}

/** @param {AbstractRange} range */
export function wordsIn({ startContainer, startOffset, endContainer, endOffset }) {
  const live = document.createRange();
  live.setStart(startContainer, startOffset);
  live.setEnd(endContainer, endOffset);
  return live.toString();
}
