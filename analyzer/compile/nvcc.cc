#include "analyzer/compile/nvcc.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "analyzer/compile/clang_compiler.h"
#include "analyzer/compile/nvcc_arguments.h"
#include "analyzer/compile/plain_name.h"
#include "analyzer/compile/process.h"
#include "analyzer/compile/refused_flags.h"
#include "analyzer/compile/roll_loops.h"
#include "analyzer/compile/scan_kernels.h"
#include "analyzer/compile/targets.h"
#include "analyzer/compile/toolkit.h"

namespace warptime::compiling {

namespace {

namespace fs = std::filesystem;

// "Cuda compilation tools, release 13.0, V13.0.88" -> 13.0.88; the release where there is no V.
std::string version_in(const std::string& text) {
  for (const std::string_view mark : {", V", "release "}) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + mark.size();
    const std::size_t end = text.find_first_not_of("0123456789.", begin);
    if (end != begin) return text.substr(begin, end == std::string::npos ? end : end - begin);
  }
  return {};
}

// nvcc wants a temporary folder even to answer a question.
Result<ProcessResult> ask_nvcc(const std::string& path, const std::string& question) {
  const TemporaryFolder folder;
  if (folder.path().empty()) return no_temporary_folder("nvcc");
  return run_process({path, question}, {{"TMPDIR", folder.path()}});
}

Result<std::vector<std::string>> ask_for_targets(const Nvcc& nvcc) {
  const Result<ProcessResult> answer = ask_nvcc(nvcc.path, "--list-gpu-code");
  if (!answer) return answer.diagnostics();
  std::vector<Target> targets;
  std::istringstream lines(answer->output);
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Target> target = parse_target(line);
    if (target && target->suffix.empty()) targets.push_back(*target);
  }
  if (targets.empty()) return error(fmt::format("{} does not list its targets", nvcc.path));
  std::sort(targets.begin(), targets.end(),
            [](const Target& a, const Target& b) { return a.number < b.number; });
  std::vector<std::string> names;
  for (const Target& target : targets) {
    names.push_back(to_string(target));
    // The variants that are not listed: architecture-specific since Hopper, family-specific since Blackwell.
    if (target.number >= 90) names.push_back(to_string({target.number, "a"}));
    if (target.number >= 100) names.push_back(to_string({target.number, "f"}));
  }
  return names;
}

// Answers that cost a process each, kept for as long as the environment stays the same.
template <class T>
class Remembered {
 public:
  template <class Ask>
  Result<T> get(const std::string& key, Ask ask) {
    const std::lock_guard lock(mutex_);
    const auto known = answers_.find(key);
    if (known != answers_.end()) return known->second;
    return answers_.emplace(key, ask()).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Result<T>> answers_;
};

// What nvcc is to call texts: names that can stand in its PTX, and back in what it says.
class ShownNames {
 public:
  std::string line_directive(const std::string& name) {
    std::string plain = plain_name(name);
    std::string directive = fmt::format("#line 1 \"{}\"\n", plain);
    if (plain != name) names_.emplace(std::move(plain), name);
    return directive;
  }
  std::string undo_in_message(std::string text) const {
    for (const auto& [plain, name] : names_) text = replace_all(std::move(text), plain, name);
    return text;
  }

 private:
  std::map<std::string, std::string> names_;  // by the plain one
};

std::string folder_of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return file == "-" || parent.empty() ? "." : parent.string();
}

// The folders of -I, however it is written.
std::vector<std::string> include_folders(const std::vector<std::string>& flags) {
  std::vector<std::string> folders;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == "-I" && i + 1 < flags.size()) folders.push_back(flags[i + 1]);
    if (flags[i].starts_with("-I") && flags[i].size() > 2) folders.push_back(flags[i].substr(2));
    if (flags[i].starts_with("--include-path=")) folders.push_back(flags[i].substr(15));
  }
  return folders;
}

// Copies of the source and of the user's headers in which loops ask to stay rolled. System headers, and what
// is included through a macro, are left as they are.
class RolledCopies {
 public:
  RolledCopies(std::string folder, std::vector<std::string> search, ShownNames& shown)
      : folder_(std::move(folder)), search_(std::move(search)), shown_(shown) {}

  std::string text_of(const std::string& file, std::string_view text) {
    const std::string home = folder_of(file);
    return roll_loops(text,
                      [&](const std::string& name, bool quoted) { return copy_of(name, quoted, home); });
  }

 private:
  std::optional<std::string> copy_of(const std::string& name, bool quoted, const std::string& home) {
    const std::optional<std::string> original = find(name, quoted, home);
    if (!original) return std::nullopt;
    std::error_code bad;
    const std::string key = fs::weakly_canonical(*original, bad).string();
    if (bad || key.starts_with("/usr/")) return std::nullopt;
    const auto known = copies_.find(key);
    if (known != copies_.end()) return known->second;
    const std::string copy =
        fmt::format("{}/{}-{}", folder_, copies_.size(), fs::path(name).filename().string());
    copies_.emplace(key, copy);  // before its own includes are looked at: they may lead back to it
    const std::optional<std::string> text = read_file(*original);
    if (!text || !write_file(copy, shown_.line_directive(*original) + text_of(*original, *text))) {
      copies_[key] = *original;
      return std::nullopt;
    }
    return copy;
  }

  std::optional<std::string> find(const std::string& name, bool quoted, const std::string& home) const {
    std::error_code ignored;
    if (fs::path(name).is_absolute())
      return fs::is_regular_file(name, ignored) ? std::optional(name) : std::nullopt;
    std::vector<std::string> folders = search_;
    if (quoted) folders.insert(folders.begin(), home);
    for (const std::string& folder : folders) {
      const std::string path = folder == "." ? name : folder + "/" + name;
      if (fs::is_regular_file(path, ignored)) return path;
    }
    return std::nullopt;
  }

  std::string folder_;
  std::vector<std::string> search_;
  ShownNames& shown_;
  std::map<std::string, std::string> copies_;  // by the original's full path
};

Diagnostic verbatim(Severity severity, std::string text) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.verbatim = std::move(text);
  if (diagnostic.verbatim.back() != '\n') diagnostic.verbatim += '\n';
  return diagnostic;
}

// Those of the flags that clang's parser and nvcc agree on.
std::vector<std::string> flags_for_parsing(const std::vector<std::string>& flags) {
  std::vector<std::string> common;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    const bool two_words = flag == "-I" || flag == "-D" || flag == "-U" || flag == "-include";
    const bool one_word = flag.starts_with("-I") || flag.starts_with("-D") || flag.starts_with("-U") ||
                          flag.starts_with("-std=");
    if (two_words && i + 1 < flags.size()) {
      common.push_back(flag);
      common.push_back(flags[++i]);
    } else if (one_word && !two_words) {
      common.push_back(flag);
    }
  }
  return common;
}

std::vector<KernelSignature> find_kernels(const Source& source, std::string_view text,
                                          const CompileOptions& options) {
  ClangRequest request;
  request.file = source.file;
  request.text = text;
  request.target = "sm_90";  // any will do for the names
  request.flags = flags_for_parsing(options.flags);
  request.signatures_only = true;
  const ClangOutcome parsed = run_clang(request);
  return match_kernels(source.ptx, parsed.kernels, scan_kernels(text));
}

// nvcc names what a file keeps to itself, in an anonymous namespace or `static`, by a number that differs from run to run:
// `_GLOBAL__N__d9443458_9_source_cu_main`. Kernels are found again by their symbols.
void same_in_each_run(std::string& ptx) {
  constexpr std::size_t digits = 8;
  for (const std::string_view prefix : {"_GLOBAL__N__", "_INTERNAL_"})
    for (std::size_t at = ptx.find(prefix); at != std::string::npos; at = ptx.find(prefix, at)) {
      at += prefix.size();
      std::size_t end = at;
      while (end < ptx.size() && std::isxdigit(static_cast<unsigned char>(ptx[end])) != 0) ++end;
      if (end - at == digits && end < ptx.size() && ptx[end] == '_') ptx.replace(at, digits, digits, '0');
    }
}

}  // namespace

Result<Nvcc> find_nvcc_in(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::string path = folder + "/nvcc";
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored) || access(path.c_str(), X_OK) != 0) continue;
    if (!safe_for_shell(path) || !safe_for_shell(fs::weakly_canonical(path, ignored).string()))
      return error(
          fmt::format("{} cannot be used: nvcc runs its steps through a shell, which would read its path",
                      path),
          "install the CUDA Toolkit in a folder whose path has only letters, digits and _ . + -");
    const Result<ProcessResult> answer = ask_nvcc(path, "--version");
    if (!answer) return answer.diagnostics();
    const std::string version = version_in(answer->output);
    if (answer->status == 0 && !version.empty()) return Nvcc{path, "nvcc " + version};
    return error(fmt::format("{} does not report its version", path),
                 "--compiler clang needs no CUDA Toolkit");
  }
  return error("nvcc was not found",
               "looked in the PATH, in bin of CUDA_HOME and CUDA_PATH, and in /usr/local/cuda/bin; "
               "--compiler clang needs "
               "no CUDA Toolkit");
}

Result<Nvcc> find_nvcc() {
  static Remembered<Nvcc> remembered;
  const std::vector<std::string> folders = toolkit_folders();
  return remembered.get(fmt::format("{}", fmt::join(folders, ":")), [&] { return find_nvcc_in(folders); });
}

Result<std::vector<std::string>> nvcc_targets() {
  static Remembered<std::vector<std::string>> remembered;
  const Result<Nvcc> nvcc = find_nvcc();
  if (!nvcc) return nvcc.diagnostics();
  return remembered.get(nvcc->path, [&] { return ask_for_targets(*nvcc); });
}

Result<Source> compile_with_nvcc(Source source, std::string_view text, const CompileOptions& options) {
  const Result<Nvcc> nvcc = find_nvcc();
  if (!nvcc) return nvcc.diagnostics();
  if (Diagnostics refused = check_flags(options.flags); !refused.empty()) return refused;
  const TemporaryFolder folder;
  const std::string name = source.file == "-" ? "<stdin>" : source.file;
  const std::string input = folder.path() + "/source.cu";
  const std::string output = folder.path() + "/source.ptx";
  ShownNames shown;
  std::string body = shown.line_directive(name);
  if (options.rolled) {
    body += RolledCopies(folder.path(), include_folders(options.flags), shown).text_of(source.file, text);
  } else {
    body += text;
  }
  if (folder.path().empty() || !write_file(input, body)) {
    return no_temporary_folder("nvcc");
  }
  SafeNames names(folder.path());
  Result<std::vector<std::string>> arguments =
      nvcc_arguments(source, folder_of(source.file), options, input, output, names);
  if (!arguments) return arguments.diagnostics();
  arguments->insert(arguments->begin(), nvcc->path);
  Result<ProcessResult> run = run_process(*arguments, {{"TMPDIR", folder.path()}});
  if (!run) return run.diagnostics();
  std::string said = replace_all(names.undo_in_message(run->output + run->errors), input, name);
  said = replace_all(std::move(said), "source.cu", fs::path(name).filename().string());
  said = shown.undo_in_message(std::move(said));
  if (run->status != 0) {
    if (said.empty()) said = fmt::format("nvcc ended with status {}", run->status);
    return verbatim(Severity::error, std::move(said));
  }
  if (!said.empty()) source.warnings.push_back(verbatim(Severity::warning, std::move(said)));
  std::optional<std::string> ptx = read_file(output);
  if (!ptx) return error(fmt::format("nvcc wrote no PTX for {}", name), "check the flags after `--`");
  source.ptx = names.undo_in_ptx(std::move(*ptx));
  same_in_each_run(source.ptx);
  source.kernels = find_kernels(source, text, options);
  return source;
}

}  // namespace warptime::compiling
