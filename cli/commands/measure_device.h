// `warptime measure --device`: micro-benchmarks of the GPU of this machine → its GPU file.
#pragma once

#include "cli/options/arguments.h"

namespace warptime::cli {

// Runs each micro-benchmark `repetitions` times, writes the file and returns the exit status. The GPU is that of --gpu,
// or the catalogue's if the device is one of them; otherwise one of what the device says.
int measure_device(const Arguments& arguments, int repetitions);

}  // namespace warptime::cli
