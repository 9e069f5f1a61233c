// Enough of <math.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

// The functions themselves come with the CUDA headers.
#define M_E 2.7182818284590452
#define M_LOG2E 1.4426950408889634
#define M_LOG10E 0.43429448190325183
#define M_LN2 0.69314718055994531
#define M_LN10 2.3025850929940457
#define M_PI 3.1415926535897932
#define M_PI_2 1.5707963267948966
#define M_PI_4 0.78539816339744831
#define M_1_PI 0.31830988618379067
#define M_2_PI 0.63661977236758134
#define M_2_SQRTPI 1.1283791670955126
#define M_SQRT2 1.4142135623730950
#define M_SQRT1_2 0.70710678118654752
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
typedef float float_t;
typedef double double_t;
