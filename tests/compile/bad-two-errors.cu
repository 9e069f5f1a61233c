__global__ void kernel(float* a) {
  a[0] = x;
  a[1] = y;
}
// expect: bad-two-errors.cu:2:10: error: use of undeclared identifier 'x'
// expect: bad-two-errors.cu:3:10: error: use of undeclared identifier 'y'
