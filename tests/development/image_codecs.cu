// The steps of a codec for still images: colours, cosine transforms of 8 x 8 tiles, quantisation, runs of
// zeros, the way back and a measure of the loss.
// n is the side of the square image in pixels, a multiple of 64.
#include "device.h"

__constant__ float cosines[64];  // cosines[8 * frequency + place]
__constant__ int whole_cosines[64];  // the same times 8192
__constant__ int steps[64];
__constant__ unsigned char zigzag[64];  // the places of a tile in the order in which they are written
__constant__ unsigned char rank_of[64];  // where each place comes in this order

__device__ float clamped(float value) {
  return fminf(fmaxf(value, 0.0f), 255.0f);
}

// Turns 2 x 2 pixels per thread into four luminances and the means of their two colour differences.
__global__ void to_luminance(const uchar4* pixels, float* luminance, float2* colours, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n / 2 || y >= n / 2) return;
  float blue = 0, red = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int i = (2 * y + k / 2) * n + 2 * x + k % 2;
    const uchar4 p = pixels[i];
    luminance[i] = 0.299f * p.x + 0.587f * p.y + 0.114f * p.z - 128;
    blue += -0.1687f * p.x - 0.3313f * p.y + 0.5f * p.z;
    red += 0.5f * p.x - 0.4187f * p.y - 0.0813f * p.z;
  }
  colours[y * (n / 2) + x] = make_float2(0.25f * blue, 0.25f * red);
}

// Computes each coefficient of a tile as a sum over its 64 pixels, a block per tile.
__global__ void transform_directly(const float* in, float* out, int n) {
  const int u = threadIdx.x, v = threadIdx.y;
  const float* tile = in + blockIdx.y * 8 * n + blockIdx.x * 8;
  float sum = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) sum += tile[y * n + x] * cosines[8 * u + x] * cosines[8 * v + y];
  out[(blockIdx.y * 8 + v) * n + blockIdx.x * 8 + u] = sum;
}

// Transforms the rows and then the columns of kTiles tiles per block, a thread per coefficient.
template <int kTiles>
__global__ void transform_in_passes(const float* in, float* out, int n) {
  __shared__ float pixels[kTiles][8][9], halfway[kTiles][8][9], table[8][9];
  const int u = threadIdx.x, v = threadIdx.y, tile = threadIdx.z;
  const int i = (blockIdx.y * 8 + v) * n + (blockIdx.x * kTiles + tile) * 8 + u;
  if (tile == 0) table[v][u] = cosines[8 * v + u];
  pixels[tile][v][u] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int x = 0; x < 8; ++x) sum += pixels[tile][v][x] * table[u][x];
  halfway[tile][v][u] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int y = 0; y < 8; ++y) sum += halfway[tile][y][u] * table[v][y];
  out[i] = sum;
}

__device__ void transform_line(float (&v)[8]) {
  constexpr float c1 = 0.49039264f, c2 = 0.46193977f, c3 = 0.41573481f, c4 = 0.35355339f, c5 = 0.27778512f,
                  c6 = 0.19134172f, c7 = 0.09754516f;
  const float s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
  const float d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
  const float a = s0 + s3, b = s1 + s2, c = s0 - s3, d = s1 - s2;
  v[0] = c4 * (a + b);
  v[4] = c4 * (a - b);
  v[2] = c2 * c + c6 * d;
  v[6] = c6 * c - c2 * d;
  v[1] = c1 * d0 + c3 * d1 + c5 * d2 + c7 * d3;
  v[3] = c3 * d0 - c7 * d1 - c1 * d2 - c5 * d3;
  v[5] = c5 * d0 - c1 * d1 + c7 * d2 + c3 * d3;
  v[7] = c7 * d0 - c5 * d1 + c3 * d2 - c1 * d3;
}

// Transforms a row and then a column per thread in registers, four tiles per warp.
__global__ void transform_lines(const float* in, float* out, int n) {
  __shared__ float tiles[16][8][9];
  const int local = threadIdx.x / 8, line = threadIdx.x % 8, tile = blockIdx.x * 16 + local, across = n / 8;
  if (tile < across * across) {
    const int corner = tile / across * 8 * n + tile % across * 8;
    const float4* row = (const float4*)(in + corner + line * n);
    const float4 left = row[0], right = row[1];
    float v[8] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
    transform_line(v);
#pragma unroll
    for (int k = 0; k < 8; ++k) tiles[local][line][k] = v[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = tiles[local][k][line];
    transform_line(v);
#pragma unroll
    for (int k = 0; k < 8; ++k) out[corner + k * n + line] = v[k];
  }
}

// Divides the coefficients by their steps, rounds them, and writes each tile in zigzag order.
__global__ void quantise(const float* coefficients, short* levels, float quality, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  const int tile = i / 64, place = zigzag[i % 64], across = n / 8;
  const int y = tile / across * 8 + place / 8, x = tile % across * 8 + place % 8;
  levels[i] = static_cast<short>(__float2int_rn(coefficients[y * n + x] / (quality * steps[place])));
}

// Writes the runs of zeros of a tile and the sizes of what ends them, and counts its bits, a thread per tile.
__global__ void write_runs(const short* levels, unsigned char* symbols, int* counts, int* bits, int tiles) {
  const int tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile >= tiles) return;
  int count = 0, total = 0, run = 0;
  for (int k = 0; k < 64; ++k) {
    const int level = levels[tile * 64 + k];
    if (level == 0) {
      ++run;
      continue;
    }
    while (run > 15) {
      symbols[tile * 64 + count++] = 0xf0;
      total += 11;
      run -= 16;
    }
    const int size = 32 - __clz(abs(level));
    symbols[tile * 64 + count++] = static_cast<unsigned char>(run << 4 | (size & 15));
    total += 2 + run / 2 + 2 * size;
    run = 0;
  }
  if (run > 0) {
    symbols[tile * 64 + count++] = 0;
    total += 4;
  }
  counts[tile] = count;
  bits[tile] = total;
}

// Counts the bits of a tile with a warp, which finds the runs of zeros by a vote.
__global__ void count_bits(const short* levels, int* bits, int tiles) {
  const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (tile >= tiles) return;
  const int first = levels[tile * 64 + lane], second = levels[tile * 64 + 32 + lane];
  const unsigned low = __ballot_sync(0xffffffffu, first != 0), high = __ballot_sync(0xffffffffu, second != 0);
  const unsigned long long mask = static_cast<unsigned long long>(high) << 32 | low;
  int total = lane == 0 && high >> 31 == 0 ? 4 : 0;
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const int level = part == 0 ? first : second, place = lane + 32 * part;
    if (level != 0) {
      const unsigned long long before = mask & ((1ull << place) - 1);
      const int run = before == 0 ? place : place - 64 + __clzll(before);
      total += 11 * (run / 16) + 2 + run % 16 / 2 + 2 * (32 - __clz(abs(level)));
    }
  }
  total = __reduce_add_sync(0xffffffffu, total);
  if (lane == 0) bits[tile] = total;
}

// Counts how often each symbol was written, in shared memory first.
__global__ void count_symbols(const unsigned char* symbols, const int* counts, unsigned* histogram,
                              int places) {
  __shared__ unsigned local[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) local[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < places; i += gridDim.x * blockDim.x)
    if (i % 64 < counts[i / 64]) atomicAdd(&local[symbols[i]], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x)
    if (local[k] > 0) atomicAdd(&histogram[k], local[k]);
}

// Turns levels back into luminances by whole numbers only, eight tiles per block and a line per thread.
__global__ void restore_tiles(const short* levels, unsigned char* luminance, int n) {
  __shared__ int tiles[8][8][9];
  const int local = threadIdx.x / 8, line = threadIdx.x % 8, tile = blockIdx.x * 8 + local, across = n / 8;
  const bool valid = tile < across * across;
  int v[8];
  if (valid) {
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = levels[tile * 64 + rank_of[8 * line + k]] * steps[8 * line + k];
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      int sum = 1 << 10;
#pragma unroll
      for (int u = 0; u < 8; ++u) sum += v[u] * whole_cosines[8 * u + x];
      tiles[local][line][x] = sum >> 11;
    }
  }
  __syncthreads();
  if (valid) {
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = tiles[local][k][line];
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      int sum = 1 << 14;
#pragma unroll
      for (int u = 0; u < 8; ++u) sum += v[u] * whole_cosines[8 * u + y];
      const int at = (tile / across * 8 + y) * n + tile % across * 8 + line;
      luminance[at] = static_cast<unsigned char>(min(max((sum >> 15) + 128, 0), 255));
    }
  }
}

// Joins luminances with colour differences of half the resolution, taken between four of their points.
__global__ void to_pixels(const unsigned char* luminance, const float2* colours, uchar4* pixels, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int half = n / 2, x0 = x / 2, y0 = y / 2;
  const int x1 = min(max(x0 + (x % 2 == 0 ? -1 : 1), 0), half - 1);
  const int y1 = min(max(y0 + (y % 2 == 0 ? -1 : 1), 0), half - 1);
  const float2 a = colours[y0 * half + x0], b = colours[y0 * half + x1], c = colours[y1 * half + x0],
               d = colours[y1 * half + x1];
  const float blue = 0.5625f * a.x + 0.1875f * (b.x + c.x) + 0.0625f * d.x;
  const float red = 0.5625f * a.y + 0.1875f * (b.y + c.y) + 0.0625f * d.y;
  const float light = luminance[y * n + x];
  pixels[y * n + x] = make_uchar4(static_cast<unsigned char>(clamped(light + 1.402f * red)),
                                  static_cast<unsigned char>(clamped(light - 0.344f * blue - 0.714f * red)),
                                  static_cast<unsigned char>(clamped(light + 1.772f * blue)), 255);
}

// Sums over all tiles how alike two images are, by means, variances and covariance, a warp per tile.
__global__ void similarity(const uchar4* first, const uchar4* second, double* total, int n) {
  const int lane = threadIdx.x % 32, across = n / 8, warps = gridDim.x * blockDim.x / 32;
  double sum = 0;
  for (int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32; tile < across * across; tile += warps) {
    const int at = (tile / across * 8 + lane / 8) * n + tile % across * 8 + lane % 8;
    const double a0 = first[at].y, a1 = first[at + 4 * n].y, b0 = second[at].y, b1 = second[at + 4 * n].y;
    double moments[5] = {a0 + a1, b0 + b1, a0 * a0 + a1 * a1, b0 * b0 + b1 * b1, a0 * b0 + a1 * b1};
#pragma unroll
    for (int k = 0; k < 5; ++k)
      for (int offset = 16; offset > 0; offset /= 2)
        moments[k] += __shfl_xor_sync(0xffffffffu, moments[k], offset);
    const double mean_a = moments[0] / 64, mean_b = moments[1] / 64;
    const double variances = (moments[2] + moments[3]) / 64 - mean_a * mean_a - mean_b * mean_b;
    const double covariance = moments[4] / 64 - mean_a * mean_b;
    sum += (2 * mean_a * mean_b + 6.5) * (2 * covariance + 58.5) /
           ((mean_a * mean_a + mean_b * mean_b + 6.5) * (variances + 58.5));
  }
  if (lane == 0) atomicAdd(total, sum);
}

void fill_tables() {
  const int luminance_steps[8] = {16, 12, 14, 18, 24, 40, 52, 64};
  float cosine[64];
  int whole[64], step[64];
  unsigned char order[64], rank[64];
  for (int k = 0; k < 64; ++k) {
    const int u = k / 8, x = k % 8;
    const double factor = u == 0 ? sqrt(0.125) : 0.5;
    cosine[k] = static_cast<float>(factor * cos((2 * x + 1) * u * 3.14159265358979 / 16));
    whole[k] = static_cast<int>(lrintf(8192 * cosine[k]));
    step[k] = (luminance_steps[u] + luminance_steps[x]) / 2;
  }
  // Along the diagonals, up and down in turn.
  int count = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal) {
    for (int k = 0; k <= diagonal; ++k) {
      const int y = diagonal % 2 == 0 ? diagonal - k : k, x = diagonal - y;
      if (x > 7 || y > 7) continue;
      order[count] = static_cast<unsigned char>(8 * y + x);
      rank[8 * y + x] = static_cast<unsigned char>(count++);
    }
  }
  cudaMemcpyToSymbol(cosines, cosine, sizeof cosine);
  cudaMemcpyToSymbol(whole_cosines, whole, sizeof whole);
  cudaMemcpyToSymbol(steps, step, sizeof step);
  cudaMemcpyToSymbol(zigzag, order, sizeof order);
  cudaMemcpyToSymbol(rank_of, rank, sizeof rank);
}

void code(int n) {
  const int count = n * n, tiles = count / 64;
  // Slow changes of colour, a pattern of rectangles and a little noise.
  uchar4* pixels = device_array<uchar4>(count, [n](int i) {
    const int x = i % n, y = i / n, noise = static_cast<int>(16 * hashed_unit(i));
    const int pattern = (x / 41 + y / 57) % 3 * 40;
    return make_uchar4(40 + pattern + noise + (x + 2 * y) % 1024 / 16, 60 + pattern + noise + x % 800 / 16,
                       30 + pattern / 2 + noise + y % 1600 / 16, 255);
  });
  uchar4* restored = device_zeros<uchar4>(count);
  float* luminance = device_zeros<float>(count);
  float* coefficients = device_zeros<float>(count);
  float2* colours = device_zeros<float2>(count / 4);
  short* levels = device_zeros<short>(count);
  unsigned char* symbols = device_zeros<unsigned char>(count);
  unsigned char* light = device_zeros<unsigned char>(count);
  int* counts = device_zeros<int>(tiles);
  int* bits = device_zeros<int>(tiles);
  unsigned* histogram = device_zeros<unsigned>(256);
  double* total = device_zeros<double>(1);
  const dim3 flat(32, 8), quarters(ceil_div(n / 2, 32), ceil_div(n / 2, 8));
  const dim3 large(32, 16), larges(ceil_div(n, 32), ceil_div(n, 16));
  for (int run = 0; run < kLaunches; ++run) to_luminance<<<quarters, flat>>>(pixels, luminance, colours, n);
  for (int run = 0; run < kLaunches; ++run)
    transform_directly<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(luminance, coefficients, n);
  for (int run = 0; run < kLaunches; ++run)
    transform_in_passes<2><<<dim3(n / 16, n / 8), dim3(8, 8, 2)>>>(luminance, coefficients, n);
  for (int run = 0; run < kLaunches; ++run)
    transform_in_passes<8><<<dim3(n / 64, n / 8), dim3(8, 8, 8)>>>(luminance, coefficients, n);
  for (int run = 0; run < kLaunches; ++run)
    transform_lines<<<ceil_div(tiles, 16), 128>>>(luminance, coefficients, n);
  for (int run = 0; run < kLaunches; ++run)
    quantise<<<ceil_div(count, 256), 256>>>(coefficients, levels, 1.0f, n);
  for (int run = 0; run < kLaunches; ++run)
    write_runs<<<ceil_div(tiles, 96), 96>>>(levels, symbols, counts, bits, tiles);
  for (int run = 0; run < kLaunches; ++run) count_bits<<<ceil_div(tiles, 8), 256>>>(levels, bits, tiles);
  for (int run = 0; run < kLaunches; ++run) count_symbols<<<264, 1024>>>(symbols, counts, histogram, count);
  for (int run = 0; run < kLaunches; ++run) restore_tiles<<<ceil_div(tiles, 8), 64>>>(levels, light, n);
  for (int run = 0; run < kLaunches; ++run) to_pixels<<<larges, large>>>(light, colours, restored, n);
  for (int run = 0; run < kLaunches; ++run) similarity<<<528, 128>>>(pixels, restored, total, n);
  free_all(pixels, restored, luminance, coefficients, colours, levels, symbols, light, counts, bits);
  free_all(histogram, total);
}

int main(int argc, char** argv) {
  fill_tables();
  for (int i = 1; i < argc; ++i) code(atoi(argv[i]));
  return finish("image_codecs");
}
