// SPDX-License-Identifier: GPL-3.0-or-later
// The grid from the keyboard: one stop for Tab, arrows within, Enter opens.

function moveTo(row, column) {
  grid.row = Math.max(-1, Math.min(row, grid.hosts.length - 1));
  grid.column = Math.max(0, Math.min(column, grid.columns.length - 1));
  if (grid.row >= 0 && !grid.rows.has(grid.row)) {
    find("grid-scroll").scrollTop = Math.max(0, (grid.row - 4) * ROW);
    drawRows();
  }
  const target = holdStop(grid.row);
  if (!target) return;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest", inline: "nearest" });
  const said = grid.row < 0 ? "" : told(grid.hosts[grid.row], grid.columns[grid.column]);
  find("grid-said").textContent = said;
}

const MOVES = {
  ArrowUp: ({ row, column }) => [row - 1, column],
  ArrowDown: ({ row, column }) => [row + 1, column],
  ArrowLeft: ({ row, column }) => [row, column - 1],
  ArrowRight: ({ row, column }) => [row, column + 1],
  PageUp: ({ row, column }) => [Math.max(0, row - 15), column],
  PageDown: ({ row, column }) => [row + 15, column],
  Home: ({ row }, all) => [all ? 0 : row, 0],
  End: ({ row }, all) => [all ? Infinity : row, Infinity],
};

function startKeys() {
  find("grid").addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (move && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      moveTo(...move(grid, event.ctrlKey || event.metaKey));
    } else if ((event.key === "Enter" || event.key === " ") && grid.row >= 0 && grid.hosts.length) {
      event.preventDefault();
      openCell();
    }
  });
  find("grid").addEventListener("focusin", (event) => {
    const head = grid.heads.findIndex((one) => one.contains(event.target));
    const row = event.target.closest("tr[data-row]");
    if (head >= 0) Object.assign(grid, { row: -1, column: head });
    if (!row) return;
    Object.assign(grid, { row: Number(row.dataset.row) });
    grid.column = event.target.closest("td, th").cellIndex;
  });
  // As in many tools: / goes to the filter.
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key !== "/" || typing || find("host").open) return;
    event.preventDefault();
    find("filter").focus();
  });
}
