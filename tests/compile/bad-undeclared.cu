__global__ void kernel(float* a) {
  a[0] = missing;
}
// expect: bad-undeclared.cu:2:10: error: use of undeclared identifier 'missing'
// expect:     2 |   a[0] = missing;
