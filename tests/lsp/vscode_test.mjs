// The extension for Visual Studio Code, as it is packed, in Node: its main module meets a stand-in of the editor's interface, starts
// the real server, and gives the editor lenses, hovers and findings. Visual Studio Code itself is not needed.
//
//   node vscode_test.mjs WARPTIME
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { check, finish } from "../report/check.mjs";

const warptime = process.argv[2];
const extension = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "editors", "vscode");
if (!existsSync(join(extension, "node_modules", "vscode-languageclient"))) {
  console.log("skipped: no npm packages; npm ci in editors/vscode installs them");
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "warptime-vscode-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const { contributes, main, scripts } = createRequire(import.meta.url)(join(extension, "package.json"));

// --- the stand-in ---

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end, line, character) { Object.assign(this, end instanceof Position ? { start, end } : { start: new Position(start, end), end: new Position(line, character) }); } }
class Disposable { constructor(act) { this.act = act; } dispose() { this.act?.(); } }
class EventEmitter {
  heard = new Set();
  event = (act, of) => { const one = of ? act.bind(of) : act; this.heard.add(one); return new Disposable(() => this.heard.delete(one)); };
  fire(what) { for (const one of [...this.heard]) one(what); }
  dispose() { this.heard.clear(); }
}
class CancellationTokenSource { token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event }; cancel() {} dispose() {} }
class Uri {
  constructor(text) { this.text = text; Object.assign(this, { scheme: new URL(text).protocol.slice(0, -1), path: decodeURIComponent(new URL(text).pathname), authority: "" }); this.fsPath = this.path; }
  static parse(text) { return new Uri(text); }
  static file(path) { return new Uri(pathToFileURL(path).href); }
  toString() { return this.text; }
}
const data = (...names) => class { constructor(...values) { names.forEach((name, i) => (this[name] = values[i])); } };
const providers = { lens: [], hover: [] }, collections = [], messages = [], events = new Map();
const settings = { path: warptime, gpu: "h200", options: "--param N=2^20" };
const event = (name) => events.get(name) ?? events.set(name, new EventEmitter()).get(name);
// What is asked for and not there: an event, a class, or something to dispose of.
const standIn = (name, known) => new Proxy(known, {
  get: (of, key) => {
    if (key in of || typeof key !== "string" || key === "then") return of[key];
    if (/^on(Did|Will)/.test(key)) return event(`${name}.${key}`).event;
    if (/^[A-Z]/.test(key)) return (of[key] = class {});
    return (of[key] = () => new Disposable());
  },
});
const documents = [];
const vscode = standIn("vscode", {
  version: "1.75.0", Position, Range, Disposable, EventEmitter, CancellationTokenSource, Uri,
  Diagnostic: data("range", "message", "severity"), CodeLens: data("range", "command"), Hover: data("contents", "range"), MarkdownString: data("value"), Location: data("uri", "range"),
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 }, DiagnosticTag: {}, CompletionItemKind: {}, SymbolKind: {}, CodeActionKind: standIn("kind", { Empty: { append: () => ({}) } }), CancellationError: Error,
  env: standIn("env", { language: "en", appName: "stand-in" }), extensions: standIn("extensions", {}), commands: standIn("commands", { registerCommand: () => new Disposable(), executeCommand: async () => undefined }), l10n: { t: (text) => text },
  workspace: standIn("workspace", {
    textDocuments: documents, notebookDocuments: [], workspaceFolders: [{ uri: Uri.file(folder), name: "folder", index: 0 }], rootPath: folder,
    getConfiguration: (section) => ({ get: (key, otherwise) => (section === "warptime" && key in settings ? settings[key] : otherwise), has: () => false }),
    getWorkspaceFolder: () => undefined, createFileSystemWatcher: () => ({ onDidCreate: event("c").event, onDidChange: event("d").event, onDidDelete: event("e").event, dispose() {} }),
  }),
  window: standIn("window", {
    visibleTextEditors: [], activeTextEditor: undefined, tabGroups: standIn("tabs", { all: [] }),
    createOutputChannel: () => ({ append() {}, appendLine() {}, clear() {}, show() {}, dispose() {} }),
    showErrorMessage: async (text) => void messages.push(text), showWarningMessage: async (text) => void messages.push(text), showInformationMessage: async () => undefined,
  }),
  languages: standIn("languages", {
    match: (selector, document) => (document.languageId === "cuda-cpp" && JSON.stringify(selector).includes("cuda-cpp") ? 10 : 0),
    registerCodeLensProvider: (_, one) => (providers.lens.push(one), new Disposable()), registerHoverProvider: (_, one) => (providers.hover.push(one), new Disposable()),
    createDiagnosticCollection: () => {
      const all = new Map();
      collections.push(all);
      return { set: (uri, found) => all.set(String(uri), found), get: (uri) => all.get(String(uri)), delete: (uri) => all.delete(String(uri)), has: (uri) => all.has(String(uri)), clear: () => all.clear(), dispose() {} };
    },
  }),
});

// --- the extension, as `npm run package` packs it ---

const bundle = join(folder, "extension.js");
execFileSync(join(extension, "node_modules", ".bin", "esbuild"), [...scripts.build.split(" ").slice(1).filter((word) => !word.startsWith("--outfile")), `--outfile=${bundle}`, "--log-level=error"], { cwd: extension });
check("the manifest starts what is built", scripts.build.includes(`--outfile=${main.replace("./", "")}`));
const load = Module._load;
Module._load = (name, ...more) => (name === "vscode" ? vscode : load(name, ...more));
const { activate, deactivate } = createRequire(import.meta.url)(bundle);

const SOURCE = `__global__ void strided(int N, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
#pragma unroll 1
    for (int k = 0; k < 16; ++k)
        v += x[32 * (i + k * N)];
    y[i] = v;
}
`;
writeFileSync(join(folder, "k.cu"), SOURCE);
const document = { uri: Uri.file(join(folder, "k.cu")), languageId: "cuda-cpp", version: 1, isClosed: false, isDirty: false, fileName: join(folder, "k.cu"), lineCount: 10, getText: () => SOURCE };
documents.push(document);
const until = async (what, found, patience = 30000) => {
  for (const begin = Date.now(); Date.now() - begin < patience; await new Promise((done) => setTimeout(done, 50))) {
    const one = await found();
    if (one) return one;
  }
  check(what, false, `not within ${patience / 1000} s; ${messages}`);
  return null;
};

const context = { subscriptions: [] };
await activate(context);
check("the extension starts the server", messages.length === 0 && providers.lens.length > 0 && providers.hover.length > 0, messages);
const token = new CancellationTokenSource().token;
const lenses = async () => (await Promise.all(providers.lens.map((one) => one.provideCodeLenses(document, token)))).flat().filter(Boolean).map((one) => one.command?.title ?? "");
const loop = await until("a lens above a loop", async () => (await lenses()).find((title) => / iterations; \d+% of strided on h200$/.test(title)));
check(`… says what it costs: ${loop}`, /^\d+ instructions, 1 load, (15|16) iterations; \d+% of strided on h200$/.test(loop ?? ""), loop);
check("… and one above the kernel", (await lenses()).some((title) => /^strided: [\d.]+ .s on h200/.test(title)), await lenses());
const finding = await until("a finding", () => collections.flatMap((all) => all.get(String(document.uri)) ?? []).find((one) => /^uncoalesced access: /.test(one.message)));
check("… at its line, with its gain", finding?.range.start.line === 6 && /% less \(of /.test(finding.message), finding);
const hover = await until("a hover", async () => (await Promise.all(providers.hover.map((one) => one.provideHover(document, new Position(6, 12), token)))).find(Boolean));
check("… of the periods of a line", JSON.stringify(hover?.contents).includes("load: strided"), hover?.contents);

settings.gpu = "a100";
event("workspace.onDidChangeConfiguration").fire({ affectsConfiguration: (section) => section === "warptime" });
check("a changed setting counts at once", (await until("lenses on the a100", async () => (await lenses()).some((title) => title.includes("on a100")))) === true);
check("every setting is in the manifest", Object.keys(settings).every((name) => `warptime.${name}` in contributes.configuration.properties));
await deactivate();
check("nothing was complained of", messages.length === 0, messages);

settings.path = join(folder, "nothing");
await activate({ subscriptions: [] });
check("a command that is not there is told, with the remedy", messages.some((text) => /lsp does not start: [^]*Set warptime\.path/.test(text)), messages);
finish();
