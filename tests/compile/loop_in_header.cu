// The loop of a header of the user's own is rolled too.
#include "loop_in_header.cuh"
__global__ void sum_of(float* a, int n) { a[0] = sum(a, n); }
