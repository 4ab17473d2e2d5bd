// Rows as CSV. What is written is what the page holds: long texts are shortened here as they are on the page.

/** A field; text that a spreadsheet would take for a formula gets an apostrophe in front. */
function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvCell(cell) {
  if (cell === null || cell === undefined) return "";
  if (cell === false) return "(masked)";
  if (Array.isArray(cell)) {
    // A number is no formula, whatever its sign.
    return cell[1] !== null && /^[-+]?[\d.,\s]+$/.test(cell[0]) ? plainField(cell[0]) : csvField(cell[0]);
  }
  return csvField(cell);
}

function plainField(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvOf(indices) {
  const head = ["rank", "name", "row", "depth", "error", "stderr", "p_value", "percentile", "reasons"];
  const lines = [[...head.map(csvField), ...report.columns.map((column) => csvField(column.name))].join(",")];
  for (const index of indices) {
    const row = report.rows[index];
    const reasons = row.reasons.map((reason) => `${reason.lead} ${reason.sentence}`.trim()).join("; ");
    const scores = [index + 1, row.name, row.row, row.depth, row.error, row.stderr, row.p_value, row.percentile];
    const cells = report.columns.map((_, column) => csvCell(row.cells[column]));
    lines.push([...scores.map(csvField), csvField(reasons), ...cells].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

function exportRows(indices) {
  const url = URL.createObjectURL(new Blob(["\ufeff", csvOf(indices)], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: url, download: report.export });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  announce(`${plural(indices.length, "row", "rows")} exported as ${report.export}`);
}
