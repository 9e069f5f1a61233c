// Shared libraries that may be on this machine: opened at run time, so that warptime starts without them.
#pragma once

#include <string>
#include <vector>

namespace warptime::measuring {

class Library {
 public:
  // The first of `names` that opens; none: open() is false. Stays open until the process ends.
  explicit Library(const std::vector<std::string>& names);
  bool open() const { return handle_ != nullptr; }
  // False, and `function` null, where the library has no function of this name.
  template <class Function>
  bool find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(symbol(name));
    return function != nullptr;
  }

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;
};

}  // namespace warptime::measuring
