// What data decide in a kernel program, counted while the kernel executes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/execute/execute.h"
#include "simulator/program/profile.h"

namespace warptime::execute {

// Counts how often warps reach and take the branches of a program's shares, and the iterations of the loops that ask for
// them. By PTX lines: the program must be of the module that is executed.
class ProfileRecorder : public ExecutionListener {
 public:
  // Both must outlive it.
  ProfileRecorder(const KernelProgram& program, const ptx::Module& module);

  bool wants(const WarpId&) override { return true; }
  void executed(const WarpId& warp, const ExecutedInstruction& instruction) override;

  // Nothing of what was not reached.
  KernelProfile profile() const;

 private:
  struct Loop {
    std::string parameter;
    int first_line = 0;
    LineSet lines;  // of its body
    std::uint64_t entries = 0;
    double sum = 0, squares = 0;
    std::int64_t most = 0;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::int64_t> open;  // iterations so far, by warp
  };
  struct Share {
    int branch = 0;       // its line
    int side = 0;         // the first line of what takes it, or does not
    bool other = false;   // `side` is what does not take it
    bool access = false;  // a predicated access: both are its line
  };
  void find(const Items& items);
  void close(Loop& loop, std::int64_t iterations);

  const KernelProgram& program_;
  const ptx::Module& module_;
  std::map<std::string, Share> shares_;
  std::vector<Loop> loops_;
  std::map<int, std::uint64_t> executions_;  // by line, of those that shares need
  std::map<int, std::uint64_t> performed_;   // of accesses: with some thread
};

}  // namespace warptime::execute
