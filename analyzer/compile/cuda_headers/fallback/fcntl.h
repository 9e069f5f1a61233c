// Enough of <fcntl.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <sys/types.h>

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_TRUNC 01000
#define O_APPEND 02000
extern "C" int open(const char* path, int flags, ...);
