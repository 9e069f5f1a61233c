// Enough of <wchar.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stddef.h>

typedef unsigned wint_t;
struct __wt_shift_state { int count; unsigned value; };
typedef struct __wt_shift_state mbstate_t;
extern "C" {
size_t wcslen(const wchar_t* text) noexcept;
int wcscmp(const wchar_t* a, const wchar_t* b) noexcept;
wchar_t* wcscpy(wchar_t* to, const wchar_t* from) noexcept;
size_t mbstowcs(wchar_t* to, const char* from, size_t size) noexcept;
size_t wcstombs(char* to, const wchar_t* from, size_t size) noexcept;
}
