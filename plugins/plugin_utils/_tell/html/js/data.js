// SPDX-License-Identifier: GPL-3.0-or-later
// The run as data.py packed it. RANKS: from nothing to the worst, as a cell of the grid shows it.

const data = await unpacked(find("data").textContent);
const strings = data.strings;
const VERDICTS = ["ready", "degraded", "unknown", "not_ready"];
const RESULTS = ["pass", "fail", "unknown", "skip"];
const RANKS = [
  ["none", ""], ["skip", "–"], ["pass", "·"], ["waived", "W"],
  ["unknown warning", "?"], ["fail warning", "f"], ["unknown", "?"], ["fail", "F"],
];
const WAIVED = 3;

function checkOf(number) {
  const raw = data.checks[number];
  const at = (place) => strings[raw[place] || 0];
  const evidence = [];
  for (let place = 9; place < raw.length; place += 2) evidence.push([at(place), at(place + 1)]);
  return {
    number, evidence, id: raw[0], name: data.ids[raw[0]][0], title: data.ids[raw[0]][1],
    looks: data.ids[raw[0]][2],
    subject: at(1), result: RESULTS[raw[2] % 4], warning: raw[2] >= 4, observed: at(3),
    expected: at(4), from: at(5), cause: at(6), remedy: at(7), waived: at(8),
  };
}

const ranks = data.checks.map((raw) => {
  const result = RESULTS[raw[2] % 4];
  if (result === "pass") return 2;
  if (result === "skip") return 1;
  if (raw[8]) return WAIVED;
  return (result === "fail" ? 5 : 4) + (raw[2] >= 4 ? 0 : 2);
});

// cells: by host and id the rank of the worst; findings: checks that did not pass or are waived.
const hosts = data.hosts.map(([name, verdict, ports, manager, pings, moved, checks], number) => {
  const cells = new Uint8Array(data.ids.length);
  for (const check of checks) {
    const id = data.checks[check][0];
    if (ranks[check] > cells[id]) cells[id] = ranks[check];
  }
  const findings = checks.filter((check) => ranks[check] >= WAIVED);
  return {
    number, name: strings[name], verdict: VERDICTS[verdict], rank: verdict,
    ports: strings[ports], manager: strings[manager], pings: strings[pings],
    moved: strings[moved], checks, cells, findings,
    wrong: findings.filter((check) => ranks[check] > WAIVED).length,
  };
});
// Names of the groups of the inventory, smallest first, and those of each host.
const groups = (data.groups || []).map(([name]) => strings[name]);
for (const host of hosts) host.groups = [];
(data.groups || []).forEach(([name, some]) => some.forEach((number) => hosts[number].groups.push(strings[name])));
const hostByName = new Map(hosts.map((one) => [one.name, one]));

// ids by area, in their order.
const areas = new Map();
data.ids.forEach((_, id) => {
  if (!areas.has(areaOf(id))) areas.set(areaOf(id), []);
  areas.get(areaOf(id)).push(id);
});

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function areaOf(id) {
  return data.ids[id][0].split(".")[0];
}
