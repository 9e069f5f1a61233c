// Access patterns at the borders of arrays, of tiles, and for which blocks they hold.
#include <optional>

#include "tests/analyzer/test_program.h"

namespace warptime {
namespace {

using Shape = std::optional<std::array<std::int64_t, 3>>;

const MemoryAccess* access_of(const KernelProgram& program, MemoryAccess::Kind kind) {
  for (const Item& item : program.program)
    if (const auto* access = std::get_if<MemoryAccess>(&item.what); access && access->kind == kind)
      return access;
  return nullptr;
}

struct AccessCase {
  const char* kernel;
  Shape block;
  Access access;                        // of the load
  std::optional<std::int64_t> sectors;  // of the load
  const char* note;
};

constexpr char kRows[] = "its sectors are those of rows that begin at multiples of 32 bytes";
constexpr char kUnknown[] = "its sectors depend on arguments or iterations";
const Shape kLine = std::nullopt, kSquare = {{16, 16, 1}}, kWide = {{32, 8, 1}}, kSmall = {{8, 8, 4}};

const AccessCase access_cases[] = {
    // A clamp is taken to be inactive, whatever the order of the arguments.
    {"clamped", kLine, Access::coalesced, 4, ""},
    {"clamped_width_first", kLine, Access::coalesced, 4, ""},
    {"clamped_by_comparisons", kLine, Access::coalesced, 4, ""},
    {"mirrored", kLine, Access::coalesced, 4, ""},
    {"clamped", kSquare, Access::coalesced, 2, ""},
    {"clamped_rows", kWide, Access::coalesced, 4, ""},
    {"clamped_rows", kSquare, Access::coalesced, 4, kRows},
    // One that no argument decides is computed.
    {"truly_clamped", kLine, Access::coalesced, 1, ""},
    // The pitch of rows is taken to be a multiple of a sector.
    {"tile", kSquare, Access::coalesced, 4, kRows},
    {"tile", kSmall, Access::coalesced, 4, kRows},
    {"tile", kWide, Access::coalesced, 4, ""},
    {"tile_of_doubles", kSquare, Access::coalesced, 8, kRows},
    {"tile_of_doubles", kSmall, Access::coalesced, 8, kRows},
    {"transposed", kSquare, Access::scattered, 16, kRows},
    {"transposed", kSmall, Access::scattered, 8, kRows},
    {"transposed", kWide, Access::strided, 32, ""},
    {"rows_of_16", kLine, Access::coalesced, 4, kRows},
    // Other uses of an argument stay open.
    {"hashed", kLine, Access::strided, std::nullopt, kUnknown},
    {"hashed", kSquare, Access::scattered, std::nullopt, kUnknown},
};

TEST(Access, OfBordersAndTiles) {
  const auto text = read_file("tests/analyzer/borders.cu");
  for (const auto& way : ways_to_compile()) {
    const auto source = compile_cuda("borders.cu", text, way.options);
    ASSERT_TRUE(source) << to_text(source.diagnostics());
    for (const AccessCase& one : access_cases) {
      SCOPED_TRACE(way.name + ", " + one.kernel +
                   (one.block ? ", x = " + std::to_string((*one.block)[0]) : ""));
      AnalyzeOptions options{.kernel = one.kernel};
      options.block = one.block;
      const auto analysis = analyze(*source, options);
      ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
      const auto* load = access_of(analysis->kernels[0].program, MemoryAccess::Kind::load);
      ASSERT_NE(load, nullptr);
      EXPECT_EQ(load->access, one.access);
      EXPECT_EQ(load->sectors, one.sectors);
      EXPECT_EQ(load->note, one.note);
    }
  }
}

// A program names its block only where another block would give other patterns.
TEST(Access, HoldForOneBlockWhereTheBlockChangesThem) {
  struct Case {
    const char* kernel;
    Shape block;
    bool marked;
  };
  const Case cases[] = {
      {"line", kWide, false},    {"line", {{64, 1, 1}}, false}, {"line", kSquare, true},
      {"tile", kWide, false},    {"tile", kSquare, true},       {"transposed", kWide, false},
      {"clamped", kWide, false}, {"clamped", kSmall, true},
  };
  const auto source = compile_cuda("borders.cu", read_file("tests/analyzer/borders.cu"), {});
  ASSERT_TRUE(source) << to_text(source.diagnostics());
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.kernel) + ", x = " + std::to_string((*one.block)[0]));
    AnalyzeOptions options{.kernel = one.kernel};
    options.block = one.block;
    const auto analysis = analyze(*source, options);
    ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
    EXPECT_EQ(analysis->kernels[0].program.block_shape, one.marked ? one.block : std::nullopt);
  }
}

}  // namespace
}  // namespace warptime
