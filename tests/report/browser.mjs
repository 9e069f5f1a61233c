// A page in Debian's Chromium, watched: what it logs, and what it asks any network for.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..", "..");
const require = createRequire(join(root, "cli", "report", "page", "package.json"));

// The exit status of a test that ctest counts as skipped.
export const SKIPPED = 77;
export function needs(what, there) {
  if (there) return;
  console.log(`skipped: there is no ${what}`);
  process.exit(SKIPPED);
}

function installed(name) {
  try {
    return require.resolve(name);
  } catch {
    return null;
  }
}

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export async function openBrowser() {
  needs("Chromium", existsSync(CHROMIUM));
  needs("playwright-core: npm ci in cli/report/page installs it", installed("playwright-core"));
  needs("axe-core: npm ci in cli/report/page installs it", installed("axe-core"));
  const { chromium } = require("playwright-core");
  // One renderer for all pages: a process for each takes longer to start than most pages take to open.
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--renderer-process-limit=1", "--disable-features=SpareRendererForSitePerProcess,IsolateOrigins,site-per-process"] });
}

export const axePath = () => require.resolve("axe-core/axe.min.js");

// Tabs that are free, and the browser's own connection.
const free = [];
let devtools = null;

// problems: console errors, exceptions, and every request but the page itself. openedMs: from the navigation to the first update
// of all sections. close(): its tab is free for another page.
export async function openPage(browser, file, { width = 1280, height = 900, scheme = "light" } = {}) {
  const page = free.pop() ?? (await (await browser.newContext({ reducedMotion: "reduce", bypassCSP: false })).newPage());
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, media: null });
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(`console: ${message.text()}`));
  page.on("pageerror", (failure) => problems.push(`exception: ${failure.stack ?? failure}`));
  page.on("dialog", async (dialog) => (problems.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  const url = pathToFileURL(file).href;
  page.on("request", (request) => request.url().split("#")[0] !== url && problems.push(`request: ${request.url().slice(0, 200)}`));
  // The processor time of the browser's renderers: other processes do not add to it.
  devtools ??= await browser.newBrowserCDPSession();
  const busyMs = async () => {
    const { processInfo } = await devtools.send("SystemInfo.getProcessInfo");
    return 1000 * processInfo.filter((one) => one.type === "renderer").reduce((sum, one) => sum + one.cpuTime, 0);
  };
  const begin = performance.now();
  const busyBefore = await busyMs();
  await page.goto(url);
  await page.waitForFunction(() => document.body.dataset.drawn !== undefined, undefined, { timeout: 60000 });
  const close = async () => {
    for (const event of ["console", "pageerror", "dialog", "request"]) page.removeAllListeners(event);
    await page.goto("about:blank");
    free.push(page);
  };
  return { page, close, problems, busyMs, openedMs: performance.now() - begin, openedBusyMs: (await busyMs()) - busyBefore };
}

// axe-core's violations, as text. It is evaluated, not inserted: the page's policy forbids scripts.
export async function violations(page, source) {
  await page.evaluate(source);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((one) => `${one.id} (${one.impact}): ${one.help}; ${one.nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${(node.failureSummary ?? "").replaceAll("\n", " ").slice(0, 300)}`).join(" | ")}`);
}
