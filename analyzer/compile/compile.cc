#include "analyzer/compile/compile.h"

#include <clang/Basic/Version.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyzer/compile/build_flags.h"
#include "analyzer/compile/clang_compiler.h"
#include "analyzer/compile/nvcc.h"
#include "analyzer/compile/targets.h"

namespace warptime {

namespace {

using namespace compiling;

constexpr const char* default_target = "sm_75";
// clang addresses all of its sources with 31 bits; nobody writes a kernel of this size.
constexpr std::size_t longest_source_bytes = std::size_t{64} << 20;

// The processors of LLVM 19's NVPTX from the oldest whose code clang 19 still makes.
const std::vector<std::string>& clang_targets() {
  static const std::vector<std::string> targets{"sm_30", "sm_32", "sm_35", "sm_37", "sm_50", "sm_52", "sm_53",
                                                "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80",
                                                "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"};
  return targets;
}

std::string visible_flags(const CompileOptions& options) {
  const auto is_level = [](const std::string& flag) { return flag.starts_with("-O") && flag.size() > 2; };
  std::string text = std::any_of(options.flags.begin(), options.flags.end(), is_level) ? "" : "-O3";
  if (options.rolled) text += text.empty() ? "--rolled" : " --rolled";
  for (const std::string& flag : options.flags) text += (text.empty() ? "" : " ") + flag;
  return text;
}

std::string math_note(const std::vector<std::string>& functions, const std::string& compiler) {
  const std::size_t shown = std::min<std::size_t>(functions.size(), 6);
  return fmt::format(
      "{}{}: the instructions of warptime's own math functions ({} has no libdevice); nvcc's differ in "
      "number",
      fmt::join(functions.begin(), functions.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < functions.size() ? ", …" : "", compiler);
}

Result<Source> compile_with_clang(Source source, std::string_view text, const CompileOptions& options) {
  ClangRequest request;
  request.file = source.file;
  request.text = text;
  request.target = source.target;
  request.rolled = options.rolled;
  request.flags = options.flags;
  ClangOutcome outcome = run_clang(request);
  if (!outcome.errors.empty()) {
    outcome.warnings.insert(outcome.warnings.end(), std::make_move_iterator(outcome.errors.begin()),
                            std::make_move_iterator(outcome.errors.end()));
    return outcome.warnings;
  }
  source.ptx = std::move(outcome.ptx);
  source.kernels = std::move(outcome.kernels);
  source.warnings = std::move(outcome.warnings);
  source.files = std::move(outcome.files);
  if (!outcome.math_functions.empty())
    source.notes.push_back(math_note(outcome.math_functions, source.compiler));
  return source;
}

Result<std::vector<std::string>> targets_with_variants(Compiler compiler) {
  return compiler == Compiler::nvcc ? nvcc_targets() : Result(clang_targets());
}

Result<std::string> compiler_name(Compiler compiler) {
  if (compiler != Compiler::nvcc) return clang_version();
  const Result<Nvcc> nvcc = find_nvcc();
  if (!nvcc) return nvcc.diagnostics();
  return nvcc->version;
}

Result<Source> no_kernel(const Source& source) {
  return error(fmt::format("no kernel in {}", source.file),
               "a kernel is a __global__ function with a body; a template needs an instantiation");
}

}  // namespace

namespace {

Result<Source> compile_with(Compiler chosen, Source source, std::string_view text,
                            const CompileOptions& options) {
  Result<std::string> compiler = compiler_name(chosen);
  if (!compiler) return compiler.diagnostics();
  source.compiler = *compiler;
  const Result<std::vector<std::string>> targets = targets_with_variants(chosen);
  if (!targets) return targets.diagnostics();
  const Result<TargetChoice> choice =
      choose_target(options.arch.empty() ? default_target : options.arch, *targets, source.compiler);
  if (!choice) return choice.diagnostics();
  source.target = choice->target;
  if (!choice->note.empty()) source.notes.push_back(choice->note);
  return chosen == Compiler::nvcc ? compile_with_nvcc(std::move(source), text, options)
                                  : compile_with_clang(std::move(source), text, options);
}

// "k.cu:3:4: error: …" -> "k.cu:3:4: …"
std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::error) continue;
    std::string text = diagnostic.message.substr(0, diagnostic.message.find('\n'));
    if (const std::size_t at = text.find("error: "); at != std::string::npos) text.erase(at, 7);
    return text;
  }
  return "errors";
}

// What clang refused, compiled by nvcc; clang's errors where there is no nvcc, or where it refuses too.
Result<Source> try_nvcc_instead(const Result<Source>& refused, Source source, std::string_view text,
                                const CompileOptions& options) {
  const Diagnostics& errors = refused.diagnostics();
  if (const Result<Nvcc> nvcc = find_nvcc(); !nvcc) return errors;
  source.notes.push_back(fmt::format("compiled by nvcc, as clang does not take it: {}", first_error(errors)));
  Result<Source> compiled = compile_with(Compiler::nvcc, std::move(source), text, options);
  if (!compiled) return errors;
  return compiled;
}

}  // namespace

Result<Source> compile_cuda(const std::string& file, std::string_view text, const CompileOptions& asked) {
  if (text.size() > longest_source_bytes)
    return error(fmt::format("{} is longer than {} bytes", file, longest_source_bytes));
  Source source;
  const Result<CompileOptions> options = with_build_flags(asked, file, source.notes);
  if (!options) return options.diagnostics();
  source.file = file;
  source.text = text;
  source.flags = visible_flags(*options);
  const auto has_kernel = [](const Source& one) { return one.ptx.find(".entry") != std::string::npos; };
  Result<Source> compiled = compile_with(options->compiler, source, text, *options);
  // Perhaps host code that clang does not understand instantiates the kernels.
  if (compiled && !has_kernel(*compiled) && text.find("__global__") != std::string_view::npos)
    compiled = no_kernel(*compiled);
  if (!compiled && options->compiler == Compiler::automatic)
    compiled = try_nvcc_instead(compiled, std::move(source), text, *options);
  if (compiled && !has_kernel(*compiled)) return no_kernel(*compiled);
  return compiled;
}

std::string clang_version() {
  return "clang " CLANG_VERSION_STRING;
}

std::optional<std::string> nvcc_version() {
  const Result<Nvcc> nvcc = find_nvcc();
  if (!nvcc) return std::nullopt;
  return nvcc->version;
}

std::string first_compiler_version(Compiler compiler) {
  return compiler == Compiler::nvcc ? nvcc_version().value_or("") : clang_version();
}

Result<std::vector<std::string>> compiler_targets(Compiler compiler) {
  Result<std::vector<std::string>> targets = targets_with_variants(compiler);
  if (targets)
    std::erase_if(*targets, [](const std::string& target) { return !parse_target(target)->suffix.empty(); });
  return targets;
}

}  // namespace warptime
