// Text -> Expression: a recursive descent parser, one function per level of the grammar in expression.h.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "simulator/base/did_you_mean.h"
#include "simulator/base/text.h"
#include "simulator/program/expression/expression.h"
#include "simulator/program/expression/node.h"

namespace warptime {
namespace {

using Operator = Expression::Operator;

constexpr int kDeepestExpression = 200;
constexpr std::uint32_t kDeepestTree = 1000;  // 1 + 1 + 1 + … nests to the left without a parenthesis

struct Token {
  enum class Kind { number, name, symbol, end } kind = Kind::end;
  std::string_view text;
  std::size_t begin = 0;
};

struct BinaryOperator {
  std::string_view text;
  Operator op;
};

// The left-associative levels, loosest first.
constexpr std::array<BinaryOperator, 1> kOrLevel = {{{"||", Operator::logical_or}}};
constexpr std::array<BinaryOperator, 1> kAndLevel = {{{"&&", Operator::logical_and}}};
constexpr std::array<BinaryOperator, 6> kComparisonLevel = {{{"==", Operator::equal},
                                                             {"!=", Operator::not_equal},
                                                             {"<", Operator::less},
                                                             {"<=", Operator::less_equal},
                                                             {">", Operator::greater},
                                                             {">=", Operator::greater_equal}}};
constexpr std::array<BinaryOperator, 2> kSumLevel = {{{"+", Operator::add}, {"-", Operator::subtract}}};
constexpr std::array<BinaryOperator, 3> kProductLevel = {
    {{"*", Operator::multiply}, {"/", Operator::divide}, {"%", Operator::modulo}}};

struct Function {
  std::string_view name;
  Operator op;
  std::string_view arguments;
};
constexpr std::array<Function, 9> kFunctions = {{{"min", Operator::minimum, "at least two arguments"},
                                                 {"max", Operator::maximum, "at least two arguments"},
                                                 {"ceil_div", Operator::ceil_div, "two arguments"},
                                                 {"log2", Operator::log2, "one argument"},
                                                 {"if", Operator::conditional, "three arguments"},
                                                 {"bit_and", Operator::bit_and, "two arguments"},
                                                 {"bit_or", Operator::bit_or, "two arguments"},
                                                 {"bit_xor", Operator::bit_xor, "two arguments"},
                                                 {"first", Operator::first, "two arguments"}}};

// A piece of the text for a message: machines write longer ones than people read.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  return text.size() <= kLongest ? fmt::format("`{}`", text) : fmt::format("`{}…`", text.substr(0, kLongest));
}

bool begins_name(char c) {
  return is_letter(c) || c == '_';
}

bool has_first(const Expression& expression) {
  const auto operands = expression.operands();
  return expression.op() == Operator::first || std::any_of(operands.begin(), operands.end(), has_first);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { next(); }

  Result<Expression> run() {
    Expression result = parse_or();
    if (!failed_ && token_.kind != Token::Kind::end) {
      fail(fmt::format("expected an operator before {}", in_quotes(token_.text)), token_.begin);
    }
    if (failed_) return diagnostic_;
    return result;
  }

 private:
  // The first mistake counts; after it the parser runs on to the end of its functions with empty hands.
  void fail(std::string message, std::size_t at, std::string hint = {}) {
    if (failed_) return;
    failed_ = true;
    diagnostic_ = error_at({}, 1, static_cast<int>(at) + 1, std::move(message), std::move(hint));
    diagnostic_.source_line = std::string(text_);
    token_ = Token{Token::Kind::end, {}, text_.size()};
    position_ = text_.size();
  }

  void next() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
    const std::size_t begin = position_;
    if (begin >= text_.size()) {
      token_ = Token{Token::Kind::end, {}, text_.size()};
      return;
    }
    Token::Kind kind = Token::Kind::symbol;
    const char c = text_[begin];
    if (is_digit(c) || (c == '.' && begin + 1 < text_.size() && is_digit(text_[begin + 1]))) {
      kind = Token::Kind::number;
      scan_number();
    } else if (begins_name(c)) {
      kind = Token::Kind::name;
      scan_name();
    } else {
      static constexpr std::array<std::string_view, 6> kPairs = {"||", "&&", "==", "!=", "<=", ">="};
      ++position_;
      for (const std::string_view pair : kPairs) {
        if (text_.substr(begin, 2) == pair) position_ = begin + 2;
      }
      if (position_ == begin + 1 && std::string_view("+-*/%^!<>(),").find(c) == std::string_view::npos) {
        return fail_at_character(begin);
      }
    }
    token_ = Token{kind, text_.substr(begin, position_ - begin), begin};
  }

  void fail_at_character(std::size_t at) {
    std::size_t end = at + 1;  // the whole of a character of several bytes
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    const std::string_view character = text_.substr(at, end - at);
    std::string hint;
    if (character == "=") hint = "`==` compares";
    if (character == "&" || character == "|") hint = fmt::format("`{0}{0}` joins two conditions", character);
    const bool printable = static_cast<unsigned char>(character[0]) >= 0x20;
    fail(printable ? fmt::format("unexpected `{}`", character)
                   : fmt::format("unexpected character {:#04x}", static_cast<unsigned char>(character[0])),
         at, hint);
  }

  // Takes all that could belong to the number, so that `12abc` is one wrong number and not a number and a
  // name.
  void scan_number() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      const bool exponent_sign =
          (c == '+' || c == '-') && (text_[position_ - 1] == 'e' || text_[position_ - 1] == 'E');
      if (!is_identifier(c) && c != '.' && !exponent_sign) break;
      ++position_;
    }
  }

  void scan_name() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      const bool dot = c == '.' && position_ + 1 < text_.size() && begins_name(text_[position_ + 1]);
      if (!is_identifier(c) && !dot) break;
      ++position_;
    }
  }

  bool at_symbol(std::string_view text) const {
    return token_.kind == Token::Kind::symbol && token_.text == text;
  }

  Expression make(Operator op, std::vector<Expression> operands, std::size_t at) {
    if (failed_) return {};
    Expression made = Expression::make(op, std::move(operands));
    if (made.depth() > kDeepestTree) {
      fail(fmt::format("the expression has more than {} levels", kDeepestTree), at);
      return {};
    }
    return made;
  }

  template <std::size_t size>
  Expression parse_left_associative(const std::array<BinaryOperator, size>& level,
                                    Expression (Parser::*tighter)()) {
    Expression left = (this->*tighter)();
    while (true) {
      const BinaryOperator* found = nullptr;
      for (const BinaryOperator& candidate : level) {
        if (at_symbol(candidate.text)) found = &candidate;
      }
      if (found == nullptr) return left;
      const std::size_t at = token_.begin;
      next();
      Expression right = (this->*tighter)();
      left = make(found->op, {std::move(left), std::move(right)}, at);
    }
  }

  Expression parse_or() { return parse_left_associative(kOrLevel, &Parser::parse_and); }
  Expression parse_and() { return parse_left_associative(kAndLevel, &Parser::parse_comparison); }
  Expression parse_comparison() { return parse_left_associative(kComparisonLevel, &Parser::parse_sum); }
  Expression parse_sum() { return parse_left_associative(kSumLevel, &Parser::parse_product); }
  Expression parse_product() { return parse_left_associative(kProductLevel, &Parser::parse_unary); }

  Expression parse_unary() {
    const std::size_t at = token_.begin;
    if (!at_symbol("-") && !at_symbol("!")) return parse_power();
    if (++nesting_ > kDeepestExpression) return too_deep(at);
    Expression result;
    if (at_symbol("!")) {
      next();
      result = make(Operator::logical_not, {parse_unary()}, at);
    } else {
      next();
      result = parse_after_minus(at);
    }
    --nesting_;
    return result;
  }

  // `-5` is a number, but `-5 ^ 2` negates 25.
  Expression parse_after_minus(std::size_t at) {
    if (token_.kind == Token::Kind::number) {
      const Token number = token_;
      next();
      if (!at_symbol("^")) return parse_number(number, true);
      return make(Operator::negate, {parse_power_of(parse_number(number, false))}, at);
    }
    return make(Operator::negate, {parse_unary()}, at);
  }

  Expression parse_power() { return parse_power_of(parse_primary()); }

  Expression parse_power_of(Expression base) {
    if (!at_symbol("^")) return base;
    const std::size_t at = token_.begin;
    if (++nesting_ > kDeepestExpression) return too_deep(at);
    next();
    Expression exponent = parse_unary();
    --nesting_;
    return make(Operator::power, {std::move(base), std::move(exponent)}, at);
  }

  Expression parse_primary() {
    const Token token = token_;
    if (token.kind == Token::Kind::number) {
      next();
      return parse_number(token, false);
    }
    if (token.kind == Token::Kind::name) {
      next();
      return at_symbol("(") ? parse_call(token) : Expression::name(std::string(token.text));
    }
    if (at_symbol("(")) {
      if (++nesting_ > kDeepestExpression) return too_deep(token.begin);
      next();
      Expression inner = parse_or();
      expect_closing(token.begin);
      --nesting_;
      return inner;
    }
    if (token.kind == Token::Kind::end) {
      fail(text_.empty() ? "an expression is missing" : "the expression ends where a value is expected",
           token.begin);
    } else {
      fail(fmt::format("expected a value before {}", in_quotes(token.text)), token.begin);
    }
    return {};
  }

  Expression parse_call(const Token& name) {
    const Function* function = nullptr;
    for (const Function& candidate : kFunctions) {
      if (candidate.name == name.text) function = &candidate;
    }
    if (function == nullptr) {
      std::vector<std::string> known;
      for (const Function& candidate : kFunctions) known.emplace_back(candidate.name);
      const std::string near = nearest(name.text, known);
      fail(fmt::format("unknown function {}", in_quotes(name.text)), name.begin,
           near.empty() ? "the functions are min, max, ceil_div, log2, if, bit_and, bit_or, bit_xor and first"
                        : fmt::format("did you mean `{}`?", near));
      return {};
    }
    const std::size_t opened = token_.begin;
    if (++nesting_ > kDeepestExpression) return too_deep(opened);
    next();
    std::vector<Expression> arguments;
    if (!at_symbol(")")) {
      arguments.push_back(parse_or());
      while (at_symbol(",")) {
        next();
        arguments.push_back(parse_or());
      }
    }
    expect_closing(opened);
    --nesting_;
    if (!failed_ && !operands_allowed(function->op, arguments.size())) {
      fail(fmt::format("`{}` takes {}, not {}", function->name, function->arguments, arguments.size()),
           name.begin);
    }
    if (!failed_ && function->op == Operator::first) {
      if (arguments[0].op() != Operator::name)
        fail("the first argument of `first` is the name that counts in its condition", name.begin);
      else if (has_first(arguments[1]))
        fail("a `first` inside another one", name.begin);
    }
    return make(function->op, std::move(arguments), name.begin);
  }

  void expect_closing(std::size_t opened) {
    if (at_symbol(")")) return next();
    if (token_.kind == Token::Kind::end) return fail("this `(` is never closed", opened);
    fail(fmt::format("expected an operator or `)` before {}", in_quotes(token_.text)), token_.begin);
  }

  Expression too_deep(std::size_t at) {
    fail(fmt::format("the expression is nested more than {} deep", kDeepestExpression), at);
    return {};
  }

  Expression parse_number(const Token& token, bool negative) {
    if (failed_) return {};
    const std::string text = fmt::format("{}{}", negative ? "-" : "", token.text);
    const char* const end = text.data() + text.size();
    if (token.text.find_first_not_of("0123456789") == std::string_view::npos) {
      std::int64_t value = 0;
      if (std::from_chars(text.data(), end, value).ec == std::errc()) return value;
      fail(fmt::format("{} does not fit 64 bits", in_quotes(text)), token.begin);
      return {};
    }
    double value = 0;
    const auto [stopped, status] = std::from_chars(text.data(), end, value);
    const bool spelled = token.text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
    if (!spelled || stopped != end || status == std::errc::invalid_argument) {
      fail(fmt::format("{} is not a number", in_quotes(token.text)), token.begin);
      return {};
    }
    if (status != std::errc() || !std::isfinite(value)) {
      fail(fmt::format("{} is too large for a number", in_quotes(text)), token.begin);
      return {};
    }
    return Expression::decimal(value);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  Token token_;
  int nesting_ = 0;
  bool failed_ = false;
  Diagnostic diagnostic_;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace warptime
