// SPDX-License-Identifier: GPL-3.0-or-later
// One finding: what was seen and expected, why, what to do, and what proves it.

function pair(key, value) {
  return value ? [make("dt", null, word(key)), make("dd", null, value)] : [];
}

function folded(key, values, content, kind) {
  return make("details", { class: kind }, make("summary", null, word(key, values)), content);
}

function expectation(check) {
  if (!check.expected) return "";
  const made = make("span", null, check.expected);
  if (check.from) made.append(" ", make("small", null, word("host.from", { source: check.from })));
  return made;
}

function quotesOf(check) {
  const list = make("dl");
  for (const [name, text] of check.evidence) {
    list.append(make("dt", null, make("code", null, name)));
    list.append(make("dd", null, make("pre", { tabindex: "0" }, text)));
  }
  return list;
}

function evidenceOf(check) {
  if (!check.evidence.length) return null;
  return folded("host.evidence", null, quotesOf(check), "evidence");
}

// With where this is looked at, also where nothing could be quoted.
function proofOf(check) {
  if (!check.looks.length) return evidenceOf(check);
  const sources = make("p", { class: "note" }, word("host.looks"));
  for (const source of check.looks) sources.append(" ", make("code", null, source));
  return folded("host.evidence", null, make("div", null, quotesOf(check), sources), "evidence");
}

function badge(check) {
  const kind = check.waived ? "waived" : check.result;
  const made = word(`result.${kind}`);
  made.className = `result ${kind}${check.warning ? " warning" : ""}`;
  return made;
}

function isSame(number, check) {
  const other = checkOf(number);
  return other.id === check.id && other.cause === check.cause && other.result === check.result;
}

// Hosts with a finding of the same check and cause.
function sameOn(check) {
  const same = new Set();
  data.checks.forEach((raw, number) => {
    if (raw[0] === check.id && ranks[number] > WAIVED && isSame(number, check)) same.add(number);
  });
  return hosts.filter((host) => host.findings.some((one) => same.has(one)));
}

function titleOf(check) {
  const subject = make("b", null, check.subject);
  const name = make("code", null, check.name);
  const made = make("h3", { tabindex: "-1" }, badge(check), " ", name, " ", subject);
  if (check.warning) made.append(" ", make("small", null, word("warning")));
  return made;
}

// Without a reason it is refused: whoever accepts the failure says why.
function waiverOf(check, host) {
  const until = new Date(Date.now() + 30 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const waiver = { check: check.name, host: host.name, subject: check.subject, until, reason: "" };
  const pairs = Object.entries(waiver).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `- {${pairs.join(", ")}}\n`;
}

function waiveButton(check, host) {
  const button = make("button", { type: "button", class: "link waive" }, word("host.waive"));
  label(button, "title", "host.waive.about");
  button.addEventListener("click", () => copied(button, "host.waive", waiverOf(check, host)));
  return make("p", { class: "note" }, button);
}

function findingOf(check, host) {
  const kind = `${check.waived ? "waived" : check.result}${check.warning ? " warning" : ""}`;
  const made = make("article", { class: `finding ${kind}`, "data-check": check.name });
  made.append(titleOf(check), make("dl", null,
    ...pair("host.should", bilingual(check.title)),
    ...pair("column.observed", check.observed),
    ...pair("column.expected", expectation(check)),
    ...pair("host.cause", bilingual(check.cause)),
    ...pair("host.remedy", bilingual(check.remedy)),
    ...pair("host.waived", check.waived)));
  const evidence = proofOf(check);
  if (evidence) made.append(evidence);
  const same = check.waived ? [] : sameOn(check);
  if (same.length > 1) {
    const words = word("host.same", { n: same.length - 1 });
    const link = make("button", { type: "button", class: "link" }, words);
    link.addEventListener("click", () => showSame(check));
    made.append(link);
  }
  if (check.result === "fail" && !check.waived) made.append(waiveButton(check, host));
  return made;
}
