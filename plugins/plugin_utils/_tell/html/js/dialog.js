// SPDX-License-Identifier: GPL-3.0-or-later
// Opening a host by the address (#host=NAME&check=ID), and closing it again.

// The address of the page without what was open.
function forget() {
  try {
    history.replaceState(null, "", location.pathname + location.search);
  } catch {
    location.hash = "";
  }
}

function neighbour(host, step) {
  const at = grid.hosts.indexOf(host);
  return at < 0 ? null : grid.hosts[at + step] || null;
}

function step(host, by, key, sign) {
  const other = neighbour(host, by);
  const button = make("button", { type: "button", class: "step", disabled: !other }, sign);
  const made = label(button, "aria-label", key);
  if (other) made.addEventListener("click", () => location.replace(hostLink(other)));
  return made;
}

function headOf(host) {
  const button = make("button", { type: "button", id: "host-close" }, "✕");
  const close = label(button, "aria-label", "host.close");
  close.addEventListener("click", () => find("host").close());
  const title = make("h2", { id: "host-name", tabindex: "-1" }, host.name, " ");
  title.append(verdictWord(host.verdict));
  const steps = [step(host, -1, "host.before", "‹"), step(host, 1, "host.after", "›")];
  return make("header", null, title, ...steps, close);
}

function openHost(host, check) {
  const dialog = find("host");
  dialog.replaceChildren(headOf(host), hostPage(host));
  dialog.dataset.host = host.name;
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  const all = [...dialog.querySelectorAll("[data-check]")];
  const at = check ? all.find((one) => one.dataset.check === check) : null;
  if (!at) {
    find("host-name").focus();
    return;
  }
  at.classList.add("meant");
  const folded = at.closest("details");
  if (folded) folded.open = true;
  at.scrollIntoView({ block: "start" });
  (at.querySelector("h3") || find("host-name")).focus({ preventScroll: true });
}

// The cause on the first page, and the grid by that check.
function showSame(check) {
  find("host").close();
  show({ ...cleared(), ...chosenCheck(check.name) });
  const named = [...document.querySelectorAll(".cause")]
    .filter((one) => one.dataset.checks.split(" ").includes(check.name));
  const says = (one) => one.dataset.seeks.split('"').every((part) => check.cause.includes(part.trim()));
  const isOwn = (one) => one.classList.contains(check.result) && says(one);
  // Else that of the finding with which it goes.
  const cause = named.find(isOwn) || named[0];
  const at = cause || find("hosts");
  if (cause) for (const one of [cause.closest("details"), cause.querySelector("details")]) if (one) one.open = true;
  at.scrollIntoView({ block: "start" });
  (cause ? cause.querySelector("summary") : find("filter-check")).focus({ preventScroll: true });
}

function follow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const code = asked.get("lang");
  if (LANGUAGES.includes(code) && code !== LANGUAGES[language]) speak(code);
  const host = hostByName.get(asked.get("host"));
  if (host) openHost(host, asked.get("check"));
  else if (find("host").open) find("host").close();
  const part = location.hash.startsWith("#section-") ? find(location.hash.slice(1)) : null;
  const fold = part && part.querySelector("details.fold");
  if (fold) fold.open = true;
  if (part) part.scrollIntoView();
}

// In a hand there is room for a line of each part; what is asked for opens.
function startFolds() {
  if (!matchMedia("(max-width: 48rem)").matches) return;
  for (const one of document.querySelectorAll("details.fold")) one.open = false;
}

function startDialog() {
  const dialog = find("host");
  dialog.addEventListener("close", () => {
    if (location.hash.startsWith("#host=")) forget();
    dialog.replaceChildren();
  });
  // A click beside the page of the host closes it.
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  window.addEventListener("hashchange", follow);
  follow();
}
