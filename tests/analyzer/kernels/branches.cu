// Branch shapes.
extern "C" {
__global__ void guard(int n, float *a) { int id = blockIdx.x * blockDim.x + threadIdx.x; if (id >= n) return; a[id] += 1; }
__global__ void divergent(int n, float *a) { int id = threadIdx.x; if (id & 1) { a[id] += 1; __syncwarp(); } else { a[id] = a[id + n] * a[id + 2 * n]; } }
__global__ void on_argument(int n, float *a) { if (n > 5) a[threadIdx.x] += 1; else { a[threadIdx.x] = a[threadIdx.x + 1] + a[threadIdx.x + 2]; } }
__global__ void on_two_arguments(int n, int m, float *a) { if (n > 5 && m < n) a[threadIdx.x] += 1; a[0] = 2; }
__global__ void on_block(int n, float *a) { if (blockIdx.x == 0) a[threadIdx.x] += 1; }
__global__ void on_data(const int *flag, float *a) { if (flag[0] > 3) { a[threadIdx.x] += 1; __syncthreads(); a[threadIdx.x + 1] += 1; } }
__global__ void until_data(const int *n, float *a) { for (int i = 0; i < n[0]; ++i) a[i] += 1; }
}
