#include "analyzer/compile/build_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyzer/compile/toolkit.h"

namespace warptime::compiling {

namespace {

namespace fs = std::filesystem;

// A flag that is taken: its names, how it is spelled for our compilers, and what its value is.
struct KnownFlag {
  std::string_view name;
  std::string_view as;
  bool is_path;
};
constexpr std::array<KnownFlag, 18> with_value{{{"-I", "-I", true},
                                                {"--include-path", "-I", true},
                                                {"-isystem", "-isystem", true},
                                                {"--system-include", "-isystem", true},
                                                {"-iquote", "-iquote", true},
                                                {"-idirafter", "-idirafter", true},
                                                {"-include", "-include", true},
                                                {"--pre-include", "-include", true},
                                                {"-D", "-D", false},
                                                {"--define-macro", "-D", false},
                                                {"-U", "-U", false},
                                                {"--undefine-macro", "-U", false},
                                                {"-std", "-std=", false},
                                                {"--std", "-std=", false},
                                                {"-ftz", "", false},
                                                {"--ftz", "", false},
                                                {"-ffp-contract", "-ffp-contract=", false},
                                                {"-fgpu-default-stream", "", false}}};

constexpr std::array<std::string_view, 9> without_value{
    "--expt-relaxed-constexpr", "-expt-relaxed-constexpr", "--expt-extended-lambda",
    "-expt-extended-lambda",    "--extended-lambda",       "-extended-lambda",
    "--use_fast_math",          "-use_fast_math",          "-ffast-math"};

// About what is built and where, or about host code: nobody misses them. Those that end in a space have a
// value behind them.
constexpr std::array<std::string_view, 43> of_no_interest{"-c",
                                                          "-dc",
                                                          "-dw",
                                                          "--compile",
                                                          "--device-c",
                                                          "-o ",
                                                          "--output-file ",
                                                          "-x ",
                                                          "-MD",
                                                          "-MMD",
                                                          "-MP",
                                                          "-MT ",
                                                          "-MF ",
                                                          "-MQ ",
                                                          "-ccbin ",
                                                          "--compiler-bindir ",
                                                          "-Xcompiler ",
                                                          "--compiler-options ",
                                                          "-Xptxas ",
                                                          "--ptxas-options ",
                                                          "-Xlinker ",
                                                          "-Xfatbin ",
                                                          "-Xnvlink ",
                                                          "-Xcudafe ",
                                                          "-diag-suppress ",
                                                          "--diag-suppress ",
                                                          "-forward-unknown-to-host-compiler",
                                                          "--forward-unknown-to-host-compiler",
                                                          "-forward-unknown-opts",
                                                          "-g",
                                                          "-lineinfo",
                                                          "--generate-line-info",
                                                          "-m64",
                                                          "-fPIC",
                                                          "-fPIE",
                                                          "-pthread",
                                                          "-w",
                                                          "-t ",
                                                          "--threads ",
                                                          "-gencode ",
                                                          "--generate-code ",
                                                          "-arch ",
                                                          "--gpu-architecture "};

bool is_source(const std::string& word, const std::string& name) {
  return !word.empty() && word[0] != '-' && fs::path(word).filename() == fs::path(name).filename();
}

class Translator {
 public:
  Translator(const std::vector<std::string>& words, std::string folder)
      : words_(words), folder_(std::move(folder)) {}

  BuildFlags run() {
    for (at_ = 1; at_ < words_.size(); ++at_) take(words_[at_]);
    return std::move(flags_);
  }

 private:
  void take(const std::string& word) {
    if (word.empty() || word[0] != '-') return;  // a source, or what an unknown flag is about
    if (take_file(word) || take_known(word) || is_of_no_interest(word)) return;
    if (std::find(without_value.begin(), without_value.end(), word) != without_value.end()) {
      flags_.taken.push_back(word == "-ffast-math" ? "--use_fast_math" : word);
      return;
    }
    if (word.starts_with("-W") || word.starts_with("-O") || word.starts_with("-g") ||
        word.starts_with("-std=") || word.starts_with("--cuda-"))
      return;
    flags_.dropped.push_back(word);
  }

  // CMake's --options-file includes_CUDA.rsp: more of the command line.
  bool take_file(const std::string& word) {
    if (word != "--options-file" && word != "-optf") return false;
    const std::string name = value();
    if (const std::optional<std::string> text = read_file(absolute(name))) {
      std::vector<std::string> words{"nvcc"};
      for (std::string& one : split_command(*text)) words.push_back(std::move(one));
      const BuildFlags more = Translator(words, folder_).run();
      flags_.taken.insert(flags_.taken.end(), more.taken.begin(), more.taken.end());
      flags_.dropped.insert(flags_.dropped.end(), more.dropped.begin(), more.dropped.end());
    } else {
      flags_.dropped.push_back(word + " " + name);
    }
    return true;
  }

  bool take_known(const std::string& word) {
    for (const KnownFlag& flag : with_value) {
      if (!word.starts_with(flag.name)) continue;
      std::string rest = word.substr(flag.name.size());
      const bool short_form = flag.name.size() == 2;  // -Ifolder
      if (!rest.empty() && rest[0] != '=' && !short_form) continue;
      if (!rest.empty() && rest[0] == '=' && !(short_form && flag.as == "-D")) rest.erase(0, 1);
      if (rest.empty()) rest = value();
      if (flag.as.empty()) return true;
      const std::string text = flag.is_path ? path(flag.as, rest) : rest;
      if (flag.as.size() == 2 || flag.as.back() == '=') {
        flags_.taken.push_back(std::string(flag.as) + text);
      } else {
        flags_.taken.emplace_back(flag.as);
        flags_.taken.push_back(text);
      }
      return true;
    }
    return false;
  }

  bool is_of_no_interest(const std::string& word) {
    for (std::string_view known : of_no_interest) {
      const bool has_value = known.back() == ' ';
      if (has_value) known.remove_suffix(1);
      if (word == known) {
        if (has_value) value();
        return true;
      }
      if (has_value && word.starts_with(std::string(known) + "=")) return true;
    }
    return false;
  }

  // A header of -include may stand in a folder of -I.
  std::string path(std::string_view flag, const std::string& name) const {
    const std::string whole = absolute(name);
    std::error_code ignored;
    return flag == "-include" && !fs::exists(whole, ignored) ? name : whole;
  }

  std::string absolute(const std::string& name) const {
    return fs::path(name).is_absolute() ? name : (fs::path(folder_) / name).lexically_normal().string();
  }

  std::string value() { return at_ + 1 < words_.size() ? words_[++at_] : std::string(); }

  const std::vector<std::string>& words_;
  std::string folder_;
  std::size_t at_ = 0;
  BuildFlags flags_;
};

std::vector<std::string> words_of(const nlohmann::json& entry) {
  if (entry.contains("arguments")) return entry["arguments"].get<std::vector<std::string>>();
  return split_command(entry.value("command", ""));
}

constexpr const char* how_to_make_one =
    "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes compile_commands.json into its build folder";

}  // namespace

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      *word += command[++i];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      *word += c;
    }
  }
  if (word) words.push_back(*word);
  return words;
}

BuildFlags translate_flags(const std::vector<std::string>& command, const std::string& folder) {
  return Translator(command, folder).run();
}

Result<CompileOptions> with_build_flags(CompileOptions options, const std::string& file,
                                        std::vector<std::string>& notes) {
  if (options.build_folder.empty()) return options;
  const std::string name = (fs::path(options.build_folder) / "compile_commands.json").string();
  const std::optional<std::string> text = read_file(name);
  if (!text) return error(fmt::format("there is no {}", name), how_to_make_one);
  const nlohmann::json commands = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!commands.is_array()) return error(fmt::format("{} is not a list of compilation commands", name));
  std::error_code ignored;
  const fs::path wanted = fs::weakly_canonical(file, ignored);
  for (const nlohmann::json& entry : commands) {
    if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string()) continue;
    const std::string folder = entry.value("directory", options.build_folder);
    const std::string source = entry["file"].get<std::string>();
    if (!is_source(source, file) || fs::weakly_canonical(fs::path(folder) / source, ignored) != wanted)
      continue;
    BuildFlags flags = translate_flags(words_of(entry), folder);
    if (!flags.dropped.empty())
      notes.push_back(
          fmt::format("flags of {} that were not taken: {}", name, fmt::join(flags.dropped, " ")));
    flags.taken.insert(flags.taken.end(), options.flags.begin(), options.flags.end());
    options.flags = std::move(flags.taken);
    options.build_folder.clear();
    return options;
  }
  return error(fmt::format("{} has no entry for {}", name, file),
               "give the flags after `--`, or build the project so that the file is part of it");
}

}  // namespace warptime::compiling
