#include "reference_sm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <list>
#include <map>
#include <set>

#include "simulator/program/shared_conflicts.h"
#include "simulator/sm/slice_distance.h"

namespace warptime::test {
namespace {

// What one warp executes, with the addresses of its threads.
struct Step {
  const Item* item = nullptr;
  std::vector<int> lanes;
  int load = 0;  // its number, from 1
  std::int64_t instructions = 1;
  std::vector<std::int64_t> addresses;             // of an access, by lane of `lanes`
  std::vector<std::vector<std::int64_t>> on_chip;  // of each ChipAccess
};

class Writer {
 public:
  Writer(const KernelProgram& program, const Bindings& values, const LaunchSize& size, std::int64_t block,
         std::int64_t warp, double behind = 0) {
    const std::int64_t per_block = size.block[0] * size.block[1] * size.block[2];
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      const std::int64_t thread = warp * 32 + lane;
      if (thread >= per_block) break;
      lanes_.push_back(static_cast<int>(lane));
      Bindings all = values;
      const std::array<std::int64_t, 3> ids = {thread % size.block[0], thread / size.block[0] % size.block[1],
                                               thread / (size.block[0] * size.block[1])};
      const std::array<std::int64_t, 3> blocks = {block % size.grid[0], block / size.grid[0] % size.grid[1],
                                                  block / (size.grid[0] * size.grid[1])};
      const std::array<std::string, 3> axes = {"x", "y", "z"};
      for (std::size_t d = 0; d < 3; ++d) {
        all["threadIdx." + axes[d]] = ids[d];
        all["blockIdx." + axes[d]] = blocks[d];
        all["blockDim." + axes[d]] = size.block[d];
        all["gridDim." + axes[d]] = size.grid[d];
      }
      threads_.push_back(std::move(all));
    }
    number(program.program);
    behind_ = behind * work(program.program, true);
    std::vector<std::size_t> everyone(threads_.size());
    for (std::size_t i = 0; i < everyone.size(); ++i) everyone[i] = i;
    write(program.program, everyone);
  }

  std::vector<Step> steps;

  // With loads where they rise to.
  static std::vector<const Item*> in_order(const Items& items) {
    std::vector<const Item*> order;
    for (const Item& item : items) {
      const auto rises = item.detail ? static_cast<std::size_t>(item.detail->rises) : 0;
      order.insert(order.end() - static_cast<std::ptrdiff_t>(std::min(rises, order.size())), &item);
    }
    return order;
  }

 private:
  using Threads = std::vector<std::size_t>;

  void number(const Items& items) {
    for (const Item& item : items) {
      if (const auto* access = std::get_if<MemoryAccess>(&item.what);
          access != nullptr && access->kind == MemoryAccess::Kind::load)
        numbers_[&item] = static_cast<int>(numbers_.size()) + 1;
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
        if (!repeat->counter.empty())
          for (Bindings& thread : threads_) thread[repeat->counter] = 0;
        number(repeat->body);
      }
      if (const auto* when = std::get_if<When>(&item.what)) {
        number(when->then_items);
        number(when->else_items);
      }
    }
  }

  std::int64_t value(const Expression& expression, std::size_t thread) const {
    return *evaluate_count(expression, threads_[thread]);
  }

  // The items that are executed, of both sides of conditions.
  double work(const Items& items, bool in_repeats) const {
    double sum = 0;
    for (const Item& item : items) {
      if (const auto* repeat = std::get_if<Repeat>(&item.what))
        sum += static_cast<double>(std::max<std::int64_t>(value(repeat->count, 0), 0)) *
               work(repeat->body, false);
      else if (const auto* when = std::get_if<When>(&item.what))
        sum += work(when->then_items, in_repeats) + work(when->else_items, in_repeats);
      else if (!in_repeats)
        sum += 1;
    }
    return sum;
  }

  void write(const Items& items, const Threads& threads) {
    for (const Item* item : in_order(items)) write(*item, threads);
  }

  void write(const Item& item, const Threads& around) {
    Threads threads;
    for (const std::size_t thread : around)
      if (!item.threads || value(*item.threads, thread) != 0) threads.push_back(thread);
    if (threads.empty() && !item.predicated) return;
    if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      if (threads.empty()) return;
      const std::int64_t count = value(repeat->count, threads[0]);
      std::int64_t first = 0;
      if (behind_ > 0 && count > 0) {
        const double each = work(repeat->body, false);
        first = std::min(count, static_cast<std::int64_t>(behind_ / std::max(each, 1.0)));
        behind_ = first < count ? 0 : behind_ - static_cast<double>(first) * each;
      }
      for (std::int64_t i = first; i < count; ++i) {
        if (!repeat->counter.empty())
          for (Bindings& thread : threads_) thread[repeat->counter] = i;
        write(repeat->body, threads);
      }
      return;
    }
    if (const auto* when = std::get_if<When>(&item.what)) {
      if (threads.empty()) return;
      return write(value(when->condition, threads[0]) != 0 ? when->then_items : when->else_items, threads);
    }
    Step step;
    step.item = &item;
    for (const std::size_t thread : threads) step.lanes.push_back(lanes_[thread]);
    if (const auto known = numbers_.find(&item); known != numbers_.end()) step.load = known->second;
    if (const auto* run = std::get_if<Instructions>(&item.what); run != nullptr && !threads.empty())
      step.instructions = value(run->count, threads[0]);
    if (const auto* access = std::get_if<MemoryAccess>(&item.what))
      for (const std::size_t thread : threads) step.addresses.push_back(value(*access->address, thread));
    if (item.detail)
      for (const ChipAccess& access : item.detail->on_chip) {
        step.on_chip.emplace_back();
        for (const std::size_t thread : threads)
          step.on_chip.back().push_back(value(*access.address, thread));
      }
    steps.push_back(std::move(step));
  }

  std::vector<Bindings> threads_;
  std::vector<int> lanes_;
  std::map<const Item*, int> numbers_;
  double behind_ = 0;  // of the outermost repeats' work, what is left out
};

class ReferenceSm {
 public:
  ReferenceSm(const KernelProgram& program, const Bindings& values, const LaunchSize& size,
              const SmFigures& figures, const SmOptions& options)
      : program_(program),
        values_(values),
        size_(size),
        figures_(figures),
        options_(options),
        partitions_(static_cast<std::size_t>(figures.partitions)),
        next_block_(options.turns.block(options.sm, options.sms, 0)),
        free_places_(static_cast<std::size_t>(options.active_blocks), 0) {
    look_for_details(program.program);
    std::vector<const Item*> in_no_loop;
    look_for_mixtures(program.program, in_no_loop);
    end(in_no_loop);
  }

  ReferenceRun run() {
    while (true) {
      while (!free_places_.empty()) {
        const double since = free_places_.back();
        free_places_.pop_back();
        start_block(since);
      }
      if (!issue()) break;
    }
    run_.cycles = std::max({now_, end_, l1_free_, l2_free_, l2_stores_free_, memory_free_});
    for (const auto& [address, line] : local_)
      run_.local_left_sectors += static_cast<double>(line.stored.size());
    return run_;
  }

 private:
  struct Partition {
    double free = 0;
    std::array<double, kPipes> pipes{};
    double imad = 0, ports = 0;
    std::list<std::pair<std::int64_t, double>> constants;  // lines, the one that was used last first
    double constants_free = 0;
    int warps = 0;
  };
  struct Block {
    std::int64_t number = 0, running = 0;
    std::vector<std::size_t> waiting;  // at the barrier, as they came
    double opens = 0;
    std::map<std::int64_t, double> added;  // when the last addition to an address of shared memory is done
  };
  struct Warp {
    std::vector<Step> steps;
    std::size_t at = 0, partition = 0, place = 0;
    Block* block = nullptr;
    double began = 0;                  // its item
    std::int64_t constant_line = -1;   // that it asked for last, by an index
    double constant_asked = 0;         // when the item began that did
    std::vector<std::int64_t> halves;  // addresses of constants that it loaded last, of each thread
    decltype(Step::lanes) half_lanes;
    bool first_half = false;
    double half_began = 0, halves_there = 0;
    bool ready = false;  // it waits for its turn from `since` on
    double since = 0;
    bool at_l1 = false;                    // what comes next accesses L1 or shared memory
    bool stores = false;                   // it is a store
    bool loads_memory = false;             // it is a load of device memory
    std::int64_t wave = 0;                 // blocks of its SM that started before its own
    int held_up = 0;                       // items in a row that L1's queue had no room for
    int loads_held_up = 0;                 // loads in a row
    std::pair<double, std::int64_t> turn;  // among those that yield
    double unhindered =
        0;  // when it could have begun, if no other warp had been in the way since it waited for a result
    std::int64_t waits = 0;  // how many times any warp had waited by then
    std::map<int, double> loads;
    double all_loads = 0;
  };
  struct Line {
    std::int64_t address = 0;
    unsigned loaded = 0, stored = 0;
    std::array<double, 4> ready{}, waiting{}, filled{};
    std::ptrdiff_t storer = -1;  // the place in warps_ of the warp that stored last
    std::int64_t number = 0;     // of opened lines by then; 0: never
    double own_until = 0, others_until = 0;
  };

  void look_for_details(const Items& items) {
    for (const Item& item : items) {
      if (has_dependences(item)) details_ = true;
      if (item.detail) needed_.insert(item.detail->needs.begin(), item.detail->needs.end());
      if (item.machine && item.machine->cycles > 0) cycles_known_ = true;
      if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
        arrays_.try_emplace(access->array, static_cast<std::int64_t>(arrays_.size() + 1) << 43);
      }
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) look_for_details(repeat->body);
      if (const auto* when = std::get_if<When>(&item.what)) {
        look_for_details(when->then_items);
        look_for_details(when->else_items);
      }
    }
  }

  // What is between the same barriers in the same body of a loop.
  void look_for_mixtures(const Items& items, std::vector<const Item*>& mixture) {
    for (const Item* item : Writer::in_order(items)) {
      mixture.push_back(item);
      if (const auto* repeat = std::get_if<Repeat>(&item->what)) {
        std::vector<const Item*> body;
        look_for_mixtures(repeat->body, body);
        end(body);
      }
      if (const auto* when = std::get_if<When>(&item->what)) {
        look_for_mixtures(when->then_items, mixture);
        look_for_mixtures(when->else_items, mixture);
      }
      if (item->detail && item->detail->barrier) end(mixture);
    }
  }

  void end(std::vector<const Item*>& mixture) {
    for (const Item* item : mixture) mixtures_[item] = mixture;
    mixture.clear();
  }

  // How much longer what holds a partition takes than its busiest part.
  double contention(const std::vector<const Item*>& mixture) const {
    MachineWork all;
    double slots = 0;
    for (const Item* item : mixture) {
      if (!item->machine) continue;
      all.add(*item->machine);
      slots += item->machine->total();
      const auto* access = std::get_if<MemoryAccess>(&item->what);
      if (access != nullptr && access->kind == MemoryAccess::Kind::load) slots += 0.8;
    }
    const double products = std::max(all.imad - all[Pipe::fma], 0.0);
    std::vector<double> held = {slots, std::min(all.imad, 2 * products), all.reads / 2, all.matrix};
    for (std::size_t pipe = 0; pipe < kPipes; ++pipe)
      if (figures_.pipe_cycles[pipe] > 1) held.push_back(all.by_pipe[pipe] * figures_.pipe_cycles[pipe]);
    double powers = 0;
    for (const double one : held) powers += std::pow(one, 5);
    const double most = *std::max_element(held.begin(), held.end());
    return most > 0 ? std::pow(powers, 0.2) / most : 1;
  }

  void start_block(double since) {
    if (next_block_ >= size_.grid[0] * size_.grid[1] * size_.grid[2]) return;
    const std::int64_t warps = size_.warps_per_block();
    const double start = std::max(since, next_start_);
    next_start_ = start + std::max(figures_.block_start_cycles,
                                   static_cast<double>(warps) * figures_.warp_start_cycles);
    blocks_.push_back({next_block_, warps, {}, 0, {}});
    const auto started = static_cast<double>(block_turn_);
    const auto active = static_cast<double>(options_.active_blocks);
    const double behind = started >= active        ? 0
                          : options_.in_the_middle ? 1 - (started + 0.5) / active
                                                   : options_.begin;
    for (std::int64_t w = 0; w < warps; ++w) {
      Warp warp;
      warp.steps = Writer(program_, values_, size_, next_block_, w, behind).steps;
      warp.block = &blocks_.back();
      warp.partition = warps_.size() % partitions_.size();
      ++partitions_[warp.partition].warps;
      warp.place = places_++;
      if (!left_places_.empty()) {
        --places_;
        warp.place = left_places_.back();
        left_places_.pop_back();
      }
      warp.unhindered = start;
      warp.wave = block_turn_;
      warps_.push_back(std::move(warp));
      wait(warps_.size() - 1, start + static_cast<double>(w) * figures_.warp_start_cycles);
      warps_.back().turn = {warps_.back().since, warps_.back().waits};
    }
    next_block_ = options_.turns.block(options_.sm, options_.sms, ++block_turn_);
  }

  // When a warp could issue, if its partition had no other: accesses wait for room in L1's queue.
  double could_issue(const Warp& warp) const {
    const double time = std::max(partitions_[warp.partition].free, warp.since);
    return warp.at_l1 ? std::max(time, l1_free_ - 32) : time;
  }

  // Of warps that could issue: the youngest, or, where all have accesses that were held up often, a load, and of these the one that
  // waits the longest, or else a store, of the oldest block and of these the one that waits the longest. A load that follows at once,
  // or a store behind a load, has the turn of what it follows.
  static bool goes_before(const Warp& younger, const Warp& older) {
    const auto patience = [](const Warp& warp) {
      if (warp.stores && warp.held_up > 2) return 2;
      return warp.loads_memory && warp.loads_held_up > 6 ? 1 : 0;
    };
    if (patience(younger) != patience(older)) return patience(younger) < patience(older);
    if (patience(younger) == 0) return true;
    if (patience(younger) == 2 && younger.wave != older.wave) return younger.wave < older.wave;
    return younger.turn < older.turn;
  }

  // The partition that can issue first does; of several, those behind the one that issued last, in order.
  bool issue() {
    std::optional<std::size_t> next;
    double earliest = 0;
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      const std::size_t p = (turn_ + i) % partitions_.size();
      std::optional<double> first;
      for (const Warp& warp : warps_)
        if (warp.ready && warp.partition == p)
          first = std::min(first.value_or(could_issue(warp)), could_issue(warp));
      if (!first || (next && *first >= earliest)) continue;
      earliest = *first;
      next.reset();
      for (std::size_t w = 0; w < warps_.size(); ++w)
        if (warps_[w].ready && warps_[w].partition == p && could_issue(warps_[w]) <= earliest &&
            (!next || goes_before(warps_[w], warps_[*next])))
          next = w;
    }
    if (!next) return false;
    now_ = std::max(now_, earliest);
    Warp& warp = warps_[*next];
    turn_ = warp.partition + 1;
    warp.ready = false;
    const bool full = warp.at_l1 && l1_free_ - 32 > std::max(partitions_[warp.partition].free, warp.since);
    warp.held_up = full ? warp.held_up + 1 : 0;
    if (warp.loads_memory) warp.loads_held_up = full ? warp.loads_held_up + 1 : 0;
    execute(*next);
    return true;
  }

  void wait(std::size_t index, double until) {
    Warp& warp = warps_[index];
    if (warp.at == warp.steps.size()) return end(index, until);
    const Step& step = warp.steps[warp.at];
    double results = 0;
    if (!details_) {
      if (step.load == 0) results = warp.all_loads;
    } else if (step.item->detail) {
      for (const int load : step.item->detail->needs) results = std::max(results, warp.loads[load]);
    }
    until = std::max(until, results);
    warp.unhindered = std::max(warp.unhindered, results);
    warp.ready = true;
    warp.at_l1 = !step.lanes.empty() && accesses_l1(*step.item);
    const auto* access = std::get_if<MemoryAccess>(&step.item->what);
    const bool stored = warp.stores;
    warp.stores = warp.at_l1 && access != nullptr && access->kind == MemoryAccess::Kind::store;
    const double free = partitions_[warp.partition].free;
    warp.loads_memory = warp.at_l1 && access != nullptr && access->kind == MemoryAccess::Kind::load;
    const bool follows = until < free + 4;
    if (stored && warp.stores && follows) until = std::min(until, free);
    warp.since = until;
    warp.waits = ++waits_;
    if (!follows || (stored && warp.stores)) warp.turn = {warp.since, warp.waits};
  }

  static bool accesses_l1(const Item& item) {
    bool found = std::holds_alternative<MemoryAccess>(item.what);
    if (item.detail)
      for (const ChipAccess& access : item.detail->on_chip)
        found = found || access.space != ChipAccess::Space::constant;
    return found;
  }

  void end(std::size_t index, double time) {
    --partitions_[warps_[index].partition].warps;
    Warp& warp = warps_[index];
    time = std::max(time, warp.all_loads);
    end_ = std::max(end_, time);
    left_places_.push_back(warp.place);
    Block& block = *warp.block;
    if (--block.running == 0) {
      free_places_.push_back(time +
                             (kUntilFree + kUntilWarpFree * static_cast<double>(size_.warps_per_block())));
    } else {
      if (!block.waiting.empty()) block.opens = std::max(block.opens, time);
      open_barrier(block);
    }
  }

  void execute(std::size_t index) {
    const Step step = warps_[index].steps[warps_[index].at++];
    const Item& item = *step.item;
    const ItemDetail* detail = item.detail.get();
    const auto* access = std::get_if<MemoryAccess>(&item.what);
    const bool skipped = step.lanes.empty();
    const double start = now_;
    Partition& partition = partitions_[warps_[index].partition];
    double slots =
        std::holds_alternative<Calculation>(item.what) ? 0 : static_cast<double>(step.instructions);
    if (item.machine) slots = item.machine->total();
    if (access != nullptr && access->kind == MemoryAccess::Kind::load && !skipped) slots += 0.8;
    const double longer = item.machine ? contention(mixtures_.at(&item)) : 1;
    partition.free = start + longer * slots;
    double done = partition.free;
    const auto hold = [&](double& until, double cycles) {
      if (cycles <= 0) return;
      until = std::max(until, start) + longer * cycles;
      done = std::max(done, until);
    };
    if (item.machine) {
      for (std::size_t pipe = 0; pipe < kPipes; ++pipe)
        hold(partition.pipes[pipe], item.machine->by_pipe[pipe] * figures_.pipe_cycles[pipe]);
      hold(partition.imad, item.machine->imad);
      hold(partition.pipes[static_cast<std::size_t>(Pipe::tensor)], item.machine->matrix);
      hold(partition.ports, item.machine->reads / 2);
    }
    if (item.machine && item.machine->cycles > 0)
      done = std::max(done, start + item.machine->cycles);
    else if (detail != nullptr && detail->chain && !(cycles_known_ && item.machine))
      done = std::max(done, start + *detail->chain);
    if (access == nullptr || !access->continues)
      run_.counts.instructions += static_cast<double>(step.instructions);
    if (access != nullptr && !skipped) access_memory(warps_[index], step, *access, start);
    warps_[index].began = start;
    double loops_end = start;  // of additions of floating-point numbers
    for (std::size_t i = 0; detail != nullptr && !skipped && i < detail->on_chip.size(); ++i) {
      const ChipAccess& chip = detail->on_chip[i];
      const bool adds = detail->floating && chip.space == ChipAccess::Space::shared &&
                        chip.kind == ChipAccess::Kind::atomic;
      const double there = access_chip(warps_[index], step, i, loops_end);
      done = std::max(done, there);
      if (!adds) continue;
      const double added = add_in_shared(warps_[index], step, i, start, loops_end);
      loops_end = std::max(loops_end, added);
      done = std::max(done, added);
    }
    if (detail != nullptr && detail->shuffles != 0 && !skipped)
      done = std::max(done, l1_free_ = std::max(start, l1_free_) +
                                       figures_.request_cycles * static_cast<double>(detail->shuffles));
    if (detail != nullptr && detail->matches != 0 && !skipped) {
      const double turn = std::max(start, constant_free_), values = static_cast<double>(detail->matches);
      constant_free_ = turn + values * figures_.constant_way_cycles;
      done = std::max({done, constant_free_,
                       turn + figures_.constant_latency + (values - 1) * figures_.constant_way_latency});
    }
    warps_[index].unhindered += done - start;
    done = std::max(done, l1_free_ - kLongestQueue);
    end_ = std::max(end_, done);
    if (detail == nullptr || !detail->barrier) return wait(index, done);
    Block& block = *warps_[index].block;
    block.waiting.push_back(index);
    barrier_free_ = std::max(barrier_free_, done) + figures_.barrier_warp_cycles;
    block.opens = std::max(block.opens, barrier_free_ + figures_.barrier_latency);
    open_barrier(block);
  }

  void open_barrier(Block& block) {
    if (block.waiting.empty() || static_cast<std::int64_t>(block.waiting.size()) < block.running) return;
    const std::vector<std::size_t> warps = block.waiting;
    const double at = block.opens;
    block.waiting.clear();
    for (const std::size_t warp : warps) {
      warps_[warp].unhindered = at;
      wait(warp, at);
    }
    block.opens = 0;
  }

  // ---- Levels of memory.

  static constexpr double kLongestQueue = 500;
  static constexpr double kUntilFree = 375, kUntilWarpFree = 4.5;  // a block's place
  static constexpr double kSpan = 8000;                            // over which use is averaged

  void access_memory(Warp& warp, const Step& step, const MemoryAccess& access, double start) {
    ++run_.accesses;
    const std::int64_t bytes = access.bytes.value_or(4);
    of_all_ = is_of_all_blocks(access);
    std::map<std::int64_t, unsigned> lines;
    for (const std::int64_t address : step.addresses) {
      const std::int64_t first = address + arrays_.at(access.array);
      for (std::int64_t byte = first; byte < first + bytes; ++byte) lines[byte >> 7] |= 1U << (byte >> 5 & 3);
    }
    double sectors = 0;
    for (const auto& [line, bits] : lines) sectors += std::popcount(bits);
    const double of_threads = static_cast<double>(step.addresses.size()) * static_cast<double>(bytes);
    double done = start;
    const bool loads = access.kind == MemoryAccess::Kind::load || is_asynchronous_copy(access);
    const double each =
        loads && !is_atomic(access) ? l1_cycles(step, bytes, lines) / static_cast<double>(lines.size())
        : !is_atomic(access) && of_threads < 32 * sectors && sectors == static_cast<double>(lines.size())
            ? 1.8
            : std::max(figures_.request_cycles / static_cast<double>(lines.size()), 1.0);
    double before = 0;  // cycles of L1 that lines before took
    const bool rows = !is_atomic(access) && lines.size() == step.addresses.size() && are_rows(lines);
    apart_ = rows ? 1.5 : 1;
    for (const auto& [line, bits] : lines) {
      const double turn = turn_at_l1(start, each);
      const bool floating = step.item->detail && step.item->detail->floating;
      if (is_atomic(access)) {
        done = std::max(
            done, do_atomic(*warp.block, is_of_all_blocks(access), line, bits, turns_of(step, access, line),
                            floating, turn, sectors_of_atomic(step, sectors)));
      } else if (is_asynchronous_copy(access)) {
        for (int sector = 0; sector < 4; ++sector)
          if ((bits >> sector & 1) != 0) {
            run_.counts.load_sectors += 1;
            read(line, sector, turn, false, 1);
          }
      } else if (access.kind == MemoryAccess::Kind::store) {
        do_store(warp, line, bits, turn, of_threads / sectors,
                 stored_in_part(step, access, (rows ? 1 : 2) * of_threads, sectors), rows,
                 static_cast<double>(lines.size()),
                 of_threads + 64 > 32 * sectors &&
                     static_cast<double>(lines.size()) <= std::floor(of_threads / 128) + 2);
      } else {
        passed_over_ += each;
        done = std::max(done, do_load(line, bits, turn, before, each));
        before += each;
      }
    }
    if (step.load > 0) {
      warp.loads[step.load] = done;
      warp.all_loads = std::max(warp.all_loads, done);
    }
  }

  // More than one line, each 256 bytes from the next at least.
  static bool are_rows(const std::map<std::int64_t, unsigned>& lines) {
    for (auto at = lines.begin(); at != lines.end(); ++at)
      if (const auto next = std::next(at); next != lines.end() && next->first - at->first < 2) return false;
    return lines.size() > 1;
  }

  // Fewer bytes than the sectors have, with the other stores of its list to the same array.
  bool stored_in_part(const Step& step, const MemoryAccess& access, double bytes, double sectors) const {
    const Items* list = list_of(program_.program, step.item);
    const auto together = std::count_if(list->begin(), list->end(), [&](const Item& item) {
      const auto* other = std::get_if<MemoryAccess>(&item.what);
      return other != nullptr && other->kind == MemoryAccess::Kind::store && other->array == access.array;
    });
    return bytes * static_cast<double>(together) < 32 * sectors;
  }

  static const Items* list_of(const Items& items, const Item* wanted) {
    for (const Item& item : items) {
      if (&item == wanted) return &items;
      const Items* found = nullptr;
      if (const auto* repeat = std::get_if<Repeat>(&item.what)) found = list_of(repeat->body, wanted);
      if (const auto* when = std::get_if<When>(&item.what)) {
        found = list_of(when->then_items, wanted);
        if (found == nullptr) found = list_of(when->else_items, wanted);
      }
      if (found != nullptr) return found;
    }
    return nullptr;
  }

  double turn_at_l1(double time, double cycles = 1) {
    const double turn = std::max({time, l1_free_, l2_free_ - kLongestQueue, l2_stores_free_ - kLongestQueue});
    passed_over_ += turn - std::max(time, l1_free_);
    l1_free_ = turn + cycles;
    return turn;
  }

  // Four lines a cycle, of which no two have the same last bits; a word of each bank a cycle, for as many threads as
  // have 128 bytes together.
  double l1_cycles(const Step& step, std::int64_t bytes,
                   const std::map<std::int64_t, unsigned>& lines) const {
    std::array<double, 4> looked_up{};
    for (const auto& [line, bits] : lines) looked_up[static_cast<std::size_t>(line % 4)] += 1;
    const double least = static_cast<double>(step.addresses.size()) * static_cast<double>(bytes) / 128;
    const double cycles =
        std::max({figures_.request_cycles, least, *std::max_element(looked_up.begin(), looked_up.end())});
    double sectors = 0;
    for (const auto& [line, bits] : lines) sectors += std::popcount(bits);
    if (static_cast<double>(lines.size()) <= least + 1 && sectors <= 4 * least + 1) return cycles;
    std::array<std::int64_t, 32> of_lanes{};
    std::uint32_t active = 0;
    for (std::size_t i = 0; i < step.lanes.size(); ++i) {
      of_lanes[static_cast<std::size_t>(step.lanes[i])] = step.addresses[i];
      active |= std::uint32_t{1} << step.lanes[i];
    }
    return std::max<double>(cycles, shared_ways(of_lanes, active, bytes, ChipAccess::Kind::load));
  }

  // The line of L1, now the one that was used last.
  Line& line_of_l1(std::int64_t address) {
    const auto known =
        std::find_if(l1_.begin(), l1_.end(), [&](const Line& line) { return line.address == address; });
    if (known != l1_.end()) {
      l1_.splice(l1_.begin(), l1_, known);
    } else {
      l1_.push_front({address, 0, 0, {}, {}, {}, -1, 0, 0, 0});
      const std::int64_t most = std::max<std::int64_t>(figures_.l1_bytes / 128, 4);
      const std::int64_t places = std::max(most, figures_.unified_l1_bytes / 128);
      std::int64_t others = 0;
      for (const Line& line : l1_) others += set_of(line.address, places) == set_of(address, places);
      if (others > std::min<std::int64_t>(places, 8))
        l1_.erase(std::prev(std::find_if(l1_.rbegin(), l1_.rend(), [&](const Line& line) {
                              return set_of(line.address, places) == set_of(address, places);
                            }).base()));
      else if (static_cast<std::int64_t>(l1_.size()) > most)
        l1_.pop_back();
    }
    return l1_.front();
  }

  // Eight lines each; no two of as many side by side as there are sets are in one.
  static std::uint64_t set_of(std::int64_t address, std::int64_t lines) {
    const auto number = static_cast<std::uint64_t>(address);
    const auto sets = static_cast<std::uint64_t>(std::max<std::int64_t>(lines / 8, 1));
    std::uint64_t hash = number / sets;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebU;
    hash = hash ^ hash >> 31;
    return (number + hash) % sets;
  }

  double do_load(std::int64_t address, unsigned sectors, double time, double behind, double cycles) {
    Line& line = line_of_l1(address);
    double done = time + figures_.l1_latency + behind;
    const unsigned before = line.loaded;
    bool waits = false;
    for (int sector = 0; sector < 4; ++sector) {
      if ((sectors >> sector & 1) == 0) continue;
      const auto s = static_cast<std::size_t>(sector);
      run_.counts.load_sectors += 1;
      if ((before >> sector & 1) != 0) {
        run_.counts.load_hits += 1;
        waits = waits || line.ready[s] > time;
      } else {
        waits = true;
        const bool lone = (sectors >> (sector ^ 1) & 1) == 0 || (before >> (sector ^ 1) & 1) != 0;
        line.ready[s] = read(address, sector, time, (line.stored >> sector & 1) != 0, lone ? 1.6 : 1);
        line.loaded |= 1U << sector;
      }
      done = std::max(done, line.ready[s]);
    }
    if (waits) l1_free_ += 0.5 * std::min(cycles, 1.0);
    return done;
  }

  // Others have ended when the SM has executed as much as they.
  double busy_part() const {
    if (options_.even_instructions == 0 || run_.counts.instructions < options_.even_instructions) return 1;
    return options_.left_sms;
  }
  double memory_sector_cycles() const { return busy_part() * figures_.memory_sector_cycles; }
  double l2_sector_cycles() const {
    return std::max(figures_.l2_sector_cycles_alone, busy_part() * figures_.l2_sector_cycles);
  }

  double turn_at_l2(double time, double sectors, double each) {
    const double turn = std::max({time, l2_free_, memory_free_ - kLongestQueue, written_back_});
    const double cycles = sectors * each;
    l2_busy_ = l2_busy_ * std::exp(-std::max(0.0, time - l2_busy_since_) / kSpan) + cycles;
    l2_busy_since_ = std::max(l2_busy_since_, time);
    l2_free_ = std::max(l2_free_, turn - std::min(1000.0, time / 8)) + cycles;
    return turn;
  }

  double l2_crowd() const {
    const double used = std::min(0.95, l2_busy_ / kSpan);
    return 27 * used / (1 - used);
  }

  // Of stores, which wait for reads as well.
  double stores_at_l2(double time, double sectors, double each) {
    const double turn = std::max({time, l2_stores_free_, memory_free_ - kLongestQueue});
    l2_stores_free_ = std::max(l2_stores_free_, turn - std::min(1000.0, time / 8)) + sectors * each;
    return turn;
  }

  // What a request waits for others at the memory.
  double turn_at_memory(double time, double sectors) {
    const double cycles = sectors * memory_sector_cycles();
    busy_ *= std::exp(-std::max(0.0, time - busy_since_) / kSpan);
    busy_ += cycles;
    busy_since_ = std::max(busy_since_, time);
    memory_free_ = std::max(memory_free_, time - std::min(2000.0, time / 8)) + cycles;
    const double used = std::min(0.95, busy_ / kSpan);
    return 78 * used / (1 - used) + 370 * options_.mixed * used;
  }

  // L2 loses a line when as much as it keeps has come since it was used.
  // Of local memory: the sectors that L2 had and has no more.
  int use_local(std::int64_t address, unsigned sectors, bool store) {
    const double room = options_.local_bytes_at_l2;
    if (room == 0) return 0;
    Local& line = local_[address];
    const double since = through_ - line.used;
    int gone = 0, begin = 0, again = 0;
    for (int sector = 0; sector < 4; ++sector) {
      if ((sectors >> sector & 1) == 0) continue;
      if (line.there.insert(sector).second) {
        ++begin;
        gone += store ? 0 : static_cast<int>(line.had.count(sector));
      } else {
        ++again;
      }
      if (store) line.stored.insert(sector);
    }
    const double comes = 32 * (begin + again * std::min(1.3 * since / room, 1.0));
    through_ += comes;
    passed_ += comes;
    line.used = through_;
    for (auto& [of, other] : local_) {
      if (through_ - other.used <= room) continue;
      run_.counts.local_written_sectors += static_cast<double>(other.stored.size());
      other.had.insert(other.there.begin(), other.there.end());
      other.there.clear();
      other.stored.clear();
    }
    return gone;
  }

  // Whether it has been written back since its last use.
  bool use_line_of_l2(std::int64_t address) {
    if (options_.bytes_at_l2 == 0) return false;
    float& seen_at = seen_at_[address];
    const double since = passed_ - seen_at;
    bool back = false;
    for (int sector = 0; sector < 4 && since > options_.written_back_bytes; ++sector)
      if (dirty_.erase({address, sector}) > 0) {
        back_.insert({address, sector});
        back = true;
      }
    if (since > options_.bytes_at_l2) {
      for (const int pair : {0, 2}) {
        const auto had = seen_.erase({address, pair}) + seen_.erase({address, pair + 1});
        run_.counts.reread_bytes += had > 0 ? 64 : 0;
      }
      at_l2_.erase(address);
      stored_lines_.erase(address);
      for (int sector = 0; sector < 4; ++sector) {
        filled_.erase({address, sector});
        of_memory_.erase({address, sector});
        changed_.erase({address, sector});
        begun_.erase({address, sector});
      }
    }
    const bool there = !at_l2_.insert(address).second;
    passed_ +=
        128 * share_of_memory() * (there ? std::clamp(1.3 * since / options_.bytes_at_l2, 0.0, 1.0) : 1);
    seen_at = static_cast<float>(passed_);
    return back;
  }

  double share_of_memory() const { return of_all_ ? options_.from_memory_of_all : options_.from_memory; }

  // Whether it is the first of its pair.
  bool sees_first(std::int64_t address, int sector) {
    const bool first = !seen_.contains({address, sector ^ 1});
    seen_.insert({address, sector});
    if (!first) return false;
    run_.counts.first_bytes += 64;
    run_.counts.first_of_all_bytes += of_all_ ? 64 : 0;
    through_ += 64 * (of_all_ ? 1 / options_.active_sms : options_.from_memory);
    double& owed = of_all_ ? owed_of_all_ : owed_;
    owed += share_of_memory();
    memory_has_it_ = owed >= 1;
    if (memory_has_it_) owed -= 1;
    return true;
  }

  double read(std::int64_t address, int sector, double time, bool stored, double weight) {
    const double turn = turn_at_l2(time, options_.reads_at_l2 * weight, l2_sector_cycles());
    l2_stores_free_ += options_.reads_at_l2 * weight * l2_sector_cycles();
    use_line_of_l2(address);
    const auto& [array, line] =
        first_read_.try_emplace(address >> 36, static_cast<std::int64_t>(first_read_.size()), address)
            .first->second;
    const double way = figures_.sm_way + figures_.slice_way * slice_distance(array, address - line);
    if (is_whole_at_l2(address, sector)) {
      if (changed_.erase({address, sector}) > 0) {  // L2 writes it back first
        double threads = 0;
        for (const auto& partition : partitions_) threads += 32.0 * partition.warps;
        written_back_ = std::max(written_back_, turn) +
                        82 * std::cbrt(4096 / (threads * options_.active_sms)) * memory_sector_cycles();
      }
      return turn + ((stored ? figures_.stored_latency : figures_.l2_latency) + way + l2_crowd());
    }
    const bool first = sees_first(address, sector);
    const double to_memory =
        figures_.sm_way + figures_.memory_latency * memory_distance(array, address - line);
    if (!memory_has_it_)
      return turn + (options_.leads ? 0.9 * figures_.memory_latency + to_memory
                                    : figures_.l2_latency + way + l2_crowd());
    of_memory_.insert({address, sector});
    const double crowd = turn_at_memory(turn, first ? 2 * apart_ : 0);
    return std::max(turn, memory_free_) + (figures_.memory_latency + to_memory + crowd);
  }

  bool is_whole_at_l2(std::int64_t address, int sector) const {
    const auto found = filled_.find({address, sector});
    return seen_.contains({address, sector}) || (found != filled_.end() && found->second == 32);
  }

  // The turns of L2 beside their own that stores to a part of a sector take, which L2 had a part of, and no more.
  double turns_for_parts(std::int64_t address, unsigned sectors, double time) {
    double turns = 0;
    const double since = parts_ - parts_at_[address];
    for (int sector = 0; sector < 4; ++sector) {
      const std::pair<std::int64_t, int> at{address, sector};
      if ((sectors >> sector & 1) == 0 || seen_.contains(at)) continue;
      const bool begins = !filled_.contains(at);
      if (begun_.erase(at) > 0 && time - begun_at_[address] > 1000) turns += 4.3;
      if (!begins) {
        parts_written_ += 1 - std::exp(-since / (0.21 * options_.written_back_bytes));
        if (parts_written_ < 1) continue;
        parts_written_ -= 1;
        filled_[at] = 32;
        run_.counts.rewritten_sectors += 1;
        run_.counts.first_store_sectors += 1;
      }
      parts_ += 32;
      begun_.insert(at);
      begun_at_[address] = static_cast<float>(time);
    }
    parts_at_[address] = static_cast<float>(parts_);
    return turns;
  }

  // A part of a line is changed in place, of which others have the rest.
  void share_line(std::int64_t address, unsigned sectors, double time, bool whole) {
    int of_memory = 0, known = 0;
    for (int sector = 0; sector < 4; ++sector) {
      if ((sectors >> sector & 1) != 0) of_memory += of_memory_.contains({address, sector}) ? 1 : 0;
      known += seen_.contains({address, sector}) ? 1 : 0;
    }
    if (of_memory == 0 || known == 4) return;
    for (int sector = 0; sector < 4; ++sector) of_memory_.erase({address, sector});
    turn_at_memory(time, !whole && known == 1 ? 8 : 4);
  }

  void do_store(const Warp& warp, std::int64_t address, unsigned sectors, double time, double bytes,
                bool in_part, bool rows, double lines, bool together) {
    Line& line = line_of_l1(address);
    const std::ptrdiff_t storer = &warp - warps_.data();
    const bool hit = line.loaded != 0 || line.stored != 0;
    const bool whole = bytes >= 32;
    const bool in_time =
        line.storer == storer ? time - passed_over_ < line.own_until : time < line.others_until;
    if (line.number == 0 || lines_opened_ - line.number >= 28 || !in_time) {
      ++lines_opened_;
      line.waiting = {};
    }
    line.storer = storer;
    line.number = lines_opened_;
    line.own_until = time - passed_over_ + figures_.store_wait;
    line.others_until = time + 5 + 2.9 * lines;
    double leave = 0, turns = 0;
    for (int sector = 0; sector < 4; ++sector) {
      if ((sectors >> sector & 1) == 0) continue;
      run_.counts.store_sectors += 1;
      run_.counts.store_hits += hit ? 1 : 0;
      double& waiting = line.waiting[static_cast<std::size_t>(sector)];
      const double of_part = 1.15 + 0.97 / __builtin_popcount(sectors);
      const double enough = rows && (sectors >> (sector ^ 1) & 1) == 0 ? 32 : 16;
      if (!whole && waiting > 0) {
        run_.counts.merged_sectors += 1;
        if (waiting < enough && waiting + bytes >= enough) turns -= of_part - 1;
      } else {
        leave += 1;
        turns += bytes < enough ? of_part : 1;
      }
      waiting += bytes;
    }
    bool waits = false;
    for (std::size_t sector = 0; sector < 4; ++sector)
      if ((line.loaded >> sector & 1) != 0 && line.ready[sector] > warp.unhindered) waits = true;
    if (waits) line.loaded = 0;
    for (std::size_t sector = 0; sector < 4; ++sector) {
      if ((sectors >> sector & 1) == 0 || (line.loaded >> sector & 1) != 0) continue;
      line.filled[sector] += bytes;
      if (line.filled[sector] < 32) continue;
      line.ready[sector] = time;
      line.loaded |= 1U << sector;
    }
    line.stored |= sectors;
    double rest = 0;  // of which memory needs the rest
    if (leave > 0 && (in_part || options_.bytes_at_l2 > 0 || options_.new_at_l2 > 0)) {
      bool new_at_l2 = !stored_lines_.contains(address);
      for (int sector = 0; sector < 4; ++sector)
        if ((sectors >> sector & 1) != 0 && seen_.contains({address, sector})) new_at_l2 = false;
      if (new_at_l2) through_ += 32 * leave;
      const bool now = use_line_of_l2(address);
      int again = 0;
      for (int sector = 0; sector < 4; ++sector) {
        if ((sectors >> sector & 1) == 0) continue;
        again += static_cast<int>(back_.erase({address, sector}));
        dirty_.insert({address, sector});
      }
      if (options_.bytes_at_l2 > 0)
        run_.counts.rewritten_sectors += rows && now ? leave : leave * again / std::popcount(sectors);
      stored_lines_.insert(address);
      if (together) share_line(address, sectors, time, whole);
      if (rows && !whole && options_.new_at_l2 > 0.5) turns += turns_for_parts(address, sectors, time);
      for (int sector = 0; sector < 4; ++sector) {
        if ((sectors >> sector & 1) == 0) continue;
        const bool known = is_whole_at_l2(address, sector), begins = !filled_.contains({address, sector});
        int& filled = filled_[{address, sector}];
        filled = std::min(32, static_cast<int>(filled + bytes));
        if (begins) run_.counts.first_store_sectors += 1;
        if (known || !in_part) continue;
        rest += 1;
        if (begins) run_.counts.partial_store_sectors += 1;
        if (!begins && filled == 32) run_.counts.partial_store_sectors -= 1;
      }
      const double stay = run_.counts.partial_store_sectors / std::max(run_.counts.first_store_sectors, 1.0);
      rest *= std::clamp(stay, 0.0, 1.0) * leave / std::popcount(sectors);
      if (rows && !whole && options_.from_memory > 0.5)
        for (int sector = 0; sector < 4; ++sector)
          if ((sectors >> sector & 1) != 0 && of_memory_.erase({address, sector}) > 0)
            changed_.insert({address, sector});
    }
    const double turn =
        stores_at_l2(time, turns * 1.9, rows && !whole ? figures_.l2_sector_cycles : l2_sector_cycles());
    if (!rows && options_.to_memory <= 0.5) rest = 0;
    turn_at_memory(turn, (rows ? 1.5 : 1) * options_.to_memory * (leave + rest * 3));
  }

  // The turns that each sector takes: one, but for those at one address.
  std::map<std::int64_t, int> turns_of(const Step& step, const MemoryAccess& access,
                                       std::int64_t line) const {
    std::map<std::int64_t, std::map<std::int64_t, int>> threads;  // by sector, by address
    for (const std::int64_t address : step.addresses) {
      const std::int64_t at = address + arrays_.at(access.array);
      if (at >> 7 == line) ++threads[at >> 5][at];
    }
    std::map<std::int64_t, int> turns;
    for (const auto& [sector, addresses] : threads) {
      turns[sector] = 1;
      for (const auto& [address, count] : addresses)
        if (access.access != Access::uniform) turns[sector] = std::max(turns[sector], count);
    }
    return turns;
  }

  // That L2 could send in the time that it takes for one of them.
  double sectors_of_atomic(const Step& step, double sectors) const {
    const bool goes_back = step.load > 0 && (!details_ || needed_.contains(step.load));
    return (goes_back ? 3.65 : 2.45) +
           0.17 * std::max(static_cast<double>(step.addresses.size()) / sectors - 1, 0.0);
  }

  // When L2 has the line.
  double atomic_from_memory(std::int64_t address, unsigned sectors, double sent) {
    use_line_of_l2(address);
    double given = 0, taken = 0;
    for (int sector = 0; sector < 4; ++sector) {
      if ((sectors >> sector & 1) == 0 || is_whole_at_l2(address, sector)) continue;
      run_.counts.atomic_first_sectors += 1;
      taken += 1;
      if (sees_first(address, sector) && memory_has_it_) given += 2;
    }
    if (taken == 0) return sent;
    turn_at_memory(sent, 1.3 * (given + options_.to_memory * taken));
    return given > 0 ? std::max(sent, memory_free_ + figures_.memory_latency - figures_.l2_latency) : sent;
  }

  double do_atomic(const Block& block, bool of_all_blocks, std::int64_t address, unsigned sectors,
                   const std::map<std::int64_t, int>& turns, bool floating, double time, double each) {
    const int count = std::popcount(sectors);
    std::set<std::int64_t>& blocks = atomics_[address];
    blocks.insert(block.number);
    const double sent =
        atomic_from_memory(address, sectors, turn_at_l2(time, each * count, figures_.l2_sector_cycles));
    double sms = 1;
    if (of_all_blocks)
      sms = options_.active_sms;
    else if (blocks.size() > 1 || options_.atomics_shared)
      sms = options_.atomic_sms;
    const double one = figures_.atomic_thread_cycles * sms;
    double& slice = slices_[address >> 2];
    const double slices =
        std::min(64.0, std::max(options_.atomic_slices, static_cast<double>(slices_.size())));
    const double of_slices =
        options_.atomic_slices > 0 ? figures_.atomic_thread_cycles * options_.active_sms * 0.83 / slices : 0;
    double ready = 0;
    for (const auto& [sector, many] : turns) {
      run_.counts.atomic_sectors += many;
      slice = std::max(slice, sent - std::min(2000.0, time / 8)) + many * one * 0.83;
      slices_free_ = std::max(slices_free_, sent - std::min(2000.0, time / 8)) + many * of_slices;
      double& free = atomic_sectors_[sector];
      free = std::max(free, sent) + many * one * (floating ? 2.4 : 1);
      ready = std::max({ready, slice, slices_free_, free});
    }
    end_ = std::max(end_, ready);
    l2_free_ = std::max(l2_free_, ready - kLongestQueue);
    return std::max(sent, ready) + figures_.l2_latency;
  }

  // ---- On the chip.

  double access_chip(Warp& warp, const Step& step, std::size_t index, double start) {
    const ChipAccess& access = step.item->detail->on_chip[index];
    const std::vector<std::int64_t>& addresses = step.on_chip[index];
    if (access.space == ChipAccess::Space::constant) {
      const auto different = static_cast<double>(std::set(addresses.begin(), addresses.end()).size());
      if (different <= 1) {
        const double there = one_constant(addresses.front() / 64, start);
        if (access.index == ChipAccess::Index::none) return there;
        if (access.index == ChipAccess::Index::shared && access.bytes <= 8)
          return std::max(there, indexed_constant(warp, addresses.front() / 64, start));
        const double turn = std::max(start, constant_free_);
        constant_free_ = turn + static_cast<double>(std::max<std::int64_t>(access.bytes / 8, 1)) *
                                    figures_.constant_way_cycles;
        return std::max({there, constant_free_, turn + figures_.constant_latency});
      }
      // Of two constants side by side the second comes with the first.
      std::vector<std::int64_t> before = addresses;
      for (std::int64_t& address : before) address -= 4;
      const bool words = access.bytes == 4;
      const bool second = words && warp.first_half && warp.half_began == warp.began &&
                          warp.half_lanes == step.lanes && warp.halves == before;
      warp.first_half = words && !second &&
                        std::all_of(addresses.begin(), addresses.end(),
                                    [](std::int64_t address) { return address % 8 == 0; });
      warp.half_began = warp.began;
      warp.half_lanes = step.lanes;
      if (second) return warp.halves_there;
      warp.halves = addresses;
      const double turn = std::max(start, constant_free_);
      constant_free_ = turn + different * figures_.constant_way_cycles;
      return warp.halves_there =
                 std::max(constant_free_,
                          turn + figures_.constant_latency + (different - 1) * figures_.constant_way_latency);
    }
    ++run_.accesses;
    const bool stores = access.kind == ChipAccess::Kind::store;
    if (access.space == ChipAccess::Space::local) {
      // The sectors of a word's line: of eight threads each.
      std::vector<std::pair<std::int64_t, unsigned>> lines;
      for (std::size_t i = 0; i < addresses.size(); ++i) {
        const unsigned sector = 1U << (step.lanes[i] / 8);
        const auto same = std::find_if(lines.begin(), lines.end(),
                                       [&](const auto& line) { return line.first == addresses[i] / 4; });
        if (same == lines.end())
          lines.emplace_back(addresses[i] / 4, sector);
        else
          same->second |= sector;
      }
      run_.accesses += static_cast<std::int64_t>(lines.size() - 1) / 8;
      double done = start;
      for (const auto& [first, sectors] : lines)
        for (std::int64_t word = 0; word < (access.bytes + 3) / 4; ++word) {
          const double turn = turn_at_l1(start);
          Line& line =
              line_of_l1((std::int64_t{1} << 60) + static_cast<std::int64_t>(warp.place) * (1 << 17) +
                         (first + word) % (1 << 17));
          const auto count = static_cast<double>(std::popcount(sectors));
          const auto hits = static_cast<double>(std::popcount(sectors & line.loaded));
          const unsigned missed = sectors & ~line.loaded;
          const std::int64_t address =
              static_cast<std::int64_t>(warp.place) * (1 << 17) + (first + word) % (1 << 17);
          line.loaded |= sectors;
          (stores ? run_.counts.local_store_sectors : run_.counts.local_load_sectors) += count;
          (stores ? run_.counts.local_store_hits : run_.counts.local_load_hits) += hits;
          if (stores) {
            stores_at_l2(turn, count * 1.9, l2_sector_cycles());
            use_local(address, sectors, true);
            if (options_.local_to_memory > 0) turn_at_memory(turn, count * options_.local_to_memory);
            continue;
          }
          if (hits < count) {
            const double sent = turn_at_l2(turn, count - hits, l2_sector_cycles());
            double there = std::max(turn + figures_.l1_latency, sent + figures_.l2_latency);
            const int gone = use_local(address, missed, false);
            if (gone > 0) {
              const double crowd = turn_at_memory(sent, gone);
              there = std::max(
                  {there, sent + figures_.memory_latency + crowd, memory_free_ + figures_.memory_latency});
            }
            done = std::max(done, there);
            run_.counts.local_read_sectors += gone;
          }
          done = std::max(done, turn + figures_.l1_latency);
        }
      return done;
    }
    // 32 banks of 4 bytes; all threads at once, of words of 4 bytes, and half of them of 8 bytes.
    const int parts = access.bytes > 4 ? 2 : 1;
    std::size_t ways = 0;
    for (int part = 0; part < parts; ++part) {
      std::map<std::int64_t, std::set<std::int64_t>> banks;
      for (std::size_t i = 0; i < addresses.size(); ++i)
        if (step.lanes[i] * parts / 32 == part)
          for (std::int64_t word = addresses[i] / 4; word <= (addresses[i] + access.bytes - 1) / 4; ++word)
            banks[word % 32].insert(word);
      std::size_t most = 0;
      for (const auto& [bank, words] : banks) most = std::max(most, words.size());
      ways += most;
    }
    const auto conflicts = static_cast<double>(std::max<std::size_t>(ways, parts) - parts);
    const bool loads = access.kind == ChipAccess::Kind::load;
    (loads ? run_.counts.shared_load_conflicts : run_.counts.shared_store_conflicts) += conflicts;
    if (step.item->detail->floating && access.kind == ChipAccess::Kind::atomic) return start;
    const double turn = std::max(start, l1_free_);
    l1_free_ = turn + std::max(static_cast<double>(ways), figures_.request_cycles);
    const double latency = cycles_known_ && step.item->machine ? 0 : figures_.shared_latency;
    return loads ? turn + latency + 2 * conflicts : start;
  }

  // Threads load, add and exchange until nobody comes between; in a round one thread of each bank succeeds, with 8 bytes one of
  // each of 16 banks for each half of the warp. The item began at `now`, this loop begins at `start`.
  double add_in_shared(const Warp& warp, const Step& step, std::size_t index, double now, double start) {
    const std::vector<std::int64_t>& addresses = step.on_chip[index];
    const bool wide = step.item->detail->on_chip[index].bytes > 4;
    std::map<std::int64_t, int> of_bank, of_address;
    std::map<std::int64_t, std::set<std::int64_t>> words;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const std::int64_t word = addresses[i] / 4;
      ++of_bank[wide ? word / 2 % 16 + step.lanes[i] / 16 * 16 : word % 32];
      ++of_address[addresses[i]];
      words[word % 32].insert(addresses[i]);
    }
    int rounds = 0, most = 1;
    for (const auto& [bank, threads] : of_bank) rounds = std::max(rounds, threads);
    for (const auto& [address, threads] : of_address) rounds = std::max(rounds, threads);
    for (const auto& [bank, distinct] : words) most = std::max(most, static_cast<int>(distinct.size()));
    const double round = (wide ? 114 : 95) + most - 1, alone = start + rounds * round;
    const double of_partition =
        static_cast<double>(size_.warps_per_block()) / static_cast<double>(partitions_.size());
    const double apart = round * std::lerp(0.9, 0.47, std::clamp((of_partition - 2) / 2, 0.0, 1.0));
    double done = alone;
    for (const auto& [address, threads] : of_address) {
      double& free = warp.block->added[address];
      free = std::max(free, now) + threads * apart;
      done = std::max(done, free);
    }
    const double failed = (done - alone) / round;
    l1_free_ = std::max(now, l1_free_) + (rounds * ((most + 1) / 2.0 + 2.6) + failed) * (wide ? 1.6 : 1);
    run_.counts.exchange_rounds += rounds - 1 + failed;
    return std::max(done, l1_free_);
  }

  // 32 lines of 64 bytes, the one that was used last first.
  double one_constant(std::int64_t line, double start) {
    const auto known = std::find_if(constants_.begin(), constants_.end(),
                                    [&](const auto& one) { return one.first == line; });
    std::pair<std::int64_t, double> found{line, 0};
    if (known != constants_.end()) {
      found = *known;
      constants_.erase(known);
    } else {
      const double turn = std::max(start, constant_free_);
      constant_free_ = turn + 27;
      found.second = turn + (constants_seen_.insert(line).second ? figures_.l2_latency : 70);
    }
    constants_.push_front(found);
    if (constants_.size() > 32) constants_.pop_back();
    return std::max(start, found.second);
  }

  // A partition has five lines of those whose index is in a register. Where more than four warps are on different ones of more than eight that
  // the launch has used, they take them from each other.
  double indexed_constant(Warp& warp, std::int64_t line, double start) {
    Partition& partition = partitions_[warp.partition];
    // A line that the item has asked for just before is still there.
    const bool again = warp.constant_line == line && warp.constant_asked == warp.began;
    warp.constant_line = line;
    warp.constant_asked = warp.began;
    auto known = std::find_if(partition.constants.begin(), partition.constants.end(),
                              [&](const auto& one) { return one.first == line; });
    if (known == partition.constants.end()) {
      partition.constants_free = std::max(start, partition.constants_free) + 50;
      partition.constants.push_front({line, partition.constants_free});
      if (partition.constants.size() > 5) partition.constants.pop_back();
    } else {
      partition.constants.splice(partition.constants.begin(), partition.constants, known);
    }
    const double ready = std::max(start, partition.constants.front().second);
    if (partition.warps <= 4 || again) return ready;
    const auto used = static_cast<double>(constants_seen_.size());
    const double different = used * (1 - std::pow(1 - 1 / used, static_cast<double>(partition.warps)));
    const double lost =
        different / partition.warps * std::clamp(std::min(different - 4, used - 8) / 4, 0.0, 1.0);
    if (lost == 0) return ready;
    partition.constants_free = std::max(start, partition.constants_free) + lost * 260;
    return std::max(ready, partition.constants_free);
  }

  const KernelProgram& program_;
  std::map<const Item*, std::vector<const Item*>> mixtures_;  // that each item is executed in
  bool cycles_known_ = false;
  const Bindings& values_;
  LaunchSize size_;
  SmFigures figures_;
  SmOptions options_;
  bool details_ = false;
  std::map<std::string, std::int64_t> arrays_;
  std::vector<Partition> partitions_;
  std::list<Block> blocks_;
  std::vector<Warp> warps_;
  std::list<Line> l1_;  // the one that was used last is first
  std::set<std::pair<std::int64_t, int>> seen_;
  std::set<int> needed_;                                        // the numbers of the loads that items need
  std::set<std::pair<std::int64_t, int>> of_memory_, changed_;  // not stored to since; stored to since
  std::set<std::pair<std::int64_t, int>> begun_;                // a store has written a part of it
  std::map<std::int64_t, float> begun_at_, parts_at_;           // when that was, by line
  std::map<std::pair<std::int64_t, int>, int> filled_;          // bytes that were stored
  std::map<std::int64_t, std::set<std::int64_t>> atomics_;      // the blocks that accessed a line
  std::map<std::int64_t, double> slices_;                       // of four lines
  double slices_free_ = 0;
  // Sectors of local memory by line: what L2 has, what of it is not written back, and what it had; through_ at the last use.
  struct Local {
    std::set<int> there, stored, had;
    double used = 0;
  };
  std::map<std::int64_t, Local> local_;
  double through_ = 0;                             // bytes that came into L2
  std::map<std::int64_t, double> atomic_sectors_;  // when the atomics of a sector are done
  std::int64_t next_block_ = 0, block_turn_ = 0;
  std::vector<double> free_places_;
  std::vector<std::size_t> left_places_;
  std::size_t places_ = 0;
  std::int64_t waits_ = 0, lines_opened_ = 0;
  double passed_over_ = 0;  // cycles of L1 for loads, or in which L2 holds it up
  std::size_t turn_ = 0;
  double now_ = 0, end_ = 0, next_start_ = 0, barrier_free_ = 0, constant_free_ = 0;
  std::list<std::pair<std::int64_t, double>> constants_;  // lines, and from when they are there
  std::set<std::int64_t> constants_seen_;
  double l1_free_ = 0, l2_free_ = 0, l2_stores_free_ = 0, memory_free_ = 0, owed_ = 0, written_back_ = 0;
  double owed_of_all_ = 0;  // of accesses whose places depend on no block
  bool of_all_ = false;     // the access is one of these
  double busy_ = 0, busy_since_ = 0, l2_busy_ = 0, l2_busy_since_ = 0;
  double apart_ = 1;                      // what memory takes for a sector that is alone
  double parts_ = 0, parts_written_ = 0;  // bytes of sectors of which L2 has a part
  double passed_ = 0;                     // bytes of lines that L2 has made room for
  std::set<std::int64_t> at_l2_, stored_lines_;
  std::set<std::pair<std::int64_t, int>> dirty_, back_;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>
      first_read_;                         // by array: its number, and the line
  std::map<std::int64_t, float> seen_at_;  // by line, passed_ when it was read
  bool memory_has_it_ = false;
  ReferenceRun run_;
};

}  // namespace

ReferenceRun reference_sm(const KernelProgram& program, const Bindings& values, const LaunchSize& size,
                          const SmFigures& figures, const SmOptions& options) {
  return ReferenceSm(program, values, size, figures, options).run();
}

}  // namespace warptime::test
