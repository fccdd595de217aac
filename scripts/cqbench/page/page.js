// The controls: which series are shown, options, theme, copying, downloads, printing.
"use strict";

const boxes = [...document.querySelectorAll("input[data-series]")];
const status = document.getElementById("status");

function say(text) {
  status.textContent = text;
}

function readBoxes() {
  state.hidden = {};
  for (const box of boxes) if (!box.checked) state.hidden[box.dataset.series] = true;
  const usable = boxes.filter((box) => !box.disabled);
  const shown = usable.filter((box) => box.checked);
  document.getElementById("shown").textContent = `${shown.length} of ${usable.length} shown`;
}

function show(wanted) {
  for (const box of boxes) if (!box.disabled) box.checked = wanted(page.series[box.dataset.series]);
  readBoxes();
  invalidate();
}

function startLegend() {
  for (const box of boxes) {
    box.addEventListener("change", () => { readBoxes(); invalidate(); });
    const label = box.closest("label");
    const series = Number(box.dataset.series);
    for (const event of ["pointerenter", "focusin"]) label.addEventListener(event, () => focusOn(series));
    for (const event of ["pointerleave", "focusout"]) label.addEventListener(event, () => focusOn(null));
  }
  for (const button of document.querySelectorAll("button[data-show]")) {
    button.addEventListener("click", () => show(wantedBy(button.dataset)));
  }
  readBoxes();
}

// Which series a button shows.
function wantedBy({ show: kind, sharing }) {
  if (kind === "sharing") return (series) => series.sharing === sharing;
  return () => kind === "all";
}

// The series pointed at stands out where it can be seen; the rest need not follow each movement.
function focusOn(series) {
  if (state.focus === series) return;
  state.focus = series;
  const drawn = panels.filter((panel) => panel.view);
  for (const panel of drawn) due.add(panel);
  clearTimeout(focusOn.timer);
  focusOn.timer = setTimeout(work, 60);
}

function startOptions() {
  bind("log2", (input) => { state.log2 = input.checked; });
  bind("fits", (input) => { state.fits = input.checked; });
  for (const select of document.querySelectorAll("select[data-shape]")) {
    bind(select.id, (input) => { state.chosen[input.dataset.shape] = input.value; });
  }
  bind("theme", (input) => { document.documentElement.dataset.theme = input.value; });
}

// A browser that comes back to the page may remember what its inputs were set to.
function bind(id, take) {
  const input = document.getElementById(id);
  if (!input) return;
  take(input);
  input.addEventListener("change", () => { take(input); if (id !== "theme") invalidate(); });
}

function startCopying() {
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", () => copy(button, button.parentElement.querySelector("pre")));
  }
}

async function copy(button, pre) {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "copied";
    say("Copied.");
  } catch {
    getSelection().selectAllChildren(pre);
    button.textContent = "selected";
    say("The browser does not let the page copy: the command is selected instead.");
  }
  setTimeout(() => { button.textContent = "copy"; }, 2000);
}

function startDownloads() {
  for (const button of document.querySelectorAll("button[data-download]")) {
    const failed = (error) => say(`No download: ${error}`);
    button.addEventListener("click", () => download(button.dataset.download).catch(failed));
  }
}

async function download(kind) {
  const text = atob(document.getElementById("download-" + kind).textContent);
  const packed = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const type = { json: "application/json", csv: "text/csv" }[kind];
  const blob = new Blob([await new Response(stream).arrayBuffer()], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = "cqbench." + kind;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// On paper everything is there: plots not drawn yet, and what is folded up. Plots are laid out for the paper's width,
// or their text would shrink with them.
const PAPER = { width: 670, height: 172, screenHeight: 250 }; // CSS pixels between the margins of A4

function startPrinting() {
  let opened = [];
  addEventListener("beforeprint", () => {
    hideTip();
    for (const panel of panels) {
      const width = PAPER.width / panel.element.closest(".panels").childElementCount - 12;
      settle(panel).then(() => panel.view.width(width).height(PAPER.height).run());
    }
    opened = [...document.querySelectorAll("details.printed:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    for (const panel of panels) panel.view.height(PAPER.screenHeight);
    dispatchEvent(new Event("resize")); // the views take the width of their place again
  });
}

function start() {
  for (const element of document.querySelectorAll(".scripted")) element.hidden = false;
  startLegend();
  startOptions();
  startCopying();
  startDownloads();
  startPrinting();
  startHover();
  document.getElementById("open-tables")?.addEventListener("click", () => {
    for (const details of document.querySelectorAll("details.table")) details.open = true;
  });
  if (matchMedia("(max-width: 70rem)").matches) document.querySelector(".legend > details")?.removeAttribute("open");
  watch();
}

start();
