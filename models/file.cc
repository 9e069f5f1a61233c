#include "models/file.h"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::models {
namespace {

constexpr std::string_view made_by = "# Made by `warptime models update` of ";
constexpr std::string_view made_by_end = ": change the kernel and run that again, not this file.";
constexpr std::string_view from_mark = "# from ";
constexpr std::string_view kernel_mark = "# kernel ";
constexpr std::string_view text_mark = "# text ";
constexpr std::size_t hash_length = 64;
constexpr std::size_t short_hash = 8;

// Names go into one line of a comment.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

// The comments that stand first; `text_line`: the one with the hash.
struct Head {
  std::vector<std::string_view> lines;
  std::optional<std::string_view> text_line;
};

Head head_of(std::string_view text) {
  Head head;
  while (text.substr(0, 1) == "#") {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    const auto line = text.substr(0, end);
    head.lines.push_back(line);
    if (line.starts_with(text_mark)) head.text_line = line;
    text.remove_prefix(end);
  }
  return head;
}

std::string_view without_newline(std::string_view line) {
  return line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
}

bool is_as_made(std::string_view text, const Head& head) {
  if (!head.text_line) return false;
  const auto at = static_cast<std::size_t>(head.text_line->data() - text.data());
  std::string rest(text.substr(0, at));
  rest += text.substr(at + head.text_line->size());
  return without_newline(*head.text_line).substr(text_mark.size()) == sha256(rest);
}

}  // namespace

std::string model_text(const ModelHeading& heading, const KernelProgram& program) {
  std::string head = fmt::format("{}{}{}\n", made_by, heading.tool, made_by_end);
  for (const auto& input : heading.inputs)
    head += fmt::format("{}{}  {}\n", from_mark, input.hash, one_line(input.file));
  for (const auto& kernel : heading.kernels) head += fmt::format("{}{}\n", kernel_mark, one_line(kernel));
  const std::string body = to_yaml(program);
  return fmt::format("{}{}{}\n{}", head, text_mark, sha256(head + body), body);
}

FoundModel read_model(std::string text, const std::string& file) {
  FoundModel found;
  found.text = std::move(text);
  const Head head = head_of(found.text);
  for (auto line : head.lines) {
    line = without_newline(line);
    if (line.starts_with(made_by) && line.ends_with(made_by_end)) {
      line.remove_prefix(made_by.size());
      found.heading.tool = line.substr(0, line.size() - made_by_end.size());
    } else if (line.starts_with(from_mark) && line.size() > from_mark.size() + hash_length + 2) {
      line.remove_prefix(from_mark.size());
      found.heading.inputs.push_back(
          {std::string(line.substr(hash_length + 2)), std::string(line.substr(0, hash_length))});
    } else if (line.starts_with(kernel_mark)) {
      found.heading.kernels.emplace_back(line.substr(kernel_mark.size()));
    }
  }
  found.as_made = is_as_made(found.text, head);
  auto programs = read_kernel_programs(found.text, file);
  if (programs && programs->size() == 1) found.program = std::move(programs->front());
  return found;
}

std::string model_file_name(const std::string& source, const std::string& kernel, const std::string& symbol,
                            bool ambiguous) {
  std::string name = kernel;
  const auto unfit = [](char c) {
    return !(c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
             (c >= 'A' && c <= 'Z'));
  };
  const bool replaced = std::any_of(name.begin(), name.end(), unfit);
  std::replace_if(name.begin(), name.end(), unfit, '_');
  constexpr std::size_t longest = 100;  // file systems allow 255 bytes in all
  const bool cut = name.size() > longest;
  name.resize(std::min(name.size(), longest));
  if (replaced || ambiguous || cut) name += "-" + sha256(symbol).substr(0, short_hash);
  return fmt::format("{}.{}.yaml", source, name);
}

}  // namespace warptime::models
