// Addresses in documents: only those of the web are links or pictures.

import assert from "node:assert/strict";
import test from "node:test";
import { webAddress } from "../../../annotate/card/view/frame/chips.js";

test("addresses of the web, and the campaign's own files", () => {
  assert.equal(webAddress("https://example.org/a?b=1#c")?.href, "https://example.org/a?b=1#c");
  assert.equal(webAddress("/files/a.png", "http://localhost:1/page")?.href, "http://localhost:1/files/a.png");
});

test("nothing that a browser would run or open elsewhere", () => {
  for (const address of [
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "data:text/html,x",
    "file:///etc",
    "ftp://x/y",
    "x",
  ])
    assert.equal(webAddress(address), null, address);
  assert.equal(webAddress("javascript:alert(1)", "http://localhost:1/page"), null);
});
