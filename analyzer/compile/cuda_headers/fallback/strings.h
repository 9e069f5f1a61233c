// Enough of <strings.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stddef.h>

extern "C" {
int strcasecmp(const char* a, const char* b) noexcept;
int strncasecmp(const char* a, const char* b, size_t size) noexcept;
void bzero(void* to, size_t bytes) noexcept;
void bcopy(const void* from, void* to, size_t bytes) noexcept;
int bcmp(const void* a, const void* b, size_t bytes) noexcept;
int ffs(int word) noexcept;
}
