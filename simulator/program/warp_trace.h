// What one warp of a launch does, item by item, with the addresses that its threads access: for simulations that follow
// single warps. (warps.h looks at many warps at once, and knows no order.)
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "simulator/program/kernel_program.h"
#include "simulator/program/lane_expression.h"
#include "simulator/program/warps.h"

namespace warptime {

// A 128-byte line, and which of its four sectors: a bit each.
struct LineSectors {
  std::int64_t line = 0;
  std::uint8_t sectors = 0;
  friend bool operator==(const LineSectors&, const LineSectors&) = default;
};

inline constexpr std::int64_t kLineBytes = 128, kSectorBytes = 32;

// An item of a kernel program in a launch.
struct TraceNode {
  const Item* item = nullptr;
  int load = 0;     // a load's number, from 1, as ItemDetail::needs has it
  int access = -1;  // numbers loads and stores, from 0
  int known = -1;   // likewise those whose address is known, …
  int own = -1;  // … and of these, those that each warp has lines of its own for: blocks differ, or counters
  std::optional<LaneExpression> threads, then_threads, per_thread;
  int condition = -1;    // numbers different `threads`, from 0
  LaneExpression count;  // of instructions, of iterations; a `when`'s condition
  // An address is the sum of these: what depends on the threads alone, on them and the block, what threads share, and
  // the rest: on threads and counters.
  LaneExpression of_lanes, of_block, of_shared, of_both;
  bool has_block = false, has_both = false;
  std::optional<LaneExpression> row_of, row_at;  // of ItemDetail::row, where all of it is known
  std::int64_t row_bytes = 1;
  std::uint64_t row_chooser = 0;                       // of RowOfData::by
  std::vector<std::optional<LaneExpression>> on_chip;  // the addresses of ItemDetail::on_chip
  double share = 1;                                    // of the warps that execute it
  double part = 1;  // of the threads of these warps; of a `when` that data decide: of those that take `then`
  double then_share = -1;  // of the warps that take `then`, where data decide; negative: the condition does
  int counter = -1;        // its slot
  IterationQuantiles iterations;  // of a repeat whose iterations warps make differently often, as data decide
  std::vector<TraceNode> body, otherwise;
};

// A kernel program, with loads where the compiler moves them (ItemDetail::rises), and with the values of its parameters
// and the size of a launch.
class LaunchTrace {
 public:
  // `program` must outlive it. Names without a value: what needs them takes all threads, and an address is unknown.
  // Errors: a count that uses such a name.
  static Result<LaunchTrace> make(const KernelProgram& program, const Bindings& values,
                                  const LaunchSize& size, const Shares& shares);
  const LaunchSize& size() const { return size_; }
  const std::vector<TraceNode>& nodes() const { return nodes_; }
  std::int64_t blocks() const { return size_.blocks(); }

 private:
  friend class WarpTrace;
  friend class TraceOfBlocks;
  friend class LaunchTraceMaker;
  LaunchSize size_;
  std::vector<TraceNode> nodes_;
  int accesses_ = 0, known_ = 0, own_ = 0, conditions_ = 0;
  std::size_t slots_ = 0;
};

// The lines of an access whose threads' part of the address stays the same.
struct KnownLines {
  bool made = false;
  LaneValues of_threads;
  LaneExpression::Kept kept;  // of TraceNode::of_both
  std::uint32_t threads = 0;
  std::int64_t phase = -1;  // of the shared part within a line
  std::vector<LineSectors> lines;
};

// How the addresses of an access' threads lie to each other, and the lines that follow from it, by where in its line the
// first address is: mostly it is the same for all warps, and where counters differ.
class LinePattern {
 public:
  // The lines of the threads' bytes from addresses[i] + offset on, in order, counted from that of the first thread.
  // Valid until the next call.
  std::span<const LineSectors> lines(const LaneValues& addresses, std::int64_t offset, std::uint32_t threads,
                                     std::int64_t bytes);

 private:
  struct Part {
    std::uint16_t first = 0, count = 0;  // of all_
  };
  std::uint32_t threads_ = 0;
  LaneValues apart_{};                   // from the first address
  std::array<Part, kLineBytes> phases_;  // without lines: not known yet
  std::vector<LineSectors> all_, found_;
};

// What the warps with the same number have in common in all blocks: their threads, and the lines of accesses whose
// addresses differ from block to block by what all threads share.
class TraceOfBlocks {
 public:
  // `launch` must outlive it.
  explicit TraceOfBlocks(const LaunchTrace& launch);

 private:
  friend class WarpTrace;
  struct OfWarp {
    bool made = false;
    std::array<LaneValues, 4> own{};  // LaneSlots::own
    std::uint32_t active = 0;
    std::vector<KnownLines> known;  // by TraceNode::known
  };
  OfWarp& of(std::int64_t warp);

  const LaunchTrace* launch_;
  std::vector<OfWarp> warps_;
  std::vector<LinePattern> patterns_;  // by TraceNode::known
};

// Goes through the items of one warp: those that are calculation or an access; repeats and conditions are followed.
class WarpTrace {
 public:
  // `common` must outlive it. `block`: in launch order, x first.
  WarpTrace(TraceOfBlocks& common, std::int64_t block, std::int64_t warp);
  // The same for another warp.
  void restart(std::int64_t block, std::int64_t warp);
  // Before the first next(): leaves iterations of the outermost repeats out, the first ones, until about this part of
  // what they execute is behind the warp. 0 to 1.
  void begin_at(double part);
  // Likewise: of the first repeat that it comes to whose iterations data decide, it makes as many as this share of the
  // warps at most. 0 to 1.
  void begin_with_share(double share) { first_share_ = share; }

  struct Step {
    const TraceNode* node = nullptr;
    std::uint32_t threads = 0;  // that execute it: a bit each
    bool skipped = false;       // a predicated instruction that no thread executes
  };
  // False: the warp has ended. `patience`, if given, is how many items, iterations and ends of lists it may go through
  // until it finds one, and becomes less; a warp ends where it has none left.
  bool next(Step& step, std::int64_t* patience = nullptr);

  // Of the step that next() gave last.
  std::int64_t instructions(const Step& step) const;
  // The lines that the access touches, in order; empty: its address is not known. Valid until the next call.
  std::span<const LineSectors> lines(const Step& step);
  // The address that each thread accesses, where lines() knows them.
  void addresses(const Step& step, LaneValues& addresses);
  // Of an access to rows that data choose (ItemDetail::row): a number for each thread's row, the same for the same row, and
  // where in it the access begins. False: none, or not known.
  bool places_in_rows(const Step& step, LaneValues& rows, LaneValues& places) const;
  // The lines of the threads' bytes from their addresses on, in order.
  static void lines_of(const LaneValues& addresses, std::uint32_t threads, std::int64_t bytes,
                       std::vector<LineSectors>& lines);
  // The addresses of an access on the chip; false: not known.
  bool chip_addresses(const Step& step, std::size_t index, LaneValues& addresses) const;

 private:
  struct Frame {
    const std::vector<TraceNode>* nodes = nullptr;
    std::size_t next = 0;
    std::uint32_t threads = 0;
    const TraceNode* repeat = nullptr;  // of a body: the iterations behind this one
    std::int64_t iteration = 0, iterations = 0;
    std::uint32_t entered = 0;  // the threads of its first iteration
    int trips = -1;             // index of the threads' own iterations
  };
  struct Holding {  // the threads of which a condition holds
    std::uint32_t threads = 0;
    std::uint64_t since = 0;  // what changes_ was; 0: it was not evaluated yet
  };
  KnownLines& known_of(const TraceNode& node);  // with its threads' part of the address
  LaneValues of_threads_and_counters(const TraceNode& node, const KnownLines& known);
  void enter(const TraceNode& node, std::uint32_t threads);
  std::int64_t left_out(const TraceNode& node, std::int64_t iterations);
  double work(const std::vector<TraceNode>& nodes, bool repeats_only) const;
  std::uint32_t threads_of(const TraceNode& node);
  bool draw(double share);
  std::uint32_t some_of(std::uint32_t threads, double share);
  double random();  // from 0 to below 1, the same for the same launch each time
  std::int64_t drawn_iterations(const TraceNode& node);
  std::uint32_t holding(const LaneExpression& condition, std::uint32_t threads) const;

  const LaunchTrace* launch_;
  TraceOfBlocks* common_;
  TraceOfBlocks::OfWarp* of_warp_ = nullptr;
  LaneSlots slots_;
  std::vector<Frame> frames_;
  std::vector<LaneValues> trips_;
  std::vector<KnownLines> known_;  // by TraceNode::own
  std::vector<Holding> holding_;   // by condition
  std::uint64_t changes_ = 1;      // of counters, so far
  std::vector<LineSectors> moved_;
  std::uint64_t random_ = 0;
  double first_share_ = 0;    // of warps, for the first repeat that data decide
  bool first_repeat_ = true;  // it has not come to it yet
  double behind_ = 0;         // what begin_at() has yet to leave out, as work()
};

}  // namespace warptime
