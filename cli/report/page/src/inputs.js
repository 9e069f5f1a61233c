// A report of many inputs: which of them the page shows. It compares a few at a time; all are in a list, with a time of each.
import { Method } from "./data.js";
import { h } from "./dom.js";
import * as say from "./text.js";

const MOST = 8; // as many as there are colours

const names = (one) => one.parameters.map((parameter) => parameter.name).join(",");

// At first those with the most sizes, if these are several; else those that most others can be compared with.
function firstChoice(methods) {
  const several = methods.filter((one) => one.rows.time_us.length > 1);
  if (several.length > 1 && several.length < methods.length) return several.slice(0, MOST);
  const like = new Map();
  for (const one of methods) like.set(names(one), [...(like.get(names(one)) ?? []), one]);
  return [...like.values()].sort((a, b) => b.length - a.length)[0].slice(0, MOST);
}

// { data: the document with the inputs that are shown, all, wanted }. What was chosen is kept in the tab's history.
export function shownInputs(all) {
  if (all.methods.length <= MOST) return { data: all, all, wanted: null };
  const kept = window.history.state?.warptime?.inputs ?? [];
  let methods = all.methods.filter((one) => kept.includes(one.name)).slice(0, MOST);
  if (methods.length === 0) methods = firstChoice(all.methods);
  const hidden = all.methods.filter((one) => !methods.includes(one)).map((one) => `${one.name}: `);
  const gpus = all.gpus.filter((gpu) => methods.some((one) => one.gpus.includes(gpu.name)));
  const missing = all.missing.filter((text) => !hidden.some((name) => text.startsWith(name)));
  return { data: { ...all, methods, gpus, missing }, all, wanted: methods.map((one) => one.name) };
}

// On a GPU that most inputs have, the largest values.
function line(data, gpus) {
  const method = new Method(data, 0);
  const gpu = gpus.find((name) => data.gpus.includes(name));
  const values = new Map(method.axes.map((axis) => [axis.name, axis.values[axis.values.length - 1]]));
  const found = method.at(gpu, values);
  const bound = found && method.bound(found);
  return [gpu, [...values].map(([name, value]) => `${name} = ${say.size(value)}`).join(", "), found ? say.time(found.us) : "–", bound ? `${bound.part.bound} (${say.percent(bound.share)})` : "–"];
}

// Null: the page shows all.
export function inputsSection(inputs) {
  if (inputs.wanted === null) return null;
  const { methods } = inputs.all;
  const wanted = new Set(inputs.wanted);
  const count = new Map();
  for (const one of methods) for (const gpu of one.gpus) count.set(gpu, (count.get(gpu) ?? 0) + 1);
  const gpus = [...count.keys()].sort((a, b) => count.get(b) - count.get(a));
  const says = h("span", { role: "status" });
  const show = h("button", { type: "button", onclick: () => {
    inputs.wanted = [...wanted];
    window.history.replaceState({ warptime: { ...window.history.state?.warptime, inputs: inputs.wanted } }, "");
    window.location.reload();
  } }, "Show the chosen inputs");
  const tell = () => {
    show.disabled = wanted.size === 0 || wanted.size > MOST;
    says.textContent = ` ${wanted.size} chosen${wanted.size > MOST ? `: at most ${MOST} at a time` : ""}`;
  };
  const rows = methods.map((one) => {
    const box = h("input", { type: "checkbox", onchange: () => ((box.checked ? wanted.add(one.name) : wanted.delete(one.name)), tell()) });
    box.checked = wanted.has(one.name);
    return h("tr", {}, h("th", { scope: "row" }, h("label", {}, box, ` ${one.name}`)), h("td", {}, one.description || one.input), line(one, gpus).map((text, i) => h("td", { class: i === 0 || i === 2 ? "one" : undefined }, text)), h("td", {}, one.model));
  });
  tell();
  const titles = ["input", "what it is", "GPU", "at", "time", "bound", "model"];
  return h("section", { id: "inputs", "aria-labelledby": "inputs-title" }, h("h2", { id: "inputs-title" }, `The ${methods.length} inputs`),
    h("p", {}, `This page compares ${inputs.wanted.length} of them: ${inputs.wanted.join(", ")}. Choose others in the list.`),
    h("details", {}, h("summary", {}, "All inputs, with a time of each"),
      h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "All inputs" }, h("table", {}, h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title)))), h("tbody", {}, rows))),
      h("p", {}, show, says)));
}
