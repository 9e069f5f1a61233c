// The listings lost some characters on their way to text; `k += 2` and the like are restored.
#include "dwt_kernels/reference/cpu_dwt.h"

namespace warptime::reference {

void copy_pairs(int from, int to, const float* x, float* y) {
  for (int k = from; k < to; k += 2) {
    y[k] = x[k];
    y[k + 1] = x[k + 1];
  }
}

void m2_ww_outputs(int K, int N, int from, int to, float* x, const float* y, const float* hp,
                   const float* gp) {
  const int Nd2 = N / 2;
  for (int i1 = from / 2, i = from; i < to; i += 2, i1++) {
    float t1 = y[i] * hp[0] + y[i + 1] * hp[1];
    float t2 = y[i] * gp[0] + y[i + 1] * gp[1];
    for (int k = 2; k < K; k += 2) {
      const int j = (i + k) % N;
      t1 += y[j] * hp[k] + y[j + 1] * hp[k + 1];
      t2 += y[j] * gp[k] + y[j + 1] * gp[k + 1];
    }
    x[i1] = t1;
    x[i1 + Nd2] = t2;
  }
}

void m2_nw_outputs(int K, int N, int from, int to, float* x, const float* y, const float* hp,
                   const float* gp) {
  const int Nd2 = N / 2;
  for (int i1 = from / 2, i = from; i < to; i += 2, i1++) {
    float t1 = y[i] * hp[0] + y[i + 1] * hp[1];
    float t2 = y[i] * gp[0] + y[i + 1] * gp[1];
    for (int k = 2; k < K; k += 2) {
      t1 += y[i + k] * hp[k] + y[i + k + 1] * hp[k + 1];
      t2 += y[i + k] * gp[k] + y[i + k + 1] * gp[k + 1];
    }
    x[i1] = t1;
    x[i1 + Nd2] = t2;
  }
}

float l2_ww_stage(float a, int from, int to, float* y) {
  const float t = y[from] + a * y[from + 1];
  y[from] = a * y[from] - y[from + 1];
  for (int i = from + 2; i < to - 1; i += 2) {
    y[i - 1] = y[i] + a * y[i + 1];
    y[i] = a * y[i] - y[i + 1];
  }
  return t;
}

void l2_nw_stage(float a, int from, int to, float* y) {
  for (int i = from; i < to; i += 2) {
    const float t = y[i] + a * y[i + 1];
    y[i + 1] = a * y[i] - y[i + 1];
    y[i] = t;
  }
}

void l2_outputs(float a, float psi, int N, int first, int from, int to, float* x, const float* y) {
  const int Nd2 = N / 2;
  for (int i1 = from / 2, i = first + from; i < first + to; i += 2, i1++) {
    x[i1] = (a * y[i] - y[i + 1]) * psi;
    x[i1 + Nd2] = (y[i] + a * y[i + 1]) * psi;
  }
}

void cpu_dwt_m2_ww_ref(int K, int N, float* x, float* y, const float* hp, const float* gp) {
  copy_pairs(0, N, x, y);
  m2_ww_outputs(K, N, 0, N, x, y, hp, gp);
}

void cpu_dwt_m2_nw(int K, int N, float* x, float* y, const float* hp, const float* gp) {
  copy_pairs(0, N, x, y);
  for (int k = 0; k < K - 2; k++) y[k + N] = y[k];
  m2_nw_outputs(K, N, 0, N, x, y, hp, gp);
}

void cpu_dwt_l2_ww(int K, int N, float* x, float* y, const float* wtg) {
  copy_pairs(0, N, x, y);
  for (int k = 0; k < K / 2 - 1; k++) y[N - 1] = l2_ww_stage(wtg[k], 0, N, y);
  l2_outputs(wtg[K / 2 - 1], wtg[K / 2], N, 0, 0, N, x, y);
}

void cpu_dwt_l2_nw(int K, int N, float* x, float* y, const float* wtg) {
  const int K21 = K / 2 - 1, NK2 = N + K - 2;
  copy_pairs(0, N, x, y);
  for (int k = 0; k < K - 2; k++) y[k + N] = y[k];
  for (int k = 0; k < K21; k++) l2_nw_stage(wtg[k], k, NK2 - k, y);
  l2_outputs(wtg[K21], wtg[K21 + 1], N, K21, 0, N, x, y);
}

}  // namespace warptime::reference
