// SPDX-License-Identifier: GPL-3.0-or-later
// How long ago it was judged, for old data look as new otherwise; and when that was in the reader's own time.

const DAY = 86400;

function tellAge() {
  const made = document.querySelector("time");
  const created = new Date(made.dateTime);
  if (Number.isNaN(created.getTime())) return;
  made.title = created.toLocaleString(document.documentElement.lang, { dateStyle: "long", timeStyle: "long" });
  const age = Math.max(0, (Date.now() - created) / 1000);
  const [unit, size] = age < 5400 ? ["minutes", 60] : age < 2 * DAY ? ["hours", 3600] : ["days", DAY];
  find("age").replaceChildren(word(`age.${unit}`, { n: Math.round(age / size) }));
  find("age").className = age > DAY ? "stale" : "";
}

function startAge() {
  tellAge();
  document.addEventListener("spoken", tellAge);
  setInterval(tellAge, 60000);
}
