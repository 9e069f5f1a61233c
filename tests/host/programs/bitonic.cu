// Loops without a closed form, all known: read iteration by iteration.
__global__ void merge(float* a, int j, int k) { a[threadIdx.x] = j + k; }

int main() {
  float* a;
  const int n = 64;
  cudaMalloc(&a, n * sizeof(float));
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) merge<<<n / 32, 32>>>(a, j, k);
  int x = 6, blocks = 0;
  while (x != 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    blocks += x;
    merge<<<blocks, 32>>>(a, x, 0);
  }
}
