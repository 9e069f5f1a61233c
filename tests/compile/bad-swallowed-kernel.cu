int main() {
  if (true) {
}
__global__ void kernel(float* a) { a[0] = 1; }
// expect: bad-swallowed-kernel.cu:4:34: error: function definition is not allowed here
// expect: error: expected '}'
