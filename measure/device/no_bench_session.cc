// Where warptime is built without a CUDA Toolkit.
#include "measure/device/bench_session.h"

namespace warptime::measuring {

Result<std::unique_ptr<BenchSession>> BenchSession::open() {
  return Session::open().diagnostics();
}

}  // namespace warptime::measuring
