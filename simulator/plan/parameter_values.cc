#include "simulator/plan/parameter_values.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "simulator/base/text.h"
#include "simulator/program/expression/expression.h"

namespace warptime {
namespace {

constexpr std::string_view kHint = "write values like 64, 8,10,12, 2^6..2^20 or 64..1024:64";

struct Number {
  std::int64_t value = 0;
  bool power = false;  // written as base ^ exponent
  std::int64_t base = 0, exponent = 0;
};

Result<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = stopped == text.data() + text.size();
  if (status == std::errc() && whole) return value;
  if (status == std::errc::result_out_of_range && whole) {
    return error(fmt::format("{} does not fit 64 bits", text));
  }
  if (text.empty()) return error("a value is missing", std::string(kHint));
  return error(fmt::format("`{}` is not a whole number", text), std::string(kHint));
}

Result<Number> parse_number(std::string_view text) {
  text = trimmed(text);
  const auto caret = text.find('^');
  Number number;
  if (caret == std::string_view::npos) {
    const auto value = parse_whole(text);
    if (!value) return value.diagnostics();
    number.value = *value;
    return number;
  }
  const auto base = parse_whole(trimmed(text.substr(0, caret)));
  if (!base) return base.diagnostics();
  const auto exponent = parse_whole(trimmed(text.substr(caret + 1)));
  if (!exponent) return exponent.diagnostics();
  const auto value = evaluate_count(Expression::make(Expression::Operator::power, {*base, *exponent}), {});
  if (!value) return error(fmt::format("{} does not fit 64 bits", text));
  return Number{*value, true, *base, *exponent};
}

}  // namespace

Result<ParameterValues> ParameterValues::parse(std::string_view text) {
  ParameterValues values;
  std::uint64_t total = 0;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    more = comma != std::string_view::npos;
    std::string_view piece = trimmed(rest.substr(0, comma));
    if (more) rest.remove_prefix(comma + 1);

    const auto dots = piece.find("..");
    Range range;
    if (dots == std::string_view::npos) {
      const auto number = parse_number(piece);
      if (!number) return number.diagnostics();
      range.first = number->value;
    } else {
      const std::string_view written = piece;
      std::optional<std::int64_t> step;
      if (const auto colon = piece.find(':'); colon != std::string_view::npos) {
        const auto parsed = parse_whole(trimmed(piece.substr(colon + 1)));
        if (!parsed) return parsed.diagnostics();
        if (*parsed < 1) return error(fmt::format("`{}`: the step of a range must be at least 1", written));
        step = *parsed;
        piece = piece.substr(0, colon);
      }
      const auto first = parse_number(piece.substr(0, dots));
      if (!first) return first.diagnostics();
      const auto last = parse_number(piece.substr(dots + 2));
      if (!last) return last.diagnostics();
      // With a step, 2^6..2^20 is an ordinary range of numbers.
      range.powers = first->power && last->power && !step;
      if (!step && first->power != last->power) {
        return error(fmt::format("`{}`: a range of powers needs a power at both ends", written),
                     std::string(kHint));
      }
      if (range.powers && (first->base != last->base || first->base < 2)) {
        return error(
            fmt::format("`{}`: a range of powers needs the same base, at least 2, at both ends", written));
      }
      range.base = first->base;
      range.step = step.value_or(1);
      range.first = range.powers ? first->exponent : first->value;
      const std::int64_t end = range.powers ? last->exponent : last->value;
      if (end < range.first) return error(fmt::format("the range `{}` is empty", written));
      const std::uint64_t distance =
          static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(range.first);
      range.count = distance / static_cast<std::uint64_t>(range.step);
      if (__builtin_add_overflow(range.count, std::uint64_t{1}, &range.count)) {
        return error(fmt::format("the range `{}` has more than 2^64 - 1 values", written));
      }
    }
    if (__builtin_add_overflow(total, range.count, &total)) {
      return error(fmt::format("`{}` has more than 2^64 - 1 values", text));
    }
    values.ranges_.push_back(range);
  }
  return values;
}

std::uint64_t ParameterValues::size() const {
  std::uint64_t size = 0;
  for (const Range& range : ranges_) size += range.count;
  return size;
}

std::int64_t ParameterValues::at(std::uint64_t index) const {
  for (const Range& range : ranges_) {
    if (index >= range.count) {
      index -= range.count;
      continue;
    }
    // Unsigned, as the distance from the first may not fit a signed number though the value does.
    const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(range.first) +
                                                 index * static_cast<std::uint64_t>(range.step));
    if (!range.powers) return value;
    // By squaring; unsigned, as the last square may not fit.
    std::uint64_t power = 1, square = static_cast<std::uint64_t>(range.base);
    for (std::int64_t left = value; left > 0; left >>= 1, square *= square)
      if ((left & 1) != 0) power *= square;
    return static_cast<std::int64_t>(power);
  }
  return 0;
}

Result<std::vector<NamedValues>> parse_parameters(std::string_view text) {
  std::vector<NamedValues> named;
  std::string_view rest = text;
  while (true) {
    const auto equals = rest.find('=');
    const std::string_view name = trimmed(rest.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) {
      return error(fmt::format("`{}` is not NAME=VALUES", rest), "K=8,10,12 or N=2^6..2^20");
    }
    rest.remove_prefix(equals + 1);
    // The values end at the comma before the next `NAME=`.
    const auto next = rest.find('=');
    const auto end = next == std::string_view::npos ? next : rest.rfind(',', next);
    const auto values = ParameterValues::parse(rest.substr(0, end));
    if (!values) {
      Diagnostics wrong = values.diagnostics();
      wrong.front().message = fmt::format("{}: {}", name, wrong.front().message);
      return wrong;
    }
    named.push_back({std::string(name), *values});
    if (end == std::string_view::npos) return named;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace warptime
