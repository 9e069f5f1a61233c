// As in sources whose host code needs a library that is missing.
#define CHANNELS 7
template <int N, class T> __global__ void known(T* a) { a[threadIdx.x] *= N; }
template <int BLOCK_SIZE, bool add, class T> __global__ void unknown(T* a) { a[threadIdx.x] += add ? BLOCK_SIZE : 0; }
template <class T, template <class> class Op> __global__ void impossible(T* a) { a[0] = Op<T>()(a[1]); }

void launch(library::Tensor a) {
  library_dispatch(a.type(), [&] {
    known<CHANNELS, double><<<1, 32>>>(a.data());
    unknown<N, true, scalar_t><<<1, 32>>>(a.data());
  });
}
