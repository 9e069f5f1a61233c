// Complex 3 x 3 matrices on the links of a lattice of n x n x n x n sites; n is even and at most 32.
#include "device.h"

template <class T>
struct Pair;
template <>
struct Pair<float> {
  using type = float2;
};
template <>
struct Pair<double> {
  using type = double2;
};

template <class T>
struct Matrix {
  T re[9], im[9];
};

struct Link {
  double2 e[9];
};

template <class T>
__device__ inline Matrix<T> times(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c;
#pragma unroll
  for (int i = 0; i < 3; ++i)
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      T re = 0, im = 0;
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        re += a.re[3 * i + k] * b.re[3 * k + j] - a.im[3 * i + k] * b.im[3 * k + j];
        im += a.re[3 * i + k] * b.im[3 * k + j] + a.im[3 * i + k] * b.re[3 * k + j];
      }
      c.re[3 * i + j] = re;
      c.im[3 * i + j] = im;
    }
  return c;
}

template <class T>
__device__ inline Matrix<T> adjoint(const Matrix<T>& a) {
  Matrix<T> c;
#pragma unroll
  for (int i = 0; i < 3; ++i)
#pragma unroll
    for (int j = 0; j < 3; ++j) {
      c.re[3 * i + j] = a.re[3 * j + i];
      c.im[3 * i + j] = -a.im[3 * j + i];
    }
  return c;
}

// Links as planes: direction, then element, then site.
__device__ inline Matrix<float> load_plane(const float2* links, int mu, int site, int sites) {
  Matrix<float> m;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float2 v = links[(mu * 9 + k) * sites + site];
    m.re[k] = v.x;
    m.im[k] = v.y;
  }
  return m;
}

__device__ inline Matrix<double> load_link(const Link& link) {
  Matrix<double> m;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const double2 v = link.e[k];
    m.re[k] = v.x;
    m.im[k] = v.y;
  }
  return m;
}

// The site one step away in a direction, the lattice being periodic.
__device__ inline int forward(int site, int mu, int n) {
  const int stride = mu == 0 ? 1 : mu == 1 ? n : mu == 2 ? n * n : n * n * n;
  return site / stride % n == n - 1 ? site - (n - 1) * stride : site + stride;
}

__device__ inline int backward(int site, int mu, int n) {
  const int stride = mu == 0 ? 1 : mu == 1 ? n : mu == 2 ? n * n : n * n * n;
  return site / stride % n == 0 ? site + (n - 1) * stride : site - stride;
}

// The sum of the real traces of the six plaquettes at each site, single precision.
__global__ void __launch_bounds__(128)
    plaquettes(const float2* __restrict__ links, float* sums, int n, int sites) {
  const int site = blockIdx.x * blockDim.x + threadIdx.x;
  if (site >= sites) return;
  float sum = 0;
#pragma unroll 1
  for (int mu = 0; mu < 3; ++mu) {
    const int ahead = forward(site, mu, n);
    const Matrix<float> first = load_plane(links, mu, site, sites);
#pragma unroll 1
    for (int nu = mu + 1; nu < 4; ++nu) {
      const Matrix<float> a = times(first, load_plane(links, nu, ahead, sites));
      const Matrix<float> b =
          times(load_plane(links, nu, site, sites), load_plane(links, mu, forward(site, nu, n), sites));
#pragma unroll
      for (int k = 0; k < 9; ++k) sum += a.re[k] * b.re[k] + a.im[k] * b.im[k];
    }
  }
  sums[site] = sum / 18;
}

// The sum of the six staples around each link of one direction, double precision, links as structures.
__global__ void __launch_bounds__(64) staples(const Link* links, Link* out, int mu, int n, int sites) {
  const int site = blockIdx.x * blockDim.x + threadIdx.x;
  if (site >= sites) return;
  Matrix<double> sum;
  for (int k = 0; k < 9; ++k) sum.re[k] = sum.im[k] = 0;
  const int ahead = forward(site, mu, n);
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    const Matrix<double> up =
        times(load_link(links[ahead * 4 + nu]), adjoint(load_link(links[forward(site, nu, n) * 4 + mu])));
    const Matrix<double> upper = times(up, adjoint(load_link(links[site * 4 + nu])));
    const int below = backward(site, nu, n);
    const Matrix<double> down =
        times(load_link(links[below * 4 + mu]), load_link(links[backward(ahead, nu, n) * 4 + nu]));
    const Matrix<double> lower = times(adjoint(down), load_link(links[below * 4 + nu]));
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      sum.re[k] += upper.re[k] + lower.re[k];
      sum.im[k] += upper.im[k] + lower.im[k];
    }
  }
#pragma unroll
  for (int k = 0; k < 9; ++k) out[site].e[k] = make_double2(sum.re[k], sum.im[k]);
}

// The product of `length` links one after the other along x, the links of four lines of sites in shared memory.
__global__ void line_products(const float2* links, float2* traces, int length, int n, int sites) {
  __shared__ float2 line[4][9][32];
  const int x = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  const int site = row * n + x;
  const bool own = x < n && site < sites;
  if (own)
    for (int k = 0; k < 9; ++k) line[threadIdx.y][k][x] = links[k * sites + site];
  __syncthreads();
  if (!own) return;
  Matrix<float> product;
  for (int k = 0; k < 9; ++k) {
    product.re[k] = line[threadIdx.y][k][x].x;
    product.im[k] = line[threadIdx.y][k][x].y;
  }
  int at = x;
  for (int step = 1; step < length; ++step) {
    if (++at == n) at = 0;
    Matrix<float> next;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      const float2 v = line[threadIdx.y][k][at];
      next.re[k] = v.x;
      next.im[k] = v.y;
    }
    product = times(product, next);
  }
  traces[site] = make_float2(product.re[0] + product.re[4] + product.re[8],
                             product.im[0] + product.im[4] + product.im[8]);
}

// Each matrix back to the group: two rows made orthonormal, the third from their cross product; nine float2 in a row.
__global__ void reunitarise(const float2* in, float2* out, int matrices) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= matrices) return;
  float2 a[3], b[3];
  for (int k = 0; k < 3; ++k) {
    a[k] = in[i * 9 + k];
    b[k] = in[i * 9 + 3 + k];
  }
  float norm = 0;
  for (int k = 0; k < 3; ++k) norm += a[k].x * a[k].x + a[k].y * a[k].y;
  norm = rsqrtf(norm);
  float re = 0, im = 0;
  for (int k = 0; k < 3; ++k) {
    a[k].x *= norm;
    a[k].y *= norm;
    re += a[k].x * b[k].x + a[k].y * b[k].y;
    im += a[k].x * b[k].y - a[k].y * b[k].x;
  }
  norm = 0;
  for (int k = 0; k < 3; ++k) {
    b[k].x -= re * a[k].x - im * a[k].y;
    b[k].y -= re * a[k].y + im * a[k].x;
    norm += b[k].x * b[k].x + b[k].y * b[k].y;
  }
  norm = rsqrtf(norm);
  for (int k = 0; k < 3; ++k) {
    b[k].x *= norm;
    b[k].y *= norm;
  }
  for (int k = 0; k < 3; ++k) {
    const int p = (k + 1) % 3, q = (k + 2) % 3;
    out[i * 9 + k] = a[k];
    out[i * 9 + 3 + k] = b[k];
    out[i * 9 + 6 + k] =
        make_float2(a[p].x * b[q].x - a[p].y * b[q].y - a[q].x * b[p].x + a[q].y * b[p].y,
                    -(a[p].x * b[q].y + a[p].y * b[q].x - a[q].x * b[p].y - a[q].y * b[p].x));
  }
}

// The traceless antihermitian part of link times staple, as eight numbers that are added to the link's momentum.
__global__ void kick_momenta(const Link* links, const Link* staples, double* momenta, double step, int mu,
                             int sites) {
  const int site = blockIdx.x * blockDim.x + threadIdx.x;
  if (site >= sites) return;
  const Matrix<double> m = times(load_link(links[site * 4 + mu]), load_link(staples[site]));
  double* p = momenta + site;
  p[0] += step * (m.im[1] + m.im[3]);
  p[sites] += step * (m.re[1] - m.re[3]);
  p[2 * sites] += step * (m.im[0] - m.im[4]);
  p[3 * sites] += step * (m.im[2] + m.im[6]);
  p[4 * sites] += step * (m.re[2] - m.re[6]);
  p[5 * sites] += step * (m.im[5] + m.im[7]);
  p[6 * sites] += step * (m.re[5] - m.re[7]);
  p[7 * sites] += step * 0.5773502691896258 * (m.im[0] + m.im[4] - 2 * m.im[8]);
}

// The exponential of a matrix of the algebra by a series of `terms` terms, times a link; planes for each element.
template <class T>
__global__ void __launch_bounds__(128)
    exponentiate(const T* __restrict__ momenta, const typename Pair<T>::type* __restrict__ links,
                 typename Pair<T>::type* __restrict__ out, T step, int terms, int sites) {
  const int site = blockIdx.x * blockDim.x + threadIdx.x;
  if (site >= sites) return;
  T p[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) p[k] = step * momenta[k * sites + site];
  const T eighth = p[7] * (T)0.5773502691896258;
  Matrix<T> q, e;
  q.re[0] = q.re[4] = q.re[8] = 0;
  q.im[0] = p[2] + eighth;
  q.im[4] = eighth - p[2];
  q.im[8] = -2 * eighth;
  q.re[1] = p[1];
  q.re[3] = -p[1];
  q.im[1] = q.im[3] = p[0];
  q.re[2] = p[4];
  q.re[6] = -p[4];
  q.im[2] = q.im[6] = p[3];
  q.re[5] = p[6];
  q.re[7] = -p[6];
  q.im[5] = q.im[7] = p[5];
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    e.re[k] = k % 4 == 0 ? 1 : 0;
    e.im[k] = 0;
  }
  for (int term = terms; term > 0; --term) {
    const T inverse = (T)1 / term;
    e = times(q, e);
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      e.re[k] = e.re[k] * inverse + (k % 4 == 0 ? 1 : 0);
      e.im[k] *= inverse;
    }
  }
  Matrix<T> u;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    u.re[k] = links[k * sites + site].x;
    u.im[k] = links[k * sites + site].y;
  }
  e = times(e, u);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    out[k * sites + site].x = e.re[k];
    out[k * sites + site].y = e.im[k];
  }
}

// The staggered hopping term on the sites of one colour: eight links times vectors of the neighbours from a table.
__global__ void staggered_hop(const float2* __restrict__ links, const float2* __restrict__ vectors,
                              const int* __restrict__ neighbours, const int* __restrict__ list, float2* out,
                              int n, int count, int sites) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int site = __ldg(list + i);
  float2 sum[3] = {{0, 0}, {0, 0}, {0, 0}};
  int phases = 0;
  for (int mu = 0; mu < 4; ++mu) {
    const float sign = phases & 1 ? -1.0f : 1.0f;
    const int ahead = __ldg(neighbours + mu * sites + site),
              behind = __ldg(neighbours + (mu + 4) * sites + site);
    float2 v[3], w[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      v[c] = __ldg(vectors + c * sites + ahead);
      w[c] = __ldg(vectors + c * sites + behind);
    }
#pragma unroll
    for (int r = 0; r < 3; ++r)
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const float2 u = __ldg(links + (mu * 9 + 3 * r + c) * sites + site);
        sum[r].x += sign * (u.x * v[c].x - u.y * v[c].y);
        sum[r].y += sign * (u.x * v[c].y + u.y * v[c].x);
        const float2 d = __ldg(links + (mu * 9 + 3 * c + r) * sites + behind);
        sum[r].x -= sign * (d.x * w[c].x + d.y * w[c].y);
        sum[r].y -= sign * (d.x * w[c].y - d.y * w[c].x);
      }
    const int stride = mu == 0 ? 1 : mu == 1 ? n : n * n;
    phases += site / stride % n;
  }
  for (int r = 0; r < 3; ++r) out[r * sites + site] = sum[r];
}

// The sum of the real traces of all links, double precision: only the diagonals are read, far from each other.
__global__ void sum_traces(const Link* links, double* total, int count) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += links[i].e[0].x + links[i].e[4].x + links[i].e[8].x;
  for (int s = 16; s > 0; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
  __shared__ double part[16];
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 16; ++w) sum += part[w];
    atomicAdd(total, sum);
  }
}

// An element of a matrix near to one: component 0 to 17, real and imaginary in turn.
double element(int component, int i) {
  const double noise = ((static_cast<unsigned>(i) * 2654435761u >> 9) % 1000u) / 5000.0 - 0.1;
  return component % 8 == 0 ? 0.95 + noise / 4 : noise;
}

int neighbour(int i, int direction, int sites, int n) {
  const int site = i % sites, mu = direction % 4;
  const int stride = mu == 0 ? 1 : mu == 1 ? n : mu == 2 ? n * n : n * n * n;
  const int place = site / stride % n, next = (place + (direction < 4 ? 1 : n - 1)) % n;
  return site + (next - place) * stride;
}

void run(int n) {
  const int sites = n * n * n * n;
  float* planes = device_array<float>(
      72 * sites, [sites](int i) { return static_cast<float>(element(i / 2 / sites % 9 * 2 + i % 2, i)); });
  float* rows = device_array<float>(72 * sites, [](int i) { return static_cast<float>(element(i % 18, i)); });
  float* changed = device_zeros<float>(72 * sites);
  double* links = device_array<double>(72 * sites, [](int i) { return element(i % 18, i); });
  Link* staple = device_zeros<Link>(sites);
  double* momenta = device_array<double>(8 * sites, [](int i) { return (i % 701) / 701.0 - 0.5; });
  float* algebra = device_array<float>(8 * sites, [](int i) { return (i % 701) / 701.0f - 0.5f; });
  double* moved = device_zeros<double>(18 * sites);
  float* vectors = device_array<float>(6 * sites, [](int i) { return (i % 887) / 887.0f - 0.5f; });
  float* hopped = device_zeros<float>(6 * sites);
  int* neighbours =
      device_array<int>(8 * sites, [n, sites](int i) { return neighbour(i, i / sites, sites, n); });
  int* even = device_array<int>(sites / 2, [n](int i) {
    const int row = 2 * i / n;
    return 2 * i + (row + row / n + row / n / n) % 2;
  });
  float* sums = device_zeros<float>(2 * sites);
  double* total = device_zeros<double>(1);

  for (int r = 0; r < kLaunches; ++r)
    plaquettes<<<ceil_div(sites, 128), 128>>>((float2*)planes, sums, n, sites);
  for (int r = 0; r < kLaunches; ++r) staples<<<ceil_div(sites, 64), 64>>>((Link*)links, staple, 1, n, sites);
  for (int r = 0; r < kLaunches; ++r)
    line_products<<<ceil_div(n * n * n, 4), dim3(32, 4)>>>((float2*)planes, (float2*)sums, n / 2, n, sites);
  for (int r = 0; r < kLaunches; ++r)
    reunitarise<<<ceil_div(4 * sites, 256), 256>>>((float2*)rows, (float2*)changed, 4 * sites);
  for (int r = 0; r < kLaunches; ++r)
    kick_momenta<<<ceil_div(sites, 192), 192>>>((Link*)links, staple, momenta, 1e-4, 1, sites);
  for (int r = 0; r < kLaunches; ++r)
    exponentiate<float>
        <<<ceil_div(sites, 128), 128>>>(algebra, (float2*)planes, (float2*)changed, 0.05f, 6, sites);
  for (int r = 0; r < kLaunches; ++r)
    exponentiate<double>
        <<<ceil_div(sites, 128), 128>>>(momenta, (double2*)links, (double2*)moved, 0.05, 12, sites);
  for (int r = 0; r < kLaunches; ++r)
    staggered_hop<<<ceil_div(sites / 2, 128), 128>>>((float2*)planes, (float2*)vectors, neighbours, even,
                                                     (float2*)hopped, n, sites / 2, sites);
  for (int r = 0; r < kLaunches; ++r)
    sum_traces<<<min(ceil_div(4 * sites, 1024), 264), 512>>>((Link*)links, total, 4 * sites);
  free_all(planes, rows, changed, links, staple, momenta, algebra, moved, vectors, hopped, neighbours, even,
           sums, total);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("gauge_fields");
}
