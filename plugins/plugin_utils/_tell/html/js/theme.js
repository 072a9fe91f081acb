// SPDX-License-Identifier: GPL-3.0-or-later
// Light or dark: as the system has it, until the reader says otherwise.

const THEMES = ["auto", "dark", "light"];

function paint(theme) {
  document.documentElement.dataset.theme = theme;
  find("theme").replaceChildren(word(`theme.${theme}`));
}

function startTheme() {
  const button = find("theme");
  button.hidden = false;
  const kept = recall("theme");
  paint(THEMES.includes(kept) ? kept : "auto");
  button.addEventListener("click", () => {
    const now = THEMES.indexOf(document.documentElement.dataset.theme);
    const theme = THEMES[(now + 1) % THEMES.length];
    remember("theme", theme);
    paint(theme);
  });
}
