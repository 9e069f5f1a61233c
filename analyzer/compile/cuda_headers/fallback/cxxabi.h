// Enough of <cxxabi.h> for kernels where the system has no C++ library headers.
#pragma once
#pragma clang system_header

#include <cstddef>

namespace __cxxabiv1 {
extern "C" char* __cxa_demangle(const char* name, char* to, size_t* size, int* status);
}
namespace abi = __cxxabiv1;
