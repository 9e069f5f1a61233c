// Enough of <pthread.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <sys/types.h>
#include <time.h>

typedef unsigned long pthread_t;
typedef struct { long state[8]; } pthread_attr_t;
typedef struct { long state[6]; } pthread_mutex_t;
typedef struct { long state[8]; } pthread_cond_t;
typedef struct { long state[6]; } pthread_barrier_t;
typedef struct { int state; } pthread_mutexattr_t;
typedef struct { int state; } pthread_condattr_t;
typedef struct { int state; } pthread_barrierattr_t;
#define PTHREAD_MUTEX_INITIALIZER { { 0 } }
#define PTHREAD_COND_INITIALIZER { { 0 } }
extern "C" {
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) noexcept;
int pthread_join(pthread_t thread, void** result);
void pthread_exit(void* result) __attribute__((noreturn));
pthread_t pthread_self() noexcept;
int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept;
int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept;
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept;
int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept;
int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept;
int pthread_cond_destroy(pthread_cond_t* condition) noexcept;
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex);
int pthread_cond_signal(pthread_cond_t* condition) noexcept;
int pthread_cond_broadcast(pthread_cond_t* condition) noexcept;
int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) noexcept;
int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept;
int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept;
}
