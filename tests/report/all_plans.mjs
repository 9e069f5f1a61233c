// The page of all bundled plans: what it takes to make it, that it compares what is chosen, and that its answers are those of
// `predict`.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, finish } from "./check.mjs";
import { axePath, openBrowser, openPage, root, violations } from "./browser.mjs";

const warptime = process.argv[2], pictures = process.argv[3]; // a folder for screenshots, if given
const folder = mkdtempSync(join(tmpdir(), "warptime-plans-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const run = (...words) => execFileSync(warptime, words, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });

const browser = await openBrowser();
const axe = readFileSync(axePath(), "utf8");
const settled = (page) => page.waitForFunction(() => document.body.dataset.settled === "true", undefined, { timeout: 60000 });
const cells = (page, rows) => page.locator(rows).evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent.trim())));

// How long it takes is in docs/performance.md: the processor time of one and the same command differs by half from one minute to
// the next where others use the machine.
const file = join(folder, "plans.html");
run("report", "--all-plans", "-o", file);
check("the report of all bundled plans takes at most 3 MB", statSync(file).size <= 3e6, statSync(file).size);

const plans = run("plans").split("\n").slice(1).map((row) => row.split(/\s+/)[0]).filter((name) => /^\w+$/.test(name));
const { page, problems, close } = await openPage(browser, file);
await settled(page);
check("all plans are in the list", JSON.stringify(await page.locator("#inputs tbody th").evaluateAll((all) => all.map((one) => one.textContent.trim()))) === JSON.stringify(plans), plans.length);

// Which method is faster, on which GPU, from which size?
const SHOWN = ["lattice", "ltt", "matrix", "mtx"];
const GPUS = ["gt-720m", "gtx-1070", "gtx-860m", "k1000m", "rtx-2060", "rtx-2080"];
const times = new Map(SHOWN.map((name) => [name, JSON.parse(run("predict", name, "--gpu", GPUS.join(","), "--param", "K=8", "--param", "N=2^6..2^20", "--format", "json"))]));
const time = (name, gpu, N) => times.get(name).find((row) => row.gpu === gpu && row.parameters.N === N).time_us;
const fastest = (gpu, N) => SHOWN.reduce((best, name) => (time(name, gpu, N) < time(best, gpu, N) ? name : best));
const answers = await cells(page, "#answers table tbody tr");
check("it begins with the plans that are calibrated", answers.length === GPUS.length, answers.map((row) => row[0]));
for (const gpu of GPUS) {
  const row = answers.find((one) => one[0] === gpu) ?? [];
  const winners = Array.from({ length: 15 }, (_, i) => fastest(gpu, 2 ** (i + 6))).filter((name, i, all) => name !== all[i - 1]);
  const told = winners.length === 1 ? `${winners[0]}, at every size shown` : null;
  const named = [...(row[1] ?? "").matchAll(/(\w+) (?:below|from)/g)].map((one) => one[1]);
  check(`${gpu}: the fastest of the four, over the sizes`, told ? row[1] === told : JSON.stringify(named) === JSON.stringify(winners), [row[1], winners]);
  check(`${gpu}: … and why`, row[2]?.startsWith(`${winners.at(-1)}: `) && row[5]?.length > 10, row);
}
const violated = await violations(page, axe);
check("everybody can use it (axe-core)", violated.length === 0, violated);

// Others are chosen with the keyboard, and shown.
if (pictures) await page.screenshot({ path: join(pictures, "plans-wide.png"), fullPage: true });
await page.locator("#inputs summary").focus();
await page.keyboard.press("Enter");
const before = await cells(page, "#inputs tbody tr");
check("each plan has a time, and what bounds it", before.every((row) => /\d [nµm]?s$/.test(row[4]) && /bound/.test(row[5])), before.find((row) => !/\d [nµm]?s$/.test(row[4])));
if (pictures) await page.screenshot({ path: join(pictures, "plans-list.png") });
for (const name of ["lattice", "ltt", "matrix", "mtx", "mtx_2d", "ltt_2d"]) {
  await page.getByRole("checkbox", { name, exact: true }).first().focus();
  await page.keyboard.press("Space");
}
await page.getByRole("button", { name: "Show the chosen inputs" }).focus();
await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
await settled(page);
check("the chosen plans are compared", /mtx_2d against ltt_2d|ltt_2d against mtx_2d/.test(await page.locator("#answers caption").first().textContent()));
check("… their code is shown", (await page.locator("#kernels h3").count()) === 2);
const second = await violations(page, axe);
check("… and everybody can use that, too", second.length === 0, second);
if (pictures) {
  await page.screenshot({ path: join(pictures, "plans-two.png"), fullPage: true });
  await page.setViewportSize({ width: 420, height: 900 });
  await page.emulateMedia({ colorScheme: "dark" });
  await settled(page);
  await page.screenshot({ path: join(pictures, "plans-narrow-dark.png"), fullPage: false });
}
check("no problems", problems.length === 0, problems);
await close();
await browser.close();
finish();
