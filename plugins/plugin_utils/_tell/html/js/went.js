// SPDX-License-Identifier: GPL-3.0-or-later
// How one host went over the last runs: its verdicts, and which findings came and went.

// By the letters of data.py: how it looks, its sign, and the word for it.
const VERDICT_LOOKS = {
  r: ["ok", "·", "verdict.ready"], d: ["odd", "f", "verdict.degraded"], u: ["unknown", "?", "verdict.unknown"],
  n: ["fail", "F", "verdict.not_ready"], "-": ["none", "-", "went.absent"],
};
const RESULT_LOOKS = {
  p: ["ok", "·", "result.pass"], f: ["fail", "F", "result.fail"], u: ["unknown", "?", "result.unknown"],
  w: ["waived", "W", "result.waived"], s: ["unused", "–", "result.skip"], "-": ["none", "-", "went.absent"],
  ".": ["", "", "went.none"],
};
const MOST_FINDINGS = 40;

function wentRow(head, letters, looks) {
  const cells = [...letters].map((letter) => {
    const [look, sign, key] = looks[letter];
    return label(make("td", { class: `cell ${look}` }, sign), "aria-label", key);
  });
  return make("tr", null, make("th", { scope: "row" }, ...head), ...cells);
}

function wentTable(rows) {
  const heads = ["", ...data.went.runs].map((at) => make("th", { scope: "col" }, at));
  const table = make("table", { class: "map went" },
    make("thead", null, make("tr", null, ...heads)), make("tbody", null, ...rows));
  return make("div", { class: "wide", tabindex: "0" }, table);
}

// Its verdicts, in a line where all are the same and ready.
function wentOf(host) {
  const letters = data.went ? strings[data.went.hosts[host.number]] : "";
  if (!letters) return null;
  if (/^r+$/.test(letters)) {
    return make("p", { class: "note" }, word("went.steady", { n: letters.length, at: data.went.runs[0] }));
  }
  return wentTable([wentRow([word("went.title")], letters, VERDICT_LOOKS)]);
}

function findingsOver(host) {
  const found = data.went ? data.went.findings.filter((one) => one[3].includes(host.number)) : [];
  if (!found.length) return null;
  const rows = found.slice(0, MOST_FINDINGS).map(([id, subject, results]) =>
    wentRow([make("code", null, strings[id]), ` ${strings[subject]}`], strings[results], RESULT_LOOKS));
  const more = found.length - MOST_FINDINGS;
  return make("div", null, make("h3", null, word("went.findings")), wentTable(rows),
    more > 0 ? make("p", { class: "note" }, word("more_in_json", { n: more })) : null);
}
