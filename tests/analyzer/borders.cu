// Indices that arguments clamp or mirror at the borders of an array, and tiles of it.
extern "C" {
__device__ int column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int row() { return blockIdx.y * blockDim.y + threadIdx.y; }
__global__ void clamped(const float *in, float *out, int d, int w) {
  out[column()] = in[min(max(column() + d, 0), w - 1)];
}
__global__ void clamped_width_first(const float *in, float *out, int w, int d) {
  out[column()] = in[min(max(column() + d, 0), w - 1)];
}
__global__ void clamped_by_comparisons(const float *in, float *out, int w, int d) {
  int x = column() + d;
  if (x < 0) x = 0;
  if (x >= w) x = w - 1;
  out[column()] = in[x];
}
__global__ void mirrored(const float *in, float *out, int w, int d) {
  int x = column() + d;
  if (x < 0) x = -x;
  if (x >= w) x = 2 * w - 2 - x;
  out[column()] = in[x];
}
__global__ void clamped_rows(const float *in, float *out, int w, int h, int d) {
  out[row() * w + column()] = in[min(max(row() + d, 0), h - 1) * w + min(max(column() - d, 0), w - 1)];
}
__global__ void truly_clamped(const float *in, float *out) { out[column()] = in[min(threadIdx.x, 3)]; }
__global__ void tile(const float *in, float *out, int w) { out[row() * w + column()] = in[row() * w + column()]; }
__global__ void tile_of_doubles(const double *in, double *out, int w) {
  out[row() * w + column()] = in[row() * w + column()];
}
__global__ void transposed(const float *in, float *out, int w) {
  out[row() * w + column()] = in[column() * w + row()];
}
__global__ void rows_of_16(const float *in, float *out, int w) {
  out[column()] = in[column() / 16 * w + column() % 16];
}
__global__ void hashed(const float *in, float *out, int w) { out[column()] = in[column() * w % 1024]; }
__global__ void line(const float *in, float *out) { out[column()] = in[column()]; }
}
