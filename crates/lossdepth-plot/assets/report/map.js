// The map: two axes to choose, zoom, pan, and a selection shared with the table.

const map = {
  margin: { top: 10, right: 12, bottom: 44, left: 58 },
  width: 640,
  height: 420,
  axes: null,
  range: null,
  pointers: new Map(),
  moved: false,
};

/** A fixed number between -0.5 and 0.5 for each point, which spreads levels. */
function spread(index) {
  return ((index * 0.6180339887498949) % 1) - 0.5;
}

function coordinates(axis, kind) {
  const values = axis[kind];
  if (axis.scale.type === "log") return values.map((value) => (value === null ? null : Math.log10(value)));
  if (axis.scale.type === "signed-log") return values.map((value) => (value === null ? null : Math.asinh(value / axis.scale.of)));
  if (axis.scale.type !== "levels") return values;
  return values.map((value, index) => (value === null ? null : value + 0.5 * spread(index + 1)));
}

function extent(values) {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known.length === 0 ? [0, 1] : [known[0], known[known.length - 1]];
}

function padded([low, high]) {
  const pad = high > low ? 0.04 * (high - low) : 0.5 * Math.max(1, Math.abs(low));
  return [low - pad, high + pad];
}

function wholeRange() {
  return map.axes.map((axis) => padded(extent([...axis.ordinary, ...axis.odd])));
}

/** Where the middle 98 % of the ordinary rows are. */
function bulkRange() {
  return map.axes.map((axis) => {
    const known = axis.ordinary.filter((value) => value !== null).sort((a, b) => a - b);
    if (known.length === 0) return [0, 1];
    const at = (share) => known[Math.round(share * (known.length - 1))];
    return padded([at(0.01), at(0.99)]);
  });
}

function chooseAxes() {
  const chosen = [byId("map-x"), byId("map-y")].map((select) => report.map.axes[Number(select.value)]);
  map.axes = chosen.map((axis) => ({
    label: axis.label,
    detail: axis.detail,
    scale: axis.scale,
    ordinary: coordinates(axis, "ordinary"),
    odd: coordinates(axis, "odd"),
    exact: axis,
  }));
  map.range = wholeRange();
}

function tickText(axis, at) {
  if (axis.scale.type === "date") return formatDate(at);
  if (axis.scale.type === "signed-log") return formatNumber(Number((axis.scale.of * Math.sinh(at)).toPrecision(2)));
  return formatNumber(Number((axis.scale.type === "log" ? 10 ** at : at).toPrecision(12)));
}

/** One, two and five times powers of ten, or only powers of ten, at most `most` of them. */
function logTicks(low, high, most) {
  for (const factors of [[1, 2, 5], [1]]) {
    const ticks = [];
    for (let power = Math.floor(low); power <= high && ticks.length < 50; power += 1) {
      for (const factor of factors) {
        const at = power + Math.log10(factor);
        if (at >= low && at <= high) ticks.push([at, formatNumber(Number((factor * 10 ** power).toPrecision(12)))]);
      }
    }
    if (ticks.length <= most + 1) return ticks;
  }
  return [];
}

/** 0 and powers of ten of either sign beyond the linear part; every second or third one where there are many. */
function signedLogTicks(linear, low, high, most) {
  const first = Math.ceil(Math.log10(linear));
  const last = Math.max(first, Math.floor(Math.log10(linear * Math.sinh(Math.max(Math.abs(low), Math.abs(high))))));
  const step = 1 + Math.floor((last - first) / Math.max(2, low < 0 && high > 0 ? most / 2 : most - 1));
  const sizes = [];
  for (let power = first; power <= last && sizes.length < 20; power += step) sizes.push(Number(`1e${power}`));
  const values = [...sizes.map((size) => -size).reverse(), 0, ...sizes];
  return values.map((value) => [Math.asinh(value / linear), formatNumber(value)]).filter(([at]) => at >= low && at <= high);
}

function ticksOf(axis, [low, high], most) {
  if (axis.scale.type === "levels") {
    const levels = axis.scale.of.map((name, index) => [index, name.length > 9 ? `${name.slice(0, 8)}…` : name]);
    return levels.filter(([at]) => at >= low && at <= high).slice(0, 12);
  }
  if (axis.scale.type === "log") {
    const powers = logTicks(low, high, most);
    if (powers.length >= 2) return powers;
  }
  if (axis.scale.type === "signed-log") {
    const powers = signedLogTicks(axis.scale.of, low, high, most);
    if (powers.length >= 2) return powers;
  }
  const rough = (high - low) / most;
  let step = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 2.5, 5, 10]) {
    if (step * factor >= rough) {
      step *= factor;
      break;
    }
  }
  if (axis.scale.type === "date") step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high && ticks.length < 20; k += 1) {
    const at = k * step;
    ticks.push([at, tickText(axis, at)]);
  }
  return ticks;
}

function place(x, y) {
  const { margin, width, height, range } = map;
  const [w, h] = [width - margin.left - margin.right, height - margin.top - margin.bottom];
  return [
    margin.left + ((x - range[0][0]) / (range[0][1] - range[0][0])) * w,
    margin.top + h - ((y - range[1][0]) / (range[1][1] - range[1][0])) * h,
  ];
}

function inside([x, y]) {
  const { margin, width, height } = map;
  return x >= margin.left - 1 && x <= width - margin.right + 1 && y >= margin.top - 1 && y <= height - margin.bottom + 1;
}

/** Positions of the points of a kind that are in view: [x, y, index]. */
function positions(kind) {
  const [across, up] = map.axes.map((axis) => axis[kind]);
  const found = [];
  for (let index = 0; index < across.length; index += 1) {
    if (across[index] === null || up[index] === null) continue;
    const at = place(across[index], up[index]);
    if (inside(at)) found.push([...at, index]);
  }
  return found;
}

const diamond = (x, y, r) => `M${x.toFixed(1)} ${(y - r).toFixed(1)}l${r} ${r}l-${r} ${r}l-${r}-${r}z`;

function drawAxes(svg) {
  const { margin, width, height } = map;
  const bottom = height - margin.bottom;
  for (const [at, words] of ticksOf(map.axes[0], map.range[0], Math.max(2, Math.floor(width / 110)))) {
    const x = place(at, 0)[0].toFixed(1);
    svg.append(drawing("path", { class: "grid", d: `M${x} ${margin.top}V${bottom}` }));
    svg.append(drawing("text", { class: "tick middle", x, y: bottom + 16 }, words));
  }
  for (const [at, words] of ticksOf(map.axes[1], map.range[1], 6)) {
    const y = place(0, at)[1];
    svg.append(drawing("path", { class: "grid", d: `M${margin.left} ${y.toFixed(1)}H${width - margin.right}` }));
    svg.append(drawing("text", { class: "tick end", x: margin.left - 6, y: (y + 4).toFixed(1) }, words));
  }
  const short = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
  const middle = margin.top + (height - margin.top - margin.bottom) / 2;
  svg.append(drawing("text", { class: "axis middle", x: (margin.left + width - margin.right) / 2, y: height - 8 }, short(map.axes[0].label)));
  svg.append(drawing("text", { class: "axis middle", transform: `translate(14 ${middle}) rotate(-90)` }, short(map.axes[1].label)));
}

function drawMap() {
  const svg = byId("map");
  map.width = Math.max(280, Math.round(svg.getBoundingClientRect().width));
  map.height = Math.round(Math.min(430, Math.max(300, map.width * 0.68)));
  setAttributes(svg, { viewBox: `0 0 ${map.width} ${map.height}` });
  svg.replaceChildren();
  drawAxes(svg);
  const classes = ["", "", "", "", ""];
  for (const [x, y, index] of positions("ordinary")) {
    const level = Math.min(4, Math.floor(report.map.percentiles[index] * 5));
    classes[level] += `M${x.toFixed(1)} ${y.toFixed(1)}h0`;
  }
  classes.forEach((d, level) => svg.append(drawing("path", { class: `point p${level}`, d })));
  let [flagged, others] = ["", ""];
  for (const [x, y, index] of positions("odd")) {
    if (isFlagged(report.rows[index])) flagged += diamond(x, y, 5);
    else others += diamond(x, y, 4);
  }
  svg.append(drawing("path", { class: "odd-point faint", d: others }), drawing("path", { class: "odd-point", d: flagged }));
  if (state.selected !== null) {
    const own = positions("odd").find(([, , index]) => index === state.selected);
    if (own) svg.append(drawing("circle", { class: "ring", cx: own[0], cy: own[1], r: 10 }));
  }
  const shown = `${map.axes[0].label} across, ${map.axes[1].label} up`;
  svg.setAttribute("aria-label", `Map of ${report.map.percentiles.length} ordinary and ${report.rows.length} odd rows: ${shown}. The table below has the same odd rows.`);
}

/** Zooms by a factor around a point of the drawing, the middle by default. */
function zoom(factor, centre) {
  const { margin, width, height } = map;
  const [w, h] = [width - margin.left - margin.right, height - margin.top - margin.bottom];
  const [cx, cy] = centre ?? [margin.left + w / 2, margin.top + h / 2];
  const shares = [(cx - margin.left) / w, 1 - (cy - margin.top) / h];
  map.range = map.range.map(([low, high], axis) => {
    const at = low + shares[axis] * (high - low);
    return [at - (at - low) / factor, at + (high - at) / factor];
  });
  drawMap();
}

function pan(dx, dy) {
  const { margin, width, height } = map;
  const scale = [dx / (width - margin.left - margin.right), -dy / (height - margin.top - margin.bottom)];
  map.range = map.range.map(([low, high], axis) => [low - scale[axis] * (high - low), high - scale[axis] * (high - low)]);
  drawMap();
}

function pointerAt(event) {
  const box = byId("map").getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * map.width, ((event.clientY - box.top) / box.height) * map.height];
}

function nearest(kind, [x, y], reach) {
  let [best, least] = [null, reach * reach];
  for (const point of positions(kind)) {
    const distance = (point[0] - x) ** 2 + (point[1] - y) ** 2;
    if (distance <= least) [best, least] = [point, distance];
  }
  return best;
}

function valueOn(axis, kind, index) {
  const value = axis.exact[kind][index];
  if (axis.scale.type === "levels") return axis.scale.of[value] ?? "";
  return axis.scale.type === "date" ? formatDate(value) : formatNumber(value);
}

function showTip(event) {
  const tip = byId("map-tip");
  const at = pointerAt(event);
  const odd = nearest("odd", at, 12);
  const point = odd ?? nearest("ordinary", at, 8);
  tip.hidden = point === null;
  byId("map").classList.toggle("over", odd !== null);
  if (point === null) return;
  const [kind, index] = [odd ? "odd" : "ordinary", point[2]];
  const name = odd ? report.rows[index].name : report.map.names[index];
  const percentile = odd ? report.rows[index].percentile : report.map.percentiles[index];
  const lines = map.axes.map((axis) => element("span", {}, isolated(`${axis.label} ${valueOn(axis, kind, index)}`)));
  tip.replaceChildren(element("strong", {}, isolated(name || "ordinary row")), ...lines, element("span", {}, `percentile ${formatNumber(percentile * 100)}%`));
  const figure = byId("map-figure").getBoundingClientRect();
  const right = event.clientX - figure.left > figure.width / 2;
  tip.style.left = right ? "" : `${event.clientX - figure.left + 14}px`;
  tip.style.right = right ? `${figure.right - event.clientX + 14}px` : "";
  tip.style.top = `${event.clientY - figure.top + 10}px`;
}

function startPointers() {
  const svg = byId("map");
  svg.addEventListener("pointerdown", (event) => {
    map.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    map.moved = map.pointers.size > 1;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = map.pointers.get(event.pointerId);
    if (before === undefined) {
      showTip(event);
      return;
    }
    const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
    if (!map.moved && Math.hypot(dx, dy) < 4) return;
    map.moved = true;
    byId("map-tip").hidden = true;
    svg.setPointerCapture(event.pointerId);
    const other = [...map.pointers].find(([id]) => id !== event.pointerId)?.[1];
    map.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (other === undefined) {
      pan(dx, dy);
      return;
    }
    const distance = ([x, y]) => Math.max(10, Math.hypot(x - other[0], y - other[1]));
    zoom(distance([event.clientX, event.clientY]) / distance(before), pointerAt(event));
  });
  const end = (event) => map.pointers.delete(event.pointerId);
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
  svg.addEventListener("pointerleave", () => (byId("map-tip").hidden = true));
  svg.addEventListener("click", (event) => {
    if (map.moved) return;
    const point = nearest("odd", pointerAt(event), 14);
    if (point) selectRow(point[2], "map");
    else showTip(event);
  });
  svg.addEventListener("dblclick", (event) => zoom(2, pointerAt(event)));
  svg.addEventListener(
    "wheel",
    (event) => {
      // Without a key the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, pointerAt(event));
    },
    { passive: false },
  );
}

function startMap() {
  if (!report.map) return;
  for (const [id, start] of [["map-x", report.map.start[0]], ["map-y", report.map.start[1]]]) {
    report.map.axes.forEach((axis, index) => {
      const label = axis.detail ? `${axis.label} (${axis.detail})` : axis.label;
      byId(id).append(element("option", { value: index }, label));
    });
    byId(id).value = start;
    byId(id).addEventListener("input", () => {
      chooseAxes();
      drawMap();
    });
  }
  const view = (range) => () => {
    map.range = range();
    drawMap();
  };
  byId("zoom-in").addEventListener("click", () => zoom(1.5));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  byId("zoom-all").addEventListener("click", view(wholeRange));
  byId("zoom-bulk").addEventListener("click", view(bulkRange));
  const move = (by) => () => {
    const count = report.rows.length;
    if (count > 0) selectRow(((state.selected ?? (by > 0 ? -1 : 0)) + by + count) % count, "map");
  };
  byId("map-previous").addEventListener("click", move(-1));
  byId("map-next").addEventListener("click", move(1));
  byId("map-tools").hidden = false;
  chooseAxes();
  drawMap();
  startPointers();
  onChange("step", drawMap);
  onChange("selected", drawMap);
  new ResizeObserver(() => {
    if (Math.abs(byId("map-figure").clientWidth - map.width) > 8) drawMap();
  }).observe(byId("map-figure"));
}
