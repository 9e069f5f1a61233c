template <class T> __global__ void kernel(T* a) { a[0] = 1; }
// expect: error: no kernel in bad-template-never-used.cu
// expect: hint: a kernel is a function that is declared __global__ and has a body; a template needs an instantiation
