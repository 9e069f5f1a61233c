#include "models/inputs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "load/input.h"

namespace warptime::models {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_inputs = 10'000;

// What the flags say of includes.
struct Search {
  std::vector<fs::path> folders;
  std::vector<std::string> forced;  // -include FILE
};

Search search_of(const std::vector<std::string>& flags) {
  constexpr std::array<std::string_view, 7> folder_flags = {
      "-I", "-isystem", "-iquote", "-idirafter", "--include-directory", "--include-path", "--system-include"};
  constexpr std::array<std::string_view, 4> file_flags = {"-include", "-imacros", "--include",
                                                          "--pre-include"};
  Search search;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string_view flag = flags[i];
    const auto value_of = [&](std::string_view name) -> std::optional<std::string> {
      if (flag == name) return i + 1 < flags.size() ? std::optional(flags[i + 1]) : std::nullopt;
      if (flag.starts_with(name) && flag.substr(name.size(), 1) == "=")
        return std::string(flag.substr(name.size() + 1));
      if (name == "-I" && flag.starts_with(name)) return std::string(flag.substr(name.size()));
      return std::nullopt;
    };
    for (const auto name : folder_flags)
      if (auto value = value_of(name)) search.folders.emplace_back(*value);
    for (const auto name : file_flags)
      if (auto value = value_of(name)) search.forced.push_back(*value);
  }
  return search;
}

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

// What an #include names; empty: the line is none. "?": a macro names it.
std::string included_by(std::string_view line) {
  line = trimmed(line);
  if (line.substr(0, 1) != "#") return {};
  line = trimmed(line.substr(1));
  const bool include = line.starts_with("include") || line.starts_with("import");
  if (!include) return {};
  line = trimmed(line.substr(std::min(line.size(), line.find_first_of(" \t\"<"))));
  if (line.substr(0, 1) != "\"" && line.substr(0, 1) != "<") return line.empty() ? "" : "?";
  const auto end = line.find(line[0] == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? "?" : std::string(line.substr(1, end - 1));
}

class Scan {
 public:
  Scan(const std::string& file, const std::vector<std::string>& flags)
      : base_(fs::path(file).parent_path()), search_(search_of(flags)) {}

  ModelInputs run(const fs::path& file, std::string_view text) {
    add(file, text);
    for (const auto& forced : search_.forced) follow(forced, {});
    for (std::size_t next = 0; next < files_.size(); ++next) {
      const auto folder = files_[next].first.parent_path();
      const std::string content = std::move(files_[next].second);
      read_includes(content, folder);
    }
    // The source stays first.
    std::sort(result_.inputs.begin() + 1, result_.inputs.end(),
              [](const auto& a, const auto& b) { return a.file < b.file; });
    return std::move(result_);
  }

 private:
  void read_includes(std::string_view text, const fs::path& folder) {
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      const std::string name = included_by(text.substr(0, end));
      if (name == "?")
        result_.complete = false;
      else if (!name.empty())
        follow(name, folder);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void follow(const std::string& name, const fs::path& beside) {
    std::vector<fs::path> folders = {beside};
    folders.insert(folders.end(), search_.folders.begin(), search_.folders.end());
    for (const auto& folder : folders) {
      const auto file = (folder / name).lexically_normal();
      std::error_code ignored;
      if (!fs::is_regular_file(file, ignored)) continue;
      if (!seen_.insert(file.string()).second) return;
      if (files_.size() >= most_inputs) {
        result_.complete = false;
        return;
      }
      const auto text = read_text(file.string());
      if (text)
        add(file, *text);
      else
        result_.complete = result_.complete && fs::is_empty(file, ignored);
      return;
    }
  }

  void add(const fs::path& file, std::string_view text) {
    seen_.insert(file.lexically_normal().string());
    std::error_code failed;
    auto relative = fs::relative(file, base_.empty() ? fs::path(".") : base_, failed);
    if (failed || relative.empty()) relative = file;
    result_.inputs.push_back(
        {result_.inputs.empty() ? file.filename().string() : relative.generic_string(), sha256(text)});
    files_.emplace_back(file, text);
  }

  fs::path base_;
  Search search_;
  std::set<std::string> seen_;
  std::vector<std::pair<fs::path, std::string>> files_;  // texts that are still to be read
  ModelInputs result_;
};

}  // namespace

ModelInputs inputs_of(const std::string& file, std::string_view text, const std::vector<std::string>& flags) {
  return Scan(file, flags).run(file, text);
}

}  // namespace warptime::models
