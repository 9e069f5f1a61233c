#include "tests/kernels/gpu.h"

#include <dlfcn.h>

#include <memory>
#include <stdexcept>

namespace warptime::kernels {
namespace {

// The driver's interface, as far as it is used here: CUDA Driver API, cuda.h. Handles are pointers, device
// addresses 64-bit numbers.
struct Driver {
  using Code = int;
  Code (*init)(unsigned) = nullptr;
  Code (*device_count)(int*) = nullptr;
  Code (*device)(int*, int) = nullptr;
  Code (*retain_context)(void**, int) = nullptr;
  Code (*set_context)(void*) = nullptr;
  Code (*load_module)(void**, const void*) = nullptr;
  Code (*unload_module)(void*) = nullptr;
  Code (*function)(void**, void*, const char*) = nullptr;
  Code (*global)(std::uint64_t*, std::size_t*, void*, const char*) = nullptr;
  Code (*allocate)(std::uint64_t*, std::size_t) = nullptr;
  Code (*release)(std::uint64_t) = nullptr;
  Code (*to_device)(std::uint64_t, const void*, std::size_t) = nullptr;
  Code (*from_device)(void*, std::uint64_t, std::size_t) = nullptr;
  Code (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                 void**) = nullptr;
  Code (*synchronize)() = nullptr;
  Code (*error_text)(Code, const char**) = nullptr;
  bool usable = false;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Driver open_driver() {
  Driver driver;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return driver;
  const bool complete =
      find(library, "cuInit", driver.init) && find(library, "cuDeviceGetCount", driver.device_count) &&
      find(library, "cuDeviceGet", driver.device) &&
      find(library, "cuDevicePrimaryCtxRetain", driver.retain_context) &&
      find(library, "cuCtxSetCurrent", driver.set_context) &&
      find(library, "cuModuleLoadData", driver.load_module) &&
      find(library, "cuModuleUnload", driver.unload_module) &&
      find(library, "cuModuleGetFunction", driver.function) &&
      find(library, "cuModuleGetGlobal_v2", driver.global) &&
      find(library, "cuMemAlloc_v2", driver.allocate) && find(library, "cuMemFree_v2", driver.release) &&
      find(library, "cuMemcpyHtoD_v2", driver.to_device) &&
      find(library, "cuMemcpyDtoH_v2", driver.from_device) &&
      find(library, "cuLaunchKernel", driver.launch) &&
      find(library, "cuCtxSynchronize", driver.synchronize) &&
      find(library, "cuGetErrorString", driver.error_text);
  int devices = 0, device = 0;
  void* context = nullptr;
  driver.usable = complete && driver.init(0) == 0 && driver.device_count(&devices) == 0 && devices > 0 &&
                  driver.device(&device, 0) == 0 && driver.retain_context(&context, device) == 0 &&
                  driver.set_context(context) == 0;
  return driver;
}

const Driver& driver() {
  static const Driver driver = open_driver();
  return driver;
}

void check(Driver::Code code, const char* what) {
  if (code == 0) return;
  const char* text = nullptr;
  driver().error_text(code, &text);
  throw std::runtime_error(std::string(what) + ": " + (text != nullptr ? text : "unknown error"));
}

// Released at the end of its scope.
struct Module {
  void* handle = nullptr;
  explicit Module(const std::string& ptx) { check(driver().load_module(&handle, ptx.c_str()), "the module"); }
  ~Module() { driver().unload_module(handle); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
};

struct DeviceMemory {
  std::uint64_t address = 0;
  explicit DeviceMemory(const std::vector<std::byte>& contents) {
    check(driver().allocate(&address, contents.empty() ? 1 : contents.size()), "memory");
    check(driver().to_device(address, contents.data(), contents.size()), "copying to the device");
  }
  ~DeviceMemory() { driver().release(address); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
};

void run(GpuLaunch& launch) {
  const Module module(launch.ptx);
  void* function = nullptr;
  check(driver().function(&function, module.handle, launch.symbol.c_str()), "the kernel");
  for (const auto& [name, contents] : launch.variables) {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    check(driver().global(&address, &bytes, module.handle, name.c_str()), "a module variable");
    check(driver().to_device(address, contents.data(), contents.size()), "copying to a module variable");
  }
  std::vector<std::unique_ptr<DeviceMemory>> memory;
  for (const auto& buffer : launch.buffers) memory.push_back(std::make_unique<DeviceMemory>(buffer));
  std::vector<std::uint64_t> pointers(launch.arguments.size());
  std::vector<void*> arguments;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    auto& argument = launch.arguments[i];
    if (argument.scalar.empty()) {
      pointers[i] = memory[argument.buffer]->address + argument.offset;
      arguments.push_back(&pointers[i]);
    } else {
      arguments.push_back(argument.scalar.data());
    }
  }
  check(driver().launch(function, launch.blocks, 1, 1, launch.threads, 1, 1, 0, nullptr, arguments.data(),
                        nullptr),
        "the launch");
  check(driver().synchronize(), "the kernel's execution");
  for (std::size_t i = 0; i < memory.size(); ++i)
    check(driver().from_device(launch.buffers[i].data(), memory[i]->address, launch.buffers[i].size()),
          "copying from the device");
}

}  // namespace

bool gpu_here() {
  return driver().usable;
}

std::string run_on_gpu(GpuLaunch& launch) {
  if (!gpu_here()) return "no GPU on this machine";
  try {
    run(launch);
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace warptime::kernels
