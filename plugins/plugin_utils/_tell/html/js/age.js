// SPDX-License-Identifier: GPL-3.0-or-later
// When it was judged in the reader's own time, and how long ago that is: old data look as new otherwise.

const DAY = 86400;

function tellAge() {
  const made = document.querySelector("time");
  const created = new Date(made.dateTime);
  if (Number.isNaN(created.getTime())) return;
  made.textContent = created.toLocaleString(document.documentElement.lang, {
    year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
    timeZoneName: "short",
  });
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
