// A cube of n x n x n densities, seen from outside: rays, slices, gradients and what is known of its bricks.
#include "device.h"

struct Camera {
  float3 eye, forward, right, up;
};

__constant__ float4 transfer[64];

// The density at a place given in voxels: between the eight voxels about it.
__device__ float density_at(const float* volume, float x, float y, float z, int n) {
  x = fminf(fmaxf(x, 0.0f), n - 1.01f);
  y = fminf(fmaxf(y, 0.0f), n - 1.01f);
  z = fminf(fmaxf(z, 0.0f), n - 1.01f);
  const int i = (int)x, j = (int)y, k = (int)z;
  const float fx = x - i, fy = y - j, fz = z - k;
  const float* low = volume + (k * n + j) * n + i;
  const float* high = low + n * n;
  const float a = low[0] + fx * (low[1] - low[0]), b = low[n] + fx * (low[n + 1] - low[n]);
  const float c = high[0] + fx * (high[1] - high[0]), d = high[n] + fx * (high[n + 1] - high[n]);
  return a + fy * (b - a) + fz * (c + fy * (d - c) - a - fy * (b - a));
}

// The direction of the ray through a pixel.
__device__ float3 ray_through(const Camera& camera, int x, int y, int width, int height) {
  const float u = (2.0f * x + 1 - width) / height, v = (2.0f * y + 1 - height) / height;
  const float dx = camera.forward.x + u * camera.right.x + v * camera.up.x;
  const float dy = camera.forward.y + u * camera.right.y + v * camera.up.y;
  const float dz = camera.forward.z + u * camera.right.z + v * camera.up.z;
  const float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
  return make_float3(dx * scale, dy * scale, dz * scale);
}

// Where a ray enters and leaves the cube.
__device__ float2 inside_cube(float3 eye, float3 d, float edge) {
  const float ix = 1 / d.x, iy = 1 / d.y, iz = 1 / d.z;
  const float x0 = -eye.x * ix, x1 = (edge - eye.x) * ix, y0 = -eye.y * iy, y1 = (edge - eye.y) * iy;
  const float z0 = -eye.z * iz, z1 = (edge - eye.z) * iz;
  const float enter = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
  const float leave = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
  return make_float2(enter, leave);
}

// The mean of four colours about a place, by its distances from the first of them.
template <class Colour>
__device__ float4 between(const Colour* corner, int width, float fx, float fy) {
  const Colour a = corner[0], b = corner[1], c = corner[width], d = corner[width + 1];
  const float wa = (1 - fx) * (1 - fy), wb = fx * (1 - fy), wc = (1 - fx) * fy, wd = fx * fy;
  return make_float4(wa * a.x + wb * b.x + wc * c.x + wd * d.x, wa * a.y + wb * b.y + wc * c.y + wd * d.y,
                     wa * a.z + wb * b.z + wc * c.z + wd * d.z, wa * a.w + wb * b.w + wc * c.w + wd * d.w);
}

// Colour and opacity along each ray from front to back, until nothing behind can be seen.
__global__ void march_rays(const float* __restrict__ volume, float4* __restrict__ image, Camera camera,
                           float step, int width, int height, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float3 eye = camera.eye, d = ray_through(camera, x, y, width, height);
  const float2 span = inside_cube(eye, d, n - 1.0f);
  float red = 0, green = 0, blue = 0, clear = 1;
  for (float t = span.x; t < span.y && clear > 0.02f; t += step) {
    const float density = density_at(volume, eye.x + t * d.x, eye.y + t * d.y, eye.z + t * d.z, n);
    const float place = fminf(fmaxf(density, 0.0f), 1.0f) * 62.99f;
    const int entry = (int)place;
    const float4 a = transfer[entry], b = transfer[entry + 1];
    const float f = place - entry, alpha = (a.w + f * (b.w - a.w)) * step, weight = alpha * clear;
    red += weight * (a.x + f * (b.x - a.x));
    green += weight * (a.y + f * (b.y - a.y));
    blue += weight * (a.z + f * (b.z - a.z));
    clear *= 1 - alpha;
  }
  image[y * width + x] = make_float4(red, green, blue, 1 - clear);
}

// The first place on each ray where the density reaches a level, and the slope there. Bricks of 8 x 8 x 8
// voxels that stay below the level are left at once.
__global__ void find_surface(const float* volume, const float2* bricks, float4* hits, Camera camera,
                             float level, float step, int halvings, int width, int height, int n) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= width * height) return;
  const float3 eye = camera.eye, d = ray_through(camera, pixel % width, pixel / width, width, height);
  const float2 span = inside_cube(eye, d, n - 1.0f);
  const int edge = (n + 7) / 8;
  float4 hit = make_float4(0, 0, 0, -1);
  for (float t = span.x; t < span.y;) {
    const float x = eye.x + t * d.x, y = eye.y + t * d.y, z = eye.z + t * d.z;
    const int bx = min(max((int)x / 8, 0), edge - 1), by = min(max((int)y / 8, 0), edge - 1);
    const int bz = min(max((int)z / 8, 0), edge - 1);
    if (bricks[(bz * edge + by) * edge + bx].y < level) {
      const float tx = (8 * (d.x > 0 ? bx + 1 : bx) - x) / d.x, ty = (8 * (d.y > 0 ? by + 1 : by) - y) / d.y;
      const float tz = (8 * (d.z > 0 ? bz + 1 : bz) - z) / d.z;
      t += fmaxf(fminf(tx, fminf(ty, tz)), 0.0f) + 0.01f;
      continue;
    }
    if (density_at(volume, x, y, z, n) >= level) {
      float low = t - step, high = t;
      for (int k = 0; k < halvings; ++k) {
        const float half = 0.5f * (low + high);
        if (density_at(volume, eye.x + half * d.x, eye.y + half * d.y, eye.z + half * d.z, n) >= level)
          high = half;
        else
          low = half;
      }
      const float px = eye.x + high * d.x, py = eye.y + high * d.y, pz = eye.z + high * d.z;
      hit.x = density_at(volume, px + 1, py, pz, n) - density_at(volume, px - 1, py, pz, n);
      hit.y = density_at(volume, px, py + 1, pz, n) - density_at(volume, px, py - 1, pz, n);
      hit.z = density_at(volume, px, py, pz + 1, n) - density_at(volume, px, py, pz - 1, n);
      hit.w = high;
      break;
    }
    t += step;
  }
  hits[pixel] = hit;
}

// The largest density of each column of voxels, seen along z.
__global__ void project_along_z(const unsigned char* volume, unsigned char* image, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int best = 0;
  for (int z = 0; z < n; ++z) best = max(best, (int)volume[(z * n + y) * n + x]);
  image[y * n + x] = best;
}

// The gradient of each voxel by central differences, and its length.
__global__ void central_gradients(const float* volume, float4* gradients, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= n || y >= n || z >= n) return;
  const float gx = volume[(z * n + y) * n + min(x + 1, n - 1)] - volume[(z * n + y) * n + max(x - 1, 0)];
  const float gy = volume[(z * n + min(y + 1, n - 1)) * n + x] - volume[(z * n + max(y - 1, 0)) * n + x];
  const float gz = volume[(min(z + 1, n - 1) * n + y) * n + x] - volume[(max(z - 1, 0) * n + y) * n + x];
  gradients[(z * n + y) * n + x] = make_float4(gx, gy, gz, 0.5f * sqrtf(gx * gx + gy * gy + gz * gz));
}

// The length of Sobel's gradient: a block walks along z with three slices of its tile in shared memory.
__global__ void __launch_bounds__(256) sobel_lengths(const float* volume, float* lengths, int depth, int n) {
  __shared__ float slices[3][10][34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, first = blockIdx.z * depth;
  const int last = min(first + depth, n), thread = threadIdx.y * 32 + threadIdx.x;
  for (int z = first - 1; z <= last; ++z) {
    const int from = min(max(z, 0), n - 1);
    for (int k = thread; k < 340; k += 256) {
      const int x = min(max(x0 + k % 34 - 1, 0), n - 1), y = min(max(y0 + k / 34 - 1, 0), n - 1);
      slices[(z + 3) % 3][k / 34][k % 34] = volume[(from * n + y) * n + x];
    }
    __syncthreads();
    if (z > first) {
      float gx = 0, gy = 0, gz = 0;
#pragma unroll
      for (int k = -1; k <= 1; ++k) {
        const float(*slice)[34] = slices[(z + 2 + k) % 3];
#pragma unroll
        for (int j = -1; j <= 1; ++j)
#pragma unroll
          for (int i = -1; i <= 1; ++i) {
            const float value = slice[threadIdx.y + 1 + j][threadIdx.x + 1 + i];
            gx += i * (2 - j * j) * (2 - k * k) * value;
            gy += j * (2 - i * i) * (2 - k * k) * value;
            gz += k * (2 - i * i) * (2 - j * j) * value;
          }
      }
      const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
      if (x < n && y < n) lengths[((z - 1) * n + y) * n + x] = sqrtf(gx * gx + gy * gy + gz * gz) / 32;
    }
    __syncthreads();
  }
}

// Colours of all voxels from their densities by a table, which every block keeps in shared memory.
__global__ void classify(const unsigned char* __restrict__ volume, const uchar4* __restrict__ table,
                         uchar4* __restrict__ colours, int voxels) {
  __shared__ uchar4 entries[256];
  entries[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < voxels; i += gridDim.x * 256)
    colours[i] = entries[volume[i]];
}

// The first half of a shear and a warp: slices, each moved a little further, laid over each other from the
// front.
__global__ void shear_slices(const uchar4* colours, float4* sheared, float across, float down, int width,
                             int height, int n) {
  const int u = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.y * blockDim.y + threadIdx.y;
  if (u >= width || v >= height) return;
  float red = 0, green = 0, blue = 0, clear = 1;
  for (int z = 0; z < n; ++z) {
    const float x = u - across * z, y = v - down * z;
    const int i = (int)floorf(x), j = (int)floorf(y);
    if (i < 0 || j < 0 || i >= n - 1 || j >= n - 1) continue;
    const float4 colour = between(colours + (z * n + j) * n + i, n, x - i, y - j);
    const float alpha = colour.w * (1.0f / 255), weight = alpha * clear;
    red += weight * colour.x;
    green += weight * colour.y;
    blue += weight * colour.z;
    clear *= 1 - alpha;
    if (clear < 0.03f) break;
  }
  sheared[v * width + u] = make_float4(red, green, blue, 255 * (1 - clear));
}

// The second half: the sheared image, warped to the screen.
__global__ void warp_to_screen(const float4* __restrict__ sheared, uchar4* __restrict__ screen, float4 matrix,
                               float2 shift, int from_width, int from_height, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = matrix.x * x + matrix.y * y + shift.x, v = matrix.z * x + matrix.w * y + shift.y;
  const int i = (int)floorf(u), j = (int)floorf(v);
  uchar4 colour = make_uchar4(0, 0, 0, 0);
  if (i >= 0 && j >= 0 && i < from_width - 1 && j < from_height - 1) {
    const float4 c = between(sheared + j * from_width + i, from_width, u - i, v - j);
    colour = make_uchar4(fminf(c.x, 255.0f), fminf(c.y, 255.0f), fminf(c.z, 255.0f), fminf(c.w, 255.0f));
  }
  screen[y * width + x] = colour;
}

// The smallest and the largest density of each brick of 8 x 8 x 8 voxels: a block of threads for each brick.
__global__ void __launch_bounds__(512) brick_ranges(const float* volume, float2* bricks, int n) {
  __shared__ float2 parts[16];
  const int x = min(blockIdx.x * 8 + threadIdx.x, n - 1), y = min(blockIdx.y * 8 + threadIdx.y, n - 1);
  const int z = min(blockIdx.z * 8 + threadIdx.z, n - 1);
  const int thread = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
  float low = volume[(z * n + y) * n + x], high = low;
  for (int step = 16; step > 0; step /= 2) {
    low = fminf(low, __shfl_down_sync(0xffffffffu, low, step));
    high = fmaxf(high, __shfl_down_sync(0xffffffffu, high, step));
  }
  if (thread % 32 == 0) parts[thread / 32] = make_float2(low, high);
  __syncthreads();
  if (thread == 0) {
    for (int w = 1; w < 16; ++w) {
      low = fminf(low, parts[w].x);
      high = fmaxf(high, parts[w].y);
    }
    bricks[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = make_float2(low, high);
  }
}

// Shells about the middle of the cube, with some noise.
static float shells(int i, int n) {
  const float scale = 2.0f / n;
  const float x = i % n * scale - 1, y = i / n % n * scale - 1, z = i / n / n * scale - 1;
  const float square = 1.6f * x * x + y * y + 1.2f * z * z;
  const float noise = static_cast<float>(static_cast<unsigned>(i) * 2654435761u >> 8) / 16777216;
  const float smooth = square < 0.9f ? 0.9f - square : 0;
  return smooth * (square > 0.3f && square < 0.45f ? 1.2f : 0.8f) + 0.05f * noise;
}

void run(int n) {
  const int voxels = n * n * n, width = 2 * n, height = n + n / 2, edge = ceil_div(n, 8);
  const int wide = n + n / 2, high = n + n / 4, depth = n < 100 ? 8 : 32;
  float4 host_transfer[64];
  for (int k = 0; k < 64; ++k)
    host_transfer[k] = make_float4(k / 63.0f, (k % 16) / 16.0f, 1 - k / 63.0f, k < 4 ? 0 : 0.002f * (k % 13));
  cudaMemcpyToSymbol(transfer, host_transfer, sizeof host_transfer);
  const float f = static_cast<float>(n);
  const Camera camera = {make_float3(-1.1f * f, -0.7f * f, -0.9f * f), make_float3(0.68f, 0.46f, 0.57f),
                         make_float3(0.33f, -0.25f, -0.19f), make_float3(0.06f, 0.32f, -0.33f)};
  float* volume = device_array<float>(voxels, [n](int i) { return shells(i, n); });
  auto* bytes =
      device_array<unsigned char>(voxels, [n](int i) { return (unsigned char)(200 * shells(i, n)); });
  uchar4* table =
      device_array<uchar4>(256, [](int i) { return make_uchar4(i, 255 - i, i / 2, i < 20 ? 0 : i / 16); });
  uchar4* colours = device_zeros<uchar4>(voxels);
  float4* gradients = device_zeros<float4>(voxels);
  float* lengths = device_zeros<float>(voxels);
  float2* bricks = device_zeros<float2>(edge * edge * edge);
  float4* image = device_zeros<float4>(width * height);
  float4* sheared = device_zeros<float4>(wide * high);
  uchar4* screen = device_zeros<uchar4>(width * height);
  unsigned char* flat = device_zeros<unsigned char>(n * n);
  const dim3 small(16, 16), pixels(ceil_div(width, 16), ceil_div(height, 16));
  const dim3 tiles(ceil_div(n, 32), ceil_div(n, 8), ceil_div(n, depth));
  const dim3 boxes(ceil_div(n, 16), ceil_div(n, 4), ceil_div(n, 4)), all_bricks(edge, edge, edge);
  for (int r = 0; r < kLaunches; ++r) brick_ranges<<<all_bricks, dim3(8, 8, 8)>>>(volume, bricks, n);
  for (int r = 0; r < kLaunches; ++r)
    march_rays<<<pixels, small>>>(volume, image, camera, 0.7f, width, height, n);
  for (int r = 0; r < kLaunches; ++r)
    find_surface<<<ceil_div(width * height, 96), 96>>>(volume, bricks, image, camera, 0.35f, 0.8f, 6, width,
                                                       height, n);
  for (int r = 0; r < kLaunches; ++r)
    project_along_z<<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(bytes, flat, n);
  for (int r = 0; r < kLaunches; ++r) central_gradients<<<boxes, dim3(16, 4, 4)>>>(volume, gradients, n);
  for (int r = 0; r < kLaunches; ++r) sobel_lengths<<<tiles, dim3(32, 8)>>>(volume, lengths, depth, n);
  for (int r = 0; r < kLaunches; ++r)
    classify<<<min(ceil_div(voxels, 256), 1056), 256>>>(bytes, table, colours, voxels);
  for (int r = 0; r < kLaunches; ++r)
    shear_slices<<<dim3(ceil_div(wide, 16), ceil_div(high, 12)), dim3(16, 12)>>>(colours, sheared, 0.45f,
                                                                                 0.2f, wide, high, n);
  for (int r = 0; r < kLaunches; ++r)
    warp_to_screen<<<dim3(ceil_div(width, 64), ceil_div(height, 2)), dim3(64, 2)>>>(
        sheared, screen, make_float4(0.7f, 0.1f, -0.08f, 0.8f), make_float2(-3.5f, 2.25f), wide, high, width,
        height);
  free_all(volume, bytes, table, colours, gradients, lengths, bricks, image, sheared, screen, flat);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("volume_rendering");
}
