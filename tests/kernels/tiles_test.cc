// The host pipeline of tiles: compiled where there is nvcc, run where there is a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "analyzer/compile/nvcc.h"

namespace warptime::kernels {
namespace {

TEST(LiftingTiles, TilesGiveTheSameAsTheWholeImage) {
  const auto nvcc = compiling::find_nvcc();
  if (!nvcc) GTEST_SKIP() << "no nvcc on this machine";
  const bool gpu = std::system("nvidia-smi -L > /dev/null 2>&1") == 0;
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("warptime_tiles_{}", std::random_device()());
  std::filesystem::create_directory(folder);
  const auto program = (folder / "lifting_tiles").string();
  const int compiled =
      std::system(fmt::format("{} -O1 {} -o {} {}/dwt_kernels/host/lifting_tiles.cu", nvcc->path,
                              gpu ? "-arch=native" : "-c", program, WARPTIME_SOURCE_DIR)
                      .c_str());
  EXPECT_EQ(compiled, 0);
  if (gpu && compiled == 0) {
    // One tile, two, tiles whose halos are as large as they are, more tiles than streams.
    for (const char* size : {"64 1024 64", "64 2048 32", "64 1024 16", "256 1024 16"})
      EXPECT_EQ(std::system(fmt::format("{} {} > /dev/null", program, size).c_str()), 0) << size;
  }
  std::filesystem::remove_all(folder);
  if (!gpu && compiled == 0) GTEST_SKIP() << "compiled; no GPU on this machine to run it";
}

}  // namespace
}  // namespace warptime::kernels
