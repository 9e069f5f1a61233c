// Queries of computational geometry: n points and n rays against small sets of shapes, and a scalar grid.
#include "device.h"

__device__ float3 cross(float3 a, float3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// The nearest triangle that each ray meets, with 64 triangles (corner, edge, edge) at a time in a tile.
__global__ void rays_triangles(const float3* rays, const float3* triangles, int* hits, int count, int n) {
  __shared__ float3 tile[192];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float3 origin = rays[2 * min(i, n - 1)], d = rays[2 * min(i, n - 1) + 1];
  float nearest = 1e30f;
  int hit = -1;
  for (int start = 0; start < count; start += 64) {
    __syncthreads();
    tile[threadIdx.x] = triangles[3 * start + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      const float3 a = tile[3 * k], ab = tile[3 * k + 1], ac = tile[3 * k + 2], p = cross(d, ac);
      const float3 s = {origin.x - a.x, origin.y - a.y, origin.z - a.z};
      const float det = dot(ab, p), u = dot(s, p) / det;
      if (!(u >= 0 && u <= 1)) continue;
      const float3 q = cross(s, ab);
      const float v = dot(d, q) / det, far = dot(ac, q) / det;
      if (v >= 0 && u + v <= 1 && far > 0 && far < nearest) nearest = far, hit = start + k;
    }
  }
  if (i < n) hits[i] = hit;
}

// A bit for each of 64 boxes that a ray passes through: the test of slabs, an axis after the other.
__global__ void rays_boxes(const float* rays, const float* boxes, unsigned long long* masks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long mask = 0;
  for (int k = 0; k < 64; ++k) {
    float enter = 0, leave = 1e30f;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const float low = __fdividef(boxes[6 * k + a] - rays[6 * i + a], rays[6 * i + 3 + a]);
      const float high = low + __fdividef(boxes[6 * k + 3 + a], rays[6 * i + 3 + a]);
      enter = fmaxf(enter, fminf(low, high));
      leave = fminf(leave, fmaxf(low, high));
    }
    mask |= (unsigned long long)(enter <= leave) << k;
  }
  masks[i] = mask;
}

// Whether points are in a polygon: the parity of the edges to their right, in double precision.
__global__ void in_polygon(const double2* points, const double2* polygon, unsigned char* inside, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double2 p = points[i];
  bool odd = false;
  for (int k = 0; k < 160; ++k) {
    const double2 a = polygon[k], b = polygon[k + 1];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) odd = !odd;
  }
  inside[i] = odd;
}

// The nearest node of a k-d tree, which lies in its array as a heap does. The stack is private.
__global__ void search(const float3* __restrict__ tree, const float3* points, int* out, int nodes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 q = points[i];
  int stack[20], top = 0, node = 0, which = 0;
  float limits[20], best = 1e30f;
  do {
    while (node < nodes) {
      const float3 p = tree[node];
      const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z, square = dx * dx + dy * dy + dz * dz;
      if (square < best) best = square, which = node;
      const int axis = (31 - __clz(node + 1)) % 3;
      const float side = axis == 0 ? dx : axis == 1 ? dy : dz;
      if (side * side < best) stack[top] = 2 * node + (side < 0 ? 2 : 1), limits[top++] = side * side;
      node = 2 * node + (side < 0 ? 1 : 2);
    }
    while (top > 0 && limits[top - 1] >= best) --top;
    node = top > 0 ? stack[--top] : -1;
  } while (node >= 0);
  out[i] = which;
}

// The cases of marching cubes for the cells of a grid, and the number of edges that the surface cuts.
__global__ void classify(const float* __restrict__ values, const unsigned short* __restrict__ edges,
                         unsigned char* cases, unsigned* total, float level, int side) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  const int z = blockIdx.z * 2 + threadIdx.z;
  unsigned cuts = 0;
  if (x < side - 1 && y < side - 1 && z < side - 1) {
    int kind = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int at = ((z + (k >> 2)) * side + y + (k >> 1 & 1)) * side + x + (k & 1);
      kind |= (values[at] < level) << k;
    }
    cases[(z * side + y) * side + x] = kind;
    cuts = __popc(edges[kind]);
  }
  cuts = __reduce_add_sync(0xffffffff, cuts);
  if (threadIdx.x == 0 && cuts > 0) atomicAdd(total, cuts);
}

// Rotation by unit quaternions: each turns 24 points, and blocks of 96 threads turn 96 points.
__global__ void rotate(const float4* __restrict__ turns, const float3* points, float3* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 turn = turns[i / 24];
  const float scale = rsqrtf(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z + turn.w * turn.w);
  const float3 p = points[i], axis = {turn.x * scale, turn.y * scale, turn.z * scale};
  const float3 once = cross(axis, p), twice = cross(axis, once);
  const float w = 2 * turn.w * scale;
  out[i] = {p.x + w * once.x + 2 * twice.x, p.y + w * once.y + 2 * twice.y, p.z + w * once.z + 2 * twice.z};
}

// Insertion in the lists of a grid of voxels.
__global__ void insert(const float3* points, int* heads, unsigned* counts, int* next, int cells, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 p = points[i];
  const int voxel = ((int)(p.z * cells) * cells + (int)(p.y * cells)) * cells + (int)(p.x * cells);
  next[i] = atomicExch(&heads[voxel], i);
  atomicAdd(&counts[voxel], 1u);
}

// The extreme point of the cloud in each of 26 directions: the key has the order of the floats and the index.
__global__ void extremes(const float3* points, unsigned long long* keys, int n) {
  const float angle = 2.3999632f * blockIdx.y, z = blockIdx.y / 12.5f - 1, flat = sqrtf(fmaxf(0, 1 - z * z));
  const float3 direction = {flat * cosf(angle), flat * sinf(angle), z};
  unsigned long long best = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bits = __float_as_int(dot(points[i], direction));
    const unsigned order = bits < 0 ? ~bits : bits | 0x80000000u;
    best = max(best, (unsigned long long)order << 32 | (unsigned)i);
  }
  for (int d = 16; d > 0; d /= 2) best = max(best, __shfl_xor_sync(0xffffffff, best, d));
  if (threadIdx.x % 32 == 0) atomicMax(&keys[blockIdx.y], best);
}

// A node of the tree. Each level halves its cells along the next axis, and the node is on the plane between.
float3 tree_node(int node) {
  float low[3] = {0, 0, 0}, size[3] = {1, 1, 1};
  int depth = 0, axis = 0;
  while (node + 1 >> (depth + 1)) ++depth;
  for (int bit = depth - 1; bit >= 0; --bit, axis = (axis + 1) % 3) {
    size[axis] /= 2;
    low[axis] += size[axis] * (node + 1 >> bit & 1);
  }
  for (int a = 0; a < 3; ++a) low[a] += size[a] * (a == axis ? 0.5f : hashed_unit(3 * node + a));
  return make_float3(low[0], low[1], low[2]);
}

void run(int n) {
  int levels = 8, side = 16;
  while (levels < 18 && (2 << levels) <= n) ++levels;
  while ((side + 8) * (side + 8) * (side + 8) <= 4 * n) side += 8;
  const int nodes = (1 << levels) - 1, blocks = ceil_div(n, 128), cells = 64 * 64 * 64;
  float* rays = device_array<float>(6 * n, hashed_unit);
  float* shapes = device_array<float>(256 * 9, hashed_unit);
  float3 *points = (float3*)rays, *tree = device_array<float3>(nodes, tree_node);
  float4* turns = (float4*)device_floats(4 * ceil_div(n, 24));
  double* flat = device_array<double>(2 * n, [](int i) { return 2 * hashed_unit(i + 77) - 1; });
  double2* polygon = device_array<double2>(161, [](int k) {
    const double angle = k % 160 * 0.03926990817, radius = 0.5 + 0.4 * hashed_unit(k % 160);
    return make_double2(radius * cos(angle), radius * sin(angle));
  });
  float* values = device_floats(side * side * side);
  unsigned short* edges = device_array<unsigned short>(256, [](int kind) {
    int cut = 0, edge = 0;
    for (int a = 0; a < 8; ++a)
      for (int b = 1; b < 8; b *= 2)
        if (!(a & b)) cut |= ((kind >> a ^ kind >> (a | b)) & 1) << edge++;
    return cut;
  });
  unsigned char* kinds = device_zeros<unsigned char>(side * side * side);
  unsigned* counts = device_zeros<unsigned>(2 * cells);
  float3* out = device_zeros<float3>(n);
  unsigned long long* keys = device_zeros<unsigned long long>(26);
  const dim3 block(32, 4, 2), grid(ceil_div(side, 32), ceil_div(side, 4), ceil_div(side, 2));
  for (int r = 0; r < kLaunches; ++r)
    rays_triangles<<<ceil_div(n, 192), 192>>>(points, (float3*)shapes, (int*)out, 256, n);
  for (int r = 0; r < kLaunches; ++r) rays_boxes<<<blocks, 128>>>(rays, shapes, (unsigned long long*)out, n);
  for (int r = 0; r < kLaunches; ++r) in_polygon<<<blocks, 128>>>((double2*)flat, polygon, kinds, n);
  for (int r = 0; r < kLaunches; ++r) search<<<ceil_div(n, 256), 64>>>(tree, points, (int*)out, nodes, n / 4);
  for (int r = 0; r < kLaunches; ++r) classify<<<grid, block>>>(values, edges, kinds, counts, 0.5f, side);
  for (int r = 0; r < kLaunches; ++r) rotate<<<ceil_div(n, 96), 96>>>(turns, points, out, n);
  for (int r = 0; r < kLaunches; ++r)
    insert<<<ceil_div(n, 1024), 1024>>>(points, (int*)counts + cells, counts, (int*)out, 64, n);
  for (int r = 0; r < kLaunches; ++r) extremes<<<dim3(66, 26), 256>>>(points, keys, n);
  free_all(rays, shapes, tree, turns, flat, polygon, values, edges, kinds, counts, out, keys);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("geometry_queries");
}
