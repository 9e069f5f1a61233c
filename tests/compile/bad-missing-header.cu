#include "no_such_file.h"
__global__ void kernel(float* a) { a[0] = 1; }
// expect: bad-missing-header.cu:1:10: fatal error: 'no_such_file.h' file not found
// expect: hint: the CUDA headers come with warptime
