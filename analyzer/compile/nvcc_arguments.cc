#include "analyzer/compile/nvcc_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "analyzer/compile/toolkit.h"

namespace warptime::compiling {

namespace {

namespace fs = std::filesystem;

// nvcc's flags for a folder or a file to include: the path is the next word, or follows an `=`.
constexpr std::array<std::string_view, 6> path_flags{
    "-I", "--include-path", "-isystem", "--system-include", "-include", "--pre-include"};
constexpr std::array<std::string_view, 2> define_flags{"-D", "--define-macro"};

// A flag in its two parts: `-I` and `folder` of `-Ifolder`, `-I=folder` and `-I folder`.
struct FlagWithValue {
  std::string flag;  // with the `=`, where there is one
  std::string value;
  bool two_words = false;
};

template <class Names>
std::optional<FlagWithValue> split(const Names& names, const std::vector<std::string>& flags, std::size_t i) {
  for (const std::string_view name : names) {
    if (!flags[i].starts_with(name)) continue;
    const std::string rest = flags[i].substr(name.size());
    if (rest.empty()) {
      if (i + 1 == flags.size()) return std::nullopt;
      return FlagWithValue{std::string(name), flags[i + 1], true};
    }
    if (rest[0] == '=') return FlagWithValue{std::string(name) + "=", rest.substr(1)};
    if (name.size() == 2) return FlagWithValue{std::string(name), rest};
  }
  return std::nullopt;
}

// nvcc escapes the quotes in the value of a macro, and only these.
bool safe_as_macro(std::string_view value) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '`' || value[i] == '$' || value[i] == '\0') return false;
    if (value[i] != '\\') continue;
    if (i + 1 == value.size() || value[i + 1] != '"') return false;
  }
  return true;
}

// Other flags may reach the shell without quotes.
bool safe_as_flag(std::string_view flag) {
  return std::none_of(flag.begin(), flag.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' ||
           std::string_view("`$\\\"';&|<>(){}").find(c) != std::string_view::npos;
  });
}

Diagnostic refused(const std::string& flag) {
  return error(
      fmt::format(
          "nvcc cannot be given the flag `{}`: it runs its steps through a shell, which would read it",
          escaped_for_literal(flag)),
      "put the definition into the source, or use --compiler clang, which runs no shell");
}

}  // namespace

Result<std::string> SafeNames::of(const std::string& path) {
  if (safe_for_shell(path)) return path;
  std::error_code bad;
  // `-I a,b` is a list of two folders.
  if (path.find(',') != std::string::npos && !fs::exists(path, bad)) {
    std::string without_commas = path;
    std::erase(without_commas, ',');
    if (safe_for_shell(without_commas)) return path;
  }
  const auto known =
      std::find_if(links_.begin(), links_.end(), [&](const Link& l) { return l.path == path; });
  if (known != links_.end()) return known->name;
  const std::string name = fmt::format("{}/link-{}", folder_, links_.size());
  fs::create_symlink(fs::absolute(path, bad), name, bad);
  if (bad) return error(fmt::format("cannot make a link to {} in {}: {}", path, folder_, bad.message()));
  links_.push_back({name, path});
  return name;
}

std::string SafeNames::undo_in_message(std::string text) const {
  // The last link first: link-1 is the beginning of link-10.
  for (auto link = links_.rbegin(); link != links_.rend(); ++link)
    text = replace_all(std::move(text), link->name, link->path);
  return text;
}

std::string SafeNames::undo_in_ptx(std::string ptx) const {
  for (auto link = links_.rbegin(); link != links_.rend(); ++link) {
    std::error_code ignored;
    const std::string path = escaped_for_literal(fs::absolute(link->path, ignored).string());
    for (std::size_t at = ptx.find("\t.file\t"); at != std::string::npos;
         at = ptx.find("\t.file\t", at + 1)) {
      const std::size_t quote = ptx.find_first_of("\"\n", at);
      if (quote != std::string::npos && ptx.compare(quote + 1, link->name.size(), link->name) == 0)
        ptx.replace(quote + 1, link->name.size(), path);
    }
  }
  return ptx;
}

Result<std::vector<std::string>> nvcc_arguments(const Source& source, const std::string& source_folder,
                                                const CompileOptions& options, const std::string& input,
                                                const std::string& output, SafeNames& names) {
  const std::vector<std::string>& flags = options.flags;
  std::vector<std::string> arguments{"-ptx", "-lineinfo", "-arch=" + source.target};
  const bool has_level =
      std::any_of(flags.begin(), flags.end(), [](const std::string& flag) { return flag.starts_with("-O"); });
  if (!has_level) arguments.emplace_back("-O3");
  // The copy of the source lies elsewhere, the files that it includes do not.
  const Result<std::string> home = names.of(source_folder);
  if (!home) return home.diagnostics();
  arguments.insert(arguments.end(), {"-I", *home});
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::optional<FlagWithValue> path = split(path_flags, flags, i);
    const std::optional<FlagWithValue> macro = split(define_flags, flags, i);
    if (path) {
      const Result<std::string> name = names.of(path->value);
      if (!name) return name.diagnostics();
      if (path->two_words) {
        arguments.insert(arguments.end(), {path->flag, *name});
        ++i;
      } else {
        arguments.push_back(path->flag + *name);
      }
    } else if (macro) {
      if (!safe_as_macro(macro->value))
        return refused(flags[i] + (macro->two_words ? " " + macro->value : ""));
      arguments.push_back(flags[i]);
      if (macro->two_words) arguments.push_back(flags[++i]);
    } else {
      if (!safe_as_flag(flags[i])) return refused(flags[i]);
      arguments.push_back(flags[i]);
    }
  }
  arguments.insert(arguments.end(), {"-o", output, input});
  return arguments;
}

std::string escaped_for_literal(std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ') {
      escaped += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      if (c == '\\' || c == '"') escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string replace_all(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace warptime::compiling
