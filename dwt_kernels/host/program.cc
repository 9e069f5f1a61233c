#include "dwt_kernels/host/program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "simulator/base/csv.h"

namespace warptime::host {

std::optional<int> size_of(const std::string& text) {
  const bool power = text.starts_with("2^");
  std::int64_t number = 0;
  if (!read_whole(power ? std::string_view(text).substr(2) : text, number) || number < 0 ||
      number > (power ? 30 : 1 << 30))
    return std::nullopt;
  return static_cast<int>(power ? std::int64_t{1} << number : number);
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
