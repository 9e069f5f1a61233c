#include <some_library.h>
struct Context {
  library_handle_t handle;
  int n;
};
void on_the_host(library_handle_t handle) { use(handle); }
__global__ void kernel(float* a, Context context) { a[0] = context.n; }
// expect: bad-class-of-both-sides.cu:3:3: error: unknown type name 'library_handle_t'
// expect: error: device code uses a class or a function whose definition has errors
// expect: hint: some_library.h was not found
