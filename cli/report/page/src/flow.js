// Control flow: the basic blocks as a graph with their loops and trip counts, and as a list.
import { h, s } from "./dom.js";
import { layered } from "./layers.js";

const MOST_DRAWN = 400, MOST_LISTED = 600, WIDEST = 8000, TALL = 11;

let graphs = 0;
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const range = (first, last) => (first === last ? `${first}` : `${first}–${last}`);
const counted = (many, what) => `${many} ${what}${many === 1 ? "" : "s"}`;

// What there is to say of each block.
function described(kernel) {
  const loops = new Map((kernel.loops ?? []).map((loop) => [loop.loop, loop]));
  return (kernel.blocks ?? []).map((block) => {
    const inside = [];
    for (let one = loops.get(block.loop); one && inside.length < 50; one = loops.get(one.parent)) inside.push(one);
    const ptx = [], source = new Set();
    let loads = 0, stores = 0;
    for (let line = block.first_line; line <= block.last_line; ++line) {
      const one = kernel.byPtx.get(line);
      if (!one) continue;
      ptx.push(line);
      if (one.line > 0) source.add(one.line);
      if (one.period === "load") ++loads;
      if (one.period === "store") ++stores;
    }
    return { block, name: block.block, inside, header: inside.find((loop) => loop.header === block.block), ptx, source: [...source].sort((a, b) => a - b), loads, stores };
  });
}

// What is written in the block, then the rest: who speaks to the page says what is seen.
function spoken(one, written) {
  const { block, inside, loads, stores } = one;
  return [written, `PTX ${range(block.first_line, block.last_line)}`, counted(block.instructions, "instruction"), loads > 0 && counted(loads, "load"), stores > 0 && counted(stores, "store"),
    ...inside.map((loop) => `${loop === one.header ? "begins" : "in"} loop ${loop.loop}, ${loop.iterations} iterations`),
    block.reachable === false && "never reached", block.successors.length > 0 ? `then ${block.successors.join(" or ")}` : "the end"].filter(Boolean).join("; ");
}

// The graph, or why there is none.
function graphOf(all, onPoint) {
  if (all.length > MOST_DRAWN) return `There are ${all.length} basic blocks: more than ${MOST_DRAWN} are a list, not a drawing.`;
  const index = new Map(all.map((one, i) => [one.name, i]));
  const rows = all.map((one) => [
    [one.name, `${one.block.instructions} instr.${one.loads > 0 ? ` ▼${one.loads}` : ""}${one.stores > 0 ? ` ▲${one.stores}` : ""}`],
    [one.source.length > 0 ? `line${one.source.length > 1 ? "s" : ""} ${range(one.source[0], one.source[one.source.length - 1])}` : `PTX ${range(one.block.first_line, one.block.last_line)}`],
    ...(one.header ? [[`${one.header.loop} × ${cut(one.header.iterations, 20)}`]] : []),
    ...(one.block.reachable === false ? [["never reached"]] : []),
  ]);
  const sizes = rows.map((lines) => ({ width: Math.max(118, ...lines.map((words) => 7.2 * words.join("  ").length + 22)), height: 12 + 16 * lines.length }));
  const layout = layered(sizes, all.map((one) => one.block.successors.filter((to) => index.has(to)).map((to) => index.get(to))));
  if (layout === null || layout.width > WIDEST) return "The edges of these basic blocks are too many for a drawing.";
  const arrow = `arrow${++graphs}`;
  const marker = (kind) => s("marker", { id: `${arrow}${kind}`, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L8 4L0 8z" }));
  const paths = layout.edges.map((edge) => s("path", { d: edge.path, class: edge.back ? "edge back" : "edge", "marker-end": `url(#${arrow}${edge.back ? "back" : ""})` }));
  let current = 0;
  const go = (to) => {
    if (to === undefined) return;
    boxes[current].setAttribute("tabindex", "-1");
    current = to;
    boxes[to].setAttribute("tabindex", "0");
    boxes[to].focus();
  };
  const near = (list) => list.slice().sort((a, b) => Math.abs(layout.nodes[a].x - layout.nodes[current].x) - Math.abs(layout.nodes[b].x - layout.nodes[current].x))[0];
  const besides = (by) => {
    const layer = layout.layers[layout.nodes[current].layer];
    return layer[layer.indexOf(current) + by];
  };
  const key = (event) => {
    const to = { ArrowDown: () => near(layout.edges.filter((edge) => edge.from === current && !edge.back).map((edge) => edge.to)),
      ArrowUp: () => near(layout.edges.filter((edge) => edge.to === current && !edge.back).map((edge) => edge.from)),
      ArrowLeft: () => besides(-1), ArrowRight: () => besides(1), Home: () => 0, End: () => all.length - 1 }[event.key];
    if (to) event.preventDefault(), go(to());
    else if (event.key === "Enter" || event.key === " ") event.preventDefault(), point(current);
  };
  const point = (i) => {
    onPoint(all[i].source, all[i].ptx);
    paths.forEach((path, at) => path.classList.toggle("lit", layout.edges[at].from === i || layout.edges[at].to === i));
  };
  const boxes = all.map((one, i) => {
    const { x, y } = layout.nodes[i], { width, height } = sizes[i];
    const [left, top] = [x - width / 2, y - height / 2];
    return s("g", { class: `block depth${Math.min(3, one.inside.length)}${one.header ? " header" : ""}`, role: "button", tabindex: i === 0 ? "0" : "-1", "aria-label": spoken(one, rows[i].flat().join(" ")),
      onclick: () => go(i), onmouseenter: () => point(i), onfocus: () => ((current = i), point(i)) },
      s("title", {}, spoken(one, one.name)),
      s("rect", { x: left, y: top, width, height, rx: 5 }),
      rows[i].map((words, line) => [" ", words.length > 1
        ? [s("text", { x: left + 9, y: top + 18, class: "name" }, words[0]), " ", s("text", { x: left + width - 9, y: top + 18, "text-anchor": "end" }, words[1])]
        : s("text", { x: left + 9, y: top + 18 + 16 * line, class: line === 1 ? "where" : "trips" }, words[0])]));
  });
  const picture = s("svg", { class: "flowgraph", width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}`, role: "group",
    "aria-label": `Control-flow graph of ${counted(all.length, "block")}. Arrow keys follow the edges.`, onkeydown: key },
    s("defs", {}, marker(""), marker("back")), paths, boxes);
  return h("div", { class: `graph drawn${layout.layers.length > TALL ? " tall" : ""}` }, picture);
}

function listOf(all, kernel, onPoint) {
  const shown = all.slice(0, MOST_LISTED);
  return [h("ol", { class: "blocks" }, shown.map((one) => {
    const { block, inside } = one;
    const point = () => onPoint(one.source, one.ptx);
    const to = block.successors.length === 0 ? "" : ` → ${block.successors.join(", ")}`;
    return h("li", {}, h("button", { type: "button", class: "block", onclick: point, onmouseenter: point, onfocus: point },
      h("strong", {}, one.name), ` PTX ${range(block.first_line, block.last_line)}, ${counted(block.instructions, "instruction")}${to}`,
      block.reachable === false ? " (never reached)" : "", inside.length > 0 ? h("span", { class: "loop" }, inside.map((loop) => `${loop.loop} × ${loop.iterations}`).join(", in ")) : null));
  })), all.length > MOST_LISTED ? h("p", { class: "note" }, `The first ${MOST_LISTED} of ${all.length} basic blocks.`) : null];
}

export function flowView(kernel, onPoint) {
  const all = described(kernel);
  if (all.length === 0) return h("p", {}, "There is no code, so there are no basic blocks.");
  const loops = kernel.loops ?? [];
  const graph = graphOf(all, onPoint);
  const drawn = typeof graph !== "string";
  return h("div", { class: "flow" },
    loops.length > 0 ? h("table", {}, h("caption", {}, "Loops"), h("thead", {}, h("tr", {}, ["loop", "in", "header", "line", "iterations"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, loops.map((loop) => h("tr", {}, h("th", { scope: "row" }, loop.loop), h("td", {}, loop.parent ?? "–"), h("td", {}, loop.header), h("td", {}, String(loop.line)), h("td", {}, h("code", {}, loop.iterations))))))
      : h("p", {}, "No loops."),
    drawn ? [graph, h("p", { class: "note" }, "▼ loads, ▲ stores; dashed edges lead back, coloured blocks are in loops, and × says how often a loop runs its body. Pointing at a block lights up its code.")]
      : h("p", { class: "note" }, graph),
    drawn ? h("details", { class: "listed" }, h("summary", {}, "The blocks as a list"), listOf(all, kernel, onPoint)) : h("div", { class: "graph", tabindex: "0", role: "group", "aria-label": "Basic blocks" }, h("div", {}, listOf(all, kernel, onPoint))));
}
