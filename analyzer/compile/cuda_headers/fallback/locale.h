// Enough of <locale.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#define LC_CTYPE 0
#define LC_NUMERIC 1
#define LC_ALL 6
extern "C" char* setlocale(int category, const char* name) noexcept;
