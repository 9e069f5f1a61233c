// Enough of <stdio.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stdarg.h>
#include <stddef.h>

struct _IO_FILE;
typedef struct _IO_FILE FILE;
typedef long ssize_t;
#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
extern "C" {
extern FILE* stdin;
extern FILE* stdout;
extern FILE* stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
int printf(const char* format, ...);
int fprintf(FILE* file, const char* format, ...);
int sprintf(char* text, const char* format, ...) noexcept;
int snprintf(char* text, size_t size, const char* format, ...) noexcept;
int vprintf(const char* format, va_list arguments);
int vfprintf(FILE* file, const char* format, va_list arguments);
int vsprintf(char* text, const char* format, va_list arguments) noexcept;
int vsnprintf(char* text, size_t size, const char* format, va_list arguments) noexcept;
int scanf(const char* format, ...);
int fscanf(FILE* file, const char* format, ...);
int sscanf(const char* text, const char* format, ...) noexcept;
int puts(const char* text);
int putchar(int c);
int putc(int c, FILE* file);
int fputc(int c, FILE* file);
int fputs(const char* text, FILE* file);
int getchar();
int getc(FILE* file);
int fgetc(FILE* file);
int ungetc(int c, FILE* file);
char* fgets(char* text, int size, FILE* file);
ssize_t getline(char** line, size_t* size, FILE* file);
FILE* fopen(const char* name, const char* mode);
FILE* freopen(const char* name, const char* mode, FILE* file);
FILE* fdopen(int descriptor, const char* mode) noexcept;
FILE* popen(const char* command, const char* mode);
FILE* tmpfile();
int pclose(FILE* file);
int fclose(FILE* file);
int fflush(FILE* file);
int fileno(FILE* file) noexcept;
int feof(FILE* file) noexcept;
int ferror(FILE* file) noexcept;
void clearerr(FILE* file) noexcept;
int fseek(FILE* file, long offset, int from);
long ftell(FILE* file);
int fseeko(FILE* file, long offset, int from);
long ftello(FILE* file);
void rewind(FILE* file);
int setvbuf(FILE* file, char* buffer, int mode, size_t size) noexcept;
void setbuf(FILE* file, char* buffer) noexcept;
size_t fread(void* to, size_t size, size_t count, FILE* file);
size_t fwrite(const void* from, size_t size, size_t count, FILE* file);
int remove(const char* name) noexcept;
int rename(const char* from, const char* to) noexcept;
void perror(const char* text);
}
