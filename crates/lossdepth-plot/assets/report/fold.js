// Long tables of columns: the first lines, and a button for the others. Without a script and on paper all lines are there.

const FIRST_LINES = 12;

function startFolds() {
  for (const long of document.querySelectorAll("table.columns, table.changes")) {
    const rest = [...long.tBodies[0].rows].slice(FIRST_LINES);
    // Two more lines take no more place than a button.
    if (rest.length <= 2) continue;
    rest.forEach((line) => line.classList.add("folded"));
    const all = element("button", { type: "button", class: "quiet" }, `Show all ${FIRST_LINES + rest.length} columns`);
    all.addEventListener("click", () => {
      rest.forEach((line) => line.classList.remove("folded"));
      const next = rest[0].cells[0];
      next.tabIndex = -1;
      all.remove();
      next.focus();
    });
    long.parentElement.after(all);
  }
}
