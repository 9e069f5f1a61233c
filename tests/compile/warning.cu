__global__ void warning(float* a) {
  int never_used;
  a[0] = 1;
}
