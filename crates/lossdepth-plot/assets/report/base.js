// The data of the page, what is selected, and how elements are made. Text enters the document as text nodes only.

const report = JSON.parse(document.getElementById("report-data").textContent);

const state = {
  step: report.start,
  selected: null,
  marked: new Set(),
  listeners: { step: [], selected: [] },
};

function byId(id) {
  return document.getElementById(id);
}

/** Calls `listener` whenever `what` ("step" or "selected") has changed. */
function onChange(what, listener) {
  state.listeners[what].push(listener);
}

function change(what, value, source) {
  state[what] = value;
  for (const listener of state.listeners[what]) listener(value, source);
}

function append(node, children) {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

function setAttributes(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null) node.setAttribute(key, String(value));
  }
  return node;
}

/** An element with attributes and children; strings become text. */
function element(tag, attributes, ...children) {
  return append(setAttributes(document.createElement(tag), attributes), children);
}

function drawing(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return append(setAttributes(node, attributes), children);
}

/** A name or value whose direction does not affect its surroundings. */
function isolated(text) {
  return element("bdi", {}, text);
}

/** A sentence in English, which may hold names of another direction. */
function sentence(text) {
  return element("bdi", { dir: "ltr" }, text);
}

function announce(text) {
  byId("announce").textContent = text;
}

const fourDigits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

function formatNumber(x) {
  const size = Math.abs(x);
  if (x !== 0 && (size < 1e-4 || size >= 1e9)) return x.toPrecision(3).replace(/\.?0+e/, "e");
  return fourDigits.format(x);
}

/** Days since 1970 as a date. */
function formatDate(days) {
  const date = new Date(Math.round(days) * 86400000);
  return Number.isNaN(date.getTime()) ? formatNumber(days) : date.toISOString().slice(0, 10);
}

function plural(count, one, many) {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** A cell is [text, value], a text, null for a gap, or false if it is masked. */
function cellText(cell) {
  if (cell === null || cell === undefined) return "(no value)";
  if (cell === false) return "(masked)";
  return Array.isArray(cell) ? cell[0] : cell;
}

function isFlagged(row) {
  return row.p_value <= report.steps[state.step].p;
}
