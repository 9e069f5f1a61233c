// Geometry of meshes: a height field with n x n vertices, its triangles, and a volume of 8 layers above it.
#include "device.h"

__constant__ unsigned char triangles_of_case[256];
__constant__ float3 facets[12][3];

__device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// Normals and areas of triangles from a list of corners.
__global__ void triangle_normals(const float3* __restrict__ vertices, const int3* __restrict__ corners,
                                 float4* __restrict__ normals, int triangles) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= triangles) return;
  const int3 c = corners[t];
  const float3 a = vertices[c.x], n = cross(vertices[c.y] - a, vertices[c.z] - a);
  const float length = sqrtf(dot(n, n));
  normals[t] = make_float4(n.x / length, n.y / length, n.z / length, 0.5f * length);
}

// Normals of vertices: means over the faces around each, weighted with their areas, from compressed rows.
__global__ void vertex_normals(const int* starts, const int* faces, const float4* normals, float3* out,
                               int vertices) {
  for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += gridDim.x * blockDim.x) {
    float3 sum = make_float3(0, 0, 0);
    for (int k = starts[v]; k < starts[v + 1]; ++k) {
      const float4 n = normals[faces[k]];
      sum.x += n.w * n.x, sum.y += n.w * n.y, sum.z += n.w * n.z;
    }
    const float scale = rsqrtf(dot(sum, sum) + 1e-20f);
    out[v] = make_float3(scale * sum.x, scale * sum.y, scale * sum.z);
  }
}

// Laplacian smoothing of planes of coordinates. A block of 64 columns goes down kRows rows.
template <int kRows>
__global__ void smooth_rows(const float* __restrict__ in, float* __restrict__ out, float step, int n) {
  __shared__ float line[66];
  const int t = threadIdx.x, x = blockIdx.x * 64 + t, column = min(x, n - 1), y = blockIdx.y * kRows;
  const float* plane = in + static_cast<size_t>(blockIdx.z) * n * n;
  float above = plane[max(y - 1, 0) * n + column], here = plane[y * n + column];
  for (int row = y; row < min(y + kRows, n); ++row) {
    const float below = plane[min(row + 1, n - 1) * n + column];
    line[t + 1] = here;
    if (t % 63 == 0) line[t ? 65 : 0] = plane[row * n + (t ? min(x + 1, n - 1) : max(x - 1, 0))];
    __syncthreads();
    const float mean = (above + below + line[t] + line[t + 2]) / 4;
    if (x < n) out[(static_cast<size_t>(blockIdx.z) * n + row) * n + x] = here + step * (mean - here);
    __syncthreads();
    above = here;
    here = below;
  }
}

// Mean and Gaussian curvature by the cotangents of the six triangles around a vertex.
__global__ void cotangent_curvature(const float3* vertices, float2* curvature, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x, around[6] = {i + 1, i + n, i + n - 1, i - 1, i - n, i - n + 1};
  const float3 centre = vertices[i];
  float3 ring[6], sum = make_float3(0, 0, 0);
  for (int k = 0; k < 6; ++k) ring[k] = vertices[around[k]] - centre;
  float area = 0, angles = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    const float3 here = ring[k], next = ring[(k + 1) % 6], before = ring[(k + 5) % 6];
    const float3 side = cross(here, next), other = cross(before, here);
    const float twice = sqrtf(dot(side, side)) + 1e-12f;
    const float cotangent = dot(before, before - here) * rsqrtf(dot(other, other));
    const float weight = dot(next, next - here) / twice + cotangent;
    sum.x += weight * here.x, sum.y += weight * here.y, sum.z += weight * here.z;
    area += twice / 6;
    angles += atan2f(twice, dot(here, next));
  }
  curvature[i] = make_float2(sqrtf(dot(sum, sum)) / (4 * area), (6.2831853f - angles) / area);
}

// Depths of rays: a picture against all triangles of a list, 32 of them in shared memory at a time.
__global__ void ray_depths(float3 eye, float width, const float3* soup, float* depths, int count, int n) {
  __shared__ float3 part[32][3];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const int t = threadIdx.y * 16 + threadIdx.x;
  const float3 ray = make_float3(width * (2 * x - n) / n, width * (2 * y - n) / n, -1);
  float nearest = 1e30f;
  for (int start = 0; start < count; start += 32) {
    if (t < 96) part[t / 3][t % 3] = soup[start * 3 + t];
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      const float3 e1 = part[k][1] - part[k][0], e2 = part[k][2] - part[k][0], p = cross(ray, e2);
      const float det = dot(e1, p);
      if (fabsf(det) < 1e-9f) continue;
      const float3 s = eye - part[k][0], q = cross(s, e1);
      const float b = dot(s, p) / det, c = dot(ray, q) / det, depth = dot(e2, q) / det;
      if (b >= 0 && c >= 0 && b + c <= 1 && depth > 0) nearest = fminf(nearest, depth);
    }
    __syncthreads();
  }
  if (x < n && y < n) depths[y * n + x] = nearest;
}

// Cases of the cells of a volume and their triangles, from a table in constant memory.
__global__ void cube_cases(const float* __restrict__ field, unsigned char* cases, unsigned* total,
                           float level, int n, int layers) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z, i = (z * n + y) * n + x;
  unsigned bits = 0;
  if (x < n - 1 && y < n - 1 && z < layers - 1) {
    for (int k = 0; k < 8; ++k) bits |= (field[i + k % 2 + k / 2 % 2 * n + k / 4 * n * n] < level) << k;
    cases[i] = bits;
  }
  const unsigned sum = __reduce_add_sync(0xffffffffu, triangles_of_case[bits]);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(&total[z], sum);
}

// Signed distances of points to twelve triangles in constant memory.
template <class T>
__global__ void signed_distances(T* distances, float spacing, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= n) return;
  T best = 1e10;
  for (int f = 0; f < 12; ++f) {
    const float3 a = facets[f][0], e = facets[f][1] - a, g = facets[f][2] - a, m = cross(e, g);
    const T px = x * spacing - a.x, py = y * spacing - a.y, pz = z * spacing - a.z;
    const T height = (px * m.x + py * m.y + pz * m.z) / sqrt(T(dot(m, m)));
    const T d1 = px * e.x + py * e.y + pz * e.z, d2 = px * g.x + py * g.y + pz * g.z;
    const T ee = dot(e, e), eg = dot(e, g), gg = dot(g, g), det = ee * gg - eg * eg;
    T s = fmax((gg * d1 - eg * d2) / det, T(0)), t = fmax((ee * d2 - eg * d1) / det, T(0));
    if (s + t > 1) s = s / (s + t), t = 1 - s;
    const T dx = px - s * e.x - t * g.x, dy = py - s * e.y - t * g.y, dz = pz - s * e.z - t * g.z;
    const T distance = sqrt(dx * dx + dy * dy + dz * dz);
    if (distance < fabs(best)) best = height < 0 ? -distance : distance;
  }
  distances[(z * n + y) * n + x] = best;
}

// Codes of 63 bits along a Z curve, and the box of all vertices.
__global__ void morton_codes(const float3* vertices, unsigned long long* codes, int* box, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* parts = &vertices[min(i, count - 1)].x;
  unsigned long long code = 0;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const unsigned long long bits = static_cast<unsigned>(parts[k] * 2097151.0f);
    for (int b = 0; b < 21; ++b) code |= (bits >> b & 1) << (3 * b + k);
    const int value = __float_as_int(parts[k]);
    const int low = __reduce_min_sync(0xffffffffu, value), high = __reduce_max_sync(0xffffffffu, value);
    if (threadIdx.x % 32 == k) atomicMin(&box[k], low), atomicMax(&box[3 + k], high);
  }
  if (i < count) codes[i] = code;
}

void run(int n) {
  const int vertices = n * n, triangles = 2 * (n - 1) * (n - 1), layers = 8;
  const float h = 1.0f / n;
  const dim3 tiles(ceil_div(n, 16), ceil_div(n, 16)), block(16, 16), cells(n / 32 + 1, n / 4 + 1, 4);
  unsigned char cases[256];
  float parts[256];
  for (int k = 0; k < 256; ++k) cases[k] = __builtin_popcount(k) * (k % 3 + 1) / 4, parts[k] = hashed_unit(k);
  cudaMemcpyToSymbol(triangles_of_case, cases, sizeof cases);
  cudaMemcpyToSymbol(facets, parts, sizeof facets);
  const auto vertex = [n, h](int i) { return make_float3(i % n * h, i / n * h, 0.2f + h * hashed_unit(i)); };
  float3* points = device_array<float3>(vertices, vertex);
  int3* corners = device_array<int3>(triangles, [n](int t) {
    const int a = t / 2 / (n - 1) * n + t / 2 % (n - 1);
    return t % 2 == 0 ? make_int3(a, a + 1, a + n) : make_int3(a + n + 1, a + n, a + 1);
  });
  int* starts = device_array<int>(vertices + 1, [](int v) { return 6 * v; });
  int* faces = device_array<int>(6 * vertices, [n](int i) {
    const int x = i / 6 % n - i % 3 % 2, y = i / 6 / n - i % 2;
    return 2 * (min(max(y, 0), n - 2) * (n - 1) + min(max(x, 0), n - 2)) + i % 3 / 2;
  });
  float* field = device_array<float>(vertices * layers, [](int i) { return hashed_unit(i / 3); });
  float4* normals = device_zeros<float4>(triangles);
  float* out = device_zeros<float>(vertices * layers);
  for (int r = 0; r < kLaunches; ++r)
    triangle_normals<<<ceil_div(triangles, 384), 384>>>(points, corners, normals, triangles);
  for (int r = 0; r < kLaunches; ++r)
    vertex_normals<<<min(ceil_div(vertices, 128), 2112), 128>>>(starts, faces, normals, (float3*)out, n * n);
  for (int r = 0; r < kLaunches; ++r)
    smooth_rows<16><<<dim3(ceil_div(n, 64), ceil_div(n, 16), 8), 64>>>(field, out, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r)
    cotangent_curvature<<<dim3(ceil_div(n, 32), ceil_div(n, 6)), dim3(32, 6)>>>(points, (float2*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    ray_depths<<<tiles, block>>>(make_float3(.5f, .5f, 2), 0.3f, points, out, n < 400 ? 96 : 512, n);
  for (int r = 0; r < kLaunches; ++r)
    cube_cases<<<cells, dim3(32, 4, 2)>>>(field, (unsigned char*)out, (unsigned*)normals, 0.4f, n, layers);
  for (int r = 0; r < kLaunches; ++r) signed_distances<<<dim3(ceil_div(n, 96), n, 4), 96>>>(out, h, n);
  for (int r = 0; r < kLaunches; ++r) signed_distances<<<dim3(n / 160 + 1, n, 2), 160>>>((double*)out, h, n);
  for (int r = 0; r < kLaunches; ++r)
    morton_codes<<<ceil_div(vertices, 736), 736>>>(points, (unsigned long long*)out, starts, vertices);
  free_all(points, corners, starts, faces, field, normals, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("mesh_geometry");
}
