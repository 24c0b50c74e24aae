/** The argument with which Streamlit calls a component's script, as far as the cards use it. */
export interface Mounted {
  data: unknown;
  parentElement: Element | ShadowRoot;
}

/** The default export of an entry: it draws the card, and gives the function that ends it. */
export type Card = (component: Mounted) => () => void;
