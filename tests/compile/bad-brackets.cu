__global__ void kernel(float* a) {
  if (a[0] > 1) {
    a[0] = 1;
}
// expect: error: expected '}'
