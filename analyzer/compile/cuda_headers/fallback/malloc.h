// Enough of <malloc.h> for kernels where the system has no C library headers.
#pragma once
#pragma clang system_header

#include <stdlib.h>
