// Another kernel for every target.
__global__ void target(int* a) { a[0] = __CUDA_ARCH__; }
