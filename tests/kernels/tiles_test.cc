// The host pipeline of tiles: compiled where there is nvcc, run where there is a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "analyzer/compile/nvcc.h"

namespace warptime::kernels {
namespace {

// It compares its results with the transform's definition, and says by its exit status whether they differ.
TEST(LiftingTiles, EveryModeGivesTheTransform) {
  const auto nvcc = compiling::find_nvcc();
  if (!nvcc) GTEST_SKIP() << "no nvcc on this machine";
  const bool gpu = std::system("nvidia-smi -L > /dev/null 2>&1") == 0;
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("warptime_tiles_{}", std::random_device()());
  std::filesystem::create_directory(folder);
  const auto program = (folder / "lifting_tiles").string();
  const int compiled =
      std::system(fmt::format("{} -std=c++17 -O1 {} -o {} {}/dwt_kernels/host/lifting_tiles.cu", nvcc->path,
                              gpu ? "-arch=native" : "-c", program, WARPTIME_SOURCE_DIR)
                      .c_str());
  EXPECT_EQ(compiled, 0);
  if (gpu && compiled == 0) {
    // Whole images and halves; tiles as small as their halos, more tiles than streams; tiles as the memory allows.
    for (const char* options :
         {"sizes=128,1024 modes=whole,halves ends=GG,CG,GC,CC", "sizes=256 tile=32 modes=tiles,pipelined",
          "sizes=1024 rows=64 tile=32 modes=tiles,pipelined", "sizes=1024 tile=0 memory=2M modes=pipelined"})
      EXPECT_EQ(std::system(fmt::format("{} {} > /dev/null", program, options).c_str()), 0) << options;
  }
  std::filesystem::remove_all(folder);
  if (!gpu && compiled == 0) GTEST_SKIP() << "compiled; no GPU on this machine to run it";
}

}  // namespace
}  // namespace warptime::kernels
