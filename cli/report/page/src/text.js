// Numbers and sizes for people.

export function time(us) {
  if (!Number.isFinite(us)) return "–";
  const [value, unit] = us < 1 ? [us * 1e3, "ns"] : us < 1e3 ? [us, "µs"] : us < 1e6 ? [us / 1e3, "ms"] : [us / 1e6, "s"];
  return `${digits(value, 4)} ${unit}`;
}

export function digits(value, most) {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return "–";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size >= most || size < -3) return size >= 15 || size < -3 ? value.toExponential(most - 1) : count(Math.round(value));
  return value.toFixed(Math.max(0, most - 1 - size));
}

export const count = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });
export const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)}%` : "–");

export function bytes(value) {
  let unit = 0;
  while (value >= 1024 && unit < 4) (value /= 1024), ++unit;
  return `${unit === 0 ? Math.round(value) : digits(value, 3)} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}

// 2^16 where it is such a power and no small number.
export function size(value) {
  const power = Math.log2(value);
  return value >= 64 && Number.isInteger(power) ? `2^${power}` : Number.isInteger(value) ? count(value) : digits(value, 4);
}

// "3.1 times"
export const times = (ratio) => `${digits(ratio, 3)} times`;

// "25-26,31" → [25, 26, 31]
export function lines(text) {
  const all = [];
  for (const part of (text ?? "").toString().split(",")) {
    const [first, last] = part.split("-").map((one) => parseInt(one, 10));
    if (!Number.isFinite(first)) continue;
    for (let line = first; line <= (Number.isFinite(last) ? Math.min(last, first + 100000) : first); ++line) all.push(line);
  }
  return all;
}
