// Accesses to memory: bounds, alignment, values that nothing has written, padding.
#include <cstdint>
using u32 = std::uint32_t;

// run: <<<1, 64>>> out=zeros:u32:64
// finds: out_of_bounds
extern "C" __global__ void write_past_the_end(u32* out) { out[threadIdx.x + 1] = 1; }

// run: <<<1, 64>>> out=zeros:u32:64
// finds: out_of_bounds
extern "C" __global__ void write_before_the_start(u32* out) { out[static_cast<int>(threadIdx.x) - 1] = 1; }

// run: <<<1, 64>>> in=iota:u32:60 out=zeros:u32:64
// finds: out_of_bounds
extern "C" __global__ void read_past_the_end(const u32* in, u32* out) { out[threadIdx.x] = in[threadIdx.x]; }

// run: <<<1, 64>>> in=iota:u32:60 out=zeros:u32:64 n=60
// gives out: [i if i < 60 else 0 for i in range(64)]
extern "C" __global__ void read_behind_a_guard(const u32* in, u32* out, u32 n) {
  if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x];
}

// run: <<<1, 32>>> out=zeros:u32:32 p=0
// finds: out_of_bounds
extern "C" __global__ void null_pointer(u32* out, std::uint64_t p) {
  out[threadIdx.x] = *reinterpret_cast<volatile u32*>(p);
}

// run: <<<1, 32>>> out=zeros:u32:64
// finds: misaligned
extern "C" __global__ void misaligned_write(u32* out) {
  *reinterpret_cast<volatile u32*>(reinterpret_cast<char*>(out) + 4 * threadIdx.x + 2) = 1;
}

// run: <<<1, 32>>> in=iota:u32:64 out=zeros:u32:64
// finds: misaligned
extern "C" __global__ void misaligned_vector(const u32* in, u32* out) {
  const auto v = *reinterpret_cast<const volatile unsigned long long*>(in + 1 + threadIdx.x % 2);
  out[threadIdx.x] = static_cast<u32>(v);
}

// run: <<<1, 32>>> out=zeros:u32:32
// finds: out_of_bounds
extern "C" __global__ void shared_past_the_end(u32* out) {
  __shared__ volatile u32 s[32];
  s[threadIdx.x + (out[0] == 0 ? 256 * 1024 / 4 : 0)] = 1;
  out[threadIdx.x] = s[0];
}

// run: <<<1, 32>>> out=zeros:u32:32
// finds: out_of_bounds
extern "C" __global__ void local_past_the_end(u32* out) {
  volatile u32 mine[4] = {1, 2, 3, 4};
  out[threadIdx.x] = mine[out[0] + (threadIdx.x == 3 ? 1 << 20 : 0)];
}

// The index leaves one array and lands in the other of the same size.
// run: <<<1, 32>>> a=zeros:u32:32 b=zeros:u32:32
// finds: other_buffer
extern "C" __global__ void index_into_another_buffer(u32* a, u32* b) {
  __shared__ volatile std::int64_t apart;
  apart = b - a;
  __syncthreads();
  a[apart + threadIdx.x] = 5;
}

// The distance of two pointers is no index out of bounds.
// run: <<<1, 32>>> a=zeros:u32:32 b=zeros:u32:32
// gives b: [5] * 32
extern "C" __global__ void difference_of_pointers(u32* a, u32* b) {
  const std::int64_t apart = reinterpret_cast<std::int64_t>(b) - reinterpret_cast<std::int64_t>(a);
  *reinterpret_cast<u32*>(reinterpret_cast<char*>(a) + apart + 4 * threadIdx.x) = 5;
}

// run: <<<1, 32>>> a=zeros:u32:32 b=zeros:u32:32
// gives a: [1 if i % 2 == 0 else 0 for i in range(32)]
// gives b: [0 if i % 2 == 0 else 1 for i in range(32)]
extern "C" __global__ void pointer_chosen_by_lane(u32* a, u32* b) {
  u32* p = threadIdx.x % 2 == 0 ? a : b;
  p[threadIdx.x] = 1;
}

// The index leaves one shared array for the next one.
// run: <<<1, 32>>> out=zeros:u32:32
// finds: other_buffer
extern "C" __global__ void index_into_another_shared_array(u32* out) {
  __shared__ volatile u32 a[32], b[32];
  a[threadIdx.x] = 1;
  b[threadIdx.x] = 2;
  __syncthreads();
  const u32 over = out[0] == 0 ? 32 : 0;
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + (threadIdx.x < 16 ? a[threadIdx.x + over] : b[(threadIdx.x + over) % 32]);
}

// run: <<<1, 32>>> in=uninit:u32:32 out=zeros:u32:32
// finds: uninitialised_memory
extern "C" __global__ void read_of_nothing_written(const u32* in, u32* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

// run: <<<1, 32>>> work=uninit:u32:32 out=zeros:u32:32
// gives out: [i * 2 for i in range(32)]
extern "C" __global__ void written_before_it_is_read(u32* work, u32* out) {
  work[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = work[threadIdx.x] * 2;
}

// run: <<<1, 32>>> work=uninit:u32:64 out=zeros:u32:32
// finds: uninitialised_memory
extern "C" __global__ void every_other_word_is_written(u32* work, u32* out) {
  work[2 * threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = work[threadIdx.x] * 2;
}

// run: <<<1, 32>>> out=zeros:u32:32
// finds: uninitialised_memory
extern "C" __global__ void shared_memory_without_value(u32* out) {
  __shared__ volatile u32 s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1] + 1;
}

// run: <<<1, 32>>> out=zeros:u32:32
// finds: uninitialised_memory
extern "C" __global__ void local_memory_without_value(u32* out) {
  u32 mine[8];
  volatile u32* p = mine;
  p[threadIdx.x % 4] = 1;
  out[threadIdx.x] = p[threadIdx.x % 4 + 4] + 1;
}

struct Padded {
  u32 number;  // 4 bytes of padding behind it
  double value;
  char letter;  // 7 bytes
};

// A structure copied whole: its padding was never written, and nobody looks at it.
// run: <<<1, 32>>> a=uninit:u64:96 b=uninit:u64:96 out=zeros:u32:32
// gives out: [i + 2 * i + 7 for i in range(32)]
extern "C" __global__ void padded_structure(Padded* a, Padded* b, u32* out) {
  const u32 i = threadIdx.x;
  a[i].number = i;
  a[i].value = 2.0 * i;
  a[i].letter = 7;
  __syncthreads();
  b[i] = a[i];
  __syncthreads();
  out[i] = b[i].number + static_cast<u32>(b[i].value) + static_cast<u32>(b[i].letter);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [i + 2 * i + 7 for i in range(32)]
extern "C" __global__ void padded_structure_in_shared_memory(u32* out) {
  __shared__ Padded a[32], b[32];
  const u32 i = threadIdx.x;
  a[i].number = i;
  a[i].value = 2.0 * i;
  a[i].letter = 7;
  __syncthreads();
  b[i] = a[i ^ 1];
  __syncthreads();
  out[i] = b[i ^ 1].number + static_cast<u32>(b[i ^ 1].value) + static_cast<u32>(b[i ^ 1].letter);
}

struct Wide {
  alignas(16) u32 number;  // 12 bytes of padding
};

// run: <<<1, 32>>> a=uninit:u32:128 b=uninit:u32:128 out=zeros:u32:32
// gives out: [3 * i for i in range(32)]
extern "C" __global__ void structure_that_is_mostly_padding(Wide* a, Wide* b, u32* out) {
  const u32 i = threadIdx.x;
  a[i].number = 3 * i;
  __syncthreads();
  b[i] = a[i];
  out[i] = b[i].number;
}

// A member that was not written is used after the copy.
// run: <<<1, 32>>> a=uninit:u64:96 b=uninit:u64:96 out=zeros:u32:32
// finds: uninitialised_memory
extern "C" __global__ void member_without_value(Padded* a, Padded* b, u32* out) {
  const u32 i = threadIdx.x;
  a[i].number = i;
  a[i].letter = 7;
  __syncthreads();
  b[i] = a[i];
  __syncthreads();
  out[i] = b[i].number + static_cast<u32>(b[i].value);
}

// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [2 * i for i in range(32)]
extern "C" __global__ void memory_of_malloc(u32* out) {
  auto* p = static_cast<volatile u32*>(malloc(16));
  if (p == nullptr) return;
  p[1] = threadIdx.x;
  out[threadIdx.x] = p[1] * 2;
  free(const_cast<u32*>(p));
}

// run: <<<1, 1>>> out=zeros:u32:1
// finds: out_of_bounds
extern "C" __global__ void malloc_past_the_end(u32* out) {
  auto* p = static_cast<volatile u32*>(malloc(16));
  p[4] = 1;
  out[0] = p[4];
}

// run: <<<1, 1>>> out=zeros:u32:1
// finds: out_of_bounds
extern "C" __global__ void malloc_after_free(u32* out) {
  auto* p = static_cast<volatile u32*>(malloc(16));
  p[0] = 1;
  free(const_cast<u32*>(p));
  out[0] = p[0];
}

// run: <<<1, 32>>> out=zeros:u32:32
// finds: assertion
extern "C" __global__ void trap_in_a_thread(u32* out) {
  if (threadIdx.x == 7) asm volatile("trap;");
  out[threadIdx.x] = 1;
}

__device__ u32 table[4] = {1, 10, 100, 1000};
// run: <<<1, 32>>> out=zeros:u32:32
// gives out: [[1, 10, 100, 1000][i % 4] for i in range(32)]
extern "C" __global__ void variable_of_the_module(u32* out) { out[threadIdx.x] = table[threadIdx.x % 4]; }

// run: <<<2, 32>>> in=iota:f32:64 out=zeros:f32:64
// gives out: [i * 0.5 + 1 for i in range(64)]
extern "C" __global__ void floats(const float* in, float* out) {
  const u32 i = blockIdx.x * 32 + threadIdx.x;
  out[i] = in[i] * 0.5f + 1.0f;
}
