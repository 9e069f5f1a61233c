// Products of matrices of order n with the units for matrices: halves, bfloat16, bytes, tf32 and doubles,
// many small products, and one with bias and ReLU.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "device.h"

using namespace nvcuda;

constexpr int kSmall = 32;  // order of the matrices in the batch

// One tile of 16 x 16 for each warp, both factors straight from global memory. Four by four warps in a block.
__global__ void product_plain(const half* a, const half* b, float* c, int n) {
  int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  int warpN = blockIdx.y * blockDim.y + threadIdx.y;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> aFrag;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> bFrag;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  int aRow = warpM * 16, bCol = warpN * 16;
  if (aRow >= n || bCol >= n) return;
  for (int i = 0; i < n; i += 16) {
    wmma::load_matrix_sync(aFrag, a + aRow * n + i, n);
    wmma::load_matrix_sync(bFrag, b + i * n + bCol, n);
    wmma::mma_sync(acc, aFrag, bFrag, acc);
  }
  wmma::store_matrix_sync(c + aRow * n + bCol, acc, n, wmma::mem_row_major);
}

// Tiles of 64 x 64 by steps of kStep, staged in shared memory. Four warps, 2 x 2 tiles for each.
template <int kStep>
__global__ void __launch_bounds__(128)
    product_staged(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int n) {
  __shared__ alignas(32) half left[64][kStep + 16];
  __shared__ alignas(32) half right[kStep][64 + 16];
  const int warp = threadIdx.x / 32;
  const int top = blockIdx.y * 64, start = blockIdx.x * 64;
  const int row = warp / 2 * 32, column = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
#pragma unroll
  for (int k = 0; k < 4; ++k) wmma::fill_fragment(sums[k / 2][k % 2], 0.0f);
  for (int first = 0; first < n; first += kStep) {
    // Eight halves at a time.
    for (int k = threadIdx.x; k < 64 * kStep / 8; k += 128) {
      const int r = k / (kStep / 8), s = k % (kStep / 8) * 8;
      *reinterpret_cast<uint4*>(&left[r][s]) = *reinterpret_cast<const uint4*>(&a[(top + r) * n + first + s]);
    }
    for (int k = threadIdx.x; k < kStep * 8; k += 128) {
      const int r = k / 8, s = k % 8 * 8;
      *reinterpret_cast<uint4*>(&right[r][s]) =
          *reinterpret_cast<const uint4*>(&b[(first + r) * n + start + s]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kStep; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(x[i], &left[row + 16 * i][k], kStep + 16);
        wmma::load_matrix_sync(y[i], &right[k][column + 16 * i], 64 + 16);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], x[i], y[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(c + (top + row + 16 * i) * n + start + column + 16 * j, sums[i][j], n,
                              wmma::mem_row_major);
  }
}

// bfloat16 from global memory, kRows x kColumns tiles for each warp. The columns of b lie in one piece each.
template <int kRows, int kColumns>
__global__ void product_bfloat(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                               float* __restrict__ c, int n) {
  using namespace wmma;
  const int warp = threadIdx.x >> 5;
  const int row0 = (blockIdx.y * (blockDim.x >> 5) + warp) * 16 * kRows;
  const int col0 = blockIdx.x * 16 * kColumns;
  if (row0 >= n) return;
  fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> fa[kRows];
  fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> fb[kColumns];
  fragment<accumulator, 16, 16, 16, float> fc[kRows][kColumns];
#pragma unroll
  for (int i = 0; i < kRows; i++)
#pragma unroll
    for (int j = 0; j < kColumns; j++) fill_fragment(fc[i][j], 0.f);
  for (int k = 0; k < n; k += 16) {
#pragma unroll
    for (int i = 0; i < kRows; i++) load_matrix_sync(fa[i], a + (row0 + 16 * i) * n + k, n);
#pragma unroll
    for (int j = 0; j < kColumns; j++) load_matrix_sync(fb[j], b + (col0 + 16 * j) * n + k, n);
#pragma unroll
    for (int i = 0; i < kRows; i++)
#pragma unroll
      for (int j = 0; j < kColumns; j++) mma_sync(fc[i][j], fa[i], fb[j], fc[i][j]);
  }
#pragma unroll
  for (int i = 0; i < kRows; i++)
#pragma unroll
    for (int j = 0; j < kColumns; j++)
      store_matrix_sync(c + (row0 + 16 * i) * n + col0 + 16 * j, fc[i][j], n, mem_row_major);
}

// Bytes into whole numbers: 64 x 64 in a block of eight warps, 64 of the inner size at a time. b is transposed.
__global__ void product_bytes(const signed char* a, const signed char* b, int* c, int n) {
  __shared__ alignas(32) signed char as[64 * 80], bs[64 * 80];
  const int t = threadIdx.x, warp = t / 32;
  const int fromRow = t / 4, fromByte = t % 4 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> acc0, acc1;
  wmma::fill_fragment(acc0, 0);
  wmma::fill_fragment(acc1, 0);
  for (int k0 = 0; k0 < n; k0 += 64) {
    *(int4*)(as + fromRow * 80 + fromByte) =
        *(const int4*)(a + (blockIdx.y * 64 + fromRow) * n + k0 + fromByte);
    *(int4*)(bs + fromRow * 80 + fromByte) =
        *(const int4*)(b + (blockIdx.x * 64 + fromRow) * n + k0 + fromByte);
    __syncthreads();
    for (int k = 0; k < 64; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
      wmma::load_matrix_sync(fa, as + warp / 2 * 16 * 80 + k, 80);
      wmma::load_matrix_sync(fb, bs + warp % 2 * 32 * 80 + k, 80);
      wmma::mma_sync(acc0, fa, fb, acc0);
      wmma::load_matrix_sync(fb, bs + (warp % 2 * 32 + 16) * 80 + k, 80);
      wmma::mma_sync(acc1, fa, fb, acc1);
    }
    __syncthreads();
  }
  int* to = c + (blockIdx.y * 64 + warp / 2 * 16) * n + blockIdx.x * 64 + warp % 2 * 32;
  wmma::store_matrix_sync(to, acc0, n, wmma::mem_row_major);
  wmma::store_matrix_sync(to + 16, acc1, n, wmma::mem_row_major);
}

// Floats that are rounded to tf32 on their way to shared memory: 64 x 32 in a block, one tile for each warp.
__global__ void product_tf32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                             int n) {
  __shared__ alignas(32) float left[64][24], right[16][40];
  const int t = threadIdx.y * 32 + threadIdx.x;
  const int top = blockIdx.y * 64, start = blockIdx.x * 32;
  const int row = threadIdx.y / 2 * 16, column = threadIdx.y % 2 * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0);
  for (int first = 0; first < n; first += 16) {
#pragma unroll
    for (int k = t; k < 64 * 16; k += 256)
      left[k / 16][k % 16] = wmma::__float_to_tf32(a[(top + k / 16) * n + first + k % 16]);
#pragma unroll
    for (int k = t; k < 16 * 32; k += 256)
      right[k / 32][k % 32] = wmma::__float_to_tf32(b[(first + k / 32) * n + start + k % 32]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k += 8) {
      wmma::load_matrix_sync(x, &left[row][k], 24);
      wmma::load_matrix_sync(y, &right[k][column], 40);
      wmma::mma_sync(sum, x, y, sum);
    }
    __syncthreads();
  }
  wmma::store_matrix_sync(&c[(top + row) * n + start + column], sum, n, wmma::mem_row_major);
}

// Doubles: tiles are 8 x 8 by 4, and each warp has 2 x 2 of them.
__global__ void product_doubles(const double* a, const double* b, double* c, int n) {
  const int col = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16, row = blockIdx.y * 16;
  if (col >= n) return;
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a0, a1;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b0, b1;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> c00, c01, c10, c11;
  wmma::fill_fragment(c00, 0.0);
  wmma::fill_fragment(c01, 0.0);
  wmma::fill_fragment(c10, 0.0);
  wmma::fill_fragment(c11, 0.0);
#pragma unroll 2
  for (int k = 0; k < n; k += 4) {
    wmma::load_matrix_sync(a0, a + row * n + k, n);
    wmma::load_matrix_sync(a1, a + (row + 8) * n + k, n);
    wmma::load_matrix_sync(b0, b + k * n + col, n);
    wmma::load_matrix_sync(b1, b + k * n + col + 8, n);
    wmma::mma_sync(c00, a0, b0, c00);
    wmma::mma_sync(c01, a0, b1, c01);
    wmma::mma_sync(c10, a1, b0, c10);
    wmma::mma_sync(c11, a1, b1, c11);
  }
  wmma::store_matrix_sync(c + row * n + col, c00, n, wmma::mem_row_major);
  wmma::store_matrix_sync(c + row * n + col + 8, c01, n, wmma::mem_row_major);
  wmma::store_matrix_sync(c + (row + 8) * n + col, c10, n, wmma::mem_row_major);
  wmma::store_matrix_sync(c + (row + 8) * n + col + 8, c11, n, wmma::mem_row_major);
}

// Many products of 32 x 32 halves, summed in halves: a warp for each.
__global__ void batch_products(const half* __restrict__ a, const half* __restrict__ b, half* __restrict__ c,
                               int count) {
  const int which = blockIdx.x * 4 + threadIdx.y;
  if (which >= count) return;
  const half* x = a + which * kSmall * kSmall;
  const half* y = b + which * kSmall * kSmall;
  half* z = c + which * kSmall * kSmall;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2][2];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
#pragma unroll
    for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(right[k][j], y + 16 * k * kSmall + 16 * j, kSmall);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) wmma::load_matrix_sync(left[k], x + 16 * i * kSmall + 16 * k, kSmall);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
      wmma::fill_fragment(sum, __float2half(0.0f));
      wmma::mma_sync(sum, left[0], right[0][j], sum);
      wmma::mma_sync(sum, left[1], right[1][j], sum);
      wmma::store_matrix_sync(z + 16 * i * kSmall + 16 * j, sum, kSmall, wmma::mem_row_major);
    }
  }
}

// A layer with bias and ReLU: each of two warps has 32 x 32 results, which go through shared memory at the end.
__global__ void dense_layer(const half* __restrict__ input, const half* __restrict__ weights,
                            const float* __restrict__ bias, half* __restrict__ output, int n) {
  __shared__ alignas(32) float results[2][32][40];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * 32, column = blockIdx.x * 64 + warp * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
  for (auto& sum : sums) wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> w[2];
    wmma::load_matrix_sync(w[0], weights + column * n + k, n);
    wmma::load_matrix_sync(w[1], weights + (column + 16) * n + k, n);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(x, input + (row + 16 * i) * n + k, n);
      wmma::mma_sync(sums[2 * i], x, w[0], sums[2 * i]);
      wmma::mma_sync(sums[2 * i + 1], x, w[1], sums[2 * i + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    wmma::store_matrix_sync(&results[warp][i / 2 * 16][i % 2 * 16], sums[i], 40, wmma::mem_row_major);
  __syncwarp();
  const float shift = bias[column + lane];
#pragma unroll 8
  for (int i = 0; i < 32; ++i)
    output[(row + i) * n + column + lane] = __float2half(fmaxf(results[warp][i][lane] + shift, 0.0f));
}

// n is a multiple of 256.
void run(int n) {
  const int elements = n * n, half_order = n / 2, batch = 16 * n;
  const auto half_around_zero = [](int i) {
    return __float2half(hashed_unit(static_cast<unsigned>(i)) - 0.5f);
  };
  half* a = device_array<half>(elements, half_around_zero);
  half* b = device_array<half>(elements, half_around_zero);
  half* out = device_zeros<half>(elements);
  float* c = device_zeros<float>(elements);
  const auto brain = [](int i) { return __float2bfloat16(hashed_unit(static_cast<unsigned>(i)) - 0.5f); };
  __nv_bfloat16* brain_a = device_array<__nv_bfloat16>(elements, brain);
  __nv_bfloat16* brain_b = device_array<__nv_bfloat16>(elements, brain);
  const auto byte = [](int i) { return static_cast<signed char>(i * 37 % 251 - 125); };
  signed char* bytes_a = device_array<signed char>(elements, byte);
  signed char* bytes_b = device_array<signed char>(elements, byte);
  int* whole = device_zeros<int>(elements);
  float* floats_a =
      device_array<float>(elements, [](int i) { return hashed_unit(static_cast<unsigned>(i)) - 0.5f; });
  float* floats_b =
      device_array<float>(elements, [](int i) { return hashed_unit(static_cast<unsigned>(i) + 9) - 0.5f; });
  double* doubles_a = device_doubles(half_order * half_order);
  double* doubles_b = device_doubles(half_order * half_order);
  double* doubles_c = device_zeros<double>(half_order * half_order);
  half* small_a = device_array<half>(batch * kSmall * kSmall, half_around_zero);
  half* small_b = device_array<half>(batch * kSmall * kSmall, half_around_zero);
  half* small_c = device_zeros<half>(batch * kSmall * kSmall);
  float* bias = device_array<float>(n, [](int i) { return 0.1f * (i % 11) - 0.5f; });
  for (int r = 0; r < kLaunches; ++r) product_plain<<<dim3(n / 64, n / 64), dim3(128, 4)>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r) product_staged<32><<<dim3(n / 64, n / 64), 128>>>(a, b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    product_bfloat<2, 2><<<dim3(n / 32, n / 128), 128>>>(brain_a, brain_b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    product_bfloat<2, 4><<<dim3(n / 64, n / 256), 256>>>(brain_a, brain_b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    product_bytes<<<dim3(n / 64, n / 64), 256>>>(bytes_a, bytes_b, whole, n);
  for (int r = 0; r < kLaunches; ++r)
    product_tf32<<<dim3(n / 32, n / 64), dim3(32, 8)>>>(floats_a, floats_b, c, n);
  for (int r = 0; r < kLaunches; ++r)
    product_doubles<<<dim3(half_order / 64, half_order / 16), 128>>>(doubles_a, doubles_b, doubles_c,
                                                                     half_order);
  for (int r = 0; r < kLaunches; ++r)
    batch_products<<<ceil_div(batch, 4), dim3(32, 4)>>>(small_a, small_b, small_c, batch);
  for (int r = 0; r < kLaunches; ++r) dense_layer<<<dim3(n / 64, n / 32), 64>>>(a, b, bias, out, n);
  free_all(a, b, out, c, brain_a, brain_b, bytes_a, bytes_b, whole, floats_a, floats_b, doubles_a, doubles_b);
  free_all(doubles_c, small_a, small_b, small_c, bias);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("matrix_units");
}
