// Filters and transforms of an image of n x n samples, and other small kernels of signal processing.
#include "device.h"

constexpr int kRadius = 8;
__constant__ float taps[2 * kRadius + 1];
__constant__ float basis[8][8];

// A separable convolution along rows or columns. The tile of a block has a halo at both ends.
template <int kAlong, int kAcross, bool kRows>
__global__ void convolve(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[kAcross][kAlong + 2 * kRadius + 1];
  const int a = kRows ? threadIdx.x : threadIdx.y, b = kRows ? threadIdx.y : threadIdx.x;
  const int along = blockIdx.x * kAlong + a, across = blockIdx.y * kAcross + b;
  const int step = kRows ? 1 : n, line = across * (kRows ? n : 1);
  for (int k = a; k < kAlong + 2 * kRadius; k += kAlong) {
    const int p = static_cast<int>(blockIdx.x) * kAlong + k - kRadius;
    tile[b][k] = across < n && p >= 0 && p < n ? in[line + p * step] : 0.0f;
  }
  __syncthreads();
  if (along >= n || across >= n) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * kRadius; ++k) sum += taps[k] * tile[b][a + k];
  out[line + along * step] = sum;
}

// Cosine transforms of 8 x 8 samples, four side by side in a block, rounded to multiples of a quantum.
__global__ void transform_8x8(const float* in, float* out, int n, float quantum) {
  __shared__ float samples[4][8][9], halfway[4][8][9];
  const int u = threadIdx.x, v = threadIdx.y, part = threadIdx.z;
  const int x = (blockIdx.x * 4 + part) * 8 + u, y = blockIdx.y * 8 + v;
  samples[part][v][u] = x < n ? in[y * n + x] - 0.5f : 0.0f;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += samples[part][v][k] * basis[u][k];
  halfway[part][v][u] = sum;
  __syncthreads();
  float level = 0;
  for (int k = 0; k < 8; ++k) level += halfway[part][k][u] * basis[v][k];
  if (x < n) out[y * n + x] = rintf(level / quantum) * quantum;
}

// Scalar products of many pairs of vectors. A block of six warps takes one pair after another.
__global__ void scalar_products(const float* first, const float* second, double* products, int pairs,
                                int length) {
  __shared__ double sums[6];
  for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    double sum = 0;
    for (int k = threadIdx.x; k < length; k += blockDim.x)
      sum += first[pair * length + k] * second[pair * length + k];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) products[pair] = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5];
    __syncthreads();
  }
}

// Points of a quasi-random sequence in Gray code order. Each dimension has 32 direction numbers.
__global__ void quasi_random(const unsigned* directions, float* points, int count) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    unsigned bits = 0;
    for (unsigned gray = i ^ (i >> 1), k = 0; gray != 0; gray >>= 1, ++k)
      if (gray & 1) bits ^= directions[blockIdx.y * 32 + k];
    points[blockIdx.y * count + i] = bits * 2.3283064e-10f;
  }
}

// An escape-time fractal: a colour for each pixel from the number of steps until the point leaves.
template <class T>
__global__ void fractal(uchar4* pixels, int n, T left, T top, T scale, int most) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= n || py >= n) return;
  const T cx = left + scale * px / n, cy = top + scale * py / n;
  T x = 0, y = 0;
  int steps = 0;
  for (; x * x + y * y < 4 && steps < most; ++steps) {
    const T next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  const unsigned char shade = steps == most ? 0 : 255 - steps % 256;
  pixels[py * n + px] = make_uchar4(shade, shade / 2, steps * 7 % 256, 255);
}

__device__ void put_in_order(unsigned& a, unsigned& b, bool falling) {
  const unsigned low = min(a, b), high = max(a, b);
  a = falling ? high : low, b = falling ? low : high;
}

// Bitonic merging: all short strides of 1024 keys in shared memory, or one long stride in global memory.
template <bool kShared>
__global__ void bitonic_merge(const unsigned* in, unsigned* out, int size, int stride, int count) {
  if constexpr (kShared) {
    __shared__ unsigned keys[1024];
    const int t = threadIdx.x, start = blockIdx.x * 1024;
    keys[t] = in[start + t];
    for (; stride > 0; stride /= 2) {
      __syncthreads();
      if ((t & stride) == 0) put_in_order(keys[t], keys[t + stride], ((start + t) & size) != 0);
    }
    __syncthreads();
    out[start + t] = keys[t];
  } else {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count / 2) return;
    const int i = 2 * t - (t & (stride - 1));
    unsigned a = in[i], b = in[i + stride];
    put_in_order(a, b, (i & size) != 0);
    out[i] = a;
    out[i + stride] = b;
  }
}

// A box filter by running sums: a thread for each row or for each column. Edges repeat the last sample.
template <bool kRows>
__global__ void box_filter(const float* in, float* out, int n, int radius) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= n) return;
  const int step = kRows ? 1 : n, start = kRows ? line * n : line;
  const float scale = 1.0f / (2 * radius + 1);
  float sum = 0;
  for (int k = -radius; k <= radius; ++k) sum += in[start + max(k, 0) * step];
  for (int k = 0; k < n; ++k) {
    out[start + k * step] = sum * scale;
    sum += in[start + min(k + radius + 1, n - 1) * step] - in[start + max(k - radius, 0) * step];
  }
}

// Histograms of pulse heights. After a pulse a detector is blind for some time. Each warp has its own bins.
template <int kBins, int kWarps>
__global__ void dead_time_histogram(const uchar2* pulses, unsigned* totals, int detectors, int dead_time) {
  __shared__ unsigned bins[kWarps][kBins];
  for (int k = threadIdx.x; k < kWarps * kBins; k += blockDim.x) bins[k / kBins][k % kBins] = 0;
  __syncthreads();
  const int detector = blockIdx.x * blockDim.x + threadIdx.x;
  int since = dead_time;
  for (int k = 0; k < 64 && detector < detectors; ++k) {
    const uchar2 pulse = pulses[k * detectors + detector];
    since += pulse.x;
    if (since < dead_time) continue;
    since = 0;
    atomicAdd(&bins[threadIdx.x / 32][pulse.y * kBins / 256], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += bins[w][bin];
    if (sum > 0) atomicAdd(&totals[bin], sum);
  }
}

void run(int n) {
  const int pixels = n * n, points = pixels / 8, detectors = pixels / 64;
  int keys = 1024;
  while (2 * keys <= pixels) keys *= 2;
  float weights[2 * kRadius + 1], cosines[8][8];
  for (int k = 0; k <= 2 * kRadius; ++k) weights[k] = 0.1f * expf(-0.03f * (k - kRadius) * (k - kRadius));
  for (int k = 0; k < 64; ++k)
    cosines[k / 8][k % 8] = (k < 8 ? sqrtf(0.125f) : 0.5f) * cosf((2 * (k % 8) + 1) * (k / 8) * 0.19634954f);
  cudaMemcpyToSymbol(taps, weights, sizeof weights);
  cudaMemcpyToSymbol(basis, cosines, sizeof cosines);
  float *image = device_floats(pixels), *out = device_zeros<float>(pixels);
  auto* in_keys = device_array<unsigned>(keys, [](int i) { return i * 2654435761u; });
  auto* directions = device_array<unsigned>(256, [](int i) { return (i * 38 % 97 + 1u) << (31 - i % 32); });
  auto* pulses = (uchar2*)device_array<unsigned short>(pixels, [](int i) { return i * 2654435761u >> 16; });
  unsigned *totals = device_zeros<unsigned>(256), *sorted = (unsigned*)out;
  auto* colours = (uchar4*)out;
  for (int r = 0; r < kLaunches; ++r)
    convolve<128, 4, true><<<dim3(ceil_div(n, 128), ceil_div(n, 4)), dim3(128, 4)>>>(image, out, n);
  for (int r = 0; r < kLaunches; ++r)
    convolve<32, 16, false><<<dim3(ceil_div(n, 32), ceil_div(n, 16)), dim3(16, 32)>>>(image, out, n);
  for (int r = 0; r < kLaunches; ++r)
    transform_8x8<<<dim3(ceil_div(n, 32), n / 8), dim3(8, 8, 4)>>>(image, out, n, 0.05f);
  for (int r = 0; r < kLaunches; ++r)
    scalar_products<<<ceil_div(n, 3), 192>>>(image, image, (double*)out, n, n);
  for (int r = 0; r < kLaunches; ++r)
    quasi_random<<<dim3(ceil_div(points, 1024), 8), 128>>>(directions, out, points);
  for (int r = 0; r < kLaunches; ++r)
    fractal<<<dim3(ceil_div(n, 16), ceil_div(n, 12)), dim3(16, 12)>>>(colours, n, -2.0f, -1.5f, 3.0f, 300);
  for (int r = 0; r < kLaunches; ++r)
    fractal<<<dim3(ceil_div(n, 32), ceil_div(n, 8)), dim3(32, 8)>>>(colours, n, -0.8, 0.1, 0.01, 100);
  for (int r = 0; r < kLaunches; ++r)
    bitonic_merge<true><<<keys / 1024, 1024>>>(in_keys, sorted, 4096, 512, keys);
  for (int r = 0; r < kLaunches; ++r)
    bitonic_merge<false><<<ceil_div(keys / 2, 256), 256>>>(in_keys, sorted, keys / 2, keys / 8, keys);
  for (int r = 0; r < kLaunches; ++r) box_filter<true><<<ceil_div(n, 32), 32>>>(image, out, n, 7);
  for (int r = 0; r < kLaunches; ++r) box_filter<false><<<ceil_div(n, 64), 64>>>(image, out, n, 12);
  for (int r = 0; r < kLaunches; ++r)
    dead_time_histogram<64, 4><<<ceil_div(detectors, 128), 128>>>(pulses, totals, detectors, 200);
  for (int r = 0; r < kLaunches; ++r)
    dead_time_histogram<256, 10><<<ceil_div(detectors, 320), 320>>>(pulses, totals, detectors, 60);
  free_all(image, out, in_keys, directions, pulses, totals);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("signal_samples");
}
