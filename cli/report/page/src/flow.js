// Control flow: basic blocks in the order of the PTX, their edges, and loops with their trip counts.
import { h, s } from "./dom.js";

const ROW = 34, MOST = 600;

export function flowView(kernel, onPoint) {
  const blocks = kernel.blocks ?? [];
  if (blocks.length === 0) return h("p", {}, "There is no code, so there are no basic blocks.");
  const shown = blocks.slice(0, MOST);
  const index = new Map(shown.map((block, i) => [block.block, i]));
  const loops = new Map((kernel.loops ?? []).map((loop) => [loop.loop, loop]));
  const chain = (name) => {
    const all = [];
    for (let one = loops.get(name); one && all.length < 50; one = loops.get(one.parent)) all.push(one);
    return all;
  };
  const edges = [];
  shown.forEach((block, from) => {
    for (const successor of block.successors) if (index.has(successor)) edges.push({ from, to: index.get(successor) });
  });
  // Lanes for the edges that do not go to the next block: forward ones on the right of the strip, those back on the left.
  const lanes = [[], []];
  const laneOf = (edge) => {
    const [low, high] = [Math.min(edge.from, edge.to), Math.max(edge.from, edge.to)];
    const side = lanes[edge.to > edge.from ? 1 : 0];
    let lane = side.findIndex((taken) => taken.every(([a, b]) => high < a || low > b));
    if (lane < 0) lane = side.push([]) - 1;
    side[lane].push([low, high]);
    return lane;
  };
  const drawn = edges.map((edge) => ({ ...edge, next: edge.to === edge.from + 1, lane: edge.to === edge.from + 1 ? 0 : laneOf(edge) }));
  const left = 10 + Math.min(lanes[0].length, 14) * 8, right = 10 + Math.min(lanes[1].length, 14) * 8;
  const width = left + right + 10, height = shown.length * ROW;
  const y = (i) => i * ROW + ROW / 2;
  const paths = drawn.map((edge) => {
    const back = edge.to <= edge.from;
    if (edge.next) return s("path", { d: `M${left} ${y(edge.from) + 6}V${y(edge.to) - 8}`, "marker-end": "url(#arrow)", class: "edge" });
    const x = back ? left - 8 - (edge.lane % 14) * 8 : left + 8 + (edge.lane % 14) * 8;
    const side = back ? -5 : 5;
    return s("path", { d: `M${left + side} ${y(edge.from)}H${x}V${y(edge.to)}H${left + side}`, "marker-end": "url(#arrow)", class: back ? "edge back" : "edge" });
  });
  const picture = s("svg", { width, height, "aria-hidden": "true", class: "edges" },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, s("path", { d: "M0 0L8 4L0 8z" }))),
    paths, shown.map((_, i) => s("circle", { cx: left, cy: y(i), r: 4.5 })));
  const list = h("ol", { class: "blocks" }, shown.map((block) => {
    const inside = chain(block.loop);
    const lines = () => {
      const all = [];
      for (let line = block.first_line; line <= block.last_line; ++line) if (kernel.byPtx.has(line)) all.push(line);
      return all;
    };
    const point = () => onPoint([...new Set(lines().map((line) => kernel.byPtx.get(line).line).filter((line) => line > 0))], lines());
    const to = block.successors.length === 0 ? "" : ` → ${block.successors.join(", ")}`;
    return h("li", {}, h("button", { type: "button", class: "block", onclick: point, onmouseenter: point, onfocus: point },
      h("strong", {}, block.block), ` PTX ${block.first_line}–${block.last_line}, ${block.instructions} instruction${block.instructions === 1 ? "" : "s"}${to}`,
      block.reachable === false ? " (never reached)" : "", inside.length > 0 ? h("span", { class: "loop" }, inside.map((loop) => `${loop.loop} × ${loop.iterations}`).join(", in ")) : null));
  }));
  const loopRows = [...loops.values()];
  return h("div", { class: "flow" },
    loopRows.length > 0 ? h("table", {}, h("caption", {}, "Loops"), h("thead", {}, h("tr", {}, ["loop", "in", "header", "line", "iterations"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, loopRows.map((loop) => h("tr", {}, h("th", { scope: "row" }, loop.loop), h("td", {}, loop.parent ?? "–"), h("td", {}, loop.header), h("td", {}, String(loop.line)), h("td", {}, h("code", {}, loop.iterations))))))
      : h("p", {}, "No loops."),
    h("div", { class: "graph", tabindex: "0", role: "group", "aria-label": "Basic blocks" }, picture, list),
    blocks.length > MOST ? h("p", { class: "note" }, `The first ${MOST} of ${blocks.length} basic blocks.`) : null);
}
