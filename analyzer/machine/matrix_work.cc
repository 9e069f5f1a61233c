#include "analyzer/machine/matrix_work.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warptime::machine {
namespace {

struct TensorRate {
  int from;        // a target
  double halves;   // products of half precision in a cycle of a partition
  double doubles;  // of double precision, in an instruction of 8 x 8 x 4
  double of_wmma;  // products of halves in a machine instruction that wmma.mma becomes
};
constexpr std::array<TensorRate, 7> kRates = {{{120, 128, 0.5, 2048},
                                               {100, 330, 16, 2048},
                                               {90, 330, 16, 2048},
                                               {86, 128, 0.5, 2048},
                                               {80, 256, 16, 2048},
                                               {75, 128, 0.5, 1024},
                                               {0, 128, 8, 256}}};
constexpr double kLeastCycles = 4;  // of an instruction
constexpr double kSmaller = 1.35;   // on Hopper m16n8k8 takes 4.2 cycles, where m16n8k16 takes 6.2
constexpr double kGroupWarps = 4, kGroupHalves = 512;  // wgmma: its warps; as TensorRate::halves

MatrixWork work_of_doubles(double products, int target, const TensorRate& rate) {
  constexpr double smallest = 8 * 8 * 4;
  MatrixWork work;
  if (target >= 100) work.instructions = std::max(1.0, products / smallest);
  const double each = products / work.instructions;
  work.cycles = std::max(smallest / rate.doubles, each / (2 * rate.doubles));
  work.latency = 10 + 1.27 * work.cycles;
  return work;
}

}  // namespace

MatrixWork matrix_work(const ptx::MatrixOperation& operation, int target) {
  const TensorRate& rate =
      *std::find_if(kRates.begin(), kRates.end(), [&](const TensorRate& one) { return one.from <= target; });
  const auto products = static_cast<double>(operation.products);
  if (operation.floating && operation.bits == 64) return work_of_doubles(products, target, rate);
  // In products of halves that take as long: elements of a byte half, those of TF32, which are as wide as floats, two.
  const double halves = products * operation.bits / 16;
  MatrixWork work;
  if (operation.of_group) {
    work.cycles = halves / kGroupWarps / kGroupHalves;
    work.latency = work.cycles;
    return work;
  }
  if (operation.of_wmma) {
    const double of_one = rate.of_wmma / (operation.bits == 16 ? 1 : 2);
    work.instructions = std::max(1.0, std::round(halves / of_one));
  }
  const double each = halves / work.instructions, whole = 2048;
  const bool hopper = target >= 90 && target < 120;
  work.cycles = std::max(kLeastCycles, each / rate.halves * (hopper && each < whole ? kSmaller : 1));
  work.latency = 11.4 + 15 * std::min(each / whole, 1.0);
  return work;
}

}  // namespace warptime::machine
