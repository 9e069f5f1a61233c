// Access patterns, by the name of each kernel's store.
extern "C" {
__global__ void uniform(float *a) { a[blockIdx.x] = 1; }
__global__ void coalesced(float *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void coalesced_vectors(float4 *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(1, 2, 3, 4); }
__global__ void coalesced_pairs(float *a, int n) { int id = threadIdx.x; a[2 * (id / 2) % n] = 1; }
__global__ void strided(float *a) { a[3 * threadIdx.x] = 1; }
__global__ void strided_by_argument(float *a, int n) { a[n * threadIdx.x] = 1; }
__global__ void scattered(float *a, const int *index) { a[index[threadIdx.x]] = 1; }
}
