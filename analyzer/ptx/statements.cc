// Function bodies: scopes, labels, directives, instructions.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "analyzer/ptx/parser.h"
#include "analyzer/ptx/words.h"

namespace warptime::ptx {
namespace {

// In LabelUse::target: an index into target_labels_, not of an operand.
constexpr std::uint32_t in_target_list = 0x80000000;

}  // namespace

// The opening brace is the token.
bool Parser::body(Function& function) {
  function_ = &function;
  instructions_.clear();
  target_labels_.clear();
  target_ranges_.clear();
  place_ = {};
  inner_line_ = 0;
  if (!inlined_.empty())
    decltype(inlined_)().swap(inlined_);  // clear() would take time for all buckets it ever had
  consume();
  const int outermost = scopes_.depth();
  bool closed = false;
  bool cut = false;  // and that has been said
  while (!closed && !at_end() && !full() && !stopped_) {
    if (at_function_in_body()) {
      cut = !function_in_body();
      if (cut) break;
    } else if (ends_every_body()) {
      break;
    } else if (at('}')) {
      closed = scopes_.depth() == outermost;
      function.end_line = token_.line;
      if (!closed) scopes_.close();
      consume();
    } else if (!statement()) {
      recover_in_body();
    }
  }
  if (token_.kind == TokenKind::unterminated && !closed && !stopped_) unexpected("'}'");
  if (!closed && !cut && !full() && !stopped_) {
    fail_at(token_.text, token_.line,
            fmt::format("expected '}}' before {}: the body of {}, which begins in line {}, is not closed",
                        described(token_), quoted(function.name), function.line));
    if (at_end()) stopped_ = true;
  }
  while (scopes_.depth() > 0) scopes_.close();
  finish_function(function, closed);
  return true;
}

void Parser::finish_function(Function& function, bool closed) {
  function.instructions.assign(instructions_.begin(), instructions_.end());
  answer_label_uses(closed);
  for (std::size_t i = 0; i < target_ranges_.size(); ++i) {
    const auto first = target_labels_.begin() + target_ranges_[i].first;
    function.branch_targets[i].labels.assign(first, first + target_ranges_[i].second);
  }
  // The vectors that grew serve the next function; this one gets what it needs.
  function.registers.swap(registers_);
  function.registers.assign(registers_.begin(), registers_.end());
  function.labels.swap(labels_);
  function.labels.assign(labels_.begin(), labels_.end());
  function_ = nullptr;
}

// The labels of a body that is cut off may have been in what is missing.
void Parser::answer_label_uses(bool closed) {
  for (const LabelUse& use : scopes_.label_uses()) {
    if (use.label == no_index) {
      if (!closed) continue;
      // Not where something else is wrong before: a label may have been in what was skipped.
      if (use.need == LabelUse::Need::label && unknown_labels_ == diagnostics_.size() && !full()) {
        ++unknown_labels_;
        fail_at(use.place, use.line, fmt::format("label {} is not defined in this scope", quoted(use.name)));
      }
      if (use.need == LabelUse::Need::something)
        fail_at(use.place, use.line, fmt::format("{} is not declared", quoted(use.name)));
      if (use.need == LabelUse::Need::nothing) module_.operands[use.target].kind = Operand::Kind::text;
      continue;
    }
    if ((use.target & in_target_list) != 0) {
      target_labels_[use.target & ~in_target_list] = use.label;
      continue;
    }
    Operand& operand = module_.operands[use.target];
    operand.kind = Operand::Kind::label;
    operand.symbol = use.label;
  }
}

// Whether .func follows, perhaps after .visible and the like.
bool Parser::at_function_in_body() {
  if (at_directive(".func")) return true;
  if (!at_directive(".visible") && !at_directive(".extern") && !at_directive(".weak")) return false;
  Lexer ahead = lexer_;
  Token token;
  ahead.next_significant(token);
  return token.kind == TokenKind::directive && token.text == ".func";
}

// A function can be declared in a body, but not defined there. False: at a definition, before which a } is
// missing.
bool Parser::function_in_body() {
  const Lexer lexer = lexer_;
  const Token token = token_;
  const char* last_end = last_end_;
  Function function;
  function.linkage = linkage();
  if (!function_header(function)) {
    recover_in_body();
    return true;
  }
  if (at('{')) {
    fail_at(token_.text, token_.line,
            fmt::format(
                "expected '}}' before the body of {}: the body of {}, which begins in line {}, is not closed",
                quoted(function.name), quoted(function_->name), function_->line));
    lexer_ = lexer;
    token_ = token;
    last_end_ = last_end;
    return false;
  }
  function.declaration = true;
  function.end_line = token_.line;
  std::uint32_t index = 0;
  if (register_function(function, index) && module_.functions[index].name.empty())
    module_.functions[index] = std::move(function);
  if (!expect(';')) recover_in_body();
  return true;
}

// Goes behind the next ; or to the next } that closes a scope.
void Parser::recover_in_body() {
  int braces = open_braces_;
  open_braces_ = 0;
  for (; token_.kind != TokenKind::end && !stopped_; consume()) {
    if (token_.kind == TokenKind::unterminated) {
      unexpected("");
      return;
    }
    if (at('{')) ++braces;
    if (at('}') && --braces < 0) return;
    if (ends_every_body()) return;
    if (at(';')) {
      consume();
      return;
    }
  }
}

bool Parser::statement() {
  open_braces_ = 0;
  if (at_word()) {
    if (token_.text == "_") return unexpected("an instruction");
    const Token word = token_;
    consume();
    if (!at(':')) return instruction(word, nullptr);
    if (word.dotted)
      return no_directive_in(word) &&
             fail_at(token_.text, token_.line, fmt::format("{} cannot be a label", quoted(word.text)));
    return label(word);
  }
  if (at_directive()) return body_directive();
  if (at('@')) return guarded_instruction();
  if (token_.kind == TokenKind::invalid && token_.text == "\\") return backslash();
  if (!at('{')) return unexpected("an instruction");
  if (scopes_.depth() >= maximum_depth) {
    stopped_ = true;
    return fail_at(token_.text, token_.line, fmt::format("more than {} nested scopes", maximum_depth));
  }
  scopes_.open();
  consume();
  return true;
}

// ptxas takes a backslash at the end of a line where an instruction follows.
bool Parser::backslash() {
  const std::string_view text = lexer_.text();
  const std::string_view rest = text.substr(static_cast<std::size_t>(start() - text.data()) + 1);
  if (rest.substr(0, rest.find('\n')).find_first_not_of(" \t\r") != std::string_view::npos)
    return unexpected("");
  consume();
  if (at_word() || at('@')) return statement();
  return unexpected("an instruction");
}

bool Parser::body_directive() {
  if (at_directive(".loc")) return location();
  if (at_directive(".reg")) return register_declaration(function_);
  if (at_directive(".pragma")) return pragma();
  const Linkage linked = linkage();
  if (at_directive(".param") || at_directive(".local") || at_directive(".shared") ||
      at_directive(".global") || at_directive(".const") || at_directive(".tex") || at_directive(".surf"))
    return declaration(linked, function_);
  return at_attribute() ? spaceless_declaration() : unexpected("an instruction");
}

// .loc file line column [, function_name label [+ offset] [, inlined_at file line column]]
bool Parser::location() {
  consume();
  std::array<std::uint32_t, 3> at_numbers{};
  const auto numbers = [&] {
    for (std::uint32_t& number : at_numbers) {
      std::uint64_t value = 0;
      if (!whole_number(value)) return false;
      number = static_cast<std::uint32_t>(value);
    }
    return true;
  };
  if (!numbers()) return false;
  const std::array<std::uint32_t, 3> here = at_numbers;
  place_ = {here[0], here[1]};
  inner_line_ = 0;
  while (at(',')) {
    consume();
    if (!at_word()) return unexpected("'function_name' or 'inlined_at'");
    const bool inlined = token_.text == "inlined_at";
    if (!inlined && token_.text != "function_name") return unexpected("'function_name' or 'inlined_at'");
    consume();
    if (!inlined) {
      if (!at_word()) return unexpected("a label of .debug_str");
      consume();
      std::uint64_t ignored = 0;
      if (at('+') && (consume(), !whole_number(ignored))) return false;
      continue;
    }
    if (!numbers()) return false;
    // Where the place of the call is itself in inlined code, an earlier .loc of it says where that was
    // called.
    const auto outer = inlined_.find(at_numbers);
    place_ = outer != inlined_.end() ? outer->second : Place{at_numbers[0], at_numbers[1]};
    inner_line_ = here[1];
  }
  if (inner_line_ != 0) {
    inlined_[here] = place_;
  } else if (!inlined_.empty()) {
    inlined_.erase(here);
  }
  return true;
}

bool Parser::label(const Token& name) {
  consume();
  if (at_directive(".branchtargets")) return branch_targets(name);
  if (at_directive(".callprototype") || at_directive(".calltargets")) return prototype(name);
  if (!scopes_.define_label(name.text))
    return fail_at(name.text, name.line,
                   fmt::format("label {} is defined twice in this scope", quoted(name.text)));
  function_->labels.back().instruction = static_cast<std::uint32_t>(instructions_.size());
  return true;
}

// L: .branchtargets A, B;
bool Parser::branch_targets(const Token& name) {
  const auto first = static_cast<std::uint32_t>(target_labels_.size());
  do {
    consume();
    if (!at_word() || token_.dotted) return unexpected("a label");
    LabelUse use;
    use.name = use.place = token_.text;
    use.line = token_.line;
    use.need = LabelUse::Need::label;
    const std::string prefix(token_.text);
    consume();
    std::uint64_t count = 1;
    const bool range = at('<');  // L<3>: L0, L1, L2
    if (range) {
      const Token place = token_;
      consume();
      if (!whole_number(count) || !expect('>')) return false;
      if (count > 10000) return fail_at(place.text, place.line, "more than 10000 branch targets");
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      if (range) {
        module_.made_text.push_back(std::make_shared<const std::string>(prefix + std::to_string(i)));
        use.name = *module_.made_text.back();
      }
      use.target = static_cast<std::uint32_t>(target_labels_.size()) | in_target_list;
      target_labels_.push_back(no_index);
      scopes_.use_label(use);
    }
  } while (at(','));
  if (!expect(';')) return false;
  const auto index = static_cast<std::uint32_t>(function_->branch_targets.size());
  function_->branch_targets.push_back({name.text, {}});
  target_ranges_.push_back({first, static_cast<std::uint32_t>(target_labels_.size()) - first});
  return scopes_.declare(name.text, {Named::Kind::branch_targets, index}) ||
         fail_at(name.text, name.line, fmt::format("{} is declared twice", quoted(name.text)));
}

// L: .callprototype (.param .b32 _) _ (.param .b32 _); or L: .calltargets f, g;
bool Parser::prototype(const Token& name) {
  Prototype result;
  result.name = name.text;
  const char* begin = start();
  const bool targets = at_directive(".calltargets");
  consume();
  if (targets) {
    for (;;) {
      if (!at_word()) return unexpected("a function's name");
      const Named found = scopes_.find_global(token_.text);
      if (found.kind != Named::Kind::function)
        return fail_at(token_.text, token_.line,
                       fmt::format("{} is not declared as a function", quoted(token_.text)));
      result.targets.push_back(found.index);
      consume();
      if (!at(',')) break;
      consume();
    }
  } else {
    std::vector<Variable> ignored;
    if (at('(') && !parameters(ignored)) return false;
    if (!at_word()) return unexpected("'_'");
    consume();
    if (at('(') && !parameters(ignored)) return false;
    Function directives;
    while (at_directive())
      if (!header_directive(directives)) return false;
  }
  result.text = span_from(begin);
  if (!expect(';')) return false;
  const auto index = static_cast<std::uint32_t>(function_->prototypes.size());
  function_->prototypes.push_back(std::move(result));
  return scopes_.declare(name.text, {Named::Kind::prototype, index}) ||
         fail_at(name.text, name.line, fmt::format("{} is declared twice", quoted(name.text)));
}

// @p or @!p, then an instruction.
bool Parser::guarded_instruction() {
  const Token at_sign = token_;
  consume();
  const char* begin = start();
  const bool negated = at('!');
  if (negated) consume();
  if (!at_word()) return unexpected("a predicate register");
  pending_.clear();
  category_ = Category::arithmetic;
  unknown_opcode_ = false;
  takes_label_ = false;
  Operand& predicate = pending_.push();
  predicate.negated = negated;
  if (!name(predicate)) return false;
  predicate.text = span_from(begin);
  if (!at_word()) return unexpected("an instruction");
  const Token word = token_;
  consume();
  return instruction(word, &at_sign);
}

// Everything behind the opcode. A guard is in pending_.
bool Parser::instruction(const Token& opcode, const Token* guard) {
  const Token& first = guard != nullptr ? *guard : opcode;
  Instruction result;
  result.offset = static_cast<std::uint32_t>(first.text.data() - lexer_.text().data());
  result.line = first.line;
  result.source_file = place_.file;
  result.source_line = place_.line;
  result.inner_line = inner_line_;
  if (guard != nullptr) result.guard = flush(0);
  pending_.clear();
  result.opcode = opcode.text;
  if ((at_directive() || at('[')) && !finish_opcode(opcode, result)) return false;
  if (opcode.text.front() == '$' || opcode.text.front() == '%') {
    const Token& place = token_.dotted || !at_word() ? token_ : opcode;
    return fail_at(place.text, place.line, fmt::format("expected ':' after {}", quoted(opcode.text)),
                   "an instruction cannot begin like this; a label can");
  }
  const KnownOpcode known_opcode = known(result.opcode);
  if (!known_opcode.good && !no_directive_in(opcode)) return false;
  result.info = known_opcode.info;
  unknown_opcode_ = result.info == nullptr;
  category_ = unknown_opcode_ ? Category::arithmetic : result.info->category;
  takes_label_ = category_ == Category::branch && result.info->name == "bra";
  if (category_ == Category::call) {  // ptxas names the line of what follows `call`
    const bool same = opcode.dotted || opcode.line == token_.line;
    call_ = same ? opcode.text : token_.text;
    call_line_ = same ? opcode.line : token_.line;
  }
  if (takes_label_ && at(';')) return unexpected("a label");
  if (category_ == Category::call && !at_word() && !at('(')) return unexpected("a function's name");
  if (!at(';')) {
    for (;;) {
      if (!operand(0)) return false;
      if (!at(',')) break;
      if (category_ == Category::call && !call_goes_on()) return unexpected("';'");
      consume();
      if (category_ == Category::call && !at_word() &&
          (!at('(') || pending_.back().kind == Operand::Kind::list))
        return unexpected("a name");
    }
  }
  if (category_ == Category::call && pending_.size() == 1 && pending_.front().kind == Operand::Kind::list)
    return unexpected("','");
  result.operand_count = static_cast<std::uint32_t>(pending_.size());
  if (!at(';')) return unexpected("',' or ';'");
  result.first_operand = flush(0);
  instructions_.push_back(result);
  consume();
  return true;
}

// call (results), f, (arguments), prototype; what has been read can have something behind it.
bool Parser::call_goes_on() const {
  const bool results = pending_.front().kind == Operand::Kind::list;
  const std::size_t callee = results ? 1 : 0;
  if (pending_.size() <= callee + 1) return true;
  return pending_.size() == callee + 2 && pending_.back().kind == Operand::Kind::list;
}

// Rare forms: ld .global .f32, with blanks between the parts, and ld.const[2].f32 of old modules.
bool Parser::finish_opcode(const Token& opcode, Instruction& instruction) {
  std::string joined(opcode.text);
  while (at_directive() || (at('[') && joined.size() > 6 && joined.substr(joined.size() - 6) == ".const")) {
    if (at_directive()) {
      if (is_directive(token_.text.substr(1))) return unexpected("an operand");
      joined += token_.text;
      consume();
      continue;
    }
    consume();
    joined += fmt::format("[{}]", token_.text);
    if (token_.kind != TokenKind::integer) return unexpected("a constant bank");
    consume();
    if (!expect(']')) return false;
    // what follows the bank is lexed as directives: [2] .f32
  }
  if (joined == opcode.text) return true;
  module_.made_text.push_back(std::make_shared<const std::string>(std::move(joined)));
  instruction.opcode = *module_.made_text.back();
  return true;
}

// A file has few opcodes, and most are short: those are found by comparing two words.
Parser::KnownOpcode Parser::known(std::string_view opcode) {
  const std::string_view text = lexer_.text();
  const auto offset = static_cast<std::size_t>(opcode.data() - text.data());
  const std::size_t size = opcode.size();
  if (size > 16 || offset >= text.size() || text.size() - offset < 16) return look_up(opcode);
  std::uint64_t first = 0, second = 0;
  std::memcpy(&first, opcode.data(), 8);
  std::memcpy(&second, opcode.data() + 8, 8);
  if (size < 8) first &= (std::uint64_t{1} << (size * 8)) - 1;
  second = size <= 8 ? 0 : second & (~std::uint64_t{0} >> ((16 - size) * 8));
  RecentOpcode& recent = recent_opcodes_[((first ^ std::rotl(second, 29)) * 0x9e3779b97f4a7c15ull) >> 56];
  if (recent.first != first || recent.second != second) recent = {first, second, look_up(opcode)};
  return recent.known;
}

Parser::KnownOpcode Parser::look_up(std::string_view opcode) {
  const std::uint32_t number = opcode_names_.intern(opcode);
  if (number == opcodes_.size()) {
    bool good = true;
    for (std::size_t dot = opcode.find('.'); dot != std::string_view::npos;) {
      const std::size_t next = opcode.find('.', dot + 1);
      const std::string_view part =
          opcode.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
      if (is_directive(part) || part.find_first_not_of("0123456789") == std::string_view::npos) good = false;
      dot = next;
    }
    opcodes_.push_back({find_opcode(opcode), good});
  }
  return opcodes_[number];
}

}  // namespace warptime::ptx
