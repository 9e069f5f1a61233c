// How fast PTX is read, parsed, and analysed to a kernel program for every kernel, and what that takes in
// memory. The input is nvcc's own output, repeated under other names to 50 MB.
//   ptx_bench [options of Google Benchmark] [--repeat] [FILE.ptx…]
// Files are measured as well: as they are, or with --repeat before them, repeated to 50 MB.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/pipeline.h"
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

// `text` with its functions and variables again and again, under other names, until there are `size` bytes.
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
  result += text.substr(std::min(sections, text.size()));
  return result;
}

constexpr std::size_t input_size = 50'000'000;

const std::string& input(const std::string& path, bool repeat = true) {
  static std::map<std::string, std::string> inputs;
  std::string& text = inputs[path];
  if (text.empty()) text = repeat ? repeated(read(path), input_size) : read(path);
  return text;
}

std::string data(const std::string& name) {
  return std::string(WARPTIME_PTX_DATA) + "/" + name;
}

// The largest amount allocated since it was made, and what is allocated still, per byte of input.
class Memory {
 public:
  Memory() : before_(allocated) { peak = before_; }
  void report(benchmark::State& state, const std::string& text, const char* kept) const {
    const auto size = static_cast<double>(text.size());
    state.counters[kept] = static_cast<double>(allocated - before_) / size;
    state.counters["peak/input"] = static_cast<double>(peak - before_) / size;
  }

 private:
  std::size_t before_;
};

void set_throughput(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void lex_text(benchmark::State& state, const std::string& text) {
  for (auto unused : state) {
    Lexer lexer(text);
    std::size_t tokens = 0;
    Token token;
    do lexer.next_significant(token), ++tokens;
    while (token.kind != TokenKind::end);
    benchmark::DoNotOptimize(tokens);
  }
  set_throughput(state, text);
}

void parse_text(benchmark::State& state, const std::string& text) {
  for (auto unused : state) {
    const Memory memory;
    const auto module = parse(text, "big.ptx");
    if (!module) {
      state.SkipWithError(to_text(module.diagnostics()).c_str());
      return;
    }
    benchmark::DoNotOptimize(module);
    memory.report(state, text, "module/input");
    state.counters["functions"] = static_cast<double>(module->functions.size());
  }
  set_throughput(state, text);
}

// Parsing and all passes up to the kernel programs. The peak includes the analysis' own copy of the text.
void analyze_text(benchmark::State& state, const std::string& text) {
  for (auto unused : state) {
    const Memory memory;
    warptime::AnalyzeOptions options;
    options.skip_unsupported = true;
    options.keep_steps = false;  // as `analyze` does for kernel programs
    const auto analysis = warptime::analyze(warptime::ptx_source("big.ptx", text), options);
    if (!analysis) {
      state.SkipWithError(to_text(analysis.diagnostics()).substr(0, 2000).c_str());
      return;
    }
    benchmark::DoNotOptimize(analysis);
    memory.report(state, text, "analysis/input");
    state.counters["kernels"] = static_cast<double>(analysis->kernels.size());
  }
  set_throughput(state, text);
}

// Writing the kernel programs as YAML, as `analyze` does last.
void emit_programs(benchmark::State& state, const std::string& text) {
  const auto analysis = warptime::analyze(warptime::ptx_source("big.ptx", text), {});
  if (!analysis) {
    state.SkipWithError(to_text(analysis.diagnostics()).substr(0, 2000).c_str());
    return;
  }
  for (auto unused : state) {
    const Memory memory;
    const std::string yaml = warptime::emit_text(*analysis, warptime::Emit::program);
    benchmark::DoNotOptimize(yaml);
    memory.report(state, text, "yaml/input");
  }
  set_throughput(state, text);
}

using Measure = void(benchmark::State&, const std::string&);

void add(const std::string& name, Measure* measure, const std::string& path, bool repeat = true) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { measure(state, input(path, repeat)); })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();  // kernels are analysed side by side
}

void add_all() {
  add("lex/transforms", lex_text, data("transforms.nvcc.sm_80.o3.ptx"));
  for (const auto& [name, file] : {std::pair("everything", "kernels.nvcc.sm_80.o3.ptx"),
                                   std::pair("everything-lineinfo", "kernels.nvcc.sm_90.lineinfo.ptx"),
                                   std::pair("transforms", "transforms.nvcc.sm_80.o3.ptx"),
                                   std::pair("transforms-lineinfo", "transforms.nvcc.sm_90.lineinfo.ptx")}) {
    add(std::string("parse/") + name, parse_text, data(file));
    add(std::string("analyze/") + name, analyze_text, data(file));
  }
  add("emit/transforms", emit_programs, data("transforms.nvcc.sm_80.o3.ptx"));
}

}  // namespace

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  add_all();
  bool repeat = false;
  for (int i = 1; i < count; ++i) {
    const std::string path = arguments[i];
    if (path == "--repeat") {
      repeat = true;
      continue;
    }
    const std::string name = path.substr(path.find_last_of('/') + 1);
    add("parse/" + name, parse_text, path, repeat);
    add("analyze/" + name, analyze_text, path, repeat);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
