__global__ void kernel(float* a) { a[0] = 1; }
int main() { return }
