// The coefficients of dwt_kernels/ltt.cu for a wavelet, and its transform of eight numbers by the lattice.
#include <cstdio>

#include "dwt_kernels/reference/filters.h"
#include "dwt_kernels/reference/lattice.h"

int main(int count, char** arguments) {
  namespace wavelets = warptime::reference;
  const char* const name = count > 1 ? arguments[1] : "haar";
  const auto lattice = wavelets::factorise(wavelets::wavelet(name));
  if (!lattice) return std::fputs(to_text(lattice.diagnostics()).c_str(), stderr), 1;
  std::printf("%s:", name);
  for (const float one : wavelets::ltt_coefficients(*lattice)) std::printf(" %g", static_cast<double>(one));
  std::printf("\n");
  for (const double one : wavelets::lattice_forward({1, 2, 3, 4, 5, 6, 7, 8}, *lattice))
    std::printf("%g ", one);
  std::printf("\n");
}
