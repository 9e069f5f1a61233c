// Seismic waves and images: a volume of n^3 cells, sections of (8 n)^2 cells, and 4 n traces of 8 n samples.
#include "device.h"

constexpr int kRadius = 4;
__constant__ float kEighth[kRadius + 1] = {-2.847222f, 1.6f, -0.2f, 0.02539683f, -0.001785714f};

// A step of the acoustic wave equation, eighth order. Planes pass through a queue of registers along z.
__global__ void acoustic_volume(const float* __restrict__ now, float* __restrict__ last,
                                const float* __restrict__ speed, int n, int planes) {
  __shared__ float tile[8 + 2 * kRadius][32 + 2 * kRadius];
  const int tx = threadIdx.x + kRadius, ty = threadIdx.y + kRadius;
  const int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty, plane = n * n;
  const int column = min(x, n - 1), row = min(y, n - 1);
  const bool inside = x < n - kRadius && y < n - kRadius;
  const int first = kRadius + blockIdx.z * planes, end = min(first + planes, n - kRadius);
  int at = first * plane + row * n + column;
  float queue[2 * kRadius + 1];
#pragma unroll
  for (int k = 0; k < 2 * kRadius; ++k) queue[k + 1] = now[at + (k - kRadius) * plane];
  for (int z = first; z < end; ++z, at += plane) {
#pragma unroll
    for (int k = 0; k < 2 * kRadius; ++k) queue[k] = queue[k + 1];
    queue[2 * kRadius] = now[at + kRadius * plane];
    __syncthreads();
    tile[ty][tx] = queue[kRadius];
    if (threadIdx.x < kRadius) {
      tile[ty][threadIdx.x] = now[z * plane + row * n + x - kRadius];
      tile[ty][tx + 32] = now[z * plane + row * n + min(x + 32, n - 1)];
    }
    if (threadIdx.y < kRadius) {
      tile[threadIdx.y][tx] = now[z * plane + (y - kRadius) * n + column];
      tile[ty + 8][tx] = now[z * plane + min(y + 8, n - 1) * n + column];
    }
    __syncthreads();
    if (!inside) continue;
    float sum = 3 * kEighth[0] * queue[kRadius];
#pragma unroll
    for (int k = 1; k <= kRadius; ++k)
      sum += kEighth[k] * (tile[ty][tx - k] + tile[ty][tx + k] + tile[ty - k][tx] + tile[ty + k][tx] +
                           queue[kRadius - k] + queue[kRadius + k]);
    last[at] = 2 * queue[kRadius] - last[at] + 0.1f * speed[at] * sum;
  }
}

struct Elastic {
  float *vx, *vz, *sxx, *szz, *sxz;
};

__device__ float slope(const float* field, int at, int step) {
  return 1.125f * (field[at + step] - field[at]) - 0.0416667f * (field[at + 2 * step] - field[at - step]);
}

// Velocities from stresses on a staggered grid, fourth order.
__global__ void elastic_velocities(Elastic e, const float* __restrict__ density, float step, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 2 || z < 2 || x >= width - 2 || z >= width - 2) return;
  const int at = z * width + x;
  const float scale = step / (1 + density[at]);
  e.vx[at] += scale * (slope(e.sxx, at, 1) + slope(e.sxz, at - width, width));
  e.vz[at] += scale * (slope(e.sxz, at - 1, 1) + slope(e.szz, at, width));
}

// Stresses from velocities. A thread goes down kDeep cells and keeps four values of each velocity.
template <int kDeep>
__global__ void elastic_stresses(Elastic e, const float2* __restrict__ lame, float step, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, top = 2 + blockIdx.y * kDeep;
  if (x < 2 || x >= width - 2) return;
  float vx[4], vz[4];
  for (int k = 0; k < 3; ++k) vx[k + 1] = e.vx[(top - 1 + k) * width + x];
  for (int k = 0; k < 3; ++k) vz[k + 1] = e.vz[(top - 2 + k) * width + x];
  for (int z = top; z < min(top + kDeep, width - 2); ++z) {
    const int at = z * width + x;
#pragma unroll
    for (int k = 0; k < 3; ++k) vx[k] = vx[k + 1], vz[k] = vz[k + 1];
    vx[3] = e.vx[at + 2 * width];
    vz[3] = e.vz[at + width];
    const float2 m = lame[at];
    const float dxx = slope(e.vx, at - 1, 1), dzx = slope(e.vz, at, 1);
    const float dzz = 1.125f * (vz[2] - vz[1]) - 0.0416667f * (vz[3] - vz[0]);
    const float dxz = 1.125f * (vx[2] - vx[1]) - 0.0416667f * (vx[3] - vx[0]);
    e.sxx[at] += step * ((m.x + 2 * m.y) * dxx + m.x * dzz);
    e.szz[at] += step * ((m.x + 2 * m.y) * dzz + m.x * dxx);
    e.sxz[at] += step * m.y * (dxz + dzx);
  }
}

// A sponge: the cells within `rim` of a face of the volume lose some of their amplitude.
__global__ void absorb_rim(float* now, float* last, int rim, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  const int near = min(min(min(x, n - 1 - x), min(y, n - 1 - y)), min(z, n - 1 - z));
  if (near >= rim) return;
  const float depth = 0.015f * (rim - near), factor = expf(-depth * depth);
  now[(z * n + y) * n + x] *= factor;
  last[(z * n + y) * n + x] *= factor;
}

// The imaging condition: products of both wavefields, and the energy of the first.
__global__ void correlate(const float* __restrict__ source, const float* __restrict__ receiver,
                          float* __restrict__ image, float* __restrict__ light, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float s = source[i];
    image[i] += s * receiver[i];
    light[i] += s * s;
  }
}

// Sources between cells: eight threads for each add its Ricker wavelet to the corners of its cell.
__global__ void inject(const float4* sources, float* volume, float time, int n, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, source = t >> 3, corner = t & 7;
  if (source >= count) return;
  const float4 s = sources[source];
  const float px = s.x * (n - 2), py = s.y * (n - 2), pz = s.z * (n - 2);
  const int x = (int)px, y = (int)py, z = (int)pz;
  const float wx = corner & 1 ? px - x : 1 - px + x, wy = corner & 2 ? py - y : 1 - py + y;
  const float wz = corner & 4 ? pz - z : 1 - pz + z, a = 9.87f * (time - s.w) * (time - s.w);
  const int at = ((z + (corner >> 2)) * n + y + (corner >> 1 & 1)) * n + x + (corner & 1);
  atomicAdd(&volume[at], wx * wy * wz * (1 - 2 * a) * expf(-a));
}

// Kirchhoff's sum: each point of the image adds all traces at the time of the way down and up.
__global__ void kirchhoff(const float* traces, const float* __restrict__ places, float* image, int width,
                          int samples, int count) {
  __shared__ float offsets[256];
  const int x = blockIdx.x * 16 + threadIdx.x, z = blockIdx.y * 16 + threadIdx.y;
  const int t = threadIdx.y * 16 + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < count; start += 256) {
    if (start + t < count) offsets[t] = places[start + t] * width;
    __syncthreads();
    for (int k = 0; k < 256 && start + k < count; ++k) {
      const float dx = x - offsets[k], way = sqrtf(dx * dx + (float)z * z), time = 1.5f * (way + z);
      const int s = (int)time;
      const float* trace = traces + (start + k) * samples;
      if (s + 1 < samples) sum += (z + 1) / (way + 1) * (trace[s] + (time - s) * (trace[s + 1] - trace[s]));
    }
    __syncthreads();
  }
  if (x < width && z < width) image[z * width + x] = sum;
}

// Beams: a block of 96 sensors looks in one direction at four frequencies, and sums phases in warps.
__global__ void beams(const float2* __restrict__ sensors, float* power, int directions) {
  __shared__ float2 sums[3][4];
  const float2 sensor = sensors[threadIdx.x];
  const float ux = 2.0f * blockIdx.x / directions - 1, uy = 2.0f * blockIdx.y / directions - 1;
  for (int f = 0; f < 4; ++f) {
    float re, im;
    sincosf((f + 1) * (ux * sensor.x + uy * sensor.y) * 40, &im, &re);
    for (int d = 16; d > 0; d >>= 1) {
      re += __shfl_down_sync(~0u, re, d);
      im += __shfl_down_sync(~0u, im, d);
    }
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32][f] = make_float2(re, im);
  }
  __syncthreads();
  if (threadIdx.x >= 4) return;
  const float2 a = sums[0][threadIdx.x], b = sums[1][threadIdx.x], c = sums[2][threadIdx.x];
  const float re = a.x + b.x + c.x, im = a.y + b.y + c.y;
  power[(blockIdx.y * directions + blockIdx.x) * 4 + threadIdx.x] = re * re + im * im;
}

void run(int n) {
  const int cells = n * n * n, width = 8 * n, area = width * width, traces = 4 * n, wide = 2 * n;
  float* now = device_floats(cells);
  float* last = device_floats(cells);
  float* speed = device_floats(cells);
  float* image = device_zeros<float>(cells);
  float* light = device_zeros<float>(cells);
  Elastic e{device_floats(area), device_floats(area), device_floats(area), device_floats(area),
            device_floats(area)};
  float* density = device_floats(area);
  float* lame = device_floats(2 * area);
  float* sources = device_array<float>(64 * n, hashed_unit);
  float* samples = device_floats(traces * width);
  float* places = device_array<float>(traces, [traces](int i) { return (i + hashed_unit(i)) / traces; });
  float* sensors = device_array<float>(192, hashed_unit);
  float* power = device_zeros<float>(n * n);
  const dim3 volume(ceil_div(n - 8, 32), ceil_div(n - 8, 8), ceil_div(n - 8, 64)), cube(n / 8, n / 8, n / 8);
  for (int r = 0; r < kLaunches; ++r) acoustic_volume<<<volume, dim3(32, 8)>>>(now, last, speed, n, 64);
  for (int r = 0; r < kLaunches; ++r)
    elastic_velocities<<<dim3(width / 64 + 1, width / 4), dim3(64, 4)>>>(e, density, 0.1f, width);
  for (int r = 0; r < kLaunches; ++r)
    elastic_stresses<16><<<dim3(ceil_div(width, 128), n / 2), 128>>>(e, (float2*)lame, 0.1f, width);
  for (int r = 0; r < kLaunches; ++r) absorb_rim<<<cube, dim3(8, 8, 8)>>>(now, last, 6, n);
  for (int r = 0; r < kLaunches; ++r) correlate<<<528, 512>>>(now, last, image, light, cells);
  for (int r = 0; r < kLaunches; ++r) inject<<<n, 128>>>((float4*)sources, now, 0.3f, n, 16 * n);
  for (int r = 0; r < kLaunches; ++r)
    kirchhoff<<<dim3(n / 8, n / 8), dim3(16, 16)>>>(samples, places, image, wide, width, traces);
  for (int r = 0; r < kLaunches; ++r) beams<<<dim3(n / 2, n / 2), 96>>>((float2*)sensors, power, n / 2);
  free_all(now, last, speed, image, light, e.vx, e.vz, e.sxx, e.szz, e.sxz, density, lame, sources, samples,
           places, power, sensors);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("wave_imaging");
}
