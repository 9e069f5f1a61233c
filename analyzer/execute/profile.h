// What data decide in a kernel program, counted while the kernel executes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/execute/access_recorder.h"
#include "analyzer/execute/block_sample.h"
#include "analyzer/execute/execute.h"
#include "simulator/program/profile.h"
#include "simulator/program/profiled_program.h"

namespace warptime::execute {

// Counts how often warps reach and take the branches of a program's shares, and the iterations of the loops that ask for
// them or may be left early, and looks at the accesses whose addresses data decide. By PTX lines: the program must be of the
// module that is executed, and have ItemDetail.
class ProfileRecorder : public ExecutionListener {
 public:
  // Both must outlive it. `sample`: the blocks of the launch that are executed.
  ProfileRecorder(const KernelProgram& program, const ptx::Module& module, const LaunchConfig& launch,
                  const BlockSample& sample);

  bool wants(const WarpId&) override { return true; }
  void executed(const WarpId& warp, const ExecutedInstruction& instruction) override;

  // A loop that asks for its iterations and was not reached made none: the branch around it has its share. Nothing else of
  // what was not reached.
  KernelProfile profile() const;

 private:
  struct Loop {
    std::string parameter;
    int first_line = 0;
    LineSet lines;           // of its body
    std::vector<int> exits;  // EarlyLoop::exits: they are counted, where there are any
    bool asks = false;       // its iterations are a parameter of the program
    std::uint64_t entries = 0;
    double sum = 0, squares = 0;
    std::int64_t most = 0;
  };
  // A warp in a loop: threads that leave it may execute what is behind it before the others go on.
  struct Open {
    std::uint32_t entered = 0, left = 0;  // threads; entered 0: it is in none
    std::int64_t iterations = 0;          // so far
  };
  enum : std::uint8_t { kInside = 1, kFirst = 2, kCounted = 4 };  // a line of a loop
  struct Side {
    int branch = 0;       // its line
    int line = 0;         // the first line of what takes it, or does not
    bool other = false;   // `line` is of what does not take it
    bool access = false;  // a predicated access: both are its line
  };
  struct Share {
    int branch = 0;           // the line of its parameter
    std::vector<Side> sides;  // one, or one of each copy of a branch in unrolled code
  };
  void find(const Items& items);
  int branch_before(const Items& items, std::size_t at) const;
  void add_loop(const Item& item, std::string parameter, std::vector<int> exits, bool asks);
  void index_loops();
  void follow_loops(const WarpId& warp, const ExecutedInstruction& instruction, int line);
  static void close(Loop& loop, Open& open);

  const KernelProgram& program_;
  const ptx::Module& module_;
  std::optional<KernelProfile::Sample> sample_;
  std::map<std::string, Share> shares_;
  std::set<int> branches_;  // lines
  std::map<int, EarlyLoop> early_;
  std::vector<Loop> loops_;
  std::vector<std::uint8_t> line_in_loop_;  // by line, then by loop
  std::vector<Open> open_;                  // by warp of the block, then by loop
  std::uint64_t block_ = 0;                 // that was executed last
  AccessRecorder accesses_;
  std::map<int, std::uint64_t> executions_;  // by line, of those that shares need
  std::map<int, std::uint64_t> performed_;   // of accesses: with some thread
};

}  // namespace warptime::execute
