// Sources that try to be markup: in names, strings, comments, paths and descriptions. A page of them has the elements and attributes
// of a page of harmless ones, one for one, and the texts are what they are; nothing runs, nothing is asked for.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { check, finish } from "./check.mjs";
import { openBrowser, openPage } from "./browser.mjs";

const warptime = process.argv[2];

// Each is put into each place below.
const TEXTS = [
  ["ends the script", "</script><script>document.title='pwned'</script>"],
  ["opens a comment", "<!--<script>"],
  ["an image with a handler", "<img src=x onerror=document.title='pwned'>"],
  ["ends an attribute", "\" onmouseover=\"document.title='pwned'\" '"],
  ["entities and templates", "&lt;b&gt; &#x3c;svg/onload=1&#x3e; ${document.title='pwned'} {{7*7}} @REPORT@"],
  ["line separators", "a\u2028document.title='pwned'\u2029b\u0085c"],
  ["overrides of direction", "\u202e\u2066drowssap\u2069\u202c \u200f\u061c"],
];
const HARMLESS = "abcdefgh";

// YAML in double quotes.
const quoted = (text) => JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029").replaceAll("\u0085", "\\u0085");
const kernel = (more) => `${more}\n__global__ void scale(int N, float* data) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) data[i] = 0.5f * data[i];\n}\n`;
const plan = (file, name, more = "") => `name: ${quoted(name)}\n${more}parameters: {N: length}\nlaunches: [{kernel: ${quoted(file)}, threads: N}]\n`;
const program = (more) => `${more}program:\n  - instructions: 24\n  - load: {access: coalesced, bytes: 4, sectors: 4}\n  - store: 100\n`;

// { file → text } of a source with `text` at the place; the first file is the input.
const PLACES = [
  ["a comment of the source", (text) => ({ "a.plan.yaml": plan("a.cu", "in_comment"), "a.cu": kernel(`// ${text.replaceAll("\\", "")}`) })],
  ["a string of the source", (text) => ({ "a.plan.yaml": plan("a.cu", "in_string"), "a.cu": kernel(`__device__ const char* words = ${JSON.stringify(text)};`) })],
  ["the name of a file", (text) => ({ "a.plan.yaml": plan(`${text}.cu`, "in_path"), [`${text}.cu`]: kernel("") })],
  ["the name of a plan", (text) => ({ "a.plan.yaml": plan("a.cu", `n${text}`), "a.cu": kernel("") })],
  ["the description of a plan", (text) => ({ "a.plan.yaml": plan("a.cu", "in_description", `description: ${quoted(text)}\n`), "a.cu": kernel("") })],
  ["the name of a kernel", (text) => ({ "a.plan.yaml": plan("a.yaml", "in_kernel"), "a.yaml": program(`kernel: ${quoted(text)}\nparameters: {N: ""}\n`) })],
  ["the description of a parameter", (text) => ({ "a.plan.yaml": plan("a.cu", "in_parameter").replace("{N: length}", `{N: ${quoted(text)}}`), "a.cu": kernel("") })],
  ["what a program assumes", (text) => ({ "a.plan.yaml": plan("a.yaml", "in_assumption"), "a.yaml": program(`assumptions:\n  - {line: 1, text: ${quoted(text)}}\nnot_modelled: [${quoted(text)}]\n`) })],
];

const folder = mkdtempSync(join(tmpdir(), "warptime-hostile-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const report = (words, output) => promisify(execFile)(warptime, ["report", ...words, "-o", output], { cwd: folder }).then(() => join(folder, output));

// A page of one source for each place.
function pageOf(name, text) {
  const inputs = PLACES.map(([, make], i) => {
    const files = make(text);
    const into = join(folder, name, String(i));
    for (const [file, content] of Object.entries(files)) {
      const path = join(into, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    return join(name, String(i), Object.keys(files)[0]);
  });
  return report([...inputs, "--gpu", "rtx-2080", "--model", "puchala", "--param", "N=2^10,2^12", "--title", `title ${text}`], `${name}.html`);
}

// Elements with their attributes' names, in order.
const skeleton = () => {
  const all = [];
  const walk = (element, depth) => {
    all.push(`${" ".repeat(depth)}${element.tagName} ${[...element.attributes].map((one) => one.name).sort().join(" ")}`);
    for (const child of element.children) walk(child, depth + 1);
  };
  walk(document.documentElement, 0);
  return all.join("\n");
};

// Once all is drawn: nothing has changed for some frames, and nothing waits to be drawn.
const still = (page) => page.evaluate(() => new Promise((done, failed) => {
  let quiet = 0, frames = 0;
  const observer = new MutationObserver(() => (quiet = 0));
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const frame = () => {
    if (++frames > 1200) return failed(new Error("the page does not come to rest"));
    // A task after the frame: its observers of sizes and of what is in view have run.
    setTimeout(() => (++quiet > 5 && document.body.dataset.settled === "true" ? (observer.disconnect(), done()) : requestAnimationFrame(frame)));
  };
  requestAnimationFrame(frame);
}));

async function looked(browser, file) {
  const { page, problems, close } = await openPage(browser, file);
  // All is drawn, in view or not.
  await page.evaluate(() => document.head.append(Object.assign(document.createElement("style"), { textContent: "main > section { content-visibility: visible !important; }" })));
  await still(page);
  // Every kernel is shown once, two at a time.
  const elements = [await page.evaluate(skeleton)];
  const shown = [];
  const picks = page.locator("#kernels select");
  const kernels = await picks.first().locator("option").count();
  for (let i = 0; i < kernels; i += 2) {
    await picks.first().selectOption(String(i));
    if (i + 1 < kernels) await picks.nth(1).selectOption(String(i + 1));
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    for (const one of await page.locator("#kernels .kernel").all()) {
      await one.locator(".lines").first().focus();
      await page.keyboard.press("Enter");
    }
    await still(page);
    elements.push(await page.evaluate(skeleton));
    shown.push(await page.evaluate(() => document.body.innerText + [...document.querySelectorAll("[title], [aria-label], option")].map((one) => one.getAttribute("title") + one.getAttribute("aria-label") + one.textContent).join("\n")));
  }
  const title = await page.title();
  await close();
  return { elements: elements.map((one) => one.split("\n")), problems, title, text: shown.join("\n") };
}

// Lines of 10 MB, and bytes that are no text.
const LONG = "<blink>x".repeat(1_250_000);
const launch = ["--threads", "N", "--gpu", "rtx-2080", "--param", "N=2^12"];
const longPages = [["a comment of 10 MB", kernel(`// ${LONG}`)], ["a string of 10 MB", kernel(`__device__ const char* words = "${LONG}";`)]].map(([name, content], i) => {
  writeFileSync(join(folder, `long${i}.cu`), content);
  return [name, report([`long${i}.cu`, ...launch], `long${i}.html`)];
});

// The next page is made while one is looked at.
const browser = await openBrowser();
let next = pageOf("hostile0", TEXTS[0][1]);
const plain = await looked(browser, await pageOf("plain", HARMLESS));
check("the harmless page has no problems", plain.problems.length === 0, plain.problems);
let sources = 0;
for (const [i, [name, text]] of TEXTS.entries()) {
  const made = await next;
  if (i + 1 < TEXTS.length) next = pageOf(`hostile${i + 1}`, TEXTS[i + 1][1]);
  const page = await looked(browser, made);
  sources += PLACES.length;
  check(`${name}: no script runs, nothing is asked for`, page.problems.length === 0 && page.title.startsWith("title "), [page.title, ...page.problems]);
  const different = page.elements.map((one, k) => one.findIndex((line, at) => line !== plain.elements[k][at])).findIndex((at) => at >= 0);
  const why = different < 0 ? "" : (() => {
    const at = page.elements[different].findIndex((line, n) => line !== plain.elements[different][n]);
    return `view ${different}: ${page.elements[different].slice(at - 2, at + 2).join(" / ")} instead of ${plain.elements[different].slice(at - 2, at + 2).join(" / ")}`;
  })();
  check(`${name}: the page has the same elements and attributes`, page.elements.length === plain.elements.length && different < 0 && page.elements.every((one, k) => one.length === plain.elements[k].length), why);
  check(`${name}: no character changes the direction of text or hides`, !/[\u200b-\u200f\u2028-\u202e\u2060-\u2069\u061c]/.test(page.text));
  const word = text.includes("<") ? text.slice(text.indexOf("<"), text.indexOf("<") + 8) : null;
  if (word) check(`${name}: it stands there as text`, page.text.includes(word));
}

for (const [name, made] of longPages) {
  const page = await looked(browser, await made);
  sources += 1;
  check(`${name}: no problems, and no such elements`, page.problems.length === 0 && !page.elements.flat().some((line) => line.trim().startsWith("BLINK")), page.problems);
}
writeFileSync(join(folder, "bytes.cu"), Buffer.concat([Buffer.from("// \xff\xfe\x80 \u0001\u0007 ", "latin1"), Buffer.from(kernel(""))]));
const bytes = await looked(browser, await report(["bytes.cu", ...launch], "bytes.html"));
sources += 1;
check("bytes that are no UTF-8: no problems", bytes.problems.length === 0, bytes.problems);
check(`at least 50 hostile sources: ${sources}`, sources >= 50);
await browser.close();
finish();
