__device__ __noinline__ int collatz(int n) {
  int steps = 0;
  while (n > 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++steps;
  }
  return steps;
}

__device__ float weight(float x) {
  return x * 0.5f;
}
__device__ float both(float x, float y) {
  return weight(x) + weight(y);
}

__global__ void smooth(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = i > 0 ? x[i - 1] : 0.0f;
  x[i] = both(left, x[i]) + collatz(i);
}
