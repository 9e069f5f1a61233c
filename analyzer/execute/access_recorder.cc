#include "analyzer/execute/access_recorder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_set>

#include "analyzer/execute/block_sample.h"
#include "analyzer/execute/code.h"
#include "analyzer/execute/warp.h"
#include "analyzer/ptx/opcodes.h"
#include "simulator/program/shared_conflicts.h"
#include "simulator/program/walk.h"

namespace warptime::execute {
namespace {

constexpr std::uint64_t kBytesOfFourLines = 512;
constexpr unsigned sector_shift = 5, sectors_of_line = 4;
static_assert(BlockSample::step == kBlocksOfSm);
// The blocks that stand for those of an SM: so many SMs, threads of an SM, and groups that are kept.
constexpr std::uint64_t stand_in_sms = BlockSample::step, stand_in_threads = 2048,
                        most_groups = std::uint64_t{1} << 22;

std::size_t log2_of(std::uint32_t time) {
  return time == 0 ? 0 : static_cast<std::size_t>(std::bit_width(time) - 1);
}

bool any_of_launch(const std::string& name) {
  for (const char* const begin : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."})
    if (name.starts_with(begin)) return true;
  return name == "laneid" || name == "warpid" || name == "warpSize";
}

// The names that a launch gives values to.
std::vector<std::string> known_names(const KernelProgram& program) {
  std::vector<std::string> names;
  for (const Parameter& parameter : program.parameters)
    if (!parameter.share) names.push_back(parameter.name);
  for_each_item(program.program, [&](const Item& item) {
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) names.push_back(repeat->counter);
  });
  return names;
}

bool is_known(const std::optional<Expression>& address, const std::vector<std::string>& known) {
  if (!address) return false;
  const auto names = address->names();
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return any_of_launch(name) || std::find(known.begin(), known.end(), name) != known.end();
  });
}

int first_ptx_line(const Item& item) {
  return item.ptx.empty() ? 0 : item.ptx.ranges().front().first;
}

// Which sectors of each line the lanes access, lines ascending.
void find_groups(const ExecutedInstruction& instruction, std::vector<LineGroup>& groups) {
  std::array<std::uint64_t, 4 * lanes_of_warp> sectors{};
  std::size_t count = 0;
  each(instruction.global_lanes, [&](std::uint32_t lane) {
    const std::uint64_t from = instruction.addresses[lane];
    const std::uint64_t last = (from + std::max(instruction.bytes, 1U) - 1) >> sector_shift;
    for (std::uint64_t sector = from >> sector_shift; sector <= last && count < sectors.size(); ++sector)
      sectors[count++] = sector;
  });
  std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(count));
  groups.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t line = sectors[i] / sectors_of_line;
    if (groups.empty() || groups.back().line != line) groups.push_back({line, 0});
    groups.back().sectors |= static_cast<std::uint8_t>(1U << sectors[i] % sectors_of_line);
  }
}

// Adds sectors of a line that nobody has touched before; `known`: those that somebody has.
void add_touched(std::uint8_t known, std::uint8_t sectors, TouchedMemory& touched) {
  const unsigned both = known | sectors;
  const auto pieces = [](unsigned of) { return ((of & 3) != 0) + ((of & 12) != 0); };
  touched.sectors += std::popcount(both) - std::popcount(unsigned{known});
  touched.pieces += pieces(both) - pieces(known);
  touched.lines += known == 0 && sectors != 0;
}

ReuseTimes shares_of(const std::array<double, 32>& counts, double all) {
  ReuseTimes times;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    times.resize(k + 1);
    times[k] = counts[k] / all;
  }
  return times;
}

}  // namespace

SectorTimes::Line& SectorTimes::at(std::uint64_t line) {
  if (const std::uint64_t page = line >> page_shift; page != page_ || current_ == nullptr) {
    auto& found = pages_[page];
    if (!found) found = std::make_unique<std::vector<Line>>(std::size_t{1} << page_shift);
    page_ = page;
    current_ = found.get();
  }
  return (*current_)[line & ((std::uint64_t{1} << page_shift) - 1)];
}

AccessRecorder::AccessRecorder(const KernelProgram& program, const ptx::Module& module,
                               const LaunchConfig& launch, std::uint64_t blocks)
    : module_(module), launch_(launch), blocks_(blocks) {
  find(program.program, known_names(program));
  addresses_.resize(accesses_.size());
  four_lines_.resize(accesses_.size());
}

void AccessRecorder::find(const Items& items, const std::vector<std::string>& known) {
  for (const Item& item : items) {
    if (const auto* access = std::get_if<MemoryAccess>(&item.what);
        access != nullptr && first_ptx_line(item) > 0 && !is_known(access->address, known)) {
      const std::string name = access_name(item);
      const auto [number, fresh] = access_numbers_.try_emplace(name, accesses_.size());
      if (fresh) {
        const std::string array = access->array.empty() ? name : "." + access->array;
        const auto [place, new_array] = array_numbers_.try_emplace(array, arrays_.size());
        if (new_array) arrays_.emplace_back();
        Access made;
        made.name = name;
        made.array = place->second;
        made.atomic = is_atomic(*access);
        made.reads = made.atomic || access->kind == MemoryAccess::Kind::load || is_asynchronous_copy(*access);
        made.writes = made.atomic || !made.reads;
        accesses_.push_back(std::move(made));
      }
      const auto line = static_cast<std::size_t>(first_ptx_line(item));
      if (access_of_line_.size() <= line) access_of_line_.resize(line + 1, -1);
      access_of_line_[line] = static_cast<int>(number->second);
    }
    if (item.detail) find_on_chip(item);
    for_each_inner(item, [&](const Items& inner) { find(inner, known); });
  }
}

void AccessRecorder::find_on_chip(const Item& item) {
  for (const ChipAccess& access : item.detail->on_chip) {
    if (access.space == ChipAccess::Space::local) continue;
    const auto same = std::find_if(chip_.begin(), chip_.end(), [&](const ChipAccesses& one) {
      return one.item == &item && one.space == access.space && one.kind == access.kind;
    });
    if (same != chip_.end()) {
      same->unknown.push_back(!access.address);
      continue;
    }
    chip_.push_back({&item, access.space, access.kind, {!access.address}, {}, {}});
    for (const auto& [first, last] : item.ptx.ranges())
      for (auto line = static_cast<std::size_t>(first); line <= static_cast<std::size_t>(last); ++line) {
        if (chip_of_line_.size() <= line) chip_of_line_.resize(line + 1);
        chip_of_line_[line].push_back(static_cast<int>(chip_.size()) - 1);
      }
  }
}

void AccessRecorder::executed(const WarpId& warp, const ExecutedInstruction& instruction, int ptx_line) {
  const auto line = static_cast<std::size_t>(ptx_line);
  if (instruction.global_lanes != 0 && line < access_of_line_.size() && access_of_line_[line] >= 0)
    memory_access(accesses_[static_cast<std::size_t>(access_of_line_[line])], warp, instruction);
  else if ((instruction.shared_lanes | instruction.constant_lanes) != 0 && line < chip_of_line_.size())
    chip_access(instruction, ptx_line);
}

void AccessRecorder::memory_access(Access& access, const WarpId& warp,
                                   const ExecutedInstruction& instruction) {
  find_groups(instruction, now_);
  access.requests += 1;
  access.lines += static_cast<double>(now_.size());
  for (const LineGroup& group : now_) access.sectors += std::popcount(group.sectors);
  const bool sampled = is_sampled(warp.block);
  if (access.atomic) count_atomics(access, instruction, sampled);
  touch(access);
  if (sampled) keep(access, warp);
}

void AccessRecorder::count_atomics(Access& access, const ExecutedInstruction& instruction, bool sampled) {
  const auto of = static_cast<std::size_t>(&access - accesses_.data());
  std::map<std::uint64_t, std::map<std::uint64_t, int>> sectors;  // threads by address
  each(instruction.global_lanes, [&](std::uint32_t lane) {
    const std::uint64_t address = instruction.addresses[lane];
    ++sectors[address >> sector_shift][address];
    ++four_lines_[of][address / kBytesOfFourLines];
    if (sampled) ++addresses_[of][address];
  });
  for (const auto& [sector, threads] : sectors) {
    int most = 0;
    for (const auto& [address, count] : threads) most = std::max(most, count);
    access.turns += most;
    access.addresses += static_cast<double>(threads.size());
  }
}

void AccessRecorder::touch(Access& access) {
  Array& array = arrays_[access.array];
  for (const LineGroup& group : now_) {
    SectorTimes::Line& line = array.times.at(group.line);
    if (access.reads)
      add_touched(line.read, group.sectors, access.launch);
    else
      add_touched(line.written, group.sectors, access.launch);
    if (access.reads) line.read |= group.sectors;
    if (access.writes) line.written |= group.sectors;
    const std::uint32_t time = ++array.groups;
    each(group.sectors, [&](std::uint32_t sector) {
      std::uint32_t& last = line.last[sector];
      if (last != 0) access.all[log2_of(time - last)] += 1;
      last = time;
    });
  }
}

bool AccessRecorder::is_sampled(std::uint64_t block) const {
  const std::uint64_t third = std::min(blocks_, stand_in_sms) / 3;
  return block % stand_in_sms == third && groups_.size() < most_groups;
}

void AccessRecorder::keep(const Access& access, const WarpId& warp) {
  auto& warps = sampled_[warp.block].warps;
  if (warps.size() <= warp.warp) warps.resize(warp.warp + 1);
  warps[warp.warp].push_back({static_cast<std::uint32_t>(&access - accesses_.data()),
                              static_cast<std::uint32_t>(groups_.size()),
                              static_cast<std::uint32_t>(now_.size())});
  groups_.insert(groups_.end(), now_.begin(), now_.end());
}

void AccessRecorder::chip_access(const ExecutedInstruction& instruction, int ptx_line) {
  const auto& executed = module_.functions[instruction.function].instructions[instruction.instruction];
  const bool constant = instruction.constant_lanes != 0;
  const auto category = executed.info != nullptr ? executed.info->category : ptx::Category::load;
  const auto kind = category == ptx::Category::store  ? ChipAccess::Kind::store
                    : category == ptx::Category::load ? ChipAccess::Kind::load
                                                      : ChipAccess::Kind::atomic;
  const std::uint32_t lanes = constant ? instruction.constant_lanes : instruction.shared_lanes;
  std::array<std::int64_t, lanes_of_warp> addresses{};
  std::set<std::int64_t> different;
  each(lanes, [&](std::uint32_t lane) {
    addresses[lane] = static_cast<std::int64_t>(instruction.addresses[lane]);
    if (constant) different.insert(addresses[lane]);
  });
  const auto bytes = std::max<std::int64_t>(instruction.bytes, 1);
  const double ways = constant ? static_cast<double>(different.size())
                               : static_cast<double>(shared_ways(addresses, lanes, bytes, kind));
  for (const int one : chip_of_line_[static_cast<std::size_t>(ptx_line)]) {
    ChipAccesses& accesses = chip_[static_cast<std::size_t>(one)];
    if ((accesses.space == ChipAccess::Space::constant) != constant || accesses.kind != kind) continue;
    const auto sum = accesses.by_line.try_emplace(ptx_line, ChipAccessProfile{0, 0}).first;
    sum->second.requests += 1;
    accesses.source_lines[ptx_line] = static_cast<int>(executed.source_line);
    sum->second.ways += ways;
  }
}

// The requests of the sampled blocks in the order in which an SM could make them.
class AccessRecorder::Replay {
 public:
  explicit Replay(const AccessRecorder& of)
      : of_(of), arrays_(of.arrays_.size()), seen_(of.accesses_.size()) {}

  std::vector<OnSm> run() {
    const std::uint64_t at_once =
        std::max<std::uint64_t>(stand_in_threads / std::max<std::uint64_t>(of_.launch_.block.count(), 1), 1);
    count_sectors();
    auto next = of_.sampled_.begin();
    std::vector<Running> running;
    while (next != of_.sampled_.end() || !running.empty()) {
      for (; running.size() < at_once && next != of_.sampled_.end(); ++next) {
        count_block(next->second);
        running.emplace_back(next->second);
      }
      for (Running& block : running) advance(block);
      std::erase_if(running, [](const Running& block) { return block.done; });
    }
    return std::move(seen_);
  }

 private:
  struct Running {
    explicit Running(const SampledBlock& of) : block(&of), at(of.warps.size()), last(of.warps.size()) {}
    const SampledBlock* block;
    std::vector<std::size_t> at;
    std::vector<std::map<std::size_t, Request>> last;  // of each warp, by array
    bool done = false;
  };
  struct OfArray {
    std::unordered_map<std::uint64_t, std::uint32_t> last;  // by sector
    std::uint32_t groups = 0;
  };

  void count_sectors() {
    std::vector<std::uint32_t> before;
    for (const auto& [number, block] : of_.sampled_)
      for (const auto& warp : block.warps) {
        before.assign(seen_.size(), 0);
        for (const Request& request : warp) {
          OnSm& seen = seen_[request.access];
          double sectors = 0;
          for (std::uint32_t g = 0; g < request.count; ++g)
            sectors += std::popcount(of_.groups_[request.first + g].sectors);
          const auto turn =
              std::min<std::size_t>(std::bit_width(before[request.access]++), seen.turns.size() - 1);
          seen.turns[turn] += 1;
          seen.sectors_of_turns[turn] += sectors;
          seen.all_sectors += sectors;
        }
      }
  }

  void advance(Running& block) {
    block.done = true;
    for (std::size_t w = 0; w < block.at.size(); ++w) {
      const auto& requests = block.block->warps[w];
      if (block.at[w] == requests.size()) continue;
      request(requests[block.at[w]++], block.last[w]);
      block.done = false;
    }
  }

  void request(const Request& request, std::map<std::size_t, Request>& last) {
    const std::size_t number = of_.accesses_[request.access].array;
    OfArray& array = arrays_[number];
    OnSm& seen = seen_[request.access];
    const auto before = last.try_emplace(number).first;
    for (std::uint32_t g = 0; g < request.count; ++g) {
      const LineGroup& group = of_.groups_[request.first + g];
      const std::uint8_t again = sectors_of(before->second, group.line) & group.sectors;
      ++array.groups;
      seen.sectors += std::popcount(group.sectors);
      seen.repeats += std::popcount(again);
      each(group.sectors, [&](std::uint32_t sector) {
        std::uint32_t& time = array.last[group.line * sectors_of_line + sector];
        if (time == 0)
          seen.first[part_of_first(seen.sectors / seen.all_sectors)] += 1;
        else if ((again >> sector & 1) == 0)
          seen.times[log2_of(array.groups - time)] += 1;
        time = array.groups;
      });
    }
    before->second = request;
  }

  // Those of a line that a request asked for.
  std::uint8_t sectors_of(const Request& request, std::uint64_t line) const {
    const auto begin = of_.groups_.begin() + request.first, end = begin + request.count;
    const auto found = std::lower_bound(
        begin, end, line, [](const LineGroup& group, std::uint64_t wanted) { return group.line < wanted; });
    return found != end && found->line == line ? found->sectors : std::uint8_t{0};
  }

  void count_block(const SampledBlock& block) {
    std::vector<std::unordered_map<std::uint64_t, SectorTimes::Line>> lines(arrays_.size());
    for (const auto& warp : block.warps)
      for (const Request& request : warp) {
        const Access& access = of_.accesses_[request.access];
        for (std::uint32_t g = 0; g < request.count; ++g) {
          const LineGroup& group = of_.groups_[request.first + g];
          SectorTimes::Line& line = lines[access.array][group.line];
          std::uint8_t& touched = access.reads ? line.read : line.written;
          add_touched(touched, group.sectors, seen_[request.access].block);
          if (access.reads) line.read |= group.sectors;
          if (access.writes) line.written |= group.sectors;
        }
      }
  }

  const AccessRecorder& of_;
  std::vector<OfArray> arrays_;
  std::vector<OnSm> seen_;
};

// Of the threads that are counted at places, those at the place that has most.
template <class Counts>
static double share_of_most(const Counts& counts) {
  double all = 0, most = 0;
  for (const auto& [place, count] : counts) {
    all += static_cast<double>(count);
    most = std::max(most, static_cast<double>(count));
  }
  return all > 0 ? most / all : 0;
}

AccessProfile AccessRecorder::profile_of(const Access& access, const OnSm& on_sm) const {
  AccessProfile profile;
  profile.requests = access.requests;
  profile.sectors = access.sectors / access.requests;
  profile.lines = access.lines / access.requests;
  profile.launch = access.launch;
  const double blocks = std::max(static_cast<double>(sampled_.size()), 1.0);
  profile.block = {on_sm.block.sectors / blocks, on_sm.block.pieces / blocks, on_sm.block.lines / blocks};
  profile.blocks = static_cast<double>(blocks_);
  profile.threads = static_cast<double>(launch_.block.count());
  profile.all = shares_of(access.all, access.sectors);
  if (on_sm.sectors > 0) {
    profile.repeats = on_sm.repeats / on_sm.sectors;
    profile.sm = shares_of(on_sm.times, on_sm.sectors);
    for (std::size_t turn = 0; turn < on_sm.turns.size() && on_sm.turns[turn] > 0; ++turn)
      profile.by_turn.push_back(on_sm.sectors_of_turns[turn] / on_sm.turns[turn]);
    if (const double first = std::accumulate(on_sm.first.begin(), on_sm.first.end(), 0.0); first > 0)
      for (const double share : on_sm.first) profile.first.push_back(share / first);
  }
  if (!access.atomic) return profile;
  profile.turns = access.turns / access.requests;
  profile.addresses = access.addresses / access.requests;
  const auto of = static_cast<std::size_t>(&access - accesses_.data());
  profile.hottest_lines = share_of_most(four_lines_[of]);
  profile.hottest = std::min(share_of_most(addresses_[of]), profile.hottest_lines);
  return profile;
}

void AccessRecorder::add_to(KernelProfile& profile) const {
  const std::vector<OnSm> on_sm = Replay(*this).run();
  for (std::size_t i = 0; i < accesses_.size(); ++i)
    if (accesses_[i].requests > 0)
      profile.accesses[accesses_[i].name] =
          std::make_shared<const AccessProfile>(profile_of(accesses_[i], on_sm[i]));
  add_on_chip(profile);
}

// The accesses of an item stand in the order of its instructions; where fewer were executed, all stand for each other.
void AccessRecorder::add_on_chip(KernelProfile& profile) const {
  for (const ChipAccesses& accesses : chip_) {
    std::size_t place = 0;
    const bool all = accesses.by_line.size() != accesses.unknown.size();
    if (std::none_of(accesses.unknown.begin(), accesses.unknown.end(), [](bool unknown) { return unknown; }))
      continue;
    for (const auto& [ptx_line, sum] : accesses.by_line) {
      if (!all && !accesses.unknown[place++]) continue;
      const int source_line = accesses.source_lines.at(ptx_line);
      const bool of_ptx = !accesses.item->lines.contains(source_line);
      const std::string name =
          chip_access_name(accesses.space, accesses.kind, of_ptx ? ptx_line : source_line, of_ptx);
      auto& into = profile.chip_accesses.try_emplace(name, ChipAccessProfile{0, 0}).first->second;
      into.ways = (into.ways * into.requests + sum.ways) / (into.requests + sum.requests);
      into.requests += sum.requests;
    }
  }
}

}  // namespace warptime::execute
