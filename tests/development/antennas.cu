// Signals of an array of antennas: n samples of each of 32 antennas.
#include "device.h"

constexpr int kAntennas = 32;

__constant__ float2 weights[8 * kAntennas];

// Eight beams per thread: complex weights in constant memory, all threads of a warp read the same one.
__global__ void form_beams(const float2* __restrict__ signal, float* __restrict__ power, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  float re[8], im[8];
#pragma unroll
  for (int b = 0; b < 8; ++b) re[b] = im[b] = 0;
  for (int a = 0; a < kAntennas; ++a) {
    const float2 s = signal[a * n + t];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      const float2 w = weights[b * kAntennas + a];
      re[b] += s.x * w.x - s.y * w.y;
      im[b] += s.x * w.y + s.y * w.x;
    }
  }
#pragma unroll
  for (int b = 0; b < 8; ++b) power[b * n + t] = re[b] * re[b] + im[b] * im[b];
}

// Products of all pairs of antennas, summed over 64 samples: a block of 24 x 8 threads does 24 x 32 of them.
__global__ void correlate_pairs(const float2* signal, float2* visibilities, int n) {
  __shared__ float2 tile[kAntennas][65];
  const int first = blockIdx.x * 64, thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int k = thread; k < kAntennas * 64; k += blockDim.x * blockDim.y)
    tile[k / 64][k % 64] = signal[(k / 64) * n + first + k % 64];
  __syncthreads();
  for (int other = threadIdx.y; other < kAntennas; other += blockDim.y) {
    float re = 0, im = 0;
    for (int t = 0; t < 64; ++t) {
      const float2 a = tile[threadIdx.x][t], b = tile[other][t];
      re += a.x * b.x + a.y * b.y;
      im += a.y * b.x - a.x * b.y;
    }
    visibilities[(blockIdx.x * kAntennas + other) * 24 + threadIdx.x] = make_float2(re, im);
  }
}

// The strength of `blockDim.x` tones in each frame of 512 samples, by the recurrence of Goertzel.
__global__ void tones(const float* samples, float* strength) {
  __shared__ float frame[512];
  for (int k = threadIdx.x; k < 512; k += blockDim.x) frame[k] = samples[blockIdx.x * 512 + k];
  __syncthreads();
  const float factor = 2 * cosf(threadIdx.x * (3.14159265f / 256));
  float s1 = 0, s2 = 0;
#pragma unroll 8
  for (int k = 0; k < 512; ++k) {
    const float s = frame[k] + factor * s1 - s2;
    s2 = s1;
    s1 = s;
  }
  strength[blockIdx.x * blockDim.x + threadIdx.x] = s1 * s1 + s2 * s2 - factor * s1 * s2;
}

// Three integrators and three combs over a run of 256 samples for each thread, one sample of 16 is kept.
__global__ void decimate(const short* samples, int* out, int runs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= runs) return;
  int a = 0, b = 0, c = 0, last0 = 0, last1 = 0, last2 = 0;
  for (int k = 0; k < 16; ++k) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      a += samples[(k * 16 + j) * runs + i];
      b += a;
      c += b;
    }
    const int x = c - last0, y = x - last1, z = y - last2;
    last0 = c;
    last1 = x;
    last2 = y;
    out[k * runs + i] = z >> 12;
  }
}

// Mixes down and changes the rate from 5 to 3 with a filter of 20 coefficients for each phase.
__global__ void resample(const float* in, const float* coefficients, float* out, int outputs, double turn) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const int phase = i * 5 % 3, first = i * 5 / 3;
  float sum = 0;
  for (int k = 0; k < 20; ++k) sum += in[first + k] * __ldg(&coefficients[phase * 20 + k]);
  double s, c;
  sincospi(turn * i, &s, &c);
  out[2 * i] = sum * static_cast<float>(c);
  out[2 * i + 1] = sum * static_cast<float>(s);
}

void run(int n) {
  float2 table[8 * kAntennas];
  for (int k = 0; k < 8 * kAntennas; ++k) table[k] = {0.5f + k % 7, k % 11 - 5.0f};
  cudaMemcpyToSymbol(weights, table, sizeof table);
  float* signal = device_floats(2 * kAntennas * n);
  float* coefficients = device_floats(60);
  float* out = device_zeros<float>(2 * kAntennas * n);
  const int outputs = 6 * n, runs = n / 8;
  for (int r = 0; r < kLaunches; ++r) form_beams<<<ceil_div(n, 128), 128>>>((float2*)signal, out, n);
  for (int r = 0; r < kLaunches; ++r) form_beams<<<ceil_div(n, 96), 96>>>((float2*)signal, out, n);
  for (int r = 0; r < kLaunches; ++r)
    correlate_pairs<<<n / 64, dim3(24, 8)>>>((float2*)signal, (float2*)out, n);
  for (int r = 0; r < kLaunches; ++r) tones<<<n / 32, 192>>>(signal, out);
  for (int r = 0; r < kLaunches; ++r) decimate<<<ceil_div(runs, 64), 64>>>((short*)signal, (int*)out, runs);
  for (int r = 0; r < kLaunches; ++r)
    resample<<<ceil_div(outputs, 256), 256>>>(signal, coefficients, out, outputs, 1.0 / 37);
  free_all(signal, coefficients, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("antennas");
}
