// Of a library that only host code calls, where it is not installed: what its header brings along.
#pragma once
#pragma clang system_header
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
