// The drawing of control flow: its layout on graphs of all kinds, and how it is on the page: every block and edge, loops with their
// trip counts, by keyboard and for screen readers; a graph of hundreds of blocks, and one that is too large to draw.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, finish } from "./check.mjs";
import { axePath, openBrowser, openPage, root, violations } from "./browser.mjs";
import { layered } from "../../cli/report/page/src/layers.js";

const warptime = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "warptime-flow-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

// --- the layout ---

// What is wrong with a layout: nothing, or the first thing.
function wrong(sizes, successors, layout) {
  const { nodes, edges, width, height } = layout;
  const distinct = successors.map((all) => new Set(all));
  if (edges.length !== distinct.reduce((sum, all) => sum + all.size, 0)) return `${edges.length} edges`;
  for (const { from, to, back, path } of edges) {
    if (!distinct[from].has(to)) return `an edge from ${from} to ${to}`;
    if (!back && nodes[to].layer <= nodes[from].layer) return `${from} to ${to} leads up`;
    if (back && nodes[to].layer > nodes[from].layer) return `${from} to ${to} leads down, and back`;
    const numbers = path.match(/-?[\d.]+/g).map(Number);
    if (/NaN|undefined|Infinity/.test(path) || numbers.some((one) => one < -60 || one > Math.max(width, height) + 60)) return `the path of ${from} to ${to}: ${path}`;
  }
  for (let i = 0; i < nodes.length; ++i) {
    const [x, y] = [nodes[i].x, nodes[i].y], { width: w, height: h } = sizes[i];
    if (x - w / 2 < 0 || x + w / 2 > width || y - h / 2 < 0 || y + h / 2 > height) return `${i} is outside`;
    for (let j = i + 1; j < nodes.length; ++j)
      if (Math.abs(x - nodes[j].x) < (w + sizes[j].width) / 2 && Math.abs(y - nodes[j].y) < (h + sizes[j].height) / 2) return `${i} and ${j} overlap`;
  }
  return null;
}
let seed = 1;
const random = (most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
const graphs = [["one block", [[]]], ["one that repeats", [[0]]], ["a line", [[1], [2], []]], ["a choice", [[1, 2], [3], [3], []]],
  ["a loop of two", [[1], [2], [1, 3], []]], ["nested loops", [[1], [2], [3], [3, 4], [2, 5], [1, 6], []]], ["what is never reached", [[1], [], [1, 3], [2]]],
  ["two entries into a loop", [[1, 2], [2], [1, 3], []]], ["the same target twice", [[1, 1], [2, 2], []]],
  ["a switch", [Array.from({ length: 60 }, (_, i) => i + 1), ...Array.from({ length: 60 }, () => [61]), []]]];
for (let i = 0; i < 300; ++i) {
  const count = 1 + random(60);
  graphs.push([`random ${i}`, Array.from({ length: count }, (_, at) => Array.from({ length: random(3) }, () => (random(4) === 0 ? random(count) : Math.min(count - 1, at + 1 + random(4)))))]);
}
const faults = graphs.map(([name, successors]) => {
  const sizes = successors.map((_, i) => ({ width: 90 + ((37 * i) % 80), height: i % 5 === 0 ? 60 : 44 }));
  const layout = layered(sizes, successors);
  const fault = layout === null ? "no layout" : wrong(sizes, successors, layout);
  return fault && `${name}: ${fault}`;
}).filter(Boolean);
check(`${graphs.length} graphs: forward edges lead down, nothing overlaps or is outside`, faults.length === 0, faults);
const dense = Array.from({ length: 400 }, (_, i) => Array.from({ length: 400 - i }, (_, j) => i + j));
check("a graph of too many edges has no layout", layered(dense.map(() => ({ width: 90, height: 44 })), dense) === null);

// --- the page ---

// So many blocks: a loop of loops, each with a choice in it.
function ptxOf(rounds, additions) {
  const lines = [];
  for (let i = 0; i < rounds; ++i)
    lines.push(`L${i}:`, ...Array.from({ length: additions }, () => "  add.f32 %f1, %f1, 0f3F800000;"), `  setp.lt.s32 %p1, %r1, ${i};`, `  @%p1 bra M${i};`, "  mul.f32 %f1, %f1, %f1;", `M${i}:`,
      "  add.s32 %r2, %r2, 1;", `  setp.lt.s32 %p2, %r2, ${i + 5};`, `  @%p2 bra L${i};`, "  mov.u32 %r2, 0;");
  return `.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry many(.param .u64 a)\n{\n  .reg .pred %p<4>;\n  .reg .f32 %f<2>;\n  .reg .b32 %r<4>;\n  .reg .b64 %rd<2>;\n`
    + `  ld.param.u64 %rd1, [a];\n  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, 0;\n  ld.global.f32 %f1, [%rd1];\n${lines.join("\n")}\n  st.global.f32 [%rd1], %f1;\n  ret;\n}\n`;
}
const make = (name, ...words) => {
  execFileSync(warptime, ["report", ...words, "-o", join(folder, name)], { cwd: root, stdio: "ignore" });
  return join(folder, name);
};
const browser = await openBrowser();
const axe = readFileSync(axePath(), "utf8");
const settled = (page) => page.waitForFunction(() => document.body.dataset.settled === "true", undefined, { timeout: 60000 });
const dataOf = (page) => page.evaluate(() => JSON.parse(document.getElementById("report").textContent).methods[0].kernels[0]);
{
  const { page, close, problems } = await openPage(browser, make("mtx.html", "mtx", "--gpu", "rtx-2080", "--model", "puchala", "--param", "K=8,N=2^14"));
  await settled(page);
  const kernel = await dataOf(page);
  const edges = kernel.blocks.reduce((sum, block) => sum + new Set(block.successors.filter((to) => kernel.blocks.some((one) => one.block === to))).size, 0);
  const graph = page.locator("svg.flowgraph");
  check("every block is drawn", (await graph.locator("g.block").count()) === kernel.blocks.length);
  check("every edge is drawn", (await graph.locator("path.edge").count()) === edges, edges);
  check("edges that lead back are told apart", (await graph.locator("path.edge.back").count()) === kernel.loops.length);
  const labels = await graph.locator("g.block").evaluateAll((all) => all.map((one) => [one.getAttribute("aria-label"), one.textContent]));
  check("the loops stand at their headers, with their trip counts", kernel.loops.length > 0 && kernel.loops.every((loop) => {
    const [label, text] = labels[kernel.blocks.findIndex((block) => block.block === loop.header)];
    return label.includes(`begins loop ${loop.loop}, ${loop.iterations} iterations`) && text.includes(`${loop.loop} × ${loop.iterations}`);
  }), labels);
  check("each block tells its code, instructions and where it goes", labels.every(([label], i) => label.startsWith(`${kernel.blocks[i].block} `) && /; PTX \d/.test(label) && / instructions?;/.test(label) && /; (then|the end)/.test(label)), labels);
  await graph.locator("g.block").first().focus();
  await page.keyboard.press("ArrowDown");
  const name = () => page.evaluate(() => document.activeElement.getAttribute("aria-label")?.split(" ")[0]);
  check("by keyboard: down along an edge", (await name()) === kernel.blocks[0].successors[0], await name());
  check("… which lights up the block's PTX and its edges", (await page.locator("#kernels .row.lit").count()) > 0 && (await graph.locator("path.edge.lit").count()) >= 2);
  await page.keyboard.press("ArrowUp");
  check("… and up again", (await name()) === kernel.blocks[0].block, await name());
  await page.keyboard.press("End");
  check("… to the last block", (await name()) === kernel.blocks.at(-1).block, await name());
  check("one stop for the tabulator", (await graph.locator('[tabindex="0"]').count()) === 1);
  await graph.locator("g.block").nth(3).hover();
  check("by mouse, a block lights up its PTX", (await page.locator("#kernels .row.lit").count()) > 0);
  await page.locator(".listed summary").click();
  check("there is a list, too", (await page.locator(".listed .blocks li").count()) === kernel.blocks.length);
  const found = await violations(page, axe);
  check("axe-core finds no violation", found.length === 0, found);
  check("no problems", problems.length === 0, problems);
  await close();
}
{
  writeFileSync(join(folder, "many.ptx"), ptxOf(95, 43));
  const { page, close, problems, openedMs, openedBusyMs } = await openPage(browser, make("many.html", join(folder, "many.ptx"), "--grid", "64", "--block", "256", "--gpu", "rtx-2080", "--model", "puchala"));
  await settled(page);
  const kernel = await dataOf(page);
  check(`${kernel.blocks.length} blocks in ${(await page.evaluate(() => JSON.parse(document.getElementById("report").textContent).files.at(-1).lines.length))} lines of PTX are drawn`, kernel.blocks.length > 350 && (await page.locator("svg.flowgraph g.block").count()) === kernel.blocks.length);
  check("… all loops, with their trip counts", (await page.locator("svg.flowgraph .trips").count()) === 95);
  check(`… and open in ${openedBusyMs.toFixed(0)} ms of processor time (${openedMs.toFixed(0)} ms by the clock)`, openedBusyMs < 2000);
  check("… without problems", problems.length === 0, problems);
  await close();
}
{
  writeFileSync(join(folder, "toomany.ptx"), ptxOf(300, 4));
  const { page, close, problems, openedMs, openedBusyMs } = await openPage(browser, make("toomany.html", join(folder, "toomany.ptx"), "--grid", "64", "--block", "256", "--gpu", "rtx-2080", "--model", "puchala"));
  await settled(page);
  const kernel = await dataOf(page);
  check(`${kernel.blocks.length} blocks are a list, and the page says why`, (await page.locator("svg.flowgraph").count()) === 0 && (await page.locator(".flow .note").first().textContent()).startsWith(`There are ${kernel.blocks.length} basic blocks: more than 400`));
  check("… of the first 600", (await page.locator(".flow .blocks li").count()) === 600 && (await page.locator(".flow").textContent()).includes(`The first 600 of ${kernel.blocks.length}`));
  check(`… and open in ${openedBusyMs.toFixed(0)} ms of processor time (${openedMs.toFixed(0)} ms by the clock)`, openedBusyMs < 2000);
  check("… without problems", problems.length === 0, problems);
  await close();
}
await browser.close();
finish();
