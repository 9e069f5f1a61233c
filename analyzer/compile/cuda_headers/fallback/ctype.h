// Enough of <ctype.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

extern "C" {
int isalnum(int c) noexcept;
int isalpha(int c) noexcept;
int isblank(int c) noexcept;
int iscntrl(int c) noexcept;
int isdigit(int c) noexcept;
int isgraph(int c) noexcept;
int islower(int c) noexcept;
int isprint(int c) noexcept;
int ispunct(int c) noexcept;
int isspace(int c) noexcept;
int isupper(int c) noexcept;
int isxdigit(int c) noexcept;
int tolower(int c) noexcept;
int toupper(int c) noexcept;
}
