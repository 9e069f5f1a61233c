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
size_t strnlen(const char* text, size_t size) noexcept;
char* strcpy(char* to, const char* from) noexcept;
char* strncpy(char* to, const char* from, size_t size) noexcept;
char* strcat(char* to, const char* from) noexcept;
char* strncat(char* to, const char* from, size_t size) noexcept;
int strcmp(const char* a, const char* b) noexcept;
int strncmp(const char* a, const char* b, size_t size) noexcept;
int strcoll(const char* a, const char* b) noexcept;
size_t strspn(const char* text, const char* set) noexcept;
size_t strcspn(const char* text, const char* set) noexcept;
char* strtok(char* text, const char* set) noexcept;
char* strtok_r(char* text, const char* set, char** rest) noexcept;
char* strdup(const char* text) noexcept;
char* strndup(const char* text, size_t size) noexcept;
char* strerror(int number) noexcept;
char* strsignal(int number) noexcept;
}
// As C++ has them, const in and const out.
#define __WT_SEARCH(name, second, builtin)                                                               \
  inline const char* name(const char* text, second) noexcept { return builtin; }                        \
  inline char* name(char* text, second) noexcept { return const_cast<char*>(builtin); }
__WT_SEARCH(strchr, int c, __builtin_strchr(text, c))
__WT_SEARCH(strrchr, int c, __builtin_strrchr(text, c))
__WT_SEARCH(strstr, const char* other, __builtin_strstr(text, other))
__WT_SEARCH(strpbrk, const char* other, __builtin_strpbrk(text, other))
#undef __WT_SEARCH
inline const void* memchr(const void* p, int c, size_t n) noexcept { return __builtin_memchr(p, c, n); }
inline void* memchr(void* p, int c, size_t n) noexcept { return const_cast<void*>(__builtin_memchr(p, c, n)); }

#include <strings.h>
