// Makes bundle/report.html of src/: one file with its script and style, and a place for the data. bundle/watch.html is what a page
// of --watch has beside: for the policy, and, from the second line on, for the head.
//
//   node build.mjs           writes them
//   node build.mjs --check   says whether they are what src/ gives, and exits with 1 if they are not
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

const common = { absWorkingDir: here, bundle: true, minify: true, write: false, charset: "ascii", legalComments: "none" };
const script = await build({ ...common, entryPoints: ["src/main.js"], format: "iife", target: "es2021", metafile: true });
const style = await build({ ...common, entryPoints: ["src/style.css"] });
const probe = await build({ ...common, entryPoints: ["src/probe.js"], format: "iife", target: "es2021" });

// The packages that the script contains, each with its licence.
function packages(metafile) {
  const names = new Set();
  for (const file of Object.keys(metafile.inputs)) {
    const parts = file.split(/[\\/]/);
    const at = parts.lastIndexOf("node_modules");
    if (at >= 0) names.add(parts[at + 1].startsWith("@") ? `${parts[at + 1]}/${parts[at + 2]}` : parts[at + 1]);
  }
  return [...names].sort();
}

function licences(metafile) {
  const byText = new Map();
  for (const name of packages(metafile)) {
    const folder = join(here, "node_modules", ...name.split("/"));
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = ["LICENSE", "LICENSE.md", "license", "LICENSE.txt"].map((one) => join(folder, one)).find(existsSync);
    const text = file ? readFileSync(file, "utf8").trim().replaceAll("\r\n", "\n") : String(license);
    if (!byText.has(text)) byText.set(text, []);
    byText.get(text).push(`${name} ${version} (${license})`);
  }
  let all = "The script of this page contains these packages, under their licences.\n";
  for (const [text, names] of byText) all += `\n${names.join("\n")}\n\n${text}\n`;
  return all.replaceAll("--", "- -").replaceAll(/[^\n\x20-\x7e]/g, "?");
}

const code = script.outputFiles[0].text.trim();
const probing = probe.outputFiles[0].text.trim();
const css = style.outputFiles[0].text.trim();
if ([code, probing].some((one) => /<\/script|<!--/i.test(one)) || /<\/style/i.test(css)) throw new Error("the bundle would end its own element");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
// Styles: the charts set some of their own. Nothing else may be loaded, sent or framed. Scripts come last: --watch adds its own.
const policy = `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src ${hash(code)}`;
const page = readFileSync(join(here, "src", "page.html"), "utf8")
  .replace("@LICENCES@", () => licences(script.metafile))
  .replace("@POLICY@", () => policy)
  .replace("@STYLE@", () => css)
  .replace("@SCRIPT@", () => code);
const watch = ` ${hash(probing)}; frame-src 'self' file:\n<script>${probing}</script>`;

for (const [name, text] of [["report.html", page], ["watch.html", watch]]) {
  const target = join(here, "bundle", name);
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    console.log(`${target}: ${text.length} bytes`);
  } else if (!existsSync(target) || readFileSync(target, "utf8") !== text) {
    console.error(`${target.split(sep).slice(-5).join("/")} is not what its sources give: run npm run build in cli/report/page`);
    process.exitCode = 1;
  }
}
