// SPDX-License-Identifier: GPL-3.0-or-later
// Light or dark: as the system has it, until the reader says otherwise.

const THEMES = ["auto", "dark", "light"];

// At once, before the data is there; what will be said in another language than the file's waits for its words.
document.documentElement.dataset.theme = THEMES.includes(recall("theme")) ? recall("theme") : "auto";
document.documentElement.dataset.waits = firstLanguage() === LANGUAGES[0] ? "no" : "yes";

function paint(theme) {
  document.documentElement.dataset.theme = theme;
  find("theme").replaceChildren(word(`theme.${theme}`));
}

function startTheme() {
  const button = find("theme");
  button.hidden = false;
  paint(document.documentElement.dataset.theme);
  button.addEventListener("click", () => {
    const now = THEMES.indexOf(document.documentElement.dataset.theme);
    const theme = THEMES[(now + 1) % THEMES.length];
    remember("theme", theme);
    paint(theme);
  });
}
