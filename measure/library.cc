#include "measure/library.h"

#include <dlfcn.h>

namespace warptime::measuring {

Library::Library(const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (handle_ == nullptr) handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

void* Library::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace warptime::measuring
