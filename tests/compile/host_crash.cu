// The class of host code lacks a header: its member has no size, which a warning about its destructor needs.
struct Timer {
  struct Missing started;
  ~Timer() {}
};
__global__ void kernel(float* a) { a[0] = 1; }
