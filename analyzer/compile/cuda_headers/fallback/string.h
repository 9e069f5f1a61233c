// Enough of <string.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stddef.h>

extern "C" {
void* memcpy(void* to, const void* from, size_t bytes) noexcept;
void* memmove(void* to, const void* from, size_t bytes) noexcept;
void* memset(void* to, int value, size_t bytes) noexcept;
int memcmp(const void* a, const void* b, size_t bytes) noexcept;
size_t strlen(const char* text) noexcept;
char* strcpy(char* to, const char* from) noexcept;
char* strncpy(char* to, const char* from, size_t size) noexcept;
char* strcat(char* to, const char* from) noexcept;
int strcmp(const char* a, const char* b) noexcept;
int strncmp(const char* a, const char* b, size_t size) noexcept;
char* strerror(int number) noexcept;
}
