// The selection on the page, and ranges that can be measured.

/** The selected range; browsers differ in how they report it in a shadow root. @param {Node} root @returns {AbstractRange | null} */
export function selectedRange(root) {
  const selection = document.getSelection();
  if (selection && root instanceof ShadowRoot && "getComposedRanges" in selection) {
    try {
      return selection.getComposedRanges({ shadowRoots: [root] })[0] ?? null;
    } catch {
      const composed = /** @type {any} */ (selection).getComposedRanges(root); // Safari 18
      return composed[0] ?? null;
    }
  }
  return selection?.rangeCount ? selection.getRangeAt(0) : null; // Firefox 140
}

/** A range that can be measured and read. @param {AbstractRange} range */
export function liveRange({ startContainer, startOffset, endContainer, endOffset }) {
  const live = document.createRange();
  live.setStart(startContainer, startOffset);
  live.setEnd(endContainer, endOffset);
  return live;
}
