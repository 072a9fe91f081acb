// SPDX-License-Identifier: GPL-3.0-or-later
// Elements, built from text alone: nothing foreign is ever parsed as markup.

function find(id) {
  return document.getElementById(id);
}

// make("td", {class: "fail", "aria-label": "x"}, "text", element, null)
function make(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((one) => one !== null && one !== ""));
  return made;
}
