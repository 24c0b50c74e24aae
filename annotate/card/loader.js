// The module that Streamlit runs, from a blob: address, where relative imports lead nowhere: it imports the card's entry.

/** @import { Card, Mounted } from "./component.js" */

/** The entry, and all that it imports. The server fills them in (annotate/card/server/card_modules.py). */
const [ENTRY = "", ...IMPORTED] = ["ADDRESSES"].map((path) => new URL(path, location.href).href);

/** @type {HTMLElement | undefined} */
let failure;

for (const address of IMPORTED) {
  const link = document.createElement("link");
  link.rel = "modulepreload"; // at once: a browser would find out about each only when it has the module before
  link.href = address;
  document.head.append(link);
}

/**
 * Mounts the card when its modules are there. Streamlit runs the clean-up that the promise gives, also late.
 *
 * @param {Mounted} component
 */
export default async function mount(component) {
  const root = component.parentElement;
  /** @type {{ default: Card }} */
  let entry;
  try {
    entry = await import(ENTRY);
  } catch (error) {
    console.error(error);
    failure?.remove();
    failure = document.createElement("p");
    failure.role = "alert";
    failure.textContent = "The judging card could not be loaded. Check your connection, then reload this page.";
    root.prepend(failure);
    return undefined;
  }
  failure?.remove();
  // A card that has gone meanwhile must not end the one that is shown now.
  return root.isConnected ? entry.default(component) : undefined;
}
