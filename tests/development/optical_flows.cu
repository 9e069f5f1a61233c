// Two images of n x n bytes: where the points of one are in the other.
#include "device.h"

// Which of the 24 points about each are darker than it, as bits: tiles with their margins in shared memory.
__global__ void darker_bits(const unsigned char* image, unsigned* bits, int n) {
  __shared__ unsigned char tile[12][37];
  const int left = blockIdx.x * 32 - 2, top = blockIdx.y * 8 - 2;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 12 * 36; k += 256) {
    const int x = min(max(left + k % 36, 0), n - 1), y = min(max(top + k / 36, 0), n - 1);
    tile[k / 36][k % 36] = image[y * n + x];
  }
  __syncthreads();
  const int x = left + 2 + threadIdx.x, y = top + 2 + threadIdx.y;
  if (x >= n || y >= n) return;
  const unsigned char own = tile[threadIdx.y + 2][threadIdx.x + 2];
  unsigned word = 0;
#pragma unroll
  for (int dy = 0; dy < 5; ++dy)
#pragma unroll
    for (int dx = 0; dx < 5; ++dx)
      if (dx != 2 || dy != 2) word = word << 1 | (tile[threadIdx.y + dy][threadIdx.x + dx] < own);
  bits[y * n + x] = word;
}

// In how many bits each point differs from 32 points to its left: a lane for each of these.
__global__ void shift_costs(const unsigned* here, const unsigned* there, unsigned char* costs, int n) {
  const int shift = threadIdx.x, x = blockIdx.x * blockDim.y + threadIdx.y, y = blockIdx.y;
  if (x >= n) return;
  const unsigned own = here[y * n + x];
  costs[(y * n + x) * 32 + shift] = __popc(own ^ there[y * n + max(x - shift, 0)]);
}

// The least cost along a row up to each point, where a change of the shift costs too: a warp for each row.
__global__ void row_paths(const unsigned char* costs, unsigned char* shifts, int small, int large, int n) {
  const int y = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (y >= n) return;
  int path = 0;
  for (int x = 0; x < n; ++x) {
    int least = path;
    for (int step = 16; step > 0; step /= 2) least = min(least, __shfl_xor_sync(0xffffffffu, least, step));
    int up = __shfl_up_sync(0xffffffffu, path, 1), down = __shfl_down_sync(0xffffffffu, path, 1);
    if (lane == 0) up = path;
    if (lane == 31) down = path;
    path = costs[(y * n + x) * 32 + lane] + min(min(path, min(up, down) + small), least + large) - least;
    const int packed = __reduce_min_sync(0xffffffffu, path << 5 | lane);
    if (lane == 0) shifts[y * n + x] = packed & 31;
  }
}

// The slopes in x and y and between the images, at each point.
__global__ void slopes(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
                       float* __restrict__ sx, float* __restrict__ sy, float* __restrict__ st, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  const float a0 = a[i], a1 = a[i + 1], a2 = a[i + n], a3 = a[i + n + 1];
  const float b0 = b[i], b1 = b[i + 1], b2 = b[i + n], b3 = b[i + n + 1];
  sx[i] = 0.25f * (a1 - a0 + a3 - a2 + b1 - b0 + b3 - b2);
  sy[i] = 0.25f * (a2 - a0 + a3 - a1 + b2 - b0 + b3 - b1);
  st[i] = 0.25f * (b0 - a0 + b1 - a1 + b2 - a2 + b3 - a3);
}

// A step towards a smooth flow: the mean of the neighbours' flows, less what the slopes forbid.
__global__ void smooth_flow(const float2* flow, const float* sx, const float* sy, const float* st,
                            float2* out, float smooth, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
    float u = 0, v = 0;
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        if (dx == 0 && dy == 0) continue;
        float weight = dx == 0 || dy == 0 ? 1.0f / 6 : 1.0f / 12;
        u += weight * flow[(y + dy) * n + x + dx].x;
        v += weight * flow[(y + dy) * n + x + dx].y;
      }
    }
    float gx = sx[y * n + x], gy = sy[y * n + x];
    float miss = (gx * u + gy * v + st[y * n + x]) / (smooth + gx * gx + gy * gy);
    out[y * n + x] = make_float2(u - gx * miss, v - gy * miss);
  }
}

// The flow that suits a window of 9 x 9 slopes best, from two equations; no flow where they tell too little.
__global__ void window_flow(const float* sx, const float* sy, const float* st, float2* out, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  __shared__ float3 tile[24][24];
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 576; k += 256) {
    const int column = min(max((int)blockIdx.x * 16 - 4 + k % 24, 0), n - 1);
    const int row = min(max((int)blockIdx.y * 16 - 4 + k / 24, 0), n - 1);
    const int i = row * n + column;
    tile[k / 24][k % 24] = make_float3(sx[i], sy[i], st[i]);
  }
  __syncthreads();
  if (x >= n || y >= n) return;
  float xx = 0, xy = 0, yy = 0, xt = 0, yt = 0;
  for (int dy = 0; dy < 9; ++dy)
#pragma unroll
    for (int dx = 0; dx < 9; ++dx) {
      const float3 s = tile[threadIdx.y + dy][threadIdx.x + dx];
      xx += s.x * s.x;
      xy += s.x * s.y;
      yy += s.y * s.y;
      xt += s.x * s.z;
      yt += s.y * s.z;
    }
  const float size = xx * yy - xy * xy;
  float2 flow = make_float2(0, 0);
  if (size > 1e-3f) flow = make_float2((xy * yt - yy * xt) / size, (xy * xt - xx * yt) / size);
  out[y * n + x] = flow;
}

void run(int n) {
  const int count = n * n;
  unsigned char* a = device_array<unsigned char>(
      count, [](int i) { return static_cast<unsigned char>(static_cast<unsigned>(i) * 2654435761u >> 19); });
  unsigned char* b = device_array<unsigned char>(count, [](int i) {
    return static_cast<unsigned char>(static_cast<unsigned>(i + 3) * 2654435761u >> 19);
  });
  unsigned* here = device_zeros<unsigned>(count);
  unsigned* there = (unsigned*)device_ints(count, 1 << 24);
  unsigned char* costs = device_zeros<unsigned char>(32 * count);
  float* sx = device_floats(count);
  float* sy = device_floats(count);
  float* st = device_floats(count);
  float* flow = device_floats(2 * count);
  float* out = device_zeros<float>(2 * count);
  for (int r = 0; r < kLaunches; ++r)
    darker_bits<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(a, here, n);
  for (int r = 0; r < kLaunches; ++r)
    shift_costs<<<dim3(ceil_div(n, 8), n), dim3(32, 8)>>>(here, there, costs, n);
  for (int r = 0; r < kLaunches; ++r)
    row_paths<<<ceil_div(n, 2), dim3(32, 2)>>>(costs, (unsigned char*)out, 2, 9, n);
  for (int r = 0; r < kLaunches; ++r)
    slopes<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(64, 4)>>>(a, b, sx, sy, st, n);
  for (int r = 0; r < kLaunches; ++r)
    smooth_flow<<<dim3(ceil_div(n, 32), ceil_div(n, 32)), dim3(32, 32)>>>((float2*)flow, sx, sy, st,
                                                                          (float2*)out, 10.0f, n);
  for (int r = 0; r < kLaunches; ++r)
    window_flow<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(sx, sy, st, (float2*)out, n);
  free_all(a, b, here, there, costs, sx, sy, st, flow, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("optical_flows");
}
