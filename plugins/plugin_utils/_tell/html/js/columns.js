// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of the grid: what stands in their heads and cells.

const FIELDS = ["ports", "manager", "pings", "moved", "counts"];

function columnsOf(wanted) {
  const fixed = ["host", "verdict", "wrong"].map((kind) => ({ kind, order: kind }));
  if (wanted.check !== WORDS) {
    const checks = shownIds(wanted).map((id) => ({ kind: "check", id, order: String(id) }));
    if (wanted.check === ALL) return [...fixed, ...checks];
    // Of one check, the worst of that.
    const id = wanted.check === WRONG || !checks.length ? null : checks[0].id;
    return [...fixed, ...checks, { kind: "worst", id }];
  }
  const fields = FIELDS.filter((one) => one !== "moved" || data.rdma);
  return fixed.concat(fields.map((kind) => ({ kind })));
}

function columnHead(column, before) {
  const head = make("th", { scope: "col", class: `is-${column.kind}` });
  if (column.kind === "check") {
    const [name, title] = data.ids[column.id];
    const first = !before || before.kind !== "check" || areaOf(before.id) !== areaOf(column.id);
    head.classList.toggle("is-first", first);
    const whole = title ? `${name}: ${title}` : name;
    head.append(make("button", { type: "button", title: whole }, make("span", null, name)));
  } else if (column.order) {
    head.append(make("button", { type: "button" }, word(`column.${column.kind}`)));
  } else {
    head.append(word(`column.${column.kind}`));
    head.tabIndex = -1;
  }
  return head;
}

function rankWord(rank) {
  const [kind, warning] = RANKS[rank][0].split(" ");
  return say(`result.${kind}`) + (warning ? ` (${say("warning")})` : "");
}

function cellOf(host, column) {
  if (column.kind === "check") {
    const rank = host.cells[column.id];
    const cell = make("td", { class: `cell ${RANKS[rank][0]}`, "aria-label": rankWord(rank) });
    cell.textContent = RANKS[rank][1];
    return cell;
  }
  if (column.kind === "host") {
    const link = make("a", { href: hostLink(host), tabindex: "-1", title: host.name }, host.name);
    return make("th", { scope: "row", class: "is-host" }, link);
  }
  const cell = make("td", { class: `is-${column.kind}` });
  if (column.kind === "verdict") cell.append(verdictWord(host.verdict));
  else cell.textContent = cell.title = textOf(host, column.kind, column.id);
  return cell;
}

function textOf(host, kind, id) {
  if (kind === "wrong") return host.wrong ? shown(host.wrong) : "";
  if (kind === "counts") return countsOf(host);
  return kind === "worst" ? worstOf(host, id) : host[kind];
}

// The first of the worst findings in a line, of all checks or of one.
function worstOf(host, id) {
  let worst = null;
  for (const one of host.findings) {
    const meant = id === null || data.checks[one][0] === id;
    if (meant && (worst === null || ranks[one] > ranks[worst])) worst = one;
  }
  if (worst === null) return "";
  const check = checkOf(worst);
  return [check.name, ...wordsOf(check)].filter(Boolean).join(" · ");
}

function wordsOf(check) {
  const seen = check.observed && say("saw", check);
  const expected = check.expected && say("expects", check);
  return [check.subject, [seen, expected].filter(Boolean).join(", "), check.cause];
}

function verdictWord(verdict) {
  const made = word(`verdict.${verdict}`);
  made.className = `verdict ${verdict}`;
  return made;
}

// "34 pass, 1 fail", as everywhere else in ibready.
function countsOf(host) {
  const counted = {};
  for (const check of host.checks) {
    const kind = RANKS[ranks[check]][0].split(" ")[0];
    counted[kind] = (counted[kind] || 0) + 1;
  }
  return ["pass", "fail", "unknown", "waived", "skip"].filter((kind) => counted[kind])
    .map((kind) => `${shown(counted[kind])} ${say(`result.${kind}`)}`).join(", ");
}

// What a cell stands for, in a sentence.
function told(host, column) {
  if (!column || column.kind !== "check") {
    return `${host.name}: ${say(`verdict.${host.verdict}`)}; ${countsOf(host)}`;
  }
  const rank = host.cells[column.id];
  const isMeant = (check) => data.checks[check][0] === column.id && ranks[check] === rank;
  const of = host.checks.filter(isMeant);
  const said = of.length ? wordsOf(checkOf(of[0])) : [];
  const more = of.length > 1 ? ` (+${of.length - 1})` : "";
  const all = [host.name, data.ids[column.id][0], rankWord(rank) + more, ...said];
  return all.filter(Boolean).join(" · ");
}
