// Enough of <stdlib.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
extern "C" {
void* malloc(size_t bytes) noexcept;
void* calloc(size_t count, size_t bytes) noexcept;
void* realloc(void* pointer, size_t bytes) noexcept;
void free(void* pointer) noexcept;
void exit(int status) noexcept __attribute__((noreturn));
void abort() noexcept __attribute__((noreturn));
int atoi(const char* text) noexcept;
long atol(const char* text) noexcept;
double atof(const char* text) noexcept;
long strtol(const char* text, char** end, int base) noexcept;
unsigned long strtoul(const char* text, char** end, int base) noexcept;
double strtod(const char* text, char** end) noexcept;
char* getenv(const char* name) noexcept;
int rand() noexcept;
void srand(unsigned seed) noexcept;
void qsort(void* base, size_t count, size_t size, int (*compare)(const void*, const void*));
}
