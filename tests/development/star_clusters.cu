// Star clusters: gravity among n bodies, and steps in time of 256 such clusters.
#include "device.h"

__device__ void add_pull(float4 from, float4 own, float softening, float3* pull) {
  const float dx = from.x - own.x, dy = from.y - own.y, dz = from.z - own.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
  const float strength = from.w * inverse * inverse * inverse;
  pull->x += strength * dx;
  pull->y += strength * dy;
  pull->z += strength * dz;
}

// All pairs: each thread reads all bodies (x, y, z and mass) from global memory.
__global__ void accelerate_direct(const float4* bodies, float4* pulls, float softening, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 own = bodies[i];
  float3 pull = make_float3(0, 0, 0);
  for (int j = 0; j < n; ++j) add_pull(bodies[j], own, softening, &pull);
  pulls[i] = make_float4(pull.x, pull.y, pull.z, 0);
}

// All pairs: bodies come in tiles through shared memory. Those past the end have no mass.
template <int kTile>
__global__ void accelerate_tiles(const float4* __restrict__ bodies, float4* __restrict__ pulls,
                                 float softening, int n) {
  __shared__ float4 tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  const float4 own = bodies[min(i, n - 1)];
  float3 pull = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += kTile) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kTile; ++k) add_pull(tile[k], own, softening, &pull);
    __syncthreads();
  }
  if (i < n) pulls[i] = make_float4(pull.x, pull.y, pull.z, 0);
}

// All pairs: each thread has several bodies of its own, so that a body of the tile is read once for all.
template <int kBodies>
__global__ void accelerate_several(const float4* __restrict__ bodies, float4* __restrict__ pulls,
                                   float softening, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * 64 * kBodies + threadIdx.x;
  float4 own[kBodies];
  float3 pull[kBodies];
#pragma unroll
  for (int b = 0; b < kBodies; ++b) {
    own[b] = bodies[min(i + 64 * b, n - 1)];
    pull[b] = make_float3(0, 0, 0);
  }
  for (int first = 0; first < n; first += 64) {
    const int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 64; ++k) {
      const float4 from = tile[k];
#pragma unroll
      for (int b = 0; b < kBodies; ++b) add_pull(from, own[b], softening, &pull[b]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int b = 0; b < kBodies; ++b)
    if (i + 64 * b < n) pulls[i + 64 * b] = make_float4(pull[b].x, pull[b].y, pull[b].z, 0);
}

// Acceleration, potential and jerk of each body, as a Hermite scheme needs them.
__global__ void hermite_forces(const float4* __restrict__ bodies, const float4* __restrict__ speeds,
                               float4* __restrict__ pulls, float4* __restrict__ jerks, float softening,
                               int n) {
  __shared__ float4 places[128];
  __shared__ float3 ways[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 own = bodies[min(i, n - 1)], way = speeds[min(i, n - 1)];
  float ax = 0, ay = 0, az = 0, jx = 0, jy = 0, jz = 0, potential = 0;
  for (int first = 0; first < n; first += 128) {
    const int j = min(first + static_cast<int>(threadIdx.x), n - 1), count = min(128, n - first);
    const float4 speed = speeds[j];
    places[threadIdx.x] = bodies[j];
    ways[threadIdx.x] = make_float3(speed.x, speed.y, speed.z);
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const float4 p = places[k];
      const float3 v = ways[k];
      const float dx = p.x - own.x, dy = p.y - own.y, dz = p.z - own.z;
      const float ux = v.x - way.x, uy = v.y - way.y, uz = v.z - way.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      const float share = p.w * inverse, square = inverse * inverse, strength = share * square;
      const float along = 3 * (dx * ux + dy * uy + dz * uz) * square;
      potential -= share;
      ax += strength * dx;
      ay += strength * dy;
      az += strength * dz;
      jx += strength * (ux - along * dx);
      jy += strength * (uy - along * dy);
      jz += strength * (uz - along * dz);
    }
    __syncthreads();
  }
  if (i >= n) return;
  pulls[i] = make_float4(ax, ay, az, potential + own.w * rsqrtf(softening));
  jerks[i] = make_float4(jx, jy, jz, 0);
}

// Hermite predictor: places and speeds after a step, from acceleration and jerk.
__global__ void hermite_predict(const float4* __restrict__ bodies, const float4* __restrict__ speeds,
                                const float4* __restrict__ pulls, const float4* __restrict__ jerks,
                                float4* __restrict__ new_bodies, float4* __restrict__ new_speeds, float step,
                                int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 p = bodies[i], v = speeds[i], a = pulls[i], j = jerks[i];
  const float half = step / 2, third = step / 3;
  new_bodies[i] = make_float4(p.x + step * (v.x + half * (a.x + third * j.x)),
                              p.y + step * (v.y + half * (a.y + third * j.y)),
                              p.z + step * (v.z + half * (a.z + third * j.z)), p.w);
  new_speeds[i] = make_float4(v.x + step * (a.x + half * j.x), v.y + step * (a.y + half * j.y),
                              v.z + step * (a.z + half * j.z), v.w);
}

struct Corrected {
  float place, speed;
};

__device__ Corrected corrected(float p, float v, float a, float j, float new_a, float new_j, float step) {
  const float twelfth = step * step / 12;
  const float speed = v + step / 2 * (a + new_a) + twelfth * (j - new_j);
  return {p + step / 2 * (v + speed) + twelfth * (a - new_a), speed};
}

// Hermite corrector: places and speeds again, with the acceleration and jerk of both ends of the step.
__global__ void hermite_correct(const float4* bodies, const float4* speeds, const float4* pulls,
                                const float4* jerks, const float4* new_pulls, const float4* new_jerks,
                                float4* new_bodies, float4* new_speeds, float step, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 p = bodies[i], v = speeds[i], a = pulls[i], j = jerks[i], b = new_pulls[i], k = new_jerks[i];
  const Corrected x = corrected(p.x, v.x, a.x, j.x, b.x, k.x, step);
  const Corrected y = corrected(p.y, v.y, a.y, j.y, b.y, k.y, step);
  const Corrected z = corrected(p.z, v.z, a.z, j.z, b.z, k.z, step);
  new_bodies[i] = make_float4(x.place, y.place, z.place, p.w);
  new_speeds[i] = make_float4(x.speed, y.speed, z.speed, v.w);
}

// Pulls on the active bodies only, which are the first ones. Eight rows of threads share the sources.
template <class Real>
__global__ void accelerate_active(const Real* __restrict__ x, const Real* __restrict__ y,
                                  const Real* __restrict__ z, const Real* __restrict__ masses,
                                  Real* __restrict__ pulls, Real softening, int active, int n) {
  __shared__ Real parts[3][8][32];
  const int lane = threadIdx.x, part = threadIdx.y, i = blockIdx.x * 32 + lane, own = min(i, active - 1);
  const Real px = x[own], py = y[own], pz = z[own];
  Real ax = 0, ay = 0, az = 0;
  for (int j = part; j < n; j += 8) {
    const Real dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
    const Real inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
    const Real strength = masses[j] * inverse * inverse * inverse;
    ax += strength * dx;
    ay += strength * dy;
    az += strength * dz;
  }
  parts[0][part][lane] = ax;
  parts[1][part][lane] = ay;
  parts[2][part][lane] = az;
  __syncthreads();
  if (part >= 3 || i >= active) return;
  Real sum = 0;
  for (int k = 0; k < 8; ++k) sum += parts[part][k][lane];
  pulls[part * active + i] = sum;
}

// All pairs split over blocks: each block adds up the pulls of 256 bodies on its own 128.
__global__ void accelerate_split(const float4* __restrict__ bodies, float4* __restrict__ partial,
                                 float softening, int n) {
  __shared__ float4 tile[256];
  for (int k = threadIdx.x; k < 256; k += 128) {
    const int j = blockIdx.y * 256 + k;
    tile[k] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
  }
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const float4 own = bodies[i];
  float3 pull = make_float3(0, 0, 0);
#pragma unroll 4
  for (int k = 0; k < 256; ++k) add_pull(tile[k], own, softening, &pull);
  partial[blockIdx.y * n + i] = make_float4(pull.x, pull.y, pull.z, 0);
}

// Sums of the partial pulls of each body.
__global__ void add_partial(const float4* __restrict__ partial, float4* __restrict__ pulls, int splits,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int s = 0; s < splits; ++s) {
    const float4 part = partial[s * n + i];
    sum.x += part.x;
    sum.y += part.y;
    sum.z += part.z;
  }
  pulls[i] = sum;
}

// Nearest neighbour of each body, by trying all others.
__global__ void nearest_neighbour(const float4* __restrict__ bodies, int* __restrict__ neighbours,
                                  float* __restrict__ distances, int n) {
  __shared__ float xs[192], ys[192], zs[192];
  const int i = blockIdx.x * 192 + threadIdx.x;
  const float4 own = bodies[min(i, n - 1)];
  float least = 1e30f;
  int nearest = -1;
  for (int first = 0; first < n; first += 192) {
    const int j = min(first + static_cast<int>(threadIdx.x), n - 1), count = min(192, n - first);
    const float4 other = bodies[j];
    xs[threadIdx.x] = other.x;
    ys[threadIdx.x] = other.y;
    zs[threadIdx.x] = other.z;
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      const float dx = xs[k] - own.x, dy = ys[k] - own.y, dz = zs[k] - own.z;
      const float distance = dx * dx + dy * dy + dz * dz;
      const bool nearer = distance < least && first + k != i;
      least = nearer ? distance : least;
      nearest = nearer ? first + k : nearest;
    }
    __syncthreads();
  }
  if (i >= n) return;
  neighbours[i] = nearest;
  distances[i] = sqrtf(least);
}

// Leapfrog, kick and drift at once.
__global__ void kick_and_drift(float4* bodies, float4* speeds, const float4* pulls, float step, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 p = bodies[i], v = speeds[i];
  const float4 a = pulls[i];
  v.x += step * a.x;
  v.y += step * a.y;
  v.z += step * a.z;
  p.x += step * v.x;
  p.y += step * v.y;
  p.z += step * v.z;
  speeds[i] = v;
  bodies[i] = p;
}

// Leapfrog, drift alone: coordinates in double, all in a row.
__global__ void drift(double* coordinates, const double* speeds, double step, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    coordinates[i] += step * speeds[i];
}

float4 any_body(int i) {
  const unsigned k = 3u * static_cast<unsigned>(i);
  return make_float4(hashed_unit(k), hashed_unit(k + 1), hashed_unit(k + 2), 0.001f);
}

float4 any_speed(int i) {
  const unsigned k = 3u * static_cast<unsigned>(i) + 7;
  return make_float4(hashed_unit(k) - 0.5f, hashed_unit(k + 1) - 0.5f, hashed_unit(k + 2) - 0.5f, 0);
}

void run(int n) {
  const int count = 256 * n, splits = ceil_div(n, 256);
  float4* bodies = device_array<float4>(count, any_body);
  float4* speeds = device_array<float4>(count, any_speed);
  float4* pulls = device_zeros<float4>(count);
  float4* jerks = device_zeros<float4>(count);
  float4* new_bodies = device_zeros<float4>(count);
  float4* new_speeds = device_zeros<float4>(count);
  float4* new_pulls = device_zeros<float4>(count);
  float4* new_jerks = device_zeros<float4>(count);
  float4* partial = device_zeros<float4>(splits * n);
  float* xs = device_array<float>(n, [](int i) { return any_body(i).x; });
  float* ys = device_array<float>(n, [](int i) { return any_body(i).y; });
  float* zs = device_array<float>(n, [](int i) { return any_body(i).z; });
  float* masses = device_array<float>(n, [](int i) { return any_body(i).w; });
  float* sums = device_zeros<float>(3 * n);
  double* double_xs = device_array<double>(n, [](int i) { return any_body(i).x; });
  double* double_ys = device_array<double>(n, [](int i) { return any_body(i).y; });
  double* double_zs = device_array<double>(n, [](int i) { return any_body(i).z; });
  double* double_masses = device_array<double>(n, [](int i) { return any_body(i).w; });
  double* double_sums = device_zeros<double>(3 * n);
  double* coordinates = device_doubles(3 * count);
  double* double_speeds = device_doubles(3 * count);
  int* neighbours = device_zeros<int>(n);
  float* distances = device_zeros<float>(n);
  const float softening = 1e-4f, step = 1e-6f;
  for (int r = 0; r < kLaunches; ++r)
    accelerate_direct<<<ceil_div(n, 128), 128>>>(bodies, pulls, softening, n);
  for (int r = 0; r < kLaunches; ++r)
    accelerate_tiles<256><<<ceil_div(n, 256), 256>>>(bodies, pulls, softening, n);
  for (int r = 0; r < kLaunches; ++r)
    accelerate_tiles<64><<<ceil_div(n, 64), 64>>>(bodies, pulls, softening, n);
  for (int r = 0; r < kLaunches; ++r)
    accelerate_several<2><<<ceil_div(n, 128), 64>>>(bodies, pulls, softening, n);
  for (int r = 0; r < kLaunches; ++r)
    accelerate_several<4><<<ceil_div(n, 256), 64>>>(bodies, pulls, softening, n);
  for (int r = 0; r < kLaunches; ++r)
    hermite_forces<<<ceil_div(n, 128), 128>>>(bodies, speeds, pulls, jerks, softening, n);
  for (int r = 0; r < kLaunches; ++r)
    hermite_predict<<<ceil_div(count, 256), 256>>>(bodies, speeds, pulls, jerks, new_bodies, new_speeds, step,
                                                   count);
  for (int r = 0; r < kLaunches; ++r)
    hermite_correct<<<ceil_div(count, 128), 128>>>(bodies, speeds, pulls, jerks, new_pulls, new_jerks,
                                                   new_bodies, new_speeds, step, count);
  for (int r = 0; r < kLaunches; ++r)
    accelerate_active<float>
        <<<ceil_div(n / 2, 32), dim3(32, 8)>>>(xs, ys, zs, masses, sums, softening, n / 2, n);
  for (int r = 0; r < kLaunches; ++r)
    accelerate_active<double><<<ceil_div(n / 8, 32), dim3(32, 8)>>>(
        double_xs, double_ys, double_zs, double_masses, double_sums, 1e-4, n / 8, n);
  for (int r = 0; r < kLaunches; ++r)
    accelerate_split<<<dim3(ceil_div(n, 128), splits), 128>>>(bodies, partial, softening, n);
  for (int r = 0; r < kLaunches; ++r) add_partial<<<ceil_div(n, 64), 64>>>(partial, pulls, splits, n);
  for (int r = 0; r < kLaunches; ++r)
    nearest_neighbour<<<ceil_div(n, 192), 192>>>(bodies, neighbours, distances, n);
  for (int r = 0; r < kLaunches; ++r)
    kick_and_drift<<<ceil_div(count, 512), 512>>>(bodies, speeds, pulls, step, count);
  for (int r = 0; r < kLaunches; ++r) drift<<<1056, 256>>>(coordinates, double_speeds, 1e-6, 3 * count);
  free_all(bodies, speeds, pulls, jerks, new_bodies, new_speeds, new_pulls, new_jerks, partial);
  free_all(xs, ys, zs, masses, sums, double_xs, double_ys, double_zs, double_masses, double_sums);
  free_all(coordinates, double_speeds, neighbours, distances);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("star_clusters");
}
