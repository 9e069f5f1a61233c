#pragma once
#pragma clang system_header
#include "../warptime_cub.h"
