#include "analyzer/machine/source_loops.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <utility>

#include "analyzer/ptx/opcodes.h"

namespace warptime::machine {
namespace {

constexpr double kLongestUnrolledByNvcc = 200;  // instructions of LLVM
constexpr double kLongestWhole = 350;           // of a loop that vanishes
constexpr std::int64_t kMostWhole = 60;         // iterations of such a loop
constexpr std::int64_t kTimesOfNvcc = 4;        // where the number of iterations is not known
constexpr std::int64_t kMostTimesOfNvcc = 32;
constexpr double kMostPlaces = 0.6;  // of the instructions that tell

// `1 26 40` of `.loc 1 26 40`, with what it is inlined at.
std::string_view place_of(std::string_view text, std::uint32_t offset) {
  const std::size_t at = text.rfind(".loc", offset);
  if (at == std::string_view::npos) return {};
  const std::string_view line = text.substr(at + 4, text.find('\n', at) - at - 4);
  return line.substr(0, line.find("//"));
}

// Whether each copy of an iteration has one of its own.
bool tells_copies(const ptx::Instruction& one) {
  if (one.info == nullptr) return false;
  if (one.info->category == ptx::Category::store || one.info->category == ptx::Category::atomic) return true;
  if (one.info->category == ptx::Category::load) return ptx::space_of(one) != ptx::StateSpace::param;
  return one.info->category == ptx::Category::arithmetic &&
         (one.opcode.ends_with(".f32") || one.opcode.ends_with(".f64"));
}

}  // namespace

std::int64_t copies_of_source(const analysis::KernelCode& code, const analysis::Cfg& cfg, std::uint32_t loop,
                              std::int64_t step) {
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> places;
  double all = 0;
  for (const std::uint32_t b : cfg.loops[loop].blocks) {
    for (std::uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) {
      const ptx::Instruction& one = code.function().instructions[i];
      if (code.silent(i) || !tells_copies(one)) continue;
      const std::string_view place = place_of(code.module().text, one.offset);
      if (place.empty()) return 1;
      places[{place, one.opcode}] += 1;
      all += 1;
    }
  }
  std::int64_t best = 1;
  for (const auto& candidate : places) {
    const std::int64_t copies = candidate.second;
    if (copies <= best || (step != 0 && step % copies != 0)) continue;
    double fitting = 0;
    for (const auto& [place, count] : places)
      if (count % copies == 0) fitting += static_cast<double>(count);
    if (fitting >= kMostPlaces * all) best = copies;
  }
  return best;
}

SourceUnrolling unrolled_by_nvcc(double size, std::optional<std::int64_t> iterations) {
  if (iterations && *iterations > 0) {
    if (*iterations <= kMostWhole && static_cast<double>(*iterations) * size <= kLongestWhole)
      return {*iterations, true};
    std::int64_t times = std::min(
        kMostTimesOfNvcc, std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(*iterations)));
    while (times > 1 && static_cast<double>(times) * size > kLongestUnrolledByNvcc) times /= 2;
    if (times > 1) return {times, false};
  }
  std::int64_t times = kTimesOfNvcc;
  while (times > 1 && static_cast<double>(times) * size > kLongestUnrolledByNvcc) times /= 2;
  return {times, false};
}

}  // namespace warptime::machine
