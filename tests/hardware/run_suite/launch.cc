// Launches one kernel of a cubin on the GPU, by the driver's API, and prints its buffers:
//   launch FILE.cubin KERNEL GRID BLOCK SHARED_BYTES NAME=VALUE...
// VALUE is a number, or zeros:TYPE:COUNT, iota:TYPE:COUNT (0, 1, 2, …), uninit:TYPE:COUNT; in the order of the
// kernel's parameters. A line for each buffer: its name and numbers. Exit status 1: "error: NAME" of CUDA's.
// The driver's library is loaded by name, so that the program builds where there is none.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

template <class F>
F* driver_function(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  auto* found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    std::printf("error: no %s in libcuda.so.1\n", name);
    std::exit(1);
  }
  return reinterpret_cast<F*>(found);
}
#define DRIVER_NAME(name) #name
#define DRIVER(name) driver_function<decltype(name)>(DRIVER_NAME(name))

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "CUDA_ERROR_UNKNOWN";
  DRIVER(cuGetErrorName)(result, &name);
  std::printf("error: %s (%s)\n", name, what);
  std::fflush(stdout);
  std::_Exit(1);
}

struct Parameter {
  std::string name, type;
  std::size_t count = 0;
  CUdeviceptr value = 0;  // a buffer's address, or a number
  std::size_t element() const { return type == "u64" || type == "f64" ? 8 : 4; }
};

std::vector<unsigned char> contents(const Parameter& parameter, bool counts) {
  std::vector<unsigned char> bytes(parameter.count * parameter.element());
  for (std::size_t i = 0; counts && i < parameter.count; ++i) {
    const auto u32 = static_cast<std::uint32_t>(i);
    const auto u64 = static_cast<std::uint64_t>(i);
    const auto f32 = static_cast<float>(i);
    const auto f64 = static_cast<double>(i);
    const void* from = parameter.type == "u32"   ? static_cast<const void*>(&u32)
                       : parameter.type == "u64" ? static_cast<const void*>(&u64)
                       : parameter.type == "f32" ? static_cast<const void*>(&f32)
                                                 : static_cast<const void*>(&f64);
    std::memcpy(&bytes[i * parameter.element()], from, parameter.element());
  }
  return bytes;
}

Parameter read_parameter(const std::string& text) {
  Parameter parameter;
  const auto equals = text.find('=');
  parameter.name = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  const auto colon = value.find(':');
  if (colon == std::string::npos) {
    parameter.value = std::strtoull(value.c_str(), nullptr, 0);
    return parameter;
  }
  const auto kind = value.substr(0, colon);
  const auto second = value.find(':', colon + 1);
  parameter.type = value.substr(colon + 1, second - colon - 1);
  parameter.count = std::strtoull(value.c_str() + second + 1, nullptr, 10);
  check(DRIVER(cuMemAlloc_v2)(&parameter.value, parameter.count * parameter.element()), "cuMemAlloc");
  if (kind == "uninit") return parameter;
  const auto bytes = contents(parameter, kind == "iota");
  check(DRIVER(cuMemcpyHtoD_v2)(parameter.value, bytes.data(), bytes.size()), "cuMemcpyHtoD");
  return parameter;
}

void print(const Parameter& parameter) {
  std::vector<unsigned char> bytes(parameter.count * parameter.element());
  check(DRIVER(cuMemcpyDtoH_v2)(bytes.data(), parameter.value, bytes.size()), "cuMemcpyDtoH");
  std::printf("%s", parameter.name.c_str());
  for (std::size_t i = 0; i < parameter.count; ++i) {
    const auto* at = &bytes[i * parameter.element()];
    std::uint32_t u32 = 0;
    std::uint64_t u64 = 0;
    float f32 = 0;
    double f64 = 0;
    std::memcpy(&u32, at, 4);
    std::memcpy(&f32, at, 4);
    if (parameter.element() == 8) std::memcpy(&u64, at, 8), std::memcpy(&f64, at, 8);
    if (parameter.type == "f32")
      std::printf(" %.9g", static_cast<double>(f32));
    else if (parameter.type == "f64")
      std::printf(" %.17g", f64);
    else
      std::printf(" %llu", parameter.element() == 8 ? static_cast<unsigned long long>(u64) : u32);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::printf("launch FILE.cubin KERNEL GRID BLOCK SHARED_BYTES NAME=VALUE...\n");
    return 2;
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  check(DRIVER(cuInit)(0), "cuInit");
  check(DRIVER(cuDeviceGet)(&device, 0), "cuDeviceGet");
  check(DRIVER(cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
  check(DRIVER(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
  check(DRIVER(cuModuleLoad)(&module, argv[1]), "cuModuleLoad");
  check(DRIVER(cuModuleGetFunction)(&kernel, module, argv[2]), "cuModuleGetFunction");
  std::vector<Parameter> parameters;
  for (int i = 6; i < argc; ++i) parameters.push_back(read_parameter(argv[i]));
  std::vector<void*> values;
  for (auto& parameter : parameters) values.push_back(&parameter.value);
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
  check(DRIVER(cuLaunchKernel)(kernel, number(3), 1, 1, number(4), 1, 1, number(5), nullptr, values.data(),
                               nullptr),
        "cuLaunchKernel");
  check(DRIVER(cuCtxSynchronize)(), "cuCtxSynchronize");
  for (const auto& parameter : parameters)
    if (parameter.count != 0) print(parameter);
  return 0;
}
