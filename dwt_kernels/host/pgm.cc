#include "dwt_kernels/host/pgm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace warptime::host {
namespace {

// The next number of the heading, whatever comments stand before it; 0: there is none.
std::size_t heading_number(std::istream& in) {
  while (in >> std::ws && in.peek() == '#') in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  std::size_t number = 0;
  return in >> number ? number : 0;
}

Diagnostics written(std::ofstream& out, const std::string& path) {
  out.close();
  if (!out) return {error(fmt::format("{}: cannot be written", path))};
  return {};
}

}  // namespace

Result<Graymap> read_graymap(const std::string& path) {
  constexpr std::size_t kMostSide = 1 << 15;
  std::ifstream in(path, std::ios::binary);
  if (!in) return error(fmt::format("{}: cannot be read", path));
  std::string kind(2, ' ');
  in.read(kind.data(), 2);
  if (kind != "P5") return error(fmt::format("{}: no binary graymap: it does not begin with P5", path));
  Graymap frame;
  frame.columns = heading_number(in);
  frame.rows = heading_number(in);
  const std::size_t largest = heading_number(in);
  if (frame.columns == 0 || frame.rows == 0 || frame.columns > kMostSide || frame.rows > kMostSide)
    return error(fmt::format("{}: width and height must be 1 to {}", path, kMostSide));
  if (largest == 0 || largest > 255) return error(fmt::format("{}: the largest gray must be 1 to 255", path));
  in.get();  // one blank
  frame.pixels.resize(frame.rows * frame.columns);
  in.read(reinterpret_cast<char*>(frame.pixels.data()), static_cast<std::streamsize>(frame.pixels.size()));
  if (static_cast<std::size_t>(in.gcount()) != frame.pixels.size())
    return error(fmt::format("{}: ends after {} of {} pixels", path, in.gcount(), frame.pixels.size()));
  return frame;
}

Diagnostics write_graymap(const std::string& path, const Graymap& frame) {
  std::ofstream out(path, std::ios::binary);
  out << fmt::format("P5\n{} {}\n255\n", frame.columns, frame.rows);
  out.write(reinterpret_cast<const char*>(frame.pixels.data()),
            static_cast<std::streamsize>(frame.pixels.size()));
  return written(out, path);
}

Diagnostics write_coefficients(const std::string& path, const float* values, std::size_t rows,
                               std::size_t columns, std::size_t pitch) {
  std::string bytes;
  bytes.reserve(2 * rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const float scaled = std::clamp(32768 + 16 * values[r * pitch + c], 0.0F, 65535.0F);
      const auto gray = static_cast<unsigned>(std::lround(scaled));
      bytes += static_cast<char>(gray >> 8);
      bytes += static_cast<char>(gray & 255);
    }
  std::ofstream out(path, std::ios::binary);
  out << fmt::format("P5\n{} {}\n65535\n", columns, rows);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return written(out, path);
}

std::string numbered(const std::string& pattern, std::size_t number) {
  const std::size_t at = pattern.find('%');
  if (at == std::string::npos || pattern.find('%', at + 1) != std::string::npos) return {};
  std::size_t width = 0, end = at + 1;
  if (end + 1 < pattern.size() && pattern[end] == '0' && pattern[end + 1] >= '1' && pattern[end + 1] <= '9') {
    width = static_cast<std::size_t>(pattern[end + 1] - '0');
    end += 2;
  }
  if (end >= pattern.size() || pattern[end] != 'd') return {};
  return fmt::format("{}{:0{}}{}", pattern.substr(0, at), number, width, pattern.substr(end + 1));
}

}  // namespace warptime::host
