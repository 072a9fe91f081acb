// SPDX-License-Identifier: GPL-3.0-or-later
// The page of one host: what is wrong with it and what to do, then all that was looked at.

function hostLink(host, check) {
  const at = check ? `&check=${encodeURIComponent(check)}` : "";
  return `#host=${encodeURIComponent(host.name)}${at}`;
}

function headsOf(keys) {
  const heads = keys.map((one) => make("th", { scope: "col" }, word(`column.${one}`)));
  return make("thead", null, make("tr", null, ...heads));
}

function checkRow(check) {
  const name = make("code", { title: check.title }, check.name);
  return make("tr", { "data-check": check.name },
    make("th", { scope: "row" }, name),
    make("td", null, check.subject),
    make("td", null, badge(check)),
    make("td", null, check.observed || bilingual(check.cause), evidenceOf(check)),
    make("td", null, expectation(check)));
}

function restOf(key, checks) {
  if (!checks.length) return null;
  const heads = headsOf(["check", "subject", "result", "observed", "expected"]);
  const table = make("table", null, heads, make("tbody", null, ...checks.map(checkRow)));
  return folded(key, { n: checks.length }, make("div", { class: "wide" }, table), "rest");
}

function factsOf(host) {
  const fields = FIELDS.filter((one) => one !== "moved" || data.rdma);
  const pairs = fields.flatMap((one) => pair(`column.${one}`, textOf(host, one)));
  return make("dl", { class: "facts" }, ...pairs);
}

function hostPage(host) {
  const checks = host.checks.map(checkOf);
  const findings = checks.filter((one) => ranks[one.number] > WAIVED);
  findings.sort((a, b) => ranks[b.number] - ranks[a.number]);
  const of = (rank) => checks.filter((one) => ranks[one.number] === rank);
  const body = make("div", { class: "host-body" }, factsOf(host), wentOf(host));
  if (!findings.length) {
    const clean = of(WAIVED).length ? "host.waived_only" : "host.clean";
    const key = checks.length ? clean : "host.unjudged";
    body.append(make("p", { class: "note" }, word(key)));
  }
  body.append(...[...findings, ...of(WAIVED)].map((one) => findingOf(one, host)));
  const rest = [findingsOver(host), restOf("host.passed", of(2)), restOf("host.skipped", of(1))];
  body.append(...rest.filter(Boolean));
  return body;
}
