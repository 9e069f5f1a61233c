// Loops are repeats: counted, strided, halving, doubling, nested, in floating point, and until data say so.
__global__ void step(float* in, float* out, int n) { out[blockIdx.x] = in[threadIdx.x] + n; }

void solve(float* in, float* out, int n, int steps) {
  for (int i = 0; i < steps; i++) {
    step<<<n / 256, 256>>>(in, out, i);
    float* t = in;
    in = out;
    out = t;
  }
  for (int i = 16; i < n; i += 16) step<<<(n - i) / 16, 16>>>(in, out, i);
  for (int s = n / 2; s > 0; s >>= 1) step<<<s, 32>>>(in, out, s);
  for (int w = 1; w < n; w *= 2) step<<<n, w>>>(in, out, w);
  for (int k = n; k >= 1; k--)
    for (int j = 0; j <= k; j++) step<<<k, 64>>>(in, out, j);
  for (float t = 0; t < n; t += 4) step<<<1, 1>>>(in, out, 4);
  int blocks = n;
  while (blocks > 1) {
    step<<<blocks, 128>>>(in, out, blocks);
    blocks = (blocks + 127) / 128;
  }
  bool changed;
  do {
    changed = false;
    step<<<n, 256>>>(in, out, n);
    cudaMemcpy(&changed, out, sizeof(bool), cudaMemcpyDeviceToHost);
  } while (changed);
  for (int i = 0; i < 100; i++) {
    float error;
    step<<<2, 2>>>(in, out, n);
    cudaMemcpy(&error, out, sizeof(float), cudaMemcpyDeviceToHost);
    if (error < 1e-6f) break;
  }
  int slices = 1;
  while (n / slices > 65535) slices *= 2;
  step<<<dim3(n / slices, slices), 64>>>(in, out, n);
}
