// The report's data as the page asks for it: times at any point of the grid and between its points, crossovers, and why.

const lerp = (a, b, t) => a + (b - a) * t;

// The values of a parameter in order, each with where it stands in the columns.
class Axis {
  constructor(name, description, values) {
    this.name = name;
    this.description = description;
    this.count = values.length;
    const first = new Map();
    values.forEach((value, index) => first.has(value) || first.set(value, index));
    this.values = [...first.keys()].sort((a, b) => a - b);
    this.columns = this.values.map((value) => first.get(value));
  }
  // Neighbours of a value, and how far it is from the first to the second, in the logarithm.
  around(value) {
    const { values } = this;
    const clamped = Math.min(Math.max(value, values[0]), values[values.length - 1]);
    let high = values.findIndex((one) => one >= clamped);
    if (high < 0) high = values.length - 1;
    if (values[high] === clamped) return { low: high, high, share: 0, outside: clamped !== value };
    const [a, b] = [values[high - 1], values[high]];
    const share = a > 0 ? Math.log(clamped / a) / Math.log(b / a) : (clamped - a) / (b - a);
    return { low: high - 1, high, share, outside: clamped !== value };
  }
}

// Times on a grid of parameters, for each GPU.
class Grid {
  constructor(gpus, axes, time, parts) {
    Object.assign(this, { gpus, axes, time, parts });
    this.partKeys = Object.keys(parts);
  }
  index(gpu, columns) {
    let index = gpu;
    this.axes.forEach((axis, i) => (index = index * axis.count + columns[i]));
    return index;
  }
  // { us, parts, exact, between, outside, row } at these values: predicted at a point of the grid, else interpolated linearly in the
  // logarithms of values and times. parts: key → microseconds. row: the index, where it is exact.
  at(gpuName, values) {
    const gpu = this.gpus.indexOf(gpuName);
    if (gpu < 0) return null;
    const around = this.axes.map((axis) => axis.around(values.get(axis.name) ?? axis.values[axis.values.length - 1]));
    const between = [];
    let outside = false;
    around.forEach((one, i) => {
      const axis = this.axes[i];
      if (one.low !== one.high) between.push({ name: axis.name, low: axis.values[one.low], high: axis.values[one.high] });
      outside = outside || one.outside;
    });
    const corners = [{ columns: [], weight: 1 }];
    for (const [i, one] of around.entries()) {
      const { columns } = this.axes[i];
      const next = [];
      for (const corner of corners) {
        next.push({ columns: [...corner.columns, columns[one.low]], weight: corner.weight * (1 - one.share) });
        if (one.share > 0) next.push({ columns: [...corner.columns, columns[one.high]], weight: corner.weight * one.share });
      }
      corners.splice(0, corners.length, ...next);
    }
    let logarithm = 0;
    const shares = new Map(this.partKeys.map((key) => [key, 0]));
    let row = -1;
    for (const corner of corners) {
      row = this.index(gpu, corner.columns);
      const us = this.time[row];
      if (us === undefined || us === null) return null;
      logarithm += corner.weight * Math.log(Math.max(us, 1e-12));
      for (const key of this.partKeys)
        shares.set(key, shares.get(key) + (us > 0 ? (corner.weight * this.parts[key][row]) / us : 0));
    }
    const exact = between.length === 0;
    const us = exact ? this.time[row] : Math.exp(logarithm);
    const parts = new Map([...shares].map(([key, share]) => [key, exact ? this.parts[key][row] : share * us]));
    return { us, parts, exact: exact && !outside, between, outside, row: exact ? row : -1 };
  }
}

const INTERVAL = ["kernel_us", "low_us", "high_us"];

export class Method {
  constructor(data, number) {
    Object.assign(this, data);
    this.number = number;
    this.axes = data.parameters.map((one) => new Axis(one.name, one.description, one.values));
    this.grid = new Grid(data.gpus, this.axes, data.rows.time_us, data.rows.parts);
    this.sums = data.parts.filter((part) => part.kind !== "further");
    this.blockGrids = new Map();
    if (data.blocks) {
      const axes = data.blocks.parameters.map((one) => new Axis(one.name, one.description, one.values));
      for (const one of data.blocks.sizes)
        this.blockGrids.set(one.threads, new Grid(data.gpus, axes, one.time_us, one.parts));
    }
    this.hasInterval = data.interval && INTERVAL.every((key) => key in data.rows.parts);
  }
  // 0: blocks as launched. Null: nothing is known for it.
  at(gpu, values, block = 0) {
    const grid = block === 0 ? this.grid : this.blockGrids.get(block);
    const found = grid?.at(gpu, values);
    if (!found) return null;
    if (this.hasInterval) {
      const beside = found.us - found.parts.get("kernel_us");
      found.low = Math.max(0, beside + found.parts.get("low_us"));
      found.high = Math.max(found.low, beside + found.parts.get("high_us"));
    }
    return found;
  }
  // The part that takes most, with its share.
  bound(found) {
    let most = null;
    for (const part of this.sums) {
      const us = found.parts.get(part.key) ?? 0;
      if (!most || us > most.us) most = { part, us, share: us / found.us };
    }
    return most;
  }
  axis(name) {
    return this.axes.find((axis) => axis.name === name);
  }
  // What was explained or counted nearest to these values.
  nearest(list, gpu, values) {
    let best = null, distance = Infinity;
    for (const one of list) {
      if (one.gpu !== gpu) continue;
      let d = 0;
      for (const [name, value] of Object.entries(one.parameters))
        d += Math.abs(Math.log2(Math.max(value, 0.5)) - Math.log2(Math.max(values.get(name) ?? value, 0.5)));
      if (d < distance) (best = one), (distance = d);
    }
    return best && { ...best, same: distance === 0 };
  }
}

export class Report {
  constructor(data) {
    Object.assign(this, data);
    this.methods = data.methods.map((one, number) => new Method(one, number));
    this.kept = new Map();
    this.gpuNames = data.gpus.map((gpu) => gpu.name);
    // The parameters of all methods by name, with the values of all.
    this.parametersByName = new Map();
    for (const method of this.methods)
      for (const axis of method.axes) {
        const known = this.parametersByName.get(axis.name) ?? { name: axis.name, description: axis.description, values: [] };
        known.values = [...new Set([...known.values, ...axis.values])].sort((a, b) => a - b);
        this.parametersByName.set(axis.name, known);
      }
    // The size: the parameter with the most values, the last of several.
    this.size = null;
    for (const one of this.parametersByName.values())
      if (!this.size || one.values.length >= this.size.values.length) this.size = one;
  }
  gpu(name) {
    return this.gpus.find((one) => one.name === name);
  }
  // Combinations of the parameters but the size.
  combinations() {
    let all = [new Map()];
    for (const one of this.parametersByName.values()) {
      if (one === this.size) continue;
      all = all.flatMap((values) => one.values.map((value) => new Map(values).set(one.name, value)));
      if (all.length > 400) return all.slice(0, 400);
    }
    return all;
  }
  // Of one method over the size: [{ size, us, low, high, parts }]. The last ones are kept: the size alone changes none.
  series(method, gpu, values, block = 0) {
    const others = [...values].filter(([name]) => name !== this.size?.name);
    const key = JSON.stringify([method.number, gpu, block, others]);
    if (!this.kept.has(key)) {
      if (this.kept.size > 200) this.kept.clear();
      this.kept.set(key, this.newSeries(method, gpu, values, block));
    }
    return this.kept.get(key);
  }
  newSeries(method, gpu, values, block) {
    if (!this.size) {
      const found = method.at(gpu, values, block);
      return found ? [{ size: 1, ...found }] : [];
    }
    const sizes = method.axis(this.size.name)?.values ?? [];
    const points = [];
    for (const size of sizes) {
      const found = method.at(gpu, new Map(values).set(this.size.name, size), block);
      if (found) points.push({ size, ...found });
    }
    return points;
  }
  // Which method is the fastest from which size on: [{ method, from }], of one at least.
  fastest(gpu, values, block = 0) {
    const at = new Map(); // size → the fastest there
    for (const method of this.methods)
      for (const one of this.series(method, gpu, values, block))
        if (one.us > 0 && !(at.get(one.size)?.us <= one.us)) at.set(one.size, { method, us: one.us });
    const runs = [];
    for (const [size, { method }] of [...at].sort((a, b) => a[0] - b[0])) {
      const last = runs[runs.length - 1];
      if (last?.method === method) {
        last.to = size;
        continue;
      }
      const crossing = last && this.crossovers(gpu, values, last.method, method, block).find((one) => one.size > last.to && one.size <= size);
      runs.push({ method, from: crossing?.size ?? size, to: size });
    }
    return runs;
  }
  // Where the second method becomes the faster one or stops being it: [{ size, faster: number of the method from there on }].
  crossovers(gpu, values, first, second, block = 0) {
    const a = this.series(first, gpu, values, block);
    const b = new Map(this.series(second, gpu, values, block).map((one) => [one.size, one]));
    const found = [];
    let before = null;
    for (const one of a) {
      const other = b.get(one.size);
      if (!other || !(one.us > 0) || !(other.us > 0)) continue;
      const ratio = Math.log(one.us / other.us); // positive: the second is faster
      if (before && before.ratio !== 0 && Math.sign(ratio) !== Math.sign(before.ratio) && ratio !== 0) {
        const share = before.ratio / (before.ratio - ratio);
        const size = before.size > 0 ? Math.exp(lerp(Math.log(before.size), Math.log(one.size), share)) : lerp(before.size, one.size, share);
        found.push({ size, low: before.size, high: one.size, us: Math.exp(lerp(Math.log(before.us), Math.log(one.us), share)),
          faster: ratio > 0 ? second : first });
      }
      if (ratio !== 0) before = { size: one.size, us: one.us, ratio };
    }
    return found;
  }
}
