#include "analyzer/compile/clang_arguments.h"

#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Driver/Job.h>
#include <clang/Driver/Tool.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>
#include <fmt/format.h>
#include <llvm/TargetParser/Host.h>

#include <filesystem>

#include "analyzer/compile/clang_guard.h"
#include "analyzer/compile/header_parts.h"
#include "analyzer/compile/refused_flags.h"
#include "analyzer/compile/targets.h"
#include "simulator/base/text.h"

namespace warptime::compiling {

namespace {

// clang's own headers (stddef.h, immintrin.h, …) where they are installed; the embedded fallbacks serve
// otherwise.
std::string resource_folder() {
  for (const char* folder :
       {WARPTIME_CLANG_RESOURCES, "/usr/lib/llvm-19/lib/clang/19", "/usr/lib/clang/19"}) {
    std::error_code ignored;
    if (std::filesystem::exists(std::string(folder) + "/include/stddef.h", ignored)) return folder;
  }
  return WARPTIME_CLANG_RESOURCES;
}

// What nvcc has to be asked for and clang always does.
bool is_for_nvcc_alone(std::string_view flag) {
  while (flag.starts_with('-')) flag.remove_prefix(1);
  return flag == "expt-relaxed-constexpr" || flag == "expt-extended-lambda" || flag == "extended-lambda";
}

constexpr std::string_view kUnrollThreshold = "unroll-threshold";

std::vector<std::string> driver_arguments(const ClangRequest& request, int parts, const SourceTree& sources) {
  std::vector<std::string> arguments{
      "clang",
      "-resource-dir=" + resource_folder(),
      "--cuda-device-only",
      "--cuda-gpu-arch=" + request.target,
      "--cuda-feature=" + ptx_feature(request.target),
      "--cuda-path=/warptime",  // there is none: keeps the driver from asking a toolkit for its version
      "-nocudainc",
      "-nocudalib",
      "-S",
      "-O3",
      "-std=gnu++17",
      "-ffp-contract=fast",
      "-fcuda-short-ptr",      // as nvcc: addresses of shared memory have 32 bits
      "-Wno-c++11-narrowing",  // nvcc takes both
      "-Wno-register",
      "-Wno-reserved-user-defined-literal",
      "-gline-directives-only",

      fmt::format("-D__WARPTIME_PARTS={}", parts),
      "-include",
      // With its folder: clang looks for the bare name in the working directory first.
      fmt::format("{}/cuda_runtime.h", cuda_headers_folder),
  };
  for (const std::string& flag : request.flags) {
    if (flag == "--use_fast_math" || flag == "-use_fast_math") {  // nvcc's name for it
      arguments.insert(arguments.end(), {"-ffast-math", "-fgpu-flush-denormals-to-zero"});
    } else if (!is_for_nvcc_alone(flag)) {
      arguments.push_back(flag);
    }
  }
  for (const auto& [name, macro] :
       {std::pair("texture", "-D__WARPTIME_NO_TEXTURE"), std::pair("surface", "-D__WARPTIME_NO_SURFACE")})
    if (!may_be_reference(request.text, name)) arguments.emplace_back(macro);
  if (request.rolled) arguments.emplace_back("-fno-unroll-loops");
  arguments.insert(arguments.end(), {"-x", "cuda", "--", sources.main_file});
  return arguments;
}

// Before the user's -I: a toolkit's cuda_runtime.h found there is made for nvcc, and for its own compiler's
// wrappers.
void add_header_folders(clang::HeaderSearchOptions& search) {
  const auto entry = [](const char* folder, clang::frontend::IncludeDirGroup group) {
    return clang::HeaderSearchOptions::Entry(folder, group, /*isFramework=*/false, /*ignoreSysRoot=*/true);
  };
  search.UserEntries.insert(search.UserEntries.begin(), entry(cuda_headers_folder, clang::frontend::Angled));
  search.UserEntries.push_back(entry(fallback_headers_folder, clang::frontend::After));
}

bool has_long_name(std::string_view text) {
  constexpr std::size_t long_name = 1000;
  std::size_t length = 0;
  for (const char c : text) {
    length = is_identifier(c) || static_cast<unsigned char>(c) >= 0x80 ? length + 1 : 0;
    if (length > long_name) return true;
  }
  return false;
}

// Whatever flags may ask for: nothing but the result is written.
void write_no_files(clang::CompilerInvocation& invocation) {
  invocation.getDependencyOutputOpts() = {};
  invocation.getDiagnosticOpts().DiagnosticLogFile.clear();
  invocation.getDiagnosticOpts().DiagnosticSerializationFile.clear();
  invocation.getFrontendOpts().StatsFile.clear();
  invocation.getFrontendOpts().TimeTracePath.clear();
  invocation.getFrontendOpts().Plugins.clear();
  clang::CodeGenOptions& code = invocation.getCodeGenOpts();
  code.CoverageNotesFile.clear();
  code.CoverageDataFile.clear();
  code.OptRecordFile.clear();
  code.SplitDwarfOutput.clear();
  code.StackUsageOutput.clear();
  code.PassPlugins.clear();
}

}  // namespace

void ignore_debug_pragmas(clang::Preprocessor& preprocessor) {
  preprocessor.AddPragmaHandler("clang", new clang::EmptyPragmaHandler("__debug"));
}

// CUDA 11.8's: it covers sm_30 to sm_90, and any newer ptxas takes it.
std::string ptx_feature(const std::string& target) {
  return target == "sm_90a" ? "+ptx80" : "+ptx78";
}

Diagnostics make_invocation(clang::CompilerInvocation& invocation, const ClangRequest& request, int parts,
                            const SourceTree& sources, clang::DiagnosticsEngine& engine) {
  if (Diagnostics refused = check_flags(request.flags); !refused.empty()) return refused;
  const std::vector<std::string> arguments = driver_arguments(request, parts, sources);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());

  const std::string program = resource_folder() + "/../../../bin/clang";
  clang::driver::Driver driver(program, llvm::sys::getDefaultTargetTriple(), engine, "clang", sources.files);
  driver.setCheckInputsExist(false);
  driver.setProbePrecompiled(false);
  const std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(pointers));
  if (engine.hasErrorOccurred()) return {};
  const auto is_compilation = [](const clang::driver::Command& command) {
    return llvm::StringRef(command.getCreator().getName()) == "clang";
  };
  if (!compilation || compilation->getJobs().size() != 1 ||
      !is_compilation(*compilation->getJobs().begin())) {
    return {
        error(fmt::format("with these flags, {} is not compiled once to PTX: {}", request.file,
                          fmt::join(request.flags, " ")),
              "give flags after `--` that change how the source is compiled, such as -I, -D, -O2 or -std=")};
  }
  const llvm::opt::ArgStringList& cc1 = compilation->getJobs().begin()->getArguments();
  if (!clang::CompilerInvocation::CreateFromArgs(invocation, llvm::ArrayRef(cc1).drop_front(), engine,
                                                 program.c_str()))
    return {};
  add_header_folders(invocation.getHeaderSearchOpts());
  write_no_files(invocation);
  // Looking for what may have been meant takes time in proportion to the square of a name.
  if (has_long_name(request.text)) invocation.getLangOpts().SpellChecking = false;
  std::vector<std::string> llvm_arguments = invocation.getFrontendOpts().LLVMArgs;
  const auto sets_it = [](const std::string& argument) {
    return argument.find(kUnrollThreshold) != std::string::npos;
  };
  if (std::none_of(llvm_arguments.begin(), llvm_arguments.end(), sets_it))
    llvm_arguments.push_back(fmt::format("-{}={}", kUnrollThreshold, kMostUnrolled));
  llvm_arguments.emplace_back("-nvptx-short-ptr");  // clang passes it on only with libdevice
  return apply_llvm_arguments(llvm_arguments);
}

}  // namespace warptime::compiling
