#include "no_such_file.h"
__global__ void kernel(float* a) { a[0] = from_no_such_file(a[1]); }
// expect: bad-missing-header.cu:2:43: error: use of undeclared identifier 'from_no_such_file'
// expect: hint: no_such_file.h was not found: name the folders of your own headers by -I after `--`
