template <class T> __device__ T unused(T a) { return a + missing_in_unused; }
template <class T> __device__ T used(T a) { return a + missing_in_used; }
__global__ void kernel(float* a) { a[0] = used(a[1]); }
// expect: bad-template.cu:2:56: error: use of undeclared identifier 'missing_in_used'
