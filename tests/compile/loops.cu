// Six loops, which -O3 unrolls in several ways. With --rolled there are six.
#define REPEAT(n) for (int i = 0; i < (n); ++i)
__global__ void loops(float* a, int K) {
  for (int i = 0; i < 4; i++) a[i] = a[i] * a[i + 1];
#pragma unroll
  for (int i = 0; i < K; i++) a[i] += 2.f * a[i + 7];
#pragma unroll 8
  REPEAT(16) a[i] = a[i] * a[i + 3];
  int j = 0;
  while (j < K) {
    a[j] *= a[j + 2];
    ++j;
  }
  j = 0;
  do {
    a[j] += a[j + 5];
  } while (++j < K);
  float t[4] = {1, 2, 3, 4};
  for (float& x : t) a[static_cast<int>(x)] = x * a[1];
}
