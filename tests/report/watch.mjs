// `warptime report --watch` and the page that a browser has open: after a change of the source it shows the new times and keeps what
// the reader has chosen; after a mistake it stays and says so; a file that is replaced, deleted or half written does not break it.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, finish } from "./check.mjs";
import { openBrowser, openPage } from "./browser.mjs";

const warptime = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "warptime-watch-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const at = (name) => join(folder, name);
const read = (name) => readFileSync(at(name), "utf8");
const write = (name, text) => writeFileSync(at(name), text);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(what, holds) {
  for (let i = 0; i < 1200; ++i) {
    if (await holds()) return true;
    await pause(25);
  }
  check(what, false, `not within 30 s; ${read("out").slice(-500)} ${read("err").slice(-500)}`);
  return false;
}
const times = (text, words) => text.split(words).length - 1;
const said = (what, name, words, many = 1) => until(what, () => times(read(name), words) >= many);

const SOURCE = `#include "scale.h"
// a comment
__global__ void k(int n, int m, const float* a, float* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
#pragma unroll 1
    for (int j = 0; j < m; ++j)
        s += a[i + j] * SCALE;
    if (i < n) b[i] = s;
}
`;
const OPTIONS = ["k.cu", "--threads", "n", "--param", "n=2^14..2^16", "--param", "m=32,64", "--gpu", "h200,rtx-2080", "--model", "puchala"];
write("k.cu", SOURCE);
write("scale.h", "#define SCALE 2.0f\n");

const browser = await openBrowser();
const running = spawn(warptime, ["report", ...OPTIONS, "-o", "k.html", "--watch"], { cwd: folder, stdio: ["ignore", openSync(at("out"), "w"), openSync(at("err"), "w")] });
process.on("exit", () => running.kill());
await said("it watches", "err", "Ctrl-C ends");
check("it watches the source and its header", /watching k\.cu and scale\.h/.test(read("err")), read("err"));

const { page, close, problems } = await openPage(browser, at("k.html"));
await page.waitForFunction(() => document.body.dataset.settled === "true");
// What predict says, as the page writes it.
const predicted = (n, m, gpu) => {
  const [row] = JSON.parse(execFileSync(warptime, ["predict", "k.cu", "--threads", "n", "--param", `n=${n},m=${m}`, "--gpu", gpu, "--model", "puchala", "--format", "json"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const us = row.time_us;
  const [value, unit] = us < 1e3 ? [us, "µs"] : [us / 1e3, "ms"];
  return `${value.toPrecision(4)} ${unit}`;
};
const lead = () => page.locator("#answers .lead").textContent({ timeout: 10000 }).catch(() => "");
const banner = () => page.locator(".watch").textContent({ timeout: 10000 }).catch(() => "");
check("the page says when it was predicted, and that it follows", /^Predicted at \d\d:\d\d:\d\d\. It follows/.test(await banner()), await banner());

// --- a change: the new times, the old choices ---

await page.locator(".controls select").selectOption("rtx-2080");
await page.locator(".slider input[type=range]").first().evaluate((one) => { one.value = Number(one.value) - 4; one.dispatchEvent(new Event("input")); });
await page.locator(".slider input[type=range]").nth(1).evaluate((one) => { one.value = one.max; one.dispatchEvent(new Event("input")); });
await page.locator("#times details summary").click();
await page.locator("#rows input[type=search]").fill("rtx-2080 m=64");
await page.locator("#rows .thead button").last().scrollIntoViewIfNeeded();
await page.locator("#rows .thead button").filter({ hasText: "time" }).click();
const source = page.locator("#kernels .lines").first();
await source.focus();
const lineOf = (text, words) => text.split("\n").findIndex((line) => line.includes(words)) + 1;
for (let i = 0; i < 40 && (await source.getAttribute("aria-activedescendant"))?.split("-").pop() !== String(lineOf(SOURCE, "s +=")); ++i) await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await page.locator("#kernels .tools button").first().click();
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.locator(".controls select").focus();
await page.evaluate(() => window.scrollBy({ top: 37, behavior: "instant" }));
await page.waitForFunction(() => document.body.dataset.settled === "true");
const choices = () => page.evaluate(() => {
  const timeline = document.querySelector("#kernels svg.timeline");
  return {
    gpu: document.querySelector(".controls select").value,
    sliders: [...document.querySelectorAll(".slider input[type=range]")].map((one) => one.value),
    open: [...document.querySelectorAll("main details")].map((one) => one.open),
    filter: document.querySelector("#rows input").value,
    sorted: [...document.querySelectorAll("#rows [aria-sort]")].map((one) => one.getAttribute("aria-sort")),
    rows: document.querySelector("#rows .note").textContent,
    chosen: document.querySelector("#kernels .row.chosen code").textContent,
    timeline: [timeline.dataset.from, timeline.dataset.to],
    focus: document.activeElement.tagName,
  };
});
const place = () => page.evaluate(() => document.querySelector("#kernels").getBoundingClientRect().top);
const before = { lead: await lead(), choices: await choices(), place: await place(), address: page.url() };
check("before: the time of predict", before.lead.includes(predicted(2 ** 15, 64, "rtx-2080")), before.lead);
check("before: something is chosen", before.choices.gpu === "rtx-2080" && before.choices.open.includes(true) && before.choices.rows !== "12 rows." && before.place < 0, before);

const CHANGED = SOURCE.replace("// a comment\n", "").replace("* SCALE", "* SCALE * a[i + 8 * j]");
let saved = performance.now();
write("k.cu", CHANGED);
await until("the page shows another time", async () => !["", before.lead].includes(await lead()));
const tookMs = performance.now() - saved;
await page.waitForFunction(() => document.body.dataset.settled === "true");
const expected = predicted(2 ** 15, 64, "rtx-2080");
check(`after a change the page shows the time of predict (${tookMs.toFixed(0)} ms after the file was saved)`, (await lead()).includes(expected), [expected, await lead()]);
const after = await choices();
check("… and keeps what the reader has chosen", JSON.stringify({ ...after, timeline: 0 }) === JSON.stringify({ ...before.choices, timeline: 0, chosen: CHANGED.split("\n").find((line) => line.includes("s +=")) }), [after, before.choices]);
check("… the part of the timeline", after.timeline.every((one, i) => Math.abs(one - before.choices.timeline[i]) < 1), after.timeline);
check("… and where it was scrolled to", Math.abs((await place()) - before.place) < 40, [await place(), before.place]);
check("… at the same address", page.url() === before.address, page.url());
const out = read("out");
check("the terminal says what changed, as `models update` does", /^\n\d\d:\d\d:\d\d: k\.cu changed \(\d+ ms\)\nk \(k\.cu\): changed\n[^]*loop body \(line 7\): .*\+1 coalesced load[^]*on 2 GPUs at 6 sizes \(plan k; worst on /.test(out), out);

await page.reload();
await page.waitForFunction(() => document.body.dataset.settled === "true");
check("reloading by hand keeps the choices, too", (await choices()).gpu === "rtx-2080" && (await choices()).filter === "rtx-2080 m=64", await choices());

// --- a mistake: the page stays, and says so; it is not even loaded again ---

const good = await lead();
await page.evaluate(() => (globalThis.same = true));
write("k.cu", CHANGED.replace("s +=", "t +="));
await said("the terminal shows the mistake", "err", "k.cu:8:9: error: use of undeclared identifier 't'");
await said("the terminal says that the answer stands", "err", "stands");
await until("the page says that it is older than its source", async () => /^Older than its source.*k\.cu:8:9: error: use of undeclared identifier 't'/.test(await banner()));
check("… and shows the last good answer, without being loaded again", (await lead()) === good && (await page.evaluate(() => globalThis.same === true)));
unlinkSync(at("k.cu"));
await until("a source that is gone is told", async () => /k\.cu: error: no such file/.test(await banner()));
// In halves; then replaced by a rename, as editors do.
const half = openSync(at("k.cu"), "w");
writeSync(half, SOURCE.slice(0, 150));
await pause(300);
writeSync(half, SOURCE.slice(150));
closeSync(half);
await until("written in halves, the whole is shown in the end", async () => (await lead()) === before.lead);
check("… and the page is no longer older", /^Predicted at/.test(await banner()), await banner());
write("k.cu.new", CHANGED);
renameSync(at("k.cu.new"), at("k.cu"));
await until("a source that was replaced is shown", async () => (await lead()) === good);
write("scale.h", "#define SCALE (2.0f * j)\n");
await until("a changed header is shown", async () => !["", good].includes(await lead()));
check("… with its changes", /scale\.h changed/.test(read("out")), read("out"));

// --- the page's own file ---

const last = await lead();
unlinkSync(at("k.html"));
await pause(1500);
check("a page whose file is gone stays", (await lead()) === last);
write("scale.h", "#define SCALE 2.0f\n");
await until("… and goes on with the next one", async () => (await lead()) === good);
truncateSync(at("k.html"), 3000);
await pause(1500);
check("a page whose file was cut off stays", (await lead()) === good);
write("k.html", "");
await pause(1500);
check("a page whose file is empty stays", (await lead()) === good);
write("k.cu", SOURCE);
await until("… and goes on with the next one, once more", async () => (await lead()) === before.lead);
check("the choices are those of the beginning", (await choices()).gpu === "rtx-2080" && (await choices()).rows === before.choices.rows, await choices());
check("no file is left over", readdirSync(folder).sort().join() === "err,k.cu,k.html,out,scale.h", readdirSync(folder));
check("no console error, no request", problems.length === 0, problems);
running.kill("SIGINT");
check("Ctrl-C ends it with status 130", (await new Promise((done) => running.on("exit", done))) === 130);
await pause(1000);
check("… and the page stays", (await lead()) === before.lead);
await close();

// --- a name that tries to be markup, in the message of a mistake ---
{
  const name = "<img src=x onerror=document.title='pwned'>&\".cu";
  write(name, SOURCE);
  const hostile = spawn(warptime, ["report", name, ...OPTIONS.slice(1), "-o", "h.html", "--watch"], { cwd: folder, stdio: ["ignore", openSync(at("out"), "w"), openSync(at("err"), "w")] });
  await said("it watches", "err", "Ctrl-C ends");
  const opened = await openPage(browser, at("h.html"));
  write(name, "#error </script><script>document.title='pwned'</script>\n");
  await until("a mistake that tries to be markup is text", async () => (await opened.page.locator(".watch").textContent()).includes("</script><script>document.title='pwned'"));
  await opened.page.reload();
  check("… also in the page itself", (await opened.page.locator(".watch").textContent()).includes("<img src=x") && (await opened.page.title()) !== "pwned" && opened.problems.length === 0, opened.problems);
  hostile.kill("SIGINT");
  await new Promise((done) => hostile.on("exit", done));
  await opened.close();
}

// --- two inputs, and without --watch ---
{
  write("b.cu", CHANGED);
  const both = spawn(warptime, ["report", "k.cu", "b.cu", ...OPTIONS.slice(1), "-o", "b.html", "--watch"], { cwd: folder, stdio: ["ignore", openSync(at("out"), "w"), openSync(at("err"), "w")] });
  await said("it watches both", "err", "watching b.cu, k.cu and scale.h");
  write("b.cu", SOURCE);
  await said("the second input's change is told", "out", "b.cu changed");
  await said("… with what it costs", "out", "(plan ");
  check("… and only its own", !/k \(k\.cu\): changed/.test(read("out")) && /k \(b\.cu\): changed/.test(read("out")), read("out"));
  both.kill("SIGINT");
  await new Promise((done) => both.on("exit", done));
}
execFileSync(warptime, ["report", ...OPTIONS, "-o", "plain.html"], { cwd: folder, stdio: "ignore" });
check("without --watch a page asks nothing", !/warptime-probe"&&|id="watch"|frame-src/.test(read("plain.html").replace(/<script>[^]*/, "")), "");
{
  const plain = await openPage(browser, at("plain.html"));
  await pause(1000);
  check("… and does nothing by itself", plain.problems.length === 0 && (await plain.page.locator("iframe, .watch").count()) === 0);
  await plain.close();
}

// --- wrong command lines ---
for (const [words, status, message] of [
  [[...OPTIONS], 2, "--watch needs a file for the page"],
  [[...OPTIONS, "-o", "-"], 2, "--watch needs a file for the page"],
  [["-", ...OPTIONS.slice(1), "-o", "x.html"], 2, "--watch needs a file: standard input"],
  [[...OPTIONS, "-o", "x.html", "--sarif", "x"], 2, "--sarif cannot be used with --watch"],
  [["matrix", "lattice", "--param", "K=8,N=64", "--gpu", "h200", "-o", "x.html"], 2, "matrix and lattice are no file that could change"],
]) {
  const done = spawnSync(warptime, ["report", ...words, "--watch"], { cwd: folder, input: "", encoding: "utf8", timeout: 60000 });
  check(`${words.join(" ").slice(-40)}: ${message}`, done.status === status && done.stderr.includes(message), [done.status, done.stderr]);
}
await browser.close();
finish();
