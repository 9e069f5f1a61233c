// A cube of n x n x n elements with eight corners each, and tetrahedra and elements of a high order.
#include "device.h"

__constant__ float stiffness[8][8];
__constant__ float derivative[8][8];

// The corners of each element: its first, and where the seven others lie.
__global__ void number_corners(int* corners, int side, int elements) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z;
  if (x >= side || y >= side) return;
  const int e = (z * side + y) * side + x, line = side + 1;
  for (int k = 0; k < 8; ++k)
    corners[k * elements + e] = ((z + (k >> 2)) * line + y + (k >> 1 & 1)) * line + x + (k & 1);
}

// The elements' own products, added to their corners.
__global__ void apply_elements(const int* __restrict__ corners, const float* __restrict__ factors,
                               const float* __restrict__ u, float* out, int elements) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  int corner[8];
  float own[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    corner[k] = corners[k * elements + e];
    own[k] = u[corner[k]];
  }
  const float factor = factors[e];
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    float sum = 0;
#pragma unroll
    for (int c = 0; c < 8; ++c) sum += stiffness[r][c] * own[c];
    atomicAdd(&out[corner[r]], factor * sum);
  }
}

// Volumes and the inverse of the map to each element at its middle, in double precision.
__global__ void maps(const int* corners, const double* places, double* out, int nodes, int elements) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  double j[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int corner = corners[k * elements + e];
    const double sx = k & 1 ? 0.25 : -0.25, sy = k & 2 ? 0.25 : -0.25, sz = k & 4 ? 0.25 : -0.25;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const double p = places[d * nodes + corner];
      j[d][0] += sx * p;
      j[d][1] += sy * p;
      j[d][2] += sz * p;
    }
  }
  const double a = j[1][1] * j[2][2] - j[1][2] * j[2][1], b = j[1][2] * j[2][0] - j[1][0] * j[2][2],
               c = j[1][0] * j[2][1] - j[1][1] * j[2][0];
  const double volume = j[0][0] * a + j[0][1] * b + j[0][2] * c + 1e-3;
  out[e] = a / volume;
  out[elements + e] = b / volume;
  out[2 * elements + e] = c / volume;
  out[3 * elements + e] = volume;
}

// Three derivatives in an element of P x P x P points: a thread for each line, the element in shared memory.
template <int P>
__global__ void high_order(const float* u, const float* metric, float* out) {
  __shared__ float own[P][P][P + 1];
  const int x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * P * P * P;
#pragma unroll
  for (int z = 0; z < P; ++z) own[z][y][x] = u[first + (z * P + y) * P + x];
  __syncthreads();
#pragma unroll
  for (int z = 0; z < P; ++z) {
    float dx = 0, dy = 0, dz = 0;
#pragma unroll
    for (int k = 0; k < P; ++k) {
      dx += derivative[x][k] * own[z][y][k];
      dy += derivative[y][k] * own[z][k][x];
      dz += derivative[z][k] * own[k][y][x];
    }
    const int i = first + (z * P + y) * P + x;
    out[i] = metric[i] * (dx * dx + dy * dy + dz * dz);
  }
}

struct Tetrahedron {
  float shape[9];
  int corner[4];
};

// The energy of each tetrahedron of rubber: how its shape has changed, from structures.
__global__ void rubber(const Tetrahedron* all, const float3* places, float* energies, float soft, float stiff,
                       int n) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n) return;
  const Tetrahedron& own = all[e];
  const float3 origin = places[own.corner[0]];
  float edge[3][3], f[3][3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const float3 p = places[own.corner[k + 1]];
    edge[0][k] = p.x - origin.x;
    edge[1][k] = p.y - origin.y;
    edge[2][k] = p.z - origin.z;
  }
  float trace = 0;
#pragma unroll
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      f[r][c] = edge[r][0] * own.shape[c] + edge[r][1] * own.shape[3 + c] + edge[r][2] * own.shape[6 + c];
      trace += f[r][c] * f[r][c];
    }
  const float volume = f[0][0] * (f[1][1] * f[2][2] - f[1][2] * f[2][1]) -
                       f[0][1] * (f[1][0] * f[2][2] - f[1][2] * f[2][0]) +
                       f[0][2] * (f[1][0] * f[2][1] - f[1][1] * f[2][0]);
  const float logarithm = logf(fmaxf(fabsf(volume), 1e-6f));
  energies[e] = 0.5f * soft * (trace - 3) - soft * logarithm + 0.5f * stiff * logarithm * logarithm;
}

void run(int n) {
  const int elements = n * n * n, line = n + 1, nodes = line * line * line, large = elements / 16;
  float matrix[8][8], slopes[8][8];
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 8; ++c) {
      matrix[r][c] = r == c ? 1.0f : -1.0f / 7;
      slopes[r][c] = (r - c) / 8.0f;
    }
  cudaMemcpyToSymbol(stiffness, matrix, sizeof matrix);
  cudaMemcpyToSymbol(derivative, slopes, sizeof slopes);
  int* corners = device_zeros<int>(8 * elements);
  float* u = device_floats(nodes);
  float* factors = device_floats(elements);
  float* out = device_zeros<float>(nodes);
  double* places = device_doubles(3 * nodes);
  double* inverses = device_zeros<double>(4 * elements);
  float* fine = device_floats(512 * large);
  float* results = device_zeros<float>(512 * large);
  int* all = device_array<int>(13 * elements, [elements, n](int i) {
    const int e = i / 13, k = i % 13;
    if (k < 9) return bits_of(k % 4 == 0 ? 1.0f : 0.01f * (e % 7));
    return (e + (k - 9) * n + (k > 10)) % elements;
  });
  float* points = device_floats(3 * nodes);
  for (int r = 0; r < kLaunches; ++r)
    number_corners<<<dim3(ceil_div(n, 32), ceil_div(n, 8), n), dim3(32, 8)>>>(corners, n, elements);
  for (int r = 0; r < kLaunches; ++r)
    apply_elements<<<ceil_div(elements, 128), 128>>>(corners, factors, u, out, elements);
  for (int r = 0; r < kLaunches; ++r)
    maps<<<ceil_div(elements, 128), 128>>>(corners, places, inverses, nodes, elements);
  for (int r = 0; r < kLaunches; ++r) high_order<8><<<large, dim3(8, 8)>>>(fine, fine, results);
  for (int r = 0; r < kLaunches; ++r)
    rubber<<<ceil_div(elements, 256), 256>>>((Tetrahedron*)all, (float3*)points, factors, 1.0f, 10.0f,
                                             elements);
  free_all(corners, u, factors, out, places, inverses, fine, results, all, points);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("finite_elements");
}
