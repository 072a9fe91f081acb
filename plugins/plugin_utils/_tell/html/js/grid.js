// SPDX-License-Identifier: GPL-3.0-or-later
// The grid of hosts and checks. Only the rows in sight are there, so thousands cost what fifty do.

const ROW = 26, SPARE = 12;
const WIDTHS = {
  host: 208, verdict: 92, wrong: 64, check: 24, worst: 360,
  ports: 190, manager: 150, pings: 190, moved: 130, counts: 330,
};
const wanted = { text: "", verdict: "", area: "", check: ALL, order: "verdict", backwards: false };
const grid = { hosts: [], columns: [], heads: [], rows: new Map(), row: 0, column: 0 };

function refilter() {
  grid.hosts = shownHosts(wanted);
  grid.columns = columnsOf(wanted);
  find("sort").value = ORDERS[wanted.order] ? wanted.order : "";
  grid.row = Math.min(grid.row, Math.max(0, grid.hosts.length - 1));
  grid.column = Math.min(grid.column, grid.columns.length - 1);
  drawHead();
  find("grid").setAttribute("aria-rowcount", grid.hosts.length + 1);
  const count = word("grid.count", { shown: grid.hosts.length, n: hosts.length });
  find("grid-count").replaceChildren(count);
  find("grid-empty").hidden = grid.hosts.length > 0;
  forgetRows();
  drawRows();
}

function drawHead() {
  const heads = grid.columns.map((column, at) => columnHead(column, grid.columns[at - 1]));
  const table = find("grid");
  const group = make("colgroup");
  let width = grid.columns.reduce((sum, { kind }) => sum + WIDTHS[kind], 0);
  const room = Math.max(0, find("grid-scroll").clientWidth - width);
  for (const { kind } of grid.columns) {
    const column = make("col");
    column.style.width = `${WIDTHS[kind] + (kind === "worst" ? room : 0)}px`;
    group.append(column);
  }
  if (grid.columns.some(({ kind }) => kind === "worst")) width += room;
  table.style.width = `${width}px`;
  table.tHead.replaceChildren(make("tr", { "aria-rowindex": 1 }, ...heads));
  table.querySelector("colgroup").replaceWith(group);
  heads.forEach((head, at) => {
    const { order } = grid.columns[at];
    if (!order) return;
    const way = wanted.backwards ? "descending" : "ascending";
    if (order === wanted.order) head.setAttribute("aria-sort", way);
    const button = head.querySelector("button");
    button.addEventListener("click", () => sortBy(order));
    button.tabIndex = -1;
  });
  grid.heads = heads;
}

function sortBy(order) {
  wanted.backwards = wanted.order === order && !wanted.backwards;
  wanted.order = order;
  const held = find("grid").contains(document.activeElement);
  refilter();
  if (held) targetOf(grid.row, grid.column).focus({ preventScroll: true });
}

function rowOf(at) {
  const made = make("tr", { "aria-rowindex": at + 2 });
  made.append(...grid.columns.map((column) => cellOf(grid.hosts[at], column)));
  made.dataset.row = at;
  return made;
}

// What stands for the rows that are not there.
const above = make("tr", { "aria-hidden": "true", class: "space" }, make("td"));
const below = make("tr", { "aria-hidden": "true", class: "space" }, make("td"));

function stretch(space, rows) {
  space.style.height = `${rows * ROW}px`;
  space.hidden = rows <= 0;
}

function forgetRows() {
  grid.rows.clear();
  find("grid").tBodies[0].replaceChildren(above, below);
}

// Rows that stay are not touched: one of them may have the focus.
function drawRows() {
  const scroller = find("grid-scroll");
  const count = grid.hosts.length;
  const top = Math.min(count, Math.floor(scroller.scrollTop / ROW));
  const first = Math.max(0, top - SPARE);
  const last = Math.min(count, top + Math.ceil(scroller.clientHeight / ROW) + SPARE);
  for (const [at, row] of [...grid.rows]) {
    if (at >= first && at < last) continue;
    row.remove();
    grid.rows.delete(at);
  }
  let next = below;
  for (let at = last - 1; at >= first; at -= 1) {
    if (!grid.rows.has(at)) {
      grid.rows.set(at, rowOf(at));
      next.before(grid.rows.get(at));
    }
    next = grid.rows.get(at);
  }
  stretch(above, first);
  stretch(below, count - last);
  const held = grid.row < 0 || grid.rows.has(grid.row);
  holdStop(held ? grid.row : Math.min(top, last - 1));
}

// The one cell at which Tab comes in.
function holdStop(row) {
  for (const one of find("grid").querySelectorAll("[tabindex='0']")) one.tabIndex = -1;
  const target = targetOf(row, grid.column);
  if (target) target.tabIndex = 0;
  return target;
}

// Row -1 is that of the heads.
function targetOf(row, column) {
  if (row < 0) return grid.heads[column].querySelector("button") || grid.heads[column];
  const line = grid.rows.get(row);
  return line ? line.cells[column] : null;
}

function startGrid() {
  const scroller = find("grid-scroll");
  let waits = false;
  scroller.addEventListener("scroll", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => { waits = false; drawRows(); });
  }, { passive: true });
  new ResizeObserver(() => drawRows()).observe(scroller);
  const body = find("grid").tBodies[0];
  const placeOf = (event) => {
    const cell = event.target.closest("td, th");
    const row = cell ? Number(cell.parentElement.dataset.row) : NaN;
    return Number.isNaN(row) ? null : { row, column: cell.cellIndex };
  };
  body.addEventListener("pointerover", (event) => {
    const place = placeOf(event);
    if (!place) return;
    find("grid-over").textContent = told(grid.hosts[place.row], grid.columns[place.column]);
  });
  body.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (!place || event.target.closest("a")) return;
    Object.assign(grid, place);
    holdStop(grid.row).focus({ preventScroll: true });
    openCell();
  });
  document.addEventListener("spoken", () => { forgetRows(); drawRows(); });
}

function openCell() {
  const host = grid.hosts[grid.row];
  const column = grid.columns[grid.column];
  location.hash = hostLink(host, column.kind === "check" ? data.ids[column.id][0] : "");
}
