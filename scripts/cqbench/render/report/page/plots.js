// Draws the plots with Vega-Embed: what is visible at once, the rest when the browser has nothing else to do.
"use strict";

// The interpreter needs no eval(), which the page's Content-Security-Policy forbids.
const OPTIONS = { renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: false };
const LOOSE = 1.5; // as in specs.py

const frames = page.frames.map(makeFrame);
const panels = frames.flatMap((frame) => frame.panels);
const due = new Set(panels); // what is on the screen does not show the state
const visible = new Set();

function makeFrame(data) {
  const frame = { ...data };
  frame.panels = data.panels.map((panel) => makePanel(frame, panel));
  return frame;
}

function makePanel(frame, data) {
  const element = document.getElementById("panel-" + data.id);
  return { id: data.id, frame, data, element, view: null, failed: false, busy: Promise.resolve() };
}

// {key: [a, b]} -> [{key: a}, {key: b}], with what is known of a row's point.
function unpack(table) {
  const keys = Object.keys(table);
  const row = (i) => Object.fromEntries(keys.map((key) => [key, table[key][i]]));
  const rows = keys.length === 0 ? [] : table[keys[0]].map((_, i) => row(i));
  for (const row of rows) {
    if ("p" in row) {
      const [s, n, m] = page.points[row.p];
      Object.assign(row, { s, n, m: row.m ?? m });
    }
  }
  return rows;
}

function unpackCurve(curve) {
  if ("p" in curve) {
    const [s, n] = page.points[curve.p];
    return page.timed[curve.p].map(([x, c, m], i) => ({ s, n, p: curve.p, x, c, m, v: curve.v[i] }));
  }
  return curve.v.map((v, i) => ({ s: curve.s, c: curve.c, x: page.grids[curve.grid][i], v }));
}

// Datasets by name; made when they are first needed.
function tablesOf(panel) {
  const chosen = state.chosen[panel.frame.shape];
  if (panel.data.choices && panel.chosen !== chosen) {
    const found = panel.data.choices[chosen] ?? [];
    panel.tables = { points: Array.isArray(found) ? found.flatMap(unpackCurve) : unpack(found) };
    panel.chosen = chosen;
  }
  panel.tables ??= Object.fromEntries(Object.entries(panel.data.tables).map(([name, table]) => [name, unpack(table)]));
  return panel.tables;
}

function rowsOf(panel) {
  return tablesOf(panel).points;
}

function isLog(frame, axis) {
  if (axis === "x") return frame.axes.x.log && !state.linear;
  return frame.axes.y.log !== Boolean(state.flipped[frame.id]);
}

// The ends of the axes for what is shown, the same for all panels of a frame; specs.ends() does it for figures.
function endsOf(frame) {
  const rows = frame.panels.flatMap(rowsOf).filter((row) => !state.hidden[row.s]);
  const ends = {};
  for (const [axis, about] of Object.entries(frame.axes)) {
    const [low, high] = state.zoom[frame.id]?.[axis] ?? fullEnds(about, isLog(frame, axis), rows);
    ends[axis + "_min"] = low;
    ends[axis + "_max"] = high;
  }
  return ends;
}

function fullEnds(about, log, rows) {
  if (about.ends) return log || about.ends[0] < 0 ? about.ends : [0, about.ends[1]];
  const of = (fields) => rows.flatMap((row) => (fields ?? []).map((field) => row[field])).filter((v) => v != null);
  let values = [...of(about.fields), ...(about.hold ?? [])];
  if (log) values = values.filter((v) => v > 0);
  if (values.length === 0) values.push(1);
  let [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const loose = of(about.loose);
  const [least, most] = [low / LOOSE, high * LOOSE];
  for (const v of loose) [low, high] = [Math.min(low, Math.max(v, least)), Math.max(high, Math.min(v, most))];
  const margin = about.exact ? 1 : 1.06;
  return [log ? low / margin : 0, high * margin || 1];
}

function signalsOf(frame) {
  const { focus, fits, dots } = state;
  return { hidden: { ...state.hidden }, focus, fits, dots, ...endsOf(frame) };
}

// What a drawing is made anew for; the rest are signals.
function modeOf(frame) {
  return [isLog(frame, "x"), isLog(frame, "y"), Boolean(state.zoom[frame.id])].join();
}

function specOf(panel) {
  const { frame } = panel;
  const spec = structuredClone(frame.spec);
  const signals = signalsOf(frame);
  for (const param of spec.params) if (param.name in signals) param.value = signals[param.name];
  const zoomed = Boolean(state.zoom[frame.id]);
  const x = spec.encoding.x;
  if (x.scale.type === "log" && !isLog(frame, "x")) x.scale = { ...x.scale, type: "linear", base: undefined };
  if (frame.axes.x.log && (zoomed || !isLog(frame, "x"))) delete x.axis.values;
  for (const layer of spec.layer) {
    if (zoomed) layer.mark.clip = true;
    if (layer.encoding.y?.scale) layer.encoding.y.scale.type = isLog(frame, "y") ? "log" : "linear";
    if (layer.encoding.y?.axis && (zoomed || state.flipped[frame.id])) {
      delete layer.encoding.y.axis.values;
      delete layer.encoding.y.axis.gridOpacity;
    }
  }
  spec.datasets = tablesOf(panel);
  return spec;
}

async function update(panel) {
  if (!due.delete(panel) || panel.failed) return;
  const mode = modeOf(panel.frame);
  try {
    if (panel.view && panel.mode === mode) {
      redraw(panel);
      return;
    }
    panel.view?.finalize();
    panel.view = null;
    panel.view = (await vegaEmbed(panel.element, specOf(panel), OPTIONS)).view;
    panel.mode = mode;
  } catch (error) {
    fail(panel, error);
  }
}

function redraw(panel) {
  for (const [name, value] of Object.entries(signalsOf(panel.frame))) panel.view.signal(name, value);
  if (panel.data.choices) panel.view.data("points", rowsOf(panel));
  panel.view.run();
}

// One plot less is no reason to show none.
function fail(panel, error) {
  panel.failed = true;
  panel.view?.finalize();
  panel.view = null;
  const words = textElement("p", `This plot could not be drawn: ${error?.message ?? error} `, "missing");
  const again = textElement("button", "draw again");
  again.type = "button";
  again.addEventListener("click", () => {
    panel.failed = false;
    panel.element.replaceChildren();
    invalidate([panel]);
  });
  words.append(again);
  panel.element.replaceChildren(words);
}

// One update of a panel at a time; each brings it to the state of the time when it begins.
function settle(panel) {
  panel.busy = panel.busy.then(() => update(panel));
  return panel.busy;
}

let waiting = false;

function work() {
  for (const panel of visible) if (due.has(panel)) settle(panel);
  if (!waiting && due.size > 0) {
    waiting = true;
    whenIdle(() => settleNext().finally(() => { waiting = false; work(); }));
  }
}

function settleNext() {
  const next = panels.find((panel) => due.has(panel));
  return next ? settle(next) : Promise.resolve();
}

function whenIdle(action) {
  if (window.requestIdleCallback) requestIdleCallback(action, { timeout: 500 });
  else setTimeout(action, 30);
}

// After a change of the state.
function invalidate(which = panels) {
  for (const panel of which) due.add(panel);
  writeFragment();
  work();
}

function watch() {
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) visible.add(byElement.get(entry.target));
      else visible.delete(byElement.get(entry.target));
    }
    work();
  }, { rootMargin: "100px" });
  const byElement = new Map(panels.map((panel) => [panel.element, panel]));
  for (const panel of panels) observer.observe(panel.element);
}

function textElement(name, text, className = "") {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = className;
  return element;
}
