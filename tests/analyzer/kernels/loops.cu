// Loop shapes. In all of them one iteration of the innermost loop is one load and one store of a[…], so that the number of loads in the
// flattened program is the number of iterations, however the compiler has unrolled it.
extern "C" {
__global__ void up(int n, float *a) { for (int i = 0; i < n; ++i) a[i] += 1; }
__global__ void down(int n, float *a) { for (int i = n; i > 0; --i) a[i] += 1; }
__global__ void up_by_3(int n, float *a) { for (int i = 0; i < n; i += 3) a[i] += 1; }
__global__ void down_by_2(int n, float *a) { for (int i = n - 1; i >= 0; i -= 2) a[i] += 1; }
__global__ void until_equal(int n, float *a) { for (int i = 0; i != n; ++i) a[i] += 1; }
__global__ void pointers(float *a, int n) { float *end = a + n; for (float *p = a; p != end; ++p) *p += 1; }
__global__ void doubling(int n, float *a) { for (int h = 1; h < n; h *= 2) a[h] += 1; }
__global__ void doubling_from_3(int n, float *a) { for (int h = 3; h <= n; h <<= 1) a[h] += 1; }
__global__ void quadrupling(int n, float *a) { for (int h = 1; h < n; h *= 4) a[h] += 1; }
__global__ void halving(int n, float *a) { for (int h = n / 2; h > 0; h >>= 1) a[h] += 1; }
__global__ void triangle(int n, float *a) { for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) a[i * n + j] += 1; }
__global__ void triangle_upper(int n, float *a) { for (int i = 0; i < n; ++i) for (int j = i; j < n; ++j) a[i * n + j] += 1; }
__global__ void nest(int n, int m, float *a) { for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) a[i * m + j] += 1; }
__global__ void grid_stride(int n, float *a) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] += 1; }
__global__ void by_while(int n, float *a) { int i = 0; while (i < n) { a[i] += 1; i += 2; } }
__global__ void by_do(int n, float *a) { int i = 0; do { a[i] += 1; i++; } while (i < n); }
__global__ void unsigned_count(unsigned n, float *a) { for (unsigned i = 0; i < n; ++i) a[i] += 1; }
__global__ void long_count(long n, float *a) { for (long i = 0; i < n; ++i) a[i] += 1; }
__global__ void four(float *a) { for (int i = 0; i < 4; ++i) a[i * 77] += 1; }
__global__ void hundred(float *a) { for (int i = 0; i < 100; ++i) a[i * 77] += 1; }
__global__ void half_of(int n, float *a) { for (int i = 0; i < n / 2; ++i) a[i] += 1; }
__global__ void third_of(int n, float *a) { for (int i = 0; i < n / 3; ++i) a[i] += 1; }
__global__ void condition_on_counter(int n, float *a) { for (int i = 0; i < n; ++i) { if (i < n - 2) a[i] += 1; else a[i] *= 2; } }
__global__ void left_early(int n, float *a) { for (int i = 0; i < n; ++i) { if (a[i] < 0) break; a[i] = 2; } }
}
