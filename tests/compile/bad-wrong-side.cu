int on_the_host(int x);
__global__ void kernel(int* a) { a[0] = on_the_host(1); }
// expect: bad-wrong-side.cu:2:41: error: no matching function for call to 'on_the_host'
// expect: note: candidate function not viable: call to __host__ function from __global__ function
