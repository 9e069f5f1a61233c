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

constexpr int kLeast = 4;            // of an empty kernel
constexpr int kLeastWithCalls = 24;  // those that a function may use without saving them
constexpr int kMost = 255;           // of a thread
constexpr int kOwn = 2;              // that hold no value: the stack pointer, an address that is computed
constexpr int kOfBlocks = 65'536;    // registers of an SM
constexpr int kUnit = 8;             // in which a warp's registers are allocated
constexpr int kWarp = 32;            // threads
constexpr int kLeastOfBounds = 16;   // ptxas refuses to use fewer
constexpr int kAllWarps = 32;        // registers of a thread with which an SM holds all of its warps
constexpr int kBesideLeast = 5, kBesideScheduled = 3;  // registers, in the mean

double scheduled(const Pressure& of, Schedule schedule) {
  return of.scheduled[static_cast<std::size_t>(schedule)];
}
// What another order needs beside that of the list scheduler.
double beside(const Pressure& of, double registers) {
  return registers - scheduled(of, Schedule::of_40);
}
double loads_first(const Pressure& of) {
  return of.peak[static_cast<std::size_t>(Order::loads_first)];
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

#define TERM(name, what)                                                            \
  {                                                                                 \
    name, [](const Pressure& of, const KernelResources&) -> double { return what; } \
  }

const std::array<RegisterTerm, kRegisterTerms> register_terms = {{
    TERM("least", of.least),
    TERM("loads_first", loads_first(of)),
    TERM("unrolled", of.unrolled),
    TERM("unrolled_any", of.unrolled_any),
    TERM("at_entry", of.at_entry),
    TERM("widest_load", of.widest_load),
    TERM("divisions", of.divisions),
    TERM("instructions", of.instructions),
    TERM("longest_block", of.longest_block),
    TERM("loads", of.loads),
    TERM("stores", of.stores),
    TERM("slow_paths", of.slow_paths),
    TERM("barriers", of.barriers),
    TERM("scheduled_14", scheduled(of, Schedule::of_14)),
    TERM("scheduled_24", scheduled(of, Schedule::of_24)),
    TERM("scheduled_40", scheduled(of, Schedule::of_40)),
    TERM("scheduled_all", scheduled(of, Schedule::of_all)),
    TERM("scheduled_free", scheduled(of, Schedule::of_40_free)),
    TERM("scheduled_loop", scheduled(of, Schedule::of_40_loop)),
    TERM("beside_least", beside(of, of.least)),
    TERM("beside_loads_first", beside(of, loads_first(of))),
    TERM("beside_unrolled", beside(of, of.unrolled)),
    TERM("beside_unrolled_any", beside(of, of.unrolled_any)),
    TERM("beside_at_entry", beside(of, of.at_entry)),
    TERM("beside_14", beside(of, scheduled(of, Schedule::of_14))),
    TERM("beside_24", beside(of, scheduled(of, Schedule::of_24))),
    TERM("beside_all", beside(of, scheduled(of, Schedule::of_all))),
    TERM("beside_free", beside(of, scheduled(of, Schedule::of_40_free))),
    TERM("beside_loop", beside(of, scheduled(of, Schedule::of_40_loop))),
    // With launch bounds ptxas aims at their limit, not at the most warps.
    {"threads",
     [](const Pressure&, const KernelResources& of)
         -> double { return of.required_threads.value_or(of.max_threads.value_or(0)); }},
}};

#undef TERM

double first_guess(const Pressure& pressure) {
  return std::max<double>(
      pressure.least + kBesideLeast,
      std::min<double>(scheduled(pressure, Schedule::of_40) + kBesideScheduled, kAllWarps));
}

namespace {

// Reads what is below a place of a tree, from `record` on.
class TreeReader {
 public:
  TreeReader(const std::vector<CsvRecord>& records, RegisterTable& table)
      : records_(records), table_(table) {}

  // The record behind it; nothing: there is no such tree.
  bool read(std::size_t& record) {
    if (record == records_.size()) return false;
    const auto& fields = records_[record++].fields;
    const std::size_t own = table_.nodes.size();
    RegisterTable::Node node;
    if (!read_decimal(fields.back(), node.number)) return false;
    table_.nodes.push_back(node);
    if (fields.front() == "leaf" && fields.size() == 2) return true;
    if (fields.front() != "split" || fields.size() != 3) return false;
    const auto term = std::find_if(register_terms.begin(), register_terms.end(),
                                   [&](const RegisterTerm& one) { return one.name == fields[1]; });
    if (term == register_terms.end()) return false;
    table_.nodes[own].term = static_cast<std::size_t>(term - register_terms.begin());
    if (!read(record)) return false;
    table_.nodes[own].beyond = table_.nodes.size();
    return read(record);
  }

 private:
  const std::vector<CsvRecord>& records_;
  RegisterTable& table_;
};

}  // namespace

Result<RegisterTable> RegisterTable::read(std::string_view csv, const std::string& file) {
  const auto records = read_csv(csv, file);
  if (!records) return records.diagnostics();
  RegisterTable table;
  TreeReader trees(*records, table);
  for (std::size_t r = 0; r < records->size();) {
    const CsvRecord& record = (*records)[r++];
    if (record.fields.front().starts_with('#')) continue;
    Step step;
    double registers = 0;
    if (record.fields.front() == "tree") {
      table.trees.push_back(table.nodes.size());
      if (!trees.read(r))
        return error_at(file, (*records)[r - 1].line, 0,
                        "no term of a split, or no number, or the tree has no end");
    } else if (record.fields.front() == "step" && record.fields.size() == 4 &&
               read_decimal(record.fields[1], registers) && read_decimal(record.fields[2], step.from) &&
               read_decimal(record.fields[3], step.to)) {
      step.registers = static_cast<int>(registers);
      table.steps.push_back(step);
    } else {
      return error_at(file, record.line, 0,
                      fmt::format("`{}` is no tree and no step", record.fields.front()));
    }
  }
  return table;
}

double RegisterTable::sum(const Pressure& pressure, const KernelResources& resources) const {
  double sum = first_guess(pressure);
  for (std::size_t place : trees) {
    while (nodes[place].term != kRegisterTerms)
      place = register_terms[nodes[place].term].value(pressure, resources) <= nodes[place].number
                  ? place + 1
                  : nodes[place].beyond;
    sum += nodes[place].number;
  }
  return sum;
}

int RegisterTable::estimate(const Pressure& pressure, const KernelResources& resources) const {
  double all = sum(pressure, resources);
  if (pressure.calls) all = std::max<double>(all, kLeastWithCalls);
  const auto step = std::find_if(steps.begin(), steps.end(),
                                 [&](const Step& one) { return one.from <= all && all <= one.to; });
  const int registers =
      step != steps.end() ? step->registers : static_cast<int>(std::lround(std::min<double>(all, kMost)));
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
  if (pressure.least <= registers) return std::nullopt;
  return registers;
}

}  // namespace warptime::machine
