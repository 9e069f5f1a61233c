// A launch: its checks, and its blocks one after another.
#include <fmt/format.h>

#include <algorithm>
#include <cfenv>
#include <charconv>
#include <deque>
#include <memory>

#include "analyzer/execute/block_sample.h"
#include "analyzer/execute/layout.h"
#include "analyzer/execute/machine.h"
#include "analyzer/execute/provenance.h"
#include "analyzer/execute/races.h"

namespace warptime::execute {
namespace {

constexpr std::uint64_t most_shared_bytes = 228 * 1024;  // of the largest GPUs
constexpr std::uint64_t most_register_bytes = std::uint64_t{1}
                                              << 32;  // of this process, for the registers of one block
// A large GPU's, for blocks that wait for later ones.
constexpr std::uint64_t sms = 132, blocks_of_sm = 32, threads_of_sm = 2048;
constexpr std::uint64_t most_waiting_bytes = std::uint64_t{1} << 31;  // of this process, for their registers
constexpr std::uint32_t most_vain_turns = 64;  // of all warps of a block, before others begin
constexpr std::uint64_t instructions_at_a_time =
    1 << 14;  // instructions before the next warp runs: one may wait for another's flag

// ---- checks of the launch

// The numbers of `.maxntid 256, 1, 1`.
std::vector<std::uint64_t> numbers_of(std::string_view directive) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < directive.size();) {
    if (directive[i] < '0' || directive[i] > '9') {
      ++i;
      continue;
    }
    std::uint64_t value = 0;
    const auto [end, failure] =
        std::from_chars(directive.data() + i, directive.data() + directive.size(), value);
    numbers.push_back(failure == std::errc() ? value : 0);
    i = static_cast<std::size_t>(end - directive.data());
  }
  numbers.resize(3, 1);
  return numbers;
}

std::string text_of(const Dimensions& d) {
  return fmt::format("{} x {} x {}", d.x, d.y, d.z);
}

void check_directives(const ptx::Function& kernel, const LaunchConfig& launch, Diagnostics& errors) {
  for (const auto directive : kernel.directives) {
    if (directive.starts_with(".reqntid")) {
      const auto n = numbers_of(directive);
      if (n[0] != launch.block.x || n[1] != launch.block.y || n[2] != launch.block.z)
        errors.push_back(
            error(fmt::format("the kernel needs blocks of {} x {} x {} threads (.reqntid), not of {}", n[0],
                              n[1], n[2], text_of(launch.block))));
    } else if (directive.starts_with(".maxntid")) {
      const auto n = numbers_of(directive);
      if (launch.block.count() > n[0] * n[1] * n[2])
        errors.push_back(
            error(fmt::format("the kernel is for at most {} threads per block (.maxntid), not {}",
                              n[0] * n[1] * n[2], launch.block.count())));
    }
  }
}

void check_dimensions(const LaunchConfig& launch, Diagnostics& errors) {
  const auto &grid = launch.grid, &block = launch.block;
  if (grid.count() == 0 || block.count() == 0) errors.push_back(error("a grid or a block without threads"));
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    errors.push_back(error(fmt::format(
        "a grid of {} blocks: no device takes more than 2147483647 x 65535 x 65535", text_of(grid))));
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || block.count() > 1024)
    errors.push_back(error(
        fmt::format("a block of {} threads: no device takes more than 1024 (64 in z)", text_of(block))));
}

void check_arguments(const Program& program, const std::vector<Argument>& arguments, Diagnostics& errors) {
  const auto wanted = parameters(program);
  if (arguments.size() != wanted.size()) {
    errors.push_back(
        error(fmt::format("{} arguments for a kernel of {} parameters", arguments.size(), wanted.size())));
    return;
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (arguments[i].size() != wanted[i].bytes)
      errors.push_back(
          error(fmt::format("argument {} has {} bytes, parameter `{}` ({}) {}", i, arguments[i].size(),
                            wanted[i].name, wanted[i].type, wanted[i].bytes)));
}

Diagnostics check(const Program& program, const LaunchConfig& launch,
                  const std::vector<Argument>& arguments) {
  Diagnostics errors;
  check_dimensions(launch, errors);
  check_directives(program.module->functions[program.kernel], launch, errors);
  check_arguments(program, arguments, errors);
  if (launch.dynamic_shared_bytes > most_shared_bytes ||
      program.shared_bytes + launch.dynamic_shared_bytes > most_shared_bytes)
    errors.push_back(
        error(fmt::format("{} bytes of shared memory per block: no device has more than {}",
                          program.shared_bytes + launch.dynamic_shared_bytes, most_shared_bytes)));
  const auto warps = align_up(launch.block.count(), lanes_of_warp) / lanes_of_warp;
  const auto& kernel = program.functions.at(program.kernel);
  const std::uint64_t of_warp =
      std::uint64_t{kernel.register_slots} * 8 * lanes_of_warp + kernel.local_bytes * 2 * lanes_of_warp;
  if (errors.empty() && of_warp > most_register_bytes / warps)
    errors.push_back(error(fmt::format(
        "{} registers and {} bytes of local memory per thread: too much to execute blocks of {} threads",
        kernel.register_slots, kernel.local_bytes, launch.block.count())));
  return errors;
}

// ---- blocks

std::uint64_t special_value(const Machine& machine, const Block& block, const Warp& warp, Special special,
                            std::uint32_t lane) {
  const auto &size = machine.launch.block, &grid = machine.launch.grid;
  const auto thread = warp.index * lanes_of_warp + lane;
  const std::uint32_t bit = 1u << lane;
  switch (special) {
    case Special::tid_x:
      return thread % size.x;
    case Special::tid_y:
      return thread / size.x % size.y;
    case Special::tid_z:
      return thread / size.x / size.y;
    case Special::ntid_x:
      return size.x;
    case Special::ntid_y:
      return size.y;
    case Special::ntid_z:
      return size.z;
    case Special::ctaid_x:
      return block.index.x;
    case Special::ctaid_y:
      return block.index.y;
    case Special::ctaid_z:
      return block.index.z;
    case Special::nctaid_x:
      return grid.x;
    case Special::nctaid_y:
      return grid.y;
    case Special::nctaid_z:
      return grid.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return warp.index;
    case Special::nwarpid:
      return block.warps.size();
    case Special::nsmid:
    case Special::one:
      return 1;
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return bit - 1;
    case Special::lanemask_le:
      return bit | (bit - 1);
    case Special::lanemask_gt:
      return ~(bit | (bit - 1));
    case Special::lanemask_ge:
      return ~(bit - 1);
    case Special::dynamic_smem_size:
      return machine.launch.dynamic_shared_bytes;
    case Special::total_smem_size:
      return block.shared.size();
    case Special::smid:
    case Special::gridid:
    case Special::clock:
    case Special::zero:
      break;
  }
  return 0;
}

bool changes_with_block(Special special) {
  return special == Special::ctaid_x || special == Special::ctaid_y || special == Special::ctaid_z;
}

void set_specials(Machine& machine, Block& block, Warp& warp, bool first_block) {
  const auto& specials = machine.program->specials;
  warp.specials.resize(specials.size() * lanes_of_warp);
  for (std::size_t s = 0; s < specials.size(); ++s) {
    if (!first_block && !changes_with_block(specials[s])) continue;
    for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane)
      warp.specials[s * lanes_of_warp + lane] = special_value(machine, block, warp, specials[s], lane);
  }
}

void make_block(Machine& machine, Block& block) {
  const auto& launch = machine.launch;
  const auto threads = launch.block.count();
  block.warps.resize((threads + lanes_of_warp - 1) / lanes_of_warp);
  const auto shared_bytes = machine.program->shared_bytes + launch.dynamic_shared_bytes;
  block.shared.resize(shared_bytes);
  block.shared_valid.resize(shared_bytes);
  if (machine.options->checks.shared_accesses()) {
    block.records.resize(align_up(shared_bytes, 4));
    block.split.resize(block.records.size() / 4);
  }
  for (std::uint32_t w = 0; w < block.warps.size(); ++w) {
    block.warps[w].machine = &machine;
    block.warps[w].block = &block;
    block.warps[w].index = w;
  }
}

void start_block(Machine& machine, Block& block, std::uint64_t number, bool first) {
  const auto& grid = machine.launch.grid;
  block.number = number;
  block.index = {static_cast<std::uint32_t>(number % grid.x),
                 static_cast<std::uint32_t>(number / grid.x % grid.y),
                 static_cast<std::uint32_t>(number / grid.x / grid.y)};
  std::fill(block.shared.begin(), block.shared.end(), std::byte{0});
  std::fill(block.shared_valid.begin(), block.shared_valid.end(), std::uint8_t{0});
  start_order(block);
  for (auto& barrier : block.barriers) barrier = {};
  block.live_threads = static_cast<std::uint32_t>(machine.launch.block.count());
  const auto threads = static_cast<std::uint32_t>(machine.launch.block.count());
  for (auto& warp : block.warps) {
    const auto left = threads - warp.index * lanes_of_warp;
    set_specials(machine, block, warp, first);
    start_warp(warp, left >= lanes_of_warp ? full_mask : (1u << left) - 1);
    warp.observed = machine.listener != nullptr && machine.listener->wants({number, warp.index});
  }
  ++machine.result.counts.blocks;
  machine.result.counts.warps += block.warps.size();
}

// Nobody can go on, or all who can read the same again and again: lets threads go on that wait for others of
// their warp. Gives whether there were any.
bool release_waiting(Block& block) {
  bool any = false;
  for (auto& warp : block.warps) any = release_meetings(warp) || any;
  return any;
}

bool break_waiting(Block& block) {
  for (auto& warp : block.warps)
    if (break_members(warp)) return true;
  return false;
}

// Runs a block until it ends, or its warps poll in vain for what other blocks may write. Gives whether it has ended.
bool run_block(Machine& machine, Block& block) {
  std::uint32_t vain = 0;
  while (!machine.stopped) {
    bool ready = false, left = false, advanced = false;
    for (auto& warp : block.warps) {
      if (warp.state == Warp::State::ready) {
        ready = true;
        run_warp(warp, instructions_at_a_time);
        if (machine.stopped) return true;
        advanced = advanced || !warp.polled_in_vain;
      }
      left = left || warp.state != Warp::State::ended;
    }
    if (!left) return true;
    if (!advanced && release_waiting(block)) continue;
    if (advanced)
      vain = 0;
    else if (ready && ++vain == most_vain_turns)
      return false;
    if (!ready && !break_waiting(block)) {
      report_deadlock(block);
      return true;
    }
  }
  return true;
}

// How many blocks can be under way at a time.
std::uint64_t most_blocks(const Machine& machine) {
  const auto& program = *machine.program;
  const auto& kernel = program.functions.at(program.kernel);
  const auto threads = align_up(machine.launch.block.count(), lanes_of_warp);
  const auto shared = program.shared_bytes + machine.launch.dynamic_shared_bytes;
  auto of_sm = std::min(blocks_of_sm, threads_of_sm / threads);
  if (shared != 0) of_sm = std::min(of_sm, most_shared_bytes / shared);
  const auto bytes = threads * (std::uint64_t{kernel.register_slots} * 12 + kernel.local_bytes * 2) +
                     shared * (2 + sizeof(SharedRecord)) + 1;
  return std::max<std::uint64_t>(1, std::min(of_sm * sms, most_waiting_bytes / bytes));
}

// Blocks one after another; where one waits for others, later ones begin.
void run_blocks(Machine& machine) {
  const BlockSample sample(machine.launch.grid.count(), machine.options->sample_blocks);
  const auto count = sample.size(), most = most_blocks(machine);
  std::deque<std::unique_ptr<Block>> waiting;  // the one that waits longest first
  std::vector<std::unique_ptr<Block>> ended;
  for (std::uint64_t number = 0; (number < count || !waiting.empty()) && !machine.stopped;) {
    std::unique_ptr<Block> block;
    if (number < count && waiting.size() < most) {
      const bool first = ended.empty();
      if (first) {
        block = std::make_unique<Block>();
        make_block(machine, *block);
      } else {
        block = std::move(ended.back());
        ended.pop_back();
      }
      start_block(machine, *block, sample.block(number++), first);
    } else {
      block = std::move(waiting.front());
      waiting.pop_front();
    }
    if (!run_block(machine, *block)) {
      waiting.push_back(std::move(block));
      continue;
    }
    ended.push_back(std::move(block));
    // What it wrote may be what those wait for.
    for (std::size_t i = waiting.size(); i > 0 && !machine.stopped; --i) {
      auto one = std::move(waiting.front());
      waiting.pop_front();
      if (run_block(machine, *one))
        ended.push_back(std::move(one));
      else
        waiting.push_back(std::move(one));
    }
  }
}

std::vector<std::byte> parameter_bytes(const Program& program, const std::vector<Argument>& arguments) {
  std::vector<std::byte> bytes(program.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].empty())
      std::memcpy(&bytes[program.parameters[i].address], arguments[i].data(), arguments[i].size());
  return bytes;
}

// The host's rounding is to nearest while a kernel runs, whatever it was.
class RoundingGuard {
 public:
  RoundingGuard() : before_(std::fegetround()) { std::fesetround(FE_TONEAREST); }
  ~RoundingGuard() { std::fesetround(before_); }
  RoundingGuard(const RoundingGuard&) = delete;
  RoundingGuard& operator=(const RoundingGuard&) = delete;

 private:
  int before_;
};

}  // namespace

Result<Execution> run(const Program& program, Memory& memory, const LaunchConfig& launch,
                      const std::vector<Argument>& arguments, const Options& options,
                      ExecutionListener* listener) {
  if (auto errors = check(program, launch, arguments); !errors.empty()) return errors;
  const RoundingGuard guard;
  Machine machine;
  machine.program = &program;
  machine.memory = &memory.state();
  machine.options = &options;
  machine.map = &address_map(program.wide);
  machine.listener = listener;
  machine.launch = launch;
  machine.parameters = parameter_bytes(program, arguments);
  machine.budget = options.instruction_budget;
  give_owners(program, memory.state(), arguments);
  run_blocks(machine);
  machine.result.completed = !machine.stopped;
  return std::move(machine.result);
}

}  // namespace warptime::execute
