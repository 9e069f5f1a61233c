// Meshes of tetrahedra: n x n x n cubes, each cut in six along its diagonal from corner 0 to corner 7.
#include "device.h"

struct Grid {
  int cubes, nodes;  // Along each side.
};

// Corner `mask` of a cube as an offset of nodes: bit 0 is a step in x, bit 1 in y and bit 2 in z.
__host__ __device__ inline int corner(int mask, int nodes) {
  return (mask & 1) + ((mask >> 1 & 1) + (mask >> 2) * nodes) * nodes;
}

// The nodes of tetrahedron `kind` of a cube: a walk of three steps along the axes, in one of six orders.
__host__ __device__ inline void tetrahedron(int cube, int kind, Grid grid, int node[4]) {
  const int x = cube % grid.cubes, y = cube / grid.cubes % grid.cubes, z = cube / (grid.cubes * grid.cubes);
  const int origin = (z * grid.nodes + y) * grid.nodes + x;
  const int first = kind % 3, second = (first + 1 + kind / 3) % 3;
  const int one = 1 << first, two = one | 1 << second;
  node[0] = origin;
  node[1] = origin + corner(one, grid.nodes);
  node[2] = origin + corner(two, grid.nodes);
  node[3] = origin + corner(7, grid.nodes);
}

// Gradients of the four shape functions from the places of the corners. Returns the volume.
template <class T>
__device__ T shape_gradients(const T p[4][3], T g[4][3]) {
  T e[3][3];
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c) e[k][c] = p[k + 1][c] - p[0][c];
  for (int c = 0; c < 3; ++c) {
    const int d = (c + 1) % 3, f = (c + 2) % 3;
    g[1][c] = e[1][d] * e[2][f] - e[1][f] * e[2][d];
    g[2][c] = e[2][d] * e[0][f] - e[2][f] * e[0][d];
    g[3][c] = e[0][d] * e[1][f] - e[0][f] * e[1][d];
  }
  const T six = e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2];
  const T scale = 1 / six;
  for (int c = 0; c < 3; ++c) {
    g[1][c] *= scale;
    g[2][c] *= scale;
    g[3][c] *= scale;
    g[0][c] = -g[1][c] - g[2][c] - g[3][c];
  }
  return fabs(six) / 6;
}

// Volumes and gradients of shape functions, a thread for each tetrahedron, kind after kind.
template <class T>
__global__ void volumes_gradients(const T* __restrict__ px, const T* __restrict__ py,
                                  const T* __restrict__ pz, T* __restrict__ volumes,
                                  T* __restrict__ gradients, Grid grid) {
  const int cubes = grid.cubes * grid.cubes * grid.cubes;
  const int cube = blockIdx.x * blockDim.x + threadIdx.x, kind = blockIdx.y;
  if (cube >= cubes) return;
  int node[4];
  tetrahedron(cube, kind, grid, node);
  T p[4][3], g[4][3];
  for (int a = 0; a < 4; ++a) {
    p[a][0] = px[node[a]];
    p[a][1] = py[node[a]];
    p[a][2] = pz[node[a]];
  }
  const int element = kind * cubes + cube;
  volumes[element] = shape_gradients(p, g);
  for (int a = 0; a < 4; ++a)
    for (int c = 0; c < 3; ++c) gradients[(3 * a + c) * 6 * cubes + element] = g[a][c];
}

// 4 x 4 matrices of the Laplace operator: corners from an array, places of four floats, a matrix in 64 bytes.
__global__ void laplace_matrices(const int4* __restrict__ corners, const float4* __restrict__ places,
                                 float4* __restrict__ matrices, float conductivity, int elements) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= elements) return;
  const int4 node = corners[element];
  const float4 p0 = places[node.x], p1 = places[node.y], p2 = places[node.z], p3 = places[node.w];
  const float p[4][3] = {{p0.x, p0.y, p0.z}, {p1.x, p1.y, p1.z}, {p2.x, p2.y, p2.z}, {p3.x, p3.y, p3.z}};
  float g[4][3], k[4][4];
  const float weight = conductivity * shape_gradients(p, g);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      k[a][b] = weight * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
  for (int a = 0; a < 4; ++a) matrices[4 * element + a] = make_float4(k[a][0], k[a][1], k[a][2], k[a][3]);
}

// 12 x 12 stiffness matrices of a batch of elements: entry by entry, element next to element.
__global__ void stiffness_matrices(const float* __restrict__ px, const float* __restrict__ py,
                                   const float* __restrict__ pz, float* __restrict__ matrices, float lambda,
                                   float mu, Grid grid, int batch) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= batch) return;
  int node[4];
  tetrahedron(element / 6, element % 6, grid, node);
  float p[4][3], g[4][3];
  for (int a = 0; a < 4; ++a) {
    p[a][0] = px[node[a]];
    p[a][1] = py[node[a]];
    p[a][2] = pz[node[a]];
  }
  const float volume = shape_gradients(p, g);
#pragma unroll
  for (int a = 0; a < 4; ++a)
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const float dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
#pragma unroll
      for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int d = 0; d < 3; ++d) {
          const float entry = lambda * g[a][c] * g[b][d] + mu * g[a][d] * g[b][c] + (c == d ? mu * dot : 0);
          matrices[((3 * a + c) * 12 + 3 * b + d) * batch + element] = volume * entry;
        }
    }
}

// Forces of a batch of elements by a 12 x 12 matrix in a private array, which loops fill and then multiply.
template <class T>
__global__ void private_matrices(const T* px, const T* py, const T* pz, const T* displacements, T* forces,
                                 T lambda, T mu, Grid grid, int batch) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= batch) return;
  int node[4];
  tetrahedron(element / 6, element % 6, grid, node);
  T p[4][3], g[4][3], k[12][12], u[12];
  for (int a = 0; a < 4; ++a) {
    p[a][0] = px[node[a]];
    p[a][1] = py[node[a]];
    p[a][2] = pz[node[a]];
    for (int c = 0; c < 3; ++c) u[3 * a + c] = displacements[3 * node[a] + c];
  }
  const T volume = shape_gradients(p, g);
#pragma unroll 1
  for (int a = 0; a < 4; ++a)
#pragma unroll 1
    for (int b = 0; b < 4; ++b) {
      const T dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
      for (int c = 0; c < 3; ++c) {
        for (int d = 0; d < 3; ++d)
          k[3 * a + c][3 * b + d] = volume * (lambda * g[a][c] * g[b][d] + mu * g[a][d] * g[b][c]);
        k[3 * a + c][3 * b + c] += volume * mu * dot;
      }
    }
#pragma unroll 1
  for (int row = 0; row < 12; ++row) {
    T sum = 0;
    for (int column = 0; column < 12; ++column) sum += k[row][column] * u[column];
    forces[row * batch + element] = sum;
  }
}

// Forces from the stress of each element, without a matrix, added to its four nodes by atomics.
template <class T>
__global__ void scatter_forces(const T* __restrict__ px, const T* __restrict__ py, const T* __restrict__ pz,
                               const T* __restrict__ displacements, T* forces, T lambda, T mu, Grid grid) {
  const int cubes = grid.cubes * grid.cubes * grid.cubes;
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= 6 * cubes) return;
  int node[4];
  tetrahedron(element % cubes, element / cubes, grid, node);
  T p[4][3], g[4][3], h[3][3] = {};
  for (int a = 0; a < 4; ++a) {
    p[a][0] = px[node[a]];
    p[a][1] = py[node[a]];
    p[a][2] = pz[node[a]];
  }
  const T volume = shape_gradients(p, g);
  for (int a = 0; a < 4; ++a)
    for (int c = 0; c < 3; ++c) {
      const T u = displacements[3 * node[a] + c];
      for (int d = 0; d < 3; ++d) h[c][d] += u * g[a][d];
    }
  const T pressure = lambda * (h[0][0] + h[1][1] + h[2][2]);
  for (int a = 0; a < 4; ++a)
    for (int c = 0; c < 3; ++c) {
      T force = pressure * g[a][c];
      for (int d = 0; d < 3; ++d) force += mu * (h[c][d] + h[d][c]) * g[a][d];
      atomicAdd(&forces[3 * node[a] + c], volume * force);
    }
}

// Fluxes of a gas over the seven kinds of edges, from node to node, with dissipation by the fastest wave.
__global__ void edge_fluxes(const float* __restrict__ state, const float* __restrict__ normals,
                            float* __restrict__ fluxes, Grid grid) {
  const int count = grid.nodes * grid.nodes * grid.nodes;
  const int from = blockIdx.x * blockDim.x + threadIdx.x, mask = blockIdx.y + 1;
  if (from >= count) return;
  const int x = from % grid.nodes, y = from / grid.nodes % grid.nodes, z = from / (grid.nodes * grid.nodes);
  if (x + (mask & 1) > grid.cubes || y + (mask >> 1 & 1) > grid.cubes || z + (mask >> 2) > grid.cubes) return;
  const int to = from + corner(mask, grid.nodes);
  const float* normal = normals + (mask - 1) * 3 * count + from;
  const float nx = normal[0], ny = normal[count], nz = normal[2 * count];
  const float area = sqrtf(nx * nx + ny * ny + nz * nz);
  float left[5], right[5];
  for (int v = 0; v < 5; ++v) {
    left[v] = state[v * count + from];
    right[v] = state[v * count + to];
  }
  const float per_left = 1 / left[0], per_right = 1 / right[0];
  const float through_left = (left[1] * nx + left[2] * ny + left[3] * nz) * per_left;
  const float through_right = (right[1] * nx + right[2] * ny + right[3] * nz) * per_right;
  const float squares_left = left[1] * left[1] + left[2] * left[2] + left[3] * left[3];
  const float squares_right = right[1] * right[1] + right[2] * right[2] + right[3] * right[3];
  const float pressure_left = 0.4f * (left[4] - 0.5f * squares_left * per_left);
  const float pressure_right = 0.4f * (right[4] - 0.5f * squares_right * per_right);
  const float wave_left = fabsf(through_left) + area * sqrtf(1.4f * pressure_left * per_left);
  const float wave_right = fabsf(through_right) + area * sqrtf(1.4f * pressure_right * per_right);
  const float wave = fmaxf(wave_left, wave_right), pressure = pressure_left + pressure_right;
  float flux[5];
  for (int v = 0; v < 5; ++v)
    flux[v] = left[v] * through_left + right[v] * through_right - wave * (right[v] - left[v]);
  flux[1] += pressure * nx;
  flux[2] += pressure * ny;
  flux[3] += pressure * nz;
  flux[4] += pressure_left * through_left + pressure_right * through_right;
  for (int v = 0; v < 5; ++v) fluxes[((mask - 1) * 5 + v) * count + from] = 0.5f * flux[v];
}

// Each node gathers one variable's fluxes from up to fourteen edges, which leave it or arrive.
__global__ void gather_fluxes(const float* __restrict__ fluxes, float* __restrict__ residuals, Grid grid) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z / 5, variable = blockIdx.z % 5;
  if (x >= grid.nodes || y >= grid.nodes) return;
  const int count = grid.nodes * grid.nodes * grid.nodes, node = (z * grid.nodes + y) * grid.nodes + x;
  float sum = 0;
#pragma unroll
  for (int mask = 1; mask < 8; ++mask) {
    const int dx = mask & 1, dy = mask >> 1 & 1, dz = mask >> 2;
    const float* edges = fluxes + ((mask - 1) * 5 + variable) * count;
    if (x + dx < grid.nodes && y + dy < grid.nodes && z + dz < grid.nodes) sum += edges[node];
    if (x >= dx && y >= dy && z >= dz) sum -= edges[node - corner(mask, grid.nodes)];
  }
  residuals[variable * count + node] = sum;
}

// Masses of nodes without colours: a brick of 8 x 4 x 4 cubes sums in shared memory. Nodes inside the brick
// are stored, and those that it shares with other bricks are added by atomics.
template <class T>
__global__ void lump_masses(const T* __restrict__ px, const T* __restrict__ py, const T* __restrict__ pz,
                            T* masses, T density, Grid grid) {
  __shared__ T sums[5][5][9];
  const int t = (threadIdx.z * 4 + threadIdx.y) * 8 + threadIdx.x;
  for (int k = t; k < 225; k += 128) sums[k / 45][k / 9 % 5][k % 9] = 0;
  __syncthreads();
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y,
            z = blockIdx.z * 4 + threadIdx.z;
  if (x < grid.cubes && y < grid.cubes && z < grid.cubes) {
    const int cube = (z * grid.cubes + y) * grid.cubes + x;
#pragma unroll
    for (int kind = 0; kind < 6; ++kind) {
      int node[4];
      tetrahedron(cube, kind, grid, node);
      T p[4][3], g[4][3];
      for (int a = 0; a < 4; ++a) {
        p[a][0] = px[node[a]];
        p[a][1] = py[node[a]];
        p[a][2] = pz[node[a]];
      }
      const T part = density / 4 * shape_gradients(p, g);
      const int one = 1 << kind % 3, two = one | 1 << (kind % 3 + 1 + kind / 3) % 3;
      const int masks[4] = {0, one, two, 7};
      for (int a = 0; a < 4; ++a) {
        const int dx = masks[a] & 1, dy = masks[a] >> 1 & 1, dz = masks[a] >> 2;
        atomicAdd(&sums[threadIdx.z + dz][threadIdx.y + dy][threadIdx.x + dx], part);
      }
    }
  }
  __syncthreads();
  for (int k = t; k < 225; k += 128) {
    const int i = k % 9, j = k / 9 % 5, l = k / 45;
    const int nx = blockIdx.x * 8 + i, ny = blockIdx.y * 4 + j, nz = blockIdx.z * 4 + l;
    if (nx >= grid.nodes || ny >= grid.nodes || nz >= grid.nodes) continue;
    T* mass = &masses[(nz * grid.nodes + ny) * grid.nodes + nx];
    if (i > 0 && i < 8 && j > 0 && j < 4 && l > 0 && l < 4)
      *mass = sums[l][j][i];
    else
      atomicAdd(mass, sums[l][j][i]);
  }
}

void run(int n) {
  const Grid grid = {n, n + 1};
  const int side = n + 1, count = side * side * side, cubes = n * n * n, elements = 6 * cubes;
  const int batch = elements / 8;
  const auto x = [side](int i) { return i % side + 0.2 * hashed_unit(i); };
  const auto y = [side](int i) { return i / side % side + 0.2 * hashed_unit(i + 77777777u); };
  const auto z = [side](int i) { return i / (side * side) + 0.2 * hashed_unit(i + 1777777777u); };
  float* px = device_array<float>(count, x);
  float* py = device_array<float>(count, y);
  float* pz = device_array<float>(count, z);
  double* pxd = device_array<double>(count, x);
  double* pyd = device_array<double>(count, y);
  double* pzd = device_array<double>(count, z);
  float* places = device_array<float>(4 * count, [&](int i) {
    const int node = i / 4, c = i % 4;
    return static_cast<float>(c == 0 ? x(node) : c == 1 ? y(node) : c == 2 ? z(node) : 0.0);
  });
  int* corners = device_array<int>(4 * elements, [grid](int i) {
    int node[4];
    tetrahedron(i / 24, i / 4 % 6, grid, node);
    return node[i % 4];
  });
  float* volumes = device_zeros<float>(elements);
  float* gradients = device_zeros<float>(12 * elements);
  float* matrices = device_zeros<float>(18 * elements);
  float* displacements = device_floats(3 * count);
  float* forces = device_zeros<float>(3 * count);
  float* batch_forces = device_zeros<float>(12 * batch);
  double* displacementsd = device_doubles(3 * count);
  double* forcesd = device_zeros<double>(3 * count);
  float* state = device_array<float>(5 * count, [count](int i) {
    return i < count ? 1 + hashed_unit(i) : i < 4 * count ? hashed_unit(i) - 0.5f : 5 + hashed_unit(i);
  });
  float* normals = device_array<float>(21 * count, [](int i) { return hashed_unit(i) - 0.4f; });
  float* fluxes = device_zeros<float>(35 * count);
  float* residuals = device_zeros<float>(5 * count);
  float* masses = device_zeros<float>(count);
  double* massesd = device_zeros<double>(count);
  for (int r = 0; r < kLaunches; ++r)
    volumes_gradients<<<dim3(ceil_div(cubes, 256), 6), 256>>>(px, py, pz, volumes, gradients, grid);
  for (int r = 0; r < kLaunches; ++r)
    laplace_matrices<<<ceil_div(elements, 128), 128>>>((int4*)corners, (float4*)places, (float4*)matrices,
                                                       0.6f, elements);
  for (int r = 0; r < kLaunches; ++r)
    stiffness_matrices<<<ceil_div(batch, 128), 128>>>(px, py, pz, matrices, 1.2f, 0.8f, grid, batch);
  for (int r = 0; r < kLaunches; ++r)
    private_matrices<<<ceil_div(batch, 64), 64>>>(px, py, pz, displacements, batch_forces, 1.2f, 0.8f, grid,
                                                  batch);
  for (int r = 0; r < kLaunches; ++r)
    scatter_forces<<<ceil_div(elements, 256), 256>>>(px, py, pz, displacements, forces, 1.2f, 0.8f, grid);
  for (int r = 0; r < kLaunches; ++r)
    scatter_forces<<<ceil_div(elements, 128), 128>>>(pxd, pyd, pzd, displacementsd, forcesd, 1.2, 0.8, grid);
  for (int r = 0; r < kLaunches; ++r)
    edge_fluxes<<<dim3(ceil_div(count, 192), 7), 192>>>(state, normals, fluxes, grid);
  for (int r = 0; r < kLaunches; ++r)
    gather_fluxes<<<dim3(ceil_div(side, 32), ceil_div(side, 4), side * 5), dim3(32, 4)>>>(fluxes, residuals,
                                                                                          grid);
  for (int r = 0; r < kLaunches; ++r)
    lump_masses<<<dim3(ceil_div(n, 8), ceil_div(n, 4), ceil_div(n, 4)), dim3(8, 4, 4)>>>(px, py, pz, masses,
                                                                                         1.3f, grid);
  for (int r = 0; r < kLaunches; ++r)
    lump_masses<<<dim3(ceil_div(n, 8), ceil_div(n, 4), ceil_div(n, 4)), dim3(8, 4, 4)>>>(pxd, pyd, pzd,
                                                                                         massesd, 1.3, grid);
  free_all(px, py, pz, pxd, pyd, pzd, places, corners, volumes, gradients, matrices, displacements, forces,
           batch_forces, displacementsd, forcesd, state, normals, fluxes, residuals, masses, massesd);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("tetrahedral_meshes");
}
