#pragma clang system_header
#include "../cuda_runtime.h"
#include "../warptime/words.h"
