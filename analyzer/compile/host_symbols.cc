#include "analyzer/compile/host_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "analyzer/compile/host_arithmetic.h"

namespace warptime::compiling {

namespace {

constexpr std::string_view symbol_prefix = "host.";
constexpr std::string_view counter_prefix = "count.";

bool same_step(const HostStep& a, const HostStep& b);

bool same_steps(const std::vector<HostStep>& a, const std::vector<HostStep>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_step);
}

bool same_body(const HostStep& a, const HostStep& b) {
  if (a.line != b.line || a.file != b.file || a.launch.has_value() != b.launch.has_value() ||
      a.transfer.has_value() != b.transfer.has_value())
    return false;
  if (a.launch) {
    const HostLaunch &x = *a.launch, &y = *b.launch;
    if (x.kernel_file != y.kernel_file || x.entry != y.entry || x.grid != y.grid || x.block != y.block ||
        !(x.shared_bytes == y.shared_bytes) || x.arguments != y.arguments || x.arrays != y.arrays)
      return false;
  }
  if (a.transfer &&
      (a.transfer->direction != b.transfer->direction || !(a.transfer->bytes == b.transfer->bytes)))
    return false;
  return same_steps(a.steps, b.steps);
}

bool same_step(const HostStep& a, const HostStep& b) {
  return a.repeat == b.repeat && a.counter == b.counter && same_body(a, b);
}

// Calls fn(expression) for each expression of a step, but not those of the steps inside.
template <class Step, class Fn>
void for_each_count(Step& step, Fn fn) {
  fn(step.repeat);
  if (step.transfer) fn(step.transfer->bytes);
  if (!step.launch) return;
  for (auto& size : step.launch->grid) fn(size);
  for (auto& size : step.launch->block) fn(size);
  fn(step.launch->shared_bytes);
  for (auto& argument : step.launch->arguments) fn(argument.second);
}

// And for those over arrays.
template <class Step, class Fn>
void for_each_expression(Step& step, Fn fn) {
  for_each_count(step, fn);
  if (!step.launch) return;
  for (auto& array : step.launch->arrays) fn(array.second);
}

bool uses(const HostStep& step, const std::string& name) {
  bool found = false;
  for_each_expression(step,
                      [&](const Expression& expression) { found = found || mentions(expression, name); });
  return found || std::any_of(step.steps.begin(), step.steps.end(),
                              [&](const HostStep& one) { return uses(one, name); });
}

void substitute_all(HostStep& step, const Substitution& replacements) {
  for_each_expression(step,
                      [&](Expression& expression) { expression = substituted(expression, replacements); });
  for (HostStep& inner : step.steps) substitute_all(inner, replacements);
}

bool is_one(const Expression& expression) {
  return expression.is_integer() && expression.integer_value() == 1;
}

// Equal neighbours, one by one or in runs of a few steps (a loop that was read iteration by iteration).
void join_equal(std::vector<HostStep>& steps) {
  constexpr std::size_t longest_run = 16;
  std::vector<HostStep> joined;
  std::size_t at = 0;
  while (at < steps.size()) {
    std::size_t best_run = 0, best_times = 1;
    for (std::size_t run = 1; run <= longest_run && at + 2 * run <= steps.size(); ++run) {
      const auto first = steps.begin() + static_cast<std::ptrdiff_t>(at);
      const auto length = static_cast<std::ptrdiff_t>(run);
      std::size_t times = 1;
      while (
          at + (times + 1) * run <= steps.size() &&
          std::equal(first, first + length, first + static_cast<std::ptrdiff_t>(times) * length, same_step))
        ++times;
      if (times > 1 && times * run > best_times * best_run) {
        best_run = run;
        best_times = times;
      }
    }
    if (best_times < 2) {
      joined.push_back(std::move(steps[at++]));
      continue;
    }
    HostStep group;
    if (best_run == 1 && steps[at].counter.empty()) {
      group = steps[at];
      group.repeat = product_of(static_cast<std::int64_t>(best_times), group.repeat);
    } else {
      group.repeat = static_cast<std::int64_t>(best_times);
      group.file = steps[at].file;
      group.line = steps[at].line;
      group.steps.assign(steps.begin() + static_cast<std::ptrdiff_t>(at),
                         steps.begin() + static_cast<std::ptrdiff_t>(at + best_run));
    }
    joined.push_back(std::move(group));
    at += best_run * best_times;
  }
  steps = std::move(joined);
}

void tidy(std::vector<HostStep>& steps) {
  std::vector<HostStep> kept;
  for (HostStep& step : steps) {
    tidy(step.steps);
    if (step.repeat.is_integer() && step.repeat.integer_value() <= 0) continue;
    const bool group = !step.launch && !step.transfer;
    if (group && step.steps.empty()) continue;
    if (!step.counter.empty() && is_one(step.repeat)) {
      for (HostStep& inner : step.steps) substitute_all(inner, {{step.counter, 0}});
      step.counter.clear();
    }
    if (!step.counter.empty()) {
      const std::string counter = step.counter;
      if (std::none_of(step.steps.begin(), step.steps.end(),
                       [&](const HostStep& one) { return uses(one, counter); }) &&
          (group || !uses(step, counter)))
        step.counter.clear();
    }
    if (group && is_one(step.repeat)) {
      for (HostStep& inner : step.steps) kept.push_back(std::move(inner));
      continue;
    }
    // A group of one launch, or of one group, is that one.
    if (group && step.steps.size() == 1 && (step.counter.empty() || step.steps.front().counter.empty())) {
      HostStep inner = std::move(step.steps.front());
      const bool counts_own = step.counter.empty() || is_one(inner.repeat);
      if ((counts_own && (inner.counter.empty() || is_one(step.repeat))) &&
          !mentions(inner.repeat, step.counter)) {
        inner.repeat = product_of(step.repeat, inner.repeat);
        if (inner.counter.empty()) inner.counter = step.counter;
        kept.push_back(std::move(inner));
        continue;
      }
      step.steps.front() = std::move(inner);
    }
    kept.push_back(std::move(step));
  }
  steps = std::move(kept);
  join_equal(steps);
}

class Namer {
 public:
  Namer(HostProgram& program, const HostSymbols& symbols, const std::vector<std::string>& counters)
      : program_(program), symbols_(symbols), counters_(counters) {}

  void run() {
    for (const HostStep& step : program_.steps) collect(step);
    name_arrays();
    for (HostStep& step : program_.steps) rename(step, {});
  }

 private:
  void collect(const HostStep& step) {
    for_each_count(step, [&](const Expression& expression) { collect(expression); });
    if (step.launch)
      for (const auto& array : step.launch->arrays) array.second.collect_names(used_arrays_);
    for (const HostStep& inner : step.steps) collect(inner);
  }

  void collect(const Expression& expression) {
    for (const std::string& name : expression.names()) {
      const auto id = HostSymbols::id_of(name);
      if (!id || names_.count(name) > 0) continue;
      const HostSymbol& symbol = symbols_[*id];
      if (const auto same = alike(symbol)) {
        names_.emplace(name, *same);
        continue;
      }
      std::string base = symbol.name.empty() ? fmt::format("value_{}", symbol.line) : symbol.name;
      const std::string final_name = unique(base);
      names_.emplace(name, Expression::name(final_name));
      parameters_.emplace_back(symbol, Expression::name(final_name));
      program_.parameters.push_back({final_name, description(symbol), symbol.typical});
    }
  }

  // The same place of the source read again, in another call of the function: one parameter. Not so what a
  // loop or a branch decides: these differ from call to call.
  std::optional<Expression> alike(const HostSymbol& symbol) const {
    if (!symbol.source.empty() && !symbol.source.starts_with('`') && !symbol.source.starts_with("argument"))
      return std::nullopt;
    for (const auto& [known, name] : parameters_)
      if (known.name == symbol.name && known.source == symbol.source && known.file == symbol.file &&
          known.line == symbol.line)
        return name;
    return std::nullopt;
  }

  static std::string description(const HostSymbol& symbol) {
    const std::string place = symbol.line > 0 ? fmt::format("{}:{}", symbol.file, symbol.line) : symbol.file;
    if (symbol.source.empty()) return place;
    return fmt::format("{}, {}", symbol.source, place);
  }

  // Arrays have names already; what their sizes depend on are parameters too, where launches depend on them
  // anyway.
  void name_arrays() {
    std::vector<HostArray> kept;
    for (HostArray& array : program_.arrays) {
      if (std::find(used_arrays_.begin(), used_arrays_.end(), array.name) == used_arrays_.end()) continue;
      const auto names = array.elements.names();
      const bool known =
          std::all_of(names.begin(), names.end(), [&](const auto& name) { return names_.count(name) > 0; });
      const std::string placeholder = array.name;
      if (!known) {
        dropped_arrays_.insert(placeholder);
        continue;
      }
      const auto dot = placeholder.find('.', placeholder.find('.') + 1);
      array.name = unique(dot == std::string::npos ? "array" : placeholder.substr(dot + 1));
      array.elements = substituted(array.elements, names_);
      array_names_.emplace(placeholder, Expression::name(array.name));
      kept.push_back(std::move(array));
    }
    program_.arrays = std::move(kept);
  }

  void rename(HostStep& step, Substitution around) {
    Substitution names = names_;
    names.insert(around.begin(), around.end());
    step.repeat = substituted(step.repeat, names);
    if (!step.counter.empty()) {
      const std::size_t at = std::stoul(step.counter.substr(counter_prefix.size() + 1));
      std::set<std::string> taken = taken_;
      for (const auto& [name, expression] : around) taken.insert(expression.name_text());
      const std::string name = unique_in(taken, counters_[at]);
      around.emplace(step.counter, Expression::name(name));
      names.emplace(step.counter, Expression::name(name));
      step.counter = name;
    }
    const Expression repeat = step.repeat;
    if (step.launch) {
      auto& arrays = step.launch->arrays;
      std::erase_if(arrays, [&](const auto& array) {
        const auto used = array.second.names();
        return std::any_of(used.begin(), used.end(), [&](const std::string& name) {
          return array_names_.count(name) == 0 && names.count(name) == 0;
        });
      });
      for (auto& array : arrays) array.second = substituted(array.second, array_names_);
    }
    for_each_expression(step, [&](Expression& expression) { expression = substituted(expression, names); });
    step.repeat = repeat;
    for (HostStep& inner : step.steps) rename(inner, around);
  }

  std::string unique(const std::string& base) {
    const std::string name = unique_in(taken_, base);
    taken_.insert(name);
    return name;
  }

  static std::string unique_in(const std::set<std::string>& taken, const std::string& base) {
    static const std::set<std::string> functions{"min", "max", "ceil_div", "log2", "if"};
    const std::string wanted = functions.count(base) > 0 ? base + "_" : base;
    std::string name = wanted;
    for (int number = 2; taken.count(name) > 0; ++number) name = fmt::format("{}_{}", wanted, number);
    return name;
  }

  HostProgram& program_;
  const HostSymbols& symbols_;
  const std::vector<std::string>& counters_;
  std::vector<std::string> used_arrays_;
  std::vector<std::pair<HostSymbol, Expression>> parameters_;
  std::set<std::string> dropped_arrays_, taken_;
  Substitution names_, array_names_;
};

}  // namespace

int HostSymbols::add(HostSymbol symbol) {
  symbols_.push_back(std::move(symbol));
  return static_cast<int>(symbols_.size()) - 1;
}

Expression HostSymbols::expression(int id) {
  return Expression::name(fmt::format("{}s{}", symbol_prefix, id));
}

std::optional<int> HostSymbols::id_of(const std::string& name) {
  if (!name.starts_with(symbol_prefix)) return std::nullopt;
  int id = 0;
  const char* begin = name.data() + symbol_prefix.size() + 1;
  if (std::from_chars(begin, name.data() + name.size(), id).ec != std::errc()) return std::nullopt;
  return id;
}

std::string HostSymbols::new_counter(const std::string& hint) {
  counters_.push_back(hint);
  return fmt::format("{}c{}", counter_prefix, counters_.size() - 1);
}

bool HostSymbols::is_readable(const Expression& expression) const {
  for (const std::string& name : expression.names()) {
    if (const auto id = id_of(name); id && !(*this)[*id].variable) return false;
  }
  return true;
}

void HostSymbols::finish(HostProgram& program) const {
  tidy(program.steps);
  Namer(program, *this, counters_).run();
}

std::string identifier_from(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (plain) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
    if (name.size() >= longest_made_name) break;
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return {};
  if (name[0] >= '0' && name[0] <= '9') name.insert(0, "_");
  return name;
}

}  // namespace warptime::compiling
