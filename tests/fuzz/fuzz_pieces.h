// What all fuzzers share: what must hold, and texts that are taken apart into pieces, which move.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::fuzzing {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// The pieces end behind each of `ends`.
inline std::vector<std::string> pieces_of(const std::string& text, std::string_view ends) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    pieces.back() += c;
    if (ends.find(c) != std::string_view::npos) pieces.emplace_back();
  }
  return pieces;
}

inline std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

// Exchanges two pieces (0), leaves one out (1), or copies it to another place.
inline void move_piece(std::vector<std::string>& pieces, std::size_t from, std::size_t to, unsigned choice) {
  if (choice == 0) {
    pieces[from].swap(pieces[to]);
  } else if (choice == 1) {
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(from));
  } else {
    const std::string copy = pieces[from];
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(to), copy);
  }
}

}  // namespace warptime::fuzzing
