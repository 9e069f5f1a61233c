// Accesses to shared memory of every kind that a kernel program gives an address.

__global__ void transposed(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void padded(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    tile[y][threadIdx.x] = in[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}

__global__ void swizzled(const float* in, float* out, int n) {
  __shared__ float tile[32 * 32];
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    tile[y * 32 + (threadIdx.x ^ y)] = in[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] =
        tile[threadIdx.x * 32 + (y ^ threadIdx.x)];
}

__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    left[threadIdx.y][threadIdx.x] = a[row * n + t * 16 + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t * 16 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void halving(const float* in, float* out, int n) {
  __shared__ float part[256];
  part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0] * n;
}

// Neighbours further and further apart: conflicts in 2, 4, 8, … ways.
__global__ void spreading(const float* in, float* out, int n) {
  __shared__ float part[512];
  part[threadIdx.x] = in[blockIdx.x * 512 + threadIdx.x];
  part[threadIdx.x + 256] = in[blockIdx.x * 512 + threadIdx.x + 256];
  for (int s = 1; s < 512; s *= 2) {
    __syncthreads();
    const int at = 2 * s * threadIdx.x;
    if (at < 512) part[at] += part[at + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0] * n;
}

__global__ void vectors(const float4* in, float4* out, int n) {
  __shared__ float4 quads[256];
  __shared__ float2 pairs[256];
  __shared__ double doubles[256];
  __shared__ char bytes[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  const float4 v = in[i];
  quads[t] = v;
  pairs[(t * 3) % 256] = make_float2(v.x, v.y);
  doubles[t / 2] = v.z;
  bytes[255 - t] = static_cast<char>(t);
  __syncthreads();
  const float4 w = quads[(t * 5) % 256];
  const float2 p = pairs[255 - t];
  out[i] = make_float4(w.x + p.x, w.y + p.y, static_cast<float>(doubles[t & 15]), bytes[t] * n);
}

__global__ void dynamic(const float* in, float* out, int n) {
  extern __shared__ float line[];
  __shared__ float first;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) first = in[0];
  for (int k = 0; k < n; ++k) line[threadIdx.x * n + k] = in[i];
  __syncthreads();
  float sum = first;
  for (int k = 0; k < n; ++k) sum += line[threadIdx.x + k * blockDim.x];
  out[i] = sum;
}

__global__ void counting(const int* in, int* out, int n) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < n; ++k) atomicAdd(&bins[(threadIdx.x * k) % 64], in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

__device__ __noinline__ float sum_of(const float* from, int step, int count) {
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += from[k * step];
  return sum;
}

__global__ void through_a_pointer(const float* in, float* out, int n) {
  __shared__ float block[256 + 32];
  block[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  if (threadIdx.x < 32) block[256 + threadIdx.x] = 0;
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = sum_of(block + threadIdx.x, 2, n);
}
