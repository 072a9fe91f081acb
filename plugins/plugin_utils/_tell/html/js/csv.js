// SPDX-License-Identifier: GPL-3.0-or-later
// The hosts that the grid shows, as a spreadsheet reads them.

// A text that a spreadsheet would take for a formula begins with a quote there. What may end a cell,
// as the semicolon does in half of Europe, is none in a text, or the rest were a cell of its own.
function csvCell(text) {
  const flat = text.replaceAll(";", ",").replace(/[\t\r\n]+/g, " ");
  const safe = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(flat) ? `'${flat}` : flat;
  return `"${safe.replaceAll('"', '""')}"`;
}

function csvOf(some) {
  const fields = ["host", "verdict", "groups", "wrong", ...FIELDS, "findings"];
  const told = (check) => `${check.name} ${check.subject}: ${check.observed || check.cause}`;
  const rows = some.map((host) => [
    host.name, host.verdict, host.groups.join(" "), String(host.wrong), ...FIELDS.map((one) => textOf(host, one)),
    host.findings.filter((one) => ranks[one] > WAIVED).map(checkOf).map(told).join(" | "),
  ]);
  return [fields, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function startCsv() {
  find("csv").addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([csvOf(grid.hosts)], { type: "text/csv" }));
    const link = make("a", { href: url, download: "ibready-hosts.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
}
