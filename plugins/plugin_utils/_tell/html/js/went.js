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

function wentOf(host) {
  const told = data.went;
  const letters = told ? strings[told.hosts[host.number]] : "";
  if (!letters) return null;
  const found = told.findings.filter((one) => one[3].includes(host.number));
  if (!found.length && /^r+$/.test(letters)) {
    return make("p", { class: "note" }, word("went.steady", { n: letters.length, at: told.runs[0] }));
  }
  const heads = told.runs.map((at) => make("th", { scope: "col" }, at));
  const rows = found.slice(0, MOST_FINDINGS).map(([id, subject, results]) =>
    wentRow([make("code", null, strings[id]), ` ${strings[subject]}`], results ? strings[results] : "", RESULT_LOOKS));
  const table = make("table", { class: "map went" },
    make("thead", null, make("tr", null, make("th", { scope: "col" }, word("column.check")), ...heads)),
    make("tbody", null, wentRow([word("column.verdict")], letters, VERDICT_LOOKS), ...rows));
  const made = make("div", null, make("h3", null, word("went.title")),
    make("div", { class: "wide", tabindex: "0" }, table));
  if (found.length > MOST_FINDINGS) {
    made.append(make("p", { class: "note" }, word("more_in_json", { n: found.length - MOST_FINDINGS })));
  }
  return made;
}
