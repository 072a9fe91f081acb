// SPDX-License-Identifier: GPL-3.0-or-later
// Which hosts and columns the grid shows, and in which order.

const WRONG = "wrong", ALL = "all", WORDS = "words";
const collator = new Intl.Collator(undefined, { numeric: true });
// By text: for each string whether it holds it.
let lowered = null;

// In both languages, whichever is chosen.
function searched(said) {
  return `${said} ${chinese.get(said) || ""}`.toLowerCase();
}

function holders(term) {
  lowered = lowered || strings.map(searched);
  return lowered.map((one) => one.includes(term));
}

// Checks, of those that are findings, in which every text may be looked for.
function matching(term) {
  const holds = holders(term);
  const names = data.ids.map(([name, title]) => `${name} ${searched(title)}`.toLowerCase().includes(term));
  return data.checks.map((raw, number) => ranks[number] >= WAIVED
    && (names[raw[0]] || raw.some((text, at) => at !== 0 && at !== 2 && text && holds[text])));
}

// Every term has to be in the host's name, or in a finding of it; one in quotes may have blanks.
function textFilter(text) {
  const parts = [...text.toLowerCase().matchAll(/"([^"]*)"?|([^\s"]+)/g)];
  const terms = parts.map((one) => one[1] || one[2]).filter(Boolean);
  const found = terms.map((term) => [term, matching(term)]);
  return (host) => found.every(([term, hits]) => host.name.toLowerCase().includes(term)
    || host.findings.some((check) => hits[check]));
}

function shownIds(wanted) {
  if (wanted.check === WORDS) return [];
  let ids = wanted.area ? areas.get(wanted.area) || [] : data.ids.map((_, id) => id);
  if (wanted.check === WRONG) {
    ids = ids.filter((id) => hosts.some((host) => host.cells[id] >= WAIVED));
  } else if (wanted.check !== ALL) {
    ids = data.ids.map((_, id) => id).filter((id) => data.ids[id][0] === wanted.check);
  }
  return ids;
}

const ORDERS = {
  verdict: (a, b) => b.rank - a.rank || b.wrong - a.wrong || a.number - b.number,
  wrong: (a, b) => b.wrong - a.wrong || b.rank - a.rank || a.number - b.number,
  host: (a, b) => collator.compare(a.name, b.name) || a.number - b.number,
  inventory: (a, b) => a.number - b.number,
};

// order: one of ORDERS, or the number of an id, the worst first.
function shownHosts(wanted) {
  const hit = textFilter(wanted.text);
  const isMeant = (host) => (!wanted.verdict || host.verdict === wanted.verdict)
    && (!wanted.group || host.groups.includes(wanted.group));
  const found = hosts.filter((host) => isMeant(host) && hit(host));
  const { order } = wanted;
  const byCheck = (a, b) => b.cells[order] - a.cells[order] || ORDERS.verdict(a, b);
  found.sort(ORDERS[wanted.order] || byCheck);
  return wanted.backwards ? found.reverse() : found;
}
