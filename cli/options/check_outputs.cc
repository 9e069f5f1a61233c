// No output over an input: decided by the command's syntax, which knows its inputs and outputs.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/options/arguments.h"

namespace warptime::cli {
namespace {

namespace fs = std::filesystem;

// A file or folder as the command line names it.
struct NamedFile {
  std::string option;  // "--output"; empty: a positional
  std::string file;
  Names as = Names::input;
};

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// Of a regular file that exists.
std::optional<FileIdentity> identity_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

bool same_file(const std::string& a, const std::string& b) {
  const auto one = identity_of(a), other = identity_of(b);
  if (one || other) return one == other;
  std::error_code failed;
  if (fs::exists(a, failed) || fs::exists(b, failed)) return false;  // a pipe, /dev/null
  // Absolute first: weakly_canonical() leaves a name alone of which nothing exists.
  const auto path = fs::weakly_canonical(fs::absolute(a, failed), failed);
  return !failed && path == fs::weakly_canonical(fs::absolute(b, failed), failed) && !failed;
}

// Whether `file` is one of those with this extension in `folder`.
bool is_in(const std::string& folder, const std::string& file, std::string_view extension) {
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().extension() == extension && same_file(entry->path().string(), file)) return true;
  return false;
}

// The file that a value names: "in.npy" of "data=@in.npy"; empty: none.
std::string file_in_value(const std::string& value, Names as) {
  if (as == Names::input) return identity_of(value) ? value : value.substr(0, value.find('='));
  if (as != Names::input_in_value && as != Names::output_in_value) return value;
  const auto equals = value.find('=');
  if (equals == std::string::npos) return {};
  const std::string given = value.substr(equals + 1);
  if (as == Names::output_in_value) return given;
  if (given.starts_with('@')) return given.substr(1);
  const auto type_end = given.starts_with("raw:") ? given.find(':', 4) : std::string::npos;
  return type_end == std::string::npos ? std::string() : given.substr(type_end + 1);
}

bool is_output(Names as) {
  return as == Names::output || as == Names::output_folder || as == Names::output_in_value;
}

bool replaces(const NamedFile& output, const NamedFile& input) {
  if (output.as == Names::output_folder) return is_in(output.file, input.file, ".svg");
  if (input.as == Names::input_folder) return is_in(input.file, output.file, ".yaml");
  return same_file(output.file, input.file);
}

Diagnostic over_input(const NamedFile& output, const NamedFile& input) {
  std::string message;
  if (output.as == Names::output_folder)
    message = fmt::format("the input {} is in {}, where plots are written", input.file, output.file);
  else if (input.as == Names::input_folder)
    message = fmt::format("{} is an input: it is in the folder of {}", output.file, input.option);
  else if (output.file == input.file)
    message = fmt::format("{} is an input: the result would replace it", output.file);
  else
    message = fmt::format("{} is the input {}: the result would replace it", output.file, input.file);
  return error_at(output.option, 0, 0, std::move(message), "give the result a file of its own");
}

}  // namespace

Diagnostics check_outputs(const CommandSyntax& syntax, const Arguments& arguments) {
  std::vector<NamedFile> inputs, outputs;
  const auto add = [&](const std::string& option, const std::string& value, Names as) {
    const auto file = file_in_value(value, as);
    if (!file.empty() && file != "-") (is_output(as) ? outputs : inputs).push_back({option, file, as});
  };
  if (syntax.inputs == Inputs::files || syntax.inputs == Inputs::files_or_plans)
    for (const auto& file : arguments.positionals()) add("", file, Names::input);
  for (const auto& group : syntax.groups) {
    for (const auto& option : group.options) {
      if (option.file == Names::no_file) continue;
      for (const auto& value : arguments.values(long_name(option)))
        add("--" + long_name(option), value, option.file);
    }
  }
  for (const auto& output : outputs)
    for (const auto& input : inputs)
      if (replaces(output, input)) return {over_input(output, input)};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same_file(outputs[i].file, outputs[j].file))
        return {error_at(outputs[i].option, 0, 0,
                         fmt::format("{} is also the file of {}", outputs[i].file, outputs[j].option),
                         "give each result a file of its own")};
  return {};
}

}  // namespace warptime::cli
