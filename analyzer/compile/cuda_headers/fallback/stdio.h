// Enough of <stdio.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stdarg.h>
#include <stddef.h>

struct _IO_FILE;
typedef struct _IO_FILE FILE;
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
extern "C" {
extern FILE* stdin;
extern FILE* stdout;
extern FILE* stderr;
int printf(const char* format, ...);
int fprintf(FILE* file, const char* format, ...);
int sprintf(char* text, const char* format, ...) noexcept;
int snprintf(char* text, size_t size, const char* format, ...) noexcept;
int scanf(const char* format, ...);
int fscanf(FILE* file, const char* format, ...);
int sscanf(const char* text, const char* format, ...) noexcept;
int puts(const char* text);
int putchar(int c);
int fputs(const char* text, FILE* file);
int getchar();
char* fgets(char* text, int size, FILE* file);
FILE* fopen(const char* name, const char* mode);
int fclose(FILE* file);
int fflush(FILE* file);
int fseek(FILE* file, long offset, int from);
long ftell(FILE* file);
size_t fread(void* to, size_t size, size_t count, FILE* file);
size_t fwrite(const void* from, size_t size, size_t count, FILE* file);
void perror(const char* text);
}
