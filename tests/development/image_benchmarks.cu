// Kernels of an image library, on images of n x 3 n / 4 pixels with one to four channels.
#include "device.h"

using uchar = unsigned char;

// How much the bilateral filter weakens with each pixel of distance.
__constant__ float kFall[4] = {1.0f, 0.88f, 0.61f, 0.32f};

__device__ int clamped(int value, int limit) {
  return min(max(value, 0), limit - 1);
}

// Erosion by rows: the least of 2 kRadius + 1 pixels. A block has a part of a row in dynamic shared memory.
template <int kRadius>
__global__ void erode_rows(const uchar* __restrict__ image, uchar* __restrict__ out, int width) {
  extern __shared__ uchar part[];
  const int start = blockIdx.x * blockDim.x, row = blockIdx.y * width;
  for (int k = threadIdx.x; k < blockDim.x + 2 * kRadius; k += blockDim.x)
    part[k] = image[row + clamped(start + k - kRadius, width)];
  __syncthreads();
  const int x = start + threadIdx.x;
  if (x >= width) return;
  int least = 255;
#pragma unroll
  for (int k = 0; k <= 2 * kRadius; ++k) least = min(least, (int)part[threadIdx.x + k]);
  out[row + x] = least;
}

// Both gradients of Sobel, with the border repeated.
__global__ void sobel_clamped(const uchar* image, short2* gradients, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int gx = 0, gy = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy) {
    const uchar* row = image + clamped(y + dy, height) * width;
    const int west = row[clamped(x - 1, width)], own = row[x], east = row[clamped(x + 1, width)];
    gx += (dy == 0 ? 2 : 1) * (east - west);
    gy += dy * (west + 2 * own + east);
  }
  gradients[y * width + x] = make_short2(gx, gy);
}

// A bilateral filter of seven by seven pixels: weights by distance and by difference.
__global__ void bilateral(const float* image, float* out, float sharpness, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float centre = image[y * width + x];
  float sum = 0, weights = 0;
  for (int dy = -3; dy <= 3; ++dy) {
    if (y + dy < 0 || y + dy >= height) continue;
#pragma unroll
    for (int dx = -3; dx <= 3; ++dx) {
      if (x + dx < 0 || x + dx >= width) continue;
      const float value = image[(y + dy) * width + x + dx], difference = value - centre;
      const float weight = kFall[abs(dy)] * kFall[abs(dx)] * __expf(-sharpness * difference * difference);
      sum += weight * value;
      weights += weight;
    }
  }
  out[y * width + x] = sum / weights;
}

// The rows of an integral image: a block has a row, and scans 256 pixels at a time with shuffles.
__global__ void integral_rows(const uchar* image, unsigned* sums, int width) {
  __shared__ unsigned totals[8];
  const uchar* row = image + blockIdx.x * width;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned carry = 0;
  for (int start = 0; start < width; start += 256) {
    const int x = start + threadIdx.x;
    unsigned value = x < width ? row[x] : 0;
    for (int d = 1; d < 32; d *= 2) {
      const unsigned before = __shfl_up_sync(0xffffffffu, value, d);
      if (lane >= d) value += before;
    }
    if (lane == 31) totals[warp] = value;
    __syncthreads();
    unsigned all = 0;
    for (int k = 0; k < 8; ++k) {
      if (k < warp) value += totals[k];
      all += totals[k];
    }
    if (x < width) sums[blockIdx.x * width + x] = carry + value;
    carry += all;
    __syncthreads();
  }
}

// Histogram equalisation of tiles of 64 x 64 pixels: counts by shared atomics, a scan of 256 bins, a mapping.
__global__ void equalise_tiles(const uchar* image, uchar* out, int width, int height) {
  __shared__ unsigned bins[256];
  const int t = threadIdx.y * 32 + threadIdx.x, left = blockIdx.x * 64, top = blockIdx.y * 64 + threadIdx.y;
  const int right = min(left + 64, width), bottom = min((int(blockIdx.y) + 1) * 64, height);
  bins[t] = 0;
  __syncthreads();
  for (int y = top; y < bottom; y += 8)
    for (int x = left + threadIdx.x; x < right; x += 32) atomicAdd(&bins[image[y * width + x]], 1u);
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    const unsigned below = t >= d ? bins[t - d] : 0;
    __syncthreads();
    bins[t] += below;
    __syncthreads();
  }
  for (int y = top; y < bottom; y += 8)
    for (int x = left + threadIdx.x; x < right; x += 32)
      out[y * width + x] = 255 * bins[image[y * width + x]] / bins[255];
}

// Resizes an image of four channels with bilinear weights.
__global__ void resize_bilinear(const uchar4* image, uchar4* out, int width, int height, int wide, int high) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= wide || y >= high) return;
  const float sx = fmaxf((x + 0.5f) * width / wide - 0.5f, 0.0f);
  const float sy = fmaxf((y + 0.5f) * height / high - 0.5f, 0.0f);
  const int left = int(sx), top = int(sy);
  const int right = min(left + 1, width - 1), bottom = min(top + 1, height - 1);
  const float fx = sx - left, fy = sy - top, wa = (1 - fx) * (1 - fy), wb = fx * (1 - fy), wc = (1 - fx) * fy;
  const uchar4 a = image[top * width + left], b = image[top * width + right];
  const uchar4 c = image[bottom * width + left], d = image[bottom * width + right];
  auto mix = [=](int p, int q, int r, int s) { return int(wa * p + wb * q + wc * r + fx * fy * s + 0.5f); };
  out[y * wide + x] = make_uchar4(mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y),
                                 mix(a.z, b.z, c.z, d.z), mix(a.w, b.w, c.w, d.w));
}

// Pixels of three or four bytes become three planes of luma and chroma, in whole numbers.
template <class Pixel>
__global__ void split_luma(const Pixel* image, uchar* planes, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const Pixel p = image[i];
    const int luma = (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8;
    planes[i] = luma;
    planes[count + i] = min(max(((p.z - luma) * 144 >> 8) + 128, 0), 255);
    planes[2 * count + i] = min(max(((p.x - luma) * 183 >> 8) + 128, 0), 255);
  }
}

// Connected components: each pixel takes the least root of the labels of its like neighbours and its own.
__global__ void propagate_labels(const uchar* image, const int* labels, int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x, shade = image[i] >> 6;
  int root = labels[i];
  if (x > 0 && image[i - 1] >> 6 == shade) root = min(root, labels[i - 1]);
  if (x < width - 1 && image[i + 1] >> 6 == shade) root = min(root, labels[i + 1]);
  if (y > 0 && image[i - width] >> 6 == shade) root = min(root, labels[i - width]);
  if (y < height - 1 && image[i + width] >> 6 == shade) root = min(root, labels[i + width]);
  while (labels[root] != root) root = labels[root];
  out[i] = root;
}

// Votes for lines: each strong edge adds one to a distance for each of 30 angles.
__global__ void hough_votes(const short2* gradients, unsigned* votes, int width, int height, int distances) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const short2 g = gradients[y * width + x];
  if (abs(g.x) + abs(g.y) < 250) return;
  for (int k = 0; k < 30; ++k) {
    float sine, cosine;
    sincospif(k / 30.0f, &sine, &cosine);
    const int distance = (int)((x * cosine + y * sine + width) * 0.25f);
    atomicAdd(&votes[k * distances + distance], 1u);
  }
}

void run(int n) {
  const int w = n, h = n * 3 / 4, size = w * h, wide = w * 5 / 8, high = h * 5 / 8, far = (2 * w + h) / 4 + 1;
  uchar* grey = device_array<uchar>(size, [w](int i) {
    return (i % w / 64 + i / w / 48) % 2 * 100 + 50 + int(16 * hashed_unit(i));
  });
  float* smooth = device_array<float>(size, [](int i) { return hashed_unit(i); });
  uchar4* rgba = (uchar4*)device_array<unsigned>(size, [](int i) { return i * 2654435761u; });
  int* labels = device_array<int>(size, [](int i) { return i % 3 == 0 ? i : i - 1 - i * 7 % min(i, 16); });
  uchar* bytes = device_zeros<uchar>(3 * size);
  float* out = device_zeros<float>(size);
  short2* edges = device_zeros<short2>(size);
  unsigned* sums = device_zeros<unsigned>(30 * far);
  for (int r = 0; r < kLaunches; ++r) erode_rows<3><<<dim3(ceil_div(w, 256), h), 256, 262>>>(grey, bytes, w);
  for (int r = 0; r < kLaunches; ++r) erode_rows<12><<<dim3(ceil_div(w, 160), h), 160, 184>>>(grey, bytes, w);
  const dim3 squares(ceil_div(w, 16), ceil_div(h, 16)), bands(ceil_div(w, 32), ceil_div(h, 8));
  for (int r = 0; r < kLaunches; ++r) sobel_clamped<<<squares, dim3(16, 16)>>>(grey, edges, w, h);
  for (int r = 0; r < kLaunches; ++r) bilateral<<<bands, dim3(32, 8)>>>(smooth, out, 6.0f, w, h);
  for (int r = 0; r < kLaunches; ++r) integral_rows<<<h, 256>>>(grey, (unsigned*)out, w);
  const dim3 tiles(ceil_div(w, 64), ceil_div(h, 64)), half(ceil_div(wide, 64), ceil_div(high, 6));
  for (int r = 0; r < kLaunches; ++r) equalise_tiles<<<tiles, dim3(32, 8)>>>(grey, bytes, w, h);
  for (int r = 0; r < kLaunches; ++r)
    resize_bilinear<<<half, dim3(64, 6)>>>(rgba, (uchar4*)out, w, h, wide, high);
  for (int r = 0; r < kLaunches; ++r) split_luma<<<ceil_div(size, 1024), 256>>>(rgba, bytes, size);
  for (int r = 0; r < kLaunches; ++r) split_luma<<<528, 512>>>((const uchar3*)rgba, bytes, size);
  for (int r = 0; r < kLaunches; ++r) propagate_labels<<<bands, dim3(32, 8)>>>(grey, labels, (int*)out, w, h);
  for (int r = 0; r < kLaunches; ++r) hough_votes<<<dim3(ceil_div(w, 192), h), 192>>>(edges, sums, w, h, far);
  free_all(grey, smooth, rgba, labels, bytes, out, edges, sums);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("image_benchmarks");
}
