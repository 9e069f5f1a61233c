// How fast copies between the host's pinned memory and the GPU's are. They belong to the bus and the host as much as to
// the GPU: there is no default, and none is borrowed from another GPU. In a GPU's file:
//
//   copies:
//     to_device_gb_s: 55.5             # 10^9 bytes per second
//     to_host_gb_s: 55.4
//     latency_us: 4.3                  # of a copy of no bytes
//     both_ways: 0.91                  # optional: the part of its rate that a copy has while another runs the other way
//     source: "…"
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace warptime {

namespace yaml {
class Reader;
struct Node;
}  // namespace yaml

struct CopyFigures {
  double to_device_gb_s = 0;
  double to_host_gb_s = 0;
  double latency_us = 0;
  double both_ways = 1;
  friend bool operator==(const CopyFigures&, const CopyFigures&) = default;

  // Microseconds of a copy with nothing beside it: latency_us + bytes / rate.
  double to_device_us(double bytes) const { return latency_us + bytes / (to_device_gb_s * 1e3); }
  double to_host_us(double bytes) const { return latency_us + bytes / (to_host_gb_s * 1e3); }
};

// One of the figures: its name in the section and its range, `least` itself only where it is allowed.
struct CopyFigure {
  std::string_view name;  // the source of all is Gpu::sources["copies"]
  std::string_view unit;  // GB/s, µs; empty: none
  double least = 0, most = 0;
  bool may_be_least = false, required = true;
  double CopyFigures::*member = nullptr;
};
std::span<const CopyFigure> copy_figures();
// Why such a value is wrong, as a sentence; empty if it is not.
std::string out_of_range(const CopyFigure& figure, double value);

// Reads the section of a GPU's file. Nothing on an error, which goes to `reader`; the source goes to `sources` as
// "copies". Errors: a missing or unknown field, no source, a figure out of range.
std::optional<CopyFigures> read_copy_figures(yaml::Reader& reader, const yaml::Node& section,
                                             std::map<std::string, std::string>& sources);

}  // namespace warptime
