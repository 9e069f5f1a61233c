// Runs programs of this folder, built as shared libraries, one after the other in one process, so that a profiler
// starts once for all of them:
//
//   nvcc -shared -Xcompiler -fPIC … products.cu -o products.so;  g++ run_all.cc -o run_all -ldl
//   run_all products.so 128 512 -- copies.so 16384
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  for (int first = 1; first < argc;) {
    int last = first;
    while (last < argc && strcmp(argv[last], "--") != 0) ++last;
    void* library = dlopen(argv[first], RTLD_NOW | RTLD_LOCAL);
    void* program = library ? dlsym(library, "main") : nullptr;
    if (!program) {
      fprintf(stderr, "run_all: %s\n", dlerror());
      return 1;
    }
    if (reinterpret_cast<int (*)(int, char**)>(program)(last - first, argv + first) != 0) return 1;
    first = last + 1;
  }
  return 0;
}
