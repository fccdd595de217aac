// Draws the plots with Vega-Embed: what is visible at once, the rest when the browser has nothing else to do.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const state = { hidden: {}, focus: null, fits: true, log2: true, chosen: { ...page.chosen } };
// The interpreter needs no eval(), which the page's Content-Security-Policy forbids.
const OPTIONS = { renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: false };

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
  return { id: data.id, frame, data, element, view: null, busy: Promise.resolve() };
}

// {key: [a, b]} -> [{key: a}, {key: b}], with what is known of a row's point.
function unpack(table) {
  const keys = Object.keys(table);
  const row = (i) => Object.fromEntries(keys.map((key) => [key, table[key][i]]));
  const rows = keys.length === 0 ? [] : table[keys[0]].map((_, i) => row(i));
  for (const row of rows) if ("p" in row) [row.s, row.n, row.m] = page.points[row.p];
  return rows;
}

function unpackCurve(curve) {
  return curve.v.map((v, i) => ({ s: curve.s, c: curve.c, x: page.grids[curve.grid][i], v }));
}

// Datasets by name; made when they are first needed.
function tablesOf(panel) {
  const chosen = state.chosen[panel.frame.shape];
  if (panel.data.choices && panel.chosen !== chosen) {
    panel.tables = { points: (panel.data.choices[chosen] ?? []).flatMap(unpackCurve) };
    panel.chosen = chosen;
  }
  panel.tables ??= Object.fromEntries(Object.entries(panel.data.tables).map(([name, table]) => [name, unpack(table)]));
  return panel.tables;
}

function rowsOf(panel) {
  return tablesOf(panel).points;
}

// The ends of the axes for what is shown, the same for all panels of a frame; report_specs.ends() does it for figures.
function endsOf(frame) {
  const rows = frame.panels.flatMap(rowsOf).filter((row) => !state.hidden[row.s]);
  const ends = {};
  for (const [axis, about] of Object.entries(frame.axes)) {
    const values = rows.flatMap((row) => about.fields.map((field) => row[field])).filter((v) => v != null);
    if (values.length === 0) values.push(1);
    const margin = about.exact ? 1 : 1.06;
    ends[axis + "_min"] = about.log ? values.reduce((a, b) => Math.min(a, b)) / margin : 0;
    ends[axis + "_max"] = values.reduce((a, b) => Math.max(a, b)) * margin || 1;
  }
  return ends;
}

function signalsOf(frame) {
  return { hidden: { ...state.hidden }, focus: state.focus, fits: state.fits, ...endsOf(frame) };
}

function specOf(panel) {
  const spec = structuredClone(panel.frame.spec);
  const signals = signalsOf(panel.frame);
  for (const param of spec.params) if (param.name in signals) param.value = signals[param.name];
  if (panel.frame.shape === "inflight" && !state.log2) makeLinear(spec.encoding.x);
  spec.datasets = tablesOf(panel);
  return spec;
}

function makeLinear(x) {
  x.scale = { type: "linear", domain: [0, x.scale.domain[1]], nice: false };
  delete x.axis.values;
}

async function update(panel) {
  if (!due.delete(panel)) return;
  if (panel.view && panel.log2 === state.log2) {
    redraw(panel);
    return;
  }
  panel.log2 = state.log2;
  panel.view?.finalize();
  const result = await vegaEmbed(panel.element, specOf(panel), OPTIONS);
  panel.view = result.view;
}

function redraw(panel) {
  for (const [name, value] of Object.entries(signalsOf(panel.frame))) panel.view.signal(name, value);
  if (panel.data.choices) panel.view.data("points", rowsOf(panel));
  panel.view.run();
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
