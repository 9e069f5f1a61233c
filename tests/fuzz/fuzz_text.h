// What the fuzzers of text formats share: what must hold, and changes of lines and words, since bytes changed
// blindly rarely parse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/base/diagnostic.h"
#include "tests/fuzz/fuzz_pieces.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace warptime::fuzzing {

// Every refusal says why, and moves no terminal's cursor.
inline void check_refusal(const Diagnostics& diagnostics) {
  require(!diagnostics.empty(), "a refusal has a diagnostic");
  const std::string text = to_text(diagnostics);
  require(!text.empty() && text.back() == '\n', "diagnostics are lines of text");
  for (const char c : text)
    require(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t', "no control character is shown");
}

inline std::string changed_pieces(const std::string& text, std::string_view ends, std::mt19937& random) {
  static const char* const numbers[] = {"0",     "-1",     "1",   "2147483648", "9223372036854775807",
                                        "1e308", "1e-320", "nan", "0.5",        "18446744073709551616"};
  std::vector<std::string> pieces = pieces_of(text, ends);
  const std::size_t from = random() % pieces.size(), to = random() % pieces.size();
  const unsigned choice = random() % 5;
  if (choice == 2)
    pieces[from] = numbers[random() % std::size(numbers)] +
                   (pieces[from].empty() ? std::string() : pieces[from].substr(pieces[from].size() - 1));
  else
    move_piece(pieces, from, to, choice);
  return joined(pieces);
}

inline std::size_t mutate_text(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  const unsigned choice = random() % 8;
  if (choice < 2 || size == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned i = 0; i <= random() % 3; ++i)
    text = changed_pieces(text, choice < 5 ? "\n" : " ,:[]{}\n", random);
  if (text.size() > max_size) text.resize(max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // namespace warptime::fuzzing

extern "C" inline std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                      std::size_t max_size, unsigned seed) {
  return warptime::fuzzing::mutate_text(data, size, max_size, seed);
}
