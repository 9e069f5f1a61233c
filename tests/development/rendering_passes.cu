// Passes of a renderer for a frame of 2 n x n pixels: shading, occlusion, mirrors, tiles of triangles.
#include "device.h"

__constant__ float4 kLights[48];   // place and reach
__constant__ float4 kBalls[9];     // centre and radius
__constant__ float4 kSamples[16];  // offsets in the plane and in depth, and weight

__device__ float dot3(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ float3 normalised(float x, float y, float z) {
  const float scale = rsqrtf(x * x + y * y + z * z + 1e-12f);
  return make_float3(x * scale, y * scale, z * scale);
}

// Deferred shading: every pixel with all the lights in reach, diffuse and a highlight.
__global__ void shade_lights(const float4* __restrict__ normals, const float4* albedo, const float* depth,
                             float4* __restrict__ colour, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  const float4 base = albedo[i], packed = normals[i];
  const float3 normal = normalised(packed.x, packed.y, packed.z);
  const float px = (2.0f * x / width - 1) * depth[i], py = (1 - 2.0f * y / height) * depth[i], pz = depth[i];
  float diffuse = 0.02f, shine = 0;
  for (int k = 0; k < 48; ++k) {
    const float4 light = kLights[k];
    const float dx = light.x - px, dy = light.y - py, dz = light.z - pz;
    const float square = dx * dx + dy * dy + dz * dz;
    if (square > light.w * light.w) continue;
    const float3 to = normalised(dx, dy, dz), half = normalised(to.x - px, to.y - py, to.z - pz);
    diffuse += fmaxf(dot3(normal, to), 0.0f) / (1 + square);
    shine += base.w * __powf(fmaxf(dot3(normal, half), 0.001f), 24.0f) / (1 + square);
  }
  colour[i] = make_float4(base.x * diffuse + shine, base.y * diffuse + shine, base.z * diffuse + shine, 1);
}

// Screen-space occlusion: sixteen samples around each pixel, turned by a hash of its place.
__global__ void occlude(const float* depth, float* open, float radius, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float here = depth[y * width + x], reach = radius / here;
  float sine, cosine, hidden = 0;
  __sincosf(((x * 73 ^ y * 151) & 63) * 0.0981748f, &sine, &cosine);
#pragma unroll 4
  for (int k = 0; k < 16; ++k) {
    const float4 s = kSamples[k];
    const int sx = min(max(x + __float2int_rn(reach * (s.x * cosine - s.y * sine)), 0), width - 1);
    const int sy = min(max(y + __float2int_rn(reach * (s.x * sine + s.y * cosine)), 0), height - 1);
    const float above = here - depth[sy * width + sx] - 0.02f * s.z;
    hidden += above > 0 ? s.w / (1 + above * above) : 0.0f;
  }
  open[y * width + x] = 1 - hidden / 16;
}

// The next mip level of the frame.
__global__ void halve_frame(const float4* frame, float4* half, int width, int height) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= width / 2 || y >= height / 2) return;
  const float4* row = frame + 2 * y * width + 2 * x;
  const float4 a = row[0], b = row[1], c = row[width], d = row[width + 1];
  half[y * (width / 2) + x] = make_float4(0.25f * (a.x + b.x + c.x + d.x), 0.25f * (a.y + b.y + c.y + d.y),
                                          0.25f * (a.z + b.z + c.z + d.z), 0.25f * (a.w + b.w + c.w + d.w));
}

// The sum of the logarithms of the luminances: a tree in dynamic shared memory.
__global__ void sum_luminance(const float4* frame, float* sum, int pixels) {
  extern __shared__ float parts[];
  float part = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x)
    part += __logf(0.2126f * frame[i].x + 0.7152f * frame[i].y + 0.0722f * frame[i].z + 1e-4f);
  parts[threadIdx.x] = part;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, parts[0]);
}

// Tone mapping by the mean luminance, with a shoulder and gamma, to bytes.
__global__ void tone_map(const float4* frame, const float* sum, uchar4* out, float scale, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  const float exposure = 0.18f * __expf(-*sum * scale);
  float channels[3] = {frame[i].x * exposure, frame[i].y * exposure, frame[i].z * exposure};
  for (int c = 0; c < 3; ++c) channels[c] = 255 * powf(channels[c] / (1 + channels[c]), 1 / 2.2f);
  out[i] = make_uchar4(channels[0], channels[1], channels[2], 255);
}

// Rays from the eye to the nearest ball, and the environment that it mirrors by longitude and latitude.
__global__ void mirror_environment(const float3* environment, float4* frame, int wide, int high, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  const float3 ray = normalised(2.0f * x / width - 1, 1 - 2.0f * y / gridDim.y, 1);
  float3 mirrored = ray;
  float nearest = 1e30f;
  for (int k = 0; k < 9; ++k) {
    const float3 to = make_float3(kBalls[k].x, kBalls[k].y, kBalls[k].z);
    const float along = dot3(to, ray);
    const float square = along * along - dot3(to, to) + kBalls[k].w * kBalls[k].w;
    const float distance = square > 0 ? along - sqrtf(square) : -1;
    if (distance < 0 || distance > nearest) continue;
    nearest = distance;
    const float3 normal = normalised(nearest * ray.x - to.x, nearest * ray.y - to.y, nearest * ray.z - to.z);
    const float twice = 2 * dot3(ray, normal);
    mirrored = make_float3(ray.x - twice * normal.x, ray.y - twice * normal.y, ray.z - twice * normal.z);
  }
  const int column = (atan2f(mirrored.z, mirrored.x) * 0.159154f + 0.5f) * wide;
  const int row = acosf(fminf(fmaxf(mirrored.y, -1.0f), 1.0f)) * 0.318309f * high;
  const float3 seen = environment[min(row, high - 1) * wide + min(column, wide - 1)];
  frame[y * width + x] = make_float4(seen.x, seen.y, seen.z, 1);
}

// Anti-aliasing: pixels at strong edges are mixed with the two along the edge.
__global__ void smooth_edges(const uchar4* in, uchar4* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1) return;
  const int i = y * width + x;
  uchar4 p = in[i], west = in[i - 1], east = in[i + 1], north = in[i - width], south = in[i + width];
  const int across = abs(west.y - east.y), along = abs(north.y - south.y);
  const uchar4 a = across > along ? north : west, b = across > along ? south : east;
  if (max(across, along) > 12)
    p = make_uchar4((2 * p.x + a.x + b.x) / 4, (2 * p.y + a.y + b.y) / 4, (2 * p.z + a.z + b.z) / 4, 255);
  out[i] = p;
}

// Triangles by tiles of 16 x 16 pixels: a thread tests the bounds of one, then all draw those in the tile.
__global__ void rasterise_tiles(const float* corners, int* owners, int count, int width, int height) {
  __shared__ int listed[256], total;
  const int t = threadIdx.y * 16 + threadIdx.x, left = blockIdx.x * 16, top = blockIdx.y * 16;
  const float x = left + threadIdx.x + 0.5f, y = top + threadIdx.y + 0.5f;
  int owner = -1;
  for (int start = 0; start < count; start += 256) {
    if (t == 0) total = 0;
    __syncthreads();
    const float* c = corners + 6 * min(start + t, count - 1);
    const bool across = fminf(c[0], fminf(c[2], c[4])) < left + 16 && fmaxf(c[0], fmaxf(c[2], c[4])) > left;
    const bool along = fminf(c[1], fminf(c[3], c[5])) < top + 16 && fmaxf(c[1], fmaxf(c[3], c[5])) > top;
    if (start + t < count && across && along) listed[atomicAdd(&total, 1)] = start + t;
    __syncthreads();
    for (int k = 0; k < total; ++k) {
      bool inside = true;
      for (int e = 0; e < 3; ++e) {
        const float *a = corners + 6 * listed[k] + 2 * e, *b = corners + 6 * listed[k] + (2 * e + 2) % 6;
        inside &= (b[0] - a[0]) * (y - a[1]) >= (b[1] - a[1]) * (x - a[0]);
      }
      if (inside) owner = max(owner, listed[k]);
    }
    __syncthreads();
  }
  if (x < width && y < height) owners[(int)y * width + (int)x] = owner;
}

void run(int n) {
  const int width = 2 * n, pixels = width * n, count = 1000;
  const dim3 tiles(ceil_div(width, 16), ceil_div(n, 16)), tile(16, 16);
  float4 scene[48];
  for (int k = 0; k < 48; ++k)
    scene[k] = make_float4(4 * hashed_unit(k) - 2, 4 * hashed_unit(k + 50) - 2, 2 + hashed_unit(k + 99),
                           0.4f + k % 4 * 0.3f);
  cudaMemcpyToSymbol(kLights, scene, sizeof kLights);
  cudaMemcpyToSymbol(kBalls, scene, sizeof kBalls);
  cudaMemcpyToSymbol(kSamples, scene, sizeof kSamples);
  const auto noise = [](int i) { return make_float4(hashed_unit(i), 0.1f * (i % 8), 0.5f, 0.5f); };
  float4* normals = device_array<float4>(pixels, noise);
  float4* albedo = device_array<float4>(pixels, noise);
  float* depth = device_array<float>(pixels, [](int i) { return 2 + sinf(0.01f * (i % 7000)); });
  float* corners = device_array<float>(6 * count, [&](int i) {  // the corners go round the middle
    const float angle = 2.0944f * (i % 6 / 2), middle = hashed_unit(i / 6 + i % 2 * count);
    return (i % 2 ? n : width) * (middle + 0.05f * (i % 2 ? sinf(angle) : cosf(angle)));
  });
  float3* environment = (float3*)device_floats(3 * n * n);
  float4* frame = device_zeros<float4>(pixels);
  float4* half = device_zeros<float4>(pixels / 4);
  float* open = device_zeros<float>(pixels);
  float* sum = device_zeros<float>(1);
  uchar4* bytes = device_zeros<uchar4>(pixels);
  uchar4* smooth = device_zeros<uchar4>(pixels);
  for (int r = 0; r < kLaunches; ++r)
    mirror_environment<<<dim3(ceil_div(width, 160), n), 160>>>(environment, frame, 2 * n, n / 2, width);
  for (int r = 0; r < kLaunches; ++r) shade_lights<<<tiles, tile>>>(normals, albedo, depth, frame, width, n);
  for (int r = 0; r < kLaunches; ++r)
    occlude<<<dim3(ceil_div(width, 32), ceil_div(n, 4)), dim3(32, 4)>>>(depth, open, 24, width, n);
  for (int r = 0; r < kLaunches; ++r)
    halve_frame<<<dim3(ceil_div(n, 16), ceil_div(n / 2, 16)), dim3(16, 16)>>>(frame, half, width, n);
  for (int r = 0; r < kLaunches; ++r)
    sum_luminance<<<min(ceil_div(pixels, 1024), 264), 512, 512 * sizeof(float)>>>(frame, sum, pixels);
  for (int r = 0; r < kLaunches; ++r)
    tone_map<<<ceil_div(pixels, 384), 384>>>(frame, sum, bytes, 1.0f / kLaunches / pixels, pixels);
  for (int r = 0; r < kLaunches; ++r)
    smooth_edges<<<dim3(ceil_div(width, 64), ceil_div(n, 3)), dim3(64, 3)>>>(bytes, smooth, width, n);
  for (int r = 0; r < kLaunches; ++r) rasterise_tiles<<<tiles, tile>>>(corners, (int*)open, count, width, n);
  free_all(normals, albedo, depth, corners, environment, frame, half, open, sum, bytes, smooth);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("rendering_passes");
}
