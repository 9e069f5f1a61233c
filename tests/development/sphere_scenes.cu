// Pictures of n x n pixels of spheres and boxes, by rays from a camera.
#include "device.h"

constexpr float kFar = 1e30f;
constexpr int kSpheres = 64;
constexpr int kBoxes = 40;
constexpr int kLevels = 9;  // of the tree: 8 x 8 x 8 leaves
constexpr int kStack = 32;

// The lower and the upper corner of each box.
__constant__ float4 box_corners[2 * kBoxes];

__device__ float dot(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// The direction of the ray through a pixel.
__device__ float3 through_pixel(int x, int y, float width, int n) {
  const float u = ((x + 0.5f) / n - 0.5f) * width, v = ((y + 0.5f) / n - 0.5f) * width;
  const float shrink = rsqrtf(u * u + v * v + 1);
  return make_float3(u * shrink, v * shrink, shrink);
}

// How far along the ray a sphere is hit, kFar if it is missed.
__device__ float hit_sphere(float3 from, float3 along, float4 sphere) {
  const float3 offset = make_float3(from.x - sphere.x, from.y - sphere.y, from.z - sphere.z);
  const float half = dot(offset, along);
  const float rest = half * half - dot(offset, offset) + sphere.w * sphere.w;
  const float distance = -half - rest * rsqrtf(fmaxf(rest, 1e-12f));
  return rest > 0 && distance > 0 ? distance : kFar;
}

__device__ unsigned mix(unsigned v) {
  v = (v ^ v >> 16) * 0x21f0aaadu;
  v = (v ^ v >> 15) * 0x735a2d97u;
  return v ^ v >> 15;
}

// The nearest of all spheres, lit from above. The spheres come from global memory, or kTile at a time from
// shared memory if kTile is not zero.
template <int kTile>
__global__ void trace_spheres(const float4* __restrict__ spheres, float4* __restrict__ image, int number,
                              int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float3 from = make_float3(0, 0, -4), along = through_pixel(x, y, 1.5f, n);
  float nearest = kFar;
  float4 best = make_float4(0, 0, 0, 1);
  if constexpr (kTile > 0) {
    __shared__ float4 tile[kTile];
    for (int start = 0; start < number; start += kTile) {
      const int end = min(kTile, number - start);
      for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < end; k += blockDim.x * blockDim.y)
        tile[k] = spheres[start + k];
      __syncthreads();
      for (int k = 0; k < end; ++k) {
        const float distance = hit_sphere(from, along, tile[k]);
        best = distance < nearest ? tile[k] : best;
        nearest = fminf(nearest, distance);
      }
      __syncthreads();
    }
  } else {
    for (int k = 0; k < number; ++k) {
      const float distance = hit_sphere(from, along, spheres[k]);
      best = distance < nearest ? spheres[k] : best;
      nearest = fminf(nearest, distance);
    }
  }
  if (x >= n || y >= n) return;
  const float up = (from.y + nearest * along.y - best.y) / best.w;
  const float light = nearest < kFar ? 1.5f + up : 0.5f + 0.5f * along.y;
  image[y * n + x] = make_float4(light, light * 0.9f, light * 0.8f, fminf(nearest, 100.0f));
}

// Sphere tracing, a fixed number of steps: balls and cubes that repeat in all directions, above waves.
__global__ void march_distances(float* __restrict__ depths, int steps, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float3 along = through_pixel(x, y, 1.2f, n);
  float depth = 0.1f;
  for (int k = 0; k < steps; ++k) {
    const float px = 0.4f + depth * along.x, py = 0.3f + depth * along.y, pz = depth * along.z;
    const float qx = px - rintf(px), qy = py - rintf(py), qz = pz - rintf(pz);
    const float ball = sqrtf(qx * qx + qy * qy + qz * qz + 1e-6f) - 0.2f;
    const float cx = fabsf(fabsf(qx) - 0.3f), cy = fabsf(fabsf(qy) - 0.3f), cz = fabsf(fabsf(qz) - 0.3f);
    const float cube = fmaxf(cx, fmaxf(cy, cz)) - 0.08f;
    const float waves = py + 1.5f + 0.1f * __sinf(3 * px) * __cosf(3 * pz);
    const float blend = __saturatef(0.5f + 2 * (cube - ball));
    const float solid = cube + (ball - cube) * blend - 0.25f * blend * (1 - blend);
    depth += 0.9f * fminf(solid, waves);
  }
  depths[y * n + x] = depth;
}

// Slab tests of all boxes, which lie in constant memory: the nearest one and the length inside boxes.
__global__ void slab_boxes(float2* __restrict__ found, int number, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float3 from = make_float3(0, 0, -4), along = through_pixel(x, y, 1.5f, n);
  const float ix = 1 / along.x, iy = 1 / along.y, iz = 1 / along.z;
  float nearest = kFar, inside = 0;
  for (int k = 0; k < number; ++k) {
    const float4 low = box_corners[2 * k], high = box_corners[2 * k + 1];
    const float ax = (low.x - from.x) * ix, bx = (high.x - from.x) * ix;
    const float ay = (low.y - from.y) * iy, by = (high.y - from.y) * iy;
    const float az = (low.z - from.z) * iz, bz = (high.z - from.z) * iz;
    const float enter = fmaxf(fmaxf(fminf(ax, bx), fminf(ay, by)), fmaxf(fminf(az, bz), 0.0f));
    const float leave = fminf(fminf(fmaxf(ax, bx), fmaxf(ay, by)), fmaxf(az, bz));
    nearest = enter < leave ? fminf(nearest, enter) : nearest;
    inside += fmaxf(leave - enter, 0.0f);
  }
  found[y * n + x] = make_float2(nearest, inside);
}

// How much of the sky each point of the ground sees: hashed directions, each until the first sphere in its
// way.
__global__ void occlude_ground(const float4* __restrict__ spheres, float* __restrict__ sky, int number,
                               int samples, int n) {
  __shared__ float4 tile[kSpheres];
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < number; k += blockDim.x * blockDim.y)
    tile[k] = spheres[k];
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float3 from = make_float3(4.0f * x / n - 2, -1.5f, 4.0f * y / n - 2);
  int blocked = 0;
  for (int s = 0; s < samples; ++s) {
    const unsigned hash = mix((y * n + x) * samples + s);
    const float u = (hash >> 16) * (1.0f / 65536), angle = (hash & 0xffff) * (6.2831853f / 65536);
    const float radius = sqrtf(u);
    float sine, cosine;
    __sincosf(angle, &sine, &cosine);
    const float3 along = make_float3(radius * cosine, sqrtf(1 - u), radius * sine);
    for (int k = 0; k < number; ++k) {
      if (hit_sphere(from, along, tile[k]) < kFar) {
        ++blocked;
        break;
      }
    }
  }
  sky[y * n + x] = 1 - blocked / static_cast<float>(samples);
}

__device__ float tone(float v) {
  return __saturatef(v * (2.51f * v + 0.03f) / (v * (2.43f * v + 0.59f) + 0.14f));
}

// Bytes of colour from floats: exposure, a film curve and the power for a screen.
__global__ void tone_map(const float4* __restrict__ image, uchar4* __restrict__ bytes, float exposure,
                         int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 v = image[i];
  const float red = __powf(tone(v.x * exposure), 1 / 2.2f), green = __powf(tone(v.y * exposure), 1 / 2.2f);
  const float blue = __powf(tone(v.z * exposure), 1 / 2.2f);
  bytes[i] = make_uchar4(static_cast<unsigned char>(255 * red), static_cast<unsigned char>(255 * green),
                         static_cast<unsigned char>(255 * blue), 255);
}

// A walk with a stack, near child first, over a complete tree whose boxes follow from the numbers of its
// nodes. Each level halves one axis in turn; each leaf is a unit cube with a sphere in it.
__global__ void walk_tree(float* __restrict__ depths, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float3 from = make_float3(4.1f, 4.2f, -8), along = through_pixel(x, y, 1.1f, n);
  const float ix = 1 / along.x, iy = 1 / along.y, iz = 1 / along.z;
  int stack[kStack];
  int top = 0;
  float nearest = kFar;
  stack[top++] = 1;
  while (top > 0) {
    const int node = stack[--top];
    const int level = 31 - __clz(node);
    const int code = (node - (1 << level)) << (kLevels - level);
    const float lx = (code >> 6 & 4) | (code >> 4 & 2) | (code >> 2 & 1);
    const float ly = (code >> 5 & 4) | (code >> 3 & 2) | (code >> 1 & 1);
    const float lz = (code >> 4 & 4) | (code >> 2 & 2) | (code & 1);
    const float hx = lx + (8 >> (level + 2) / 3), hy = ly + (8 >> (level + 1) / 3),
                hz = lz + (8 >> level / 3);
    const float ax = (lx - from.x) * ix, bx = (hx - from.x) * ix;
    const float ay = (ly - from.y) * iy, by = (hy - from.y) * iy;
    const float az = (lz - from.z) * iz, bz = (hz - from.z) * iz;
    const float enter = fmaxf(fmaxf(fminf(ax, bx), fminf(ay, by)), fmaxf(fminf(az, bz), 0.0f));
    const float leave = fminf(fminf(fmaxf(ax, bx), fmaxf(ay, by)), fmaxf(az, bz));
    if (enter >= leave || enter >= nearest) continue;
    if (level == kLevels) {
      const float radius = 0.1f + 0.2f * ((mix(node) >> 8) * (1.0f / 16777216));
      const float4 sphere = make_float4(lx + 0.5f, ly + 0.5f, lz + 0.5f, radius);
      nearest = fminf(nearest, hit_sphere(from, along, sphere));
    } else {
      const float slope = level % 3 == 0 ? along.x : level % 3 == 1 ? along.y : along.z;
      const int near = slope < 0;
      stack[top++] = 2 * node + 1 - near;
      stack[top++] = 2 * node + near;
    }
  }
  depths[y * n + x] = fminf(nearest, 100.0f);
}

void run(int n) {
  const int count = n * n;
  float4* spheres = device_array<float4>(kSpheres, [](int i) {
    return make_float4(i % 8 * 0.4f - 1.4f, i / 8 * 0.3f - 1.0f, 2 * hashed_unit(i) - 1, 0.1f + 0.001f * i);
  });
  std::vector<float4> corners(2 * kBoxes);
  for (int k = 0; k < kBoxes; ++k) {
    const float x = k % 8 * 0.4f - 1.6f, y = k / 8 * 0.5f - 1.2f, z = 0.05f * k - 1;
    corners[2 * k] = make_float4(x, y, z, 0);
    corners[2 * k + 1] = make_float4(x + 0.3f, y + 0.2f, z + 0.4f, 0);
  }
  cudaMemcpyToSymbol(box_corners, corners.data(), corners.size() * sizeof(float4));
  float4* image = device_zeros<float4>(count);
  float* depths = device_zeros<float>(count);
  float2* found = device_zeros<float2>(count);
  float* sky = device_zeros<float>(count);
  uchar4* bytes = device_zeros<uchar4>(count);
  for (int r = 0; r < kLaunches; ++r)
    trace_spheres<0><<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(spheres, image, kSpheres, n);
  for (int r = 0; r < kLaunches; ++r)
    trace_spheres<32><<<dim3(ceil_div(n, 32), ceil_div(n, 4)), dim3(32, 4)>>>(spheres, image, kSpheres, n);
  for (int r = 0; r < kLaunches; ++r)
    march_distances<<<dim3(ceil_div(n, 32), ceil_div(n, 6)), dim3(32, 6)>>>(depths, 48, n);
  for (int r = 0; r < kLaunches; ++r)
    slab_boxes<<<dim3(ceil_div(n, 64), ceil_div(n, 4)), dim3(64, 4)>>>(found, kBoxes, n);
  for (int r = 0; r < kLaunches; ++r)
    occlude_ground<<<dim3(ceil_div(n, 8), ceil_div(n, 8)), dim3(8, 8)>>>(spheres, sky, kSpheres / 2, 8, n);
  for (int r = 0; r < kLaunches; ++r) tone_map<<<ceil_div(count, 512), 512>>>(image, bytes, 0.8f, count);
  for (int r = 0; r < kLaunches; ++r)
    walk_tree<<<dim3(ceil_div(n, 8), ceil_div(n, 16)), dim3(8, 16)>>>(depths, n);
  free_all(spheres, image, depths, found, sky, bytes);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("sphere_scenes");
}
