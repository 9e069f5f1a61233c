// Reconstruction of particle tracks: n tracks with hits in ten layers, and what is made of them.
#include "device.h"

constexpr int kLayers = 10, kMapSide = 48, kParticles = 192, kVolumes = 3000;
__constant__ float layer_radius[kLayers] = {3, 7, 11, 16, 25, 36, 50, 66, 85, 104};

// Kalman filter with straight layers: state and covariance of 5 x 5 stay in registers, 15 numbers in memory.
__global__ void kalman_registers(const float2* __restrict__ hits, float* covariances, float* chi2, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s[5] = {hits[i].x, hits[i].y, 0, 0, 0.1f}, c[5][5], chi = 0;
  for (int a = 0; a < 25; ++a) c[a / 5][a % 5] = a % 6 == 0 ? 1.0f : 0.01f;
  for (int layer = 0; layer < kLayers; ++layer) {
    const float dz = 0.1f * layer_radius[layer], bend = 0.003f * dz;
    const float2 hit = hits[layer * n + i];
    s[0] += dz * s[2], s[1] += dz * s[3], s[2] += bend * s[4];
    for (int b = 0; b < 5; ++b) c[0][b] += dz * c[2][b], c[1][b] += dz * c[3][b], c[2][b] += bend * c[4][b];
    for (int a = 0; a < 5; ++a) c[a][0] += dz * c[a][2], c[a][1] += dz * c[a][3], c[a][2] += bend * c[a][4];
    for (int m = 0; m < 2; ++m) {
      const float residual = (m == 0 ? hit.x : hit.y) - s[m], weight = 1 / (c[m][m] + 0.01f);
      float gain[5], row[5];
      for (int a = 0; a < 5; ++a) gain[a] = c[a][m] * weight, row[a] = c[m][a], s[a] += gain[a] * residual;
      for (int a = 0; a < 25; ++a) c[a / 5][a % 5] -= gain[a / 5] * row[a % 5];
      chi += residual * residual * weight;
    }
  }
  chi2[i] = chi;
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b <= a; ++b) covariances[(a * (a + 1) / 2 + b) * n + i] = c[a][b];
}

// An update of tracks by one of five measures: each has 5 numbers and a matrix in a row. Loops stay loops.
__global__ void kalman_arrays(double* tracks, int which, double measured, double variance, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double *state = tracks + 30 * (size_t)i, *cov = state + 5, gain[5], row[5];
  const double scale = 1 / (cov[which * 6] + variance), residual = (measured - state[which]) * scale;
  for (int a = 0; a < 5; a++) row[a] = cov[which * 5 + a], gain[a] = cov[a * 5 + which];
#pragma unroll 1
  for (int a = 0; a < 5; a++) {
    state[a] += gain[a] * residual;
    for (int b = 0; b < 5; b++) cov[a * 5 + b] -= gain[a] * scale * row[b];
  }
}

// Transforms covariances to J C J^T: blocks of 5 x 5 x 8 threads, a thread for each entry.
__global__ void similarity(const float* jacobians, const float* in, float* out, int n) {
  __shared__ float j[8][5][5], c[8][5][5], h[8][5][5];
  const int a = threadIdx.y, b = threadIdx.x, t = threadIdx.z, track = blockIdx.x * 8 + t;
  const int at = min(track, n - 1) * 25 + a * 5 + b;
  j[t][a][b] = jacobians[at], c[t][a][b] = in[at];
  __syncthreads();
  float half = 0, sum = 0;
  for (int k = 0; k < 5; ++k) half += j[t][a][k] * c[t][k][b];
  h[t][a][b] = half;
  __syncthreads();
  for (int k = 0; k < 5; ++k) sum += h[t][a][k] * j[t][b][k];
  if (track < n) out[at] = sum;
}

// Fits a circle to the hits of each track: two passes, moments around the mean, and a 2 x 2 system.
__global__ void circle_fit(const float2* hits, float4* circles, int layers, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float mx = 0, my = 0, xx = 0, xy = 0, yy = 0, xz = 0, yz = 0, zz = 0;
    for (int k = 0; k < layers; ++k) mx += hits[k * n + i].x / layers, my += hits[k * n + i].y / layers;
    for (int k = 0; k < layers; ++k) {
      const float x = hits[k * n + i].x - mx, y = hits[k * n + i].y - my, z = x * x + y * y;
      xx += x * x, xy += x * y, yy += y * y, xz += x * z, yz += y * z, zz += z;
    }
    const float det = 2 * (xx * yy - xy * xy) + 1e-6f;
    const float a = (xz * yy - yz * xy) / det, b = (yz * xx - xz * xy) / det;
    circles[i] = make_float4(a + mx, b + my, sqrtf(a * a + b * b + zz / layers), det);
  }
}

// Seeds: each hit of the middle layer tries the inner and outer hits near it; warps share an atomic add.
__global__ void triplet_seeds(const float2* __restrict__ layers, int3* seeds, unsigned* count, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int2 best = {-1, -1};
  float least = 0.2f;
  const float2 mid = layers[m + min(i, m - 1)];
  for (int a = max(i - 10, 0); a <= min(i + 10, m - 1); ++a) {
    const float phi = mid.x - layers[a].x, slope = mid.y - layers[a].y;
    for (int b = max(i - 10, 0); b <= min(i + 10, m - 1) && fabsf(phi) < 0.3f; ++b) {
      const float2 out = layers[2 * m + b];
      const float cost = fabsf(out.x - mid.x - phi) + fabsf(out.y - mid.y - slope);
      if (cost < least) least = cost, best = make_int2(a, b);
    }
  }
  const unsigned found = __ballot_sync(0xffffffffu, i < m && best.x >= 0);
  unsigned base = 0;
  if (lane == 0 && found) base = atomicAdd(count, (unsigned)__popc(found));
  base = __shfl_sync(0xffffffffu, base, 0) + __popc(found & ((1u << lane) - 1));
  if (found >> lane & 1) seeds[base % m] = make_int3(best.x, i, best.y);
}

// Clusters of a calorimeter that is round in phi: cells above their eight neighbours sum 5 x 5 energies.
__global__ void local_maxima(const unsigned short* adc, const float* gains, float* sums, int side) {
  const int phi = blockIdx.x * blockDim.x + threadIdx.x, eta = blockIdx.y * blockDim.y + threadIdx.y;
  if (phi >= side || eta < 2 || eta >= side - 2) return;
  const int here = adc[eta * side + phi];
  bool largest = here > 200;
  for (int k = 0; k < 9 && largest; ++k)
    largest = here >= adc[(eta + k / 3 - 1) * side + (phi + k % 3 - 1 + side) % side];
  float sum = 0;
  for (int y = eta - 2; y <= eta + 2 && largest; ++y)
    for (int x = phi - 2; x <= phi + 2; ++x) sum += gains[y] * adc[y * side + (x + side) % side];
  sums[eta * side + phi] = sum;
}

// The nearest neighbour of each particle of an event in the anti-kt distance, an event for a block.
__global__ void jets(const float* eta, const float* phi, const float* pt, float* out, short* nearest) {
  const int first = blockIdx.x * kParticles, i = first + threadIdx.x;
  float best = 1 / (pt[i] * pt[i] + 0.01f);
  const float own = best;
  int with = -1;
  for (int j = 0; j < kParticles; ++j) {
    const float p = pt[first + j], across = eta[first + j] - eta[i], turn = fabsf(phi[first + j] - phi[i]);
    const float around = turn > 3.1415927f ? 6.2831853f - turn : turn;
    const float d = (across * across + around * around) * fminf(own, 1 / (p * p + 0.01f)) / 0.16f;
    if (d < best && j != threadIdx.x) best = d, with = j;
  }
  out[i] = best;
  nearest[i] = (short)with;
}

// The field at a place: the eight entries around it in a map of kMapSide^3.
__device__ float3 field_at(const float4* map, float3 p) {
  const float x = fminf(fmaxf(p.x, 0), kMapSide - 1.01f), y = fminf(fmaxf(p.y, 0), kMapSide - 1.01f);
  const float z = fminf(fmaxf(p.z, 0), kMapSide - 1.01f);
  const int i = (int)x, j = (int)y, k = (int)z;
  float3 sum = {0, 0, 0};
  for (int c = 0; c < 8; ++c) {
    const float4 f = map[((k + c / 4) * kMapSide + j + c / 2 % 2) * kMapSide + i + c % 2];
    const float w = fabsf(1 - c % 2 - x + i) * fabsf(1 - c / 2 % 2 - y + j) * fabsf(1 - c / 4 - z + k);
    sum.x += w * f.x, sum.y += w * f.y, sum.z += w * f.z;
  }
  return sum;
}

__device__ float3 along(float3 p, float3 v, float t) { return {p.x + t * v.x, p.y + t * v.y, p.z + t * v.z}; }

__device__ float3 turning(float3 v, float3 f) {
  return make_float3(v.y * f.z - v.z * f.y, v.z * f.x - v.x * f.z, v.x * f.y - v.y * f.x);
}

// Runge-Kutta steps through the field. Then a binary search tells the volume in which the track ends.
__global__ void propagate(const float4* __restrict__ map, const float* __restrict__ radii,
                          const float3* __restrict__ starts, float3* ends, int* volumes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 p = starts[i], v = starts[n - 1 - i];
  for (int step = 0; step < 4; ++step) {
    const float3 k1 = turning(v, field_at(map, p)), v2 = along(v, k1, 0.25f);
    const float3 k2 = turning(v2, field_at(map, along(p, v, 0.25f))), v3 = along(v, k2, 0.25f);
    const float3 k3 = turning(v3, field_at(map, along(p, v2, 0.25f))), v4 = along(v, k3, 0.5f);
    const float3 k4 = turning(v4, field_at(map, along(p, v3, 0.5f)));
    p = along(along(along(along(p, v, 1 / 12.0f), v2, 1 / 6.0f), v3, 1 / 6.0f), v4, 1 / 12.0f);
    v = along(along(along(along(v, k1, 1 / 12.0f), k2, 1 / 6.0f), k3, 1 / 6.0f), k4, 1 / 12.0f);
  }
  const float radius = norm3df(p.x, p.y, p.z);
  int low = 0, high = kVolumes;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (radii[middle] < radius) low = middle + 1;
    else high = middle;
  }
  ends[i] = p;
  volumes[i] = low;
}

void run(int n) {
  const int events = n / kParticles, side = (int)sqrt((double)n), m = n / 4;
  float2* hits = (float2*)device_array<float>(20 * n, [](int i) { return i % 70 / 60.0f + hashed_unit(i); });
  float2* sorted = (float2*)device_floats(6 * m);
  double* tracks = device_array<double>(30 * n, [](int i) { return i % 30 > 4 && i % 6 == 5 ? 2.0 : 0.1; });
  float* jac = device_array<float>(25 * n, [](int i) { return i % 25 % 6 == 0 ? 1 : 0.05f; });
  float *cov = device_floats(25 * n), *out = device_zeros<float>(25 * n);
  unsigned short* adc = device_array<unsigned short>(n, [](int i) { return 1000 * hashed_unit(i); });
  float4* map = (float4*)device_floats(4 * kMapSide * kMapSide * kMapSide);
  float3* starts = (float3*)device_array<float>(3 * n, [](int i) { return 48 * hashed_unit(i / 9 + i % 3); });
  float* radii = device_array<float>(kVolumes, [](int i) { return 80.0f * i / kVolumes; });
  unsigned* count = device_zeros<unsigned>(1);
  for (int r = 0; r < kLaunches; ++r) kalman_registers<<<ceil_div(n, 128), 128>>>(hits, out, out + 15 * n, n);
  for (int r = 0; r < kLaunches; ++r) kalman_arrays<<<ceil_div(n, 96), 96>>>(tracks, 2, 0.5, 0.3, n);
  for (int r = 0; r < kLaunches; ++r) similarity<<<ceil_div(n, 8), dim3(5, 5, 8)>>>(jac, cov, out, n);
  for (int r = 0; r < kLaunches; ++r) circle_fit<<<ceil_div(n, 512), 256>>>(hits, (float4*)out, kLayers, n);
  for (int r = 0; r < kLaunches; ++r) triplet_seeds<<<ceil_div(m, 64), 64>>>(sorted, (int3*)out, count, m);
  for (int r = 0; r < kLaunches; ++r)
    local_maxima<<<dim3(ceil_div(side, 32), ceil_div(side, 8)), dim3(32, 8)>>>(adc, cov, out, side);
  for (int r = 0; r < kLaunches; ++r) jets<<<events, kParticles>>>(jac, jac + n, cov, out, (short*)(out + n));
  for (int r = 0; r < kLaunches; ++r)
    propagate<<<ceil_div(n, 160), 160>>>(map, radii, starts, (float3*)out, (int*)(out + 3 * n), n);
  free_all(hits, sorted, tracks, jac, cov, out, adc, map, starts, radii, count);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("particle_tracks");
}
