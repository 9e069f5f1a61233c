// Where warptime is built without a CUDA Toolkit.
#include "measure/session.h"

namespace warptime::measuring {

std::string_view to_string(What what) {
  return what == What::kernels ? "kernels" : "plan";
}

Result<std::unique_ptr<Session>> Session::open() {
  return error("this warptime was built without a CUDA Toolkit and cannot measure",
               "build it on a machine that has cuda.h and cupti.h (docs/measuring.md)");
}

}  // namespace warptime::measuring
