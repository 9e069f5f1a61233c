// Initialisers of variables: {1, 2, {0f3F800000, name+4}}, generic(name), 0xFF00(name).
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "analyzer/execute/layout.h"
#include "analyzer/execute/types.h"

namespace warptime::execute {
namespace {

class Initialiser {
 public:
  Initialiser(const Program& program, const ptx::Variable& variable, std::span<std::byte> to)
      : program_(program),
        text_(variable.initializer),
        type_(type_of(variable.type)),
        bytes_(static_cast<std::size_t>(bytes_of(type_))),
        to_(to) {}

  bool run() {
    skip_blanks();
    if (at('=')) ++at_, skip_blanks();
    return bytes_ != 0 && value(0) && (skip_blanks(), at_ == text_.size());
  }

 private:
  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      else
        return;
    }
  }

  // A list fills whole elements in order; what it leaves stays zero.
  bool value(int depth) {
    skip_blanks();
    if (depth > 16) return false;
    if (!at('{')) return scalar();
    ++at_;
    while (true) {
      skip_blanks();
      if (at('}')) return ++at_, true;
      if (!value(depth + 1)) return false;
      skip_blanks();
      if (at(',')) ++at_;
    }
  }

  std::string_view word() {
    const auto begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  std::string_view("_$%.").find(text_[at_]) != std::string_view::npos))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::optional<std::uint64_t> symbol(std::string_view name) {
    const auto found = program_.symbols.find(name);
    if (found == program_.symbols.end()) return std::nullopt;
    auto address = found->second;
    skip_blanks();
    while (at('+') || at('-')) {
      const bool minus = at('-');
      ++at_, skip_blanks();
      const auto offset = integer(word());
      if (!offset) return std::nullopt;
      address += minus ? 0 - *offset : *offset;
      skip_blanks();
    }
    return address;
  }

  static std::optional<std::uint64_t> integer(std::string_view digits) {
    if (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.remove_suffix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X"))
      base = 16, digits.remove_prefix(2);
    else if (digits.starts_with("0b") || digits.starts_with("0B"))
      base = 2, digits.remove_prefix(2);
    else if (digits.size() > 1 && digits[0] == '0')
      base = 8;
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }

  // 0f3F800000 and 0d3FF0000000000000, 1.5, 1e-3.
  std::optional<std::uint64_t> floating(std::string_view text, bool negative) {
    const auto sized = [&](double value) -> std::uint64_t {
      if (negative) value = -value;
      return bytes_ == 8 ? std::bit_cast<std::uint64_t>(value)
                         : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    };
    if (text.size() > 2 && text[0] == '0' &&
        std::string_view("fFdD").find(text[1]) != std::string_view::npos) {
      std::uint64_t bits = 0;
      const auto [end, failure] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
      if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
      const bool single = text[1] == 'f' || text[1] == 'F';
      if (single && bytes_ == 4 && !negative) return bits;
      return sized(single ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                          : std::bit_cast<double>(bits));
    }
    char* end = nullptr;
    const std::string copy(text);
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != '\0') return std::nullopt;
    return sized(value);
  }

  bool scalar() {
    bool negative = false, complement = false;
    while (at('-') || at('+') || at('~')) {
      negative ^= at('-'), complement ^= at('~');
      ++at_, skip_blanks();
    }
    auto text = word();
    // The sign of an exponent is no part of a word.
    if (is_float(type_) && !text.empty() && (text.back() == 'e' || text.back() == 'E') &&
        (at('+') || at('-')) && !text.starts_with("0f") && !text.starts_with("0F")) {
      const auto begin = text.data();
      ++at_, word();
      text = std::string_view(begin, static_cast<std::size_t>(text_.data() + at_ - begin));
    }
    if (text.empty()) return false;
    skip_blanks();
    if (at('(')) return of_address(text);
    if (std::isdigit(static_cast<unsigned char>(text[0])) == 0 && text[0] != '.') {
      const auto address = symbol(text);
      return address && put(*address);
    }
    if (is_float(type_) && bytes_ >= 4) {
      const auto bits = floating(text, negative);
      return bits && put(*bits);
    }
    auto number = integer(text);
    if (!number) number = floating(text, false);  // a float's bits in an untyped variable
    if (!number) return false;
    if (negative) *number = 0 - *number;
    return put(complement ? ~*number : *number);
  }

  // generic(name); and a byte of an address, 0xFF00(name).
  bool of_address(std::string_view before) {
    ++at_, skip_blanks();
    std::optional<std::uint64_t> address;
    const auto name = word();
    if (name == "generic") {
      skip_blanks();
      if (!at('(')) return false;
      ++at_, skip_blanks();
      address = symbol(word());
      skip_blanks();
      if (!at(')')) return false;
      ++at_;
      skip_blanks();
    } else {
      address = symbol(name);
    }
    skip_blanks();
    if (!address || !at(')')) return false;
    ++at_;
    if (before == "generic") {
      skip_blanks();
      auto value = *address;
      while (at('+') || at('-')) {
        const bool minus = at('-');
        ++at_, skip_blanks();
        const auto offset = integer(word());
        if (!offset) return false;
        value += minus ? 0 - *offset : *offset;
        skip_blanks();
      }
      return put(value);
    }
    const auto mask = integer(before);
    if (!mask || *mask == 0) return false;
    return put((*address & *mask) >> std::countr_zero(*mask));
  }

  bool put(std::uint64_t bits) {
    if (place_ + bytes_ > to_.size()) return false;
    std::memcpy(&to_[place_], &bits, std::min<std::size_t>(bytes_, 8));
    place_ += bytes_;
    return true;
  }

  const Program& program_;
  std::string_view text_;
  Type type_;
  std::size_t bytes_;
  std::span<std::byte> to_;
  std::size_t at_ = 0, place_ = 0;
};

}  // namespace

bool initialise(const Program& program, const ptx::Variable& variable, std::span<std::byte> to,
                Diagnostics& errors) {
  if (variable.initializer.empty() || Initialiser(program, variable, to).run()) return true;
  errors.push_back(error_at(program.file, static_cast<int>(variable.line), 0,
                            fmt::format("the initialiser of `{}` is not understood", variable.name)));
  return false;
}

}  // namespace warptime::execute
