// The nearest of some centres, of n points in eight dimensions; the nearest four neighbours.
#include "device.h"

__constant__ float centres_constant[64 * 8];

__global__ void nearest_global(const float* points, const float* centres, int* out, int count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float best = 1e30f;
  int at = 0;
  for (int c = 0; c < count; ++c) {
    float distance = 0;
    for (int d = 0; d < 8; ++d) {
      const float x = points[d * n + i] - centres[c * 8 + d];
      distance += x * x;
    }
    if (distance < best) {
      best = distance;
      at = c;
    }
  }
  out[i] = at;
}

__global__ void nearest_constant(const float* points, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float own[8], best = 1e30f;
  int at = 0;
  for (int d = 0; d < 8; ++d) own[d] = points[i * 8 + d];
  for (int c = 0; c < 64; ++c) {
    float distance = 0;
#pragma unroll
    for (int d = 0; d < 8; ++d) distance += fabsf(own[d] - centres_constant[c * 8 + d]);
    if (distance < best) {
      best = distance;
      at = c;
    }
  }
  out[i] = at;
}

__global__ void four_nearest(const float2* queries, const float2* points, float4* out, int count, int n) {
  __shared__ float2 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 q = queries[i];
  float a = 1e30f, b = 1e30f, c = 1e30f, d = 1e30f;
  for (int t = 0; t < count; t += 128) {
    __syncthreads();
    tile[threadIdx.x] = points[t + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      const float x = tile[k].x - q.x, y = tile[k].y - q.y, square = x * x + y * y;
      if (square < d) {
        d = square;
        if (d < c) {
          const float s = c;
          c = d;
          d = s;
        }
        if (c < b) {
          const float s = b;
          b = c;
          c = s;
        }
        if (b < a) {
          const float s = a;
          a = b;
          b = s;
        }
      }
    }
  }
  out[i] = make_float4(a, b, c, d);
}

// Sums of the points of each centre.
__global__ void add_to_centres(const float* points, const int* nearest, float* sums, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int c = nearest[i];
  for (int d = 0; d < 8; ++d) atomicAdd(&sums[c * 8 + d], points[d * n + i]);
  atomicAdd(&counts[c], 1);
}

void run(int n) {
  float* points = device_floats(8 * n);
  float* centres = device_floats(2048 * 2);
  int* out = device_zeros<int>(4 * n);
  float* sums = device_zeros<float>(64 * 8);
  int* counts = device_zeros<int>(64);
  int* nearest = device_ints(n, 64);
  cudaMemcpyToSymbol(centres_constant, centres, sizeof centres_constant, 0, cudaMemcpyDeviceToDevice);
  for (int r = 0; r < kLaunches; ++r) nearest_global<<<ceil_div(n, 256), 256>>>(points, centres, out, 64, n);
  for (int r = 0; r < kLaunches; ++r) nearest_constant<<<ceil_div(n, 128), 128>>>(points, out, n);
  for (int r = 0; r < kLaunches; ++r)
    four_nearest<<<n / 128, 128>>>((float2*)points, (float2*)centres, (float4*)out, 2048, n);
  for (int r = 0; r < kLaunches; ++r)
    add_to_centres<<<ceil_div(n, 256), 256>>>(points, nearest, sums, counts, n);
  free_all(points, centres, out, sums, counts, nearest);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("nearest");
}
