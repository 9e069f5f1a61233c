__global__ void kernel(float* a) { a[0] = 1; }
int main() { return }
// expect: bad-host-code.cu:2:21: error: expected expression
