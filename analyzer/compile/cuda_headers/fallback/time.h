// Enough of <time.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stddef.h>

typedef long time_t;
typedef long clock_t;
struct timespec { time_t tv_sec; long tv_nsec; };
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
extern "C" {
time_t time(time_t* result) noexcept;
clock_t clock() noexcept;
int clock_gettime(int clock, struct timespec* result) noexcept;
}
