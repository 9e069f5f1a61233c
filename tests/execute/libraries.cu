// The parts of Thrust and CUB that come with warptime, for where neither is installed.
#include <cub/cub.cuh>
#include <thrust/binary_search.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

template <int Threads> __device__ void sum_of_block(const int* in, int* out, int n) {
  typedef cub::BlockReduce<int, Threads> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  const int i = static_cast<int>(threadIdx.x);
  const int sum = Reduce(storage).Sum(i < n ? in[i] : 0);
  if (i == 0) out[0] = sum;
}
__global__ void sums(const int* in, int* out, int n) { sum_of_block<96>(in, out, n); }

__global__ void sums_of_some(const int* in, int* out, int n) {
  typedef cub::BlockReduce<int, 96> Reduce;
  __shared__ Reduce::TempStorage storage;
  const int i = static_cast<int>(threadIdx.x);
  const int most = Reduce(storage).Reduce(i < n ? in[i] : 1000000, cub::Max(), n);
  if (i == 0) out[0] = most;
}

__global__ void maxima_of_warps(const int* in, int* out) {
  typedef cub::WarpReduce<int, 8> Reduce;
  __shared__ Reduce::TempStorage storage[12];
  const int i = static_cast<int>(threadIdx.x);
  out[i] = Reduce(storage[i / 8]).Reduce(in[i], cub::Max());
}

__global__ void scans(const int* in, int* out) {
  typedef cub::BlockScan<int, 96> Scan;
  __shared__ Scan::TempStorage storage;
  const int i = static_cast<int>(threadIdx.x);
  int before, total, with;
  Scan(storage).ExclusiveSum(in[i], before, total);
  __syncthreads();
  Scan(storage).InclusiveScan(in[i], with, cub::Max());
  out[i] = before;
  out[96 + i] = total;
  out[192 + i] = with;
}

__global__ void scans_of_items(const int* in, int* out) {
  typedef cub::BlockLoad<int, 96, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE> Load;
  typedef cub::BlockScan<int, 96> Scan;
  typedef cub::BlockStore<int, 96, 8, cub::BLOCK_STORE_TRANSPOSE> Store;
  __shared__ union {
    Load::TempStorage load;
    Scan::TempStorage scan;
    Store::TempStorage store;
  } storage;
  int items[8];
  Load(storage.load).Load(in, items, 700, 5);
  __syncthreads();
  Scan(storage.scan).InclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(out, items, 760);
}

__global__ void copies(const int* in, int* out) {
  int items[4];
  cub::BlockLoad<int, 96, 4, cub::BLOCK_LOAD_VECTORIZE>().Load(const_cast<int*>(in), items);
  cub::BlockStore<int, 96, 4, cub::BLOCK_STORE_DIRECT>().Store(out, items);
}

struct Twice {
  __host__ __device__ int operator()(int v) const { return 2 * v; }
};
__global__ void in_threads(const int* in, int* out) {
  const thrust::device_ptr<const int> begin(in);
  out[0] = thrust::reduce(thrust::seq, begin, begin + 96, 0, thrust::plus<int>());
  out[1] = static_cast<int>(thrust::lower_bound(thrust::seq, thrust::make_counting_iterator(0), thrust::make_counting_iterator(96), 17) -
                            thrust::make_counting_iterator(0));
  const auto twice = thrust::make_transform_iterator(in, Twice());
  const auto zipped = thrust::make_zip_iterator(thrust::make_tuple(in, twice));
  const thrust::tuple<int, int> third = zipped[3];
  out[2] = thrust::get<1>(third) - thrust::get<0>(third);
  thrust::minstd_rand engine(3);
  engine.discard(9);
  out[3] = static_cast<int>(engine() % 1000);
  out[4] = thrust::maximum<int>()(in[0], in[1]);
}

int main() {
  thrust::host_vector<int> host(96);
  thrust::device_vector<int> in = host, out(300);
  thrust::transform(in.begin(), in.end(), out.begin(), Twice());
  thrust::sort(thrust::device, in.begin(), in.end());
  const int sum = thrust::reduce(in.begin(), in.end());
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, in.begin(), out.begin(), sum);
  scans<<<1, 96>>>(thrust::raw_pointer_cast(in.data()), thrust::raw_pointer_cast(&out[0]));
}
