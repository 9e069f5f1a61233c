// Times the four CPU variants of K. Stokfiszewski, K. Wieloch, M. Yatsymirskyy, An efficient implementation of
// one-dimensional discrete wavelet transform algorithms for GPU architectures (2022), section 4.1, Figures 7 to 9.
//
//   cpu_dwt --variant m2_nw,l2_nw --wavelet db2,db4,db6 --size 2^8,2^20 --threads 1,2 --repetitions 100
//
// Writes a CSV: variant, wavelet, K, N, threads, repetitions, time_ms (mean of the repetitions, as in the paper),
// median_ms, min_ms. Each transform is first compared with the definition in double precision: exit status 1, and why, where
// it differs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "dwt_kernels/host/program.h"
#include "dwt_kernels/reference/cpu_dwt_team.h"
#include "dwt_kernels/reference/matrix.h"

namespace {

using namespace warptime::reference;
using warptime::host::usage_error;

constexpr double kFloat = 5e-6;  // of the largest coefficient

struct Case {
  CpuVariant variant;
  std::string wavelet;
  int N, threads, repetitions;
};

std::vector<float> signal_of(int N) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> signal(static_cast<std::size_t>(N));
  for (float& value : signal) value = values(random);
  return signal;
}

// The largest difference from the definition, as a share of the largest coefficient.
double difference(const std::vector<float>& signal, const std::vector<float>& got, Filters filters) {
  for (double& tap : filters.high) tap = -tap;
  const Signal wanted = split(matrix_forward({signal.begin(), signal.end()}, filters));
  double largest = 0, off = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    off = std::max(off, std::abs(static_cast<double>(got[i]) - wanted[i]));
  }
  return off / largest;
}

struct Times {
  double mean_ms, median_ms, min_ms;
};

// Every transform begins with the same signal; copying it is not in the time.
Times timed(CpuDwt& transform, Team& team, const std::vector<float>& signal, int repetitions) {
  std::vector<double> times;
  std::vector<float> x;
  for (int i = 0; i < repetitions + 2; ++i) {  // two to warm up
    x = signal;
    const double begin = warptime::host::now_ms();
    transform.forward(x.data(), &team);
    if (i >= 2) times.push_back(warptime::host::now_ms() - begin);
  }
  std::sort(times.begin(), times.end());
  return {std::accumulate(times.begin(), times.end(), 0.0) / repetitions, times[times.size() / 2], times[0]};
}

int measure(const Case& one) {
  const Filters filters = wavelet(one.wavelet);
  const int K = static_cast<int>(filters.low.size());
  if (K == 0) return usage_error("--wavelet: no filters of the name " + one.wavelet);
  if (one.N % 2 != 0 || one.N < K || one.N < 2 * one.threads)
    return usage_error("--size: an even number, at least the filter's taps and twice the threads");
  auto transform = CpuDwt::make(one.variant, filters, one.N);
  if (!transform) return usage_error(one.wavelet + ": " + to_text(transform.diagnostics()));
  Team team(one.threads);
  const std::vector<float> signal = signal_of(one.N);
  std::vector<float> x = signal;
  transform->forward(x.data(), &team);
  if (const double off = difference(signal, x, filters); !(off <= kFloat)) {
    std::fprintf(stderr, "error: %s, %s, N = %d, %d threads: off by %g of the largest coefficient\n",
                 name_of(one.variant).c_str(), one.wavelet.c_str(), one.N, one.threads, off);
    return 1;
  }
  const Times times = timed(*transform, team, signal, one.repetitions);
  std::printf("%s,%s,%d,%d,%d,%d,%.4g,%.4g,%.4g\n", name_of(one.variant).c_str(), one.wavelet.c_str(), K,
              one.N, one.threads, one.repetitions, times.mean_ms, times.median_ms, times.min_ms);
  std::fflush(stdout);
  return 0;
}

// m2_nw or cpu_dwt_m2_nw; all.
std::vector<CpuVariant> variants_of(const std::string& text) {
  std::vector<CpuVariant> variants;
  for (const std::string& word : warptime::host::words_of(text)) {
    const auto before = variants.size();
    for (const CpuVariant variant : kCpuVariants)
      if (word == "all" || word == name_of(variant) || "cpu_dwt_" + word == name_of(variant))
        variants.push_back(variant);
    if (variants.size() == before) return {};
  }
  return variants;
}

int program(const cxxopts::ParseResult& options) {
  const auto variants = variants_of(options["variant"].as<std::string>());
  if (variants.empty()) return usage_error("--variant: of m2_ww_ref, m2_nw, l2_ww, l2_nw, or all");
  const auto sizes = warptime::host::sizes_of(options["size"].as<std::string>());
  if (!sizes) return usage_error("--size: sizes like 1024 or 2^10, separated by commas");
  const auto threads = warptime::host::sizes_of(options["threads"].as<std::string>());
  if (!threads || std::ranges::any_of(*threads, [](int count) { return count < 1 || count > 1024; }))
    return usage_error("--threads: 1 to 1024");
  const int repetitions = options["repetitions"].as<int>();
  if (repetitions < 1) return usage_error("--repetitions: at least 1");
  std::puts("variant,wavelet,K,N,threads,repetitions,time_ms,median_ms,min_ms");
  for (const std::string& wavelet : warptime::host::words_of(options["wavelet"].as<std::string>()))
    for (const int N : *sizes)
      for (const int count : *threads)
        for (const CpuVariant variant : variants)
          if (const int status = measure({variant, wavelet, N, count, repetitions}); status != 0)
            return status;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("cpu_dwt", "Times the CPU variants of Stokfiszewski et al. (2022), as a CSV.");
  const auto text = [](const char* by_default) {
    return cxxopts::value<std::string>()->default_value(by_default);
  };
  options.add_options()("variant", "m2_ww_ref, m2_nw, l2_ww, l2_nw, several with commas, or all",
                        text("all"))("wavelet", "haar, db1 to db7, sym4 to sym10, coif1 to coif5",
                                     text("db4"))(
      "n,size", "Values of the signal: 1024 or 2^10, several with commas", text("2^20"))(
      "threads", "Threads that share each step, several numbers with commas", text("1"))(
      "repetitions", "Timed transforms", cxxopts::value<int>()->default_value("100"));
  return warptime::host::run_program(options, argc, argv, program);
}
