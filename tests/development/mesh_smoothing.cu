// A surface of triangles with n x n vertices, numbered patch by patch of 16 x 16; n is a multiple of 16.
#include <cmath>

#include "device.h"

constexpr int kValence = 6;

struct Summary {
  double sum, squares;
  double least, most;
};

// The unit normal and the area of each triangle; vertices as three floats in a row.
__global__ void triangle_normals(const float3* __restrict__ places, const int3* __restrict__ triangles,
                                 float4* __restrict__ normals, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const int3 corner = triangles[t];
  const float3 a = places[corner.x], b = places[corner.y], c = places[corner.z];
  const float ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
  const float vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
  const float nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const float length = sqrtf(nx * nx + ny * ny + nz * nz);
  const float inverse = length > 1e-12f ? 1.0f / length : 0.0f;
  normals[t] = make_float4(nx * inverse, ny * inverse, nz * inverse, 0.5f * length);
}

// Adds each triangle's normal, weighted by its area, to its three corners with atomics, in a grid-stride loop.
__global__ void spread_normals(const float4* normals, const int* corners, float* sums, int count) {
  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < count; t += gridDim.x * blockDim.x) {
    const float4 normal = normals[t];
    const float x = normal.w * normal.x, y = normal.w * normal.y, z = normal.w * normal.z;
    for (int k = 0; k < 3; ++k) {
      float* own = sums + 3 * corners[3 * t + k];
      atomicAdd(own, x);
      atomicAdd(own + 1, y);
      atomicAdd(own + 2, z);
    }
  }
}

// The three cotangents of each triangle, half of each and none below zero; coordinates and results in planes.
template <class T>
__global__ void cotangent_weights(const T* __restrict__ x, const T* __restrict__ y, const T* __restrict__ z,
                                  const int3* __restrict__ triangles, T* __restrict__ weights, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const int3 v = triangles[t];
  const T px[3] = {x[v.x], x[v.y], x[v.z]};
  const T py[3] = {y[v.x], y[v.y], y[v.z]};
  const T pz[3] = {z[v.x], z[v.y], z[v.z]};
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const int p = (k + 1) % 3, q = (k + 2) % 3;
    const T ax = px[p] - px[k], ay = py[p] - py[k], az = pz[p] - pz[k];
    const T bx = px[q] - px[k], by = py[q] - py[k], bz = pz[q] - pz[k];
    const T cx = ay * bz - az * by, cy = az * bx - ax * bz, cz = ax * by - ay * bx;
    const T cotangent = (ax * bx + ay * by + az * bz) / (sqrt(cx * cx + cy * cy + cz * cz) + (T)1e-12);
    weights[k * count + t] = cotangent > 0 ? (T)0.5 * cotangent : (T)0;
  }
}

// Laplacian smoothing with six neighbours a vertex from a table in planes; a vertex without one has itself there.
__global__ void __launch_bounds__(192)
    smooth_six(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z,
               const int* __restrict__ table, float* __restrict__ out, float lambda, int vertices) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vertices) return;
  float sx = 0, sy = 0, sz = 0;
#pragma unroll
  for (int k = 0; k < kValence; ++k) {
    const int j = table[k * vertices + i];
    sx += x[j];
    sy += y[j];
    sz += z[j];
  }
  out[i] = x[i] + lambda * (sx / kValence - x[i]);
  out[vertices + i] = y[i] + lambda * (sy / kValence - y[i]);
  out[2 * vertices + i] = z[i] + lambda * (sz / kValence - z[i]);
}

// Smoothing with a weight for each entry of compressed rows of neighbours, double precision; no __restrict__.
__global__ void smooth_rows(const double* x, const double* y, const double* z, const int* starts,
                            const int* columns, const double* weights, double* out, double lambda,
                            int vertices) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vertices) return;
  const double ox = x[i], oy = y[i], oz = z[i];
  double sx = 0, sy = 0, sz = 0, total = 0;
  for (int e = starts[i]; e < starts[i + 1]; ++e) {
    const int j = columns[e];
    const double w = weights[e];
    sx += w * (x[j] - ox);
    sy += w * (y[j] - oy);
    sz += w * (z[j] - oz);
    total += w;
  }
  if (total > 0) {
    out[3 * i] = ox + lambda * sx / total;
    out[3 * i + 1] = oy + lambda * sy / total;
    out[3 * i + 2] = oz + lambda * sz / total;
  }
}

// The length of each edge, and the sum, squares, least and greatest of the lengths for each block.
__global__ void edge_lengths(const float3* __restrict__ places, const int2* __restrict__ edges,
                             float* __restrict__ lengths, Summary* summaries, int count) {
  double sum = 0, squares = 0;
  float least = 1e30f, most = 0;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += gridDim.x * blockDim.x) {
    const int2 edge = __ldg(edges + e);
    const float3 a = places[edge.x], b = places[edge.y];
    const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const float length = sqrtf(dx * dx + dy * dy + dz * dz);
    lengths[e] = length;
    sum += length;
    squares += (double)length * length;
    least = fminf(least, length);
    most = fmaxf(most, length);
  }
  __shared__ double sums[2][16];
  __shared__ float ends[2][16];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int s = 16; s > 0; s >>= 1) {
    sum += __shfl_down_sync(0xffffffffu, sum, s);
    squares += __shfl_down_sync(0xffffffffu, squares, s);
    least = fminf(least, __shfl_down_sync(0xffffffffu, least, s));
    most = fmaxf(most, __shfl_down_sync(0xffffffffu, most, s));
  }
  if (lane == 0) {
    sums[0][warp] = sum;
    sums[1][warp] = squares;
    ends[0][warp] = least;
    ends[1][warp] = most;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) {
      sum += sums[0][w];
      squares += sums[1][w];
      least = fminf(least, ends[0][w]);
      most = fmaxf(most, ends[1][w]);
    }
    summaries[blockIdx.x] = {sum, squares, least, most};
  }
}

// The curvature at each inner vertex: what the angles between its neighbours, which are in order, lack to a circle.
__global__ void angle_defects(const float3* places, const int* starts, const int* columns,
                              const unsigned char* inner, float* curvature, int vertices) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vertices) return;
  if (!inner[i]) {
    curvature[i] = 0;
    return;
  }
  const float3 own = places[i];
  const int first = starts[i], end = starts[i + 1];
  const float3 last = places[columns[end - 1]];
  float ax = last.x - own.x, ay = last.y - own.y, az = last.z - own.z;
  float al = ax * ax + ay * ay + az * az, angles = 0, area = 0;
  for (int e = first; e < end; ++e) {
    const float3 next = places[columns[e]];
    const float bx = next.x - own.x, by = next.y - own.y, bz = next.z - own.z;
    const float bl = bx * bx + by * by + bz * bz, product = ax * bx + ay * by + az * bz;
    const float cosine = product * rsqrtf(al * bl + 1e-20f);
    angles += acosf(fminf(fmaxf(cosine, -1.0f), 1.0f));
    area += sqrtf(fmaxf(al * bl - product * product, 0.0f));
    ax = bx;
    ay = by;
    az = bz;
    al = bl;
  }
  curvature[i] = (6.2831853f - angles) * 6.0f / (area + 1e-20f);
}

// Some rounds of smoothing (a step inwards, one outwards) of 256 vertices in shared memory: a patch for each block.
__global__ void __launch_bounds__(256)
    smooth_patches(const float3* in, const int* members, const unsigned char* neighbours, float3* out,
                   float inwards, float outwards, int rounds) {
  __shared__ float x[256], y[256], z[256];
  const int t = threadIdx.x, i = members[blockIdx.x * 256 + t];
  const float3 place = in[i];
  x[t] = place.x;
  y[t] = place.y;
  z[t] = place.z;
  int next[kValence];
#pragma unroll
  for (int k = 0; k < kValence; ++k) next[k] = neighbours[(blockIdx.x * kValence + k) * 256 + t];
  __syncthreads();
  for (int round = 0; round < 2 * rounds; ++round) {
    const float step = round % 2 == 0 ? inwards : outwards;
    float sx = 0, sy = 0, sz = 0;
#pragma unroll
    for (int k = 0; k < kValence; ++k) {
      sx += x[next[k]];
      sy += y[next[k]];
      sz += z[next[k]];
    }
    sx = x[t] + step * (sx / kValence - x[t]);
    sy = y[t] + step * (sy / kValence - y[t]);
    sz = z[t] + step * (sz / kValence - z[t]);
    __syncthreads();
    x[t] = sx;
    y[t] = sy;
    z[t] = sz;
    __syncthreads();
  }
  out[i] = make_float3(x[t], y[t], z[t]);
}

// The neighbours of a vertex in order around it.
constexpr int kDx[kValence] = {1, 0, -1, -1, 0, 1};
constexpr int kDy[kValence] = {0, 1, 1, 0, -1, -1};

int number(int x, int y, int n) {
  return ((y / 16) * (n / 16) + x / 16) * 256 + y % 16 * 16 + x % 16;
}

int column(int i, int n) {
  return i / 256 % (n / 16) * 16 + i % 16;
}

int row(int i, int n) {
  return i / 256 / (n / 16) * 16 + i / 16 % 16;
}

// The k-th neighbour of a vertex, or -1 if the surface ends there.
int neighbour(int i, int k, int n) {
  const int x = column(i, n) + kDx[k], y = row(i, n) + kDy[k];
  return x < 0 || y < 0 || x >= n || y >= n ? -1 : number(x, y, n);
}

double place_at(int i, int axis, int n) {
  const double noise = (static_cast<unsigned>(3 * i + axis) * 2654435761u >> 8) % 4096u / 16384.0;
  const int x = column(i, n), y = row(i, n);
  return noise + (axis == 0 ? x : axis == 1 ? y : (x % 40) * (y % 56) * 0.01);
}

void run(int n) {
  const int vertices = n * n, count = 2 * (n - 1) * (n - 1), patches = vertices / 256;
  float* places =
      device_array<float>(3 * vertices, [n](int i) { return static_cast<float>(place_at(i / 3, i % 3, n)); });
  float* planes = device_array<float>(3 * vertices, [n, vertices](int i) {
    return static_cast<float>(place_at(i % vertices, i / vertices, n));
  });
  double* exact = device_array<double>(
      3 * vertices, [n, vertices](int i) { return place_at(i % vertices, i / vertices, n); });
  const auto triangle = [n](int t) {
    const int x = t / 2 % (n - 1), y = t / 2 / (n - 1);
    const int b = number(x + 1, y, n), c = number(x, y + 1, n);
    return t % 2 == 0 ? make_int3(number(x, y, n), b, c) : make_int3(b, number(x + 1, y + 1, n), c);
  };
  int3* triangles = device_array<int3>(count, triangle);
  // The same triangles in another order: groups of 64 that are far from each other.
  int3* mixed = device_array<int3>(count, [=](int t) {
    const int groups = count / 64, group = t / 64;
    return triangle(group < groups ? static_cast<int>(group * 7919ll % groups) * 64 + t % 64 : t);
  });
  int* table = device_array<int>(kValence * vertices, [n, vertices](int i) {
    const int j = neighbour(i % vertices, i / vertices, n);
    return j < 0 ? i % vertices : j;
  });
  std::vector<int> starts(1, 0), columns;
  std::vector<int2> edges;
  for (int i = 0; i < vertices; ++i) {
    for (int k = 0; k < kValence; ++k) {
      const int j = neighbour(i, k, n);
      if (j >= 0) columns.push_back(j);
      if (j >= 0 && k < 3) edges.push_back(make_int2(i, j));
    }
    starts.push_back(static_cast<int>(columns.size()));
  }
  const int entries = static_cast<int>(columns.size()), edge_count = static_cast<int>(edges.size());
  int* row_starts = device_array<int>(vertices + 1, [&](int i) { return starts[i]; });
  int* row_columns = device_array<int>(entries, [&](int i) { return columns[i]; });
  int2* ends = device_array<int2>(edge_count, [&](int i) { return edges[i]; });
  double* entry_weights = device_array<double>(entries, [](int i) { return 0.5 + i % 11 * 0.1; });
  unsigned char* inner = device_array<unsigned char>(vertices, [n](int i) {
    const int x = column(i, n), y = row(i, n);
    return static_cast<unsigned char>(x > 0 && y > 0 && x < n - 1 && y < n - 1);
  });
  int* members =
      device_array<int>(vertices, [patches](int i) { return (i / 256 * 37 + 5) % patches * 256 + i % 256; });
  unsigned char* local = device_array<unsigned char>(kValence * vertices, [](int i) {
    const int t = i % 256, k = i / 256 % kValence, x = t % 16 + kDx[k], y = t / 16 + kDy[k];
    return static_cast<unsigned char>(x < 0 || y < 0 || x > 15 || y > 15 ? t : y * 16 + x);
  });
  float4* normals = device_zeros<float4>(count);
  float* sums = device_zeros<float>(3 * vertices);
  float* smoothed = device_zeros<float>(3 * vertices);
  double* exact_smoothed = device_zeros<double>(3 * vertices);
  float* weights = device_zeros<float>(3 * count);
  double* exact_weights = device_zeros<double>(3 * count);
  float* lengths = device_zeros<float>(edge_count);
  float* curvature = device_zeros<float>(vertices);
  Summary* summaries = device_zeros<Summary>(396);

  for (int r = 0; r < kLaunches; ++r)
    triangle_normals<<<ceil_div(count, 256), 256>>>((float3*)places, triangles, normals, count);
  for (int r = 0; r < kLaunches; ++r)
    spread_normals<<<min(ceil_div(count, 256), 1056), 256>>>(normals, (int*)triangles, sums, count);
  for (int r = 0; r < kLaunches; ++r)
    cotangent_weights<float><<<ceil_div(count, 128), 128>>>(planes, planes + vertices, planes + 2 * vertices,
                                                            mixed, weights, count);
  for (int r = 0; r < kLaunches; ++r)
    cotangent_weights<double><<<ceil_div(count, 256), 256>>>(exact, exact + vertices, exact + 2 * vertices,
                                                             triangles, exact_weights, count);
  for (int r = 0; r < kLaunches; ++r)
    smooth_six<<<ceil_div(vertices, 192), 192>>>(planes, planes + vertices, planes + 2 * vertices, table,
                                                 smoothed, 0.5f, vertices);
  for (int r = 0; r < kLaunches; ++r)
    smooth_rows<<<ceil_div(vertices, 64), 64>>>(exact, exact + vertices, exact + 2 * vertices, row_starts,
                                                row_columns, entry_weights, exact_smoothed, 0.4, vertices);
  for (int r = 0; r < kLaunches; ++r)
    edge_lengths<<<min(ceil_div(edge_count, 512), 396), 512>>>((float3*)places, ends, lengths, summaries,
                                                               edge_count);
  for (int r = 0; r < kLaunches; ++r)
    angle_defects<<<ceil_div(vertices, 320), 320>>>((float3*)places, row_starts, row_columns, inner,
                                                    curvature, vertices);
  for (int r = 0; r < kLaunches; ++r)
    smooth_patches<<<patches, 256>>>((float3*)places, members, local, (float3*)smoothed, 0.33f, -0.34f, 10);
  free_all(places, planes, exact, triangles, mixed, table, row_starts, row_columns, ends, entry_weights,
           inner, members, local, normals, sums, smoothed, exact_smoothed, weights, exact_weights, lengths,
           curvature, summaries);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("mesh_smoothing");
}
