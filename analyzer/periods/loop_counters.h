// The counters of loops, as a kernel program names them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "analyzer/periods/parameters.h"
#include "analyzer/symbolic/symbolic_exprs.h"

namespace warptime::periods {

// The loops that are being lowered: the names of their counters, and a counter's last value while the last
// iteration is lowered separately.
class LoopCounters {
 public:
  // Both must outlive it.
  LoopCounters(analysis::SymbolicExprs& exprs, const Parameters& parameters)
      : exprs_(exprs), parameters_(parameters) {}

  void open(std::uint32_t loop);
  void close(std::uint32_t loop);
  // The counter's name, which counts as used from now on; empty if the loop is not open.
  std::string use(std::uint32_t loop);
  // The counter's name for what threads execute and access, which does not change what one warp's program does.
  std::string mention(std::uint32_t loop);
  // The name of an open loop's counter where it was mentioned; empty: it was not.
  std::string name_if_mentioned(std::uint32_t loop) const;
  // The name of an open loop's counter where it was used; empty: the body does not depend on it.
  std::string name_if_used(std::uint32_t loop) const;

  // From `begin` to `end` the loop's counter has its last value.
  void begin_last_iteration(std::uint32_t loop, analysis::ExprId last_value) { last_[loop] = last_value; }
  void end_last_iteration(std::uint32_t loop) { last_.erase(loop); }
  bool in_last_iteration() const { return !last_.empty(); }
  // `expr` with the last values for the counters that have one now.
  analysis::ExprId with_last_values(analysis::ExprId expr);

 private:
  analysis::SymbolicExprs& exprs_;
  const Parameters& parameters_;
  std::map<std::uint32_t, std::string> names_;  // of the open loops
  std::set<std::uint32_t> used_, mentioned_;
  std::map<std::uint32_t, analysis::ExprId> last_;  // by loop
};

}  // namespace warptime::periods
