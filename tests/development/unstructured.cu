// Meshes: what flows over edges, triangles' contributions, particles and the cells they lie in.
#include "device.h"

__global__ void flows_by_edges(const int2* edges, const float* value, float* sum, int count) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  const int2 ends = edges[e];
  const float flow = 0.1f * (value[ends.x] - value[ends.y]);
  atomicAdd(&sum[ends.x], -flow);
  atomicAdd(&sum[ends.y], flow);
}

// Four neighbours a cell, five quantities, in arrays.
__global__ void flows_by_cells(const int* neighbours, const double* q, double* out, int cells) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  double own[5], sum[5] = {};
  for (int k = 0; k < 5; ++k) own[k] = q[k * cells + c];
  for (int s = 0; s < 4; ++s) {
    const int other = neighbours[s * cells + c];
    if (other < 0) continue;
    const double density = q[other], inverse = 1 / (density + 1), speed = q[cells + other] * inverse;
    for (int k = 0; k < 5; ++k) sum[k] += speed * (q[k * cells + other] - own[k]);
  }
  for (int k = 0; k < 5; ++k) out[k * cells + c] = own[k] + 0.01 * sum[k];
}

__global__ void triangle_stiffness(const int* corners, const float2* points, float* out, int triangles) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= triangles) return;
  const float2 a = points[corners[3 * t]], b = points[corners[3 * t + 1]], c = points[corners[3 * t + 2]];
  const float ux = b.x - a.x, uy = b.y - a.y, vx = c.x - a.x, vy = c.y - a.y;
  const float area = fabsf(ux * vy - uy * vx) + 1e-6f;
  out[3 * t] = (ux * ux + uy * uy) / area;
  out[3 * t + 1] = (ux * vx + uy * vy) / area;
  out[3 * t + 2] = (vx * vx + vy * vy) / area;
}

__global__ void deposit(const float2* particles, float* grid, int side, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = particles[i].x * (side - 2), y = particles[i].y * (side - 2);
  const int cx = static_cast<int>(x), cy = static_cast<int>(y);
  const float a = x - cx, b = y - cy;
  atomicAdd(&grid[cy * side + cx], (1 - a) * (1 - b));
  atomicAdd(&grid[cy * side + cx + 1], a * (1 - b));
  atomicAdd(&grid[(cy + 1) * side + cx], (1 - a) * b);
  atomicAdd(&grid[(cy + 1) * side + cx + 1], a * b);
}

void run(int n) {
  int* ends = device_array<int>(6 * n, [n](int i) { return (i / 2 + i % 2 * (1 + i % 17)) % n; });
  float* value = device_floats(2 * n);
  float* sum = device_zeros<float>(3 * n);
  for (int r = 0; r < kLaunches; ++r)
    flows_by_edges<<<ceil_div(3 * n, 256), 256>>>((int2*)ends, value, sum, 3 * n);
  for (int r = 0; r < kLaunches; ++r)
    triangle_stiffness<<<ceil_div(n, 128), 128>>>(ends, (float2*)value, sum, n);
  float* grid = device_zeros<float>(512 * 512);
  for (int r = 0; r < kLaunches; ++r) deposit<<<ceil_div(n, 256), 256>>>((float2*)value, grid, 512, n);
  free_all(ends, value, sum, grid);
  int* neighbours =
      device_array<int>(4 * n, [n](int i) { return i % 50 == 0 ? -1 : (i % n + i / n * 7 + 1) % n; });
  double* q = device_doubles(5 * n);
  double* out = device_zeros<double>(5 * n);
  for (int r = 0; r < kLaunches; ++r) flows_by_cells<<<ceil_div(n, 192), 192>>>(neighbours, q, out, n);
  free_all(neighbours, q, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("unstructured");
}
