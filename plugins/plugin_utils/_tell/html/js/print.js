// SPDX-License-Identifier: GPL-3.0-or-later
// On paper nothing is folded, and the grid is a plain table of the hosts that it shows.

let closed = [];

function paperTable() {
  const fields = ["host", "verdict", ...FIELDS.filter((one) => one !== "moved" || data.rdma)];
  const rowOf = (host) => make("tr", null, ...fields.map((kind) => cellOf(host, { kind })));
  const body = make("tbody", null, ...grid.hosts.map(rowOf));
  // Who reads paper sees no filter.
  const count = word("grid.count", { shown: grid.hosts.length, n: hosts.length });
  return make("table", { id: "paper" }, make("caption", null, count), headsOf(fields), body);
}

function startPrint() {
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
    find("grid-scroll").after(paperTable());
  });
  window.addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
    find("paper").remove();
  });
}
