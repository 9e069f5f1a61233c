// The names behind a host program's expressions. While host code is read, a value that only a run would tell
// is a name such as `host.12`; at the end the ones that steps depend on become parameters, under their names
// in the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compile/host_launches.h"

namespace warptime::compiling {

struct HostSymbol {
  std::string name;       // in the source; empty: it has none yet
  bool variable = false;  // the name is that of a variable, not one made of an expression's text
  std::string source;     // the expression that it is the value of
  std::string file;
  int line = 0;
  std::optional<std::int64_t> typical;
};

class HostSymbols {
 public:
  int add(HostSymbol symbol);  // returns its id
  HostSymbol& operator[](int id) { return symbols_[static_cast<std::size_t>(id)]; }
  const HostSymbol& operator[](int id) const { return symbols_[static_cast<std::size_t>(id)]; }
  static Expression expression(int id);
  // Of the name in an expression, if it is that of a symbol.
  static std::optional<int> id_of(const std::string& name);
  std::string new_counter(const std::string& hint);  // count.3, for now
  // Whether all that `expression` depends on has a name that a person would know it by.
  bool is_readable(const Expression& expression) const;

  // Gives the steps their final names, keeps the arrays that they use, lists the parameters. Also takes out
  // what is superfluous: groups of one, counters that nothing uses, steps that repeat 0 times; and joins
  // equal neighbours.
  void finish(HostProgram& program) const;

 private:
  std::vector<HostSymbol> symbols_;
  std::vector<std::string> counters_;
};

// "sizes[i]" -> "sizes_i": letters, digits and `_`, no digit first, not long.
std::string identifier_from(const std::string& text);

}  // namespace warptime::compiling
