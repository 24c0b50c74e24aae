/**
 * Reports how much of the card's core the tests reached, for Node's test runner; its "dot" reporter leaves this out.
 *
 * @import { TestEvent } from "node:test/reporters"
 * @param {AsyncIterable<TestEvent>} events
 */
export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== "test:coverage") continue;
    const { files, totals, thresholds } = data.summary;
    if (!files.length) continue;
    yield `Tests reached ${percent(totals.coveredLinePercent)} of lines and ${percent(totals.coveredBranchPercent)} of branches of the card's core.\n`;
    if (totals.coveredLinePercent >= thresholds.line && totals.coveredBranchPercent >= thresholds.branch) continue;
    yield `Expected ${thresholds.line}% of lines and ${thresholds.branch}% of branches. Not reached:\n`;
    for (const { path, lines, branches } of files) {
      const missed = [...lines, ...branches].filter(({ count }) => !count).map(({ line }) => line);
      const places = [...new Set(missed)].sort((a, b) => a - b);
      if (places.length) yield `  ${path.slice(data.summary.workingDirectory.length + 1)}: ${ranges(places)}\n`;
    }
  }
}

/** @param {number} share */
const percent = (share) => `${share.toFixed(1)}%`;

/**
 * Lines in order, as ranges: "3-5 9".
 *
 * @param {number[]} lines
 */
function ranges(lines) {
  const starts = lines.filter((line) => !lines.includes(line - 1));
  const ends = lines.filter((line) => !lines.includes(line + 1));
  return starts.map((start, at) => (start === ends[at] ? `${start}` : `${start}-${ends[at]}`)).join(" ");
}
