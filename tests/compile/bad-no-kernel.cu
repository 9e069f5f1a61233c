int main() { return 0; }
// expect: error: no kernel in bad-no-kernel.cu
