// What the partitions and the warps of an SM do over its cycles: to zoom into, by mouse, wheel and keyboard.
import { h, replace, s } from "./dom.js";
import * as say from "./text.js";

const GROUPS = [
  ["issue", "issue: it executes an instruction"],
  ["calculation", "calculation: it waits for a pipe or for results"],
  ["transaction", "transaction: it waits for memory"],
  ["idle", "idle: it waits for its turn, at a barrier, or for a block"],
];
const ROW = 18, GAP = 4, LEFT = 112, TOP = 24, MOST_WARPS = 24, MOST_PRINTED = 16;

// Patterns, so that the groups differ without colours.
export function patterns(prefix) {
  const line = (d) => s("path", { d, class: "hatch" });
  const make = (group, children) => s("pattern", { id: `${prefix}-${group}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    s("rect", { width: 6, height: 6, class: `fill-${group}` }), children);
  return s("defs", {}, make("issue", []), make("calculation", line("M0 6L6 0")), make("transaction", line("M0 3H6")), make("idle", s("circle", { cx: 3, cy: 3, r: 0.9, class: "hatchdot" })));
}

// Intervals are begin, cycles, state and place, one after the other. A page has in place of begin what is between an interval and
// the one before, and tenths of cycles.
const added = new WeakSet();
function addUp(intervals) {
  if (added.has(intervals)) return;
  added.add(intervals);
  let end = 0;
  for (let i = 0; i < intervals.length; i += 4) {
    intervals[i] = intervals[i] / 10 + end;
    intervals[i + 1] /= 10;
    end = intervals[i] + intervals[i + 1];
  }
}

let number = 0;

export class TimelineView {
  // linesOf: the lines of the code that a place is of.
  constructor(timeline, states, { onPoint, linesOf }) {
    Object.assign(this, { timeline, states, onPoint });
    for (const intervals of [...timeline.partitions, ...timeline.warps.map((warp) => warp.intervals)]) addUp(intervals);
    this.prefix = `t${++number}`;
    const end = Math.max(1, timeline.collected);
    this.whole = [0, end];
    this.window = [0, Math.min(end, 1200)];
    this.rows = [
      ...timeline.partitions.map((intervals, i) => ({ name: `partition ${i + 1}`, intervals })),
      ...timeline.warps.slice(0, MOST_WARPS).map((warp) => ({ name: `block ${warp.block} warp ${warp.warp}`, intervals: warp.intervals })),
    ];
    this.places = timeline.places.map(linesOf);
    this.litLines = new Set();
    this.say = h("p", { class: "says", role: "status" });
    this.svg = s("svg", { class: "timeline", tabindex: "0", role: "application", "aria-label": `Timeline of ${timeline.kernel} on ${timeline.gpu}. Arrow keys move, plus and minus zoom, 0 shows all, [ and ] step through the first row.`,
      height: TOP + this.rows.length * (ROW + GAP) });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      this.zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, this.cycleAt(event));
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => {
      this.drag = { x: event.clientX, window: this.window };
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => (this.drag ? this.dragTo(event) : this.hover(event)));
    this.svg.addEventListener("pointerup", () => (this.drag = null));
    this.svg.addEventListener("pointerleave", () => this.onPoint([]));
    const button = (label, title, act) => h("button", { type: "button", "aria-label": title, title, onclick: act }, label);
    const states2 = (group) => [...new Set(states.filter((one) => one.group === group).map((one) => one.title))].join("; ");
    this.element = h("div", { class: "timelines" },
      h("div", { class: "tools" }, button("+", "Zoom in", () => this.zoom(0.5)), button("−", "Zoom out", () => this.zoom(2)), button("◀", "Earlier", () => this.pan(-0.4)),
        button("▶", "Later", () => this.pan(0.4)), button("all", "Show all cycles", () => this.set(this.whole)), h("span", { class: "hint" }, "Ctrl and wheel zoom, dragging moves; with the keyboard: + − ← → 0")),
      this.svg, this.say,
      h("ul", { class: "legend" }, GROUPS.map(([group, title]) => h("li", { title: states2(group) }, s("svg", { width: 22, height: 12, "aria-hidden": "true" }, patterns(`${this.prefix}l${group}`), s("rect", { width: 22, height: 12, fill: `url(#${this.prefix}l${group}-${group})`, class: "sample" })), " ", title))));
    this.paper = 0;
    new ResizeObserver(() => this.draw()).observe(this.element);
  }
  // 0: as wide as the window has room.
  print(width) {
    this.paper = width;
    this.draw();
  }
  width() {
    if (this.paper > 0) return this.paper;
    return Math.max(300, this.element.clientWidth);
  }
  scale() {
    return (this.width() - LEFT - 8) / (this.window[1] - this.window[0]);
  }
  cycleAt(event) {
    return this.window[0] + (event.clientX - this.svg.getBoundingClientRect().left - LEFT) / this.scale();
  }
  set([from, to]) {
    const span = Math.max(8, Math.min(to - from, this.whole[1]));
    const begin = Math.max(0, Math.min(from, this.whole[1] - span));
    this.window = [begin, begin + span];
    this.later();
  }
  zoom(factor, at = (this.window[0] + this.window[1]) / 2) {
    this.set([at - (at - this.window[0]) * factor, at + (this.window[1] - at) * factor]);
  }
  pan(share) {
    const by = share * (this.window[1] - this.window[0]);
    this.set([this.window[0] + by, this.window[1] + by]);
  }
  dragTo(event) {
    const by = (this.drag.x - event.clientX) / this.scale();
    this.set([this.drag.window[0] + by, this.drag.window[1] + by]);
  }
  key(event) {
    const act = { "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
      0: () => this.set(this.whole), Home: () => this.set([0, this.window[1] - this.window[0]]), "]": () => this.step(1), "[": () => this.step(-1) }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }
  // One interval after the other, of the first warp's row if there is one.
  step(by) {
    const row = this.rows[this.timeline.partitions.length] ?? this.rows[0];
    const last = row.intervals.length / 4 - 1;
    this.at = Math.max(0, Math.min(last, (this.at ?? (by > 0 ? -1 : last + 1)) + by));
    const [begin, cycles] = row.intervals.slice(4 * this.at, 4 * this.at + 2);
    if (begin < this.window[0] || begin + cycles > this.window[1]) this.set([begin - 40, begin - 40 + (this.window[1] - this.window[0])]);
    this.tell(row, this.at);
  }
  tell(row, i) {
    const [begin, cycles, state, place] = row.intervals.slice(4 * i, 4 * i + 4);
    replace(this.say, `${row.name}, cycles ${say.count(begin)} to ${say.count(begin + cycles)}: ${this.states[state].title} (${this.states[state].group}), ${this.timeline.places[place]}`);
    this.onPoint(this.places[place]);
  }
  hover(event) {
    const row = this.rows[Math.floor((event.clientY - this.svg.getBoundingClientRect().top - TOP) / (ROW + GAP))];
    if (!row) return;
    const cycle = this.cycleAt(event);
    const i = firstAfter(row.intervals, cycle) - 1;
    if (i >= 0 && cycle < row.intervals[4 * i] + row.intervals[4 * i + 1]) this.tell(row, i);
  }
  light(lines) {
    const next = new Set(lines);
    if (next.size === this.litLines.size && [...next].every((line) => this.litLines.has(line))) return;
    this.litLines = next;
    this.later();
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => ((this.waiting = false), this.draw()));
  }
  draw() {
    const scale = this.scale(), [from, to] = this.window, width = this.width();
    const pieces = [];
    const shown = this.paper > 0 ? this.rows.slice(0, MOST_PRINTED) : this.rows;
    this.svg.setAttribute("height", TOP + shown.length * (ROW + GAP));
    const shapes = new Map(GROUPS.map(([group]) => [group, ["", ""]])); // of each group one path, and one of what is lit
    shown.forEach((row, r) => {
      const y = TOP + r * (ROW + GAP);
      pieces.push(s("text", { x: LEFT - 8, y: y + 13, class: "rowname" }, row.name));
      let lastEnd = -1;
      for (let i = Math.max(0, firstAfter(row.intervals, from) - 1); 4 * i < row.intervals.length; ++i) {
        const [begin, cycles, state, place] = [row.intervals[4 * i], row.intervals[4 * i + 1], row.intervals[4 * i + 2], row.intervals[4 * i + 3]];
        if (begin >= to) break;
        const x = LEFT + (Math.max(begin, from) - from) * scale, end = LEFT + (Math.min(begin + cycles, to) - from) * scale;
        if (end - x < 0.6 && x < lastEnd + 0.6) continue; // too short to see
        lastEnd = end;
        const { group } = this.states[state];
        const lit = this.litLines.size > 0 && this.places[place].some((line) => this.litLines.has(line));
        const tall = group === "idle" ? 6 : group === "issue" ? ROW : 12;
        shapes.get(group)[lit ? 1 : 0] += `M${x.toFixed(1)} ${y + (ROW - tall) / 2}h${Math.max(0.8, end - x).toFixed(1)}v${tall}H${x.toFixed(1)}z`;
      }
    });
    for (const [group, [plain, lit]] of shapes)
      pieces.push(s("path", { d: plain, fill: `url(#${this.prefix}-${group})` }), s("path", { d: lit, fill: `url(#${this.prefix}-${group})`, class: "lit" }));
    const step = niceStep((to - from) / Math.max(3, (width - LEFT) / 90));
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
      const x = LEFT + (tick - from) * scale;
      pieces.push(s("line", { x1: x, x2: x, y1: TOP - 5, y2: TOP + shown.length * (ROW + GAP), class: "tick" }), s("text", { x: Math.min(x, width - 4 * say.count(tick).length), y: 13, class: "ticktext" }, say.count(tick)));
    }
    this.svg.setAttribute("width", width);
    this.svg.dataset.from = from.toFixed(1);
    this.svg.dataset.to = to.toFixed(1);
    replace(this.svg, patterns(this.prefix), s("text", { x: LEFT - 8, y: 13, class: "rowname" }, "cycle"), pieces);
  }
}

// The index of the first interval that begins after the cycle.
function firstAfter(intervals, cycle) {
  let low = 0, high = intervals.length / 4;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (intervals[4 * middle] > cycle) high = middle;
    else low = middle + 1;
  }
  return low;
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least));
}
