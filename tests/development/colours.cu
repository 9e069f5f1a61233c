// Pictures of n x n pixels from one space of colours to another.
#include <cuda_fp16.h>

#include "device.h"

// Hue, saturation and value of float pixels in three planes.
__global__ void to_hue(const float* __restrict__ red, const float* __restrict__ green,
                       const float* __restrict__ blue, float* hue, float* saturation, float* value,
                       int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float r = red[i], g = green[i], b = blue[i];
  const float most = fmaxf(r, fmaxf(g, b)), least = fminf(r, fminf(g, b)), range = most - least;
  float h = 0;
  if (range > 0) {
    if (most == r) {
      h = (g - b) / range;
      if (h < 0) h += 6;
    } else if (most == g) {
      h = (b - r) / range + 2;
    } else {
      h = (r - g) / range + 4;
    }
  }
  hue[i] = h * 60;
  saturation[i] = most > 0 ? range / most : 0;
  value[i] = most;
}

// A picture with half as many samples of colour in both directions, to interleaved bytes: four pixels per thread.
__global__ void video_to_bytes(const unsigned char* y, const unsigned char* uv, uchar4* out, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (2 * column >= n || 2 * row >= n) return;
  const int u = uv[row * n + 2 * column] - 128, v = uv[row * n + 2 * column + 1] - 128;
  const int r = 409 * v + 128, g = -100 * u - 208 * v + 128, b = 516 * u + 128;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int at = (2 * row + k / 2) * n + 2 * column + k % 2, light = 298 * (y[at] - 16);
    out[at] = make_uchar4(min(max((light + r) >> 8, 0), 255), min(max((light + g) >> 8, 0), 255),
                          min(max((light + b) >> 8, 0), 255), 255);
  }
}

__device__ float linear(float v) {
  return v <= 0.04045f ? v / 12.92f : powf((v + 0.055f) / 1.055f, 2.4f);
}

__device__ float cube_root(float t) {
  return t > 0.008856f ? cbrtf(t) : 7.787f * t + 16.0f / 116;
}

// From 8 bits per channel to lightness and two axes of colour in half precision.
__global__ void to_lightness(const uchar4* in, __half2* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uchar4 c = in[i];
  const float r = linear(c.x / 255.0f), g = linear(c.y / 255.0f), b = linear(c.z / 255.0f);
  const float x = cube_root((0.4124f * r + 0.3576f * g + 0.1805f * b) / 0.9505f);
  const float y = cube_root(0.2126f * r + 0.7152f * g + 0.0722f * b);
  const float z = cube_root((0.0193f * r + 0.1192f * g + 0.9505f * b) / 1.089f);
  out[2 * i] = __floats2half2_rn(116 * y - 16, 500 * (x - y));
  out[2 * i + 1] = __floats2half2_rn(200 * (y - z), c.w);
}

// The nearest of 64 colours in shared memory, for a thread's row of eight pixels.
__global__ void to_palette(const uchar4* in, const uchar4* palette, unsigned char* out, int count) {
  __shared__ uchar4 colours[64];
  if (threadIdx.x < 64) colours[threadIdx.x] = palette[threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    const int i = (blockIdx.x * 8 + k) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uchar4 c = in[i];
    int best = 1 << 30, which = 0;
#pragma unroll 4
    for (int p = 0; p < 64; ++p) {
      const int r = c.x - colours[p].x, g = c.y - colours[p].y, b = c.z - colours[p].z;
      const int distance = 3 * r * r + 6 * g * g + b * b;
      if (distance < best) {
        best = distance;
        which = p;
      }
    }
    out[i] = which;
  }
}

__constant__ unsigned short curve[1024];

// 10 bits through a table in constant memory, of which each thread reads another place; three of them in a word.
__global__ void grade(const unsigned* in, unsigned* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned word = in[i];
  out[i] = curve[word & 1023] | curve[word >> 10 & 1023] << 10 | curve[word >> 20 & 1023] << 20;
}

void run(int n) {
  const int count = n * n;
  unsigned short table[1024];
  for (int k = 0; k < 1024; ++k) table[k] = 1023 - k;
  cudaMemcpyToSymbol(curve, table, sizeof table);
  float* planes = device_floats(3 * count);
  int* pixels = device_ints(count, 1 << 30);
  int* palette = device_ints(64, 1 << 30);
  float* out = device_zeros<float>(3 * count);
  for (int r = 0; r < kLaunches; ++r)
    to_hue<<<ceil_div(count, 256), 256>>>(planes, planes + count, planes + 2 * count, out, out + count,
                                          out + 2 * count, count);
  for (int r = 0; r < kLaunches; ++r)
    video_to_bytes<<<dim3(ceil_div(n, 66), ceil_div(n, 14)), dim3(33, 7)>>>(
        (unsigned char*)pixels, (unsigned char*)pixels + count, (uchar4*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    video_to_bytes<<<dim3(ceil_div(n, 128), ceil_div(n, 8)), dim3(64, 4)>>>(
        (unsigned char*)pixels, (unsigned char*)pixels + count, (uchar4*)out, n);
  for (int r = 0; r < kLaunches; ++r)
    to_lightness<<<ceil_div(count, 128), 128>>>((uchar4*)pixels, (__half2*)out, count);
  for (int r = 0; r < kLaunches; ++r)
    to_palette<<<ceil_div(count, 2048), 256>>>((uchar4*)pixels, (uchar4*)palette, (unsigned char*)out, count);
  for (int r = 0; r < kLaunches; ++r)
    grade<<<ceil_div(count, 512), 512>>>((unsigned*)pixels, (unsigned*)out, count);
  free_all(planes, pixels, palette, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("colours");
}
