// What a signature says: names, types, lines.
extern "C" __global__ void plain(int n, float* data) { data[n] = 1; }

namespace ns {
template <class T, int N>
__global__ void filter(T* __restrict__ to, const T* from, T) {
  to[threadIdx.x] = from[threadIdx.x] + N;
}
template __global__ void filter<float, 3>(float*, const float*, float);
}  // namespace ns

struct Size {
  int width, height;
};
__global__ void __launch_bounds__(256)
by_value(Size size, float4* pixels, void (*f)(int)) { pixels[threadIdx.x].x = size.width; }

__global__ void declared_only(int n);
template <class T> __global__ void never_instantiated(T t);

int main() { ns::filter<double, 4><<<1, 32>>>(nullptr, nullptr, 0.0); }
