// Enough of <assert.h> for kernels where the system has no C library headers.
#pragma clang system_header

#undef assert
#ifdef NDEBUG
#define assert(condition) (static_cast<void>(0))
#else
extern "C" void __assert_fail(const char* condition, const char* file, unsigned line, const char* function) noexcept
    __attribute__((noreturn));
#define assert(condition) \
  ((condition) ? static_cast<void>(0) : __assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
