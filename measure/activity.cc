#include "measure/activity.h"

#include <cupti.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "measure/driver.h"

namespace warptime::measuring {
namespace {

struct Cupti {
  Library library{{"libcupti.so.13", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
                   "/usr/local/cuda/lib64/libcupti.so.13", "libcupti.so",
                   "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so"}};
#define WARPTIME_CUPTI_FUNCTIONS(X) \
  X(cuptiGetVersion)                \
  X(cuptiActivityRegisterCallbacks) \
  X(cuptiActivityEnable)            \
  X(cuptiActivityDisable)           \
  X(cuptiActivityFlushAll)          \
  X(cuptiActivityGetNextRecord) X(cuptiActivityGetNumDroppedRecords) X(cuptiGetResultString)
#define WARPTIME_DECLARE(name) decltype(&::name) name##_ = nullptr;
  WARPTIME_CUPTI_FUNCTIONS(WARPTIME_DECLARE)
#undef WARPTIME_DECLARE
  bool complete = true;
  Cupti() {
#define WARPTIME_FIND(name) complete = library.find(#name, name##_) && complete;
    WARPTIME_CUPTI_FUNCTIONS(WARPTIME_FIND)
#undef WARPTIME_FIND
  }
  void check(CUptiResult code, const std::string& what) const {
    if (code == CUPTI_SUCCESS) return;
    const char* text = nullptr;
    cuptiGetResultString_(code, &text);
    throw DeviceError("CUPTI, " + what + ": " + (text != nullptr ? text : "unknown error"));
  }
};

const Cupti& cupti() {
  static const Cupti cupti;
  return cupti;
}

// Filled by CUPTI's own thread.
std::mutex records_mutex;
std::vector<KernelRecord> finished_kernels;
std::size_t dropped = 0;

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBufferAlignment = 8;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  const std::lock_guard lock(records_mutex);
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 &&
         cupti().cuptiActivityGetNextRecord_(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    finished_kernels.push_back({kernel->start, kernel->end});
  }
  std::size_t lost = 0;
  if (cupti().cuptiActivityGetNumDroppedRecords_(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  std::free(buffer);
}

}  // namespace

CuptiActivity& CuptiActivity::get() {
  static CuptiActivity activity;
  return activity;
}

CuptiActivity::CuptiActivity() {
  if (!cupti().library.open()) {
    problem_ =
        "libcupti is not on this machine: it comes with the CUDA Toolkit (--what plan does without it)";
  } else if (!cupti().complete || cupti().cuptiGetVersion_(&version_) != CUPTI_SUCCESS) {
    problem_ = "this libcupti lacks functions that `measure` needs";
  } else if (version_ < CUPTI_API_VERSION / 10000 * 10000) {
    problem_ = "this libcupti (" + version() + ") is older than the one warptime was built with";
  } else if (cupti().cuptiActivityRegisterCallbacks_(give_buffer, take_buffer) != CUPTI_SUCCESS) {
    problem_ = "CUPTI accepts no callbacks: is another profiler running?";
  }
}

std::string CuptiActivity::version() const {
  return std::to_string(version_ / 10000) + "." + std::to_string(version_ / 100 % 100) + "." +
         std::to_string(version_ % 100);
}

void CuptiActivity::begin() {
  if (!problem_.empty()) throw DeviceError(problem_);
  {
    const std::lock_guard lock(records_mutex);
    finished_kernels.clear();
    dropped = 0;
  }
  cupti().check(cupti().cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "activity records");
}

std::vector<KernelRecord> CuptiActivity::end() {
  cupti().check(cupti().cuptiActivityFlushAll_(0), "the activity records");
  cupti().check(cupti().cuptiActivityDisable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "activity records");
  const std::lock_guard lock(records_mutex);
  if (dropped > 0) throw DeviceError("CUPTI dropped " + std::to_string(dropped) + " activity records");
  std::sort(finished_kernels.begin(), finished_kernels.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return std::move(finished_kernels);
}

}  // namespace warptime::measuring
