template <class T> __global__ void kernel(T* a) { a[0] = 1; }
// expect: error: no kernel in bad-template-never-used.cu
// expect: hint: a kernel is a __global__ function with a body; a template needs an instantiation
