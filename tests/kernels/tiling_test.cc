// The arithmetic of the tiled transforms (dwt_kernels/host/tiling.h) on the CPU.
#include "dwt_kernels/host/tiling.h"

#include <fmt/format.h>

#include "dwt_kernels/reference/lifting.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

using tiling::Method;
using tiling::Tiles;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

// One tile, several, tiles that are smaller than their halos, an image that is smaller than a halo.
const Tiles kTiles[] = {{64, 32, 64}, {64, 32, 32}, {96, 32, 32}, {64, 32, 4}, {8, 32, 4}, {128, 64, 64}};

TEST(Tiling, SegmentsAreTheTileAndItsHalos) {
  for (const auto& tiles : kTiles)
    for (std::int64_t tile = 0; tile < tiles.count(); ++tile) {
      std::int64_t next = 0;
      for (const auto& run : tiling::rows_of_segment(tiles, tile)) {
        EXPECT_EQ(run.segment, next);
        EXPECT_GT(run.count, 0);
        for (std::int64_t i = 0; i < run.count; ++i) {
          const std::int64_t wanted = tile * tiles.tile_rows - tiling::halo_rows + run.segment + i;
          EXPECT_EQ((wanted % tiles.rows + tiles.rows) % tiles.rows, run.image + i) << "tile " << tile;
          EXPECT_LT(run.image + i, tiles.rows);
        }
        next += run.count;
      }
      EXPECT_EQ(next, tiles.segment_rows());
    }
}

TEST(Tiling, EveryRowOfTheResultIsWrittenOnce) {
  for (const auto& tiles : kTiles) {
    std::vector<int> written(index(tiles.rows));
    for (std::int64_t tile = 0; tile < tiles.count(); ++tile)
      for (const auto& run : tiling::rows_of_result(tiles, tile)) {
        EXPECT_LE(run.segment + run.count, tiles.segment_rows());
        for (std::int64_t i = 0; i < run.count; ++i) ++written[index(run.image + i)];
      }
    EXPECT_EQ(written, std::vector<int>(written.size(), 1)) << tiles.rows << " by " << tiles.tile_rows;
  }
}

// Section 4.4: "to exactly transform all elements inside the tiles".
TEST(Tiling, TilesGiveTheTransformOfTheImage) {
  for (const auto& tiles : kTiles) {
    const auto image = to_doubles(random_floats(index(tiles.rows * tiles.columns)));
    const auto wanted = reference::lifting_2d(image, index(tiles.rows), index(tiles.columns),
                                              reference::deslauriers_dubuc_13_7());
    std::vector<double> result(image.size());
    for (std::int64_t tile = 0; tile < tiles.count(); ++tile) {
      std::vector<double> segment(index(tiles.segment_values()));
      for (const auto& run : tiling::rows_of_segment(tiles, tile))
        std::copy_n(image.begin() + run.image * tiles.columns, run.count * tiles.columns,
                    segment.begin() + run.segment * tiles.columns);
      segment = reference::lifting_2d(segment, index(tiles.segment_rows()), index(tiles.columns),
                                      reference::deslauriers_dubuc_13_7());
      for (const auto& run : tiling::rows_of_result(tiles, tile))
        std::copy_n(segment.begin() + run.segment * tiles.columns, run.count * tiles.columns,
                    result.begin() + run.image * tiles.columns);
    }
    expect_near(result, wanted, 1e-13, fmt::format("{} rows in tiles of {}", tiles.rows, tiles.tile_rows));
  }
}

// What lifting_tiles.cu checks its results with.
TEST(Tiling, SingleCoefficientsAreThoseOfTheTransform) {
  constexpr std::int64_t kRows = 32, kColumns = 64;
  const auto image = to_doubles(random_floats(kRows * kColumns));
  const auto wanted = reference::lifting_2d(image, kRows, kColumns, reference::deslauriers_dubuc_13_7());
  std::vector<double> got;
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t column = 0; column < kColumns; ++column)
      got.push_back(tiling::coefficient_2d(
          [&](std::int64_t r, std::int64_t c) { return image[index(r * kColumns + c)]; }, kRows, kColumns,
          row, column));
  expect_near(got, wanted, 1e-14, "coefficient by coefficient");
}

TEST(Tiling, ChunksDivideSegments) {
  EXPECT_EQ(tiling::chunk_of(4096), 512);
  EXPECT_EQ(tiling::chunk_of(512 + 2 * tiling::halo_rows), 272) << "544 rows are one pair of chunks";
  EXPECT_EQ(tiling::chunk_of(1040), 0) << "no multiple of 32";
  for (std::int64_t length = 32; length <= 4096; length += 32) {
    const int b = tiling::chunk_of(length);
    EXPECT_TRUE(b >= 16 && b <= 512 && b % 16 == 0 && length % (2 * b) == 0) << length << ": " << b;
  }
}

TEST(Tiling, RepresentativesAreThoseOfAlgorithm3) {
  for (int chunks = 2; chunks <= 300; chunks += 2)
    EXPECT_EQ(tiling::representatives_of(chunks), reference::representatives(chunks)) << chunks;
  const tiling::Permutations square(4096, 4096), segment(128 + 2 * tiling::halo_rows, 4096);
  EXPECT_EQ(square.elements, reference::representatives(8)) << "rows and columns share them";
  EXPECT_EQ(segment.column_chunk, 80);
  EXPECT_EQ(segment.column_chunks, 2);
  EXPECT_EQ(segment.column_count, 0);
  EXPECT_EQ(segment.row_count, 2);
}

// Figures 6 and 7: half the memory, and the representative elements, with b = 512. 12 numbers for rows and columns of 64 chunks.
TEST(Tiling, MemoryOfBothMethods) {
  EXPECT_EQ(tiling::device_bytes(Method::separate, 32768, 32768), 8 * kGiB);
  EXPECT_EQ(tiling::device_bytes(Method::unified, 32768, 32768), 4 * kGiB + 48);
  EXPECT_EQ(tiling::device_bytes(Method::unified, 4096, 4096), 4 * 4096 * 4096 + 8);
}

// Section 4.4: "roughly twice larger segments".
TEST(Tiling, TheUnifiedBufferTakesTilesTwiceAsLarge) {
  const std::int64_t separate = tiling::tile_rows_within(kGiB, Method::separate, 32768, 32768, 1),
                     unified = tiling::tile_rows_within(kGiB, Method::unified, 32768, 32768, 1);
  EXPECT_EQ(separate, 2048);
  EXPECT_EQ(unified, 4096);
  EXPECT_EQ(tiling::tile_rows_within(kGiB, Method::unified, 32768, 32768, 4), 1024) << "four streams";
  EXPECT_EQ(tiling::tile_rows_within(kGiB / 1024, Method::unified, 32768, 32768, 1), 0);
}

}  // namespace
}  // namespace warptime::kernels
