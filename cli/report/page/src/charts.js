// The charts. Each is an SVG with a name, and what it shows stands in a table too.
import { areaY, barX, dot, line, link, plot, ruleX, ruleY, text } from "@observablehq/plot";
import { h } from "./dom.js";
import * as say from "./text.js";

export const COLOURS = 8;
export const methodColour = (number) => `var(--m${number % COLOURS})`;
const DASHES = ["none", "6 3", "2 3", "8 3 2 3", "1 3", "10 4", "4 2 1 2", "12 3"];
export const methodDash = (number) => DASHES[number % DASHES.length];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye", "plus"];
export const methodSymbol = (number) => SYMBOLS[number % SYMBOLS.length];

const FONT = { fontFamily: "inherit", fontSize: "12px", background: "transparent", color: "currentColor", overflow: "visible" };
const logTime = (label, domain) => ({ type: "log", label, grid: true, domain, tickFormat: shortTime });

function shortTime(us) {
  const power = Math.log10(us);
  if (Math.abs(power - Math.round(power)) > 1e-9) return "";
  return us < 1 ? `${say.digits(us * 1e3, 3)} ns` : us < 1e3 ? `${say.digits(us, 3)} µs` : us < 1e6 ? `${say.digits(us / 1e3, 3)} ms` : `${say.digits(us / 1e6, 3)} s`;
}

// Sizes with the same distance on the axis: few enough to read.
function sizeTicks(values, most) {
  if (values.length <= most) return values;
  const step = Math.ceil(values.length / most);
  return values.filter((_, i) => (values.length - 1 - i) % step === 0);
}

export function named(figure, label) {
  for (const part of figure.querySelectorAll("[aria-label], [aria-description], [aria-hidden]"))
    for (const name of ["aria-label", "aria-description", "aria-hidden"]) part.removeAttribute(name);
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", label);
  return figure;
}

export const sizeScale = (values) => (values.length > 0 && values[0] > 0 ? "log" : "linear");

// Time over the size on one GPU: a line with its interval for each method, crossovers, and the size that is looked at.
export function timeChart({ width, series, crossovers, sizes, sizeName, at, domain, label }) {
  const type = sizeScale(sizes);
  const marks = [ruleX([at], { stroke: "currentColor", strokeDasharray: "2 3", strokeOpacity: 0.7 })];
  for (const one of series) {
    if (one.points.some((point) => point.low !== undefined))
      marks.push(areaY(one.points, { x: "size", y1: "low", y2: "high", fill: one.colour, fillOpacity: 0.16 }));
    marks.push(line(one.points, { x: "size", y: "us", stroke: one.colour, strokeWidth: 2, strokeDasharray: one.dash }));
    if (one.points.length <= 60)
      marks.push(dot(one.points, { x: "size", y: "us", r: 2.6, fill: one.colour, symbol: one.symbol, stroke: one.colour, strokeWidth: 0.5 }));
  }
  for (const one of crossovers) {
    marks.push(dot([one], { x: "size", y: "us", r: 6, stroke: "currentColor", strokeWidth: 1.5, fill: "none" }));
    marks.push(text([one], { x: "size", y: "us", text: () => `${sizeName} ≈ ${say.size(Math.round(one.size))}`, dy: -13, fontWeight: 600,
      fill: "currentColor", stroke: "var(--page)", strokeWidth: 4 }));
  }
  const figure = plot({ width, height: Math.max(200, Math.min(300, width * 0.72)), marginLeft: 54, marginRight: 14, marginTop: 16, marginBottom: 38,
    style: FONT, marks: [...marks, ruleX([sizes[0]], { strokeOpacity: 0 })],
    x: { type, base: 2, label: sizeName, ticks: sizeTicks(sizes, width < 320 ? 5 : 8), tickFormat: say.size, grid: false },
    y: logTime("time", domain) });
  return named(figure, label);
}

// The parts of times as bars that sum to them, a bar for each method and GPU.
export function partsChart({ width, bars, colours, relative, label }) {
  const left = 8;
  const pieces = bars.flatMap((bar) => {
    let from = 0;
    return bar.pieces.map((piece) => {
      const length = relative ? piece.us / bar.us : piece.us;
      const one = { bar: bar.name, x1: from, x2: (from += length), key: piece.key, title: piece.title, share: piece.us / bar.us, us: piece.us };
      return one;
    });
  });
  const most = relative ? 1 : Math.max(...bars.map((bar) => bar.us));
  const inner = width - left - 90;
  const wide = (one) => ((one.x2 - one.x1) / most) * inner;
  const figure = plot({ width, height: 34 + bars.length * 50, marginLeft: left, marginRight: 82, marginTop: 18, marginBottom: 28, style: FONT,
    x: { label: null, domain: [0, most], ticks: 5, tickFormat: relative ? "%" : (us) => say.time(us) },
    y: { label: null, axis: null, domain: bars.map((bar) => bar.name), paddingInner: 0.5, paddingOuter: 0.32 },
    marks: [
      barX(pieces, { x1: "x1", x2: "x2", y: "bar", fill: (one) => colours.get(one.key), stroke: "var(--page)", strokeWidth: 1.5, title: (one) => `${one.title}: ${say.time(one.us)}, ${say.percent(one.share)}` }),
      text(pieces.filter((one) => wide(one) > 7 * one.title.length + 8), { x: (one) => (one.x1 + one.x2) / 2, y: "bar", text: "title", fill: "var(--on-part)", fontWeight: 600 }),
      text(bars, { x: 0, y: "name", text: "name", textAnchor: "start", dy: -22, fill: "currentColor", lineWidth: 100 }),
      text(bars, { x: (bar) => (relative ? 1 : bar.us), y: "name", text: (bar) => say.time(bar.us), textAnchor: "start", dx: 6, fontWeight: 600, fill: "currentColor" }),
    ] });
  return named(figure, label);
}

// GPUs by their times, fastest first, a mark for each method.
export function rankingChart({ width, rows, methods, label }) {
  const gpus = [...new Set(rows.map((row) => row.gpu))];
  const longest = Math.max(...gpus.map((gpu) => gpu.length));
  const figure = plot({ width, height: 60 + gpus.length * 22, marginLeft: Math.min(170, 14 + longest * 7.4), marginRight: 24 + 6.2 * Math.max(...gpus.map((gpu) => rows.filter((row) => row.gpu === gpu).map((row) => say.time(row.us)).join(", ").length)), marginBottom: 34, marginTop: 8, style: FONT,
    x: logTime("time", [Math.min(...rows.map((row) => row.low ?? row.us)) / 1.15, Math.max(...rows.map((row) => row.high ?? row.us)) * 1.15]), y: { label: null, domain: gpus, type: "band", grid: true, paddingInner: 0.1 },
    marks: [
      link(rows.filter((row) => row.low !== undefined), { x1: "low", x2: "high", y: "gpu", stroke: (row) => methodColour(row.method), strokeOpacity: 0.45, strokeWidth: 5 }),
      dot(rows, { x: "us", y: "gpu", r: 4.5, fill: (row) => methodColour(row.method), symbol: (row) => methodSymbol(row.method), stroke: "var(--page)", strokeWidth: 1,
        title: (row) => `${methods[row.method]} on ${row.gpu}: ${say.time(row.us)}` }),
      text(gpus.map((gpu) => rows.filter((row) => row.gpu === gpu)), { x: (of) => Math.max(...of.map((row) => row.high ?? row.us)), y: (of) => of[0].gpu, text: (of) => of.map((row) => say.time(row.us)).join(", "), dx: 10, textAnchor: "start", fill: "currentColor", stroke: "var(--page)", strokeWidth: 3 }),
    ] });
  return named(figure, label);
}

// A roofline of one GPU: instructions of warps for each byte of memory, and how many a second.
export function rooflineChart({ width, gpu, points, label }) {
  const peak = gpu.warp_instructions_per_s;
  const bandwidth = (gpu.memory_bandwidth_gb_s ?? 0) * 1e9;
  const ridge = bandwidth > 0 ? peak / bandwidth : 1;
  const xs = points.map((one) => one.x);
  const [low, high] = [Math.min(ridge / 30, ...xs.map((x) => x / 2)), Math.max(ridge * 30, ...xs.map((x) => x * 2))];
  const floor = Math.min(peak / 300, ...points.map((one) => one.y / 2));
  const marks = [line([[ridge, peak], [high, peak]], { stroke: "currentColor", strokeWidth: 1.8 }),
    text([[high, peak]], { text: () => `issue: ${rate(peak)}`, textAnchor: "end", dy: -8, fill: "currentColor" })];
  if (bandwidth > 0) {
    const begin = Math.max(low, floor / bandwidth);
    marks.push(line([[begin, begin * bandwidth], [ridge, peak]], { stroke: "currentColor", strokeWidth: 1.8, strokeDasharray: "6 3" }));
    const middle = Math.sqrt(begin * ridge) * 1.6;
    marks.push(text([[middle, middle * bandwidth]], { text: () => `memory: ${say.digits(gpu.memory_bandwidth_gb_s, 3)} GB/s`, textAnchor: "end", dx: -8, dy: -8, fill: "currentColor", stroke: "var(--page)", strokeWidth: 4 }));
  }
  for (const one of points) {
    const roof = bandwidth > 0 ? Math.min(peak, one.x * bandwidth) : peak;
    marks.push(ruleX([one], { x: "x", y1: one.y, y2: roof, stroke: one.colour, strokeDasharray: "2 2" }));
    marks.push(dot([one], { x: "x", y: "y", r: 6, fill: one.colour, symbol: one.symbol, stroke: "var(--page)", strokeWidth: 1, title: () => one.title }));
  }
  const figure = plot({ width, height: Math.max(210, width * 0.62), marginLeft: 62, marginRight: 16, marginBottom: 38, marginTop: 18, style: FONT,
    x: { type: "log", domain: [low, high], label: "instructions of warps for each byte of memory", ticks: 5, tickFormat: "~g" },
    y: { type: "log", domain: [floor, peak * 1.8], label: "instructions of warps a second", grid: true, ticks: 4, tickFormat: rate }, marks });
  return named(figure, label);
}

export const rate = (value) => (value >= 1e12 ? `${say.digits(value / 1e12, 3)} T/s` : value >= 1e9 ? `${say.digits(value / 1e9, 3)} G/s` : value >= 1e6 ? `${say.digits(value / 1e6, 3)} M/s` : `${say.digits(value / 1e3, 3)} k/s`);

// Predicted over measured times against the size, one line for each experiment: Figures 10 to 15 of Puchala et al.
export function ratioChart({ width, experiments, sizeName, label, axis }) {
  const sizes = [...new Set(experiments.flatMap((one) => one.points.map((point) => point.size)))].sort((a, b) => a - b);
  const marks = [ruleY([1], { stroke: "currentColor", strokeWidth: 1.2 })];
  experiments.forEach((one, i) => {
    marks.push(line(one.points, { x: "size", y: "ratio", stroke: methodColour(i), strokeWidth: 1.8, strokeDasharray: methodDash(i) }));
    marks.push(dot(one.points, { x: "size", y: "ratio", r: 3, fill: methodColour(i), symbol: methodSymbol(i) }));
  });
  const figure = plot({ width, height: Math.max(210, Math.min(300, width * 0.6)), marginLeft: 54, marginRight: 14, marginBottom: 38, style: FONT,
    x: { type: sizeScale(sizes), base: 2, label: sizeName, ticks: sizeTicks(sizes, 8), tickFormat: say.size },
    y: { label: axis, grid: true, zero: false, nice: true }, marks });
  return named(figure, label);
}

// A legend of text with samples that differ in more than colour.
export function legend(entries) {
  return h("ul", { class: "legend" }, entries.map((one) => h("li", {}, one.sample, " ", one.title)));
}
