#include "simulator/gpu/timing_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Fields;
using yaml::Node;
using yaml::Reader;
using Scaling = TimingFigure::Scaling;

constexpr double kLargestTiming = 1e15;  // beyond it is a typing error

constexpr std::array<TimingFigure, 92> kTimingFigures = {{
    {"l1_latency_cycles", "cycles", "a load that hits L1", Scaling::same, &TimingFigures::l1_latency_cycles},
    {"l1_indexed_latency_cycles", "cycles", "i = a[i] in L1: the load and the computation of its address",
     Scaling::same, &TimingFigures::l1_indexed_latency_cycles},
    {"l2_latency_cycles", "cycles", "a load that hits L2 (4 MiB)", Scaling::same,
     &TimingFigures::l2_latency_cycles},
    {"memory_latency_cycles", "cycles", "a load from memory, 256 MiB in random order", Scaling::clock,
     &TimingFigures::memory_latency_cycles},
    {"memory_large_latency_cycles", "cycles", "a load from memory, 1 GiB in random order", Scaling::clock,
     &TimingFigures::memory_large_latency_cycles},
    {"memory_cold_latency_cycles", "cycles", "a load of a line that is in no cache, 64 MiB", Scaling::clock,
     &TimingFigures::memory_cold_latency_cycles},
    {"store_load_latency_cycles", "cycles",
     "a warp's load of what it has just stored, a line that is not in L1", Scaling::same,
     &TimingFigures::store_load_latency_cycles},
    {"store_load_l1_latency_cycles", "cycles", "the same of a line that is in L1", Scaling::same,
     &TimingFigures::store_load_l1_latency_cycles},
    {"constant_latency_cycles", "cycles", "a constant load, by an index that a load gave", Scaling::same,
     &TimingFigures::constant_latency_cycles},
    {"global_atomic_latency_cycles", "cycles", "an atomic on global memory that returns a value",
     Scaling::same, &TimingFigures::global_atomic_latency_cycles},
    {"shared_atomic_latency_cycles", "cycles", "an atomic on shared memory that returns a value",
     Scaling::same, &TimingFigures::shared_atomic_latency_cycles},
    {"shared_latency_cycles", "cycles", "a shared load without conflict", Scaling::same,
     &TimingFigures::shared_latency_cycles},
    {"shared_indexed_latency_cycles", "cycles",
     "i = a[i] in shared memory: the load and the computation of its address", Scaling::same,
     &TimingFigures::shared_indexed_latency_cycles},
    {"shared_latency_2_ways_cycles", "cycles", "a shared load with a 2-way bank conflict", Scaling::same,
     &TimingFigures::shared_latency_2_ways_cycles},
    {"shared_latency_4_ways_cycles", "cycles", "a shared load with a 4-way bank conflict", Scaling::same,
     &TimingFigures::shared_latency_4_ways_cycles},
    {"shared_latency_8_ways_cycles", "cycles", "a shared load with a 8-way bank conflict", Scaling::same,
     &TimingFigures::shared_latency_8_ways_cycles},
    {"shared_latency_16_ways_cycles", "cycles", "a shared load with a 16-way bank conflict", Scaling::same,
     &TimingFigures::shared_latency_16_ways_cycles},
    {"shared_latency_32_ways_cycles", "cycles", "a shared load with a 32-way bank conflict", Scaling::same,
     &TimingFigures::shared_latency_32_ways_cycles},
    {"fma_f32_latency_cycles", "cycles", "fma.rn.f32, each waits for the one before", Scaling::same,
     &TimingFigures::fma_f32_latency_cycles},
    {"fma_f32_issue_cycles", "cycles", "fma.rn.f32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::fma_f32_issue_cycles},
    {"add_s32_latency_cycles", "cycles", "add.s32 and xor.b32, alternating, each waits for the one before",
     Scaling::same, &TimingFigures::add_s32_latency_cycles},
    {"add_s32_issue_cycles", "cycles", "add.s32 and xor.b32, alternating, of a partition with 8 warps",
     Scaling::same, &TimingFigures::add_s32_issue_cycles},
    {"mad_s32_latency_cycles", "cycles", "mad.lo.s32, each waits for the one before", Scaling::same,
     &TimingFigures::mad_s32_latency_cycles},
    {"mad_s32_issue_cycles", "cycles", "mad.lo.s32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::mad_s32_issue_cycles},
    {"fma_f64_latency_cycles", "cycles", "fma.rn.f64, each waits for the one before", Scaling::same,
     &TimingFigures::fma_f64_latency_cycles},
    {"fma_f64_issue_cycles", "cycles", "fma.rn.f64, of a partition with 8 warps", Scaling::same,
     &TimingFigures::fma_f64_issue_cycles},
    {"div_f32_latency_cycles", "cycles", "div.rn.f32, each waits for the one before", Scaling::same,
     &TimingFigures::div_f32_latency_cycles},
    {"div_f32_issue_cycles", "cycles", "div.rn.f32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::div_f32_issue_cycles},
    {"sqrt_f32_latency_cycles", "cycles", "sqrt.rn.f32, each waits for the one before", Scaling::same,
     &TimingFigures::sqrt_f32_latency_cycles},
    {"sqrt_f32_issue_cycles", "cycles", "sqrt.rn.f32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::sqrt_f32_issue_cycles},
    {"rcp_f32_latency_cycles", "cycles", "rcp.approx.ftz.f32, each waits for the one before", Scaling::same,
     &TimingFigures::rcp_f32_latency_cycles},
    {"rcp_f32_issue_cycles", "cycles", "rcp.approx.ftz.f32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::rcp_f32_issue_cycles},
    {"ex2_f32_latency_cycles", "cycles", "ex2.approx.ftz.f32, each waits for the one before", Scaling::same,
     &TimingFigures::ex2_f32_latency_cycles},
    {"ex2_f32_issue_cycles", "cycles", "ex2.approx.ftz.f32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::ex2_f32_issue_cycles},
    {"sin_f32_latency_cycles", "cycles", "sin.approx.ftz.f32, each waits for the one before", Scaling::same,
     &TimingFigures::sin_f32_latency_cycles},
    {"sin_f32_issue_cycles", "cycles", "sin.approx.ftz.f32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::sin_f32_issue_cycles},
    {"div_s32_latency_cycles", "cycles", "div.s32, each waits for the one before", Scaling::same,
     &TimingFigures::div_s32_latency_cycles},
    {"div_s32_issue_cycles", "cycles", "div.s32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::div_s32_issue_cycles},
    {"div_s64_latency_cycles", "cycles",
     "div.s64, a dividend of more than 32 bits, each waits for the one before", Scaling::same,
     &TimingFigures::div_s64_latency_cycles},
    {"div_s64_issue_cycles", "cycles",
     "div.s64, a dividend of more than 32 bits, of a partition with 8 warps", Scaling::same,
     &TimingFigures::div_s64_issue_cycles},
    {"convert_latency_cycles", "cycles", "cvt between f32 and s32, each waits for the one before",
     Scaling::same, &TimingFigures::convert_latency_cycles},
    {"convert_issue_cycles", "cycles", "cvt between f32 and s32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::convert_issue_cycles},
    {"shuffle_latency_cycles", "cycles", "shfl.sync.bfly.b32, each waits for the one before", Scaling::same,
     &TimingFigures::shuffle_latency_cycles},
    {"shuffle_issue_cycles", "cycles", "shfl.sync.bfly.b32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::shuffle_issue_cycles},
    {"vote_latency_cycles", "cycles", "setp.ne.u32 and vote.sync.ballot.b32, each waits for the one before",
     Scaling::same, &TimingFigures::vote_latency_cycles},
    {"vote_issue_cycles", "cycles", "setp.ne.u32 and vote.sync.ballot.b32, of a partition with 8 warps",
     Scaling::same, &TimingFigures::vote_issue_cycles},
    {"popc_latency_cycles", "cycles", "popc.b32, each waits for the one before", Scaling::same,
     &TimingFigures::popc_latency_cycles},
    {"popc_issue_cycles", "cycles", "popc.b32, of a partition with 8 warps", Scaling::same,
     &TimingFigures::popc_issue_cycles},
    {"shared_load_cycles", "cycles", "a shared load without conflict", Scaling::same,
     &TimingFigures::shared_load_cycles},
    {"shared_load_32_ways_cycles", "cycles", "a shared load with a 32-way bank conflict", Scaling::same,
     &TimingFigures::shared_load_32_ways_cycles},
    {"l1_coalesced_load_cycles", "cycles", "a load that hits L1: one line of 128 bytes", Scaling::same,
     &TimingFigures::l1_coalesced_load_cycles},
    {"l1_strided_load_cycles", "cycles", "a load that hits L1: two lines, every other word", Scaling::same,
     &TimingFigures::l1_strided_load_cycles},
    {"l1_scattered_load_cycles", "cycles", "a load that hits L1: 32 lines", Scaling::same,
     &TimingFigures::l1_scattered_load_cycles},
    {"shared_atomic_one_address_cycles", "cycles", "a shared atomic of a warp at one address", Scaling::same,
     &TimingFigures::shared_atomic_one_address_cycles},
    {"barrier_32_cycles", "cycles", "a barrier of 32 threads", Scaling::same,
     &TimingFigures::barrier_32_cycles},
    {"barrier_64_cycles", "cycles", "a barrier of 64 threads", Scaling::same,
     &TimingFigures::barrier_64_cycles},
    {"barrier_128_cycles", "cycles", "a barrier of 128 threads", Scaling::same,
     &TimingFigures::barrier_128_cycles},
    {"barrier_256_cycles", "cycles", "a barrier of 256 threads", Scaling::same,
     &TimingFigures::barrier_256_cycles},
    {"barrier_512_cycles", "cycles", "a barrier of 512 threads", Scaling::same,
     &TimingFigures::barrier_512_cycles},
    {"barrier_1024_cycles", "cycles", "a barrier of 1024 threads", Scaling::same,
     &TimingFigures::barrier_1024_cycles},
    {"block_starts_32_per_us", "1/µs", "blocks of 32 threads", Scaling::clock,
     &TimingFigures::block_starts_32_per_us},
    {"block_starts_32_many_registers_per_us", "1/µs", "blocks of 32 threads of 64 registers", Scaling::clock,
     &TimingFigures::block_starts_32_many_registers_per_us},
    {"block_starts_128_per_us", "1/µs", "blocks of 128 threads", Scaling::clock,
     &TimingFigures::block_starts_128_per_us},
    {"block_starts_128_many_registers_per_us", "1/µs", "blocks of 128 threads of 64 registers",
     Scaling::clock, &TimingFigures::block_starts_128_many_registers_per_us},
    {"block_starts_256_per_us", "1/µs", "blocks of 256 threads", Scaling::clock,
     &TimingFigures::block_starts_256_per_us},
    {"block_starts_256_many_registers_per_us", "1/µs", "blocks of 256 threads of 64 registers",
     Scaling::clock, &TimingFigures::block_starts_256_many_registers_per_us},
    {"block_starts_1024_per_us", "1/µs", "blocks of 1024 threads", Scaling::clock,
     &TimingFigures::block_starts_1024_per_us},
    {"block_starts_1024_many_registers_per_us", "1/µs", "blocks of 1024 threads of 64 registers",
     Scaling::clock, &TimingFigures::block_starts_1024_many_registers_per_us},
    {"empty_kernel_us", "µs", "the duration of an empty kernel, as profilers report it", Scaling::same,
     &TimingFigures::empty_kernel_us},
    {"small_kernel_us", "µs",
     "the duration of a kernel of one block of 256 threads per SM, each of which loads a value from L2 and "
     "stores one",
     Scaling::same, &TimingFigures::small_kernel_us},
    {"one_block_kernel_us", "µs", "the same with one block alone", Scaling::same,
     &TimingFigures::one_block_kernel_us},
    {"all_sms_us", "µs",
     "what a kernel of four loads one after the other takes longer with one block of 256 threads per SM than "
     "with one "
     "block alone",
     Scaling::same, &TimingFigures::all_sms_us},
    {"launch_gap_us", "µs", "from a kernel's end to the start of the next one in its stream", Scaling::same,
     &TimingFigures::launch_gap_us},
    {"launch_us", "µs", "an empty kernel, launched back to back", Scaling::same, &TimingFigures::launch_us},
    {"event_launch_us", "µs", "an empty kernel between two events", Scaling::same,
     &TimingFigures::event_launch_us},
    {"memory_read_bytes_per_us", "bytes/µs", "reads of memory", Scaling::memory_bandwidth,
     &TimingFigures::memory_read_bytes_per_us},
    {"memory_write_bytes_per_us", "bytes/µs", "writes to memory", Scaling::memory_bandwidth,
     &TimingFigures::memory_write_bytes_per_us},
    {"memory_copy_bytes_per_us", "bytes/µs", "a copy within memory: bytes read and written",
     Scaling::memory_bandwidth, &TimingFigures::memory_copy_bytes_per_us},
    {"l2_read_bytes_per_us", "bytes/µs", "reads that hit L2", Scaling::sm_cycles,
     &TimingFigures::l2_read_bytes_per_us},
    {"l2_write_bytes_per_us", "bytes/µs", "writes that stay in L2", Scaling::sm_cycles,
     &TimingFigures::l2_write_bytes_per_us},
    {"memory_read_1_warp_bytes_per_us", "bytes/µs",
     "reads of memory, 1 warp per SM, each with 4 loads of 128 bytes in flight", Scaling::memory_bandwidth,
     &TimingFigures::memory_read_1_warp_bytes_per_us},
    {"memory_read_4_warps_bytes_per_us", "bytes/µs",
     "reads of memory, 4 warps per SM, each with 4 loads of 128 bytes in flight", Scaling::memory_bandwidth,
     &TimingFigures::memory_read_4_warps_bytes_per_us},
    {"memory_read_16_warps_bytes_per_us", "bytes/µs",
     "reads of memory, 16 warps per SM, each with 4 loads of 128 bytes in flight", Scaling::memory_bandwidth,
     &TimingFigures::memory_read_16_warps_bytes_per_us},
    {"memory_read_1_sm_bytes_per_us", "bytes/µs", "reads of memory by one SM", Scaling::clock,
     &TimingFigures::memory_read_1_sm_bytes_per_us},
    {"l2_read_1_sm_bytes_per_us", "bytes/µs", "reads that hit L2 by one SM", Scaling::clock,
     &TimingFigures::l2_read_1_sm_bytes_per_us},
    {"l1_read_bytes_per_cycle", "bytes/cycle", "loads of 16 bytes per thread that hit L1, of one SM",
     Scaling::same, &TimingFigures::l1_read_bytes_per_cycle},
    {"atomic_one_address_per_us", "1/µs", "all threads at one address", Scaling::clock,
     &TimingFigures::atomic_one_address_per_us},
    {"atomic_warp_address_per_us", "1/µs", "each warp at an address of its own", Scaling::sm_cycles,
     &TimingFigures::atomic_warp_address_per_us},
    {"atomic_own_address_per_us", "1/µs", "each thread at an address of its own", Scaling::sm_cycles,
     &TimingFigures::atomic_own_address_per_us},
    {"l1_capacity_bytes", "bytes", "L1, without shared memory in use", Scaling::shared_bytes,
     &TimingFigures::l1_capacity_bytes},
    {"l2_capacity_bytes", "bytes", "L2, as one SM sees it", Scaling::l2_bytes,
     &TimingFigures::l2_capacity_bytes},
    {"measured_clock_mhz", "MHz", "cycles of the SM over the time of events", Scaling::never,
     &TimingFigures::measured_clock_mhz},
}};

std::vector<std::string> known_timing_fields() {
  std::vector<std::string> fields = {"source", "date"};
  for (const TimingFigure& figure : kTimingFigures) fields.emplace_back(figure.name);
  return fields;
}

// 2026-11-22
bool is_date(std::string_view text) {
  constexpr std::string_view pattern = "dddd-dd-dd";
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(), [](char c, char wanted) {
    return wanted == 'd' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == wanted;
  });
}

class TimingReader {
 public:
  TimingReader(Reader& reader, const Node& section, TimingOrigins& origins)
      : reader_(reader), fields_(reader, section, known_timing_fields(), "`timing`"), origins_(origins) {}

  TimingFigures read() {
    source_ = source_in(fields_, "timing");
    date_ = date_in(fields_);
    TimingFigures figures;
    for (const TimingFigure& figure : kTimingFigures)
      if (const Node* node = fields_.find(figure.name)) figures.*figure.member = value_of(figure, *node);
    return figures;
  }

 private:
  std::string source_in(const Fields& fields, std::string_view of) {
    const Node* node = fields.find("source");
    if (node == nullptr) return {};
    std::string text = reader_.text(*node, "`source`");
    if (text.empty()) reader_.error(*node, fmt::format("the source of `{}` is empty", of));
    return text;
  }

  std::string date_in(const Fields& fields) {
    const Node* node = fields.find("date");
    if (node == nullptr) return {};
    std::string text = reader_.text(*node, "`date`");
    if (!is_date(text)) reader_.error(*node, "`date` must be written like 2026-11-22");
    return text;
  }

  std::optional<double> value_of(const TimingFigure& figure, const Node& node) {
    const std::string what = fmt::format("`{}`", figure.name);
    if (node.kind == Node::Kind::scalar) {
      reader_.error(node, fmt::format("{} is not a mapping with `value`", what),
                    fmt::format("{}: {{value: {}}}", figure.name, node.text));
      return std::nullopt;
    }
    Fields parts(reader_, node, {"value", "spread", "date", "source"}, what);
    TimingOrigin origin;
    origin.source = source_in(parts, figure.name);
    if (origin.source.empty()) origin.source = source_;
    if (origin.source.empty())
      reader_.error(node, fmt::format("{} has no source", what),
                    "give it a `source`, or the section `timing` one for all of its figures");
    origin.date = date_in(parts);
    if (origin.date.empty()) origin.date = date_;
    if (const Node* spread = parts.find("spread")) {
      origin.spread = reader_.number(*spread, "`spread`");
      if (origin.spread && *origin.spread < 0)
        reader_.error(*spread, fmt::format("`spread` is negative: {}", *origin.spread));
    }
    const Node* number = parts.require("value");
    if (number == nullptr) return std::nullopt;
    const auto value = reader_.number(*number, what);
    if (!value) return std::nullopt;
    if (const std::string wrong = out_of_range(figure, *value); !wrong.empty()) reader_.error(*number, wrong);
    origins_[std::string(figure.name)] = origin;
    return value;
  }

  Reader& reader_;
  Fields fields_;
  TimingOrigins& origins_;
  std::string source_, date_;  // of the section
};

}  // namespace

std::span<const TimingFigure> timing_figures() {
  return kTimingFigures;
}

const TimingFigure* find_timing_figure(std::string_view name) {
  const auto found = std::find_if(kTimingFigures.begin(), kTimingFigures.end(),
                                  [&](const TimingFigure& figure) { return figure.name == name; });
  return found == kTimingFigures.end() ? nullptr : &*found;
}

std::string out_of_range(const TimingFigure& figure, double value) {
  if (value > 0 && value <= kLargestTiming) return {};
  return fmt::format("`{}` is {}: it must be greater than 0 and at most {}", figure.name, value,
                     kLargestTiming);
}

TimingFigures read_timing_figures(Reader& reader, const Node& section, TimingOrigins& origins) {
  return TimingReader(reader, section, origins).read();
}

std::string to_yaml(const TimingFigures& figures, const TimingOrigins& origins) {
  // The source and date of the first figure are the section's.
  const TimingOrigin* common = nullptr;
  std::string text;
  for (const TimingFigure& figure : kTimingFigures) {
    const auto value = figures.*figure.member;
    const auto found = origins.find(figure.name);
    if (!value || found == origins.end() || !found->second.borrowed_from.empty()) continue;
    const TimingOrigin& origin = found->second;
    if (common == nullptr) {
      common = &origin;
      text += fmt::format("timing:\n  source: {}\n", yaml::scalar(origin.source));
      if (!origin.date.empty()) text += fmt::format("  date: {}\n", origin.date);
    }
    text += fmt::format("  {}: {{value: {}", figure.name, *value);
    if (origin.spread) text += fmt::format(", spread: {}", *origin.spread);
    if (origin.date != common->date) text += fmt::format(", date: {}", origin.date);
    if (origin.source != common->source)
      text += fmt::format(", source: {}", yaml::scalar(origin.source, true));
    text += "}\n";
  }
  return text;
}

}  // namespace warptime
