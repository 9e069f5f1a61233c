// Enough of <execinfo.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

extern "C" {
int backtrace(void** to, int size) noexcept;
char** backtrace_symbols(void* const* from, int size) noexcept;
}
