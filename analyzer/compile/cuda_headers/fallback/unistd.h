// Enough of <unistd.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stdint.h>
#include <sys/types.h>

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
extern "C" {
extern char* optarg;
extern int optind, opterr, optopt;
int getopt(int argc, char* const argv[], const char* options) noexcept;
unsigned sleep(unsigned seconds);
int usleep(unsigned microseconds);
ssize_t read(int descriptor, void* to, size_t bytes);
ssize_t write(int descriptor, const void* from, size_t bytes);
int close(int descriptor);
off_t lseek(int descriptor, off_t offset, int from) noexcept;
int access(const char* path, int mode) noexcept;
int unlink(const char* path) noexcept;
int rmdir(const char* path) noexcept;
int chdir(const char* path) noexcept;
char* getcwd(char* to, size_t size) noexcept;
int gethostname(char* to, size_t size) noexcept;
pid_t getpid() noexcept;
pid_t fork() noexcept;
int isatty(int descriptor) noexcept;
long sysconf(int name) noexcept;
void _exit(int status) __attribute__((noreturn));
}
