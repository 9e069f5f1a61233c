// Shifts that may be rotations, wide products, vectors, shared memory.
__global__ void integers_only(unsigned* u, long long* l, unsigned long long* m, float4* v, int n) {
  const int t = threadIdx.x + blockIdx.x * blockDim.x;
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = u[t] << 7 | u[t] >> 25;
  __syncthreads();
  u[t + 1] = tile[63 - threadIdx.x] << (n & 31) | tile[threadIdx.x] >> (-n & 31);
  m[t] = m[t] << 13 | m[t] >> 51;
  l[t] = l[t] * n + (l[t + 1] >> 4);
  v[t].x = v[t + 1].y * v[t].z + v[t].w;
  float4 whole = v[t + 2];
  whole.x += 1;
  v[t + 3] = whole;
}
