// The session on a GPU, through the driver's interface.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "measure/activity.h"
#include "measure/device_context.h"
#include "measure/driver.h"
#include "measure/session.h"

namespace warptime::measuring {

std::string_view to_string(What what) {
  return what == What::kernels ? "kernels" : "plan";
}

namespace {

// A GPU that was idle takes its time to raise its clocks.
constexpr auto kFirstWarmUp = std::chrono::milliseconds(300);

// A launch as the driver takes it: `values` are what `pointers` points to.
struct ReadyLaunch {
  CUfunction function = nullptr;
  GridAndBlock shape;
  unsigned shared_bytes = 0;
  std::vector<std::uint64_t> values;
  std::vector<void*> pointers;
};

class CudaSession : public Session {
 public:
  const DeviceInfo& device() const override { return context_.info(); }

  Diagnostics load(const PlanKernels& kernels) override {
    return guarded([&] {
      kernels_ = &kernels;
      launches_.clear();
      modules_.clear();
      for (const auto& module : kernels.modules())
        modules_.push_back(std::make_unique<DeviceModule>(module->source.ptx, module->file));
    });
  }

  Diagnostics prepare(const BoundPlan& bound, const Arrays& contents) override {
    return guarded([&] {
      launches_.clear();
      buffers_.clear();
      bound_ = &bound;
      check_memory(bound);
      for (std::size_t i = 0; i < bound.arrays.size(); ++i) add_array(bound.arrays[i], contents[i]);
      for (const auto& launch : bound.launches) launches_.push_back(ready(launch));
      synchronize("filling the arrays");
    });
  }

  Result<Arrays> run_once() override {
    Arrays arrays;
    auto wrong = guarded([&] {
      run();
      synchronize("running the plan");
      for (std::size_t i = 0; i < bound_->arrays.size(); ++i) arrays.push_back(download(i));
    });
    if (!wrong.empty()) return wrong;
    return arrays;
  }

  Result<Times> time(What what, int warm_ups, int repetitions) override {
    Times times;
    auto wrong = guarded([&] {
      warm_up(warm_ups);
      times.microseconds = what == What::kernels ? time_kernels(repetitions) : time_plan(repetitions);
      times.clock_mhz = context_.telemetry().sm_clock_mhz();
      times.temperature_c = context_.telemetry().temperature_c();
    });
    if (!wrong.empty()) return wrong;
    return times;
  }

 private:
  template <class Do>
  static Diagnostics guarded(const Do& something) {
    try {
      something();
      return {};
    } catch (const DeviceError& failure) {
      return {error(failure.what())};
    }
  }

  void check_memory(const BoundPlan& bound) const {
    std::size_t free = 0, total = 0;
    const auto& cuda = Driver::get();
    cuda.check(cuda.cuMemGetInfo_(&free, &total), "the GPU's memory");
    if (bound.bytes() > free)
      throw DeviceError(fmt::format("the arrays take {} MiB, and the GPU has {} MiB free",
                                    bound.bytes() >> 20, free >> 20));
  }

  void add_array(const BoundArray& array, const std::vector<std::byte>& contents) {
    const auto& cuda = Driver::get();
    for (const auto module : array.variables_of) {
      const auto [address, bytes] = modules_[module]->variable(array.of->name);
      if (address == 0) continue;
      if (bytes < contents.size())
        throw DeviceError(fmt::format("the variable {} has {} bytes, the array {}", array.of->name, bytes,
                                      contents.size()));
      cuda.check(cuda.cuMemcpyHtoD_(address, contents.data(), contents.size()), "filling a variable");
    }
    // A variable's contents need none; an array of a launch that is left out is compared like the others.
    const bool buffer = array.pointed_to || array.variables_of.empty();
    buffers_.push_back(buffer ? std::make_unique<DeviceBuffer>(contents.size()) : nullptr);
    if (buffer && !contents.empty())
      cuda.check(cuda.cuMemcpyHtoD_(buffers_.back()->address(), contents.data(), contents.size()),
                 "filling an array");
  }

  std::vector<std::byte> download(std::size_t array) const {
    std::vector<std::byte> bytes(bound_->arrays[array].bytes());
    const auto& cuda = Driver::get();
    if (buffers_[array]) {
      if (!bytes.empty())
        cuda.check(cuda.cuMemcpyDtoH_(bytes.data(), buffers_[array]->address(), bytes.size()),
                   "reading an array");
      return bytes;
    }
    for (const auto module : bound_->arrays[array].variables_of) {
      const auto [address, size] = modules_[module]->variable(bound_->arrays[array].of->name);
      if (address != 0)
        cuda.check(cuda.cuMemcpyDtoH_(bytes.data(), address, std::min(size, bytes.size())),
                   "reading a variable");
    }
    return bytes;
  }

  ReadyLaunch ready(const BoundLaunch& launch) const {
    const auto& kernel = kernels_->kernel(launch.kernel);
    ReadyLaunch one;
    one.function = modules_[launch.kernel.module]->function(kernel.symbol);
    one.shape = launch.shape;
    one.shared_bytes = static_cast<unsigned>(launch.shared_bytes);
    allow_shared(one);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      one.values.push_back(bits_of(kernel.parameters[i], launch.arguments[i]));
    for (auto& value : one.values) one.pointers.push_back(&value);
    return one;
  }

  // What exceeds the limit of every GPU has to be opted into.
  static void allow_shared(const ReadyLaunch& launch) {
    constexpr unsigned kWithoutOptIn = 48 * 1024;
    if (launch.shared_bytes <= kWithoutOptIn) return;
    const auto& cuda = Driver::get();
    cuda.check(cuda.cuFuncSetAttribute_(launch.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(launch.shared_bytes)),
               fmt::format("{} bytes of dynamic shared memory", launch.shared_bytes));
  }

  std::uint64_t bits_of(const KernelParameter& parameter, const ArgumentValue& value) const {
    if (const auto* pointer = std::get_if<ArrayPointer>(&value))
      return buffers_[pointer->array]->address() +
             pointer->first * bytes_of(bound_->arrays[pointer->array].of->type);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<std::uint64_t>(*whole);
    const double real = std::get<double>(value);
    if (parameter.bytes == 8) return std::bit_cast<std::uint64_t>(real);
    return std::bit_cast<std::uint32_t>(static_cast<float>(real));
  }

  void run() {
    const auto& cuda = Driver::get();
    for (auto& launch : launches_) {
      const auto size = [](std::int64_t of) { return static_cast<unsigned>(of); };
      const auto& [grid, block] = launch.shape;
      const auto code = cuda.cuLaunchKernel_(launch.function, size(grid.x), size(grid.y), size(grid.z),
                                             size(block.x), size(block.y), size(block.z), launch.shared_bytes,
                                             context_.stream(), launch.pointers.data(), nullptr);
      if (code != CUDA_SUCCESS)
        cuda.check(code,
                   fmt::format("a launch of {} blocks of {} threads", to_string(grid), to_string(block)));
    }
  }

  void synchronize(const char* what) const { Driver::get().check(Driver::get().cuCtxSynchronize_(), what); }

  void warm_up(int runs) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    do {
      for (int i = 0; i < runs; ++i) run();
      synchronize("warming up");
    } while (!warm_ && Clock::now() - begin < kFirstWarmUp);
    warm_ = true;
  }

  std::vector<double> time_kernels(int repetitions) {
    CuptiActivity::get().begin();
    for (int i = 0; i < repetitions; ++i) {
      run();
      synchronize("running the plan");
    }
    const auto records = CuptiActivity::get().end();
    const auto each = launches_.size();
    if (records.size() != each * static_cast<std::size_t>(repetitions))
      throw DeviceError(fmt::format("CUPTI has records of {} kernels, but {} ran", records.size(),
                                    each * static_cast<std::size_t>(repetitions)));
    std::vector<double> microseconds;
    for (std::size_t first = 0; first < records.size(); first += each) {
      std::uint64_t sum = 0;
      for (std::size_t i = first; i < first + each; ++i) sum += records[i].end_ns - records[i].start_ns;
      microseconds.push_back(static_cast<double>(sum) / 1000);
    }
    return microseconds;
  }

  std::vector<double> time_plan(int repetitions) {
    const auto& cuda = Driver::get();
    const Event begin, end;
    std::vector<double> microseconds;
    for (int i = 0; i < repetitions; ++i) {
      cuda.check(cuda.cuEventRecord_(begin.get(), context_.stream()), "an event");
      run();
      cuda.check(cuda.cuEventRecord_(end.get(), context_.stream()), "an event");
      cuda.check(cuda.cuEventSynchronize_(end.get()), "running the plan");
      float milliseconds = 0;
      cuda.check(cuda.cuEventElapsedTime_(&milliseconds, begin.get(), end.get()), "the events");
      microseconds.push_back(1000.0 * static_cast<double>(milliseconds));
    }
    return microseconds;
  }

  DeviceContext context_;
  const PlanKernels* kernels_ = nullptr;
  const BoundPlan* bound_ = nullptr;
  std::vector<std::unique_ptr<DeviceModule>> modules_;
  std::vector<std::unique_ptr<DeviceBuffer>>
      buffers_;  // of each array; null: only a variable has its contents
  std::vector<ReadyLaunch> launches_;
  bool warm_ = false;
};

}  // namespace

Result<std::unique_ptr<Session>> Session::open() {
  if (auto wrong = check_device(); !wrong.empty()) return wrong;
  try {
    return std::unique_ptr<Session>(std::make_unique<CudaSession>());
  } catch (const DeviceError& failure) {
    return error(failure.what());
  }
}

}  // namespace warptime::measuring
