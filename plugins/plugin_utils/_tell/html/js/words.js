// SPDX-License-Identifier: GPL-3.0-or-later
// The page's own words in the language that is chosen. Elements say by data-t which are theirs.

const SAID = ["aria-label", "placeholder", "title"];
const chinese = new Map(Object.entries(data.chinese));
let language = 0;

function say(key, values) {
  let words = data.words[key][language];
  const bar = words.indexOf("|");
  if (bar >= 0) words = String(values.n) === "1" ? words.slice(0, bar) : words.slice(bar + 1);
  return words.replace(/{([a-z]+)(?::([^/}]*)\/([^}]*))?}/g, (_, name, one, many) =>
    (many === undefined ? values[name] : `${values[name]} ${String(values[name]) === "1" ? one : many}`));
}

function shown(value) {
  return typeof value === "number" ? value.toLocaleString("en") : value;
}

// An element of these words, which is said again when the language changes.
function word(key, values) {
  const made = make("span", { "data-t": key });
  for (const [name, value] of Object.entries(values || {})) made.dataset[name] = shown(value);
  made.textContent = say(key, made.dataset);
  return made;
}

// A text in which what stands between backticks is code; a command in the controller's own words can be copied.
function marked(said, copies) {
  return said.split(/`([^`\n]+)`/).flatMap((part, at) => {
    if (at % 2 === 0) return [part];
    const code = make("code", null, part);
    return copies && part.includes(" ") ? [code, " ", copyButton(part)] : [code];
  });
}

// What is not the page's own, said in the language that is chosen where its Chinese is known.
function bilingual(said) {
  if (!chinese.has(said)) return said && make("span", null, ...marked(said, false));
  const made = make("span", { "data-en": said, "data-zh": chinese.get(said) });
  made.append(...marked(made.dataset[LANGUAGES[language]], false));
  return made;
}

// An attribute of these words.
function label(element, name, key) {
  element.setAttribute(`data-t-${name}`, key);
  element.setAttribute(name, say(key, element.dataset));
  return element;
}

function translate(root) {
  for (const one of root.querySelectorAll("[data-t]")) {
    one.textContent = say(one.dataset.t, one.dataset);
  }
  for (const one of root.querySelectorAll("[data-zh]")) {
    one.dataset.en ??= one.textContent;
    one.replaceChildren(...marked(one.dataset[LANGUAGES[language]], "copies" in one.dataset));
  }
  for (const name of SAID) {
    for (const one of root.querySelectorAll(`[data-t-${name}]`)) {
      one.setAttribute(name, say(one.getAttribute(`data-t-${name}`), one.dataset));
    }
  }
}

function speak(code) {
  language = Math.max(0, LANGUAGES.indexOf(code));
  document.documentElement.lang = LANGUAGES[language];
  const button = find("language");
  button.lang = LANGUAGES[1 - language];
  translate(document);
  document.dispatchEvent(new Event("spoken"));
}

function firstLanguage() {
  const asked = new URLSearchParams(location.hash.slice(1)).get("lang") || recall("language");
  if (LANGUAGES.includes(asked)) return asked;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

function startWords() {
  const button = find("language");
  button.hidden = false;
  button.addEventListener("click", () => {
    const code = LANGUAGES[1 - language];
    remember("language", code);
    speak(code);
  });
  if (firstLanguage() !== LANGUAGES[0]) speak(firstLanguage());
  document.documentElement.dataset.waits = "no";
}
