#pragma once
#pragma clang system_header

#include "math_double.h"
#include "math_float.h"

// <cmath> finds these in place before it declares its own, which then stay host functions.
namespace std {
using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh; using ::cbrt;
using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2;
using ::expm1; using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod;
using ::frexp; using ::hypot; using ::ilogb; using ::ldexp; using ::lgamma; using ::llrint; using ::llround; using ::log;
using ::log10; using ::log1p; using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nearbyint;
using ::nextafter; using ::pow; using ::remainder; using ::rint; using ::round; using ::scalbn; using ::sin; using ::sinh;
using ::sqrt; using ::tan; using ::tanh; using ::tgamma; using ::trunc; using ::abs;
using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
}
