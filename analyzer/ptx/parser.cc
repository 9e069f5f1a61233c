#include "analyzer/ptx/parser.h"
#include "analyzer/ptx/words.h"

#include <fmt/format.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstring>
#include <functional>

namespace warptime::ptx {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 31;

// A line's text for the caret; none where it is so long that nobody could read it.
std::string line_text(std::string_view line) {
  constexpr std::size_t longest = 1000;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line.size() <= longest ? std::string(line) : std::string();
}

// How many of the characters there are that an operand follows, or that end one. All of the text is looked
// at, 16 bytes at once.
std::size_t count_operand_marks(std::string_view text) {
  using Bytes [[gnu::vector_size(16)]] = signed char;
  std::size_t count = 0;
  while (text.size() >= sizeof(Bytes)) {
    Bytes sums{};  // of one position in 16 each; a byte holds so many
    for (int i = 0; i < 127 && text.size() >= sizeof(Bytes); ++i) {
      Bytes bytes;
      std::memcpy(&bytes, text.data(), sizeof(Bytes));
      text.remove_prefix(sizeof(Bytes));
      sums -= (bytes == ',') | (bytes == ';') | (bytes == '[') | (bytes == '{') | (bytes == '@') |
              (bytes == '|') | (bytes == '+');  // true is -1
    }
    for (std::size_t i = 0; i < sizeof(Bytes); ++i) count += static_cast<std::size_t>(sums[i]);
  }
  for (const char c : text)
    count += c == ',' || c == ';' || c == '[' || c == '{' || c == '@' || c == '|' || c == '+';
  return count;
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return fmt::format("'{}'", text);
  std::size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80)
    --cut;  // not amid a UTF-8 character
  return fmt::format("'{}…'", text.substr(0, cut));
}

std::string described(const Token& token) {
  return token.kind == TokenKind::end ? "the end of the file" : quoted(token.text);
}

Result<Module> parse(std::string_view text, const std::string& file) {
  if (text.size() >= largest_file)
    return error_at(file, 0, 0, "the file is larger than 2 GiB, more than this parser takes");
  return Parser(text, file).run();
}

Result<Module> Parser::run() {
  last_end_ = lexer_.text().data();
  advance();
  if (token_.kind == TokenKind::end) {
    fail_at(token_.text, token_.line, "no PTX in this file: expected '.version'");
  } else if (!at_directive(".version") && !at('@')) {
    fail_at(token_.text, token_.line, "expected '.version' before " + described(token_),
            "PTX begins with .version, .target and .address_size");
  }
  if (diagnostics_.empty()) reserve_operands();
  while (token_.kind != TokenKind::end && !stopped_ && !full() &&
         (diagnostics_.empty() || !module_.version.empty()))
    file_statement();
  if (diagnostics_.empty() && module_.version.empty()) unexpected("'.version'");
  if (diagnostics_.empty()) require_target();
  if (!diagnostics_.empty()) {
    std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
    return std::move(diagnostics_);
  }
  if (module_.operands.capacity() > module_.operands.size() + module_.operands.size() / 4)
    module_.operands.shrink_to_fit();
  return std::move(module_);
}

// There are hardly more operands than these characters, so that the arena rarely has to move.
void Parser::reserve_operands() {
  const std::size_t count =
      std::min(count_operand_marks(lexer_.text()), lexer_.text().size() / 5);  // initialisers have commas too
  module_.operands.reserve(count);
#ifdef __linux__
  // A hint: the first touch of each 4 KiB page of so large a block would take about as long as the parsing.
  constexpr std::uintptr_t huge_page = 2u << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(module_.operands.data());
  const auto first = (begin + huge_page - 1) / huge_page * huge_page;
  const auto last = (begin + count * sizeof(Operand)) / huge_page * huge_page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

// Reports parts that no opcode has: a.reg, where a directive follows without a blank, and add.32.
bool Parser::no_directive_in(const Token& word) {
  std::size_t dot = word.text.find('.');
  while (dot != std::string_view::npos) {
    const std::size_t next = word.text.find('.', dot + 1);
    const std::string_view part = word.text.substr(dot, next == std::string_view::npos ? next : next - dot);
    if (part.find_first_not_of("0123456789", 1) == std::string_view::npos)
      return fail_at(part, word.line, fmt::format("{} is not part of an opcode", quoted(part)),
                     "a type needs a letter before its size: .b32");
    if (is_directive(part.substr(1)))
      return fail_at(part, word.line, fmt::format("expected ',' or ';' before {}", quoted(part)));
    dot = next;
  }
  return true;
}

char Parser::following() const {
  const char* behind = token_.text.data() + token_.text.size();
  const std::string_view text = lexer_.text();
  return behind == text.data() + text.size() ? '\0' : *behind;
}

std::string_view Parser::span_from(const char* from) const {
  return {from, static_cast<std::size_t>(last_end_ - from)};
}

bool Parser::expect(char c) {
  if (!at(c)) return unexpected(std::string("'") + c + "'");
  consume();
  return true;
}

bool Parser::unexpected(std::string_view wanted) {
  if (token_.kind == TokenKind::unterminated) {
    stopped_ = true;
    return fail_at(token_.text, token_.line,
                   token_.text.front() == '"' ? "the string is not closed: '\"' is missing"
                                              : "the comment is not closed: '*/' is missing");
  }
  if (token_.kind == TokenKind::invalid)
    return fail_at(token_.text, token_.line, "a character that is not part of PTX");
  return fail_at(token_.text, token_.line, fmt::format("expected {} before {}", wanted, described(token_)));
}

bool Parser::fail_at(std::string_view place, std::uint32_t line, std::string message, std::string hint) {
  if (full()) return false;
  diagnostics_.push_back(diagnostic_at(place, line, std::move(message), std::move(hint)));
  return false;
}

Diagnostic Parser::diagnostic_at(std::string_view place, std::uint32_t line, std::string message,
                                 std::string hint) const {
  const std::string_view text = lexer_.text();
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.file = file_;
  diagnostic.line = static_cast<int>(line);
  if (std::less_equal<>()(text.data(), place.data()) &&
      std::less_equal<>()(place.data(), text.data() + text.size())) {
    const auto offset = static_cast<std::size_t>(place.data() - text.data());
    const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    diagnostic.column = static_cast<int>(offset - begin + 1);
    diagnostic.source_line = line_text(text.substr(begin, text.find('\n', begin) - begin));
  }  // else a name that the file does not have in one piece: L<3>
  return diagnostic;
}

bool Parser::starts_file_statement() const {
  static constexpr std::string_view starts[] = {".entry",  ".func",   ".visible", ".extern", ".weak",
                                                ".common", ".global", ".const",   ".file",   ".section",
                                                ".pragma", ".alias",  ".version", ".target", ".address_size"};
  return at_directive() && std::find(std::begin(starts), std::end(starts), token_.text) != std::end(starts);
}

// Goes to what looks like the next statement of the file.
void Parser::recover_in_file() {
  int braces = 0;
  for (; token_.kind != TokenKind::end && !stopped_; consume()) {
    if (token_.kind == TokenKind::unterminated) {
      unexpected("");
      return;
    }
    if (at('{')) ++braces;
    if (at('}')) braces = std::max(0, braces - 1);
    if (braces != 0) continue;
    if (starts_file_statement()) return;
    if (at(';') || at('}')) {
      const bool closed = at('}');
      consume();
      if (closed && at(';')) consume();  // of initial values
      return;
    }
  }
}

// What follows .version is .target, as ptxas wants it.
void Parser::require_target() {
  if (!module_.target.empty() || target_missed_ || module_.version.empty()) return;
  target_missed_ = true;
  unexpected("'.target'");
}

void Parser::file_statement() {
  const char* begin = start();
  bool good = false;
  if (at_directive() && token_.text != ".target" && token_.text != ".version") require_target();
  if (at('@') && following() == '@') {
    skip_dwarf_line();
    good = true;
  } else if (!at_directive()) {
    good = unexpected("a directive");
  } else if (token_.text == ".version") {
    good = version();
  } else if (module_.version.empty()) {
    good = unexpected("'.version'");
    stopped_ = true;
  } else if (token_.text == ".target") {
    good = target();
  } else if (token_.text == ".address_size") {
    good = address_size();
  } else if (token_.text == ".file") {
    good = source_file();
  } else if (token_.text == ".pragma") {
    good = pragma();
  } else if (token_.text == ".alias") {
    good = alias();
  } else if (token_.text == ".section") {
    good = section();
  } else {
    const Linkage linked = linkage();
    if (at_directive(".entry") || at_directive(".func")) {
      good = function(linked);
    } else if (at_directive(".reg")) {
      good = register_declaration(nullptr);
    } else if (at_directive(".global") || at_directive(".const") || at_directive(".shared") ||
               at_directive(".tex") || at_directive(".surf") || at_directive(".param") ||
               at_directive(".local")) {
      good = declaration(linked, nullptr);
    } else {
      good = at_attribute() ? spaceless_declaration()
                            : unexpected("a function, a variable or a directive of the file level");
    }
  }
  if (good) return;
  if (start() == begin) consume();  // never stand still
  recover_in_file();
}

bool Parser::version() {
  if (!module_.version.empty()) return unexpected("no second '.version'");
  const Token directive = token_;
  consume();
  // 8.0: digits and one dot. Hexadecimal floats are tokens of the same kind.
  const auto digits = token_.text.find_first_not_of("0123456789");
  if (token_.kind != TokenKind::floating || digits == 0 || digits == std::string_view::npos ||
      token_.text[digits] != '.' ||
      token_.text.find_first_not_of("0123456789", digits + 1) != std::string_view::npos ||
      token_.text.back() == '.')
    return fail_at(directive.text, directive.line, "expected a version such as 8.0 after '.version'");
  module_.version = token_.text;
  consume();
  return true;
}

bool Parser::target() {
  consume();
  const char* begin = start();
  for (;;) {
    if (!at_word()) return unexpected("a target such as sm_80");
    if (token_.dotted) {  // sm_80.address_size: no more than the name is ours
      token_.text = token_.text.substr(0, token_.text.find('.'));
      lexer_.skip_to(token_.text.data() + token_.text.size(), token_.line);
    }
    consume();
    if (!at(',')) break;
    consume();
  }
  if (module_.target.empty()) module_.target = span_from(begin);
  return true;
}

bool Parser::address_size() {
  consume();
  const Token place = token_;
  std::uint64_t size = 0;
  if (!whole_number(size)) return false;
  if (size != 32 && size != 64) return fail_at(place.text, place.line, "an address size is 32 or 64");
  module_.address_size = static_cast<int>(size);
  return true;
}

// .file 1 "path" [, time, size], or as DWARF 5 has it: .file 1 "folder" "name" [md5 0x…]
bool Parser::source_file() {
  consume();
  std::uint64_t number = 0;
  if (!whole_number(number)) return false;
  if (token_.kind != TokenKind::string) return unexpected("a path in quotes");
  const auto unquoted = [](std::string_view text) { return std::string(text.substr(1, text.size() - 2)); };
  SourceFile source;
  source.number = static_cast<std::uint32_t>(number);
  source.path = unquoted(token_.text);
  consume();
  if (token_.kind == TokenKind::string) {
    const std::string name = unquoted(token_.text);
    const bool absolute =
        !name.empty() && (name.front() == '/' || name.front() == '\\' || name.substr(1, 1) == ":");
    source.path = absolute || source.path.empty() ? name : source.path + "/" + name;
    consume();
  }
  if (at_word() && token_.text == "md5") {
    consume();
    if (token_.kind != TokenKind::integer) return unexpected("a number");
    consume();
  }
  while (at(',')) {
    consume();
    if (!whole_number(number)) return false;
  }
  module_.files.push_back(std::move(source));
  return true;
}

bool Parser::pragma() {
  consume();
  for (;;) {
    if (token_.kind != TokenKind::string) return unexpected("a string in quotes");
    consume();
    if (!at(',')) return expect(';');
    consume();
  }
}

bool Parser::alias() {
  consume();
  if (!at_word()) return unexpected("a function's name");
  const std::string_view alias = token_.text;
  const Token place = token_;
  consume();
  if (!expect(',')) return false;
  if (!at_word()) return unexpected("a function's name");
  const Named aliased = scopes_.find_global(token_.text);
  if (aliased.kind == Named::Kind::nothing)
    return fail_at(token_.text, token_.line, fmt::format("{} is not declared", quoted(token_.text)));
  consume();
  // The alias is declared before, as a function; calls of it stay calls of that declaration.
  const Named declared = scopes_.find_global(alias);
  if (declared.kind == Named::Kind::nothing)
    return fail_at(place.text, place.line, fmt::format("{} is not declared", quoted(alias)));
  if (declared.kind == Named::Kind::function && aliased.kind == Named::Kind::function) {
    Function& function = module_.functions[declared.index];
    if (function.entry || module_.functions[aliased.index].entry)
      return fail_at(place.text, place.line, "an alias stands for a function, not for an entry");
    if (!function.declaration)
      return fail_at(place.text, place.line,
                     fmt::format("{} is defined, and cannot be an alias", quoted(alias)));
    function.alias_of = aliased.index;
  }
  return expect(';');
}

// Debug data. Nothing in it is about instructions, so that nothing of it is kept.
bool Parser::section() {
  const Token place = token_;
  consume();
  if (!at_directive() || is_directive(token_.text.substr(1)))
    return unexpected("a section's name such as .debug_str");
  consume();
  if (!expect('{')) return false;
  while (!at('}')) {
    if (token_.kind == TokenKind::end) {
      return fail_at(
          token_.text, token_.line,
          fmt::format(
              "expected '}}' before the end of the file: the section that begins in line {} is not closed",
              place.line));
    }
    if (at_word()) {
      consume();
      if (!expect(':')) return false;
    } else if (!section_data()) {
      return false;
    }
  }
  consume();
  return true;
}

// .b8 95, 90 or .b32 label+4 or .b64 a-b; .byte, .4byte and .quad take one number.
bool Parser::section_data() {
  bool list = false;
  if (token_.kind == TokenKind::floating && token_.text == ".4" && following() == 'b') {
    consume();
    if (token_.text != "byte") return unexpected("'.4byte'");
  } else if (!at_directive(".byte") && !at_directive(".quad")) {
    if (!at_directive() || !is_type(token_.text.substr(1)))
      return unexpected("'.b8', '.b32' or another type");
    list = true;
  }
  consume();
  if (at_word() || (at_directive() && !is_type(token_.text.substr(1)))) return section_label();
  for (;;) {
    if (at('-')) consume();
    std::uint64_t ignored = 0;
    if (token_.kind != TokenKind::integer) return unexpected("a number or a label");
    if (!whole_number(ignored)) return false;
    if (!list || !at(',')) return true;
    consume();
  }
}

// label, label+4, label-label
bool Parser::section_label() {
  consume();
  if (at('+')) {
    std::uint64_t ignored = 0;
    consume();
    return whole_number(ignored);
  }
  if (!at('-')) return true;
  consume();
  if (!at_word() && !at_directive()) return unexpected("a label");
  consume();
  return true;
}

// @@DWARF of PTX 1.x: a line of assembler for the debugger.
void Parser::skip_dwarf_line() {
  const std::string_view text = lexer_.text();
  const std::size_t end = text.find('\n', static_cast<std::size_t>(token_.text.data() - text.data()));
  lexer_.skip_to(end == std::string_view::npos ? text.data() + text.size() : text.data() + end, token_.line);
  advance();
}

}  // namespace warptime::ptx
