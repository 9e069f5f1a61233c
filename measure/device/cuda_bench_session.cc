// The micro-benchmarks' session, through the driver's interface.
#include <map>

#include "measure/activity.h"
#include "measure/device/bench_session.h"
#include "measure/device/kernels.h"
#include "measure/device_context.h"

namespace warptime::measuring {
namespace {

class CudaBenchSession : public BenchSession {
 public:
  CudaBenchSession() : module_(microbenchmark_ptx(), "the micro-benchmarks") {}

  const DeviceInfo& device() const override { return context_.info(); }
  std::optional<double> clock_mhz() override { return context_.telemetry().sm_clock_mhz(); }

  std::uint64_t allocate(std::uint64_t bytes) override {
    buffers_.push_back(std::make_unique<DeviceBuffer>(bytes));
    const auto address = buffers_.back()->address();
    cuda_.check(cuda_.cuMemsetD8_(address, 0, bytes), "clearing memory");
    synchronize("clearing memory");
    return address;
  }
  void release() override { buffers_.clear(); }
  void write(std::uint64_t address, std::span<const std::byte> bytes) override {
    cuda_.check(cuda_.cuMemcpyHtoD_(address, bytes.data(), bytes.size()), "writing memory");
  }
  void read(std::uint64_t address, std::span<std::byte> bytes) override {
    cuda_.check(cuda_.cuMemcpyDtoH_(bytes.data(), address, bytes.size()), "reading memory");
  }

  void run(const BenchLaunch& launch) override {
    start(launch, 1);
    synchronize(launch.kernel.c_str());
  }

  double time_us(const BenchLaunch& launch, int launches) override {
    const Event begin, end;
    cuda_.check(cuda_.cuEventRecord_(begin.get(), context_.stream()), "an event");
    start(launch, launches);
    cuda_.check(cuda_.cuEventRecord_(end.get(), context_.stream()), "an event");
    cuda_.check(cuda_.cuEventSynchronize_(end.get()), launch.kernel);
    float milliseconds = 0;
    cuda_.check(cuda_.cuEventElapsedTime_(&milliseconds, begin.get(), end.get()), "the events");
    return 1000.0 * static_cast<double>(milliseconds);
  }

  std::optional<std::vector<KernelSpan>> spans(const BenchLaunch& launch, int launches,
                                               bool wait_for_each) override {
    auto& activity = CuptiActivity::get();
    if (!activity.problem().empty()) return std::nullopt;
    activity.begin();
    for (int i = 0; i < launches; ++i) {
      start(launch, 1);
      if (wait_for_each) synchronize(launch.kernel.c_str());
    }
    synchronize(launch.kernel.c_str());
    std::vector<KernelSpan> spans;
    const auto records = activity.end();
    for (const auto& record : records)
      spans.push_back({static_cast<double>(record.start_ns - records.front().start_ns) / 1000,
                       static_cast<double>(record.end_ns - records.front().start_ns) / 1000});
    return spans;
  }

 private:
  void start(const BenchLaunch& launch, int launches) {
    auto& function = functions_[launch.kernel];
    if (function == nullptr) function = module_.function(launch.kernel);
    auto values = launch.arguments;
    std::vector<void*> pointers;
    for (auto& value : values) pointers.push_back(&value);
    for (int i = 0; i < launches; ++i)
      cuda_.check(cuda_.cuLaunchKernel_(function, static_cast<unsigned>(launch.blocks), 1, 1,
                                        static_cast<unsigned>(launch.threads), 1, 1, 0, context_.stream(),
                                        pointers.data(), nullptr),
                  launch.kernel);
  }

  void synchronize(const char* what) const { cuda_.check(cuda_.cuCtxSynchronize_(), what); }

  const Driver& cuda_ = Driver::get();
  DeviceContext context_;
  DeviceModule module_;
  std::map<std::string, CUfunction> functions_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
};

}  // namespace

Result<std::unique_ptr<BenchSession>> BenchSession::open() {
  if (auto wrong = check_device(); !wrong.empty()) return wrong;
  try {
    return std::unique_ptr<BenchSession>(std::make_unique<CudaBenchSession>());
  } catch (const DeviceError& failure) {
    return error(failure.what());
  }
}

}  // namespace warptime::measuring
