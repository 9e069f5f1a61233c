#include "simulator/sm/memory_levels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/sm/known_runs.h"
#include "simulator/sm/launch_footprint.h"
#include "simulator/sm/request_coalescing.h"
#include "simulator/sm/sm_simulation.h"
#include "simulator/sm/warps_in_step.h"

namespace warptime {
namespace {

// The part of L2 that lines stay in before they are written back, and that repeated reads find them in: on an H100
// launches that only stream keep 32 of its 50 MB (data/development).
constexpr double kL2InUse = 0.64;
constexpr double kL2Dirty = 0.45;  // the most that waits to be written back: what stores alone leave
constexpr double kL2Reused = 0.9;  // what is read again and again stays longer
// Of a launch that is repeated, all is still in L2 up to the first of these, less by what is written of it, and nothing
// beyond the second; of what accesses at random read, so much is found again. Measured on an H100.
constexpr double kL2Stays = 0.74, kL2StaysLess = 0.3, kL2Gone = 0.88, kL2Random = 0.48;
// How much longer memory takes for a sector where it writes as much as it reads (`warptime measure --device`: copies).
constexpr double kTurns = 0.1;
constexpr std::int64_t kUnknownL2Bytes = 4 << 20;
constexpr double kFewUnknown = 0.05;  // sectors with addresses that are not known

// Blocks start in order, so that those that run at about the same time are neighbours. Of a stretch of blocks memory
// gives what the blocks before it, as many as L2 holds the data of, have not accessed.
class MemoryTraffic {
 public:
  MemoryTraffic(const LaunchFootprint& footprint, std::int64_t blocks, std::int64_t wave, double l2)
      : footprint_(footprint), blocks_(blocks), l2_(l2) {
    stretch_ = std::clamp<std::int64_t>(std::max(wave, blocks / kMostStretches), 1, blocks);
  }

  struct Bytes {
    double read = 0, written = 0;
    friend bool operator==(const Bytes&, const Bytes&) = default;
  };

  Bytes bytes(const Footprint& whole) {
    if (whole.all_bytes <= l2_ || blocks_ <= stretch_) return {whole.read_bytes, whole.written_bytes};
    held_ = blocks_held();
    middle_ = footprint_.of_blocks((blocks_ - stretch_) / 2, stretch_);
    const std::int64_t stretches = (blocks_ + stretch_ - 1) / stretch_;
    step_ = std::max<std::int64_t>(stretches / kMostLookedAt, 1);
    const auto looked_at = static_cast<std::size_t>((stretches + step_ - 1) / step_);
    known_.assign(looked_at, std::nullopt);
    const auto [same_from, same_to] = same();
    // The first stretch finds nothing in L2, so it stands for itself alone; the others for those between them.
    const Bytes first_one = at(0);
    Bytes sum;
    double seen = 0;
    for (std::size_t i = 1; i < looked_at; ++i) {
      const Bytes& one = at(i > same_from && i < same_to ? same_from : i);
      sum.read += one.read;
      sum.written += one.written;
      seen += static_cast<double>(count(i));
    }
    const double more = static_cast<double>(blocks_ - count(0)) / seen;
    return {std::max(first_one.read + sum.read * more, whole.read_bytes),
            std::max(first_one.written + sum.written * more, whole.written_bytes)};
  }

 private:
  static constexpr std::int64_t kMostStretches = 256, kMostLookedAt = 24;
  // Times what blocks in the middle access that others may: of a triangle the last have twice as much.
  static constexpr double kUnlike = 3;

  std::int64_t first(std::size_t i) const { return static_cast<std::int64_t>(i) * step_ * stretch_; }
  std::int64_t count(std::size_t i) const { return std::min(stretch_, blocks_ - first(i)); }

  // Mostly all stretches are the same but the first ones, and the last: where one is as that before it, as one in the
  // middle, and as the last whole one, those between them are taken to be as well. Equal: there is none.
  std::pair<std::size_t, std::size_t> same() {
    constexpr std::size_t most_first = 4;
    for (std::size_t i = 1; i <= most_first && i + most_first < known_.size(); ++i) {
      const std::size_t last = known_.size() - 2;
      if (at(i) == at(i - 1) && at(i) == at((i + last) / 2) && at(i) == at(last)) return {i, last};
    }
    return {0, 0};
  }

  // Of the i-th of the stretches that are looked at.
  const Bytes& at(std::size_t i) {
    if (known_[i]) return *known_[i];
    const std::int64_t before = std::min(held_, first(i)), begin = first(i) - before;
    const Footprint with = footprint_.of_blocks(begin, before + count(i));
    const Footprint without = before == 0 ? Footprint{} : footprint_.of_blocks(begin, before);
    // At the ends of the grid indices wrap around, and ranges may be all of an array.
    const double most = kUnlike * static_cast<double>(count(i)) / static_cast<double>(stretch_);
    return known_[i].emplace(
        Bytes{std::clamp(with.read_bytes - without.read_bytes, 0.0, most * middle_.read_bytes),
              std::clamp(with.written_bytes - without.written_bytes, 0.0, most * middle_.written_bytes)});
  }

  // How many blocks before a stretch L2 holds, together with the stretch.
  std::int64_t blocks_held() const {
    std::int64_t low = 0, high = blocks_ - stretch_;
    while (high - low > std::max<std::int64_t>(low / 8, 1)) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      const std::int64_t first = (blocks_ - stretch_ - middle) / 2;
      (footprint_.of_blocks(first, middle + stretch_).all_bytes <= l2_ ? low : high) = middle;
    }
    return low;
  }

  const LaunchFootprint& footprint_;
  std::int64_t blocks_, stretch_ = 1, step_ = 1;
  std::int64_t held_ = 0;  // blocks
  Footprint middle_;       // of the stretch in the middle
  double l2_;
  std::vector<std::optional<Bytes>> known_;
};

// How often the second half of what was simulated stands for the rest of an SM's whole part in the launch, which
// executes so many instructions.
double second_halves(const SmRun& run, double instructions) {
  if (run.complete || !(run.second_half.instructions > 0)) return 0;
  return std::max(0.0, instructions - run.counts.instructions) / run.second_half.instructions;
}

double ratio(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

// Adds to the second half of `run` that of a run that was begun later, so many times, or all of it where it was not cut.
void add_later(SmRun& run, const SmRun& later, double times) {
  const bool whole = later.complete;
  run.second_half.add(whole ? later.counts : later.second_half, times);
  run.second_half_cycles += times * (whole ? later.cycles : later.second_half_cycles);
  for (std::size_t i = 0; i < kSmWaits; ++i)
    run.second_half_waits[i] += times * (whole ? later.waits[i] : later.second_half_waits[i]);
}

// Of an SM's whole part in the launch.
SmCounts whole_of(const SmRun& run, double instructions) {
  SmCounts counts;
  if (run.complete && run.counts.instructions > 0) {  // SMs have a block more or less than others
    counts.add(run.counts, instructions / run.counts.instructions);
    return counts;
  }
  counts = run.counts;
  counts.add(run.second_half, second_halves(run, instructions));
  return counts;
}

// Shares that runs depend on are rounded, so that launches that hardly differ have the same run.
double rounded(double share, double steps = 256) {
  return std::round(share * steps) / steps;
}

// Of a share that follows another: as its part of that, so that both are rounded at the same launches.
double rounded_along(double share, double other) {
  constexpr double most = 2;
  return share < most * other ? std::min(rounded(share / other) * rounded(other), 1.0) : rounded(share);
}

// Runs of a launch's SMs, those of launches before if they are the same (docs/extended.md, "What is remembered").
class RunsOfLaunch {
 public:
  RunsOfLaunch(const LaunchOnGpu& launch, const LaunchTrace& trace, const SmFigures& figures)
      : known_(launch.known_runs), trace_(trace), figures_(figures) {
    if (known_ == nullptr) return;
    common_.add(reinterpret_cast<std::uintptr_t>(launch.program));
    common_.add(reinterpret_cast<std::uintptr_t>(launch.gpu));
    for (const std::int64_t size : launch.size.block) common_.add(static_cast<std::uint64_t>(size));
    // The blocks of an SM lie in the grid as those of another launch where all dimensions but the last are equal.
    const auto& grid = launch.size.grid;
    const int last = grid[2] > 1 ? 2 : grid[1] > 1 ? 1 : 0;
    for (int d = 0; d < last; ++d) common_.add(static_cast<std::uint64_t>(grid[static_cast<std::size_t>(d)]));
    common_.add(static_cast<std::uint64_t>(last));
    add_groups(*launch.warps);
  }

  SmRun run(const SmOptions& options) {
    if (known_ == nullptr || options.listener != nullptr) return run_sm(trace_, figures_, options);
    Keys keys;
    if (const auto known = known_run(options, keys)) return *known;
    SmRun run = run_sm(trace_, figures_, options);
    known_->add(is_cut(run, blocks_of(options)) ? keys.beginning : keys.whole, run);
    return run;
  }

  // With a listener, which hears no more than it needs where the run is known.
  SmRun heard(SmOptions options) {
    Keys keys;
    const auto known = known_ == nullptr ? std::nullopt : known_run(options, keys);
    options.known_run = known.has_value();
    const SmRun run = run_sm(trace_, figures_, options);
    return known && options.listener->has_enough() ? *known : run;
  }

  // What of_beginning() gives decides it, and how many waves there are while they are few.
  template <class Find>
  double joined(const SmOptions& options, const Find& find) {
    if (known_ == nullptr) return find();
    constexpr std::int64_t few = 8;
    const std::int64_t blocks = blocks_of(options);
    LaunchSignature signature = of_beginning(options, blocks);
    add_options(options, signature);
    signature.add(static_cast<std::uint64_t>(std::min(blocks, few)));
    if (blocks < few) add_end(options, blocks, signature);
    if (const auto known = known_->joined(signature.value)) return *known;
    const double joined = find();
    known_->add(signature.value, joined);
    return joined;
  }

  // That time runs need, too.
  SmFigures& figures() { return figures_; }

 private:
  struct Keys {
    KnownRuns::Key beginning{}, whole{};
  };

  // Whether it ended before the last of so many blocks.
  static bool is_cut(const SmRun& run, std::int64_t blocks) {
    return !run.complete && blocks > run.blocks + 1;
  }

  std::optional<SmRun> known_run(const SmOptions& options, Keys& keys) {
    const std::int64_t blocks = blocks_of(options);
    LaunchSignature signature = of_beginning(options, blocks);
    add_options(options, signature);
    keys.beginning = signature.value;
    if (const auto known = known_->run(keys.beginning); known && is_cut(*known, blocks)) return known;
    add_end(options, blocks, signature);
    keys.whole = signature.value;
    return known_->run(keys.whole);
  }

  // What each kind of warps executes, and its share of the warps: those of less are looked at where they are among the
  // blocks that are signed.
  void add_groups(const LaunchWarps& warps) {
    constexpr double least_share = 0.01, steps = 32;
    double all = 0;
    for (const WarpGroup& group : warps.groups) all += group.warps;
    for (const WarpGroup& group : warps.groups) {
      if (group.warps < least_share * all) continue;
      common_.add(static_cast<std::uint64_t>(std::llround(group.warps / all * steps)));
      for (const double total : {group.each.instructions, group.each.loads, group.each.stores,
                                 group.each.load_sectors, group.each.store_sectors})
        common_.add(std::bit_cast<std::uint64_t>(total));
    }
  }

  std::int64_t blocks_of(const SmOptions& options) const {
    const std::int64_t all = options.turns.count(options.sm, options.sms, trace_.blocks());
    return std::max<std::int64_t>(options.most_blocks > 0 ? std::min(all, options.most_blocks) : all, 0);
  }

  // With what an SM's first blocks do.
  LaunchSignature of_beginning(const SmOptions& options, std::int64_t blocks) {
    // The first two turns are the same with all BlockTurns.
    for (const auto& [sm, known] : beginnings_)
      if (sm == options.sm) return known;
    LaunchSignature signature = common_;
    signature.add(static_cast<std::uint64_t>(options.sm));
    std::vector<std::int64_t> first;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(blocks, 2); ++i)
      first.push_back(options.sm + i * options.sms);
    sign_blocks(trace_, options, first, signature);
    beginnings_.emplace_back(options.sm, signature);
    return signature;
  }

  // With what those in the middle and at the end do.
  void add_end(const SmOptions& options, std::int64_t blocks, LaunchSignature& signature) const {
    signature.add(static_cast<std::uint64_t>(blocks));
    std::vector<std::int64_t> last;
    for (const std::int64_t i : {std::int64_t{0}, blocks / 2, blocks - 2, blocks - 1}) {
      const std::int64_t block = options.turns.block(options.sm, options.sms, i);
      if (i >= 0 && (last.empty() || block > last.back())) last.push_back(block);
    }
    sign_blocks(trace_, options, last, signature);
  }

  void add_options(const SmOptions& options, LaunchSignature& signature) const {
    for (const double figure : {options.from_memory,
                                options.from_memory_of_all,
                                options.new_at_l2,
                                options.reads_at_l2,
                                options.to_memory,
                                options.atomic_sms,
                                options.atomic_slices,
                                options.active_sms,
                                options.even_instructions,
                                options.left_sms,
                                options.begin,
                                options.random_bytes_at_l2,
                                options.bytes_at_l2,
                                options.local_bytes_at_l2,
                                options.local_to_memory,
                                options.written_back_bytes,
                                options.mixed,
                                figures_.memory_sector_cycles,
                                figures_.l2_sector_cycles,
                                figures_.block_start_cycles,
                                static_cast<double>(figures_.l1_bytes)})
      signature.add(std::bit_cast<std::uint64_t>(figure));
    for (const std::int64_t number :
         {options.active_blocks, options.sms, options.most_blocks, options.most_accesses,
          std::int64_t{options.atomics_shared}, std::int64_t{options.in_the_middle},
          std::int64_t{options.leads}, std::int64_t{options.code_in_cache}, std::int64_t{options.shuffled},
          options.turns.every, options.turns.later})
      signature.add(static_cast<std::uint64_t>(number));
  }

  KnownRuns* known_;
  const LaunchTrace& trace_;
  SmFigures figures_;
  LaunchSignature common_;
  std::vector<std::pair<std::int64_t, LaunchSignature>> beginnings_;  // by SM
};

// Where all blocks run at once and the simulation of their SM is cut, what is left need not go on as before: another loop may
// follow, and what loops have brought to L1 grows, or shrinks. So some parts of what is left are simulated, each for some
// time, and stand for as much of it each.
void simulate_rest(RunsOfLaunch& runs, SmOptions options, double instructions, SmRun& run,
                   PlaceListener* heard) {
  constexpr std::int64_t parts = 6;  // of what is left, and of the accesses that may be simulated
  constexpr double least = 0.05, steps = 64;
  const double seen = ratio(run.counts.instructions, instructions), left = 1 - seen;
  if (run.complete || left < least || !(run.second_half.instructions > 0)) return;
  options.most_accesses /= parts;
  const double even = options.even_instructions;
  const double length = seen / parts, each = left / parts;  // of their work, about; of what a part stands for
  run.second_half = {};
  run.second_half_cycles = 0;
  run.second_half_waits = {};
  if (heard != nullptr) heard->forget_second_half();
  for (std::int64_t part = 0; part < parts; ++part) {
    const double middle = seen + each * (static_cast<double>(part) + 0.5);
    options.begin = rounded(std::clamp(middle - 0.75 * length, 0.0, std::max(1 - length, 0.0)), steps);
    if (even > 0) options.even_instructions = std::max(even - options.begin * instructions, 1.0);
    PlaceListener later;
    options.listener = heard != nullptr ? &later : nullptr;
    const SmRun more = runs.run(options);
    const double simulated = (more.complete ? more.counts : more.second_half).instructions;
    if (!(simulated > 0)) continue;
    const double times = each * instructions / simulated;
    add_later(run, more, times);
    if (heard != nullptr) heard->add_later(later, more.complete, times);
  }
}

// What reaches L2 of the reads of all SMs, as a share: those of neighbours are joined as far as the SMs keep
// step. They do in the first wave of blocks; later blocks start wherever there is room, so that neighbours
// seldom run side by side.
double share_of_reads(RunsOfLaunch& runs, const LaunchTrace& trace, const SmOptions& options, const Gpu& gpu,
                      const LaunchFootprint& footprint) {
  // Of what could be joined: in the first wave, and in later ones (fit data/development).
  constexpr double in_step = 0.9, later = 0.2;
  constexpr double worth_while = 0.97;
  const std::int64_t together = sms_with_joined_reads(gpu), blocks = trace.blocks();
  if (together < 2) return 1;
  const std::int64_t first = std::min(options.sm, blocks - 1), count = std::min(together, blocks - first);
  const double reaching = runs.joined(options, [&] {
    double apart = 0;
    for (std::int64_t b = first; b < first + count; ++b) apart += footprint.of_blocks(b, 1).read_bytes;
    if (footprint.of_blocks(first, count).read_bytes >= worth_while * apart) return 1.0;
    return share_of_joined_reads(trace, runs.figures(), options, together);
  });
  if (reaching >= 1) return 1;
  const double joined = 1 - reaching;
  const double waves =
      std::max(1.0, static_cast<double>(blocks) / static_cast<double>(options.sms * options.active_blocks));
  return 1 - joined * (in_step + later * (waves - 1)) / waves;
}

std::int64_t number_of(const std::array<std::int64_t, 3>& block, const std::array<std::int64_t, 3>& grid) {
  return block[0] + grid[0] * (block[1] + grid[1] * block[2]);
}

// An SM with a block of the warps that execute most of the launch, all of them taken together; or most of its atomics.
std::int64_t busy_sm(const LaunchOnGpu& launch, bool of_atomics) {
  const auto& groups = launch.warps->groups;
  if (groups.empty()) return 0;
  const auto work = [&](const WarpGroup& group) {
    const WarpTotals& each = group.each;
    return group.warps * (of_atomics ? each.atomic_sectors + each.reduction_sectors : each.instructions);
  };
  const auto most =
      std::max_element(groups.begin(), groups.end(),
                       [&](const WarpGroup& a, const WarpGroup& b) { return work(a) < work(b); });
  return number_of(most->block, launch.size.grid) % std::max(launch.gpu->sms, 1);
}

// An SM that is simulated for the time.
struct TimedSm {
  std::int64_t sm = 0;
  std::int64_t most_blocks = 0;  // 0: all that it has
  double instructions = 0;       // of their warps; 0: not asked for
  BlockTurns turns = {};         // which blocks these are
};

// What the warps of an SM's first blocks execute.
double instructions_of_sm(const LaunchOnGpu& launch, const WarpProgram& warps, const BlockTurns& turns,
                          std::int64_t sm, std::int64_t most_blocks) {
  const auto& grid = launch.size.grid;
  const std::int64_t sms = std::max(launch.gpu->sms, 1);
  double instructions = 0;
  for (std::int64_t i = 0; i < most_blocks; ++i) {
    const std::int64_t b = turns.block(sm, sms, i);
    if (b >= launch.size.blocks()) break;
    WarpOptions options;
    options.block = {b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1]};
    const auto found = warps.launch(launch.values, launch.size, launch.shares, options);
    if (!found) return 0;
    instructions += found->total.instructions;
  }
  return instructions;
}

// Some SMs, of those that have no block less than others, with what the warps of their first blocks execute.
std::vector<TimedSm> some_sms(const LaunchOnGpu& launch, const WarpProgram& warps, const BlockTurns& turns,
                              std::int64_t most_blocks) {
  constexpr std::int64_t most = 16;
  const std::int64_t all = std::max(launch.gpu->sms, 1), blocks = launch.size.blocks();
  const std::int64_t sms = most_blocks * all < blocks || blocks % all == 0 ? all : blocks % all;
  const std::int64_t looked_at = std::min(most, sms);
  std::vector<TimedSm> some = {
      {0, most_blocks, instructions_of_sm(launch, warps, turns, 0, most_blocks), turns}};
  for (std::int64_t i = 0; i < looked_at; ++i) {
    const std::int64_t sm = (2 * i + 1) * sms / (2 * looked_at);
    some.push_back({sm, most_blocks, instructions_of_sm(launch, warps, turns, sm, most_blocks), turns});
  }
  return some;
}

constexpr double kClearly = 1.02;

// Of the warps, those that execute clearly more or less than most do.
double share_of_other_warps(const LaunchOnGpu& launch) {
  double all = 0, other = 0;
  for (const WarpGroup& group : launch.warps->groups) {
    const double most = launch.warps->groups.front().each.instructions, own = group.each.instructions;
    all += group.warps;
    if (std::max(own, most) > kClearly * std::min(own, most)) other += group.warps;
  }
  return ratio(other, all);
}

// Whether it matters in a launch of several waves which blocks an SM has.
bool blocks_differ(const LaunchOnGpu& launch) {
  constexpr double few = 0.02;
  return share_of_other_warps(launch) > few;
}

// The SMs of which the slowest counts. Of blocks that all run at the same time: that with the block whose warps execute most,
// and that whose blocks execute most together, as far as some SMs show. Of several waves, later blocks start where others have
// ended, which evens out what SMs execute: one whose first blocks execute as much as others do on average, and that whose first
// blocks execute more than SMs do in the whole launch.
std::vector<TimedSm> timed_sms(const LaunchOnGpu& launch, std::int64_t active_blocks) {
  const std::int64_t sms = std::max(launch.gpu->sms, 1), blocks = launch.size.blocks();
  const auto& groups = launch.warps->groups;
  const bool one_wave = blocks <= active_blocks * sms;
  if (one_wave ? share_of_other_warps(launch) == 0 : !blocks_differ(launch)) return {{}};
  const WarpProgram warps(*launch.program);
  const auto less = [](const TimedSm& a, const TimedSm& b) { return a.instructions < b.instructions; };
  if (!one_wave) {
    const double mean = launch.warps->total.instructions / static_cast<double>(blocks);
    const std::vector<TimedSm> first = some_sms(launch, warps, {}, active_blocks);
    const auto off = [&](const TimedSm& one) {
      return std::abs(one.instructions - mean * static_cast<double>(active_blocks));
    };
    const TimedSm even = *std::min_element(
        first.begin(), first.end(), [&](const TimedSm& a, const TimedSm& b) { return off(a) < off(b); });
    const TimedSm busiest = *std::max_element(first.begin(), first.end(), less);
    const double of_sm = mean * std::ceil(static_cast<double>(blocks) / static_cast<double>(sms));
    if (busiest.instructions <= kClearly * of_sm) return {{even.sm}};
    return {{even.sm}, busiest};
  }
  const BlockTurns turns = block_turns(launch.gpu->compute_capability);
  const auto instructions = [](const WarpGroup& group) { return group.each.instructions; };
  const auto most = std::max_element(
      groups.begin(), groups.end(),
      [&](const WarpGroup& a, const WarpGroup& b) { return instructions(a) < instructions(b); });
  TimedSm longest{turns.sm_of(number_of(most->block, launch.size.grid), sms)};
  const auto of_first = std::find_if(groups.begin(), groups.end(), [](const WarpGroup& group) {
    return group.block == std::array<std::int64_t, 3>{};
  });
  if (of_first != groups.end() && instructions(*most) <= kClearly * instructions(*of_first)) longest.sm = 0;
  longest.instructions = instructions_of_sm(launch, warps, turns, longest.sm, blocks);
  longest.turns = turns;
  if (blocks <= sms) return {longest};
  const std::vector<TimedSm> whole = some_sms(launch, warps, turns, blocks);
  const TimedSm busiest = *std::max_element(whole.begin(), whole.end(), less);
  if (busiest.instructions <= kClearly * longest.instructions) return {longest};
  return {longest, {busiest.sm, 0, busiest.instructions, turns}};
}

// Of what the launch accesses, what L2 still has from the same launch before.
double share_that_stays(const Footprint& whole, double l2) {
  const double most = (kL2Stays - kL2StaysLess * ratio(whole.written_bytes, whole.all_bytes)) * l2;
  return std::clamp((kL2Gone * l2 - whole.all_bytes) / (kL2Gone * l2 - most), 0.0, 1.0);
}

// Gives places of one SM their parts of what the launch asks for, and adds the cycles of `timed` to those of the same
// name.
void complete_places(std::vector<LaunchPlace>& places, const std::vector<LaunchPlace>& timed,
                     const MemoryLevels& levels, double joined_reads) {
  LaunchPlace all;
  for (const LaunchPlace& place : places) all.add(place, 1);
  const auto part = [](double of_place, double of_all, double whole) {
    return of_all > 0 ? whole * of_place / of_all : 0;
  };
  const double stores = all.sectors - all.load_sectors - all.atomic_sectors;
  // Of the bytes that memory gives, those that atomics and stores to parts of sectors ask for are not among
  // SmCounts::first_bytes.
  const auto reads = [&](const LaunchPlace& of) {
    return all.first_bytes > 0      ? of.first_bytes
           : all.atomic_sectors > 0 ? of.atomic_sectors
                                    : of.written_sectors;
  };
  const double written = all.written_sectors + all.local_store_sectors + all.atomic_sectors;
  for (LaunchPlace& place : places) {
    const double loads = part(place.load_sectors, all.load_sectors, levels.l1_loads);
    const double asked = part(place.asked_sectors, all.asked_sectors, levels.l1_loads - levels.l1_load_hits);
    const double atomics = part(place.atomic_sectors, all.atomic_sectors, levels.l2_atomics);
    const double stored =
        part(place.sectors - place.load_sectors - place.atomic_sectors, stores, levels.l1_stores);
    const double scale = place.sectors > 0 ? (loads + stored + atomics) / place.sectors : 0;
    const double local_asked = levels.l2_reads - joined_reads * (levels.l1_loads - levels.l1_load_hits);
    const double sectors =
        joined_reads * asked + atomics +
        part(place.local_asked_sectors, all.local_asked_sectors, local_asked) +
        part(place.written_sectors, all.written_sectors, levels.l2_writes - levels.l1_local_stores) +
        part(place.local_store_sectors, all.local_store_sectors, levels.l1_local_stores);
    place.l2_bytes = static_cast<double>(kSectorBytes) * sectors;
    place.memory_bytes = part(reads(place), reads(all), levels.memory_read_bytes) +
                         part(place.written_sectors + place.local_store_sectors + place.atomic_sectors,
                              written, levels.memory_written_bytes);
    const double local_scale =
        all.local_sectors > 0 ? (levels.l1_local_loads + levels.l1_local_stores) / all.local_sectors : 0;
    place.load_hits = part(place.load_hits, all.load_hits, levels.l1_load_hits);
    place.load_sectors = loads;
    for (const auto field : {&LaunchPlace::requests, &LaunchPlace::sectors, &LaunchPlace::least_sectors})
      place.*field *= scale;
    for (const auto field : {&LaunchPlace::local_sectors, &LaunchPlace::local_hits})
      place.*field *= local_scale;
    place.waits = {};
    place.pipe_waits = {};
    place.draining = {};
    place.chip_waits = {};
  }
  for (const LaunchPlace& of : timed) {
    const auto same = std::find_if(places.begin(), places.end(),
                                   [&](const LaunchPlace& place) { return place.where == of.where; });
    LaunchPlace& place = same != places.end() ? *same : places.emplace_back();
    if (same == places.end()) place.where = of.where, place.lines = of.lines;
    place.waits = of.waits;
    place.pipe_waits = of.pipe_waits;
    place.draining = of.draining;
    place.chip_waits = of.chip_waits;
  }
}

}  // namespace

LaunchFigures launch_figures(const Gpu& gpu, CacheState caches) {
  // With empty caches instructions and constants come from memory, too: what kernels of less than 3 us take longer on an
  // H100 than their SMs do (data/development, half of them within 0.1 us of it). On an H200 it is 0.4 us less, and an empty
  // kernel 0.35.
  constexpr double cold_on_h100_us = 1.5, empty_on_h100_us = 0.896;
  // What the kernel of one_block_kernel_us does on its SM, beside waiting for L2: begin, compute two addresses, store.
  constexpr double on_the_sm_cycles = 125;
  const TimingFigures& timing = gpu.timing;
  const double small_us =
      timing.one_block_kernel_us ? *timing.one_block_kernel_us : timing.small_kernel_us.value_or(1.1);
  const double on_the_sm_us = (timing.l2_latency_cycles.value_or(280) + on_the_sm_cycles) / gpu.clock_mhz;
  // At a clock far below the one at which that kernel was measured nothing is left of it.
  const double elsewhere_us = std::max(small_us - on_the_sm_us, 0.0);
  const double cold_start_us =
      std::max(cold_on_h100_us + (timing.empty_kernel_us.value_or(empty_on_h100_us) - empty_on_h100_us), 0.0);
  return {elsewhere_us + (caches == CacheState::cold ? cold_start_us : 0),
          timing.launch_gap_us.value_or(1.15), timing.launch_us.value_or(3.2)};
}

namespace {

// Cycles until the SM that starts last of those at work has its first block. A kernel with a block on each SM takes all_sms_us longer
// than one of a single block; four loads of it are part of that, which take longer for the SM that is farthest from L2.
double last_start_cycles(const Gpu& gpu, std::int64_t active_sms) {
  constexpr double loads = 4;
  const double way = sm_figures(gpu, {}, 1, gpu.sms).sm_way;
  const double share = std::min(1.0, static_cast<double>(active_sms) / std::max(gpu.sms, 1));
  return std::max(gpu.timing.all_sms_us.value_or(0) * gpu.clock_mhz - loads * way, 0.0) * std::sqrt(share);
}

void add_start(double cycles, MemoryLevels& levels, std::vector<LaunchPlace>* places) {
  levels.cycles += cycles;
  levels.waits[static_cast<std::size_t>(SmWait::blocks)] += cycles;
  if (places == nullptr || cycles == 0) return;
  const std::string where = place_of_cause(nullptr);
  auto place = std::find_if(places->begin(), places->end(),
                            [&](const LaunchPlace& one) { return one.where == where; });
  if (place == places->end()) {
    place = places->emplace(places->end());
    place->where = where;
  }
  place->waits[static_cast<std::size_t>(SmWait::blocks)] += cycles;
}

// Of blocks that all begin together and go over the same data in step, some block is the first everywhere: it waits for memory each
// time, and the others are no sooner there. The cycles of one that has an SM for itself; 0: blocks do not go in step, share nothing,
// or find what they share in L2. `stays`: the share of the launch's data that L2 has when it begins; `from_memory`: that of what SMs
// ask for the first time and memory gives.
double leading_cycles(const LaunchOnGpu& launch, RunsOfLaunch& runs, SmOptions options, double stays,
                      double from_memory) {
  constexpr double most_stays = 0.5;
  if (stays >= most_stays || from_memory >= 1 || !in_step(launch)) return 0;
  options.leads = true;
  options.active_blocks = options.most_blocks = 1;
  options.in_the_middle = options.shuffled = false;
  options.even_instructions = 0;
  options.listener = nullptr;
  SmRun run = runs.run(options);
  const double instructions = launch.warps->total.instructions / static_cast<double>(launch.size.blocks());
  simulate_rest(runs, options, instructions, run, nullptr);
  return run.cycles + second_halves(run, instructions) * run.second_half_cycles;
}

// Cycles in which all wait for memory, beyond what they waited before: where loads wait.
void add_latency(double cycles, MemoryLevels& levels, std::vector<LaunchPlace>* places) {
  constexpr auto latency = static_cast<std::size_t>(SmWait::latency);
  levels.cycles += cycles;
  levels.waits[latency] += cycles;
  if (places == nullptr || places->empty()) return;
  double all = 0;
  for (const LaunchPlace& place : *places) all += place.waits[latency];
  if (all == 0) {
    places->front().waits[latency] += cycles;
    return;
  }
  for (LaunchPlace& place : *places) place.waits[latency] *= 1 + cycles / all;
}

// listener: of the simulation that the time is found with.
Result<MemoryLevels> levels_with(const LaunchOnGpu& launch, CacheState caches,
                                 std::vector<LaunchPlace>* places, SmListener* listener) {
  const auto scheduled = launch.known_runs != nullptr
                             ? launch.known_runs->scheduled(*launch.program)
                             : std::make_shared<const ScheduledProgram>(schedule_for_sm(*launch.program));
  auto trace = LaunchTrace::make(scheduled->program, launch.values, launch.size, launch.shares);
  if (!trace) return trace.diagnostics();
  const Gpu& gpu = *launch.gpu;
  const std::int64_t blocks = trace->blocks(), sms = std::max(gpu.sms, 1), active_sms = std::min(blocks, sms);
  const std::int64_t active_blocks = std::max<std::int64_t>(launch.occupancy.active_blocks, 1);
  RunsOfLaunch runs(launch, *trace,
                    sm_figures(gpu, launch.occupancy, launch.size.threads_per_block(), active_sms));
  const double l2 = kL2InUse * static_cast<double>(gpu.l2_bytes.value_or(kUnknownL2Bytes));

  const LaunchFootprint footprint(*launch.program, launch.values, launch.size, launch.places);
  const Footprint whole = footprint.of_blocks(0, blocks);
  const double stays = caches == CacheState::warm ? share_that_stays(whole, l2 / kL2InUse) : 0;

  SmOptions options;
  options.active_blocks = active_blocks;
  options.sms = sms;
  options.sm = active_sms / 3;           // not the one with the first block, which often has a border
  constexpr double counting_steps = 16;  // what is counted hardly depends on when it happens
  options.new_at_l2 = options.from_memory = options.from_memory_of_all = rounded(1 - stays, counting_steps);
  options.random_bytes_at_l2 = kL2Random / kL2InUse * l2;
  const double l2_keeps = kL2Gone / kL2InUse * l2;
  options.local_bytes_at_l2 = l2_keeps / static_cast<double>(active_sms);
  // The blocks that run at once, from where a row or a plane of blocks begins, in the middle: indices wrap around at the ends of
  // the grid. How often they read the same.
  const std::int64_t at_once = std::min(blocks, sms * active_blocks);
  Footprint those;
  double alike = 1;
  if (whole.all_bytes > l2_keeps) {
    const auto& grid = launch.size.grid;
    const std::int64_t together = grid[2] > 1 ? grid[0] * grid[1] : grid[0];
    those = footprint.of_blocks((blocks - at_once) / 2 / together * together, at_once);
    const double apart = static_cast<double>(at_once) * footprint.of_blocks(blocks / 2, 1).read_bytes;
    if (those.read_bytes > 0) alike = std::max(apart / those.read_bytes, 1.0);
    options.bytes_at_l2 = alike * l2_keeps / static_cast<double>(active_sms);
  }
  options.written_back_bytes = l2 / static_cast<double>(active_sms);
  options.places = &launch.places;
  options.code_in_cache = caches == CacheState::warm;
  // As many as have blocks, but for addresses that only some blocks share.
  options.atomic_sms = options.active_sms = static_cast<double>(active_sms);
  if (whole.atomic_bytes > 0) {
    const double of_block = footprint.of_blocks(0, 1).atomic_bytes;
    options.atomics_shared = of_block * static_cast<double>(blocks) >= 2 * whole.atomic_bytes;
    // Of the blocks that run at once. All SMs access the address that most threads access.
    const double of_those =
        at_once < blocks ? footprint.of_blocks((blocks - at_once) / 2, at_once).atomic_bytes : 0;
    const double share = std::min(of_block / (of_those > 0 ? of_those : whole.atomic_bytes), 1.0);
    const double with_hottest = share + (1 - share) * whole.hottest;
    options.atomic_sms = std::clamp(options.atomic_sms * with_hottest, 1.0, options.atomic_sms);
    options.atomic_slices = std::max(whole.atomic_bytes / (kLineBytes << kAtomicSliceShift), 1.0);
  }
  const double waves = static_cast<double>(blocks) / static_cast<double>(sms * active_blocks);
  const double accesses = (launch.warps->total.loads + launch.warps->total.stores +
                           launch.warps->total.more_loads + launch.warps->total.more_stores) /
                          static_cast<double>(active_sms);
  options.in_the_middle = waves > 2 && accesses / waves > static_cast<double>(options.most_accesses);
  PlaceListener counted, waited;
  if (places != nullptr) options.listener = &counted;
  const WarpTotals& total = launch.warps->total;
  const double of_each_sm = total.instructions / static_cast<double>(active_sms);
  SmRun run = runs.run(options);
  constexpr double little = 0.5;
  const double atomics = total.atomic_sectors + total.reduction_sectors;
  const bool without = atomics > 0 && run.counts.atomic_pattern_sectors == 0;
  if (run.complete && (without || run.counts.instructions < little * of_each_sm)) {  // its blocks are idle
    options.sm = busy_sm(launch, without);
    if (places != nullptr) counted = {};
    run = runs.run(options);
    // Where the others have no atomics, fewer SMs are at the addresses of these.
    const double busy = without && run.counts.atomic_pattern_sectors > 0
                            ? std::max(atomics / run.counts.atomic_pattern_sectors, 1.0)
                            : options.active_sms;
    if (run.complete && busy < options.active_sms) {
      options.active_sms = busy;
      options.atomic_sms = std::min(options.atomic_sms, options.active_sms);
      if (places != nullptr) counted = {};
      run = runs.run(options);
    }
  }
  const bool one_wave = blocks <= sms * active_blocks;
  if (one_wave) simulate_rest(runs, options, of_each_sm, run, places != nullptr ? &counted : nullptr);
  options.listener = nullptr;
  const double joined_reads = share_of_reads(runs, *trace, options, gpu, footprint);

  const SmCounts counts = whole_of(run, of_each_sm);
  // Where addresses are not known, their patterns' sectors are what each warp would access if all of them lay
  // in different ones.
  const auto spread = [](double sectors, double of_patterns) {
    return of_patterns > 0 ? sectors / of_patterns : 1;
  };
  const double loads = std::max(total.load_sectors - total.atomic_sectors + total.copy_sectors, 0.0) *
                       spread(counts.load_sectors, counts.load_pattern_sectors);
  const double stores = std::max(total.store_sectors - total.reduction_sectors - total.copy_sectors, 0.0) *
                        spread(counts.store_sectors, counts.store_pattern_sectors);
  MemoryLevels levels;
  levels.l1_loads = loads;
  levels.l1_stores = stores;
  levels.l1_local_loads = total.local_load_sectors;
  levels.l1_local_stores = total.local_store_sectors;
  levels.shared_load_conflicts = static_cast<double>(active_sms) * counts.shared_load_conflicts;
  levels.shared_store_conflicts = static_cast<double>(active_sms) * counts.shared_store_conflicts;
  levels.exchange_rounds = static_cast<double>(active_sms) * counts.exchange_rounds;
  levels.l2_atomics = (total.atomic_sectors + total.reduction_sectors) *
                      spread(counts.atomic_sectors, counts.atomic_pattern_sectors);
  levels.l1_load_hits = loads * ratio(counts.load_hits, counts.load_sectors);
  levels.l1_store_hits = stores * ratio(counts.store_hits, counts.store_sectors);
  const double local_hits =
      total.local_load_sectors * ratio(counts.local_load_hits, counts.local_load_sectors);
  levels.l1_local_hits =
      local_hits + total.local_store_sectors * ratio(counts.local_store_hits, counts.local_store_sectors);
  levels.l2_reads = joined_reads * (loads - levels.l1_load_hits) + total.local_load_sectors - local_hits;
  levels.l2_writes =
      stores * (1 - ratio(counts.merged_sectors, counts.store_sectors)) + total.local_store_sectors;
  const double all_sectors = run.counts.load_sectors + run.counts.store_sectors + run.counts.atomic_sectors;
  levels.unknown_share = ratio(run.counts.unknown_sectors, all_sectors);
  levels.profiled_share = ratio(run.counts.profiled_sectors, all_sectors);
  levels.simulated_share = run.complete ? 1 : ratio(run.counts.instructions, counts.instructions);
  levels.footprint_estimated = whole.estimated;
  levels.dependences_known = scheduled->dependences_known;

  const MemoryTraffic::Bytes traffic =
      MemoryTraffic(footprint, blocks, active_blocks * sms, kL2Reused / kL2InUse * l2).bytes(whole);
  // No more than what each SM asks for the first time.
  const double again = static_cast<double>(kMemoryBytes * active_sms) * counts.again_load_pieces;
  const double most_read = static_cast<double>(active_sms) * counts.first_bytes + again +
                           static_cast<double>(kSectorBytes) * levels.l2_atomics;
  const double random = static_cast<double>(kMemoryBytes * active_sms) * counts.random_load_sectors;
  // What L2 has no more is read again, of several SMs once. At a distance that the simulation did not reach, it is that where it saw
  // more than L2 holds: then what SMs ask for is read as often as they do.
  double passes = 0, reread = 0, rewritten = 0;
  if (levels.unknown_share + levels.profiled_share < kFewUnknown && whole.all_bytes > l2_keeps) {
    const double once = static_cast<double>(active_sms) / alike;
    reread = once * counts.reread_bytes;
    rewritten = static_cast<double>(kSectorBytes * active_sms) * counts.rewritten_sectors;
    // Where the blocks that run at once leave room in L2, MemoryTraffic knows what later ones find there.
    if (!run.complete && once * run.counts.first_bytes > l2_keeps && those.all_bytes > l2_keeps)
      passes = once * counts.first_bytes;
  }
  const double asked =
      (1 - stays) * std::min(std::max({traffic.read + reread, random, again, passes}), most_read);
  const double random_stores = static_cast<double>(kSectorBytes * active_sms) * counts.random_store_sectors;
  const double stored_again = static_cast<double>(kMemoryBytes * active_sms) * counts.again_store_pieces;
  const double written = std::min(std::max({traffic.written + rewritten, random_stores, stored_again}),
                                  static_cast<double>(kSectorBytes) * (levels.l2_writes + levels.l2_atomics));
  const double local_read = static_cast<double>(kSectorBytes) * total.local_load_sectors *
                            ratio(counts.local_read_sectors, counts.local_load_sectors);
  const double local_stored = static_cast<double>(kSectorBytes) * total.local_store_sectors;
  const double local_written =
      std::min(local_stored * ratio(counts.local_written_sectors, counts.local_store_sectors) +
                   static_cast<double>(kSectorBytes * active_sms) * run.local_left_sectors,
               local_stored);
  // What L2 still holds when the launch ends is not written back.
  const double flow = asked + written + local_read + local_written;
  const double held =
      std::min(l2 * (written + local_written) / std::max(flow, 1.0), kL2Dirty / kL2InUse * l2);
  const double leaves = 1 - std::min(ratio(held, written + local_written), 1.0);
  levels.memory_written_bytes = leaves * written;
  // The rest of a sector that was stored in part is read before it is written back.
  levels.memory_read_bytes =
      asked + levels.memory_written_bytes *
                  std::clamp(ratio(counts.partial_store_sectors, counts.first_store_sectors), 0.0, 1.0);

  // Once more for the time, now that it is known what memory gives and takes.
  options.reads_at_l2 = rounded(joined_reads);
  const double first = static_cast<double>(active_sms) * counts.first_bytes;
  const double from_memory = ratio(asked, first);
  // What all SMs ask for memory gives once, of what others ask for the rest.
  const double of_all = std::min((1 - stays) * counts.first_of_all_bytes, asked);
  const double first_of_others = first - static_cast<double>(active_sms) * counts.first_of_all_bytes;
  options.from_memory_of_all = (1 - stays) / static_cast<double>(active_sms);
  options.from_memory = rounded(std::clamp(ratio(asked - of_all, first_of_others), 0.0, 1.0));
  const double taken = caches == CacheState::warm ? (1 - stays) * written : levels.memory_written_bytes;
  options.to_memory = rounded_along(
      ratio(taken, static_cast<double>(kSectorBytes) *
                       (levels.l2_writes + static_cast<double>(active_sms) * counts.atomic_first_sectors)),
      from_memory);
  const double mixed =
      std::min(levels.memory_read_bytes, taken) / std::max(std::max(levels.memory_read_bytes, taken), 1.0);
  levels.memory_read_bytes += local_read;
  levels.memory_written_bytes += leaves * local_written;
  options.local_to_memory = rounded(ratio(leaves * local_written, local_stored));
  constexpr double turning_steps = 32;
  options.mixed = rounded(mixed, turning_steps);
  runs.figures().memory_sector_cycles *= 1 + kTurns * rounded(mixed, turning_steps);
  std::vector<TimedSm> simulated = timed_sms(launch, active_blocks);
  options.shuffled = !one_wave && blocks_differ(launch);
  // Of blocks that all run at once, some SMs may have one more than others.
  const std::int64_t uneven = one_wave && blocks > sms ? blocks % sms : 0;
  const double atomic_sms = options.atomic_sms, at_work = options.active_sms;
  const auto share_unevenly = [&](std::int64_t sm) {
    constexpr double steps = 32;  // so that rows of a sweep share runs
    // The atomics of all blocks are as many as those of this SM times the SMs, if all had as many blocks.
    if (atomics > 0 && blocks > sms && sm < blocks % sms) {
      const double waves_of_sms = static_cast<double>(blocks) / static_cast<double>(sms);
      const double even = rounded(waves_of_sms / std::ceil(waves_of_sms), steps);
      options.atomic_sms = std::max(atomic_sms * even, 1.0);
      options.active_sms = std::max(at_work * even, 1.0);
    } else {
      options.atomic_sms = atomic_sms;
      options.active_sms = at_work;
    }
    options.even_instructions =
        sm < uneven ? total.instructions / static_cast<double>(blocks) * static_cast<double>(blocks / sms)
                    : 0;
    const double left =
        std::ceil(steps * static_cast<double>(uneven) / static_cast<double>(active_sms)) / steps;
    options.left_sms = sm < uneven ? left : 1;
  };
  SmRun timed;
  TimedSm slowest;
  double instructions = 0;
  for (std::size_t i = 0; i < simulated.size(); ++i) {
    const TimedSm one = simulated[i];
    options.sm = one.sm;
    options.most_blocks = one.most_blocks;
    options.turns = one.turns;
    share_unevenly(one.sm);
    PlaceListener heard;
    const bool listened = listener != nullptr && simulated.size() == 1;
    options.listener = places != nullptr ? &heard : listened ? listener : nullptr;
    SmRun of_sm = listened ? runs.heard(options) : runs.run(options);
    // Of the few warps that it has, hardly any are among the shares that do something: others have more.
    const std::int64_t most_tries = std::min<std::int64_t>(active_sms, 3);
    if (listener == nullptr && std::ssize(simulated) < most_tries && of_sm.complete &&
        of_sm.counts.instructions < little * of_each_sm)
      simulated.push_back({(one.sm + active_sms / most_tries) % active_sms, one.most_blocks, 0, one.turns});
    double executed = std::max(counts.instructions, one.instructions);
    if (one_wave && one.instructions == 0 && !of_sm.complete)
      executed = std::max(executed, instructions_of_sm(launch, WarpProgram(*launch.program), options.turns,
                                                       one.sm, launch.size.blocks()));
    if (one_wave || one.most_blocks > 0)
      simulate_rest(runs, options, executed, of_sm, places != nullptr ? &heard : nullptr);
    const auto cycles = [](const SmRun& run_of, double all) {
      return run_of.cycles + second_halves(run_of, all) * run_of.second_half_cycles;
    };
    if (instructions > 0 && cycles(of_sm, executed) <= cycles(timed, instructions)) continue;
    timed = std::move(of_sm);
    instructions = executed;
    waited = std::move(heard);
    slowest = one;
  }
  if (listener != nullptr && simulated.size() > 1) {
    options.sm = slowest.sm;
    options.most_blocks = slowest.most_blocks;
    options.turns = slowest.turns;
    share_unevenly(slowest.sm);
    options.listener = listener;
    runs.heard(options);
  }
  const double more = second_halves(timed, instructions);
  levels.cycles = timed.cycles + more * timed.second_half_cycles;
  for (std::size_t i = 0; i < kSmWaits; ++i)
    levels.waits[i] = timed.waits[i] + more * timed.second_half_waits[i];
  if (places != nullptr) {
    *places = counted.places(second_halves(run, counts.instructions));
    complete_places(*places, waited.places(more), levels, joined_reads);
  }
  if (listener == nullptr) {
    options.sm = slowest.sm;
    const double leading = leading_cycles(launch, runs, options, stays, from_memory);
    const double first_wave = levels.cycles / std::max(waves, 1.0);
    if (leading > first_wave) add_latency(leading - first_wave, levels, places);
    // A listener sees an SM from its first block on.
    add_start(last_start_cycles(gpu, active_sms), levels, places);
  }
  return levels;
}

}  // namespace

Result<MemoryLevels> memory_levels(const LaunchOnGpu& launch, CacheState caches,
                                   std::vector<LaunchPlace>* places) {
  return levels_with(launch, caches, places, nullptr);
}

Result<MemoryLevels> memory_levels(const LaunchOnGpu& launch, CacheState caches, SmListener& listener) {
  return levels_with(launch, caches, nullptr, &listener);
}

}  // namespace warptime
