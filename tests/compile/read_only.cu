// __ldg is another instruction on the oldest targets: no question asked by the source itself.
__global__ void read_only(float* a, const float* b) { a[0] = __ldg(b); }
