// Enough of <sys/time.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <time.h>

typedef long suseconds_t;
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct timezone { int tz_minuteswest, tz_dsttime; };
extern "C" int gettimeofday(struct timeval* now, void* zone) noexcept;
