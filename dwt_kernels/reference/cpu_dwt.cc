// The listings lost some characters on their way to text; `k += 2` and the like are restored.
#include "dwt_kernels/reference/cpu_dwt.h"

namespace warptime::reference {

void cpu_dwt_m2_ww_ref(int K, int N, float* x, float* y, const float* hp, const float* gp) {
  for (int k = 0; k < N; k += 2) {
    y[k] = x[k];
    y[k + 1] = x[k + 1];
  }
  const int Nd2 = N / 2;
  for (int i1 = 0, i = 0; i < N; i += 2, i1++) {
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

void cpu_dwt_m2_nw(int K, int N, float* x, float* y, const float* hp, const float* gp) {
  for (int k = 0; k < N; k += 2) {
    y[k] = x[k];
    y[k + 1] = x[k + 1];
  }
  for (int k = 0; k < K - 2; k++) y[k + N] = y[k];
  const int Nd2 = N / 2;
  for (int i1 = 0, i = 0; i < N; i += 2, i1++) {
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

void cpu_dwt_l2_ww(int K, int N, float* x, float* y, const float* wtg) {
  int ind = 0;
  for (int i = 0; i < N; i += 2) {
    y[i] = x[i];
    y[i + 1] = x[i + 1];
  }
  for (int k = 0; k < K / 2 - 1; k++) {
    const float a = wtg[ind++];
    const float t = y[0] + a * y[1];
    y[0] = a * y[0] - y[1];
    for (int i = 2; i < N - 1; i += 2) {
      y[i - 1] = y[i] + a * y[i + 1];
      y[i] = a * y[i] - y[i + 1];
    }
    y[N - 1] = t;
  }
  const float a = wtg[ind++], psi = wtg[ind];
  const int Nd2 = N / 2;
  for (int i1 = 0, i = 0; i < N; i += 2, i1++) {
    x[i1] = (a * y[i] - y[i + 1]) * psi;
    x[i1 + Nd2] = (y[i] + a * y[i + 1]) * psi;
  }
}

void cpu_dwt_l2_nw(int K, int N, float* x, float* y, const float* wtg) {
  int ind = 0;
  const int K21 = K / 2 - 1, NK2 = N + K - 2;
  for (int i = 0; i < N; i += 2) {
    y[i] = x[i];
    y[i + 1] = x[i + 1];
  }
  for (int k = 0; k < K - 2; k++) y[k + N] = y[k];
  for (int k = 0; k < K21; k++) {
    const float a = wtg[ind++];
    for (int i = k; i < NK2 - k; i += 2) {
      const float t = y[i] + a * y[i + 1];
      y[i + 1] = a * y[i] - y[i + 1];
      y[i] = t;
    }
  }
  const float a = wtg[ind++], psi = wtg[ind];
  const int Nd2 = N / 2;
  for (int i1 = 0, i = K21; i < N + K21; i += 2, i1++) {
    x[i1] = (a * y[i] - y[i + 1]) * psi;
    x[i1 + Nd2] = (y[i] + a * y[i + 1]) * psi;
  }
}

}  // namespace warptime::reference
