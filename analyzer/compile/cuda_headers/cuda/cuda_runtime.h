// What CUDA C++ sources take for granted, for clang's device compilation: included before the first line of every source, as
// nvcc does with its own. Math functions that are more than a few instructions are warptime's own, not libdevice's (which belongs
// to the CUDA Toolkit): their number of instructions differs from nvcc's. Not here: Bessel functions, erfinv and its like, norms
// of arrays.
//
// Parsing all of it takes longer than most kernels do, so the compiler is told which parts a source may need (see header_parts.h).
//
// Every function is `nodebug`: its instructions count for the line of the source that calls it.
#pragma once
#pragma clang system_header

#ifndef __WARPTIME_PARTS
#define __WARPTIME_PARTS (-1)
#endif

#include "warptime/attributes.h"
#include "warptime/language.h"
#if __WARPTIME_PARTS & 1
#include "warptime/vector_types.h"
#endif
#if __WARPTIME_PARTS & 2
#include "warptime/host_runtime.h"
#endif
#if __WARPTIME_PARTS & 4
#include "warptime/synchronisation.h"
#endif
#if __WARPTIME_PARTS & 8
#include "warptime/atomics.h"
#endif
#if __WARPTIME_PARTS & 16
#include "warptime/vector_types.h"
#include "warptime/intrinsics.h"
#endif
#if __WARPTIME_PARTS & 32
#include "warptime/math_basic.h"
#endif
#if __WARPTIME_PARTS & 64
#include "warptime/math_float.h"
#endif
#if __WARPTIME_PARTS & 128
#include "warptime/math_double.h"
#endif
#if __WARPTIME_PARTS & 256
#include "warptime/math_std.h"
#endif
#if __WARPTIME_PARTS & 512
#include "warptime/textures.h"
#endif
#if (__WARPTIME_PARTS & 1023) == 1023
#include "warptime/lanes.h"
#endif
#if __WARPTIME_PARTS & 1024
#include "warptime/libraries.h"
#endif
