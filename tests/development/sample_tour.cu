// A tour of small samples as in a course: sums, transposes, reductions, scans, sorting, images and a product.
#include "device.h"

// The sum of two vectors, kEach neighbours for each thread.
template <int kEach>
__global__ void add_vectors(const float* a, const float* b, float* c, int count) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kEach;
  for (int i = first; i < min(first + kEach, count); ++i) c[i] = a[i] + b[i];
}

// A transpose through tiles in shared memory, with kPad columns more in a tile against bank conflicts.
template <int kPad>
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][32 + kPad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

// A sum for each block. The first lesson joins neighbours, the second one joins halves.
template <bool kHalves>
__global__ void reduce(const int* in, int* sums, int count) {
  extern __shared__ int values[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  values[t] = i < count ? in[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    const int s = kHalves ? k : blockDim.x / 2 / k;
    if (kHalves ? t < s : t % (2 * s) == 0) values[t] += values[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = values[0];
}

// A dot product: registers first, then shuffles, then one atomic operation for each warp.
__global__ void dot(const float* __restrict__ a, const float* __restrict__ b, double* result, int count) {
  double sum = 0;
  const int step = gridDim.x * blockDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) sum += (double)a[i] * b[i];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

// Prefix sums of each block after Hillis and Steele, with two buffers.
__global__ void scan_by_steps(const int* in, int* out, int count) {
  __shared__ int buffers[2][1024];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int from = 0;
  buffers[0][t] = i < count ? in[i] : 0;
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance <<= 1) {
    const int before = t >= distance ? buffers[from][t - distance] : 0;
    buffers[1 - from][t] = buffers[from][t] + before;
    from = 1 - from;
    __syncthreads();
  }
  if (i < count) out[i] = buffers[from][t];
}

// Prefix sums after Blelloch: up a tree and down again, two numbers for each thread.
__global__ void scan_by_tree(const int* in, int* out, int count) {
  extern __shared__ int tree[];
  const int t = threadIdx.x, size = 2 * blockDim.x, base = blockIdx.x * size;
  for (int k = t; k < size; k += blockDim.x) tree[k] = base + k < count ? in[base + k] : 0;
  int offset = 1;
  for (int pairs = size / 2; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (t < pairs) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) tree[size - 1] = 0;
  for (int pairs = 1; pairs < size; pairs *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < pairs) {
      const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      const int kept = tree[left];
      tree[left] = tree[right];
      tree[right] += kept;
    }
  }
  __syncthreads();
  for (int k = t; k < min(size, count - base); k += blockDim.x) out[base + k] = tree[k];
}

// One step of a bitonic merge: a thread puts two keys that are `distance` apart in order.
__global__ void bitonic_step(unsigned* keys, int distance, int span, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = 2 * t - (t & (distance - 1)), j = i + distance;
  if (j >= count) return;
  const unsigned a = keys[i], b = keys[j];
  const bool rising = (i & span) == 0;
  keys[i] = rising ? min(a, b) : max(a, b);
  keys[j] = rising ? max(a, b) : min(a, b);
}

// One pass of a box filter along lines. A thread slides the box over 64 pixels of its line.
__global__ void box_pass(const unsigned short* in, unsigned short* out, int radius, int step, int line_step,
                         int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 64;
  if (line >= n) return;
  const unsigned short* pixels = in + line * line_step;
  int sum = 0;
  for (int k = first - radius; k < first + radius; ++k) sum += pixels[min(max(k, 0), n - 1) * step];
  for (int k = first; k < min(first + 64, n); ++k) {
    sum += pixels[min(k + radius, n - 1) * step];
    out[line * line_step + k * step] = sum / (2 * radius + 1);
    sum -= pixels[max(k - radius, 0) * step];
  }
}

// An image of the Mandelbrot set in four bytes a pixel.
__global__ void mandelbrot(uchar4* image, float left, float top, float scale, int limit, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float a = left + scale * x, b = top + scale * y;
  float re = 0, im = 0;
  int steps = 0;
  while (re * re + im * im < 4 && steps < limit) {
    const float next = re * re - im * im + a;
    im = 2 * re * im + b;
    re = next;
    ++steps;
  }
  image[y * n + x] = make_uchar4(steps, steps * 3, steps * 7, 255);
}

// A product of matrices with tiles of 64 * 64, 4 * 4 results for each thread, and vectors of four numbers.
__global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* c, int m) {
  __shared__ __align__(16) float rows[16][68];
  __shared__ __align__(16) float columns[16][64];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sums[4][4] = {};
  for (int start = 0; start < m; start += 16) {
    const float4 part = *(const float4*)&a[(row + t / 4) * m + start + t % 4 * 4];
    const float parts[4] = {part.x, part.y, part.z, part.w};
    for (int i = 0; i < 4; ++i) rows[t % 4 * 4 + i][t / 4] = parts[i];
    *(float4*)&columns[ty][tx * 4] = *(const float4*)&b[(start + ty) * m + column + tx * 4];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 u = *(float4*)&rows[k][ty * 4], v = *(float4*)&columns[k][tx * 4];
      const float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int i = 0; i < 16; ++i) sums[i / 4][i % 4] += us[i / 4] * vs[i % 4];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    *(float4*)&c[(row + ty * 4 + i) * m + column + tx * 4] =
        make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}

void run(int n) {
  const int count = n * n, m = n / 128 * 64;
  float* a = device_floats(count);
  float* b = device_floats(count);
  float* c = device_zeros<float>(count);
  int* numbers = device_ints(count, 100);
  int* results = device_zeros<int>(count);
  double* result = device_zeros<double>(1);
  unsigned* keys = device_array<unsigned>(count, [](int i) { return i * 2654435761u; });
  unsigned short* image = device_array<unsigned short>(count, [](int i) { return i * 2654435761u >> 16; });
  unsigned short* smooth = device_zeros<unsigned short>(count);
  for (int r = 0; r < kLaunches; ++r) add_vectors<1><<<ceil_div(count, 256), 256>>>(a, b, c, count);
  for (int r = 0; r < kLaunches; ++r) add_vectors<8><<<ceil_div(count, 1024), 128>>>(a, b, c, count);
  const dim3 tiles(ceil_div(n, 32), ceil_div(n, 32)), strips(ceil_div(n, 64), ceil_div(n, 64));
  for (int r = 0; r < kLaunches; ++r) transpose<0><<<tiles, dim3(32, 8)>>>(a, c, n, n);
  for (int r = 0; r < kLaunches; ++r) transpose<1><<<tiles, dim3(32, 8)>>>(a, c, n, n);
  for (int r = 0; r < kLaunches; ++r)
    reduce<false><<<ceil_div(count, 256), 256, 256 * sizeof(int)>>>(numbers, results, count);
  for (int r = 0; r < kLaunches; ++r)
    reduce<true><<<ceil_div(count, 512), 512, 512 * sizeof(int)>>>(numbers, results, count);
  for (int r = 0; r < kLaunches; ++r) dot<<<min(ceil_div(count, 480), 528), 480>>>(a, b, result, count);
  for (int r = 0; r < kLaunches; ++r)
    scan_by_steps<<<ceil_div(count, 1024), 1024>>>(numbers, results, count);
  for (int r = 0; r < kLaunches; ++r)
    scan_by_tree<<<ceil_div(count, 512), 256, 512 * sizeof(int)>>>(numbers, results, count);
  for (int r = 0; r < kLaunches; ++r)
    bitonic_step<<<ceil_div(ceil_div(count, 8192) * 4096, 192), 192>>>(keys, 4096, 8192, count);
  for (int r = 0; r < kLaunches; ++r) box_pass<<<strips, 64>>>(image, smooth, 5, 1, n, n);
  for (int r = 0; r < kLaunches; ++r) box_pass<<<strips, 64>>>(image, smooth, 5, n, 1, n);
  for (int r = 0; r < kLaunches; ++r)
    mandelbrot<<<dim3(ceil_div(n, 16), ceil_div(n, 12)), dim3(16, 12)>>>(
        (uchar4*)c, -2, -1.3f, 2.6f / n, 300, n);
  for (int r = 0; r < kLaunches; ++r) multiply<<<dim3(m / 64, m / 64), dim3(16, 16)>>>(a, b, c, m);
  free_all(a, b, c, numbers, results, result, keys, image, smooth);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sample_tour");
}
