// Enough of <stddef.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
typedef struct { long long x; long double y; } max_align_t;
#ifndef NULL
#define NULL __null
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
