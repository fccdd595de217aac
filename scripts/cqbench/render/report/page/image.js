// A menu at each plot: its axis, its zoom, and itself as a file with title and legend.
"use strict";

const SIZE = { width: 640, height: 320 };
const LEGEND = { title: null, labelExpr: "titles[datum.value]", values: { expr: "named" }, symbolOpacity: 1 };

function startMenus() {
  for (const panel of panels) {
    const menu = document.createElement("details");
    menu.className = "menu";
    menu.append(textElement("summary", "⋯"));
    menu.firstChild.setAttribute("aria-label", `Menu of ${panel.frame.title}, ${panel.data.caption}`);
    panel.flip = button(menu, "", () => flip(panel.frame));
    for (const kind of ["PNG", "SVG"]) {
      button(menu, "save as " + kind, () => save(panel, kind).catch((error) => say(`No image: ${error}`)));
    }
    panel.unzoom = textElement("button", "reset zoom", "unzoom");
    panel.unzoom.type = "button";
    panel.unzoom.addEventListener("click", () => unzoom(panel.frame));
    panel.element.previousElementSibling.append(panel.unzoom, menu);
  }
  document.addEventListener("click", (e) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(e.target)) menu.open = false;
  });
  showMenus();
}

function button(menu, text, action) {
  const made = textElement("button", text);
  made.type = "button";
  made.addEventListener("click", () => { menu.open = false; action(); });
  menu.append(made);
  return made;
}

function showMenus() {
  for (const panel of panels) {
    panel.flip.textContent = isLog(panel.frame, "y") ? "linear axis" : "logarithmic axis";
    panel.unzoom.hidden = !(panel.frame.id in state.zoom);
  }
}

function flip(frame) {
  if (frame.id in state.flipped) delete state.flipped[frame.id];
  else state.flipped[frame.id] = true;
  delete state.zoom[frame.id];
  afterZoom(frame);
}

// The page's drawing with colours of its own: a file knows nothing of the page's.
async function save(panel, kind) {
  const resolved = JSON.stringify(specOf(panel)).replace(/var\((--\w+)\)/g, (_, name) => colourOf(name));
  const shown = new Set(rowsOf(panel).filter((row) => row.v != null && !state.hidden[row.s]).map((row) => row.s));
  const spec = { ...JSON.parse(resolved), ...SIZE, autosize: "pad", padding: 8, background: colourOf("--paper") };
  const known = { titles: page.series.map((one) => one.title), named: [...shown].sort((a, b) => a - b) };
  for (const param of spec.params) param.value = known[param.name] ?? param.value;
  for (const encoding of spec.layer.flatMap((layer) => Object.values(layer.encoding))) {
    if (encoding?.legend === null) encoding.legend = LEGEND;
  }
  const chosen = panel.data.choices ? state.chosen[panel.frame.shape] : "";
  spec.title = { text: [panel.frame.title, panel.data.caption, chosen].filter(Boolean).join(", ") };
  const { view } = await vegaEmbed(document.createElement("div"), spec, { ...OPTIONS, renderer: "canvas", logLevel: 1 });
  try {
    saveAs(kind === "SVG" ? await svgOf(view) : await pngOf(view), `${panel.id}.${kind.toLowerCase()}`);
  } finally {
    view.finalize();
  }
}

async function svgOf(view) {
  return new Blob([await view.toSVG()], { type: "image/svg+xml" });
}

async function pngOf(view) {
  const canvas = await view.toCanvas(2);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// Of a variable as it is now, "#rrggbb".
function colourOf(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = getComputedStyle(probe).color;
  probe.remove();
  context.fillRect(0, 0, 1, 1);
  const parts = [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  return "#" + parts.map((part) => part.toString(16).padStart(2, "0")).join("");
}

function saveAs(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
