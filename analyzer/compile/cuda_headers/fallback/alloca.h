// Enough of <alloca.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#define alloca(bytes) __builtin_alloca(bytes)
