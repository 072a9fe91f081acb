// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader chose, where the browser lets a file remember it.

const LANGUAGES = ["en", "zh"];

function recall(name) {
  try {
    return localStorage.getItem(`ibready.${name}`);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(`ibready.${name}`, value);
  } catch {
    // A page from a file may be refused; the choice then holds until it is closed.
  }
}
