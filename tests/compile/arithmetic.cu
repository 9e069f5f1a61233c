// Arithmetic of every kind, for which different targets might get different instructions.
__global__ void arithmetic(int* i, unsigned* u, short* s, unsigned char* c, long long* l, float* f, double* d) {
  const int t = threadIdx.x;
  i[t] = i[t] * i[t + 1] + i[t + 2] / i[t + 3] % 7 - (i[t] >> 3);
  u[t] = (u[t] << 5 | u[t] >> 27) ^ u[t + 1] / 10u;
  u[t + 32] = (u[t] << (t & 31)) | (u[t + 1] >> (32 - (t & 31)));
  s[t] = min(s[t] * s[t + 1], s[t + 2]);
  c[t] = c[t] + c[t + 1] > 200 ? c[t] : c[t + 1];
  l[t] = l[t] * l[t + 1] + l[t + 2] / 3 + (l[t] << 7 | static_cast<unsigned long long>(l[t]) >> 57);
  f[t] = f[t] / f[t + 1] + sqrtf(f[t]) + fminf(f[t], floorf(f[t + 2])) + fabsf(f[t]) + i[t];
  d[t] = d[t] / d[t + 1] + sqrt(d[t]) + fmax(d[t], ceil(d[t + 2])) + f[t];
  u[t + 64] = __popc(u[t]) + __clz(i[t]) + __brev(u[t + 1]) + __umulhi(u[t], u[t + 2]) + max(u[t], u[t + 1]) + abs(i[t]);
}
