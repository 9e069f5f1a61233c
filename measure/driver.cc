#include "measure/driver.h"

#include <array>
#include <vector>

namespace warptime::measuring {

#define WARPTIME_TEXT(name) #name
#define WARPTIME_SYMBOL(name) WARPTIME_TEXT(name)  // cuMemAlloc is cuMemAlloc_v2 by a macro

Driver::Driver() {
#define WARPTIME_FIND(name) \
  if (!library.find(WARPTIME_SYMBOL(name), name##_) && missing.empty()) missing = WARPTIME_SYMBOL(name);
  WARPTIME_DRIVER_FUNCTIONS(WARPTIME_FIND)
#undef WARPTIME_FIND
}

const Driver& Driver::get() {
  static const Driver driver;
  return driver;
}

void Driver::check(CUresult code, const std::string& what) const {
  if (code == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString_(code, &text);
  throw DeviceError(what + ": " + (text != nullptr ? text : "unknown error"));
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) {
  const auto& driver = Driver::get();
  driver.check(driver.cuMemAlloc_(&address_, bytes == 0 ? 1 : bytes),
               "allocating " + std::to_string(bytes) + " bytes on the GPU");
}
DeviceBuffer::~DeviceBuffer() {
  Driver::get().cuMemFree_(address_);
}

Event::Event() {
  Driver::get().check(Driver::get().cuEventCreate_(&event_, CU_EVENT_DEFAULT), "an event");
}
Event::~Event() {
  Driver::get().cuEventDestroy_(event_);
}

DeviceModule::DeviceModule(const std::string& ptx, const std::string& file) {
  const auto& driver = Driver::get();
  std::vector<char> log(1 << 14);
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  const auto code =
      driver.cuModuleLoadDataEx_(&module_, ptx.c_str(), options.size(), options.data(), values.data());
  const std::string said = log.data();
  driver.check(code, "the driver rejects the PTX of " + file + (said.empty() ? "" : " (" + said + ")"));
}
DeviceModule::~DeviceModule() {
  Driver::get().cuModuleUnload_(module_);
}

CUfunction DeviceModule::function(const std::string& symbol) const {
  CUfunction function = nullptr;
  Driver::get().check(Driver::get().cuModuleGetFunction_(&function, module_, symbol.c_str()),
                      "the kernel " + symbol);
  return function;
}

std::pair<CUdeviceptr, std::size_t> DeviceModule::variable(const std::string& name) const {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  const auto code = Driver::get().cuModuleGetGlobal_(&address, &bytes, module_, name.c_str());
  if (code == CUDA_ERROR_NOT_FOUND) return {0, 0};
  Driver::get().check(code, "the variable " + name);
  return {address, bytes};
}

}  // namespace warptime::measuring
