// The page of a report: makes its sections of the data, and keeps them at the GPU, the parameters and the block that are chosen.
import { BigTable } from "./table.js";
import { CodeView, costOf, Kernel, MARK } from "./code.js";
import { Report } from "./data.js";
import { TimelineView } from "./timeline.js";
import * as charts from "./charts.js";
import { allVisible, h, replace, s } from "./dom.js";
import { flowView } from "./flow.js";
import { inputsSection, shownInputs } from "./inputs.js";
import * as say from "./text.js";
import { banners, follow, kept } from "./watch.js";

const MOST_CHARTS = 12, TOO_CLOSE = 1.1;

const inputs = shownInputs(allVisible(JSON.parse(document.getElementById("report").textContent)));
const report = new Report(inputs.data);
const { methods, size } = report;
const blockSizes = [...new Set(methods.flatMap((method) => [...method.blockGrids.keys()]))].sort((a, b) => a - b);
// What is chosen at first, or was on the page that this one replaces, as far as there still is such.
const keptGpus = (kept?.gpus ?? []).filter((name) => report.gpuNames.includes(name));
const keptValue = (one) => {
  const value = kept?.values?.[one.name];
  return Number.isFinite(value) ? Math.min(Math.max(value, one.values[0]), one.values[one.values.length - 1]) : null;
};
const state = {
  gpu: report.gpuNames.includes(kept?.gpu) ? kept.gpu : methods[0].gpus[0],
  gpus: new Set(keptGpus.length > 0 ? keptGpus : report.gpuNames.slice(0, Math.min(report.gpuNames.length, 6))),
  values: new Map([...report.parametersByName.values()].map((one) => [one.name, keptValue(one) ?? one.values[one === size ? one.values.length - 1 : 0]])),
  block: blockSizes.includes(kept?.block) ? kept.block : 0,
  relative: kept?.relative ?? true,
};

// What is drawn anew where something else is chosen: at once what is in view, then the rest, piece by piece.
const updates = []; // { update, element, due }
const inView = new Set();
const watcher = new IntersectionObserver((entries) => {
  const begin = performance.now();
  for (const entry of entries) {
    if (!entry.isIntersecting) inView.delete(entry.target);
    else if (inView.add(entry.target)) for (const one of updates) if (one.due && one.element === entry.target) run(one);
  }
  if (document.body.dataset.drawn === undefined) document.body.dataset.drawn = (performance.now() - begin).toFixed(1);
}, { rootMargin: "40px" });
function updating(element, update) {
  updates.push({ element, update, due: true });
  watcher.observe(element);
}
function run(one) {
  one.due = false;
  one.update();
}
let waiting = false, resting = false;
const keepers = {}; // name → { save(), restore(saved) }: what a page of --watch keeps
function changed() {
  for (const one of updates) one.due = true;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const begin = performance.now();
    for (const one of updates) if (one.due && inView.has(one.element)) run(one);
    document.body.dataset.updated = String(Number(document.body.dataset.updated ?? 0) + 1);
    document.body.dataset.updateMs = (performance.now() - begin).toFixed(1);
    later();
  });
}
function later() {
  document.body.dataset.settled = "false";
  if (resting) return;
  resting = true;
  setTimeout(() => {
    resting = false;
    const next = updates.find((one) => one.due);
    if (next) run(next), later();
    else document.body.dataset.settled = "true";
  }, 0);
}
const shown = () => report.gpuNames.filter((name) => state.gpus.has(name));
const section = (id, title, ...children) => h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
const valuesText = (values) => [...values].map(([name, value]) => `${name} = ${say.size(value)}`).join(", ");
const hereText = () => `${valuesText(state.values)}${state.block > 0 ? `, blocks of ${state.block} threads` : ""}`;
const sample = (method) => s("svg", { width: 34, height: 12, "aria-hidden": "true" }, s("line", { x1: 1, x2: 33, y1: 6, y2: 6, style: { stroke: charts.methodColour(method.number), "stroke-width": "2.5", "stroke-dasharray": charts.methodDash(method.number) } }));
const table = (caption, titles, rows, kind) => h("table", { class: kind }, caption ? h("caption", {}, caption) : null,
  h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))),
  h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: typeof cell === "string" && /^[\d.,]+ \S+$/.test(cell) ? "one" : undefined }, cell)))))));
const details = (title, ...children) => h("details", {}, h("summary", {}, title), ...children);
// On paper: A4 less its margins, in pixels of CSS.
const PAPER = 686;
let printing = false;
const wide = (element) => (printing ? PAPER : Math.max(260, Math.floor(element.clientWidth || 900)));

// --- what is chosen ---

function positionsOf(values) {
  const all = [];
  values.forEach((value, i) => {
    all.push(value);
    const next = values[i + 1];
    if (next === undefined || value <= 0) return;
    for (let k = 1; k < 4; ++k) {
      const between = Math.round(value * (next / value) ** (k / 4));
      if (between > all[all.length - 1] && between < next) all.push(between);
    }
  });
  return all;
}

function slider(label, description, count, at, textOf, act) {
  const output = h("output", {}, textOf(at));
  const input = h("input", { type: "range", min: 0, max: count - 1, step: 1, value: at, "aria-valuetext": textOf(at), oninput: () => {
    const position = Number(input.value);
    act(position);
    output.textContent = textOf(position);
    input.setAttribute("aria-valuetext", textOf(position));
    changed();
  } });
  return h("label", { class: "slider", title: description || undefined }, h("span", {}, label), input, output);
}

function controls() {
  const pick = h("select", { onchange: () => ((state.gpu = pick.value), state.gpus.add(pick.value), boxes.get(pick.value) && (boxes.get(pick.value).checked = true), changed()) },
    report.gpuNames.map((name) => h("option", { value: name }, name)));
  pick.value = state.gpu;
  const sliders = [...report.parametersByName.values()].map((one) => {
    if (one.values.length === 1) return h("span", { class: "fixed", title: one.description || undefined }, `${one.name} = ${say.size(one.values[0])}`);
    const positions = positionsOf(one.values), predicted = new Set(one.values);
    const textOf = (i) => `${one.name} = ${say.size(positions[i])}${predicted.has(positions[i]) ? "" : " (between predictions)"}`;
    const at = positions.reduce((best, value, i) => (Math.abs(value - state.values.get(one.name)) < Math.abs(positions[best] - state.values.get(one.name)) ? i : best), 0);
    state.values.set(one.name, positions[at]);
    return slider(one.name, one.description, positions.length, at, textOf, (i) => state.values.set(one.name, positions[i]));
  });
  if (blockSizes.length > 0) {
    const positions = [0, ...blockSizes];
    sliders.push(slider("threads of a block", "Blocks of so many threads in place of those that the launches have", positions.length, positions.indexOf(state.block),
      (i) => (positions[i] === 0 ? "block as launched" : `block of ${positions[i]}`), (i) => (state.block = positions[i])));
  }
  const boxes = new Map();
  const list = report.gpuNames.map((name) => {
    const box = h("input", { type: "checkbox", onchange: () => ((box.checked ? state.gpus.add(name) : state.gpus.delete(name)), changed()) });
    box.checked = state.gpus.has(name);
    boxes.set(name, box);
    return h("label", {}, box, ` ${name}`);
  });
  return h("form", { class: "controls", "aria-label": "What is shown", onsubmit: (event) => event.preventDefault() },
    h("label", { class: "slider" }, h("span", {}, "GPU"), pick), sliders,
    report.gpuNames.length > 1 ? details(`GPUs in the charts`, h("div", { class: "boxes" }, list)) : null);
}

// --- which is faster, and why ---

function whyFaster(fast, fastFound, slow, slowFound) {
  if (fast.model === slow.model) {
    let most = null;
    for (const part of fast.sums) {
      const gap = (slowFound.parts.get(part.key) ?? 0) - (fastFound.parts.get(part.key) ?? 0);
      if (!most || gap > most.gap) most = { part, gap };
    }
    if (most && most.gap > 0)
      return `most of the difference is ${most.part.meaning}: ${say.time(slowFound.parts.get(most.part.key))} of ${slow.name}, ${say.time(fastFound.parts.get(most.part.key))} of ${fast.name}`;
  }
  const [a, b] = [fast.bound(fastFound), slow.bound(slowFound)];
  return `${fast.name} is ${a.part.bound} (${say.percent(a.share)}), ${slow.name} ${b.part.bound} (${say.percent(b.share)})`;
}

function answers() {
  const holder = h("div", {});
  const lead = h("p", { class: "lead", "aria-live": "polite" });
  const combos = report.combinations();
  const [first, second] = methods;
  const update = () => {
    const here = methods.map((method) => ({ method, found: method.at(state.gpu, state.values, state.block) })).filter((one) => one.found);
    const sorted = here.slice().sort((a, b) => a.found.us - b.found.us);
    const inexact = here.filter((one) => !one.found.exact);
    const between = inexact.flatMap((one) => one.found.between).map((one) => `${one.name} = ${say.size(one.low)} and ${say.size(one.high)}`);
    const notice = inexact.length === 0 ? null : h("strong", { class: "interpolated" }, between.length > 0 ? ` Interpolated between ${[...new Set(between)].join(", ")}: not predicted for these values.` : " Outside the predicted values: the nearest one is shown.");
    if (sorted.length === 0) return replace(lead, "No time is known for this choice.");
    const [best, next] = sorted;
    const bound = best.method.bound(best.found);
    const interval = best.found.low !== undefined ? ` (eight of ten measured times are expected from ${say.time(best.found.low)} to ${say.time(best.found.high)})` : "";
    const close = next && next.found.us / best.found.us < TOO_CLOSE;
    replace(lead, h("b", {}, state.gpu), `, ${hereText()}: `, next ? h("b", {}, `${best.method.name} takes ${say.time(best.found.us)}`) : h("b", {}, say.time(best.found.us)), interval,
      next ? `, ${next.method.name} ${say.time(next.found.us)}: ${say.times(next.found.us / best.found.us)} as long${close ? ", which is too close to call" : ""}` : "",
      `. ${best.method.name} is ${bound.part.bound}: ${say.percent(bound.share)} of its time is ${bound.part.meaning}`,
      next ? `; ${whyFaster(best.method, best.found, next.method, next.found)}.` : ".", notice);
  };
  updating(lead, update);
  // Of more than two: which one is the fastest, over the sizes, and by how much at the largest.
  const drawFastest = () => {
    const rows = [];
    const others = combos.length > 1;
    for (const gpu of report.gpuNames)
      for (const combo of combos) {
        const values = new Map([...state.values, ...combo]);
        if (size) values.set(size.name, size.values[size.values.length - 1]);
        const found = methods.map((method) => ({ method, at: method.at(gpu, values, state.block) })).filter((one) => one.at).sort((a, b) => a.at.us - b.at.us);
        if (found.length === 0) continue;
        const [best, next] = found;
        const ratio = next ? next.at.us / best.at.us : 1;
        rows.push([gpu, ...(others ? [valuesText(combo)] : []), fastestText(report.fastest(gpu, values, state.block)), `${best.method.name}: ${say.time(best.at.us)}`, next ? `${next.method.name}: ${say.time(next.at.us)}` : "–",
          next ? `${say.digits(ratio, 3)} times${ratio < TOO_CLOSE ? " (too close to call)" : ""}` : "–", next ? whyFaster(best.method, best.at, next.method, next.at) : "the only one here"]);
      }
    const largest = size ? `at ${size.name} = ${say.size(size.values[size.values.length - 1])}` : "";
    const titles = ["GPU", ...(others ? ["parameters"] : []), "fastest", `fastest ${largest}`, `next ${largest}`, "longer", "why"];
    fill(table(methods.map((method) => method.name).join(", "), titles, rows.slice(0, LIMIT), "answers"), titles, rows);
  };
  const fastestText = (runs) => (runs.length === 1 ? `${runs[0].method.name}${size && size.values.length > 1 ? ", at every size shown" : ""}` : runs.map((one, i) => (i === 0 ? `${one.method.name} below` : `${one.method.name} from ${size.name} ≈ ${say.size(Math.round(one.from))} on`)).join("; "));
  const LIMIT = 48;
  const fill = (made, titles, rows) => replace(holder, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Which is faster" }, made),
    rows.length > LIMIT ? details(`${rows.length - LIMIT} rows more`, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "More rows" }, table(null, titles, rows.slice(LIMIT), "answers"))) : null);
  const drawTable = () => {
    if (methods.length > 2) return drawFastest();
    const rows = [];
    const others = combos.length > 1;
    for (const gpu of report.gpuNames)
      for (const combo of combos) {
        const values = new Map([...state.values, ...combo]);
        if (size) values.set(size.name, size.values[size.values.length - 1]);
        const found = methods.map((method) => method.at(gpu, values, state.block));
        if (found.some((one) => !one)) continue;
        const head = [gpu, ...(others ? [valuesText(combo)] : [])];
        if (methods.length < 2) {
          const bound = first.bound(found[0]);
          rows.push([...head, say.time(found[0].us), `${bound.part.bound}: ${say.percent(bound.share)} ${bound.part.meaning}`]);
          continue;
        }
        const [a, b] = found;
        const crossings = size ? report.crossovers(gpu, values, first, second, state.block) : [];
        const last = a.us < b.us ? first : second;
        const text = crossings.length === 0 ? `${last.name}, at every size shown` : crossings.map((one, i) => `${i === 0 ? `${(one.faster === first ? second : first).name} below, ` : ""}${one.faster.name} from ${size.name} ≈ ${say.size(Math.round(one.size))} on`).join("; ");
        const [fast, slow] = a.us < b.us ? [[first, a], [second, b]] : [[second, b], [first, a]];
        const ratio = slow[1].us / fast[1].us;
        rows.push([...head, text, say.time(a.us), say.time(b.us), `${fast[0].name}, ${say.digits(ratio, 3)} times${ratio < TOO_CLOSE ? " (too close to call)" : ""}`, whyFaster(fast[0], fast[1], slow[0], slow[1])]);
      }
    const largest = size ? `at ${size.name} = ${say.size(size.values[size.values.length - 1])}` : "";
    const titles = ["GPU", ...(others ? ["parameters"] : []), ...(methods.length < 2 ? [`time ${largest}`, "what bounds it"] : ["faster", `${first.name} ${largest}`, `${second.name} ${largest}`, `faster ${largest}`, "why"])];
    fill(table(methods.length > 1 ? `${first.name} against ${second.name}` : null, titles, rows.slice(0, LIMIT), "answers"), titles, rows);
  };
  let block = -1;
  updating(holder, () => block !== state.block && ((block = state.block), drawTable()));
  const title = methods.length > 1 ? "Which is faster, where, and why" : "How long it takes, and why";
  return section("answers", title, lead, holder, methods.length > 2 ? h("p", { class: "note" }, "The charts mark where the first two inputs cross.") : null,
    h("p", { class: "note" }, `A crossover is where the lines through the predicted points meet, on logarithmic scales. Times that differ by less than a factor of ${TOO_CLOSE} are too close to call.`));
}

// --- charts ---

function timesOverSize() {
  if (!size || size.values.length < 2) return null;
  const holder = h("div", { class: "grid" });
  const info = h("p", { class: "note" });
  const data = h("div", {});
  const draw = () => {
    const gpus = shown().slice(0, MOST_CHARTS);
    const columns = Math.min(Math.max(1, gpus.length), wide(holder) < 620 ? 1 : wide(holder) < 980 ? 2 : 3);
    holder.style.setProperty("--columns", columns);
    const width = Math.floor((wide(holder) - 16 * (columns - 1)) / columns);
    const all = gpus.map((gpu) => ({ gpu, series: methods.map((method) => ({ method, colour: charts.methodColour(method.number), dash: charts.methodDash(method.number), symbol: charts.methodSymbol(method.number), points: thinned(report.series(method, gpu, state.values, state.block)) })) }));
    const times = all.flatMap((one) => one.series.flatMap((series) => series.points.flatMap((point) => [point.low ?? point.us, point.high ?? point.us]))).filter((us) => us > 0);
    const domain = times.length > 0 ? [Math.min(...times) / 1.3, Math.max(...times) * 1.6] : undefined;
    replace(holder, all.map(({ gpu, series }) => {
      const crossovers = methods.length > 1 ? report.crossovers(gpu, state.values, methods[0], methods[1], state.block) : [];
      const ends = series.map((one) => (one.points.length > 0 ? `${one.method.name} from ${say.time(one.points[0].us)} to ${say.time(one.points[one.points.length - 1].us)}` : `${one.method.name}: no times`)).join("; ");
      const label = `Time over ${size.name} on ${gpu}: ${ends}${crossovers.map((one) => `; they cross at ${size.name} about ${say.size(Math.round(one.size))}`).join("")}`;
      return h("figure", { class: gpu === state.gpu ? "here" : "" }, h("figcaption", {}, gpu), charts.timeChart({ width, series, crossovers, sizes: size.values, sizeName: size.name, at: Math.min(Math.max(state.values.get(size.name), size.values[0]), size.values[size.values.length - 1]), domain, label }));
    }));
    const fixed = new Map([...state.values].filter(([name]) => name !== size.name));
    replace(info, fixed.size > 0 ? `${valuesText(fixed)}. ` : "", methods.some((method) => method.hasInterval) ? "The bands hold eight of ten measured times, as far as the model has been compared with any. " : "This model has no intervals. ",
      "A circle marks a crossover; the dotted line is the chosen size.", shown().length > MOST_CHARTS ? ` The first ${MOST_CHARTS} of ${shown().length} chosen GPUs are drawn.` : "");
    if (data.parentElement?.open) fill();
  };
  const fill = () => replace(data, shown().map((gpu) => table(gpu, [size.name, ...methods.map((method) => method.name)],
    size.values.slice(0, 400).map((value) => [say.size(value), ...methods.map((method) => {
      const found = method.at(gpu, new Map(state.values).set(size.name, value), state.block);
      return found ? `${say.time(found.us)}${found.low === undefined ? "" : ` (${say.time(found.low)} to ${say.time(found.high)})`}` : "–";
    })]))));
  let key = "";
  updating(holder, () => {
    const next = JSON.stringify([[...state.values], state.gpu, shown(), state.block]);
    if (next !== key) (key = next), draw();
  });
  redraws.push(() => draw());
  const asTable = details("These times as a table", data);
  asTable.addEventListener("toggle", () => asTable.open && fill());
  return section("times", `Time against ${size.name}`, charts.legend(methods.map((method) => ({ title: method.name, sample: sample(method) }))), info, holder, asTable);
}

// As many points as a chart can show.
function thinned(points) {
  const most = 300;
  if (points.length <= most) return points;
  const logarithmic = points[0].size > 0;
  const at = (size) => (logarithmic ? Math.log(size) : size);
  const [begin, end] = [at(points[0].size), at(points[points.length - 1].size)];
  let last = -1;
  return points.filter((point, i) => {
    const slot = Math.floor(((at(point.size) - begin) / (end - begin)) * most);
    const keep = slot !== last || i === points.length - 1;
    last = slot;
    return keep;
  });
}

const PART_COLOURS = ["var(--p0)", "var(--p1)", "var(--p2)", "var(--p3)", "var(--p4)", "var(--p5)", "var(--p6)", "var(--p7)", "var(--p8)", "var(--p9)"];

function breakdown() {
  const holder = h("div", {});
  const colours = new Map();
  for (const method of methods) for (const part of method.sums) if (!colours.has(part.title)) colours.set(part.title, PART_COLOURS[colours.size % PART_COLOURS.length]);
  const draw = () => {
    const bars = [];
    for (const gpu of shown().slice(0, MOST_CHARTS))
      for (const method of methods) {
        const found = method.at(gpu, state.values, state.block);
        if (!found) continue;
        bars.push({ name: methods.length > 1 ? `${gpu}, ${method.name}` : gpu, us: found.us, pieces: method.sums.map((part) => ({ key: part.title, title: part.title, meaning: part.meaning, us: found.parts.get(part.key) })).filter((one) => one.us > 0) });
      }
    if (bars.length === 0) return replace(holder, h("p", {}, "No times for this choice."));
    replace(holder, charts.partsChart({ width: wide(holder), bars, colours, relative: state.relative, label: `Parts of the times at ${hereText()}: ${bars.map((bar) => `${bar.name} ${say.time(bar.us)}`).join(", ")}` }),
      details("The parts as a table", h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Parts" }, table(null, [methods.length > 1 ? "GPU, input" : "GPU", ...colours.keys(), "sum"], bars.map((bar) => [bar.name, ...[...colours.keys()].map((key) => {
        const piece = bar.pieces.find((one) => one.key === key);
        return piece ? `${say.time(piece.us)} (${say.percent(piece.us / bar.us)})` : "–";
      }), say.time(bar.pieces.reduce((sum, piece) => sum + piece.us, 0))])))));
  };
  updating(holder, draw);
  redraws.push(draw);
  const meanings = new Map();
  for (const method of methods) for (const part of method.sums) meanings.set(part.title, part.meaning);
  const box = h("input", { type: "checkbox", onchange: () => ((state.relative = !box.checked), changed()) });
  box.checked = !state.relative;
  return section("parts", "What the time is spent on", h("ul", { class: "legend" }, [...meanings].map(([title, meaning]) => h("li", {}, s("svg", { width: 14, height: 12, "aria-hidden": "true" }, s("rect", { width: 14, height: 12, style: { fill: colours.get(title) } })), ` ${title}: ${meaning}`))),
    h("label", { class: "check" }, box, " bars as long as the times"), holder);
}

function ranking() {
  if (report.gpuNames.length < 2) return null;
  const holder = h("div", {});
  const draw = () => {
    const rows = report.gpuNames.flatMap((gpu) => methods.map((method) => ({ gpu, method: method.number, ...method.at(gpu, state.values, state.block) }))).filter((row) => row.us > 0);
    if (rows.length === 0) return replace(holder, h("p", {}, "No times for this choice."));
    const best = new Map();
    for (const row of rows) best.set(row.gpu, Math.min(best.get(row.gpu) ?? Infinity, row.us));
    rows.sort((a, b) => best.get(a.gpu) - best.get(b.gpu) || a.us - b.us);
    const order = [...best.keys()].sort((a, b) => best.get(a) - best.get(b));
    replace(holder, charts.rankingChart({ width: Math.min(900, wide(holder)), rows, methods: methods.map((method) => method.name), label: `GPUs by their times at ${hereText()}: ${order.map((gpu, i) => `${i + 1}. ${gpu} ${say.time(best.get(gpu))}`).slice(0, 12).join(", ")}` }));
  };
  updating(holder, draw);
  redraws.push(draw);
  const note = report.gpus.some((gpu) => !gpu.validated) ? h("p", { class: "note" }, `Constants that were not measured on the GPU itself: ${report.gpus.filter((gpu) => !gpu.validated).map((gpu) => gpu.name).slice(0, 60).join(", ")}.`) : null;
  return section("ranking", "GPUs, fastest first", charts.legend(methods.map((method) => ({ title: method.name, sample: s("svg", { width: 12, height: 12, "aria-hidden": "true" }, s("circle", { cx: 6, cy: 6, r: 5, style: { fill: charts.methodColour(method.number) } })) }))), holder, note);
}

const metricIndex = new Map(report.metrics.map((metric, i) => [metric.name, i]));
const metricOf = (counters, name) => counters.values[metricIndex.get(name)];

function rooflines() {
  if (methods.every((method) => method.counters.length === 0)) return null;
  const holder = h("div", { class: "grid" });
  const note = h("p", { class: "note" });
  const draw = () => {
    const gpus = shown().slice(0, MOST_CHARTS);
    const columns = Math.min(Math.max(1, gpus.length), wide(holder) < 620 ? 1 : wide(holder) < 1040 ? 2 : 3);
    holder.style.setProperty("--columns", columns);
    const width = Math.floor((wide(holder) - 16 * (columns - 1)) / columns);
    const silent = new Set(), overRoof = new Set();
    const figures = gpus.map((name) => {
      const gpu = report.gpu(name);
      const points = methods.flatMap((method) => {
        const nearest = method.nearest(method.counters, name, state.values);
        if (!nearest) return [];
        const time = method.at(name, new Map(Object.entries(nearest.parameters)));
        const all = method.counters.filter((one) => one.gpu === name && JSON.stringify(one.parameters) === JSON.stringify(nearest.parameters));
        const instructions = all.reduce((sum, one) => sum + one.launches * (metricOf(one, "smsp__inst_executed.sum") ?? 0), 0);
        let moved = all.reduce((sum, one) => sum + one.launches * (metricOf(one, "dram__bytes.sum") ?? 0), 0), level = "memory";
        if (!(moved > 0)) (moved = 32 * all.reduce((sum, one) => sum + one.launches * (metricOf(one, "lts__t_sectors_srcunit_tex.sum") ?? 0), 0)), (level = "L2");
        const overhead = method.sums.filter((part) => part.kind === "launch").reduce((sum, part) => sum + (time?.parts.get(part.key) ?? 0), 0);
        const us = time ? Math.max(time.us - overhead, time.us / 1000) : NaN;
        if (!(instructions > 0) || !(moved > 0) || !(us > 0)) return [];
        if (level === "L2") silent.add(method.name);
        const y = instructions / (us * 1e-6);
        if (level === "memory" && gpu.memory_bandwidth_gb_s && (y * moved) / instructions > 1.02e9 * gpu.memory_bandwidth_gb_s) overRoof.add(`${method.name} on ${name}`);
        return [{ method, x: instructions / moved, y, level, colour: charts.methodColour(method.number), symbol: charts.methodSymbol(method.number), values: nearest.parameters,
          title: `${method.name}: ${say.digits(instructions / moved, 3)} instructions of warps for a byte of ${level}, ${charts.rate(y)}` }];
      });
      if (points.length === 0) return null;
      return h("figure", {}, h("figcaption", {}, name), charts.rooflineChart({ width, gpu, points, label: `Roofline of ${name}: ${points.map((one) => one.title).join("; ")}` }));
    }).filter(Boolean);
    replace(holder, figures.length > 0 ? figures : h("p", {}, "No counters for this choice."));
    const above = new Set(figures.length > 0 ? overRoof : []);
    const first = methods[0].nearest(methods[0].counters, state.gpu, state.values);
    replace(note, "The solid roof is what the schedulers issue, the dashed one what the memory delivers; the dotted line is the room above the kernel. The launch overhead is left out. ",
      first ? `Counted at ${valuesText(new Map(Object.entries(first.parameters)))}${first.same ? "" : ", the nearest size that was counted"}. ` : "", silent.size > 0 ? `${[...silent].join(", ")}: the caches hold all data, so these are bytes of L2. ` : "",
      above.size > 0 ? `Above the memory's roof, where no kernel can be: ${[...above].join(", ")}. Its model takes the time to be shorter than the memory needs.` : "");
  };
  updating(holder, draw);
  redraws.push(draw);
  return section("roofline", "Rooflines", note, holder);
}

// --- kernels ---

function kernelSections() {
  const all = methods.flatMap((method) => method.kernels.map((data) => new Kernel(data, report.files, method)));
  if (all.length === 0) return null;
  const holder = h("div", { class: "kernels" });
  const nameOf = (kernel) => `${kernel.method.name}${kernel.method.kernels.length > 1 || kernel.kernel !== kernel.method.plan ? `: ${kernel.kernel}` : ""}`;
  const picks = [0, methods.length > 1 ? all.findIndex((kernel) => kernel.method === methods[1]) : -1];
  (kept?.kernels ?? []).forEach((name, i) => {
    const found = all.findIndex((kernel) => nameOf(kernel) === name);
    if (found >= 0 || (i > 0 && name === null)) picks[i] = found;
  });
  const shownViews = [];
  const kernelView = (kernel, other) => {
    const panel = h("div", { class: "panel empty", "aria-live": "polite" }, h("p", {}, "Click a line, or press Enter on it: its cycles, accesses and what bounds it are shown here."));
    const { method } = kernel;
    const timeline = method.timelines.find((one) => one.kernel === kernel.kernel && one.gpu === state.gpu) ?? method.timelines.find((one) => one.kernel === kernel.kernel);
    let timelineView = null;
    let selection = null;
    const code = new CodeView(kernel, {
      onPoint: (source, ptx) => timelineView?.light(kernel.sourceFile ? source : ptx),
      onChoose: (chosen) => ((selection = chosen), tell()),
    });
    const tell = () => selection && (panel.classList.remove("empty"), replace(panel, panelOf(kernel, selection)));
    if (other?.sourceFile && kernel.sourceFile) code.changed = new Set(other.sourceFile.lines);
    if (timeline) timelineView = new TimelineView(timeline, report.states, { onPoint: (lines) => (kernel.sourceFile ? code.light(lines, []) : code.light([], lines)), linesOf: (place) => kernel.linesOf(place) });
    const shares = () => {
      const explained = method.nearest(method.explanations, state.gpu, state.values);
      const map = new Map();
      for (const line of explained?.lines ?? []) {
        if (line.kernel !== kernel.kernel) continue;
        const lines = kernel.linesOf(line.where);
        const us = partsOf(method, line);
        for (const one of lines) map.set(one, (map.get(one) ?? 0) + us / lines.length / explained.time_us);
      }
      code.setShares(map);
      tell();
    };
    shownViews.push(shares);
    const assumptions = kernel.program.assumptions ?? [], ignored = kernel.program.not_modelled ?? [];
    const element = h("div", { class: "kernel" }, h("h3", {}, nameOf(kernel)),
      h("p", { class: "note" }, `${kernel.file}${kernel.coverage ? `; ${kernel.coverage.modelled} of ${kernel.coverage.instructions} instructions modelled` : ""}. The bar beside a line is its share of the time on ${state.gpu}; of a place of several lines, each line has an equal part.`),
      h("h4", {}, kernel.ptxFile ? "Source and PTX" : "Code"), code.element,
      h("ul", { class: "legend" }, [["calc", "calculation"], ["load", "load"], ["store", "store"]].map(([key, title]) => h("li", {}, h("span", { class: `key ${key}` }, MARK[key]), ` ${title}`)),
        code.changed ? h("li", {}, h("span", { class: "key changed" }, "\u00a0"), " a line that the other source does not have") : null), panel,
      h("h4", {}, "Control flow"), flowView(kernel, (source, ptx) => code.light(source, ptx)),
      h("h4", {}, "Timeline of an SM"), timelineView ? [h("p", { class: "note" }, `${timeline.gpu}, ${valuesText(new Map(Object.entries(timeline.parameters)))}, grid ${timeline.grid}, block ${timeline.block}: ${timeline.collected < timeline.cycles ? `the first ${say.count(timeline.collected)} of ` : ""}${say.count(timeline.cycles)} cycles of one SM, by the extended model.`), timelineView.element] : h("p", {}, "There is no timeline; the notes say why."),
      h("h4", {}, "Counters of each line"), lineCounters(kernel),
      assumptions.length > 0 || ignored.length > 0 ? details("Assumptions", h("ul", {}, assumptions.map((one) => h("li", {}, one.line ? `line ${one.line}: ` : "", one.text ?? String(one))), ignored.map((one) => h("li", {}, `not modelled: ${one}`)))) : null);
    return { element, code, timelineView, chosen: () => selection && { side: selection.side, line: selection.line, texts: [-1, 0, 1].map((by) => code.text(selection.side, selection.line + by)) } };
  };
  let views = [];
  const draw = () => {
    shownViews.length = 0;
    const chosen = picks.filter((one) => one >= 0).map((one) => all[one]);
    views = chosen.map((kernel, i) => kernelView(kernel, chosen[1 - i]));
    holder.classList.toggle("two", views.length > 1);
    replace(holder, views.map((view) => view.element));
    requestAnimationFrame(() => views.forEach((view) => view.code.begin()));
    shownViews.forEach((update) => update());
  };
  const select = (which, title, empty) => {
    const pick = h("select", { onchange: () => ((picks[which] = Number(pick.value)), draw()) }, empty ? h("option", { value: -1 }, "none") : null, all.map((kernel, i) => h("option", { value: i }, nameOf(kernel))));
    pick.value = String(picks[which]);
    return h("label", {}, title, pick);
  };
  let gpu = null;
  updating(holder, () => {
    if (gpu !== state.gpu) (gpu = state.gpu), draw();
    else shownViews.forEach((update) => update());
  });
  keepers.kernels = { save: () => picks.map((one) => (one < 0 ? null : nameOf(all[one]))), restore: () => {} };
  keepers.views = {
    save: () => views.map((view) => ({ chosen: view.chosen(), window: view.timelineView?.window ?? null })),
    restore: (saved) => views.forEach((view, i) => {
      const { chosen, window: shown } = saved[i] ?? {};
      if (shown && view.timelineView) view.timelineView.set(shown);
      if (chosen) view.code.chooseAgain(chosen);
    }),
  };
  printed.push((on) => views.forEach((view) => (view.code.print(on), view.timelineView?.print(on ? PAPER : 0))));
  return section("kernels", all.length > 1 ? "Kernels" : "Kernel", all.length > 1 ? h("p", { class: "pick" }, select(0, "Kernel "), select(1, "Beside it ", true)) : null, holder);
}

const partsOf = (method, line) => method.sums.reduce((sum, part) => sum + (line[part.key] ?? 0), 0);

// What there is to know of a line: of the source, or of the PTX.
function panelOf(kernel, { side, line, source, ptx }) {
  const { method } = kernel;
  const file = side === "ptx" ? kernel.ptxFile : kernel.sourceFile;
  const parts = [h("h5", {}, `${side === "ptx" ? "PTX line" : "Line"} ${line}: `, h("code", {}, file.lines[line - 1].trim()))];
  const entries = new Set();
  if (side === "ptx") entries.add(kernel.itemOfPtx.get(line));
  else for (const one of [...ptx.map((at) => kernel.itemOfPtx.get(at)), ...(ptx.length === 0 ? kernel.itemsOfSource.get(line) ?? [] : [])]) entries.add(one);
  entries.delete(undefined);
  const instruction = kernel.byPtx.get(side === "ptx" ? line : -1);
  const items = [...entries].map(({ item, inside }) => h("li", {}, costOf(item), inside.length > 0 ? h("span", {}, "; ", h("code", {}, inside.join(" "))) : null,
    item.lines ? `; lines ${item.lines}` : "", item.threads ? h("span", {}, "; by threads with ", h("code", {}, item.threads)) : null,
    (item.load ?? item.store)?.address ? h("div", {}, "address: ", h("code", {}, (item.load ?? item.store).address)) : null,
    (item.load ?? item.store)?.footprint ? h("div", {}, "footprint: ", h("code", {}, `${(item.load ?? item.store).footprint} bytes`)) : null));
  parts.push(items.length > 0 ? h("ul", {}, items) : h("p", {}, "Nothing of it is executed, or it is part of no period."));
  if (instruction?.access) parts.push(h("p", {}, `Access: ${instruction.access}`));
  if (instruction?.iterations) parts.push(h("p", {}, "Executed ", h("code", {}, instruction.iterations), ` times, in loop ${instruction.loop}.`));
  const explained = method.nearest(method.explanations, state.gpu, state.values);
  const wanted = kernel.sourceFile && kernel.sourceFile.kind === "source" ? source : ptx;
  const places = (explained?.lines ?? []).filter((one) => one.kernel === kernel.kernel && kernel.linesOf(one.where).some((at) => wanted.includes(at)));
  if (places.length > 0) {
    parts.push(h("p", {}, `On ${state.gpu}, ${valuesText(new Map(Object.entries(explained.parameters)))}${explained.same ? "" : " (the nearest explained)"}, of ${say.time(explained.time_us)}:`));
    parts.push(h("ul", {}, places.map((one) => {
      const us = partsOf(method, one);
      const split = method.sums.map((part) => [part, one[part.key] ?? 0]).filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
      const limits = Object.entries(one.limits ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 3);
      return h("li", {}, h("b", {}, `${one.where}: ${say.time(us)}, ${say.percent(us / explained.time_us)}`), split.length > 0 ? `. ${split.slice(0, 4).map(([part, time]) => `${part.meaning} ${say.percent(time / explained.time_us)}`).join(", ")}` : "",
        limits.length > 0 ? `. Limited by ${limits.map(([key, time]) => `${key.replace(/_us$/, "").replaceAll("_", " ")} (${say.percent(time / us)})`).join(", ")}` : "",
        one.accesses_of_a_warp > 0 ? `. ${say.digits(one.accesses_of_a_warp, 4)} accesses of each warp` : "", one.traffic ? `. ${trafficText(one.traffic)}` : "");
    })));
  }
  const claims = (explained?.claims ?? []).filter((claim) => wanted.some((at) => new RegExp(`\\blines? [\\d,-]*\\b${at}\\b`).test(claim.text)));
  if (claims.length > 0) parts.push(h("p", {}, "What would change it:"), h("ul", {}, claims.map((claim) => h("li", {}, claim.text))));
  return parts;
}

function trafficText(of) {
  const text = [];
  if (of.requests > 0) text.push(`${say.digits(of.sectors / of.requests, 3)} sectors for each request (${say.digits(of.sectors_without_gaps / of.requests, 3)} without gaps)`);
  if (of.load_hit_rate !== null && of.load_hit_rate !== undefined) text.push(`${say.percent(of.load_hit_rate)} of the loads' sectors hit L1`);
  text.push(`${say.bytes(of.l2_bytes)} of L2, ${say.bytes(of.memory_bytes)} of memory`);
  return text.join(", ");
}

function lineCounters(kernel) {
  const { method } = kernel;
  const explained = method.nearest(method.explanations, state.gpu, state.values);
  const lines = (explained?.lines ?? []).filter((line) => line.kernel === kernel.kernel);
  if (lines.length === 0) return h("p", {}, "Nothing was explained for this choice.");
  const hasTraffic = lines.some((line) => line.traffic);
  const traffic = (line, text) => (line.traffic ? text(line.traffic) : "–");
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Counters of lines" }, table(`On ${state.gpu}, ${valuesText(new Map(Object.entries(explained.parameters)))}: ${say.time(explained.time_us)}`,
    ["where", "time", "share", "accesses of a warp", ...(hasTraffic ? ["requests", "L1 sectors", "hits", "shared ways", "L2", "memory"] : [])],
    lines.slice(0, 200).map((line) => [line.where, say.time(partsOf(method, line)), say.percent(partsOf(method, line) / explained.time_us), line.accesses_of_a_warp > 0 ? say.digits(line.accesses_of_a_warp, 4) : "–",
      ...(hasTraffic ? [traffic(line, (of) => say.count(of.requests)), traffic(line, (of) => say.count(of.sectors)), traffic(line, (of) => (of.load_hit_rate === null ? "–" : say.percent(of.load_hit_rate))),
        traffic(line, (of) => (of.shared_ways === null ? "–" : say.digits(of.shared_ways, 3))), traffic(line, (of) => say.bytes(of.l2_bytes)), traffic(line, (of) => say.bytes(of.memory_bytes))] : [])])));
}

// --- counters, claims, measurements, rows, notes ---

function countersSection() {
  if (methods.every((method) => method.counters.length === 0)) return null;
  const holder = h("div", {});
  updating(holder, () => {
    const found = methods.flatMap((method) => {
      const nearest = method.nearest(method.counters, state.gpu, state.values);
      return nearest ? method.counters.filter((one) => one.gpu === state.gpu && JSON.stringify(one.parameters) === JSON.stringify(nearest.parameters)).slice(0, 8).map((one) => ({ method, one })) : [];
    });
    if (found.length === 0) return replace(holder, h("p", {}, "Nothing was counted for this choice."));
    const titles = ["metric", ...found.map(({ method, one }) => `${method.name === one.kernel ? "" : `${method.name}: `}${one.kernel}, grid ${one.grid}, block ${one.block}`), "unit", "what"];
    replace(holder, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Counters" }, table(`${state.gpu}, ${valuesText(new Map(Object.entries(found[0].one.parameters)))}, one launch of each kind`, titles,
      report.metrics.map((metric, i) => [metric.name, ...found.map(({ one }) => (one.values[i] === null ? "–" : say.digits(one.values[i], 6))), metric.unit, metric.title]))));
  });
  return section("counters", "What a profiler would count", details("Counters under their Nsight Compute names", holder));
}

function claimsSection() {
  if (methods.every((method) => method.explanations.length === 0)) return null;
  const holder = h("div", {});
  updating(holder, () => {
    replace(holder, methods.map((method) => {
      const explained = method.nearest(method.explanations, state.gpu, state.values);
      if (!explained) return h("p", {}, `${method.name}: nothing was explained on ${state.gpu}.`);
      return [h("h3", {}, `${method.name} on ${state.gpu}, ${valuesText(new Map(Object.entries(explained.parameters)))}${explained.same ? "" : " (the nearest explained)"}: ${say.time(explained.time_us)}`),
        h("ul", {}, explained.claims.map((claim) => h("li", {}, claim.text)))];
    }));
  });
  return section("why", "What bounds it, and what would shorten it", holder);
}

function measurements() {
  const { comparison } = report;
  if (!comparison) return null;
  const sets = [...comparison.plans.map((one) => ({ title: one.plan, size: one.size, experiments: one.experiments, axis: "predicted / measured", global: one.global })),
    ...comparison.ratios.map((one) => ({ title: `${one.plan} / ${one.against}`, size: comparison.plans[0].size, experiments: one.experiments, axis: "predicted ratio / measured ratio", global: one.global }))];
  const holder = h("div", {});
  const draw = () => replace(holder, sets.map((set) => {
    const byGpu = new Map();
    for (const one of set.experiments) {
      const points = one.rows.map((row) => ({ size: row.parameters[set.size], ratio: row.ratio })).filter((point) => point.ratio > 0);
      if (points.length === 0) continue;
      const named = { title: `${one.experiment}: ${valuesText(new Map(Object.entries(one.parameters ?? {}).filter(([name]) => name !== set.size)))}`, points, ...one };
      if (!byGpu.has(one.gpu)) byGpu.set(one.gpu, []);
      byGpu.get(one.gpu).push(named);
    }
    const columns = wide(holder) < 700 ? 1 : 2;
    const width = Math.floor((wide(holder) - 16 * (columns - 1)) / columns);
    const grid = h("div", { class: "grid" }, [...byGpu].map(([gpu, experiments]) => h("figure", {}, h("figcaption", {}, `${set.title} on ${gpu}`),
      charts.ratioChart({ width, experiments, sizeName: set.size, axis: set.axis, label: `${set.axis} of ${set.title} on ${gpu}, a line for each of ${experiments.length} experiments; 1 is a perfect prediction` }),
      charts.legend(experiments.map((one, i) => ({ title: one.title, sample: s("svg", { width: 34, height: 12, "aria-hidden": "true" }, s("line", { x1: 1, x2: 33, y1: 6, y2: 6, style: { stroke: charts.methodColour(i), "stroke-width": "2.5", "stroke-dasharray": charts.methodDash(i) } })) }))))));
    grid.style.setProperty("--columns", columns);
    return [h("h3", {}, set.title), h("p", {}, `Mean error ${say.digits(set.global.mean_error_percent, 3)}%, largest ${say.digits(set.global.max_error_percent, 3)}%, of ${set.global.measurements} measurement${set.global.measurements === 1 ? "" : "s"} in ${set.global.experiments} experiment${set.global.experiments === 1 ? "" : "s"}.`), grid];
  }));
  redraws.push(draw);
  updating(holder, once(draw));
  const rows = sets.slice(0, comparison.plans.length).flatMap((set) => set.experiments.flatMap((one) => one.rows.map((row) => ({ set, gpu: one.gpu, row, experiment: one.experiment }))));
  const big = new BigTable({ name: "Predicted and measured times", rows, columns: [
    { title: "plan", value: (one) => one.set.title, text: (one) => one.set.title }, { title: "GPU", value: (one) => one.gpu, text: (one) => one.gpu },
    { title: "parameters", value: (one) => valuesText(new Map(Object.entries(one.row.parameters))), text: (one) => valuesText(new Map(Object.entries(one.row.parameters))) },
    { title: "measured", number: true, value: (one) => one.row.measured_us ?? 0, text: (one) => say.time(one.row.measured_us) }, { title: "predicted", number: true, value: (one) => one.row.predicted_us ?? 0, text: (one) => say.time(one.row.predicted_us) },
    { title: "ratio", number: true, value: (one) => one.row.ratio, text: (one) => say.digits(one.row.ratio, 4) }] });
  return section("measured", "Predicted against measured", holder, details("All measurements", big.element));
}

const once = (act) => {
  let done = false;
  return () => done || ((done = true), act());
};

function allRows() {
  const rows = methods.flatMap((method) => method.rows.time_us.map((us, i) => ({ method, i, us, gpu: method.gpus[method.rows.gpu[i]] })));
  const parameter = (name) => ({ title: name, number: true, value: (row) => row.method.rows.parameters[name]?.[row.i] ?? -1, text: (row) => { const value = row.method.rows.parameters[name]?.[row.i]; return value === undefined ? "–" : String(value); } });
  const columns = [
    { title: "method", value: (row) => row.method.number, text: (row) => row.method.name }, { title: "GPU", value: (row) => row.gpu, text: (row) => row.gpu },
    ...[...report.parametersByName.keys()].map(parameter),
    { title: "grid", value: (row) => row.method.rows.grid[row.i], text: (row) => row.method.rows.grid[row.i] }, { title: "block", value: (row) => row.method.rows.block[row.i], text: (row) => row.method.rows.block[row.i] },
    { title: "launches", number: true, value: (row) => row.method.rows.launches[row.i], text: (row) => say.count(row.method.rows.launches[row.i]) },
    { title: "time", number: true, value: (row) => row.us, text: (row) => say.time(row.us) },
    { title: "bound", value: (row) => boundOf(row), text: (row) => boundOf(row) }];
  const boundOf = (row) => row.method.sums.reduce((most, part) => (row.method.rows.parts[part.key][row.i] > row.method.rows.parts[most.key][row.i] ? part : most), row.method.sums[0]).bound;
  const big = new BigTable({ name: "All predictions", rows, columns });
  keepers.rows = big;
  printed.push((on) => big.print(on));
  return section("rows", "All predictions", big.element);
}

function notes() {
  const list = methods.flatMap((method) => [
    h("li", {}, `${method.name}: model ${method.model}${method.why_model ? `, because ${method.why_model}` : ""}.`),
    ...method.notes.map((note) => h("li", {}, `${method.name}: ${note}`))]);
  return section("notes", "Notes", new Set(methods.map((method) => method.model)).size > 1 ? h("p", { class: "warn" }, "The inputs are predicted by different models, whose times should not be compared closely. `--model` gives all of them one.") : null,
    h("ul", {}, list), report.missing.length > 0 ? [h("h3", {}, "What this page does not have"), h("ul", {}, report.missing.map((one) => h("li", {}, one)))] : null);
}

// --- the page ---

const redraws = [], printed = []; // printed: told before and after printing
document.title = `${report.title} – warptime`;
const sections = [inputsSection(inputs), answers(), timesOverSize(), breakdown(), claimsSection(), rooflines(), ranking(), kernelSections(), countersSection(), measurements(), allRows(), notes()].filter(Boolean);
const contents = h("nav", { "aria-label": "Contents" }, h("ul", {}, sections.map((one) => h("li", {}, h("a", { href: `#${one.id}` }, one.querySelector("h2").textContent)))));
// Nothing that the title says already.
const described = methods.map((method) => `${method.name}${method.description ? `: ${method.description}` : ""}`).join("; ");
const subtitle = described === report.title || described.replaceAll("; ", ", ") === report.title ? null : h("p", {}, described);
const main = h("main", {}, controls(), sections);
document.body.append(
  h("a", { class: "skip", href: "#answers" }, "Skip to the answers"),
  h("header", {}, h("h1", {}, report.title), subtitle, banners()),
  contents, main,
  h("footer", {}, h("p", {}, "Made by warptime. Times are predictions of a model, not measurements. This page asks for nothing from any network.")));
changed();
let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (width === window.innerWidth) return;
  width = window.innerWidth;
  requestAnimationFrame(() => redraws.forEach((redraw) => redraw()));
});

// For paper, charts are drawn in its width, lists are written out, and a graph that is taller than a page is a list.
function print(on) {
  printing = on;
  for (const one of updates) if (one.due) run(one);
  redraws.forEach((redraw) => redraw());
  printed.forEach((one) => one(on));
  for (const one of document.querySelectorAll(".flow:has(.graph.tall) .listed")) one.open = on;
}
window.addEventListener("beforeprint", () => print(true));
window.addEventListener("afterprint", () => print(false));

// --- what a page of --watch keeps of the one before ---

const SCROLLED = ".lines, .bigtable, .scroll, .graph", FOCUSED = "a, button, input, select, summary, [tabindex]";
const all = (selector) => [...document.querySelectorAll(selector)];
keepers.open = {
  save: () => all("main details").map((one) => [one.querySelector("summary").textContent, one.open]),
  restore: (saved) => all("main details").forEach((one, i) => one.querySelector("summary").textContent === saved[i]?.[0] && (one.open = saved[i][1])),
};
// By the place among its like, where there are as many as there were.
keepers.scrolled = {
  save: () => all(SCROLLED).map((one) => [one.scrollLeft, one.scrollTop]),
  restore: (saved) => {
    const now = all(SCROLLED);
    if (now.length === saved.length) now.forEach((one, i) => one.scrollTo({ left: saved[i][0], top: saved[i][1], behavior: "instant" }));
  },
};
keepers.focus = {
  save: () => ({ of: all(FOCUSED).length, at: all(FOCUSED).indexOf(document.activeElement) }),
  restore: ({ of, at }) => at >= 0 && all(FOCUSED).length === of && all(FOCUSED)[at].focus({ preventScroll: true }),
};
// The section at the top of the window, and how far it is scrolled: those above it may have other heights.
keepers.place = {
  save: () => {
    const at = sections.filter((one) => one.getBoundingClientRect().top <= 120).pop();
    return { section: at?.id ?? null, by: at ? -at.getBoundingClientRect().top : window.scrollY };
  },
  restore: ({ section: id, by }) => {
    const at = id === null ? null : document.getElementById(id);
    window.scrollTo({ top: at ? at.getBoundingClientRect().top + window.scrollY + by : by, behavior: "instant" });
  },
};
const save = () => ({ inputs: inputs.wanted, gpu: state.gpu, gpus: [...state.gpus], values: Object.fromEntries(state.values), block: state.block, relative: state.relative,
  ...Object.fromEntries(Object.entries(keepers).map(([name, one]) => [name, one.save()])) });
function restore() {
  window.history.scrollRestoration = "manual";
  for (const one of updates) if (one.due) run(one);
  const of = (names) => names.forEach((name) => kept[name] !== undefined && keepers[name]?.restore(kept[name]));
  of(["views", "rows", "open", "scrolled", "place", "focus"]);
  // Once more after what comes into view has its size, and the lists of code have begun.
  requestAnimationFrame(() => requestAnimationFrame(() => of(["scrolled", "place"])));
}
if (kept) restore();
follow(save);
