// What a test says: a line for each thing that holds or does not.
let failures = 0;

export function check(what, holds, found) {
  if (holds) return console.log(`ok: ${what}`);
  ++failures;
  console.log(`FAILED: ${what}${found === undefined ? "" : `: ${typeof found === "string" ? found : JSON.stringify(found)}`}`.slice(0, 2000));
}

export function finish() {
  console.log(failures === 0 ? "all hold" : `${failures} failed`);
  process.exit(failures === 0 ? 0 : 1);
}
