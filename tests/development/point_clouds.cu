// n points of a laser scanner's sweep: moved, put into voxels, and laid on a map of planes and points.
#include "device.h"

struct Return {
  float x, y, z, strength;
  unsigned short ring, ticks;
};

__constant__ float poses[8][12];

// Moves each point by one of eight poses, the one that belongs to the time at which it was seen.
__global__ void to_world(const Return* in, Return* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Return p = in[i];
  const float* m = poses[p.ticks >> 13];
  Return q = p;
  q.x = m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3];
  q.y = m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7];
  q.z = m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11];
  out[i] = q;
}

// Every third bit of 63 from 21.
__device__ unsigned long long spread_thrice(unsigned long long v) {
  v = (v | v << 32) & 0x001f00000000ffffull;
  v = (v | v << 16) & 0x001f0000ff0000ffull;
  v = (v | v << 8) & 0x100f00f00f00f00full;
  v = (v | v << 4) & 0x10c30c30c30c30c3ull;
  return (v | v << 2) & 0x1249249249249249ull;
}

// The number of the voxel of each point along a Z curve, and the point's number to sort with it.
__global__ void voxel_keys(const float* __restrict__ x, const float* __restrict__ y,
                           const float* __restrict__ z, unsigned long long* __restrict__ keys,
                           unsigned* __restrict__ order, float inverse, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int half = 1 << 20;
  const int cx = min(max(__float2int_rd(x[i] * inverse) + half, 0), 2 * half - 1);
  const int cy = min(max(__float2int_rd(y[i] * inverse) + half, 0), 2 * half - 1);
  const int cz = min(max(__float2int_rd(z[i] * inverse) + half, 0), 2 * half - 1);
  keys[i] = spread_thrice(cx) | spread_thrice(cy) << 1 | spread_thrice(cz) << 2;
  order[i] = i;
}

// How many points lie near each of up to 128 planes: four points in each thread's registers, a plane at a time.
__global__ void plane_votes(const float* x, const float* y, const float* z, const float4* planes, int* votes,
                            float near, int count, int n) {
  __shared__ float4 plane[128];
  __shared__ int found[128];
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    plane[k] = planes[k];
    found[k] = 0;
  }
  __syncthreads();
  float px[4], py[4], pz[4];
  for (int k = 0; k < 4; ++k) {
    const int i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
    px[k] = i < n ? x[i] : 1e18f;
    py[k] = i < n ? y[i] : 1e18f;
    pz[k] = i < n ? z[i] : 1e18f;
  }
  for (int k = 0; k < count; ++k) {
    const float4 p = plane[k];
    int own = 0;
    for (int j = 0; j < 4; ++j) {
      const float distance = fabsf(p.x * px[j] + p.y * py[j] + p.z * pz[j] + p.w);
      own += __popc(__ballot_sync(0xffffffffu, distance < near));
    }
    if (threadIdx.x % 32 == 0 && own > 0) atomicAdd(&found[k], own);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += blockDim.x)
    if (found[k] > 0) atomicAdd(&votes[k], found[k]);
}

// The kNear nearest of a map's points for each point, sorted in registers: tiles of the map in shared memory.
template <int kNear>
__global__ void __launch_bounds__(128)
    nearest_in_map(const float4* points, const float4* map, float* squares, int* which, int count, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 p = points[min(i, n - 1)];
  float best[kNear];
  int index[kNear];
#pragma unroll
  for (int k = 0; k < kNear; ++k) {
    best[k] = 1e30f;
    index[k] = -1;
  }
  for (int first = 0; first < count; first += 128) {
    __syncthreads();
    if (first + threadIdx.x < count) tile[threadIdx.x] = map[first + threadIdx.x];
    __syncthreads();
    const int here = min(128, count - first);
    for (int t = 0; t < here; ++t) {
      const float dx = tile[t].x - p.x, dy = tile[t].y - p.y, dz = tile[t].z - p.z;
      float square = dx * dx + dy * dy + dz * dz;
      if (square < best[kNear - 1]) {
        int number = first + t;
#pragma unroll
        for (int k = 0; k < kNear; ++k)
          if (square < best[k]) {
            const float s = best[k];
            const int w = index[k];
            best[k] = square;
            index[k] = number;
            square = s;
            number = w;
          }
      }
    }
  }
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < kNear; ++k) {
    squares[k * n + i] = best[k];
    which[k * n + i] = index[k];
  }
}

// The covariance of the neighbours of each point, which are in a list of its own: six planes of numbers out.
__global__ void covariances(const float3* points, const int* list, float* out, int each, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 own = points[i];
  float x = 0, y = 0, z = 0, xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
  for (int k = 0; k < each; ++k) {
    const float3 other = points[list[i * each + k]];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    x += dx;
    y += dy;
    z += dz;
    xx += dx * dx;
    xy += dx * dy;
    xz += dx * dz;
    yy += dy * dy;
    yz += dy * dz;
    zz += dz * dz;
  }
  const float share = 1.0f / each;
  x *= share;
  y *= share;
  z *= share;
  out[i] = xx * share - x * x;
  out[n + i] = xy * share - x * y;
  out[2 * n + i] = xz * share - x * z;
  out[3 * n + i] = yy * share - y * y;
  out[4 * n + i] = yz * share - y * z;
  out[5 * n + i] = zz * share - z * z;
}

// The normal of each point: the axis of the smallest eigenvalue of its covariance, by angles, in double precision.
__global__ void normals(const float* covariance, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double a = covariance[i], b = covariance[n + i], c = covariance[2 * n + i], d = covariance[3 * n + i],
               e = covariance[4 * n + i], f = covariance[5 * n + i];
  const double mean = (a + d + f) / 3, p1 = b * b + c * c + e * e;
  const double p2 = (a - mean) * (a - mean) + (d - mean) * (d - mean) + (f - mean) * (f - mean) + 2 * p1;
  const double p = sqrt(p2 / 6) + 1e-12, q = 1 / p;
  const double u = q * (a - mean), v = q * (d - mean), w = q * (f - mean), r = q * b, s = q * c, t = q * e;
  const double half = 0.5 * (u * (v * w - t * t) - r * (r * w - t * s) + s * (r * t - v * s));
  const double angle = acos(fmin(fmax(half, -1.0), 1.0)) / 3;
  const double smallest = mean + 2 * p * cos(angle + 2.0943951023931953);
  // The longest product of two rows of what is left.
  const double ka = a - smallest, kd = d - smallest, kf = f - smallest;
  const double x0 = b * e - c * kd, y0 = c * b - ka * e, z0 = ka * kd - b * b;
  const double x1 = b * kf - c * e, y1 = c * c - ka * kf, z1 = ka * e - b * c;
  const double x2 = kd * kf - e * e, y2 = e * c - b * kf, z2 = b * e - kd * c;
  const double l0 = x0 * x0 + y0 * y0 + z0 * z0, l1 = x1 * x1 + y1 * y1 + z1 * z1,
               l2 = x2 * x2 + y2 * y2 + z2 * z2;
  double x = x0, y = y0, z = z0, l = l0;
  if (l1 > l) x = x1, y = y1, z = z1, l = l1;
  if (l2 > l) x = x2, y = y2, z = z2, l = l2;
  const double inverse = rsqrt(l + 1e-300);
  out[i] = make_float4(x * inverse, y * inverse, z * inverse, smallest / (a + d + f + 1e-30));
}

// The sums of one step of aligning points to planes: 21 of a symmetric 6 x 6 matrix, 6 of the right side, the error.
__global__ void __launch_bounds__(256)
    alignment_sums(const float4* __restrict__ points, const int* __restrict__ match,
                   const float4* __restrict__ map, const float4* __restrict__ across, double* sums, float far,
                   int n) {
  float sum[28];
#pragma unroll
  for (int k = 0; k < 28; ++k) sum[k] = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int m = match[i];
    if (m < 0) continue;
    const float4 p = points[i], q = __ldg(&map[m]), v = __ldg(&across[m]);
    const float miss = (p.x - q.x) * v.x + (p.y - q.y) * v.y + (p.z - q.z) * v.z;
    const float weight = fabsf(miss) <= far ? 1.0f : far / fabsf(miss);
    const float row[6] = {p.y * v.z - p.z * v.y, p.z * v.x - p.x * v.z, p.x * v.y - p.y * v.x, v.x, v.y, v.z};
    int place = 0;
#pragma unroll
    for (int r = 0; r < 6; ++r) {
      const float scaled = weight * row[r];
#pragma unroll
      for (int c = r; c < 6; ++c) sum[place++] += scaled * row[c];
      sum[21 + r] += scaled * miss;
    }
    sum[27] += weight * miss * miss;
  }
  __shared__ float part[8][28];
#pragma unroll
  for (int k = 0; k < 28; ++k) {
    for (int step = 16; step > 0; step >>= 1) sum[k] += __shfl_down_sync(0xffffffffu, sum[k], step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32][k] = sum[k];
  }
  __syncthreads();
  if (threadIdx.x < 28) {
    double all = 0;
    for (int w = 0; w < 8; ++w) all += part[w][threadIdx.x];
    atomicAdd(&sums[threadIdx.x], all);
  }
}

// The least distance seen in each direction: an image of angles, with the distances in millimetres.
__global__ void range_image(const Return* points, unsigned* image, int columns, int rows, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float x = points[i].x, y = points[i].y, z = points[i].z;
    const float range = sqrtf(x * x + y * y + z * z);
    if (range < 0.5f) continue;
    const float turn = atan2f(y, x) * 0.15915494f + 0.5f, rise = asinf(z / range) * 0.31830989f + 0.5f;
    const int column = min((int)(turn * columns), columns - 1), row = min((int)(rise * rows), rows - 1);
    atomicMin(&image[row * columns + column], (unsigned)(range * 1000));
  }
}

static float scattered(int i) {
  return static_cast<float>(static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216;
}

void run(int n) {
  const int map_size = n < 8192 ? 200 : 1500, planes = 100, near = 12, columns = 2048, rows = 128;
  float turns[8][12];
  for (int p = 0; p < 8; ++p)
    for (int k = 0; k < 12; ++k) turns[p][k] = k % 5 == 0 ? 1.0f : 0.01f * (p - k);
  cudaMemcpyToSymbol(poses, turns, sizeof turns);
  Return* in = device_array<Return>(n, [](int i) {
    return Return{60 * scattered(3 * i) - 30,
                  60 * scattered(3 * i + 1) - 30,
                  6 * scattered(3 * i + 2) - 2,
                  scattered(i),
                  static_cast<unsigned short>(i % 64),
                  static_cast<unsigned short>(static_cast<unsigned>(i / 64) * 37u)};
  });
  Return* out = device_zeros<Return>(n);
  float* x = device_array<float>(n, [](int i) { return 60 * scattered(3 * i) - 30; });
  float* y = device_array<float>(n, [](int i) { return 60 * scattered(3 * i + 1) - 30; });
  float* z = device_array<float>(n, [](int i) { return 6 * scattered(3 * i + 2) - 2; });
  float3* triples = device_array<float3>(n, [](int i) {
    return make_float3(i % 977 * 0.05f + scattered(i), i / 977 % 811 * 0.05f, scattered(7 * i));
  });
  float4* quads = device_array<float4>(n, [](int i) {
    return make_float4(60 * scattered(3 * i) - 30, 60 * scattered(3 * i + 1) - 30,
                       6 * scattered(3 * i + 2) - 2, 1);
  });
  float4* map = device_array<float4>(n, [](int i) {
    return make_float4(60 * scattered(5 * i) - 30, 60 * scattered(5 * i + 1) - 30,
                       6 * scattered(5 * i + 2) - 2, 1);
  });
  float4* plane = device_array<float4>(
      planes, [](int i) { return make_float4(0.1f * (i % 3), 0.1f * (i % 5), 0.9f, 0.02f * i - 1); });
  // Neighbours are a few places or a few lines away.
  int* list = device_array<int>(near * n, [n, near](int i) {
    const int k = i % near, own = i / near;
    return (own + (k % 3 - 1) * 977 + (k / 3) * 2 + static_cast<int>(scattered(i) * 6) + n) % n;
  });
  int* match = device_array<int>(
      n, [n](int i) { return i % 11 == 5 ? -1 : (i + static_cast<int>(scattered(i) * 512)) % n; });
  unsigned long long* keys = device_zeros<unsigned long long>(n);
  unsigned* order = device_zeros<unsigned>(n);
  float* squares = device_zeros<float>(6 * n);
  int* which = device_zeros<int>(6 * n);
  float4* across = device_zeros<float4>(n);
  int* votes = device_zeros<int>(planes);
  double* sums = device_zeros<double>(28);
  unsigned* image = device_array<unsigned>(columns * rows, [](int) { return 0xffffffffu; });
  for (int r = 0; r < kLaunches; ++r) to_world<<<ceil_div(n, 256), 256>>>(in, out, n);
  for (int r = 0; r < kLaunches; ++r) voxel_keys<<<ceil_div(n, 512), 512>>>(x, y, z, keys, order, 5.0f, n);
  for (int r = 0; r < kLaunches; ++r)
    plane_votes<<<ceil_div(n, 4 * 256), 256>>>(x, y, z, plane, votes, 0.1f, planes, n);
  for (int r = 0; r < kLaunches; ++r)
    nearest_in_map<3><<<ceil_div(n, 128), 128>>>(quads, map, squares, which, map_size, n);
  for (int r = 0; r < kLaunches; ++r)
    nearest_in_map<6><<<ceil_div(n, 128), 128>>>(quads, map, squares, which, map_size, n);
  for (int r = 0; r < kLaunches; ++r) covariances<<<ceil_div(n, 192), 192>>>(triples, list, squares, near, n);
  for (int r = 0; r < kLaunches; ++r) normals<<<ceil_div(n, 64), 64>>>(squares, across, n);
  for (int r = 0; r < kLaunches; ++r)
    alignment_sums<<<min(ceil_div(n, 256), 264), 256>>>(quads, match, map, across, sums, 0.3f, n);
  for (int r = 0; r < kLaunches; ++r)
    range_image<<<min(ceil_div(n, 1024), 264), 1024>>>(in, image, columns, rows, n);
  free_all(in, out, x, y, z, triples, quads, map, plane, list, match, keys, order, squares, which, across,
           votes, sums, image);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("point_clouds");
}
