// Enough of <signal.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

typedef int sig_atomic_t;
typedef void (*__wt_handler)(int);
#define SIG_DFL ((__wt_handler)0)
#define SIG_IGN ((__wt_handler)1)
#define SIGINT 2
#define SIGILL 4
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGSEGV 11
#define SIGTERM 15
extern "C" {
__wt_handler signal(int number, __wt_handler handler) noexcept;
int raise(int number) noexcept;
}
