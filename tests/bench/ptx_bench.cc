// How fast PTX is parsed, and what the module takes in memory. The input is nvcc's own output, repeated under
// other names to 50 MB.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/ptx/lexer.h"
#include "analyzer/ptx/module.h"

namespace {

std::atomic<std::size_t> allocated{0};
std::atomic<std::size_t> peak{0};

// Each block carries its size in front, so that what is freed can be counted as well.
constexpr std::size_t header = alignof(std::max_align_t);

void* counted_allocate(std::size_t size) {
  void* block = std::malloc(size + header);
  if (block == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(block) = size;
  const std::size_t now = allocated += size;
  if (now > peak) peak = now;
  return static_cast<char*>(block) + header;
}

void counted_free(void* pointer) {
  if (pointer == nullptr) return;
  void* block = static_cast<char*>(pointer) - header;
  allocated -= *static_cast<std::size_t*>(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) {
  return counted_allocate(size);
}
void operator delete(void* pointer) noexcept {
  counted_free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
  counted_free(pointer);
}

namespace {

using namespace warptime::ptx;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The names that a module declares for all its functions to see.
std::set<std::string_view> module_names(const Module& module) {
  std::set<std::string_view> names;
  for (const Function& function : module.functions)
    if (!function.declaration) names.insert(function.name);
  for (const Variable& variable : module.variables) names.insert(variable.name);
  return names;
}

// `text` without its file header and debug sections, again and again with other names, until there are `size`
// bytes.
std::string repeated(const std::string& text, std::size_t size) {
  const auto module = parse(text, "seed.ptx");
  if (!module) std::abort();
  const std::set<std::string_view> names = module_names(*module);
  const std::size_t body = text.find(".address_size 64") + 16;
  const std::size_t sections = std::min(text.find("\t.section"), text.find("\t.file"));
  const std::string_view repeatable =
      std::string_view(text).substr(body, std::min(sections, text.size()) - body);
  std::string result = text.substr(0, body) + "\n";
  result.reserve(size + text.size() * 2);
  const std::vector<Token> tokens = tokenize(repeatable);
  bool first = true;
  for (int copy = 0; result.size() < size; ++copy) {
    const std::string suffix = "_copy" + std::to_string(copy);
    for (const Token& token : tokens) {
      result += token.text;
      if (!first && token.kind == TokenKind::word && names.count(token.text) != 0) result += suffix;
    }
    first = false;
  }
  return result;
}

const std::string& input(const char* name) {
  static std::map<std::string, std::string> inputs;
  std::string& text = inputs[name];
  if (text.empty()) text = repeated(read(std::string(WARPTIME_PTX_DATA) + "/" + name), 50'000'000);
  return text;
}

void parse_file(benchmark::State& state, const char* name) {
  const std::string& text = input(name);
  for (auto unused : state) {
    const std::size_t before = allocated;
    peak = before;
    const auto module = parse(text, "big.ptx");
    if (!module) {
      state.SkipWithError(to_text(module.diagnostics()).c_str());
      return;
    }
    benchmark::DoNotOptimize(module);
    const auto size = static_cast<double>(text.size());
    state.counters["module/input"] = static_cast<double>(allocated - before) / size;
    state.counters["peak/input"] = static_cast<double>(peak - before) / size;
    state.counters["functions"] = static_cast<double>(module->functions.size());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

BENCHMARK_CAPTURE(parse_file, nvcc, "kernels.nvcc.sm_80.o3.ptx")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_file, nvcc_lineinfo, "kernels.nvcc.sm_90.lineinfo.ptx")
    ->Unit(benchmark::kMillisecond);

void lex_file(benchmark::State& state) {
  const std::string& text = input("kernels.nvcc.sm_80.o3.ptx");
  for (auto unused : state) {
    Lexer lexer(text);
    std::size_t tokens = 0;
    Token token;
    do lexer.next_significant(token), ++tokens;
    while (token.kind != TokenKind::end);
    benchmark::DoNotOptimize(tokens);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(lex_file)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
