// Enough of <stdalign.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#define __alignas_is_defined 1
#define __alignof_is_defined 1
