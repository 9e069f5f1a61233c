#include "dwt_kernels/reference/cpu_dwt_team.h"

#include "dwt_kernels/reference/cpu_dwt.h"
#include "dwt_kernels/reference/lattice.h"

namespace warptime::reference {
namespace {

// Where part `part` of `parts` begins, of a step of `count` values: even.
int begin_of(int part, int parts, int count) {
  return static_cast<int>(static_cast<long long>(count / 2) * part / parts) * 2;
}

std::vector<float> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::string name_of(CpuVariant variant) {
  switch (variant) {
    case CpuVariant::m2_ww_ref:
      return "cpu_dwt_m2_ww_ref";
    case CpuVariant::m2_nw:
      return "cpu_dwt_m2_nw";
    case CpuVariant::l2_ww:
      return "cpu_dwt_l2_ww";
    case CpuVariant::l2_nw:
      break;
  }
  return "cpu_dwt_l2_nw";
}

Team::Team(int threads) : start_(threads), end_(threads), between_steps_(threads) {
  for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { work(thread); });
}

Team::~Team() {
  job_ = nullptr;
  start_.arrive_and_wait();
  for (std::thread& worker : workers_) worker.join();
}

void Team::run(const std::function<void(int)>& job) {
  job_ = &job;
  start_.arrive_and_wait();
  job(0);
  end_.arrive_and_wait();
}

void Team::work(int thread) {
  for (;;) {
    start_.arrive_and_wait();
    if (job_ == nullptr) return;
    (*job_)(thread);
    end_.arrive_and_wait();
  }
}

Result<CpuDwt> CpuDwt::make(CpuVariant variant, const Filters& filters, int N) {
  CpuDwt made;
  made.variant_ = variant;
  made.K_ = static_cast<int>(filters.low.size());
  made.N_ = N;
  Filters signed_filters{filters.low, quadrature_mirror(filters.low)};
  for (double& tap : signed_filters.high) tap = -tap;
  made.hp_ = narrowed(signed_filters.low);
  made.gp_ = narrowed(signed_filters.high);
  if (variant == CpuVariant::l2_ww || variant == CpuVariant::l2_nw) {
    const auto factors = factorise_tangents(signed_filters);
    if (!factors) return factors.diagnostics();
    made.wtg_ = narrowed(*factors);
  }
  made.y_.resize(static_cast<std::size_t>(N) + filters.low.size());
  return made;
}

void CpuDwt::forward(float* x, Team* team) {
  if (team == nullptr || team->threads() == 1) {
    sequential(x);
    return;
  }
  first_.resize(static_cast<std::size_t>(team->threads()));
  team->run([&](int thread) { part(x, *team, thread); });
}

void CpuDwt::sequential(float* x) {
  switch (variant_) {
    case CpuVariant::m2_ww_ref:
      return cpu_dwt_m2_ww_ref(K_, N_, x, y_.data(), hp_.data(), gp_.data());
    case CpuVariant::m2_nw:
      return cpu_dwt_m2_nw(K_, N_, x, y_.data(), hp_.data(), gp_.data());
    case CpuVariant::l2_ww:
      return cpu_dwt_l2_ww(K_, N_, x, y_.data(), wtg_.data());
    case CpuVariant::l2_nw:
      return cpu_dwt_l2_nw(K_, N_, x, y_.data(), wtg_.data());
  }
}

void CpuDwt::part(float* x, Team& team, int thread) {
  const int from = begin_of(thread, team.threads(), N_), to = begin_of(thread + 1, team.threads(), N_);
  float* y = y_.data();
  copy_pairs(from, to, x, y);
  if (thread == team.threads() - 1)
    for (int k = 0; k < K_ - 2; k++) y[k + N_] = x[k];
  team.wait();
  const auto last = static_cast<std::size_t>(K_ / 2 - 1);
  switch (variant_) {
    case CpuVariant::m2_ww_ref:
      return m2_ww_outputs(K_, N_, from, to, x, y, hp_.data(), gp_.data());
    case CpuVariant::m2_nw:
      return m2_nw_outputs(K_, N_, from, to, x, y, hp_.data(), gp_.data());
    case CpuVariant::l2_ww:
      lattice_ww_stages(team, thread, from, to);
      return l2_outputs(wtg_[last], wtg_[last + 1], N_, 0, from, to, x, y);
    case CpuVariant::l2_nw:
      lattice_nw_stages(team, thread);
      return l2_outputs(wtg_[last], wtg_[last + 1], N_, K_ / 2 - 1, from, to, x, y);
  }
}

void CpuDwt::lattice_ww_stages(Team& team, int thread, int from, int to) {
  for (std::size_t k = 0; k + 2 < wtg_.size(); ++k) {
    first_[static_cast<std::size_t>(thread)] = l2_ww_stage(wtg_[k], from, to, y_.data());
    team.wait();
    y_[static_cast<std::size_t>(to) - 1] = first_[static_cast<std::size_t>((thread + 1) % team.threads())];
    team.wait();
  }
}

void CpuDwt::lattice_nw_stages(Team& team, int thread) {
  for (int k = 0; k < K_ / 2 - 1; ++k) {
    const int values = N_ + K_ - 2 - 2 * k;
    l2_nw_stage(wtg_[static_cast<std::size_t>(k)], k + begin_of(thread, team.threads(), values),
                k + begin_of(thread + 1, team.threads(), values), y_.data());
    team.wait();
  }
}

}  // namespace warptime::reference
