#include "simulator/sm/request_coalescing.h"

#include <algorithm>
#include <vector>

namespace warptime {
namespace {

constexpr std::int64_t kMostJoined = 4;  // requests
constexpr std::int64_t kAccessesOfAllSms = 30'000;
// Of a read's latency, the part that it is not under way behind the unit.
constexpr double kBeforeUnit = 190;

// How much of what could be joined is, by the lines that an instruction asks for: the more there are, the less
// their requests come side by side (fits data/development).
double joined_of(int lines) {
  if (lines <= 1) return 1;
  if (lines <= 2) return 0.9;
  return lines <= 4 ? 0.5 : 0.2;
}

}  // namespace

std::int64_t sms_with_joined_reads(const Gpu& gpu) {
  constexpr std::int64_t sms_of_gpc = 16;
  return gpu.compute_capability.major >= 9 ? std::min<std::int64_t>(sms_of_gpc, gpu.sms) : 1;
}

double share_of_joined_reads(const LaunchTrace& launch, const SmFigures& figures, const SmOptions& options,
                             std::int64_t sms_together) {
  // A grid of fewer blocks than SMs is spread over the GPCs evenly.
  const std::int64_t gpcs = std::max<std::int64_t>(options.sms / sms_together, 1);
  const std::int64_t together = std::min(sms_together, (launch.blocks() + gpcs - 1) / gpcs);
  if (together < 2) return 1;
  std::vector<L2Read> reads;
  SmOptions one = options;
  one.keep_reads = true;
  one.most_accesses = kAccessesOfAllSms / together;
  const std::int64_t first =
      std::clamp<std::int64_t>(options.sm / together * together, 0,
                               std::max<std::int64_t>(std::min(launch.blocks(), options.sms) - together, 0));
  for (one.sm = first; one.sm < first + together; ++one.sm) {
    const SmRun run = run_sm(launch, figures, one);
    reads.insert(reads.end(), run.reads.begin(), run.reads.end());
  }
  std::sort(reads.begin(), reads.end(), [](const L2Read& a, const L2Read& b) {
    return a.key != b.key ? a.key < b.key : a.time < b.time;
  });
  double all = 0, joined = 0;
  std::int64_t with_first = 0;
  const L2Read* under_way = nullptr;
  for (const L2Read& read : reads) {
    all += read.sectors;
    if (under_way != nullptr && under_way->key == read.key && with_first < kMostJoined &&
        read.time < under_way->time + under_way->latency - kBeforeUnit) {
      ++with_first;
      joined += joined_of(read.lines) * read.sectors;
    } else {
      under_way = &read;
      with_first = 1;
    }
  }
  return all > 0 ? 1 - joined / all : 1;
}

}  // namespace warptime
