// Any bytes, through the entry point of `warptime analyze`: the lexer loses none, the parser answers with a
// module or diagnostics, what is printed of a module parses again and prints as the same, every kernel comes
// to a kernel program or to diagnostics, every view of it can be written, and the YAML of the programs reads
// as the same programs.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/pipeline.h"
#include "analyzer/ptx/lexer.h"
#include "analyzer/ptx/module.h"
#include "analyzer/ptx/printer.h"
#include "tests/fuzz/fuzz_pieces.h"

using namespace warptime;

namespace {

using fuzzing::require;

void lex(std::string_view text) {
  std::string joined;
  for (const ptx::Token& token : ptx::tokenize(text)) joined += token.text;
  require(joined == text, "the tokens joined are the text");
}

bool parse_and_print(std::string_view text) {
  const auto module = ptx::parse(text, "fuzz.ptx");
  if (!module) {
    require(!module.diagnostics().empty() && module.diagnostics().size() <= 20, "1 to 20 diagnostics");
    require(!to_text(module.diagnostics()).empty(), "diagnostics have a text");
    return false;
  }
  const std::string printed = ptx::print(*module);
  const auto again = ptx::parse(printed, "printed.ptx");
  require(static_cast<bool>(again), "what is printed parses");
  // A module newer than our tables may have words that are declared behind their use: they print as they
  // stand.
  const bool known = module->version.size() == 3 && module->version <= "9.0";
  require(!known || ptx::print(*again) == printed, "what is printed prints as the same");
  return true;
}

void show(const Analysis& analysis) {
  for (const Emit what : {Emit::cfg, Emit::loops, Emit::periods, Emit::listing, Emit::program}) {
    require(!emit_text(analysis, what).empty(), "every view has a text");
    require(!emit_json(analysis, what).empty(), "every view has a JSON text");
  }
  const auto programs = read_kernel_programs(emit_text(analysis, Emit::program), "program.yaml");
  if (!programs) std::fputs(to_text(programs.diagnostics()).c_str(), stderr);
  require(static_cast<bool>(programs), "the programs' YAML can be read");
  require(programs->size() == analysis.kernels.size(), "the YAML holds every kernel");
  for (std::size_t i = 0; i < programs->size(); ++i)
    require((*programs)[i] == analysis.kernels[i].program, "the YAML reads as the same program");
}

bool analyze_and_show(const std::string& text, bool skip_unsupported) {
  AnalyzeOptions options;
  options.skip_unsupported = skip_unsupported;
  const auto analysis = analyze(ptx_source("fuzz.ptx", text), options);
  if (!analysis) {
    require(!to_text(analysis.diagnostics()).empty(), "an analysis that fails says why");
    return false;
  }
  (void)to_text(analysis->diagnostics);
  show(*analysis);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  lex(text);
  if (!parse_and_print(text)) return 0;
  if (!analyze_and_show(text, false)) analyze_and_show(text, true);
  return 0;
}

// Bytes changed blindly rarely parse, so that the analysis would hardly be reached. Most changes are
// therefore of lines (copied, moved, left out, exchanged) and of tokens for others of the same kind in the
// same text.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

std::string changed_lines(const std::string& text, std::mt19937& random) {
  std::vector<std::string> lines = fuzzing::pieces_of(text, "\n;");
  const std::size_t from = random() % lines.size(), to = random() % lines.size();
  fuzzing::move_piece(lines, from, to, random() % 4);
  return fuzzing::joined(lines);
}

// What a token can be exchanged for: registers, labels and opcodes by their first letters, numbers by their
// kind.
std::string kind_of(const ptx::Token& token) {
  const std::string kind = std::to_string(static_cast<int>(token.kind)) + (token.dotted ? "." : "");
  if (token.kind != ptx::TokenKind::word || token.dotted) return kind;
  return kind + std::string(token.text.substr(0, token.text.find_first_of("0123456789")));
}

std::string changed_tokens(const std::string& text, std::mt19937& random) {
  static const char* const numbers[] = {
      "0", "1", "-1", "2", "31", "32", "2147483647", "4294967295", "0x8000000000000000"};
  const std::vector<ptx::Token> tokens = ptx::tokenize(text);
  if (tokens.empty()) return text;
  const std::size_t place = random() % tokens.size();
  std::vector<std::string_view> others;
  for (const ptx::Token& token : tokens)
    if (kind_of(token) == kind_of(tokens[place])) others.push_back(token.text);
  const bool number = tokens[place].kind == ptx::TokenKind::integer;
  const std::string_view other =
      number ? numbers[random() % std::size(numbers)] : others[random() % others.size()];
  std::string result;
  for (std::size_t i = 0; i < tokens.size(); ++i) result += i == place ? other : tokens[i].text;
  return result;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  const unsigned choice = random() % 8;
  if (choice == 0 || size == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned i = 0; i <= random() % 3; ++i)
    text = choice < 4 ? changed_lines(text, random) : changed_tokens(text, random);
  if (text.size() > max_size) text.resize(max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
