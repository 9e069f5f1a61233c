// A kernel's source beside its PTX: calculation and memory accesses told apart, and linked with each other.
import { h, replace } from "./dom.js";
import * as say from "./text.js";

const MARK = { calc: "∘", load: "▼", store: "▲", unknown: "?" };

// The items of a kernel program with their depths, repeats and conditions before what is in them.
export function flatItems(program) {
  const all = [];
  const walk = (items, depth, inside) => {
    for (const item of items ?? []) {
      const entry = { item, depth, inside };
      all.push(entry);
      if (item.repeat !== undefined) walk(item.body, depth + 1, [...inside, `× ${item.repeat}`]);
      if (item.when !== undefined) {
        walk(item.then, depth + 1, [...inside, `when ${item.when}`]);
        walk(item.else, depth + 1, [...inside, `unless ${item.when}`]);
      }
    }
  };
  walk(program, 0, []);
  return all;
}

export class Kernel {
  constructor(data, files, method) {
    Object.assign(this, data);
    this.method = method;
    this.sourceFile = data.source === null ? null : files[data.source];
    this.ptxFile = data.ptx === null ? null : files[data.ptx];
    this.items = flatItems(data.program.program);
    this.byPtx = new Map(); // line of the PTX → what its instruction is
    this.bySource = new Map(); // line of the source → lines of the PTX
    const of = data.instructions;
    if (of) {
      for (let i = 0; i < of.ptx_line.length; ++i) {
        const one = { ptx: of.ptx_line[i], line: of.line[i], period: of.texts[of.period[i]], loop: of.texts[of.loop[i]],
          iterations: of.texts[of.iterations[i]], access: of.texts[of.access[i]] };
        this.byPtx.set(one.ptx, one);
        if (one.line > 0 && this.sourceFile) {
          if (!this.bySource.has(one.line)) this.bySource.set(one.line, []);
          this.bySource.get(one.line).push(one.ptx);
        }
      }
    }
    this.itemOfPtx = new Map();
    for (const entry of this.items) for (const line of say.lines(entry.item.ptx)) this.itemOfPtx.set(line, entry);
    this.itemsOfSource = new Map();
    for (const entry of this.items)
      for (const line of say.lines(entry.item.lines)) {
        if (!this.itemsOfSource.has(line)) this.itemsOfSource.set(line, []);
        this.itemsOfSource.get(line).push(entry);
      }
  }
  // calc, load, store of a line of the source: the memory accesses count more.
  periodOfSource(line) {
    const periods = (this.bySource.get(line) ?? []).map((ptx) => this.byPtx.get(ptx).period);
    return ["load", "store", "unknown", "calc"].find((one) => periods.includes(one)) ?? "";
  }
  // Of a place as explanations and timelines name it, "lines 25-26" or "PTX line 98": its lines of the source, or of the PTX where there
  // is no source.
  linesOf(where) {
    const [, ptx, text] = /^(PTX )?lines? ([\d,-]+)$/.exec(where) ?? [];
    if (text === undefined) return [];
    const lines = say.lines(text);
    if (!ptx || this.sourceFile?.kind !== "source") return lines;
    return [...new Set(lines.map((line) => this.byPtx.get(line)?.line ?? 0).filter((line) => line > 0))];
  }
  firstPtx() {
    return this.byPtx.size === 0 ? 1 : Math.min(...this.byPtx.keys());
  }
}

// What an item costs, in a sentence.
export function costOf(item) {
  if (item.instructions !== undefined) {
    const n = Number(item.instructions);
    return Number.isFinite(n) ? `${n} instruction${n === 1 ? "" : "s"}: ${n + 9} cycles as one calculation period (n − 1 + 10), less where it meets others` : `${item.instructions} instructions`;
  }
  if (item.calc !== undefined) return `calculation of ${item.calc} cycles`;
  const access = item.load ?? item.store;
  if (access === undefined) return item.repeat !== undefined ? `repeats its body ${item.repeat} times` : `a branch on ${item.when}`;
  const kind = item.load !== undefined ? "load" : "store";
  if (typeof access !== "object") return `${kind} of ${access} cycles`;
  const text = [access.access, access.stride && `by ${access.stride} bytes`, access.bytes && `${access.bytes} bytes a thread`,
    access.sectors && `${access.sectors} sectors of 32 bytes for each warp`, access.cycles && `${access.cycles} cycles`].filter(Boolean);
  return `${kind}: ${text.join(", ")}`;
}

const ROW = 20; // pixels: style.css has it too
const MOST_PRINTED = 400; // lines of a file: of a longer one, those in view are printed

// A list of lines of which only those in view are elements.
class Lines {
  constructor({ name, id, lines, rowClass, gutter, mark, onPoint, onChoose }) {
    Object.assign(this, { lines, rowClass, gutter, mark, onPoint, onChoose, id });
    this.lit = new Set();
    this.chosen = -1;
    this.firstActive = 0;
    this.active = -1;
    this.elements = new Map(); // of the lines in view
    this.inner = h("div", { class: "rows", role: "presentation" });
    this.inner.style.height = `${lines.length * ROW}px`;
    const widest = lines.reduce((most, one) => Math.max(most, one.length), 0);
    this.inner.style.minWidth = `calc(${Math.min(widest, 2100) + 12}ch + 2rem)`;
    this.element = h("div", { class: "lines", role: "listbox", tabindex: "0", "aria-label": name, id,
      onscroll: () => this.later(), onkeydown: (event) => this.key(event), onfocus: () => this.begin(),
      onmouseleave: () => this.onPoint(-1) }, this.inner);
    this.element.addEventListener("mouseover", (event) => {
      const row = event.target.closest("[data-line]");
      if (row) this.onPoint(Number(row.dataset.line));
    });
    this.element.addEventListener("click", (event) => {
      const row = event.target.closest("[data-line]");
      if (!row) return;
      this.move(Number(row.dataset.line) - 1, false);
      this.onChoose(Number(row.dataset.line));
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => ((this.waiting = false), this.draw()));
  }
  draw() {
    const height = this.element.clientHeight || 400;
    const whole = this.printing && this.lines.length <= MOST_PRINTED;
    const first = whole ? 0 : Math.max(0, Math.floor(this.element.scrollTop / ROW) - 8);
    const last = whole ? this.lines.length : Math.min(this.lines.length, Math.ceil((this.element.scrollTop + height) / ROW) + 8);
    const begin = first;
    for (const [line, row] of this.elements)
      if (line <= begin || line > last) row.remove(), this.elements.delete(line);
    const rows = [];
    let fresh = false;
    for (let line = begin + 1; line <= last; ++line) {
      let row = this.elements.get(line);
      if (!row) {
        row = h("div", { role: "option", id: `${this.id}-${line}`, "data-line": line, "aria-posinset": line, "aria-setsize": this.lines.length },
          h("span", { class: "number" }, String(line)), h("span", { class: "mark" }, this.mark(line)), this.gutter?.(line), h("code", {}, this.lines[line - 1]));
        row.style.top = `${(line - 1) * ROW}px`;
        this.elements.set(line, row);
        fresh = true;
      }
      rows.push(row);
      row.className = ["row", this.rowClass(line), this.lit.has(line) && "lit", line === this.chosen && "chosen", line === this.active + 1 && "active"].filter(Boolean).join(" ");
      row.setAttribute("aria-selected", String(line === this.chosen));
    }
    if (fresh) replace(this.inner, rows); // in the order of their lines
    if (this.active >= 0 && this.active >= first && this.active < last) this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active + 1}`);
    else this.element.removeAttribute("aria-activedescendant");
  }
  // Without scrolling: a click that brings the focus would miss its line.
  begin() {
    if (this.active >= 0) return;
    const inView = Math.ceil(this.element.scrollTop / ROW);
    this.active = this.inView(this.firstActive + 1) ? this.firstActive : Math.min(inView, this.lines.length - 1);
    this.draw();
  }
  drawAnew() {
    this.elements.clear();
    replace(this.inner);
    this.draw();
  }
  move(index, point = true) {
    this.active = Math.max(0, Math.min(this.lines.length - 1, index));
    this.show(this.active + 1);
    if (point) this.onPoint(this.active + 1);
    this.draw();
  }
  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page, Home: 0,
      End: this.lines.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.move(to);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (this.active >= 0) this.onChoose(this.active + 1);
    }
  }
  // Scrolls only if the line is not in view.
  show(line) {
    const top = (line - 1) * ROW;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop + ROW) this.element.scrollTop = Math.max(0, top - 2 * ROW);
    else if (top > scrollTop + clientHeight - 2 * ROW) this.element.scrollTop = top - clientHeight + 4 * ROW;
  }
  light(lines, show) {
    this.lit = new Set(lines);
    if (show && lines.length > 0 && !lines.some((line) => this.inView(line))) this.show(Math.min(...lines));
    this.draw();
  }
  inView(line) {
    const top = (line - 1) * ROW;
    return top >= this.element.scrollTop && top + ROW <= this.element.scrollTop + this.element.clientHeight;
  }
}

let views = 0;

// Both lists. shares: line of the source (or of the PTX, without one) → share of the time. changed: lines that the other input lacks.
export class CodeView {
  constructor(kernel, { onChoose, onPoint }) {
    this.kernel = kernel;
    this.shares = new Map();
    this.changed = null;
    this.onChoose = onChoose;
    this.onPoint = onPoint;
    const id = `code${++views}`;
    const share = (lines) => {
      const value = Math.max(0, ...lines.map((line) => this.shares.get(line) ?? 0));
      const bar = h("span", { class: "heat", title: value > 0 ? `${say.percent(value)} of the time` : undefined });
      bar.style.setProperty("--share", Math.min(1, value).toFixed(3));
      return bar;
    };
    const hasSource = kernel.sourceFile !== null;
    if (hasSource) {
      this.source = new Lines({ name: `Source: ${kernel.sourceFile.name}`, id: `${id}s`, lines: kernel.sourceFile.lines,
        rowClass: (line) => `${kernel.periodOfSource(line)}${this.changed && !this.changed.has(kernel.sourceFile.lines[line - 1]) ? " changed" : ""}`,
        gutter: (line) => share([line]), mark: (line) => MARK[kernel.periodOfSource(line)] ?? "",
        onPoint: (line) => this.point("source", line), onChoose: (line) => this.choose("source", line) });
      this.source.firstActive = Math.min(...[...kernel.bySource.keys(), kernel.sourceFile.lines.length]) - 1;
    }
    if (kernel.ptxFile) {
      this.ptx = new Lines({ name: `PTX: ${kernel.ptxFile.name}`, id: `${id}p`, lines: kernel.ptxFile.lines,
        rowClass: (line) => kernel.byPtx.get(line)?.period ?? "", gutter: hasSource ? null : (line) => share([line]),
        mark: (line) => MARK[kernel.byPtx.get(line)?.period] ?? "", onPoint: (line) => this.point("ptx", line), onChoose: (line) => this.choose("ptx", line) });
      this.ptx.firstActive = kernel.firstPtx() - 1;
    }
    const pane = (title, list, cut) => h("div", { class: "pane" }, h("h5", {}, title), list.element, cut ? h("p", { class: "note" }, "Long lines or the rest of a long file are left out here.") : null);
    this.element = h("div", { class: `code ${hasSource && this.ptx ? "both" : "one"}` },
      this.source ? pane(`${kernel.sourceFile.kind === "program" ? "Kernel program" : "Source"} ${kernel.sourceFile.name}`, this.source, kernel.sourceFile.cut) : null,
      this.ptx ? pane(`PTX for ${kernel.target || "its target"}`, this.ptx, kernel.ptxFile.cut) : null);
  }
  // Once it is in the page.
  begin() {
    this.source?.show(this.source.firstActive + 1);
    this.ptx?.show(this.kernel.firstPtx());
    this.source?.draw();
    this.ptx?.draw();
  }
  linked(side, line) {
    if (line < 0) return { source: [], ptx: [] };
    if (side === "ptx") {
      const one = this.kernel.byPtx.get(line);
      return { source: one && one.line > 0 ? [one.line] : [], ptx: [line] };
    }
    return { source: [line], ptx: this.kernel.bySource.get(line) ?? [] };
  }
  point(side, line) {
    const { source, ptx } = this.linked(side, line);
    this.source?.light(source, side === "ptx");
    this.ptx?.light(ptx, side === "source");
    this.onPoint?.(source, ptx);
  }
  // From elsewhere: a timeline, a basic block.
  light(source, ptx) {
    this.source?.light(source, true);
    this.ptx?.light(ptx.length > 0 ? ptx : source.flatMap((line) => this.kernel.bySource.get(line) ?? []), true);
  }
  choose(side, line) {
    const { source, ptx } = this.linked(side, line);
    if (this.source) this.source.chosen = source[0] ?? -1;
    if (this.ptx) this.ptx.chosen = side === "ptx" ? line : ptx[0] ?? -1;
    this.point(side, line);
    this.onChoose({ side, line, source, ptx });
  }
  text(side, line) {
    return (side === "ptx" ? this.ptx : this.source)?.lines[line - 1] ?? "";
  }
  // What was chosen in another version of the code: the nearest line of the same text; or the one behind what is before it, or
  // before what is behind it; or the one of its number. texts: of the line before, the line, and the one behind it.
  chooseAgain({ side, line, texts }) {
    const lines = (side === "ptx" ? this.ptx : this.source)?.lines ?? [];
    const nearest = (text, by) => lines.map((one, i) => (one === text && text.trim() !== "" ? i + 1 + by : -1)).filter((at) => at >= 1)
      .reduce((best, at) => (best === null || Math.abs(at - line) < Math.abs(best - line) ? at : best), null);
    const found = nearest(texts[1], 0) ?? nearest(texts[0], 1) ?? nearest(texts[2], -1) ?? line;
    if (found >= 1 && found <= lines.length) this.choose(side, found);
  }
  setShares(shares) {
    this.shares = shares;
    this.source?.drawAnew();
    this.ptx?.drawAnew();
  }
  print(on) {
    for (const list of [this.source, this.ptx]) {
      if (!list) continue;
      list.printing = on;
      list.element.classList.toggle("printing", on);
      list.draw();
    }
  }
}

export { MARK };
