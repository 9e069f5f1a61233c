static_assert(sizeof(float4) == 12, "float4 is aligned");
__global__ void kernel(float* a) { a[0] = 1; }
// expect: bad-static-assert.cu:1:15: error: static assertion failed
