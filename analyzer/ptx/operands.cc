// Operands. They are collected in pending_ and move into the module's arena when all parts of a composite, or
// all operands of an instruction, are there: so that those lie next to each other.
#include <fmt/format.h>

#include <bit>

#include "analyzer/ptx/parser.h"
#include "analyzer/ptx/words.h"

namespace warptime::ptx {
namespace {

// `%tid` of `%tid.x`.
std::string_view base_of(std::string_view name) {
  return name.substr(0, name.find('.'));
}

Operand::Referent referent_of(Named::Kind kind) {
  switch (kind) {
    case Named::Kind::module_variable:
      return Operand::Referent::module_variable;
    case Named::Kind::function:
      return Operand::Referent::function;
    case Named::Kind::parameter:
      return Operand::Referent::parameter;
    case Named::Kind::result:
      return Operand::Referent::result;
    case Named::Kind::function_variable:
      return Operand::Referent::function_variable;
    case Named::Kind::branch_targets:
      return Operand::Referent::branch_targets;
    case Named::Kind::prototype:
      return Operand::Referent::prototype;
    case Named::Kind::nothing:
    case Named::Kind::reg:
      break;
  }
  return Operand::Referent::none;
}

bool is_memory_access(Category category) {
  return category == Category::load || category == Category::store || category == Category::atomic ||
         category == Category::reduction;
}

}  // namespace

std::uint32_t Parser::flush(std::size_t first) {
  const auto at_index = static_cast<std::uint32_t>(module_.operands.size());
  module_.operands.insert(module_.operands.end(), pending_.begin() + first, pending_.end());
  pending_.resize(first);
  if (!unanswered_) return at_index;
  for (std::size_t i = at_index; i < module_.operands.size(); ++i) {
    Operand& operand = module_.operands[i];
    if (operand.kind == Operand::Kind::label) {  // answered when its scope closes
      LabelUse use;
      use.target = static_cast<std::uint32_t>(i);
      use.name = operand.text;
      use.line = category_ == Category::call ? call_line_ : operand.first_part;
      use.place = category_ == Category::call ? call_ : operand.text;
      use.need = static_cast<LabelUse::Need>(operand.part_count);
      scopes_.use_label(use);
      operand.kind = Operand::Kind::symbol;
      operand.first_part = operand.part_count = 0;
    }
  }
  if (first == 0) unanswered_ = false;
  return at_index;
}

void Parser::close_composite(Operand::Kind kind, std::size_t first, const char* begin, std::uint64_t value) {
  const auto count = static_cast<std::uint32_t>(pending_.size() - first);
  const std::uint32_t first_part = flush(first);
  Operand& composite = pending_.push();
  composite.kind = kind;
  composite.part_count = count;
  composite.first_part = first_part;
  composite.text = span_from(begin);
  composite.value = value;
}

bool Parser::operand(int depth) {
  if (depth > maximum_depth) return fail_at(token_.text, token_.line, "operands are nested too deeply");
  switch (token_.kind) {
    case TokenKind::word:
      return token_.text == "WARP_SZ" ? constant_operand() : word_operand();
    case TokenKind::integer:
    case TokenKind::floating:
      return constant_operand();
    case TokenKind::punctuation:
      break;
    default:
      return unexpected("an operand");
  }
  switch (token_.mark) {
    case '[':
      return address(depth);
    case '{':
      return vector_operand(depth);
    case '(':
      if ((category_ == Category::call && depth == 0) || unknown_opcode_)
        return list_of(Operand::Kind::list, ')', depth);
      return constant_operand();
    case '!':
    case '-':
      return negated_operand();
    case '+':
    case '~':
      return constant_operand();
    default:
      return unexpected("an operand");
  }
}

// !%p, -%r; or a constant.
bool Parser::negated_operand() {
  const Lexer lexer = lexer_;
  const Token token = token_;
  const char* last_end = last_end_;
  consume();
  if (!at_word() || token_.text == "WARP_SZ") {
    lexer_ = lexer;
    token_ = token;
    last_end_ = last_end;
    return constant_operand();
  }
  Operand& result = pending_.push();
  result.negated = true;
  if (!name(result)) return false;
  result.text = span_from(token.text.data());
  return true;
}

// Gives `operand` what the token names.
bool Parser::name(Operand& operand) {
  const std::string_view text = token_.text;
  const std::uint32_t line = token_.line;
  const bool dotted = token_.dotted;
  if (dotted) {
    const std::string_view selected = text.substr(text.find_first_of(".:"));
    if (!is_selector(selected))
      return fail_at(selected, line, fmt::format("expected ',' or ';' before {}", quoted(selected)));
  }
  consume();
  operand.text = text;
  if (text == "_") {
    operand.kind = Operand::Kind::sink;
    return true;
  }
  if (takes_label_) return unresolved_name(operand, line);
  Named found = scopes_.find(text);
  if (found.kind == Named::Kind::nothing && dotted) found = scopes_.find(base_of(text));
  if (found.kind == Named::Kind::nothing) return unresolved_name(operand, line);
  if (found.kind == Named::Kind::reg) {
    operand.kind = Operand::Kind::reg;
    operand.symbol = found.index;
  } else {
    operand.kind = Operand::Kind::symbol;
    operand.referent = referent_of(found.kind);
    operand.value = found.index;
    if (found.kind == Named::Kind::module_variable) operand.symbol = found.index;
  }
  if (at_directive() && selector()) operand.text = span_from(text.data());
  return true;
}

// Consumes the `.x` of `%tid .x`.
bool Parser::selector() {
  const bool found = is_selector(token_.text);
  if (found) consume();
  return found;
}

// A special register, a label of this or an outer scope, or nothing at all: which of them the end of the
// scope shows.
bool Parser::unresolved_name(Operand& operand, std::uint32_t line) {
  const std::string_view text = operand.text;
  if (text.front() == '%' && !takes_label_) {
    const bool call = category_ == Category::call;  // ptxas names the line of the call, not of its argument
    if (!is_special_register(base_of(text)) && !newer_than_known())
      return fail_at(call ? call_ : text, call ? call_line_ : line,
                     fmt::format("register {} is not declared", quoted(text)));
    operand.kind = Operand::Kind::special;
    if (at_directive() && selector()) operand.text = span_from(text.data());
    return true;
  }
  unanswered_ = true;
  operand.kind = Operand::Kind::label;  // its line and need, until it is answered:
  operand.first_part = line;
  const LabelUse::Need need = category_ == Category::branch ? LabelUse::Need::label
                              : unknown_opcode_             ? LabelUse::Need::nothing
                                                            : LabelUse::Need::something;
  operand.part_count = static_cast<std::uint32_t>(need);
  return true;
}

bool Parser::word_operand() {
  const char* begin = start();
  const std::size_t place = pending_.size();
  Operand& first = pending_.push();
  if (!name(first)) return false;
  if (at(',') || at(';') || at('}')) return true;  // by far the most
  const bool named = first.kind == Operand::Kind::symbol || first.kind == Operand::Kind::label;
  if (at('|') && !named) {  // %p1|%p2
    consume();
    if (!at_word()) return unexpected("a register");
    if (!name(pending_.push())) return false;
    close_composite(Operand::Kind::pair, place, begin);
    return true;
  }
  if (named && at('[')) return array_element(begin, place);
  if (!at('+')) return true;
  std::uint64_t value = 0;
  if (!offset(value)) return false;
  close_composite(Operand::Kind::sum, place, begin, value);
  return true;
}

// {a, b, c, d}, also {a, b, c, d}|p of texture loads.
bool Parser::vector_operand(int depth) {
  const char* begin = start();
  const std::size_t place = pending_.size();
  if (!list_of(Operand::Kind::vector, '}', depth)) return false;
  if (!at('|')) return true;
  consume();
  if (!at_word()) return unexpected("a register");
  if (!name(pending_.push())) return false;
  close_composite(Operand::Kind::pair, place, begin);
  return true;
}

// The token is a plus. A minus between a name and a number is none of PTX: it has [%r1+-4].
bool Parser::offset(std::uint64_t& value) {
  const Token place = token_;
  Constant constant_value;
  if (!constant(constant_value, 1, 0)) return false;
  if (constant_value.floating) return fail_at(place.text, place.line, "an offset must be a whole number");
  value = constant_value.integer;
  return true;
}

// array[3] or array[%r], without brackets around it all. The array is the last of pending_, at `place`.
bool Parser::array_element(const char* begin, std::size_t place) {
  const std::uint64_t bytes = element_bytes(pending_.back());
  consume();
  std::uint64_t element = 0;
  if (at_word()) {
    if (!name(pending_.push())) return false;
  } else if (!offset(element)) {
    return false;
  }
  if (!expect(']')) return false;
  const bool memory = is_memory_access(category_);
  close_composite(memory ? Operand::Kind::address : Operand::Kind::sum, place, begin, element * bytes);
  return true;
}

std::uint64_t Parser::element_bytes(const Operand& array) const {
  const Variable* variable = nullptr;
  switch (array.referent) {
    case Operand::Referent::module_variable:
      variable = &module_.variables[array.value];
      break;
    case Operand::Referent::function_variable:
      variable = &function_->variables[array.value];
      break;
    case Operand::Referent::parameter:
      variable = &function_->parameters[array.value];
      break;
    case Operand::Referent::result:
      variable = &function_->results[array.value];
      break;
    default:
      return 1;
  }
  const int bytes = type_bytes(variable->type);
  return static_cast<std::uint64_t>(bytes == 0 ? 1 : bytes) * variable->vector_width;
}

bool Parser::constant_operand() {
  const char* begin = start();
  Constant value;
  if (!constant(value, 1, 0)) return false;
  Operand& result = pending_.push();
  result.kind = value.floating ? Operand::Kind::floating : Operand::Kind::integer;
  result.value = value.floating ? std::bit_cast<std::uint64_t>(value.real) : value.integer;
  result.text = span_from(begin);
  return true;
}

// {a, b} and (a, b).
bool Parser::list_of(Operand::Kind kind, char close, int depth) {
  const char* begin = start();
  const std::size_t place = pending_.size();
  open_braces_ += kind == Operand::Kind::vector;
  consume();
  if (at('}')) return unexpected("an operand");
  while (!at(close)) {
    if (at('{') && kind == Operand::Kind::vector) return unexpected("an operand that is not a vector");
    if (!operand(depth + 1)) return false;
    if (at(close)) break;
    if (!at(',')) return unexpected(kind == Operand::Kind::vector ? "',' or '}'" : "',' or ')'");
    consume();
    if (at(close)) return unexpected("an operand");
  }
  consume();
  open_braces_ -= kind == Operand::Kind::vector;
  close_composite(kind, place, begin);
  return true;
}

// [base], [base+offset], [texture, sampler, {x, y}].
bool Parser::address(int depth) {
  const char* begin = start();
  const std::size_t place = pending_.size();
  consume();
  std::uint64_t value = 0;
  for (bool first = true;; first = false) {
    if (at_word() && token_.text != "WARP_SZ") {
      if (!name(pending_.push())) return false;
      if (first && at('+') && !offset(value)) return false;
    } else if (at('{')) {
      if (!operand(depth + 1)) return false;
    } else if (!constant_operand()) {
      return false;
    }
    if (!at(',')) break;
    consume();
  }
  if (at('-'))
    return fail_at(token_.text, token_.line, "expected ']' before '-'", "a negative offset is written +-4");
  if (!at(']')) return unexpected("']'");
  consume();
  close_composite(Operand::Kind::address, place, begin, value);
  return true;
}

}  // namespace warptime::ptx
