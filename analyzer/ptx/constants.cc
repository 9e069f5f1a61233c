// Constant expressions: integers of 64 bits and doubles, with C's operators and precedences.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "analyzer/ptx/parser.h"

namespace warptime::ptx {
namespace {

// The value of hexadecimal digits, at most 16.
std::uint64_t hexadecimal(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// The bits of a float as a double; a signalling NaN stays one, which a conversion would not guarantee.
double widened(std::uint32_t bits) {
  const float value = std::bit_cast<float>(bits);
  if (value == value) return value;
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> 31) << 63;
  const std::uint64_t fraction = static_cast<std::uint64_t>(bits & 0x7fffff) << 29;
  return std::bit_cast<double>(sign | 0x7ff0000000000000 | fraction);
}

double floating_value(std::string_view text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'f')
    return widened(static_cast<std::uint32_t>(hexadecimal(text.substr(2))));
  if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'd')
    return std::bit_cast<double>(hexadecimal(text.substr(2)));
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc::result_out_of_range) return value;
  return std::strtod(std::string(text).c_str(), nullptr);  // infinity or zero, as the case may be
}

// 0f3f800000: it stands alone or in parentheses.
bool is_bits_of_float(const Token& token) {
  if (token.kind != TokenKind::floating || token.text.size() < 3 || token.text[0] != '0') return false;
  const char letter = static_cast<char>(token.text[1] | 0x20);
  return letter == 'f' || letter == 'd';
}

// False where the digits are none of the base, or the value does not fit.
bool integer_value(std::string_view text, std::uint64_t& value) {
  if (text.back() == 'U') text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return status == std::errc() && end == text.data() + text.size();
}

int precedence_of(std::string_view symbol) {
  struct Line {
    std::string_view symbol;
    int precedence;
  };
  static constexpr Line lines[] = {{"?", 1},  {"||", 2}, {"&&", 3}, {"|", 4},  {"^", 5},  {"&", 6}, {"==", 7},
                                   {"!=", 7}, {"<=", 8}, {">=", 8}, {"<<", 9}, {">>", 9}, {"<", 8}, {">", 8},
                                   {"+", 10}, {"-", 10}, {"*", 11}, {"/", 11}, {"%", 11}};
  for (const Line& line : lines)
    if (line.symbol == symbol) return line.precedence;
  return 0;
}

// A double as a whole number, cut off; 0 where it is none or does not fit.
std::uint64_t truncated(double value) {
  constexpr double limit = 9.2e18;
  if (!(value > -limit && value < limit)) return 0;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

double real_of(bool floating, double real, std::uint64_t integer) {
  return floating ? real : static_cast<double>(static_cast<std::int64_t>(integer));
}

}  // namespace

bool Parser::number(Constant& value) {
  if (token_.kind == TokenKind::floating) {
    value.floating = true;
    value.real = floating_value(token_.text);
  } else {
    value.floating = false;
    if (!integer_value(token_.text, value.integer)) {
      return fail_at(
          token_.text, token_.line,
          fmt::format("the number {} does not fit into 64 bits or has wrong digits", quoted(token_.text)));
    }
  }
  consume();
  return true;
}

bool Parser::whole_number(std::uint64_t& value) {
  if (token_.kind != TokenKind::integer) return unexpected("a number");
  Constant constant;
  if (!number(constant)) return false;
  value = constant.integer;
  return true;
}

// The operator at the token and its precedence; 0: none.
int Parser::binary_operator(std::string_view& symbol) const {
  if (token_.kind != TokenKind::punctuation) return 0;
  const char second = following();
  static constexpr std::string_view pairs[] = {"||", "&&", "==", "!=", "<=", ">=", "<<", ">>"};
  for (std::string_view pair : pairs) {
    if (pair[0] == token_.mark && pair[1] == second) {
      symbol = pair;
      return precedence_of(pair);
    }
  }
  symbol = token_.text;
  return precedence_of(symbol);
}

bool Parser::primary(Constant& value, int depth) {
  if (depth > maximum_depth) return fail_at(token_.text, token_.line, "the expression is nested too deeply");
  if (token_.kind == TokenKind::integer || token_.kind == TokenKind::floating) return number(value);
  if (at_word() && token_.text == "WARP_SZ") {
    value = {false, 32, 0};
    consume();
    return true;
  }
  if (at('(')) {
    consume();
    if (at_directive(".s64") || at_directive(".u64")) {  // a cast: integers have 64 bits here anyway
      consume();
      if (!expect(')') || !primary(value, depth + 1)) return false;
      if (value.floating) value = {false, truncated(value.real), 0};
      return true;
    }
    return constant(value, 1, depth + 1) && expect(')');
  }
  const char sign = token_.mark;
  if (sign != '-' && sign != '+' && sign != '!' && sign != '~') return unexpected("a number");
  consume();
  if (is_bits_of_float(token_)) return unexpected("a number that can have a sign");
  if (!primary(value, depth + 1)) return false;
  if (sign == '-' && value.floating) value.real = -value.real;
  if (sign == '-' && !value.floating) value.integer = 0 - value.integer;
  if (sign == '!') value = {false, value.floating ? value.real == 0 : value.integer == 0, 0};
  if (sign == '~') value.integer = ~value.integer;
  return true;
}

bool Parser::constant(Constant& value, int precedence, int depth) {
  const bool bits = is_bits_of_float(token_);
  if (!primary(value, depth)) return false;
  for (;;) {
    if (at(',') || at(';') || at(']')) return true;  // by far the most
    std::string_view symbol;
    const int found = binary_operator(symbol);
    if (found == 0 || found < precedence) return true;
    const Token place = token_;
    if (bits) return unexpected("',' or ';'");
    consume();
    if (symbol.size() == 2) consume();
    if (is_bits_of_float(token_)) return unexpected("a number that can be in an expression");
    Constant right;
    if (symbol == "?") {
      Constant otherwise;
      if (!constant(right, 1, depth + 1) || !expect(':') || !constant(otherwise, 1, depth + 1)) return false;
      const bool yes = value.floating ? value.real != 0 : value.integer != 0;
      value = yes ? right : otherwise;
      continue;
    }
    if (!constant(right, found + 1, depth + 1) || !apply(symbol, right, value, place)) return false;
  }
}

bool Parser::apply(std::string_view symbol, const Constant& right, Constant& left, const Token& place) {
  if (left.floating || right.floating) {
    const double a = real_of(left.floating, left.real, left.integer);
    const double b = real_of(right.floating, right.real, right.integer);
    const auto truth = [&](bool value) { left = {false, value, 0}; };
    const auto real = [&](double value) { left = {true, 0, value}; };
    if (symbol == "+") return real(a + b), true;
    if (symbol == "-") return real(a - b), true;
    if (symbol == "*") return real(a * b), true;
    if (symbol == "/") return real(a / b), true;
    if (symbol == "<") return truth(a < b), true;
    if (symbol == ">") return truth(a > b), true;
    if (symbol == "<=") return truth(a <= b), true;
    if (symbol == ">=") return truth(a >= b), true;
    if (symbol == "==") return truth(a == b), true;
    if (symbol == "!=") return truth(a != b), true;
    if (symbol == "&&") return truth(a != 0 && b != 0), true;
    if (symbol == "||") return truth(a != 0 || b != 0), true;
    return fail_at(place.text, place.line, fmt::format("{} takes whole numbers", quoted(symbol)));
  }
  const std::uint64_t a = left.integer;
  const std::uint64_t b = right.integer;
  const auto signed_a = static_cast<std::int64_t>(a);
  const auto signed_b = static_cast<std::int64_t>(b);
  std::uint64_t& result = left.integer;
  if (symbol == "/" || symbol == "%") {
    if (b == 0) return fail_at(place.text, place.line, "division of a constant by zero");
    const bool overflows = signed_a == std::numeric_limits<std::int64_t>::min() && signed_b == -1;
    if (symbol == "/") result = overflows ? a : static_cast<std::uint64_t>(signed_a / signed_b);
    if (symbol == "%") result = overflows ? 0 : static_cast<std::uint64_t>(signed_a % signed_b);
    return true;
  }
  if (symbol == "+") result = a + b;
  if (symbol == "-") result = a - b;
  if (symbol == "*") result = a * b;
  if (symbol == "<<") result = b < 64 ? a << b : 0;
  if (symbol == ">>") result = static_cast<std::uint64_t>(signed_a >> (b < 64 ? b : 63));
  if (symbol == "<") result = signed_a < signed_b;
  if (symbol == ">") result = signed_a > signed_b;
  if (symbol == "<=") result = signed_a <= signed_b;
  if (symbol == ">=") result = signed_a >= signed_b;
  if (symbol == "==") result = a == b;
  if (symbol == "!=") result = a != b;
  if (symbol == "&") result = a & b;
  if (symbol == "|") result = a | b;
  if (symbol == "^") result = a ^ b;
  if (symbol == "&&") result = a != 0 && b != 0;
  if (symbol == "||") result = a != 0 || b != 0;
  return true;
}

}  // namespace warptime::ptx
