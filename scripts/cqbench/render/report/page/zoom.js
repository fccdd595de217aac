// Zoom: by dragging a rectangle, or the wheel with Ctrl; a double click or the button brings all of it back.
"use strict";

const LEAST = 8; // pixels of a drag that is meant
const box = document.createElement("div");
box.className = "box";
box.hidden = true;
document.body.append(box);
let drag = null; // {panel, x, y} where it began

function startZoom() {
  for (const panel of panels) {
    panel.element.addEventListener("pointerdown", (e) => begin(panel, e));
    panel.element.addEventListener("dblclick", () => unzoom(panel.frame));
    panel.element.addEventListener("wheel", (e) => turn(panel, e), { passive: false });
  }
  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("keydown", (e) => { if (e.key === "Escape") stop(); });
}

// Fingers scroll the page.
function begin(panel, e) {
  if (e.pointerType === "touch" || e.button !== 0 || !panel.view || !inside(panel, e.clientX, e.clientY)) return;
  e.preventDefault();
  drag = { panel, x: e.clientX, y: e.clientY };
}

function stop() {
  drag = null;
  box.hidden = true;
}

// What is dragged over. A movement along one axis leaves the other as it is.
function extent(e) {
  const [zeroX, zeroY] = zero(drag.panel);
  const [width, height] = [drag.panel.view.width(), drag.panel.view.height()];
  const between = (v, most) => Math.max(0, Math.min(v, most));
  const x = [drag.x, e.clientX].map((v) => between(v - zeroX, width)).sort((a, b) => a - b);
  const y = [drag.y, e.clientY].map((v) => between(v - zeroY, height)).sort((a, b) => a - b);
  return {
    x: x[1] - x[0] < LEAST ? [0, width] : x,
    y: y[1] - y[0] < LEAST ? [0, height] : y,
    meant: x[1] - x[0] >= LEAST || y[1] - y[0] >= LEAST,
  };
}

function move(e) {
  if (!drag) return;
  hideTip();
  const { x, y, meant } = extent(e);
  const [zeroX, zeroY] = zero(drag.panel);
  box.hidden = !meant;
  box.style.left = zeroX + x[0] + scrollX + "px";
  box.style.top = zeroY + y[0] + scrollY + "px";
  box.style.width = x[1] - x[0] + "px";
  box.style.height = y[1] - y[0] + "px";
}

function end(e) {
  if (!drag) return;
  const { panel } = drag;
  const { x, y, meant } = extent(e);
  stop();
  if (meant) zoomTo(panel, x, y);
}

function turn(panel, e) {
  if (!(e.ctrlKey || e.metaKey) || !panel.view) return;
  e.preventDefault();
  const [zeroX, zeroY] = zero(panel);
  const factor = e.deltaY < 0 ? 0.8 : 1.25;
  const around = (at, size) => [at - at * factor, at + (size - at) * factor];
  const { view } = panel;
  zoomTo(panel, around(e.clientX - zeroX, view.width()), around(e.clientY - zeroY, view.height()));
}

// Pixels between the axes, from the left and from the top.
function zoomTo(panel, x, y) {
  const [scaleX, scaleY] = [panel.view.scale("x"), panel.view.scale("y")];
  const short = (v) => Number(v.toPrecision(5));
  const ends = { x: x.map((v) => short(scaleX.invert(v))), y: [y[1], y[0]].map((v) => short(scaleY.invert(v))) };
  if (ends.x[0] < ends.x[1] && ends.y[0] < ends.y[1]) state.zoom[panel.frame.id] = ends;
  afterZoom(panel.frame);
}

function unzoom(frame) {
  if (!(frame.id in state.zoom)) return;
  delete state.zoom[frame.id];
  afterZoom(frame);
}

function afterZoom(frame) {
  showMenus();
  invalidate(frame.panels);
}
