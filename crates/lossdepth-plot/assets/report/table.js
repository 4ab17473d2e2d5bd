// The table of odd rows: sorted, filtered, marked, selected.

const table = {
  body: byId("rows-table").tBodies[0],
  lines: [],
  sort: { key: "rank", descending: false },
  visible: [],
};

const sortKeys = {
  rank: (row, index) => index,
  name: (row) => row.name,
  p_value: (row) => row.p_value,
  depth: (row) => row.depth,
  percentile: (row) => row.percentile,
  reason: (row) => (row.reasons[0] ? `${row.reasons[0].lead} ${row.reasons[0].sentence}` : ""),
};

const collator = new Intl.Collator("en", { numeric: true });

function sortRows(key, descending) {
  table.sort = { key, descending };
  const value = sortKeys[key];
  const compare = (a, b) => {
    const [left, right] = [value(report.rows[a], a), value(report.rows[b], b)];
    const order = typeof left === "string" ? collator.compare(left, right) : left - right;
    return (descending ? -order : order) || a - b;
  };
  const order = report.rows.map((_, index) => index).sort(compare);
  table.body.append(...order.map((index) => table.lines[index]));
  for (const head of document.querySelectorAll("#rows-table th[data-sort]")) {
    const own = head.dataset.sort === key;
    if (own) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

function searchable(row) {
  const words = [row.name, ...row.reasons.map((reason) => `${reason.lead} ${reason.sentence}`), ...row.cells.map(cellText)];
  return words.join("\n").toLowerCase();
}

function filterRows() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const column = byId("reason").value;
  const group = byId("group").value;
  const members = group === "" ? null : new Set(report.groups[Number(group)].rows);
  const flagged = byId("only-flagged").checked;
  table.visible = [];
  report.rows.forEach((row, index) => {
    const shown =
      words.every((word) => row.searchable.includes(word)) &&
      (column === "" || row.reasons.some((reason) => reason.columns.includes(Number(column)))) &&
      (members === null || members.has(index)) &&
      (!flagged || isFlagged(row));
    table.lines[index].hidden = !shown;
    if (shown) table.visible.push(index);
  });
  const all = report.rows.length;
  byId("rows-count").textContent = table.visible.length === all ? `${plural(all, "row", "rows")}` : `${table.visible.length} of ${plural(all, "row", "rows")}`;
  byId("clear").disabled = words.length === 0 && column === "" && group === "" && !flagged;
  updateExport();
}

function exported() {
  return state.marked.size > 0 ? [...state.marked].sort((a, b) => a - b) : table.visible;
}

function updateExport() {
  const button = byId("export");
  const count = exported().length;
  const kind = state.marked.size > 0 ? "marked " : "";
  button.textContent = `Export ${kind}${plural(count, "row", "rows")} as CSV`;
  button.disabled = count === 0;
}

function updateFlags() {
  report.rows.forEach((row, index) => table.lines[index].classList.toggle("flagged", isFlagged(row)));
  if (byId("only-flagged").checked) filterRows();
  if (state.selected !== null) byId("certainty").textContent = certainty(report.rows[state.selected]);
}

function focusRow(index) {
  const button = table.lines[index].querySelector("button");
  if (table.lines[index].hidden) byId("search").focus();
  else button.focus();
}

/** Scrolls the table, not the page, to a row. */
function scrollToRow(index) {
  const [box, line] = [byId("rows-scroll"), table.lines[index]];
  const [outer, inner] = [box.getBoundingClientRect(), line.getBoundingClientRect()];
  const head = document.querySelector("#rows-table thead").offsetHeight;
  if (inner.top < outer.top + head) box.scrollTop += inner.top - outer.top - head - 8;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 8;
}

function selectRow(index, source) {
  if (index !== null && table.lines[index].hidden) clearFilters();
  change("selected", index, source);
}

function onSelected(index, source) {
  table.lines.forEach((line, other) => {
    line.classList.toggle("selected", other === index);
    line.querySelector("button").setAttribute("aria-pressed", String(other === index));
  });
  showDetail(index);
  if (index === null) return;
  scrollToRow(index);
  if (source !== "start") announce(`Selected ${report.rows[index].name}. ${report.rows[index].sentence}`);
  const narrow = matchMedia("(max-width: 60rem)").matches;
  if (source === "table" && narrow) {
    byId("detail").focus({ preventScroll: true });
    byId("detail").scrollIntoView({ block: "start" });
  }
}

function clearFilters() {
  byId("search").value = "";
  byId("reason").value = "";
  byId("group").value = "";
  byId("only-flagged").checked = false;
  filterRows();
}

function prepareHead(head) {
  const button = element("button", { type: "button" }, head.textContent);
  const key = head.dataset.sort;
  button.addEventListener("click", () => sortRows(key, table.sort.key === key && !table.sort.descending));
  head.replaceChildren(button);
}

function prepareLine(line) {
  const index = Number(line.dataset.index);
  const row = report.rows[index];
  row.searchable = searchable(row);
  table.lines[index] = line;
  const box = element("input", { type: "checkbox", "aria-label": `Mark ${row.name} for export` });
  box.addEventListener("change", () => {
    if (box.checked) state.marked.add(index);
    else state.marked.delete(index);
    updateExport();
  });
  line.querySelector(".mark").replaceChildren(box);
  const name = line.querySelector(".name");
  const button = element("button", { type: "button", class: "link", "aria-pressed": "false" }, ...name.childNodes);
  name.replaceChildren(button);
  line.addEventListener("click", (event) => {
    if (event.target.closest(".mark")) return;
    if (String(getSelection()) !== "") return;
    selectRow(index, "table");
  });
}

function fillFilters() {
  const named = new Set(report.rows.flatMap((row) => row.reasons.flatMap((reason) => reason.columns)));
  for (const column of [...named].sort((a, b) => a - b)) {
    byId("reason").append(element("option", { value: column }, report.columns[column].name));
  }
  report.groups.forEach((group, index) => byId("group").append(element("option", { value: index }, group.title)));
  byId("group").closest("label").hidden = report.groups.length === 0;
}

function startTable() {
  document.querySelectorAll("#rows-table th[data-sort]").forEach(prepareHead);
  [...table.body.rows].forEach(prepareLine);
  document.querySelectorAll("#rows-table .mark").forEach((cell) => (cell.hidden = false));
  fillFilters();
  for (const id of ["search", "reason", "group", "only-flagged"]) byId(id).addEventListener("input", filterRows);
  byId("sort").addEventListener("input", () => sortRows(byId("sort").value, false));
  byId("clear").addEventListener("click", () => {
    clearFilters();
    byId("search").focus();
  });
  byId("export").addEventListener("click", () => exportRows(exported()));
  for (const button of document.querySelectorAll("button[data-group]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      clearFilters();
      byId("group").value = button.dataset.group;
      filterRows();
      byId("rows").scrollIntoView({ block: "start" });
      byId("rows-scroll").focus({ preventScroll: true });
    });
  }
  document.querySelector('#rows-table th[data-sort="rank"]').setAttribute("aria-sort", "ascending");
  byId("rows-tools").hidden = false;
  filterRows();
  updateFlags();
  onChange("step", updateFlags);
  onChange("selected", onSelected);
}
