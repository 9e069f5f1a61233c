#include "analyzer/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"
#include "simulator/base/did_you_mean.h"
#include "simulator/base/kernel_base_name.h"
#include "simulator/base/text.h"

namespace warptime {
namespace {

constexpr std::string_view kRegexPrefix = "regex:";
// LLVM's expressions become state machines with a state for each character, repeated as often as counts say,
// and each character of a name visits all states: what bounds the states bounds time and memory.
constexpr std::size_t kLongestExpression = 1000;
constexpr std::int64_t kMostRepetitions = 100;

bool is_explicit(std::string_view text) {
  return text.starts_with(kRegexPrefix);
}

std::string_view expression_of(std::string_view text) {
  return is_explicit(text) ? text.substr(kRegexPrefix.size()) : text;
}

// The product of the counts `{3}` and `{2,5}`, up to a little more than the limit: nested ones multiply.
std::int64_t repetitions(std::string_view expression) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < expression.size() && product <= kMostRepetitions; ++i) {
    if (expression[i] != '{') continue;
    std::int64_t count = 0, largest = 1;
    for (++i; i < expression.size() && (is_digit(expression[i]) || expression[i] == ','); ++i) {
      count = expression[i] == ',' ? 0 : std::min(count * 10 + (expression[i] - '0'), kMostRepetitions + 1);
      largest = std::max(largest, count);
    }
    product *= largest;
  }
  return product;
}

// What LLVM takes, but not as users of other dialects mean it.
std::string unknown_escape(std::string_view expression) {
  for (std::size_t i = 0; i + 1 < expression.size(); ++i) {
    if (expression[i] != '\\') continue;
    ++i;
    if (is_digit(expression[i]))
      return fmt::format("references such as \\{} are not supported", expression[i]);
    if (is_letter(expression[i]))
      return fmt::format("\\{} has no meaning in a POSIX extended regular expression", expression[i]);
  }
  return {};
}

// Empty: the expression is right.
std::string wrong_expression(std::string_view expression) {
  if (expression.empty()) return "it is empty";
  if (expression.size() > kLongestExpression)
    return fmt::format("it is longer than {} characters", kLongestExpression);
  if (repetitions(expression) > kMostRepetitions)
    return fmt::format("its counts repeat a part more than {} times", kMostRepetitions);
  if (auto wrong = unknown_escape(expression); !wrong.empty()) return wrong;
  std::string wrong;
  return llvm::Regex(llvm::StringRef(expression.data(), expression.size())).isValid(wrong) ? "" : wrong;
}

Diagnostic bad_expression(std::string_view expression, const std::string& wrong) {
  return error_at("--kernel", 0, 0, fmt::format("bad regular expression `{}`: {}", expression, wrong),
                  "such as --kernel 'filter.*' or --kernel 'regex:row|col'");
}

template <class Matches>
std::vector<std::size_t> those_that(const std::vector<KernelName>& kernels, const Matches& matches) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (matches(kernels[i])) found.push_back(i);
  return found;
}

std::vector<std::size_t> those_matching(const std::vector<KernelName>& kernels,
                                        const std::string& expression) {
  const llvm::Regex regex(expression);
  return those_that(kernels, [&](const KernelName& kernel) {
    return regex.match(kernel.name) || regex.match(kernel.symbol);
  });
}

std::vector<std::size_t> those_meant(const std::vector<KernelName>& kernels, const std::string& wanted) {
  if (is_explicit(wanted)) return those_matching(kernels, std::string(expression_of(wanted)));
  auto found = those_that(
      kernels, [&](const KernelName& kernel) { return kernel.name == wanted || kernel.symbol == wanted; });
  if (found.empty())
    found = those_that(kernels,
                       [&](const KernelName& kernel) { return kernel_base_name(kernel.name) == wanted; });
  if (found.empty() && wrong_expression(wanted).empty())
    found = those_matching(kernels, "^(" + wanted + ")$");
  return found;
}

}  // namespace

Diagnostics check_kernel_pattern(const std::string& text) {
  if (text.empty()) return {};
  const auto expression = expression_of(text);
  // `copy<char**>` is a name, and no expression.
  if (!is_explicit(text) && expression.find('<') != std::string_view::npos) return {};
  // A name of any length is one.
  if (!is_explicit(text) && std::all_of(expression.begin(), expression.end(), is_identifier)) return {};
  const auto wrong = wrong_expression(expression);
  if (wrong.empty()) return {};
  return {bad_expression(expression.substr(0, kLongestExpression), wrong)};
}

Result<std::vector<std::size_t>> matching_kernels(const std::vector<KernelName>& kernels,
                                                  const std::string& wanted, const std::string& file) {
  if (wanted.empty()) return those_that(kernels, [](const KernelName&) { return true; });
  if (is_explicit(wanted))
    if (auto wrong = check_kernel_pattern(wanted); !wrong.empty()) return wrong;
  auto found = those_meant(kernels, wanted);
  if (!found.empty()) return found;
  const auto names = distinct_names(kernels);
  const auto near = is_explicit(wanted) ? "" : nearest(wanted, names);
  return error_at(file, 0, 0, fmt::format("no kernel `{}`; there are: {}", wanted, fmt::join(names, ", ")),
                  near.empty() ? "" : fmt::format("did you mean `{}`?", near));
}

Result<std::size_t> matching_kernel(const std::vector<KernelName>& kernels, const std::string& wanted,
                                    const std::string& file, const std::string& choose) {
  const auto found = matching_kernels(kernels, wanted, file);
  if (!found) return found.diagnostics();
  if (found->size() == 1) return found->front();
  std::vector<std::string> names;
  const auto all = distinct_names(kernels);
  for (const std::size_t i : *found) names.push_back(all[i]);
  return error_at(file, 0, 0,
                  wanted.empty() ? fmt::format("the input has several kernels: {}", enumerate(names))
                                 : fmt::format("`{}` matches several kernels: {}", wanted, enumerate(names)),
                  choose);
}

std::vector<std::string> distinct_names(const std::vector<KernelName>& kernels) {
  std::vector<std::string> names;
  for (const KernelName& kernel : kernels) {
    const bool repeated = std::count_if(kernels.begin(), kernels.end(), [&](const KernelName& other) {
                            return other.name == kernel.name;
                          }) > 1;
    names.push_back(repeated && !kernel.symbol.empty() && kernel.symbol != kernel.name
                        ? fmt::format("{} ({})", kernel.name, kernel.symbol)
                        : kernel.name);
  }
  return names;
}

}  // namespace warptime
