// Structural mechanics on a plate of n by n (32, 64, ...) elements with trusses, gauges and blocks of a solver.
#include "device.h"

constexpr int kEntries = 36, kBlock = 32;

struct Bar { int from, to; float area, length; };
struct Point { double stress[6], plastic; };
struct Steel { double shear, bulk, yield, hardening, exponent; };

// Pulls on both ends of each bar by how much it is longer than at rest, with atomic sums at the nodes.
__global__ void truss_forces(const Bar* bars, const double* x, double* forces, double young, int count) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= count) return;
  const Bar bar = bars[b];
  double d[3], square = 1e-12;
  for (int k = 0; k < 3; ++k) {
    d[k] = x[3 * bar.to + k] - x[3 * bar.from + k];
    square += d[k] * d[k];
  }
  const double length = sqrt(square), pull = young * bar.area * (length - bar.length) / (bar.length * length);
  if (length < 0.5 * bar.length) return;  // slack
  for (int k = 0; k < 3; ++k) {
    atomicAdd(&forces[3 * bar.from + k], pull * d[k]);
    atomicAdd(&forces[3 * bar.to + k], -pull * d[k]);
  }
}

// Integrates the stiffness of a quadrilateral in plane stress at two by two points; keeps the upper triangle of 8 by 8.
__global__ void quad_stiffness(const float2* nodes, float* stiffness, float young, float poisson, int n) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= n * n) return;
  const int corner = e / n * (n + 1) + e % n;
  const float2 p[4] = {nodes[corner], nodes[corner + 1], nodes[corner + n + 2], nodes[corner + n + 1]};
  const float c = young / (1 - poisson * poisson), shear = 0.5f * c * (1 - poisson);
  float k[kEntries] = {};
#pragma unroll 1
  for (int g = 0; g < 4; ++g) {
    const float u = g & 1 ? 0.57735f : -0.57735f, v = g & 2 ? 0.57735f : -0.57735f;
    const float du[4] = {-0.25f * (1 - v), 0.25f * (1 - v), 0.25f * (1 + v), -0.25f * (1 + v)};
    const float dv[4] = {-0.25f * (1 - u), -0.25f * (1 + u), 0.25f * (1 + u), 0.25f * (1 - u)};
    float j00 = 0, j01 = 0, j10 = 0, j11 = 0;
    for (int a = 0; a < 4; ++a)
      j00 += du[a] * p[a].x, j01 += du[a] * p[a].y, j10 += dv[a] * p[a].x, j11 += dv[a] * p[a].y;
    const float det = j00 * j11 - j01 * j10, inverse = 1 / det;
    float dx[4], dy[4];
    for (int a = 0; a < 4; ++a) {
      dx[a] = inverse * (j11 * du[a] - j01 * dv[a]);
      dy[a] = inverse * (j00 * dv[a] - j10 * du[a]);
    }
    int at = 0;
#pragma unroll
    for (int row = 0; row < 8; ++row)
#pragma unroll
      for (int col = row; col < 8; ++col) {
        const int a = row / 2, b = col / 2;
        float value;
        if (row % 2 == col % 2)
          value = row % 2 ? c * dy[a] * dy[b] + shear * dx[a] * dx[b] : c * dx[a] * dx[b] + shear * dy[a] * dy[b];
        else
          value = row % 2 ? c * poisson * dy[a] * dx[b] + shear * dx[a] * dy[b]
                          : c * poisson * dx[a] * dy[b] + shear * dy[a] * dx[b];
        k[at++] += det * value;
      }
  }
  for (int t = 0; t < kEntries; ++t) stiffness[t * n * n + e] = k[t];
}

// Adds the diagonals of the elements of one of four colours to their nodes; no two of a colour share a node.
__global__ void assemble_colour(const float* stiffness, float2* diagonal, int colour, int n) {
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + colour % 2;
  const int y = 2 * (blockIdx.y * blockDim.y + threadIdx.y) + colour / 2;
  if (x >= n || y >= n) return;
  const int e = y * n + x, corner = y * (n + 1) + x;
  const int ids[4] = {corner, corner + 1, corner + n + 2, corner + n + 1};
  int at = 0;
  for (int a = 0; a < 4; ++a) {
    float2 d = diagonal[ids[a]];
    d.x += stiffness[at * n * n + e];
    at += 8 - 2 * a;
    d.y += stiffness[at * n * n + e];
    at += 7 - 2 * a;
    diagonal[ids[a]] = d;
  }
}

// Returns trial stresses to the yield surface with a hardening that needs some steps of Newton's.
__global__ void return_mapping(const Point* before, Point* after, Steel steel, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Point p = before[i];
  const double mean = (p.stress[0] + p.stress[1] + p.stress[2]) / 3;
  double norm = 0;
  for (int k = 0; k < 6; ++k) {
    if (k < 3) p.stress[k] -= mean;
    norm += (k < 3 ? 1 : 2) * p.stress[k] * p.stress[k];
  }
  norm = sqrt(1.5 * norm);
  if (norm > steel.yield + steel.hardening * pow(p.plastic + 1e-6, steel.exponent)) {
    double gamma = 0;
    for (int step = 0; step < 12; ++step) {
      const double strain = p.plastic + gamma + 1e-6, power = pow(strain, steel.exponent);
      const double error = norm - 3 * steel.shear * gamma - steel.yield - steel.hardening * power;
      if (fabs(error) < 1e-9 * steel.yield) break;
      gamma = fmax(0.0, gamma + error / (3 * steel.shear + steel.hardening * steel.exponent * power / strain));
    }
    const double ratio = 1 - 3 * steel.shear * gamma / norm;
    for (int k = 0; k < 6; ++k) p.stress[k] *= ratio;
    p.plastic += gamma;
  }
  for (int k = 0; k < 3; ++k) p.stress[k] += mean;
  after[i] = p;
}

// Sums half the squares of all element forces: threads stride, warps reduce by shuffles, one atomic addition per warp.
__global__ void strain_energy(const float4* products, double* energy, int count) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float4 p = products[i];
    sum += 0.5f * (p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(energy, (double)sum);
}

// Finds the principal stresses of many points by cyclic Jacobi rotations of three by three matrices.
template <class Real>
__global__ void principal_stresses(const Point* points, Real* principal, int sweeps, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double* s = points[i].stress;
  Real m[3][3] = {{Real(s[0]), Real(s[3]), Real(s[4])}, {Real(s[3]), Real(s[1]), Real(s[5])},
                  {Real(s[4]), Real(s[5]), Real(s[2])}};
  for (int sweep = 0; sweep < sweeps; ++sweep)
#pragma unroll
    for (int pair = 0; pair < 3; ++pair) {
      const int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2, r = 3 - p - q;
      const Real theta = (m[q][q] - m[p][p]) / (2 * m[p][q] + Real(1e-20));
      const Real t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1);
      const Real moved = t * m[p][q], rp = m[r][p], rq = m[r][q];
      m[p][p] -= moved, m[q][q] += moved;
      m[p][q] = m[q][p] = 0;
      m[r][p] = m[p][r] = c * (rp - t * rq);
      m[r][q] = m[q][r] = c * (rq + t * rp);
    }
  for (int k = 0; k < 3; ++k) principal[k * count + i] = m[k][k];
}

// Factors dense blocks of 32 by 32 by Cholesky, one to a thread block, in shared memory.
__global__ void cholesky_blocks(const double* blocks, double* factors) {
  __shared__ double a[kBlock][kBlock + 1];
  const int col = threadIdx.x, base = blockIdx.x * kBlock * kBlock;
  for (int row = threadIdx.y; row < kBlock; row += blockDim.y)
    a[row][col] = blocks[base + row * kBlock + col] + (row == col ? 2 * kBlock : 0);
  __syncthreads();
  for (int k = 0; k < kBlock; ++k) {
    const double pivot = sqrt(fmax(a[k][k], 1e-9));
    __syncthreads();
    if (threadIdx.y == 0 && col >= k) a[col][k] = col == k ? pivot : a[col][k] / pivot;
    __syncthreads();
    for (int row = k + 1 + threadIdx.y; row < kBlock; row += blockDim.y)
      if (col > k && col <= row) a[row][col] -= a[row][k] * a[col][k];
    __syncthreads();
  }
  for (int row = threadIdx.y; row < kBlock; row += blockDim.y)
    factors[base + row * kBlock + col] = col <= row ? a[row][col] : 0.0;
}

#define REPEAT for (int r = 0; r < kLaunches; ++r)

void run(int n) {
  const int elements = n * n, nodes = (n + 1) * (n + 1), half = ceil_div(n, 2), blocks = elements / 128;
  const Steel steel = {80e3, 160e3, 0.6, 0.4, 0.35};
  float2* places = device_array<float2>(nodes, [n](int i) {
    return float2{i % (n + 1) + 0.2f * hashed_unit(i), i / (n + 1) + 0.2f * hashed_unit(i + 77)}; });
  float *stiffness = device_floats(kEntries * elements), *products = device_zeros<float>(8 * elements);
  double *x = device_doubles(3 * nodes), *forces = device_zeros<double>(3 * nodes), *energy = device_zeros<double>(1);
  float2* diagonal = device_zeros<float2>(nodes);
  Bar* bars = device_array<Bar>(2 * nodes, [n, nodes](int i) {
    return Bar{i / 2, (i / 2 + (i % 2 ? n + 1 : 1 + i % 5)) % nodes, 0.01f, 0.002f * (i % 9)}; });
  Point* points = device_array<Point>(elements, [](int i) {
    const double s = hashed_unit(i / 8);
    return Point{{s, 0.3 * s, -0.2, 0.1 + 0.2 * s, 0.05, 0.1 * hashed_unit(i)}, 0.01 * (i % 3)}; });
  Point* returned = device_zeros<Point>(elements);
  double *dense = device_doubles(blocks * kBlock * kBlock), *factors = device_zeros<double>(blocks * kBlock * kBlock);
  REPEAT truss_forces<<<ceil_div(2 * nodes, 256), 256>>>(bars, x, forces, 210e3, 2 * nodes);
  REPEAT quad_stiffness<<<ceil_div(elements, 64), 64>>>(places, stiffness, 210.0f, 0.3f, n);
  REPEAT assemble_colour<<<dim3(ceil_div(half, 32), ceil_div(half, 8)), dim3(32, 8)>>>(stiffness, diagonal, r % 4, n);
  REPEAT strain_energy<<<std::min(ceil_div(2 * elements, 1024), 264), 1024>>>((float4*)products, energy, 2 * elements);
  REPEAT return_mapping<<<ceil_div(elements, 128), 128>>>(points, returned, steel, elements);
  REPEAT principal_stresses<float><<<ceil_div(elements, 32), 32>>>(points, products, 4, elements);
  REPEAT principal_stresses<double><<<ceil_div(elements, 192), 192>>>(points, factors, 6, elements);
  REPEAT cholesky_blocks<<<blocks, dim3(kBlock, 8)>>>(dense, factors);
  free_all(places, stiffness, products, x, forces, energy, diagonal, bars, points, returned, dense, factors);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("structural_loads");
}
