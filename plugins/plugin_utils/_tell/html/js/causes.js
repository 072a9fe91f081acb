// SPDX-License-Identifier: GPL-3.0-or-later
// From a cause to the hosts that have it, in the grid.

function startCauses() {
  for (const one of document.querySelectorAll("details.cause")) {
    const button = one.querySelector("button.to-grid");
    const names = one.dataset.checks.split(" ");
    // Those of fabrics alone are in no row.
    button.hidden = !data.ids.some(([name]) => names.includes(name));
    button.addEventListener("click", () => {
      const parts = one.querySelector(".why").textContent.split('"').map((part) => part.trim());
      const filter = { text: parts.filter(Boolean).map((part) => `"${part}"`).join(" ") };
      show({ ...cleared(), ...(names.length === 1 ? chosenCheck(names[0]) : {}), ...filter });
      find("hosts").scrollIntoView();
      find("filter").focus({ preventScroll: true });
    });
  }
}
