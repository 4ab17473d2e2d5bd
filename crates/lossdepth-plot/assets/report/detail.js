// The selected row: its reasons, its values against those of the others, its nearest ordinary rows.

const SPARK = { width: 150, height: 26 };
const FIRST_COLUMNS = 10;

function bar(x, width, height, attributes) {
  const tall = Math.max(height * (SPARK.height - 2), height > 0 ? 1 : 0);
  return drawing("rect", { x, y: SPARK.height - tall, width, height: tall, ...attributes });
}

/** The distribution of a column with the row's value marked. */
function markedSparkline(distribution, cell) {
  const { width, height } = SPARK;
  const picture = drawing("svg", { class: "spark large", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  if (distribution.type === "levels") {
    const levels = distribution.levels;
    const most = Math.max(1, ...levels.map((level) => level[1]));
    const step = width / Math.max(levels.length + 1, 6);
    levels.forEach(([name, count], index) => {
      const own = name === cell;
      picture.append(bar(index * step + 1, step - 3, count / most, { class: own ? "own" : "bars" }));
      // A tall bar needs no pointer.
      if (own && count / most < 0.6) picture.append(marker(index * step + step / 2 - 0.5, SPARK.height - Math.max(1, (count / most) * (height - 2))));
    });
    if (typeof cell === "string" && !levels.some(([name]) => name === cell)) {
      picture.append(marker(width - step / 2, height));
    }
    return picture;
  }
  if (distribution.type !== "numbers" || distribution.histogram.counts.length === 0) return picture;
  const { low, high, counts } = distribution.histogram;
  const [left, right] = [8, width - 8];
  const most = Math.max(1, ...counts);
  const step = (right - left) / counts.length;
  counts.forEach((count, index) => picture.append(bar(left + index * step, Math.max(step - 0.6, 0.6), count / most, { class: "bars" })));
  const value = Array.isArray(cell) ? cell[1] : null;
  if (value !== null) {
    const share = (value - low) / (high - low);
    if (share < 0) picture.append(drawing("path", { class: "own", d: `M1 ${height / 2}l6 -5v10z` }));
    else if (share > 1) picture.append(drawing("path", { class: "own", d: `M${width - 1} ${height / 2}l-6 -5v10z` }));
    else {
      const x = left + share * (right - left);
      picture.append(drawing("path", { class: "own-line", d: `M${x} 0V${height}` }));
    }
  }
  return picture;
}

/** A small triangle that points down at a bar. */
function marker(x, top) {
  const tip = Math.max(top - 1, 6);
  return drawing("path", { class: "own", d: `M${x} ${tip}l-3.5 -5h7z` });
}

function contributionBar(share) {
  const picture = drawing("svg", { class: "share", viewBox: "0 0 60 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  picture.append(drawing("rect", { class: "track", width: 60, height: 10 }));
  picture.append(drawing("rect", { class: "own", width: Math.max(0, Math.min(1, share)) * 60, height: 10 }));
  return picture;
}

/** Whether a name or value fits on a line of a phone: it is then not broken. */
function isShort(text) {
  return text.length <= 12;
}

/** Columns, those that contribute most first. */
function columnOrder(row) {
  return row.cells
    .map((_, column) => column)
    .sort((a, b) => (row.contributions[b] ?? 0) - (row.contributions[a] ?? 0) || a - b);
}

function valuesTable(row, columns) {
  const total = row.contributions.reduce((sum, x) => sum + Math.max(0, x ?? 0), 0);
  const body = columns.map((index) => {
    const column = report.columns[index];
    const share = total > 0 ? Math.max(0, row.contributions[index] ?? 0) / total : 0;
    const percent = share >= 0.995 ? "100%" : share >= 0.005 ? `${Math.round(share * 100)}%` : "–";
    return element(
      "tr",
      {},
      element("th", { scope: "row", class: isShort(column.name) ? "short" : null }, isolated(column.name)),
      element("td", { class: isShort(cellText(row.cells[index])) ? "value short" : "value" }, isolated(cellText(row.cells[index]))),
      element(
        "td",
        { class: "against" },
        column.distribution.type === "hidden" ? null : markedSparkline(column.distribution, row.cells[index]),
        element("span", { class: "usual" }, sentence(column.usual)),
      ),
      element("td", { class: "part" }, element("span", {}, percent), share >= 0.005 ? contributionBar(share) : null),
    );
  });
  const heads = ["Column", "Value", "The others", "Share"].map((text) => element("th", { scope: "col" }, text));
  return element("table", { class: "values" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, body));
}

function neighboursTable(row, columns) {
  const heads = [element("th", { scope: "col" }, "Column"), element("th", { scope: "col", class: "this" }, "This row")];
  for (const neighbour of row.neighbours) heads.push(element("th", { scope: "col" }, isolated(neighbour.name)));
  const body = columns.map((index) => {
    const own = cellText(row.cells[index]);
    const cells = row.neighbours.map((neighbour) => {
      const text = cellText(neighbour.cells[index]);
      return element("td", { class: text === own ? "same" : null }, isolated(text));
    });
    return element("tr", {}, element("th", { scope: "row" }, isolated(report.columns[index].name)), element("td", { class: "this" }, isolated(own)), cells);
  });
  return element("table", { class: "neighbours" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, body));
}

/** How far the row is from the threshold, in standard errors. */
function certainty(row) {
  const step = report.steps[state.step];
  if (!(row.stderr > 0)) return isFlagged(row) ? "Flagged at the chosen threshold." : "Not flagged at the chosen threshold.";
  const errors = (step.cut - row.depth) / row.stderr;
  const distance = Math.abs(errors) < 10 ? Math.abs(errors).toFixed(1) : Math.round(Math.abs(errors)).toLocaleString("en-US");
  if (isFlagged(row)) {
    if (errors < 2) return `Flagged, but its depth is only ${distance} standard errors below the threshold: another sample might decide otherwise.`;
    return `Flagged; its depth is ${distance} standard errors below the threshold.`;
  }
  return errors > -2
    ? `Not flagged, but its depth is only ${distance} standard errors above the threshold.`
    : `Not flagged; its depth is ${distance} standard errors above the threshold.`;
}

function scrollable(label, table) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

function showDetail(index) {
  const panel = byId("detail");
  panel.hidden = index === null;
  if (index === null) return;
  const row = report.rows[index];
  const order = columnOrder(row);
  const content = [
    element(
      "div",
      { class: "title" },
      element("h3", { id: "detail-h" }, isolated(row.name)),
      element("span", { class: "soft" }, `${index + 1} of ${report.rows.length}`),
    ),
    element("p", { class: "measure" }, row.sentence),
    element("p", { id: "certainty", class: "measure" }, certainty(row)),
  ];
  if (row.reasons.length > 0) {
    const reasons = row.reasons.map((reason) =>
      element("li", {}, reason.lead ? element("strong", {}, sentence(reason.lead), " ") : null, sentence(reason.sentence)),
    );
    content.push(element("ul", { class: "reasons" }, reasons));
  }
  if (row.counterfactual) {
    const standing = element("span", { class: "soft" }, row.counterfactual.standing);
    content.push(element("p", { class: "counterfactual" }, sentence(row.counterfactual.sentence), " ", standing));
  }
  if (row.cells.length > 0) {
    const place = element("div", {});
    const fill = (columns) => {
      place.replaceChildren(scrollable("Values of the row against those of the others", valuesTable(row, columns)));
      if (row.neighbours.length > 0) {
        place.append(
          element("h4", {}, "Nearest ordinary rows"),
          scrollable("Nearest ordinary rows", neighboursTable(row, columns)),
        );
      }
      if (columns.length < order.length) {
        const all = element("button", { type: "button", class: "quiet" }, `Show all ${order.length} columns`);
        all.addEventListener("click", () => {
          fill(order);
          place.querySelector(".scroll").focus();
        });
        place.append(all);
      }
    };
    fill(order.slice(0, order.length <= FIRST_COLUMNS + 2 ? order.length : FIRST_COLUMNS));
    content.push(place);
  }
  const back = element("button", { type: "button", class: "quiet back" }, "Back to the table");
  back.addEventListener("click", () => focusRow(index));
  content.push(back);
  panel.replaceChildren(...content);
  panel.scrollTop = 0;
}
