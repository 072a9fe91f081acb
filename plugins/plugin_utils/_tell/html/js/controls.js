// SPDX-License-Identifier: GPL-3.0-or-later
// The controls above the grid.

function fillSelects() {
  const options = (names) => names.map((name) => make("option", { value: name }, name));
  find("filter-area").append(...options([...areas.keys()]));
  if (groups.length) find("filter-group").append(...options([...groups].sort(collator.compare)));
  find("filter-check-ids").append(...options(data.ids.map(([name]) => name)));
  const counts = new Map();
  for (const host of hosts) counts.set(host.verdict, (counts.get(host.verdict) || 0) + 1);
  for (const verdict of [...VERDICTS].reverse().filter((one) => counts.has(one))) {
    const option = word(`verdict.${verdict}`);
    const made = make("option", { value: verdict, "data-t": option.dataset.t }, option.textContent);
    find("filter-verdict").append(made);
  }
}

function show(change) {
  Object.assign(wanted, change);
  find("filter").value = wanted.text;
  find("filter-verdict").value = wanted.verdict;
  find("filter-area").value = wanted.area;
  if (groups.length) find("filter-group").value = wanted.group;
  find("filter-check").value = wanted.check;
  find("grid-scroll").scrollTop = 0;
  refilter();
}

function cleared() {
  const check = hosts.some((host) => host.findings.length) ? WRONG : ALL;
  return { text: "", verdict: "", group: "", area: "", check, order: "verdict", backwards: false };
}

function startControls() {
  fillSelects();
  let timer = 0;
  find("filter").addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(() => show({ text: event.target.value }), hosts.length > 200 ? 80 : 0);
  });
  const chosen = (id, change) => {
    find(id).addEventListener("change", (event) => show(change(event.target.value)));
  };
  chosen("filter-verdict", (verdict) => ({ verdict }));
  if (groups.length) chosen("filter-group", (group) => ({ group }));
  chosen("filter-area", (area) => ({ area, check: areaCheck() }));
  chosen("filter-check", chosenCheck);
  chosen("sort", (order) => ({ order: order || "verdict", backwards: false }));
  find("filter-clear").addEventListener("click", () => {
    show(cleared());
    find("filter").focus();
  });
  for (const chip of document.querySelectorAll(".chip[data-verdict]")) {
    chip.addEventListener("click", () => show({ ...cleared(), verdict: chip.dataset.verdict }));
  }
  for (const link of document.querySelectorAll("a[data-group]")) {
    link.addEventListener("click", () => show({ ...cleared(), group: link.dataset.group }));
  }
  show(cleared());
}

// One check has an area already.
function areaCheck() {
  return [WRONG, ALL].includes(wanted.check) ? wanted.check : ALL;
}

function chosenCheck(check) {
  if ([WRONG, ALL, WORDS].includes(check)) return { check };
  const id = data.ids.findIndex(([name]) => name === check);
  return { check, area: "", order: String(id), backwards: false };
}
