// Solvers on a grid of n x n x n cells, on a mesh and for bodies, and rays through the grid.
#include "device.h"

constexpr int kSystem = 128;  // unknowns of each small system
constexpr int kBlock = 128;   // bodies of a tile
constexpr int kEntries = 7;   // of a row of the sparse matrix

struct Weights {
  double none, one, two, three;  // by the steps to a point
};

// Gauss-Seidel for the cells of one colour. The threads of a line are two cells apart.
__global__ void relax_colour(float* u, const float* f, int colour, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z;
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + z + colour) & 1);
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const int at = (z * n + y) * n + x;
  const float around = u[at - 1] + u[at + 1] + u[at - n] + u[at + n] + u[at - n * n] + u[at + n * n];
  u[at] = (around - f[at]) / 6.0f;
}

// Jacobi in double precision with 7 or 27 points.
template <int kPoints>
__global__ void jacobi(const double* __restrict__ u, double* __restrict__ next, Weights weights, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
  if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return;
  const double* here = u + (z * n + y) * n + x;
  double sum = weights.none * here[0];
  if constexpr (kPoints == 7) {
    sum += weights.one * (here[-1] + here[1] + here[-n] + here[n] + here[-n * n] + here[n * n]);
  } else {
    double faces = 0, edges = 0, corners = 0;
#pragma unroll
    for (int dz = -1; dz <= 1; ++dz) {
#pragma unroll
      for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) {
          const int steps = dx * dx + dy * dy + dz * dz;
          if (steps == 0) continue;
          const double v = here[(dz * n + dy) * n + dx];
          if (steps == 1) faces += v;
          if (steps == 2) edges += v;
          if (steps == 3) corners += v;
        }
      }
    }
    sum += weights.one * faces + weights.two * edges + weights.three * corners;
  }
  next[(z * n + y) * n + x] = sum;
}

// Sparse matrix with kEntries for each row by a vector, and the product of both vectors, for conjugate
// gradients.
__global__ void multiply_rows(const double* __restrict__ entries, const int* __restrict__ columns,
                              const double* __restrict__ p, double* __restrict__ image,
                              double* __restrict__ product, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0, own = 0;
  if (row < rows) {
    for (int k = 0; k < kEntries; ++k) sum += entries[k * rows + row] * p[columns[k * rows + row]];
    image[row] = sum;
    own = sum * p[row];
  }
  for (int d = 16; d > 0; d /= 2) own += __shfl_down_sync(0xffffffffu, own, d);
  __shared__ double parts[8];
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) own += parts[w];
    atomicAdd(product, own);
  }
}

// Thomas's algorithm down all lines of the grid: a thread for each, with equal numbers beside the diagonal.
__global__ void solve_lines(const float* diagonal, const float* rhs, float* upper, float* x, float beside,
                            int lines, int length) {
  int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= lines) return;
  float c = beside / diagonal[line], d = rhs[line] / diagonal[line];
  upper[line] = c;
  x[line] = d;
  for (int k = 1; k < length; k++) {
    int at = k * lines + line;
    float m = 1.0f / (diagonal[at] - beside * c);
    c = beside * m;
    d = (rhs[at] - beside * d) * m;
    upper[at] = c;
    x[at] = d;
  }
  for (int k = length - 2; k >= 0; k--) {
    int at = k * lines + line;
    d = x[at] - upper[at] * d;
    x[at] = d;
  }
}

// Cyclic reduction of systems of kSystem unknowns in shared memory: all rows take part in each step.
__global__ void __launch_bounds__(kSystem)
    reduce_systems(const float* __restrict__ lower, const float* __restrict__ diagonal,
                   const float* __restrict__ upper, const float* __restrict__ rhs, float* __restrict__ x) {
  __shared__ float a[kSystem], b[kSystem], c[kSystem], d[kSystem];
  const int i = threadIdx.x, at = blockIdx.x * kSystem + i;
  a[i] = i > 0 ? lower[at] : 0;
  b[i] = diagonal[at];
  c[i] = i < kSystem - 1 ? upper[at] : 0;
  d[i] = rhs[at];
  __syncthreads();
#pragma unroll
  for (int apart = 1; apart < kSystem; apart *= 2) {
    const int low = max(i - apart, 0), high = min(i + apart, kSystem - 1);
    const float alpha = i >= apart ? -a[i] / b[low] : 0;
    const float gamma = i + apart < kSystem ? -c[i] / b[high] : 0;
    const float new_a = alpha * a[low], new_c = gamma * c[high];
    const float new_b = b[i] + alpha * c[low] + gamma * a[high];
    const float new_d = d[i] + alpha * d[low] + gamma * d[high];
    __syncthreads();
    a[i] = new_a;
    b[i] = new_b;
    c[i] = new_c;
    d[i] = new_d;
    __syncthreads();
  }
  x[at] = d[i] / b[i];
}

// Tetrahedra: gathers places and values of four nodes, and adds what the gradient in between does to each.
__global__ void tetrahedron_forces(const int4* __restrict__ corners, const float4* __restrict__ nodes,
                                   float* __restrict__ forces, float stiffness, int tetrahedra) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= tetrahedra) return;
  const int4 corner = corners[e];
  const float4 p = nodes[corner.x], q = nodes[corner.y], r = nodes[corner.z], s = nodes[corner.w];
  const float3 a = make_float3(q.x - p.x, q.y - p.y, q.z - p.z);
  const float3 b = make_float3(r.x - p.x, r.y - p.y, r.z - p.z);
  const float3 c = make_float3(s.x - p.x, s.y - p.y, s.z - p.z);
  const float3 bc = make_float3(b.y * c.z - b.z * c.y, b.z * c.x - b.x * c.z, b.x * c.y - b.y * c.x);
  const float3 ca = make_float3(c.y * a.z - c.z * a.y, c.z * a.x - c.x * a.z, c.x * a.y - c.y * a.x);
  const float3 ab = make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
  const float volume = a.x * bc.x + a.y * bc.y + a.z * bc.z;
  const float du = q.w - p.w, dv = r.w - p.w, dw = s.w - p.w;
  const float scale = 1 / volume, factor = stiffness * scale / 6;
  const float gx = du * bc.x + dv * ca.x + dw * ab.x;
  const float gy = du * bc.y + dv * ca.y + dw * ab.y;
  const float gz = du * bc.z + dv * ca.z + dw * ab.z;
  const float fq = factor * (gx * bc.x + gy * bc.y + gz * bc.z);
  const float fr = factor * (gx * ca.x + gy * ca.y + gz * ca.z);
  const float fs = factor * (gx * ab.x + gy * ab.y + gz * ab.z);
  atomicAdd(&forces[corner.x], -(fq + fr + fs));
  atomicAdd(&forces[corner.y], fq);
  atomicAdd(&forces[corner.z], fr);
  atomicAdd(&forces[corner.w], fs);
}

// Gravity of all bodies on all bodies, by tiles in shared memory.
__global__ void body_forces(const float4* bodies, float3* forces, float softening, int count) {
  __shared__ float4 tile[kBlock];
  const float4 me = bodies[blockIdx.x * kBlock + threadIdx.x];
  float3 force = {0.0f, 0.0f, 0.0f};
  for (int first = 0; first < count; first += kBlock) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < kBlock; j++) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      float strength = tile[j].w * inverse * inverse * inverse;
      force.x += strength * dx;
      force.y += strength * dy;
      force.z += strength * dz;
    }
    __syncthreads();
  }
  forces[blockIdx.x * kBlock + threadIdx.x] = force;
}

// Rays through the grid with values between cells from the eight around, until little light is left.
__global__ void march_rays(const float* __restrict__ density, float* __restrict__ image, float3 step,
                           int width, int height, int n) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float x = px * (n - 2.0f) / width, y = py * (n - 2.0f) / height, z = 0;
  float light = 1, glow = 0;
  for (int k = 0; k < n; ++k) {
    const int ix = min(max((int)x, 0), n - 2), iy = min(max((int)y, 0), n - 2), iz = min((int)z, n - 2);
    const float fx = x - ix, fy = y - iy, fz = z - iz;
    const float* at = density + (iz * n + iy) * n + ix;
    const float a = at[0] + fx * (at[1] - at[0]);
    const float b = at[n] + fx * (at[n + 1] - at[n]);
    at += n * n;
    const float c = at[0] + fx * (at[1] - at[0]);
    const float d = at[n] + fx * (at[n + 1] - at[n]);
    const float near = a + fy * (b - a), far = c + fy * (d - c);
    const float opacity = 1e-3f * (near + fz * (far - near));
    glow += light * opacity;
    light *= 1 - opacity;
    if (light < 0.02f) break;
    x += step.x;
    y += step.y;
    z += step.z;
  }
  image[py * width + px] = glow;
}

// n is a multiple of 32.
void run(int n) {
  const int cells = n * n * n, rows = cells / 8, unknowns = cells / 4, tetrahedra = cells / 4;
  const int nodes = cells / 4, apart = n * n + n + 1, bodies = 32 * n, width = 2 * n;
  float* u = device_array<float>(cells, [](int i) { return hashed_unit(static_cast<unsigned>(i)); });
  float* f = device_array<float>(cells, [](int i) { return 4 + 0.01f * (i % 13); });
  float* upper = device_zeros<float>(cells);
  float* solution = device_zeros<float>(cells);
  double* field = device_doubles(cells);
  double* next = device_zeros<double>(cells);
  double* entries =
      device_array<double>(kEntries * rows, [rows](int i) { return i < rows ? 6.5 : -1 + i % 7 * 0.01; });
  int* columns = device_array<int>(kEntries * rows, [rows, n](int i) {
    const int offsets[kEntries] = {0, -1, 1, -n, n, -n * n, n * n};
    const int column = i % rows + offsets[i / rows];
    return column < 0 ? 0 : column < rows ? column : rows - 1;
  });
  double* direction = device_doubles(rows);
  double* image = device_zeros<double>(rows);
  double* product = device_zeros<double>(1);
  float* below = device_array<float>(unknowns, [](int i) { return -1 + 0.01f * (i % 9); });
  float* middle = device_array<float>(unknowns, [](int i) { return 4 + 0.01f * (i % 17); });
  float* above = device_array<float>(unknowns, [](int i) { return -1 + 0.01f * (i % 5); });
  float* sides = device_array<float>(unknowns, [](int i) { return 0.1f * (i % 23); });
  float* unknown = device_zeros<float>(unknowns);
  int4* corners = device_array<int4>(tetrahedra, [nodes, apart, n](int e) {
    const int first = e % (nodes - apart);
    return make_int4(first, first + 1, first + n, first + n * n);
  });
  float4* places = device_array<float4>(nodes, [n](int i) {
    const float shift = 0.2f * hashed_unit(static_cast<unsigned>(i));
    return make_float4(i % n + shift, i / n % n - shift, i / (n * n) + shift, 0.1f * (i % 31));
  });
  float* node_forces = device_zeros<float>(nodes);
  float4* masses = device_array<float4>(bodies, [](int i) {
    const unsigned k = 3u * static_cast<unsigned>(i);
    return make_float4(hashed_unit(k), hashed_unit(k + 1), hashed_unit(k + 2), 1 + 0.1f * (i % 7));
  });
  float3* body_pull = device_zeros<float3>(bodies);
  float* picture = device_zeros<float>(width * n);
  for (int r = 0; r < kLaunches; ++r)
    march_rays<<<dim3(width / 16, n / 16), dim3(16, 16)>>>(u, picture, make_float3(0.05f, -0.03f, 0.98f),
                                                           width, n, n);
  for (int r = 0; r < kLaunches; ++r)
    relax_colour<<<dim3(ceil_div(n, 64), n / 4, n), dim3(32, 4)>>>(u, f, r % 2, n);
  for (int r = 0; r < kLaunches; ++r)
    jacobi<7><<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>(field, next, Weights{0.4, 0.1, 0, 0}, n);
  for (int r = 0; r < kLaunches; ++r)
    jacobi<27><<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>(field, next, Weights{0.3, 0.06, 0.02, 0.01}, n);
  for (int r = 0; r < kLaunches; ++r)
    multiply_rows<<<ceil_div(rows, 256), 256>>>(entries, columns, direction, image, product, rows);
  for (int r = 0; r < kLaunches; ++r)
    solve_lines<<<ceil_div(n * n, 64), 64>>>(f, u, upper, solution, -1.0f, n * n, n);
  for (int r = 0; r < kLaunches; ++r)
    reduce_systems<<<unknowns / kSystem, kSystem>>>(below, middle, above, sides, unknown);
  for (int r = 0; r < kLaunches; ++r)
    tetrahedron_forces<<<ceil_div(tetrahedra, 128), 128>>>(corners, places, node_forces, 0.5f, tetrahedra);
  for (int r = 0; r < kLaunches; ++r)
    body_forces<<<bodies / kBlock, kBlock>>>(masses, body_pull, 1e-3f, bodies);
  free_all(u, f, upper, solution, field, next, entries, columns, direction, image, product, below, middle);
  free_all(above, sides, unknown, corners, places, node_forces, masses, body_pull, picture);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("implicit_fields");
}
