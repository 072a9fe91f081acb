// SPDX-License-Identifier: GPL-3.0-or-later
// From a cause to the hosts that have it, in the grid; lists of nodes and commands to be taken along.

function startCauses() {
  for (const one of document.querySelectorAll(".cause")) {
    const button = one.querySelector("button.to-grid");
    const names = one.dataset.checks.split(" ");
    // Those of fabrics alone are in no row.
    button.hidden = !data.ids.some(([name]) => names.includes(name));
    button.addEventListener("click", () => {
      const parts = one.dataset.seeks.split('"').map((part) => part.trim());
      const filter = { text: parts.filter(Boolean).map((part) => `"${part}"`).join(" ") };
      show({ ...cleared(), ...(names.length === 1 ? chosenCheck(names[0]) : {}), ...filter });
      find("hosts").scrollIntoView();
      find("filter").focus({ preventScroll: true });
    });
  }
  for (const button of document.querySelectorAll("button.copy")) button.hidden = false;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button) copied(button, "copy", button.dataset.copy);
  });
}

function copyButton(text) {
  return make("button", { type: "button", class: "link copy", "data-copy": text }, word("copy"));
}

// The button, called by that word, says for a while that it has copied.
function copied(button, key, text) {
  copy(text).then(() => {
    button.replaceChildren(word("copied"));
    setTimeout(() => button.replaceChildren(word(key)), 2000);
  }, () => {});
}

// A page from a file or over http may be refused the clipboard; then it is done as by hand. It fails where neither does.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    byHand(text);
  }
}

function byHand(text) {
  const area = make("textarea", { readonly: true, class: "away" });
  area.value = text;
  // What is outside of an open dialog can be selected by nobody.
  (document.querySelector("dialog[open]") || document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
}
