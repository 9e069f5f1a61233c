#include "analyzer/compile/scan_kernels.h"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "simulator/base/text.h"

namespace warptime::compiling {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// Comments and literals as blanks, so that the words that are left are code; lines stay where they were.
std::string without_comments(std::string_view text) {
  std::string code(text);
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", i + 2);
      end = close == std::string_view::npos ? text.size() : close + 2;
    } else if (text[i] == '"') {
      while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else {
      ++i;
      continue;
    }
    for (; i < end; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
  }
  return code;
}

// The position behind the bracket that closes the one at `open`.
std::size_t behind_closing(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_at_commas(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (std::string_view("(<[{").find(list[i]) != std::string_view::npos) ++depth;
    if (std::string_view(")>]}").find(list[i]) != std::string_view::npos) --depth;
    if (list[i] != ',' || depth != 0) continue;
    parts.push_back(trim(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (!trim(list.substr(begin)).empty()) parts.push_back(trim(list.substr(begin)));
  return parts;
}

std::string with_single_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!space) result += c;
    if (space && !result.empty() && result.back() != ' ') result += ' ';
  }
  return result;
}

// "float *__restrict__ data = nullptr" -> data, "float *".
KernelArgument argument_of(std::string_view declared, std::size_t index) {
  declared = trim(declared.substr(0, declared.find('=')));
  const std::size_t bracket = declared.find('[');
  const std::string_view suffix = bracket == std::string_view::npos ? "" : " *";
  declared = trim(declared.substr(0, bracket));
  std::size_t begin = declared.size();
  while (begin > 0 && is_identifier(declared[begin - 1])) --begin;
  std::string name(declared.substr(begin));
  std::string_view type = trim(declared.substr(0, begin));
  if (type.empty() || name == "int" || name == "float" || name == "double" || name == "unsigned" ||
      name == "__restrict__") {
    type = declared;
    name.clear();
  }
  for (const std::string_view word : {"__restrict__", "__restrict"}) {
    if (type.ends_with(word)) type = trim(type.substr(0, type.size() - word.size()));
  }
  if (name.empty()) name = fmt::format("arg{}", index);
  return {std::move(name), with_single_spaces(type) + std::string(suffix)};
}

// Behind `__global__`: the first name that is followed by a bracket and is no attribute, and its parameters.
std::optional<KernelSignature> declared_kernel(std::string_view code, std::size_t position) {
  while (position < code.size() && code[position] != ';' && code[position] != '{') {
    if (!is_identifier(code[position])) {
      ++position;
      continue;
    }
    std::size_t end = position;
    while (end < code.size() && is_identifier(code[end])) ++end;
    const std::string_view word = code.substr(position, end - position);
    std::size_t open = end;
    while (open < code.size() && std::isspace(static_cast<unsigned char>(code[open])) != 0) ++open;
    position = end;
    if (open >= code.size() || code[open] != '(') continue;
    const std::size_t behind = behind_closing(code, open);
    if (behind == std::string_view::npos) return std::nullopt;
    position = behind;
    if (word.starts_with("__")) continue;  // __launch_bounds__(256), __attribute__((…))
    KernelSignature kernel;
    kernel.name = word;
    const std::vector<std::string_view> parameters =
        split_at_commas(code.substr(open + 1, behind - open - 2));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i] != "void") kernel.arguments.push_back(argument_of(parameters[i], i));
    }
    return kernel;
  }
  return std::nullopt;
}

// ns::filter<float, 3> -> filter
std::string_view unqualified(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::size_t parameter_count(std::string_view ptx, const std::string& symbol) {
  std::size_t count = 0;
  const std::size_t entry = ptx.find(fmt::format(".entry {}(", symbol));
  if (entry == std::string_view::npos) return 0;
  const std::string_view list = ptx.substr(entry, ptx.find(')', entry) - entry);
  for (std::size_t at = list.find(".param"); at != std::string_view::npos; at = list.find(".param", at + 1))
    ++count;
  return count;
}

KernelSignature match_one(std::string_view ptx, const std::string& symbol,
                          const std::vector<KernelSignature>& known,
                          const std::vector<KernelSignature>& scanned) {
  for (const KernelSignature& kernel : known) {
    if (kernel.symbol == symbol) return kernel;
  }
  KernelSignature result;
  result.symbol = symbol;
  result.name = function_name(symbol);
  const std::size_t count = parameter_count(ptx, symbol);
  for (const KernelSignature& kernel : scanned) {
    if (kernel.name != unqualified(result.name) || kernel.arguments.size() != count) continue;
    result.line = kernel.line;
    result.arguments = kernel.arguments;
    return result;
  }
  for (std::size_t i = 0; i < count; ++i) result.arguments.push_back({fmt::format("arg{}", i), ""});
  return result;
}

}  // namespace

std::string function_name(const std::string& symbol) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  const std::string name = llvm::demangle(symbol);
  int angles = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, anonymous.size(), anonymous) == 0) {
      i += anonymous.size() - 1;
      continue;
    }
    if (name[i] == '<') ++angles;
    if (name[i] == '>') --angles;
    if (angles != 0) continue;
    if (name[i] == ' ') begin = i + 1;  // behind the type of a template's result
    if (name[i] == '(') return name.substr(begin, i - begin);
  }
  return name;
}

std::vector<KernelSignature> scan_kernels(std::string_view text) {
  constexpr std::string_view keyword = "__global__";
  const std::string code = without_comments(text);
  std::vector<KernelSignature> kernels;
  for (std::size_t at = code.find(keyword); at != std::string::npos; at = code.find(keyword, at + 1)) {
    std::optional<KernelSignature> kernel = declared_kernel(code, at + keyword.size());
    if (!kernel) continue;
    kernel->line =
        1 + static_cast<int>(std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

std::vector<std::string> entries_of(std::string_view ptx) {
  constexpr std::string_view keyword = ".entry";
  std::vector<std::string> names;
  for (std::size_t at = ptx.find(keyword); at != std::string_view::npos; at = ptx.find(keyword, at + 1)) {
    std::size_t begin = at + keyword.size();
    while (begin < ptx.size() && std::isspace(static_cast<unsigned char>(ptx[begin])) != 0) ++begin;
    std::size_t end = begin;
    while (end < ptx.size() && (is_identifier(ptx[end]) || ptx[end] == '$')) ++end;
    if (end > begin) names.emplace_back(ptx.substr(begin, end - begin));
  }
  return names;
}

std::vector<KernelSignature> match_kernels(std::string_view ptx, const std::vector<KernelSignature>& known,
                                           const std::vector<KernelSignature>& scanned) {
  std::vector<KernelSignature> kernels;
  for (const std::string& symbol : entries_of(ptx)) kernels.push_back(match_one(ptx, symbol, known, scanned));
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  return kernels;
}

}  // namespace warptime::compiling
