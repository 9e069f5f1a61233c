// Where a row's time goes by line, what it asks each level of memory for there, and what changes would gain.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "simulator/model/extended/divergence.h"
#include "simulator/model/extended/extended_model.h"
#include "simulator/model/extended/extended_parts.h"
#include "simulator/model/extended/program_changes.h"
#include "simulator/model/units.h"
#include "simulator/sm/memory_levels.h"

namespace warptime {
namespace {

constexpr double kWorthTrying = 0.01;              // of the time: a line that takes less is not changed
constexpr double kWorthClaiming = 0.01;            // of the time
constexpr std::size_t kMostChangedLines = 3;       // for each kind of change
constexpr std::size_t kMostChangedLaunches = 100;  // of a row: with more, no changes are tried

struct LimitName {
  std::string_view key, title;
};
// In the order of SmWait; pipes, what is on the chip, and the tail are apart.
constexpr std::array<LimitName, kSmWaits> kLimitNames = {{
    {key_of(SmWait::issue), "instructions that are issued"},
    {key_of(SmWait::pipe), "a busy pipe"},
    {key_of(SmWait::chain), "latency of calculation: chains of results"},
    {key_of(SmWait::on_chip), "L1, shared memory, constants"},
    {key_of(SmWait::l2), "L2's bandwidth"},
    {key_of(SmWait::memory), "the memory's bandwidth"},
    {key_of(SmWait::latency), "latency of L2 and memory: too few loads under way"},
    {key_of(SmWait::atomic), "atomics on one address"},
    {key_of(SmWait::barrier), "barriers: the block's other warps"},
    {key_of(SmWait::blocks), "starts of blocks"},
}};
constexpr std::array<LimitName, kPipes> kPipeNames = {{
    {"alu_pipe", "the ALU pipe"},
    {"fma_pipe", "the FMA pipes"},
    {"fp64_pipe", "the FP64 pipe"},
    {"fp16_pipe", "the FP16 pipe"},
    {"xu_pipe", "the XU pipe"},
    {"lsu_pipe", "the LSU pipe"},
    {"tex_pipe", "the TEX pipe"},
    {"tensor_pipe", "the tensor pipe"},
    {"uniform_pipe", "the uniform pipe"},
    {"adu_pipe", "the ADU pipe"},
    {"cbu_pipe", "the CBU pipe"},
    {"pipe", "a busy pipe"},
}};
constexpr std::array<LimitName, kChipWaits> kChipNames = {{
    {"l1", "L1"},
    {"shared_memory", "shared memory"},
    {"local_memory", "local memory in L1"},
    {"constants", "constants"},
    {"l1_queue", "the queue of L1 and shared memory"},
}};
constexpr LimitName kTail = {"tail", "the tail: waiting with fewer blocks, after others have ended"};

// cycle_us: of all launches.
void add_place(const LaunchPlace& place, double cycle_us, LineShare& to) {
  const auto add = [&](const LimitName& name, double cycles) {
    add_limit(to.limits, {name.key, name.title, cycle_us * cycles});
  };
  double tail = 0;
  for (std::size_t i = 0; i < kSmWaits; ++i) {
    to.us[part_of(static_cast<SmWait>(i))] += cycle_us * place.waits[i];
    tail += place.draining[i];
    if (static_cast<SmWait>(i) != SmWait::pipe && static_cast<SmWait>(i) != SmWait::on_chip)
      add(kLimitNames[i], place.waits[i] - place.draining[i]);
  }
  for (std::size_t i = 0; i < kPipes; ++i) add(kPipeNames[i], place.pipe_waits[i]);
  for (std::size_t i = 0; i < kChipWaits; ++i) add(kChipNames[i], place.chip_waits[i]);
  add(kTail, tail);
}

void add_traffic(const LaunchPlace& place, double times, LineShare& to) {
  if (place.requests == 0 && place.shared_ways == 0 && place.local_sectors == 0) return;
  if (!to.traffic) to.traffic.emplace();
  LineTraffic& traffic = *to.traffic;
  traffic.requests += times * place.requests;
  traffic.sectors += times * place.sectors;
  traffic.least_sectors += times * place.least_sectors;
  traffic.load_sectors += times * place.load_sectors;
  traffic.load_hits += times * place.load_hits;
  traffic.local_sectors += times * place.local_sectors;
  traffic.local_hits += times * place.local_hits;
  traffic.l2_bytes += times * place.l2_bytes;
  traffic.memory_bytes += times * place.memory_bytes;
  traffic.shared_ways += times * place.shared_ways;
  traffic.shared_least_ways += times * place.shared_least_ways;
}

// Predicts a row with changed programs.
class ChangedRow {
 public:
  explicit ChangedRow(const ExplainedRow& row, const Model& model)
      : row_(row), session_(model.session(row.options)) {
    session_->start(*row.gpu, 1);
  }

  // With `program` in place of that of all launches of `kernel`. Nothing: it has no time.
  std::optional<double> time_us(const std::string& kernel, const KernelProgram& program) {
    const auto run = session_->launch_run();
    if (!run) return std::nullopt;
    LaunchQueue before(run->overheads), after(run->overheads);
    const WarpProgram warp_program(program);
    for (const ExplainedLaunch& launch : row_.launches) {
      const double kernel_us = launch.time.us[run->kernel_part];
      before.add(kernel_us, launch.times);
      if (launch.kernel != kernel) {
        after.add(kernel_us, launch.times);
        continue;
      }
      LaunchOnGpu whole = *launch.whole;
      whole.program = &program;
      whole.known_runs = nullptr;  // they are of the program as it is
      const auto warps = warp_program.launch(whole.values, whole.size, whole.shares, whole_launch_options());
      if (!warps) return std::nullopt;
      whole.warps = &*warps;
      whole.occupancy =
          occupancy(*whole.gpu, launch.shape.threads_per_block, resources_of(program, launch.shared_bytes));
      if (whole.occupancy.active_blocks < 1) return std::nullopt;
      ModelLaunch changed;
      changed.shape = launch.shape;
      changed.whole = &whole;
      Diagnostics why;
      const TimeBreakdown* time = session_->time(0, changed, why);
      if (time == nullptr) return std::nullopt;
      after.add(time->us[run->kernel_part], launch.times);
    }
    return row_.total_us + after.total_us() - before.total_us();
  }

 private:
  const ExplainedRow& row_;
  std::unique_ptr<ModelSession> session_;
};

class ExtendedClaims {
 public:
  ExtendedClaims(const ExplainedRow& row, std::span<const LineShare> lines, const Model& model)
      : row_(row), lines_(lines), changed_(row, model) {}

  std::vector<Claim> all() {
    if (row_.launches.size() > kMostChangedLaunches) return {};
    coalesced();
    no_conflicts();
    no_local_memory();
    fewer_loads();
    for (const std::string& kernel : kernels()) no_divergence(*find(kernel));
    for (const std::string& kernel : kernels()) {
      const ExplainedLaunch& launch = *find(kernel);
      more_blocks(launch);
      single_precision(launch);
    }
    std::stable_sort(claims_.begin(), claims_.end(),
                     [](const Claim& a, const Claim& b) { return *a.time_us < *b.time_us; });
    if (auto said = traffic()) claims_.insert(claims_.begin(), std::move(*said));
    return std::move(claims_);
  }

 private:
  using Change = std::function<std::optional<KernelProgram>(const KernelProgram&, const std::string&)>;

  const ExplainedLaunch* find(const std::string& kernel) const {
    for (const ExplainedLaunch& launch : row_.launches)
      if (launch.kernel == kernel) return &launch;
    return nullptr;
  }

  std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (const ExplainedLaunch& launch : row_.launches)
      if (std::find(names.begin(), names.end(), launch.kernel) == names.end()) names.push_back(launch.kernel);
    return names;
  }

  // Of the line that asks L1 for most.
  std::optional<Claim> traffic() const {
    const auto most =
        lines_by([](const LineShare& line) { return line.traffic ? line.traffic->load_sectors : 0; });
    if (most.empty()) return std::nullopt;
    const LineTraffic& of = *most.front()->traffic;
    Claim claim;
    claim.kind = Claim::Kind::traffic;
    claim.text = fmt::format(
        "{}: {:.0f}% of the L1 sectors of loads at {} hit; sectors per request: {:.3g} ({:.3g} without gaps)",
        most.front()->kernel, 100 * of.load_hits / of.load_sectors, most.front()->where,
        of.sectors / of.requests, of.least_sectors / of.requests);
    return claim;
  }

  static double limit_of(const LineShare& line, std::string_view key) {
    double us = 0;
    for (const Limit& limit : line.limits)
      if (limit.key == key) us += limit.us;
    return us;
  }

  // Says what `what` gives, if that is worth it.
  bool claim(Claim::Kind kind, const ExplainedLaunch& launch, const LineSet& lines,
             std::optional<KernelProgram> program, const std::string& what) {
    if (!program) return false;
    const auto time = changed_.time_us(launch.kernel, *program);
    if (!time || !(*time < (1 - kWorthClaiming) * row_.total_us)) return false;
    Claim& claim = claims_.emplace_back();
    claim.kind = kind;
    claim.kernel = launch.kernel;
    claim.lines = lines;
    claim.text = fmt::format("{}: {}: {}, {} less", launch.kernel, what, time_text(*time),
                             percent_text(1 - *time / row_.total_us));
    claim.time_us = *time;
    claim.program = std::make_shared<const KernelProgram>(std::move(*program));
    claim.launch = launch.of;
    return true;
  }

  // Of the lines that `of` gives a weight above 0, those of most weight.
  std::vector<const LineShare*> lines_by(const std::function<double(const LineShare&)>& of) const {
    std::vector<std::pair<double, const LineShare*>> weighed;
    for (const LineShare& line : lines_)
      if (const double weight = of(line); weight > 0) weighed.emplace_back(weight, &line);
    std::stable_sort(weighed.begin(), weighed.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const LineShare*> found;
    for (const auto& [weight, line] : weighed)
      if (found.size() < kMostChangedLines) found.push_back(line);
    return found;
  }

  void coalesced() {
    constexpr double many = 1.5;  // times the least
    constexpr std::int64_t shortest_row = 8;
    for (const LineShare* line : lines_by([](const LineShare& one) {
           return one.traffic && one.traffic->sectors > many * one.traffic->least_sectors
                      ? one.traffic->sectors - one.traffic->least_sectors
                      : 0;
         })) {
      const ExplainedLaunch& launch = *find(line->kernel);
      // Threads of a warp whose threadIdx.y and .z are the same.
      const std::int64_t row = std::gcd(launch.whole->size.block[0], static_cast<std::int64_t>(kLanes));
      if (row < shortest_row) continue;
      const LineTraffic& traffic = *line->traffic;
      claim(Claim::Kind::coalesced, launch, line->lines,
            with_coalesced_accesses(*launch.whole->program, line->where, row),
            fmt::format(
                "if the threads of a warp accessed neighbouring elements at {} ({:.3g} sectors a request in "
                "place of {:.3g})",
                line->where, traffic.least_sectors / traffic.requests, traffic.sectors / traffic.requests));
    }
  }

  void no_conflicts() {
    for (const LineShare* line : lines_by([](const LineShare& one) {
           return one.traffic ? one.traffic->shared_ways - one.traffic->shared_least_ways : 0;
         })) {
      const ExplainedLaunch& launch = *find(line->kernel);
      claim(Claim::Kind::no_conflicts, launch, line->lines,
            without_bank_conflicts(*launch.whole->program, line->where),
            fmt::format("without bank conflicts of shared memory at {} ({:.3g} ways now)", line->where,
                        line->traffic->shared_ways / line->traffic->shared_least_ways));
    }
  }

  void no_local_memory() {
    for (const LineShare* line :
         lines_by([](const LineShare& one) { return one.traffic ? one.traffic->local_sectors : 0; })) {
      const ExplainedLaunch& launch = *find(line->kernel);
      claim(Claim::Kind::no_local_memory, launch, line->lines,
            without_local_memory(*launch.whole->program, line->where),
            fmt::format("with the local memory of {} in registers", line->where));
    }
  }

  void no_divergence(const ExplainedLaunch& launch) {
    const Divergence found = divergence_of(*launch.whole);
    claim(Claim::Kind::no_divergence, launch, found.lines,
          without_divergence(*launch.whole->program, found.shares),
          fmt::format(
              "if the threads of each warp took the same side of its branches ({:.3g} of {} execute {})",
              found.threads, kLanes, found.where));
  }

  void fewer_loads() {
    for (const LineShare* line : lines_by([&](const LineShare& one) {
           const bool loads = one.traffic && one.traffic->load_sectors > 0;
           return loads && one.total_us() > kWorthTrying * row_.total_us ? one.total_us() : 0;
         })) {
      const ExplainedLaunch& launch = *find(line->kernel);
      claim(Claim::Kind::fewer_loads, launch, line->lines,
            without_every_second_load(*launch.whole->program, line->where),
            fmt::format("with half the loads of {}", line->where));
    }
  }

  // More blocks on an SM, by what limits them.
  void more_blocks(const ExplainedLaunch& launch) {
    const LaunchOnGpu& whole = *launch.whole;
    const Occupancy& now = whole.occupancy;
    KernelResources resources = resources_of(*whole.program, launch.shared_bytes);
    const auto with = [&](const KernelResources& of) {
      KernelProgram program = *whole.program;
      program.resources = of;
      return std::optional(std::move(program));
    };
    if (now.limit == Occupancy::Limit::registers && resources.registers_per_thread) {
      const int registers = *resources.registers_per_thread;
      while (--*resources.registers_per_thread > 0) {
        const Occupancy more = occupancy(*whole.gpu, launch.shape.threads_per_block, resources);
        if (more.active_blocks <= now.active_blocks) continue;
        claim(Claim::Kind::fewer_registers, launch, {}, with(resources),
              fmt::format(
                  "with at most {} registers a thread in place of {}, {} blocks are active on an SM in place "
                  "of {}",
                  *resources.registers_per_thread, registers, more.active_blocks, now.active_blocks));
        return;
      }
    }
    if (now.limit == Occupancy::Limit::shared_memory && resources.shared_bytes_static > 1) {
      const std::int64_t bytes = resources.shared_bytes_static;
      resources.shared_bytes_static /= 2;
      const Occupancy more = occupancy(*whole.gpu, launch.shape.threads_per_block, resources);
      if (more.active_blocks > now.active_blocks)
        claim(Claim::Kind::less_shared, launch, {}, with(resources),
              fmt::format(
                  "with {} bytes of static shared memory in place of {}, {} blocks are active on an SM in "
                  "place of {}",
                  resources.shared_bytes_static, bytes, more.active_blocks, now.active_blocks));
    }
  }

  void single_precision(const ExplainedLaunch& launch) {
    double us = 0;
    for (const LineShare& line : lines_)
      if (line.kernel == launch.kernel) us += limit_of(line, "fp64_pipe");
    if (us < kWorthTrying * row_.total_us) return;
    claim(Claim::Kind::single_precision, launch, {}, in_single_precision(*launch.whole->program),
          "with its double-precision instructions on the FMA pipes, as single precision");
  }

  const ExplainedRow& row_;
  std::span<const LineShare> lines_;
  ChangedRow changed_;
  std::vector<Claim> claims_;
};

}  // namespace

Result<std::vector<LineShare>> ExtendedModel::line_shares(const ExplainedRow& row) const {
  std::vector<LineShare> shares;
  std::map<std::pair<std::string, std::string>, std::size_t> by_place;
  for (const ExplainedLaunch& launch : row.launches) {
    std::vector<LaunchPlace> places;
    const auto levels = memory_levels(*launch.whole, row.options.caches, &places);
    if (!levels) return levels.diagnostics();
    const LaunchSize& size = launch.whole->size;
    const double warps = static_cast<double>(launch.shape.blocks * size.warps_per_block());
    for (const LaunchPlace& place : places) {
      const auto [known, fresh] = by_place.try_emplace({launch.kernel, place.where}, shares.size());
      if (fresh) {
        shares.emplace_back();
        shares.back().kernel = launch.kernel;
        shares.back().where = place.where;
        shares.back().lines = place.lines;
      }
      LineShare& share = shares[known->second];
      add_place(place, launch.times / row.gpu->gpu->clock_mhz, share);
      add_traffic(place, launch.times, share);
      share.accesses += launch.times * place.requests / warps;
    }
  }
  for (LineShare& share : shares) sort_longest_first(share.limits);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const LineShare& a, const LineShare& b) { return a.total_us() > b.total_us(); });
  return shares;
}

std::vector<Claim> ExtendedModel::claims(const ExplainedRow& row, std::span<const LineShare> lines) const {
  return ExtendedClaims(row, lines, *this).all();
}

}  // namespace warptime
