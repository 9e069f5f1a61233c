// Where warptime is built without a CUDA Toolkit.
#include "measure/session.h"

namespace warptime::measuring {

std::string_view to_string(What what) {
  return what == What::kernels ? "kernels" : "plan";
}

Result<std::unique_ptr<Session>> Session::open() {
  return error("this warptime was built without a CUDA Toolkit, and cannot measure",
               "build it where cuda.h and cupti.h are (docs/measuring.md)");
}

}  // namespace warptime::measuring
