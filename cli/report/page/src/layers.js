// Where the blocks and edges of a control-flow graph are drawn: in layers, from the entry down, after Sugiyama. Edges that lead back
// go up beside the blocks.

const GAP_X = 26, GAP_Y = 36, LANE = 14, SWEEPS = 12, MOST_POINTS = 12000;

// Edges that lead back to a node that is being walked through, found from the entry; the nodes in reverse postorder, those that the
// entry does not reach last; and in topological order, in which those come first.
function walked(count, successors) {
  const state = new Uint8Array(count), back = new Set(), parts = [];
  for (let root = 0; root < count; ++root) {
    if (state[root] !== 0) continue;
    const part = [], stack = [[root, 0]];
    state[root] = 1;
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const [node, next] = top;
      if (next === successors[node].length) {
        state[node] = 2;
        part.push(node);
        stack.pop();
        continue;
      }
      ++top[1];
      const to = successors[node][next];
      if (state[to] === 1) back.add(`${node} ${to}`);
      else if (state[to] === 0) (state[to] = 1), stack.push([to, 0]);
    }
    parts.push(part.reverse());
  }
  return { back, order: parts.flat(), topological: parts.reverse().flat() };
}

// The least sum of weighted squares of the distances from `wanted`, in this order and at least this far from each other.
function spaced(wanted, weights, distances) {
  const pools = [];
  let offset = 0;
  const offsets = wanted.map((_, i) => (i === 0 ? 0 : (offset += distances[i - 1])));
  wanted.forEach((one, i) => {
    let pool = { sum: weights[i] * (one - offsets[i]), weight: weights[i], count: 1 };
    while (pools.length > 0 && pools[pools.length - 1].sum / pools[pools.length - 1].weight > pool.sum / pool.weight) {
      const before = pools.pop();
      pool = { sum: before.sum + pool.sum, weight: before.weight + pool.weight, count: before.count + pool.count };
    }
    pools.push(pool);
  });
  const all = [];
  for (const pool of pools) for (let i = 0; i < pool.count; ++i) all.push(pool.sum / pool.weight + offsets[all.length]);
  return all;
}

// sizes: { width, height } of each node; the entry is the first. successors: of each node, by their indices.
// { width, height, nodes: [{ x, y, layer }] (their centres), edges: [{ from, to, back, path }] }, or null: too much to draw.
export function layered(sizes, successors) {
  const count = sizes.length;
  const targets = successors.map((all) => [...new Set(all)]);
  const { back, order, topological } = walked(count, targets);
  const layer = new Int32Array(count);
  for (const node of topological) for (const to of targets[node]) if (to !== node && !back.has(`${node} ${to}`)) layer[to] = Math.max(layer[to], layer[node] + 1);

  // Points: the nodes, then one for each layer that an edge crosses or leads back along.
  const points = sizes.map((size, i) => ({ width: size.width + (targets[i].includes(i) ? 2 * LANE : 0), layer: layer[i], up: [], down: [], beside: [] }));
  const edges = [];
  const point = (at) => points.push({ width: LANE, layer: at, up: [], down: [], beside: [] }) - 1;
  const link = (above, below) => (points[above].down.push(below), points[below].up.push(above));
  for (const from of order)
    for (const to of targets[from]) {
      const isBack = back.has(`${from} ${to}`) || from === to;
      const edge = { from, to, back: isBack, through: [] };
      edges.push(edge);
      if (from === to) continue;
      if (!isBack) {
        let last = from;
        for (let at = layer[from] + 1; at < layer[to]; ++at) edge.through.push(point(at)), link(last, edge.through[edge.through.length - 1]), (last = edge.through[edge.through.length - 1]);
        link(last, to);
      } else {
        for (let at = layer[from]; at >= layer[to]; --at) edge.through.push(point(at));
        for (let i = 1; i < edge.through.length; ++i) link(edge.through[i], edge.through[i - 1]);
        points[edge.through[0]].beside.push(from);
        points[edge.through[edge.through.length - 1]].beside.push(to);
      }
      if (points.length > MOST_POINTS) return null;
    }

  const layers = [];
  const place = (one) => (layers[points[one].layer] ??= []).push(one);
  const placed = new Set();
  for (const node of order) {
    place(node);
    for (const edge of edges) if (edge.from === node) for (const one of edge.through) if (!placed.has(one)) placed.add(one), place(one);
  }
  const position = new Float64Array(points.length);
  const number = () => layers.forEach((all) => all.forEach((one, i) => (position[one] = i)));
  number();
  const centre = (one, near) => {
    const { beside } = points[one];
    let sum = 0, many = 0;
    for (const other of near) (sum += position[other]), ++many;
    for (const other of beside) (sum += position[other] + 0.6), ++many;
    return many === 0 ? position[one] : sum / many;
  };
  for (let sweep = 0; sweep < SWEEPS; ++sweep) {
    const down = sweep % 2 === 0;
    for (let i = 0; i < layers.length; ++i) {
      const all = layers[down ? i : layers.length - 1 - i];
      const wanted = new Map(all.map((one) => [one, centre(one, down ? points[one].up : points[one].down)]));
      all.sort((a, b) => wanted.get(a) - wanted.get(b) || position[a] - position[b]);
      all.forEach((one, at) => (position[one] = at));
    }
  }

  const x = new Float64Array(points.length);
  for (const all of layers) {
    let at = 0;
    for (const one of all) (x[one] = at + points[one].width / 2), (at += points[one].width + GAP_X);
  }
  for (let sweep = 0; sweep < SWEEPS; ++sweep) {
    const down = sweep % 2 === 0;
    for (let i = 0; i < layers.length; ++i) {
      const all = layers[down ? i : layers.length - 1 - i];
      const wanted = all.map((one) => {
        const near = down ? points[one].up : points[one].down;
        if (near.length > 0) return near.reduce((sum, other) => sum + x[other], 0) / near.length;
        const [beside] = points[one].beside;
        return beside === undefined ? x[one] : x[beside] + (points[beside].width + LANE) / 2 + GAP_X;
      });
      const distances = all.slice(1).map((one, at) => (points[one].width + points[all[at]].width) / 2 + (one < count || all[at] < count ? GAP_X : 6));
      spaced(wanted, all.map((one) => (one < count ? 1 : 3)), distances).forEach((to, at) => (x[all[at]] = to));
    }
  }
  let left = Infinity, right = -Infinity;
  points.forEach((one, i) => ((left = Math.min(left, x[i] - one.width / 2)), (right = Math.max(right, x[i] + one.width / 2))));
  for (let i = 0; i < points.length; ++i) x[i] += 12 - left;

  const tops = [], heights = layers.map((all) => Math.max(...all.map((one) => sizes[one]?.height ?? 0)));
  let bottom = 12;
  heights.forEach((height) => (tops.push(bottom), (bottom += height + GAP_Y)));
  const nodes = sizes.map((_, i) => ({ x: x[i], y: tops[layer[i]] + heights[layer[i]] / 2, layer: layer[i] }));

  // Where edges leave and enter: side by side, in the order of where they lead.
  const forward = edges.filter((edge) => !edge.back);
  const ports = (key, other, toward) => {
    const of = new Map();
    for (const edge of forward) (of.get(edge[key]) ?? of.set(edge[key], []).get(edge[key])).push(edge);
    for (const [node, all] of of) {
      all.sort((a, b) => x[toward(a)] - x[toward(b)]);
      const step = Math.min(22, (sizes[node].width - 24) / Math.max(1, all.length - 1));
      all.forEach((edge, i) => (edge[other] = x[node] + (i - (all.length - 1) / 2) * step));
    }
  };
  ports("from", "leaves", (edge) => edge.through[0] ?? edge.to);
  ports("to", "enters", (edge) => edge.through[edge.through.length - 1] ?? edge.from);
  const r = (value) => Math.round(10 * value) / 10;
  const curve = (x1, y1, x2, y2) => `C${r(x1)} ${r((y1 + y2) / 2)} ${r(x2)} ${r((y1 + y2) / 2)} ${r(x2)} ${r(y2)}`;
  for (const edge of edges) {
    const [a, b] = [nodes[edge.from], nodes[edge.to]];
    if (edge.from === edge.to) {
      const side = a.x + sizes[edge.from].width / 2;
      edge.path = `M${r(side)} ${r(a.y + 9)}C${r(side + 30)} ${r(a.y + 16)} ${r(side + 30)} ${r(a.y - 16)} ${r(side + 2)} ${r(a.y - 9)}`;
    } else if (!edge.back) {
      let [atX, atY] = [edge.leaves, a.y + sizes[edge.from].height / 2];
      edge.path = `M${r(atX)} ${r(atY)}`;
      for (const one of edge.through) {
        const top = tops[points[one].layer], height = heights[points[one].layer];
        edge.path += curve(atX, atY, x[one], top) + (height > 0 ? `V${r(top + height)}` : "");
        [atX, atY] = [x[one], top + height];
      }
      edge.path += curve(atX, atY, edge.enters, b.y - sizes[edge.to].height / 2 - 2);
    } else {
      const [first, last] = [edge.through[0], edge.through[edge.through.length - 1]];
      const out = x[first] > a.x ? 1 : -1, into = x[last] > b.x ? 1 : -1;
      edge.path = `M${r(a.x + (out * sizes[edge.from].width) / 2)} ${r(a.y + 6)}Q${r(x[first])} ${r(a.y + 6)} ${r(x[first])} ${r(a.y - 10)}`;
      let [atX, atY] = [x[first], a.y - 10];
      edge.through.slice(1, -1).forEach((one) => {
        const top = tops[points[one].layer], height = heights[points[one].layer];
        edge.path += curve(atX, atY, x[one], top + height) + `V${r(top)}`;
        [atX, atY] = [x[one], top];
      });
      edge.path += `${curve(atX, atY, x[last], b.y + 10)}Q${r(x[last])} ${r(b.y - 6)} ${r(b.x + into * (sizes[edge.to].width / 2 + 2))} ${r(b.y - 6)}`;
    }
  }
  return { width: Math.ceil(right - left + 24), height: Math.ceil(bottom - GAP_Y + 12), nodes, layers: layers.map((all) => all.filter((one) => one < count)), edges: edges.map(({ from, to, back: isBack, path }) => ({ from, to, back: isBack, path })) };
}
