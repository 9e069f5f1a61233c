// Frames of n x n bytes on their way to a film: blocks that moved, their frequencies, and how long their code is.
#include "device.h"

// Where each block of 16 x 16 was before: a thread for each of 17 x 17 places nearby, four bytes at a time.
__global__ void find_moves(const unsigned char* frame, const unsigned char* before, int* moves, int n) {
  __shared__ unsigned block[16][4];
  __shared__ unsigned char area[32][36];
  __shared__ int best;
  const int t = threadIdx.x, left = blockIdx.x * 16, top = blockIdx.y * 16;
  if (t == 0) best = 0x7fffffff;
  if (t < 64) block[t / 4][t % 4] = *(const unsigned*)(frame + (top + t / 4) * n + left + t % 4 * 4);
  for (int k = t; k < 32 * 32; k += 320) {
    const int x = min(max(left - 8 + k % 32, 0), n - 1), y = min(max(top - 8 + k / 32, 0), n - 1);
    area[k / 32][k % 32] = before[y * n + x];
  }
  __syncthreads();
  if (t < 289) {
    const int dx = t % 17, dy = t / 17;
    int cost = 0;
    for (int y = 0; y < 16; ++y)
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const unsigned char* p = &area[min(y + dy, 31)][min(dx + 4 * q, 28)];
        const unsigned there = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
        cost += __vsadu4(block[y][q], there);
      }
    atomicMin(&best, cost << 9 | t);
  }
  __syncthreads();
  if (t == 0) moves[blockIdx.y * gridDim.x + blockIdx.x] = best;
}

__device__ void eight_waves(float* v, int stride) {
  const float a0 = v[0] + v[7 * stride], a7 = v[0] - v[7 * stride];
  const float a1 = v[stride] + v[6 * stride], a6 = v[stride] - v[6 * stride];
  const float a2 = v[2 * stride] + v[5 * stride], a5 = v[2 * stride] - v[5 * stride];
  const float a3 = v[3 * stride] + v[4 * stride], a4 = v[3 * stride] - v[4 * stride];
  const float b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
  v[0] = 0.35355339f * (b0 + b1);
  v[4 * stride] = 0.35355339f * (b0 - b1);
  v[2 * stride] = 0.46193977f * b3 + 0.19134172f * b2;
  v[6 * stride] = 0.19134172f * b3 - 0.46193977f * b2;
  v[stride] = 0.49039264f * a7 + 0.41573481f * a6 + 0.27778512f * a5 + 0.09754516f * a4;
  v[3 * stride] = 0.41573481f * a7 - 0.09754516f * a6 - 0.49039264f * a5 - 0.27778512f * a4;
  v[5 * stride] = 0.27778512f * a7 - 0.49039264f * a6 + 0.09754516f * a5 + 0.41573481f * a4;
  v[7 * stride] = 0.09754516f * a7 - 0.27778512f * a6 + 0.41573481f * a5 - 0.49039264f * a4;
}

// The frequencies of blocks of 8 x 8: eight threads for each, rows and then columns, 32 blocks in shared memory.
__global__ void to_waves(const unsigned char* frame, short* waves, int n) {
  __shared__ float part[8][264];
  const int t = threadIdx.x, left = blockIdx.x * 256, top = blockIdx.y * 8;
  for (int y = 0; y < 8; ++y)
    if (left + t < n) part[y][t] = frame[(top + y) * n + left + t] - 128.0f;
  __syncthreads();
  eight_waves(&part[t % 8][t / 8 * 8], 1);
  __syncthreads();
  eight_waves(&part[0][t], 264);
  __syncthreads();
  for (int y = 0; y < 8; ++y)
    if (left + t < n) waves[(top + y) * n + left + t] = (short)rintf(part[y][t]);
}

__constant__ unsigned char order[64];
__constant__ float sizes[64];

// Divided by their steps and set in the order of the diagonals: a number for each thread.
__global__ void quantise(const short* waves, short* out, float quality, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  const int block = i / 64, k = i % 64, from = order[k];
  const int x = block % (n / 8) * 8 + from % 8, y = block / (n / 8) * 8 + from / 8;
  out[i] = (short)rintf(waves[y * n + x] / (quality * sizes[k]));
}

// How many bits each block needs: zeros until a number, and the number's own length; a block for each thread.
__global__ void code_lengths(const short* numbers, int* lengths, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const uint4* own = (const uint4*)numbers + i * 8;
  int bits = 4, zeros = 0;
  for (int q = 0; q < 8; ++q) {
    const uint4 eight = own[q];
    const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (int w = 0; w < 4; ++w)
      for (int half = 0; half < 2; ++half) {
        const int number = (short)(words[w] >> 16 * half);
        if (number == 0) {
          ++zeros;
          continue;
        }
        while (zeros > 15) {
          bits += 11;
          zeros -= 16;
        }
        bits += 2 * (32 - __clz(abs(number))) + zeros / 2 + 2;
        zeros = 0;
      }
  }
  lengths[i] = bits;
}

// Edges between blocks made smooth, where they are no edges of the picture: a row at each edge for each thread.
__global__ void smooth_edges(unsigned char* frame, int edge, int inner, int n) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x, x = 8 * (blockIdx.y + 1);
  if (y >= n || x > n - 8) return;
  unsigned char* p = frame + y * n + x;
  const int a = p[-1], b = p[-2], c = p[-3], d = p[0], e = p[1], f = p[2];
  if (abs(a - d) >= edge || abs(a - b) >= inner || abs(d - e) >= inner) return;
  if (abs(a - c) < inner) p[-2] = (2 * b + c + a + ((a + d + 1) >> 1) + 2) / 5;
  if (abs(d - f) < inner) p[1] = (2 * e + f + d + ((a + d + 1) >> 1) + 2) / 5;
  const int change = min(max((4 * (d - a) + b - e + 4) >> 3, -6), 6);
  p[-1] = min(max(a + change, 0), 255);
  p[0] = min(max(d - change, 0), 255);
}

// Between the points of a frame: six neighbours in a row, four bytes out for each thread.
__global__ void half_steps(const unsigned char* __restrict__ frame, uchar4* __restrict__ out, int n) {
  const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) v[k] = frame[y * n + min(max(x + k - 2, 0), n - 1)];
  int r[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    r[k] = min(max((v[k] + v[k + 5] - 5 * (v[k + 1] + v[k + 4]) + 20 * (v[k + 2] + v[k + 3]) + 16) >> 5, 0),
               255);
  out[(y * n + x) / 4] = make_uchar4(r[0], r[1], r[2], r[3]);
}

void run(int n) {
  unsigned char places[64];
  float steps[64];
  int at = 0;
  for (int sum = 0; sum < 15; ++sum)
    for (int y = 0; y < 8; ++y)
      if (sum - y >= 0 && sum - y < 8) {
        steps[at] = 10.0f + 6 * sum;
        places[at++] = 8 * y + sum - y;
      }
  cudaMemcpyToSymbol(order, places, sizeof places);
  cudaMemcpyToSymbol(sizes, steps, sizeof steps);
  const int count = n * n, blocks = count / 64;
  unsigned char* frame = device_array<unsigned char>(count, [n](int i) {
    return static_cast<unsigned char>(i % n / 3 + i / n / 5 + (static_cast<unsigned>(i) * 2654435761u >> 29));
  });
  unsigned char* before = device_array<unsigned char>(count, [n](int i) {
    return static_cast<unsigned char>((i % n + 4) / 3 + i / n / 5 +
                                      (static_cast<unsigned>(i) * 2654435761u >> 29));
  });
  short* waves = device_zeros<short>(count);
  short* numbers = device_zeros<short>(count);
  int* out = device_zeros<int>(count);
  for (int r = 0; r < kLaunches; ++r) find_moves<<<dim3(n / 16, n / 16), 320>>>(frame, before, out, n);
  for (int r = 0; r < kLaunches; ++r) to_waves<<<dim3(ceil_div(n, 256), n / 8), 256>>>(frame, waves, n);
  for (int r = 0; r < kLaunches; ++r) quantise<<<ceil_div(count, 256), 256>>>(waves, numbers, 0.5f, n);
  for (int r = 0; r < kLaunches; ++r) code_lengths<<<ceil_div(blocks, 64), 64>>>(numbers, out, blocks);
  for (int r = 0; r < kLaunches; ++r)
    smooth_edges<<<dim3(ceil_div(n, 128), n / 8 - 1), 128>>>(frame, 20, 6, n);
  for (int r = 0; r < kLaunches; ++r)
    half_steps<<<dim3(ceil_div(n / 4, 32), ceil_div(n, 8)), dim3(32, 8)>>>(frame, (uchar4*)out, n);
  free_all(frame, before, waves, numbers, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("video_blocks");
}
