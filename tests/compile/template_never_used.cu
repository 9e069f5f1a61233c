template <class T> __global__ void kernel(T* a) { a[0] = 1; }
