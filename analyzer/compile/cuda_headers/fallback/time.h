// Enough of <time.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stddef.h>

typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; };
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
extern "C" {
time_t time(time_t* result) noexcept;
clock_t clock() noexcept;
double difftime(time_t end, time_t begin) noexcept;
time_t mktime(struct tm* parts) noexcept;
struct tm* gmtime(const time_t* at) noexcept;
struct tm* localtime(const time_t* at) noexcept;
struct tm* localtime_r(const time_t* at, struct tm* result) noexcept;
char* ctime(const time_t* at) noexcept;
char* asctime(const struct tm* parts) noexcept;
size_t strftime(char* to, size_t size, const char* format, const struct tm* parts) noexcept;
int clock_gettime(clockid_t clock, struct timespec* result) noexcept;
int nanosleep(const struct timespec* wanted, struct timespec* left);
}
