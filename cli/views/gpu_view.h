// The GPU catalogue as text, JSON and CSV.
#pragma once

#include <string>
#include <vector>

#include "simulator/gpu/gpu.h"

namespace warptime::cli {

// All GPUs: one line each.
std::string gpus_text(const std::vector<Gpu>& gpus);
std::string gpus_json(const std::vector<Gpu>& gpus);
std::string gpus_csv(const std::vector<Gpu>& gpus);

// One GPU: every figure with its source.
std::string gpu_text(const Gpu& gpu);
std::string gpu_json(const Gpu& gpu);
std::string gpu_csv(const Gpu& gpu);

}  // namespace warptime::cli
