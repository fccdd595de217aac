// The controls: which series are shown, options, theme, copying, downloads, printing.
"use strict";

const boxes = [...document.querySelectorAll("input[data-series]")];
const status = document.getElementById("status");

function say(text) {
  status.textContent = text;
}

function readBoxes() {
  state.hidden = {};
  for (const box of boxes) if (!box.checked && !box.disabled) state.hidden[box.dataset.series] = true;
  countBoxes();
}

function countBoxes() {
  const usable = boxes.filter((box) => !box.disabled);
  const shown = usable.filter((box) => box.checked);
  document.getElementById("shown").textContent = `${shown.length} of ${usable.length} shown`;
  for (const button of document.querySelectorAll("button[data-toggle]")) {
    button.setAttribute("aria-pressed", String(!state.hidden[button.dataset.toggle]));
  }
}

function show(wanted) {
  for (const box of boxes) if (!box.disabled) box.checked = wanted(page.series[box.dataset.series]);
  readBoxes();
  invalidate();
}

function startLegend() {
  for (const box of boxes) {
    box.addEventListener("change", () => { readBoxes(); invalidate(); });
    pointedAt(box.closest("label"), Number(box.dataset.series));
  }
  for (const button of document.querySelectorAll("button[data-show]")) {
    button.addEventListener("click", () => show(wantedBy(button.dataset)));
  }
  for (const button of document.querySelectorAll("button[data-toggle]")) {
    const box = boxes.find((one) => one.dataset.series === button.dataset.toggle);
    button.addEventListener("click", () => box.click());
    pointedAt(button, Number(button.dataset.toggle));
  }
}

function pointedAt(element, series) {
  for (const event of ["pointerenter", "focusin"]) element.addEventListener(event, () => focusOn(series));
  for (const event of ["pointerleave", "focusout"]) element.addEventListener(event, () => focusOn(null));
}

// Which series a button shows.
function wantedBy({ show: kind, sharing, run }) {
  if (kind === "sharing") return (series) => series.sharing === sharing;
  if (kind === "run") return (series) => String(series.run) === run;
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

const OPTIONS_OF_PAGE = { log2: ["linear", false], fits: ["fits", true], dots: ["dots", true] }; // id: key, value if on

function startOptions() {
  for (const [id, [key, on]] of Object.entries(OPTIONS_OF_PAGE)) {
    listen(document.getElementById(id), (input) => { state[key] = input.checked === on; });
  }
  for (const select of document.querySelectorAll("select[data-shape]")) {
    listen(select, () => { state.chosen[select.dataset.shape] = select.value; showState(); });
  }
  listen(document.getElementById("theme"), (input) => { state.theme = input.value; showState(); });
  addEventListener("hashchange", () => { readFragment(); showState(); invalidate(); });
}

function listen(input, take) {
  input?.addEventListener("change", () => { take(input); invalidate(); });
}

// The controls as the state has it: the address decides, not what a browser remembers of a form.
function showState() {
  for (const box of boxes) box.checked = !box.disabled && !state.hidden[box.dataset.series];
  for (const [id, [key, on]] of Object.entries(OPTIONS_OF_PAGE)) {
    const input = document.getElementById(id);
    if (input) input.checked = state[key] === on;
  }
  for (const select of document.querySelectorAll("select[data-shape]")) {
    const { shape } = select.dataset;
    select.value = state.chosen[shape];
    if (select.selectedIndex < 0) select.value = state.chosen[shape] = page.chosen[shape];
  }
  for (const pairs of document.querySelectorAll("[data-pairs]")) {
    pairs.hidden = state.chosen[pairs.dataset.shape] !== pairs.dataset.pairs;
  }
  document.documentElement.dataset.theme = document.getElementById("theme").value = state.theme;
  countBoxes();
  showMenus();
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
  saveAs(blob, "cqbench." + kind);
}

// On paper everything is there: plots not drawn yet, and what is folded up. Plots are laid out for the paper's width,
// or their text would shrink with them.
const PAPER = { width: 670, height: 172, screenHeight: 250 }; // CSS pixels between the margins of A4

function startPrinting() {
  let opened = [];
  addEventListener("beforeprint", () => {
    hideTip();
    for (const panel of panels) {
      const beside = panel.element.closest(".alone") ? 2 : panel.element.closest(".panels").childElementCount;
      const width = PAPER.width / beside - 12;
      settle(panel).then(() => panel.view?.width(width).height(PAPER.height).run());
    }
    opened = [...document.querySelectorAll("details.printed:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
    for (const panel of panels) panel.view?.height(PAPER.screenHeight);
    dispatchEvent(new Event("resize")); // the views take the width of their place again
  });
}

function start() {
  for (const element of document.querySelectorAll(".scripted")) element.hidden = false;
  readFragment();
  startMenus();
  startLegend();
  startOptions();
  startCopying();
  startDownloads();
  startPrinting();
  startHover();
  startZoom();
  showState();
  document.getElementById("open-tables")?.addEventListener("click", () => {
    for (const details of document.querySelectorAll("details.table")) details.open = true;
  });
  // What is behind the # of the address is the state.
  for (const link of document.querySelectorAll("a[data-jump]")) {
    link.addEventListener("click", (e) => {
      e.preventDefault();
      document.querySelector(link.hash).scrollIntoView();
    });
  }
  if (matchMedia("(max-width: 70rem)").matches) document.querySelector(".legend > details")?.removeAttribute("open");
  watch();
}

start();
