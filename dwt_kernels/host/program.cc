#include "dwt_kernels/host/program.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>

namespace warptime::host {
namespace {

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int> size_of(const std::string& text) {
  const bool power = text.starts_with("2^");
  const auto number = number_in(power ? std::string_view(text).substr(2) : text);
  if (!number || *number < 0 || (power && *number > 30)) return std::nullopt;
  const int size = power ? 1 << *number : *number;
  return size > 1 << 30 ? std::nullopt : std::optional(size);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    words.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return words;
}

std::optional<std::vector<int>> sizes_of(const std::string& text) {
  std::vector<int> sizes;
  for (const std::string& word : words_of(text)) {
    const auto size = size_of(word);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int usage_error(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 2;
}

int run_program(cxxopts::Options options, int argc, char** argv,
                int (*program)(const cxxopts::ParseResult&)) {
  try {
    options.add_options()("help", "Print this");
    const auto parsed = options.parse(argc, argv);
    if (parsed.count("help") > 0) {
      std::printf("%s", options.help().c_str());
      return 0;
    }
    return program(parsed);
  } catch (const cxxopts::exceptions::exception& wrong) {
    return usage_error(wrong.what());
  }
}

}  // namespace warptime::host
