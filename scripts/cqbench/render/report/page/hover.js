// The tooltip: the figures of the point nearest to the pointer, as text; and a line at the same place in all plots.
"use strict";

const REACH = 28; // pixels
const tip = document.createElement("div");
const ring = document.createElement("div");
tip.className = "tip";
ring.className = "ring";
tip.hidden = ring.hidden = true;
document.body.append(tip, ring);

function startHover() {
  for (const panel of panels) {
    for (const event of ["pointermove", "pointerdown"]) {
      panel.element.addEventListener(event, (e) => hover(panel, e.clientX, e.clientY));
    }
    panel.element.addEventListener("pointerleave", hideTip);
  }
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") hideTip(); });
  document.addEventListener("scroll", hideTip, { passive: true });
}

function hideTip() {
  tip.hidden = ring.hidden = true;
  cross(null);
}

function hover(panel, x, y) {
  const found = panel.view && nearest(panel, x, y);
  cross(panel, found ? found.row[fieldOf(panel.frame)] : valueAt(panel, x));
  tip.hidden = ring.hidden = !found;
  if (!found) return;
  tip.replaceChildren(...lines(panel.frame, found.row));
  ring.style.left = found.x + scrollX + "px";
  ring.style.top = found.y + scrollY + "px";
  place(found.x, found.y);
}

// What the x axes of a frame measure: frames with the same have the line in common.
function measureOf(frame) {
  const shared = { ratio: "inflight", "ratio-rate": "rate" };
  return shared[frame.shape] ?? frame.shape;
}

function fieldOf(frame) {
  return ["inflight", "rate"].includes(measureOf(frame)) ? "n" : "x";
}

function valueAt(panel, x) {
  return panel.view ? panel.view.scale("x").invert(x - zero(panel)[0]) : null;
}

// The line; nowhere without a panel.
function cross(panel, value) {
  for (const other of panels) if (other.line) other.line.hidden = true;
  if (!panel || value == null) return;
  for (const other of visible) {
    if (!other.view || measureOf(other.frame) !== measureOf(panel.frame)) continue;
    const at = other.view.scale("x")(value);
    if (!(at >= 0 && at <= other.view.width())) continue;
    other.line ??= document.createElement("div");
    other.line.className = "cross";
    if (!other.line.isConnected) other.element.append(other.line);
    const [padding, origin] = [other.view.padding(), other.view.origin()];
    other.line.style.left = padding.left + origin[0] + at + "px";
    other.line.style.top = padding.top + origin[1] + "px";
    other.line.style.height = other.view.height() + "px";
    other.line.hidden = false;
  }
}

// Beside the point, inside the window.
function place(x, y) {
  const left = x + 14 + tip.offsetWidth > document.documentElement.clientWidth ? x - 14 - tip.offsetWidth : x + 14;
  const top = Math.min(y + 10, innerHeight - tip.offsetHeight - 4);
  tip.style.left = Math.max(4, left) + scrollX + "px";
  tip.style.top = Math.max(4, top) + scrollY + "px";
}

// The shown row next to a place in the window, with its own place there; null when none is within reach.
function nearest(panel, x, y) {
  const [zeroX, zeroY] = zero(panel);
  const [scaleX, scaleY] = [panel.view.scale("x"), panel.view.scale("y")];
  const field = fieldOf(panel.frame);
  let best = null;
  let least = REACH ** 2;
  for (const row of rowsOf(panel)) {
    if (row.v == null || state.hidden[row.s]) continue;
    const place = { x: zeroX + scaleX(row[field]) + 5 * (row.i ?? 0), y: zeroY + scaleY(row.v), row };
    const distance = (place.x - x) ** 2 + (place.y - y) ** 2;
    if (distance < least && inside(panel, place.x, place.y)) [best, least] = [place, distance];
  }
  return best;
}

// Whether a place in the window is between the axes.
function inside(panel, x, y) {
  const [zeroX, zeroY] = zero(panel);
  const beyond = 8;
  return x >= zeroX - beyond && x <= zeroX + panel.view.width() + beyond
    && y >= zeroY - beyond && y <= zeroY + panel.view.height() + beyond;
}

// Where the axes meet at the top left, in the window.
function zero(panel) {
  const box = panel.element.querySelector("svg").getBoundingClientRect();
  const [padding, origin] = [panel.view.padding(), panel.view.origin()];
  return [box.left + padding.left + origin[0], box.top + padding.top + origin[1]];
}

function lines(frame, row) {
  const series = page.series[row.s];
  const head = textElement("strong", series.title);
  const [shape, against] = [frame.shape, page.against[row.a]];
  if (shape in CHOSEN) {
    const about = `${state.chosen[shape]}, ${series.method}`;
    return [head, ...[...CHOSEN[shape](row, frame), about].map((text) => textElement("div", text))];
  }
  const [repetitions, warnings, saturated, load] = page.points[row.p].slice(3);
  const about = `${load}, ${series.method}, ${repetitions} repetition${repetitions === 1 ? "" : "s"}`;
  const remarks = warnings.map((i) => textElement("div", "warning: " + page.reasons[i], "warning"));
  remarks.push(...saturated.map((i) => textElement("div", "saturated: " + page.reasons[i])));
  if (row.m % 4 >= 2) remarks.push(textElement("div", "cut short", "warning"));
  if (against) {
    head.textContent += " ÷ " + page.series[against.base].title;
    if (row.m % 2 && !warnings.length) remarks.push(textElement("div", "the other of the two is unreliable", "warning"));
  }
  return [head, textElement("div", about), ...measures(frame, row), ...remarks];
}

// What is said of a row where one load is shown at a time, by the frame's shape.
const CHOSEN = {
  distribution: (row) => {
    const share = 100 * (1 - 10 ** -row.x);
    const digits = Math.max(0, Math.ceil(row.x));
    return [`${share.toFixed(digits)} % of ${figure(row.c)} calls`, `at most ${figure(row.v)} µs`];
  },
  runs: (row, frame) => {
    const where = `repetition ${row.c}, ${figure(row.x)} minutes after the first point`;
    return [`${frame.label}: ${figure(row.v)} ${frame.unit}`, where, ...(row.m ? ["unreliable"] : [])];
  },
  time: (row, frame) => {
    return [`${frame.label}: ${figure(row.v)} ${frame.unit}`, `at ${figure(row.x)} s, repetition ${row.c}`];
  },
  fault: (row, frame) => CHOSEN.time(row, frame),
};

function measures(frame, row) {
  if (frame.shape === "tradeoff") {
    return [measure(frame.metrics[0], row.x, row.xlo, row.xhi), measure(frame.metrics[1], row.v, row.lo, row.hi)];
  }
  const metric = frame.metrics[row.k];
  const ratio = row.a != null ? { title: metric.title, unit: "×" } : metric;
  return [measure(ratio, row.v, row.lo, row.hi)];
}

function measure(metric, middle, low, high) {
  const interval = low == null || high == null ? "" : ` (${figure(low)}–${figure(high)})`;
  return textElement("div", `${metric.title} ${figure(middle)}${metric.unit ? " " + metric.unit : ""}${interval}`);
}

// As values.number(): four significant digits, whole numbers from 1,000 on.
function figure(value) {
  const whole = Math.abs(value) >= 1000;
  const digits = whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
  return value.toLocaleString("en", { ...digits, roundingMode: "halfEven" });
}
