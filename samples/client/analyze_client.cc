// The kernel program of a CUDA kernel, with warptime's analyzer: no CUDA Toolkit, no GPU.
#include <cstdio>

#include "analyzer/compile/compile.h"
#include "analyzer/pipeline.h"

int main() {
  const char* const code =
      "__global__ void scale(float* x, int n) { for (int i = 0; i < n; ++i) x[i * 32 + threadIdx.x] *= 2; }";
  auto source = warptime::compile_cuda("scale.cu", code, {});
  if (!source) return std::fputs(to_text(source.diagnostics()).c_str(), stderr), 1;
  const auto analysis = warptime::analyze(std::move(*source), {});
  if (!analysis) return std::fputs(to_text(analysis.diagnostics()).c_str(), stderr), 1;
  std::fputs(to_yaml(analysis->kernels.front().program).c_str(), stdout);
}
