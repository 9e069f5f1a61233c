// Asynchronous copies to shared memory: CUDA's functions without classes.
#pragma once
#pragma clang system_header

#include "cuda_runtime.h"
#include "warptime/copy_async.h"

__WT_TARGET void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  if (zeros != 0) {
    char* target = static_cast<char*>(to);
    const char* source = static_cast<const char*>(from);
    for (size_t i = 0; i < bytes; ++i) target[i] = i < bytes - zeros ? source[i] : 0;
  } else if (bytes == 16) {
    __wt_copy_async<16>(to, from);
  } else if (bytes == 8) {
    __wt_copy_async<8>(to, from);
  } else {
    __wt_copy_async<4>(to, from);
  }
}
__WT_TARGET void __pipeline_commit() { __wt_commit_async(); }
// The number is part of the instruction, and known once this is inlined.
__WT_TARGET void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0: __wt_wait_async<0>(); break;
    case 1: __wt_wait_async<1>(); break;
    case 2: __wt_wait_async<2>(); break;
    case 3: __wt_wait_async<3>(); break;
    case 4: __wt_wait_async<4>(); break;
    case 5: __wt_wait_async<5>(); break;
    case 6: __wt_wait_async<6>(); break;
    default: __wt_wait_async<7>();
  }
}
