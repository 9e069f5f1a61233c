#pragma once
#pragma clang system_header

// The headers of C and C++ that nvcc's cuda_runtime.h includes, where the system has them.
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<type_traits>)
#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <utility>
#endif
