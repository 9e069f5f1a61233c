#include "analyzer/machine/registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulator/base/csv.h"
#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile register_tables[];  // generated: see CMakeLists.txt
extern const std::size_t register_tables_count;
}  // namespace warptime

namespace warptime::machine {
namespace {

constexpr int kLeast = 4;             // of an empty kernel
constexpr int kLeastWithCalls = 24;   // those that a function may use without saving them
constexpr int kMost = 255;            // of a thread
constexpr int kOwn = 2;               // that hold no value: the stack pointer, an address that is computed
constexpr int kOfBlocks = 65'536;     // registers of an SM
constexpr int kUnit = 8;              // in which a warp's registers are allocated
constexpr int kWarp = 32;             // threads
constexpr int kLeastOfBounds = 16;    // ptxas refuses to use fewer
constexpr double kBoundedPeak = 40;   // beyond it launch bounds make no more difference
constexpr double kUnrolledPeak = 24;  // beyond it ptxas does not unroll for more loads in flight

constexpr double kShortCode = 5, kLongCode = 9;  // logarithms of numbers of instructions

double at_most(int value, int most) {
  return std::min(value, most);
}
double excess(double value, double over) {
  return std::max(0.0, value - over);
}
double peak_of(const Pressure& of, Order order) {
  return of.peak[static_cast<std::size_t>(order)];
}

// The registers with which as many threads fit on an SM as the kernel's launch bounds say.
int limit_of(const KernelResources& resources) {
  const int threads = resources.required_threads.value_or(resources.max_threads.value_or(0));
  if (threads <= 0) return kMost;
  const int rounded = (std::min(threads, 1 << 16) + kWarp - 1) / kWarp * kWarp;
  const int blocks = std::clamp(resources.min_blocks_per_sm.value_or(1), 1, kOfBlocks / rounded);
  return std::clamp(kOfBlocks / (rounded * blocks) / kUnit * kUnit, kLeastOfBounds, kMost);
}

}  // namespace

const std::array<RegisterTerm, kRegisterTerms> register_terms = {{
    {"one", [](const Pressure&, bool) { return 1.0; }},
    {"peak", [](const Pressure& of, bool) -> double { return of.least_peak(); }},
    // With launch bounds ptxas aims at their limit, not at the most warps.
    {"bounded_peak",
     [](const Pressure& of, bool bounded) {
       return bounded ? std::min<double>(of.least_peak(), kBoundedPeak) / 10 : 0;
     }},
    {"loads_first",
     [](const Pressure& of, bool) {
       return std::min(16.0, excess(peak_of(of, Order::loads_first), of.least_peak()));
     }},
    {"loads_unbarred",
     [](const Pressure& of, bool) {
       return std::min(16.0, excess(peak_of(of, Order::loads_unbarred), peak_of(of, Order::loads_first)));
     }},
    {"interleaved",
     [](const Pressure& of, bool) {
       return std::min(16.0, excess(peak_of(of, Order::interleaved), peak_of(of, Order::loads_unbarred)));
     }},
    {"unrolled", [](const Pressure& of,
                    bool) { return excess(std::min<double>(of.unrolled, kUnrolledPeak), of.least_peak()); }},
    {"unrolled_any",
     [](const Pressure& of, bool) {
       return excess(std::min<double>(of.unrolled_any, kUnrolledPeak),
                     std::max<double>(of.least_peak(), std::min<double>(of.unrolled, kUnrolledPeak)));
     }},
    // Of long code, what is computed once and kept: from 32 to 512 instructions.
    {"instructions",
     [](const Pressure& of, bool) {
       return std::clamp(std::log2(1.0 + of.instructions), kShortCode, kLongCode) - kShortCode;
     }},
    {"divisions", [](const Pressure& of, bool) { return at_most(of.divisions, 4); }},
    {"widest_load", [](const Pressure& of, bool) -> double { return of.widest_load; }},
}};

Result<RegisterTable> RegisterTable::read(std::string_view csv, const std::string& file) {
  const auto records = read_csv(csv, file);
  if (!records) return records.diagnostics();
  RegisterTable table;
  for (const CsvRecord& record : *records) {
    if (record.fields.front().starts_with('#')) continue;
    std::vector<double> numbers(record.fields.size() - 1);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!read_decimal(record.fields[i + 1], numbers[i]))
        return error_at(file, record.line, 0, fmt::format("`{}` is no number", record.fields[i + 1]));
    if (record.fields.front() == "step" && numbers.size() == 3) {
      table.steps.push_back({static_cast<int>(numbers[0]), numbers[1], numbers[2]});
      continue;
    }
    const auto term =
        std::find_if(register_terms.begin(), register_terms.end(),
                     [&](const RegisterTerm& one) { return one.name == record.fields.front(); });
    if (term == register_terms.end() || numbers.size() != 1)
      return error_at(file, record.line, 0,
                      fmt::format("`{}` is no term, or has not one number", record.fields.front()));
    table.coefficients[static_cast<std::size_t>(term - register_terms.begin())] = numbers[0];
  }
  return table;
}

int RegisterTable::estimate(const Pressure& pressure, const KernelResources& resources) const {
  const bool bounded = resources.max_threads || resources.required_threads;
  double sum = 0;
  for (std::size_t t = 0; t < kRegisterTerms; ++t)
    sum += coefficients[t] * register_terms[t].value(pressure, bounded);
  if (pressure.calls) sum = std::max<double>(sum, kLeastWithCalls);
  const auto step = std::find_if(steps.begin(), steps.end(),
                                 [&](const Step& one) { return one.from <= sum && sum <= one.to; });
  const int registers =
      step != steps.end() ? step->registers : static_cast<int>(std::lround(std::min<double>(sum, kMost)));
  return std::clamp(registers, kLeast, limit_of(resources));
}

const RegisterTable& register_table() {
  static const RegisterTable table = [] {
    const EmbeddedFile& newest = register_tables[register_tables_count - 1];
    auto read = RegisterTable::read(newest.text, std::string(newest.name));
    return read ? std::move(*read) : RegisterTable();
  }();
  return table;
}

std::optional<int> registers_for_values(const Pressure& pressure, const KernelResources& resources) {
  const int registers = limit_of(resources) - kOwn;
  if (pressure.least_peak() <= registers) return std::nullopt;
  return registers;
}

}  // namespace warptime::machine
