// A table of many rows, of which only those in view are elements. Sorted by any column, filtered by words.
import { h, replace } from "./dom.js";

const ROW = 26, MOST_PRINTED = 48;

export class BigTable {
  // columns: { title, value(row): to sort by, text(row), number }
  constructor({ name, columns, rows }) {
    Object.assign(this, { columns, all: rows, rows: rows.slice() });
    this.sorted = null;
    this.count = h("p", { class: "note", role: "status" });
    this.body = h("div", { class: "tbody", role: "rowgroup" });
    this.heads = columns.map((column) => h("span", { role: "columnheader", class: column.number ? "number" : "", "aria-sort": "none" },
      h("button", { type: "button", onclick: () => this.sort(column) }, column.title)));
    const template = columns.map((column) => column.width ?? (column.number ? "7rem" : "11rem")).join(" ");
    this.scroller = h("div", { class: "bigtable", role: "table", "aria-label": name, "aria-rowcount": rows.length + 1, tabindex: "0", onscroll: () => this.later() },
      h("div", { class: "thead", role: "rowgroup" }, h("div", { class: "tr", role: "row", "aria-rowindex": 1 }, this.heads)), this.body);
    this.scroller.style.setProperty("--columns", template);
    this.filterBox = h("input", { type: "search", placeholder: "rtx-2080 K=8", oninput: () => this.filter() });
    this.element = h("div", {}, h("label", { class: "filter" }, "Rows with ", this.filterBox), this.count, this.scroller, (this.paper = h("div", { class: "paper" })));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }
  sort(column) {
    const down = this.sorted === column ? !this.down : false;
    (this.sorted = column), (this.down = down);
    const sign = down ? -1 : 1;
    this.rows.sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
    this.columns.forEach((one, i) => this.heads[i].setAttribute("aria-sort", one !== column ? "none" : down ? "descending" : "ascending"));
    this.draw();
  }
  filter() {
    const words = this.filterBox.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.texts ??= new Map(this.all.map((row) => [row, this.columns.map((column) => column.text(row)).join("\n").toLowerCase()]));
    this.rows = this.all.filter((row) => words.every((word) => {
      const [name, value] = word.split("=");
      if (value !== undefined) return this.columns.some((column) => column.title.toLowerCase() === name && String(column.value(row)) === value);
      return this.texts.get(row).includes(word);
    }));
    this.scroller.scrollTop = 0;
    if (this.sorted) (this.down = !this.down), this.sort(this.sorted);
    this.draw();
  }
  // On paper the first rows, as they are sorted and filtered.
  print(on) {
    const shown = this.rows.slice(0, MOST_PRINTED);
    replace(this.paper, !on ? [] : [h("table", {}, h("thead", {}, h("tr", {}, this.columns.map((column) => h("th", { scope: "col", class: column.number ? "number" : "" }, column.title)))),
      h("tbody", {}, shown.map((row) => h("tr", {}, this.columns.map((column) => h("td", { class: column.number ? "number" : "" }, column.text(row))))))),
    shown.length < this.rows.length ? h("p", { class: "note" }, `The first ${shown.length} of ${this.rows.length} rows; the page itself has all.`) : []]);
  }
  save() {
    return { filter: this.filterBox.value, sorted: this.columns.indexOf(this.sorted), title: this.sorted?.title, down: this.down };
  }
  restore({ filter, sorted, title, down }) {
    this.filterBox.value = filter;
    if (filter !== "") this.filter();
    if (this.columns[sorted]?.title !== title || sorted < 0) return;
    this.sort(this.columns[sorted]);
    if (down) this.sort(this.columns[sorted]);
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => ((this.waiting = false), this.draw()));
  }
  draw() {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - 6);
    const last = Math.min(this.rows.length, first + Math.ceil((this.scroller.clientHeight || 420) / ROW) + 14);
    this.body.style.height = `${this.rows.length * ROW}px`;
    const rows = [];
    for (let i = first; i < last; ++i) {
      const element = h("div", { class: "tr", role: "row", "aria-rowindex": i + 2 }, this.columns.map((column) => h("span", { role: "cell", class: column.number ? "number" : "" }, column.text(this.rows[i]))));
      element.style.top = `${i * ROW}px`;
      rows.push(element);
    }
    replace(this.body, rows);
    replace(this.count, this.rows.length === this.all.length ? `${this.all.length} rows.` : `${this.rows.length} of ${this.all.length} rows.`);
  }
}
