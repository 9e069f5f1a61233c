// Enough of <stdlib.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <math.h>
#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
extern "C" {
void* malloc(size_t bytes) noexcept;
void* calloc(size_t count, size_t bytes) noexcept;
void* realloc(void* pointer, size_t bytes) noexcept;
void* aligned_alloc(size_t alignment, size_t bytes) noexcept;
int posix_memalign(void** pointer, size_t alignment, size_t bytes) noexcept;
void free(void* pointer) noexcept;
void exit(int status) noexcept __attribute__((noreturn));
void _exit(int status) __attribute__((noreturn));
void abort() noexcept __attribute__((noreturn));
int atexit(void (*function)()) noexcept;
int atoi(const char* text) noexcept;
long atol(const char* text) noexcept;
long long atoll(const char* text) noexcept;
double atof(const char* text) noexcept;
long strtol(const char* text, char** end, int base) noexcept;
long long strtoll(const char* text, char** end, int base) noexcept;
unsigned long strtoul(const char* text, char** end, int base) noexcept;
unsigned long long strtoull(const char* text, char** end, int base) noexcept;
float strtof(const char* text, char** end) noexcept;
double strtod(const char* text, char** end) noexcept;
char* getenv(const char* name) noexcept;
int setenv(const char* name, const char* value, int overwrite) noexcept;
int unsetenv(const char* name) noexcept;
int system(const char* command);
char* realpath(const char* path, char* resolved) noexcept;
int mkstemp(char* pattern);
int rand() noexcept;
int rand_r(unsigned* seed) noexcept;
void srand(unsigned seed) noexcept;
long random() noexcept;
void srandom(unsigned seed) noexcept;
double drand48() noexcept;
long lrand48() noexcept;
void srand48(long seed) noexcept;
div_t div(int a, int b) noexcept;
ldiv_t ldiv(long a, long b) noexcept;
lldiv_t lldiv(long long a, long long b) noexcept;
void qsort(void* base, size_t count, size_t size, int (*compare)(const void*, const void*));
void* bsearch(const void* key, const void* base, size_t count, size_t size, int (*compare)(const void*, const void*));
}
