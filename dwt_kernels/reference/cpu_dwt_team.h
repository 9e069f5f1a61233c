// The four sequential implementations of cpu_dwt.h by several threads: each step is divided among them, and all
// wait for each other between two steps. The results are the same, to the last bit.
#pragma once

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "dwt_kernels/reference/filters.h"
#include "simulator/base/diagnostic.h"

namespace warptime::reference {

enum class CpuVariant { m2_ww_ref, m2_nw, l2_ww, l2_nw };
inline constexpr CpuVariant kCpuVariants[] = {CpuVariant::m2_ww_ref, CpuVariant::m2_nw, CpuVariant::l2_ww,
                                              CpuVariant::l2_nw};
std::string name_of(CpuVariant variant);  // cpu_dwt_m2_ww_ref, …

// Threads that stay, and do one job after the other. The one that calls is one of them.
class Team {
 public:
  explicit Team(int threads);  // at least 1
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Calls the job once in each thread, with its number from 0 on, and returns when all are done.
  void run(const std::function<void(int thread)>& job);
  // In a job: waits until all threads are here.
  void wait() { between_steps_.arrive_and_wait(); }

 private:
  void work(int thread);

  std::barrier<> start_, end_, between_steps_;
  const std::function<void(int)>* job_ = nullptr;  // none: the threads are to end
  std::vector<std::thread> workers_;
};

class CpuDwt {
 public:
  // Of N values, even and not fewer than the filters' taps and twice the threads. The high-pass filter is
  // -quadrature_mirror(low), for all four; the error is factorise_tangents's, of the two lattice variants.
  static Result<CpuDwt> make(CpuVariant variant, const Filters& filters, int N);
  // x: N values, the signal before and the coefficients after: low band, then high band. Without a team, or
  // with a team of one, the functions of cpu_dwt.h as they are.
  void forward(float* x, Team* team = nullptr);

 private:
  CpuDwt() = default;
  void sequential(float* x);
  void part(float* x, Team& team, int thread);
  void lattice_ww_stages(Team& team, int thread, int from, int to);
  void lattice_nw_stages(Team& team, int thread);

  CpuVariant variant_ = CpuVariant::m2_ww_ref;
  int K_ = 0, N_ = 0;
  std::vector<float> hp_, gp_, wtg_, y_, first_;  // first_: of each thread, what its part's stage gave
};

}  // namespace warptime::reference
