#include "bad-includes-itself.cu"
#include "bad-includes-itself.cu"
__global__ void kernel(float* a) { a[0] = 1; }
// expect: bad-includes-itself.cu:1:10: error: #include nested too deeply
