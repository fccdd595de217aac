// What is shown and how: the state of the page, which travels in its address behind the #.
"use strict";

const page = JSON.parse(document.getElementById("data").textContent);
const state = {};
reset();

// linear: the in-flight axes are. flipped: frames whose y axis is not as it is made. zoom: frame -> {x, y}, ends.
function reset() {
  const plain = { hidden: {}, focus: null, fits: true, dots: true, linear: false, flipped: {}, zoom: {}, theme: "" };
  Object.assign(state, plain, { chosen: { ...page.chosen } });
}

function readFragment() {
  reset();
  const given = new URLSearchParams(location.hash.slice(1));
  const words = (name) => (given.get(name) ?? "").split(",").filter(Boolean);
  for (const id of words("hide")) {
    const series = page.series.findIndex((one) => one.id === id);
    if (series >= 0) state.hidden[series] = true;
  }
  for (const name of ["fits", "dots"]) state[name] = given.get(name) !== "off";
  state.linear = given.get("x") === "linear";
  for (const id of words("flip")) state.flipped[id] = true;
  for (const text of words("zoom")) {
    const [id, ...ends] = text.split(":");
    const [a, b, c, d] = ends.map(Number);
    if (ends.length === 4 && a < b && c < d) state.zoom[id] = { x: [a, b], y: [c, d] };
  }
  for (const shape of Object.keys(page.chosen)) state.chosen[shape] = given.get(shape) ?? page.chosen[shape];
  state.theme = ["light", "dark"].includes(given.get("theme")) ? given.get("theme") : "";
}

function writeFragment() {
  const said = new URLSearchParams();
  const put = (name, words) => { if (words.length) said.set(name, words.join(",")); };
  put("hide", Object.keys(state.hidden).map((series) => page.series[series].id));
  for (const name of ["fits", "dots"]) if (!state[name]) said.set(name, "off");
  if (state.linear) said.set("x", "linear");
  put("flip", Object.keys(state.flipped));
  put("zoom", Object.entries(state.zoom).map(([id, { x, y }]) => [id, ...x, ...y].join(":")));
  for (const [shape, choice] of Object.entries(state.chosen)) if (choice !== page.chosen[shape]) said.set(shape, choice);
  if (state.theme) said.set("theme", state.theme);
  const fragment = said.toString();
  if (fragment !== location.hash.slice(1)) history.replaceState(null, "", "#" + fragment);
}
