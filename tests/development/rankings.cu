// Scores of documents, and the best of them: n queries of 512 candidates.
#include "device.h"

// The 16 best of a row for each thread, as a heap in local memory.
__global__ void best_by_heap(const float* scores, float* best, int columns, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float heap[16];
  for (int k = 0; k < 16; ++k) heap[k] = -1e30f;
  for (int c = 0; c < columns; ++c) {
    const float score = scores[c * rows + row];
    if (score <= heap[0]) continue;
    int at = 0;
    while (true) {
      int child = 2 * at + 1;
      if (child >= 16) break;
      if (child + 1 < 16 && heap[child + 1] < heap[child]) ++child;
      if (heap[child] >= score) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = score;
  }
  for (int k = 0; k < 16; ++k) best[k * rows + row] = heap[k];
}

// The best of each row by a block, eight times: the one that was found is taken out.
__global__ void best_by_rounds(const float* scores, int* best, int columns) {
  extern __shared__ float row[];
  __shared__ float most[32];
  __shared__ int where[32];
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] = scores[blockIdx.x * columns + c];
  for (int round = 0; round < 8; ++round) {
    __syncthreads();
    float score = -1e30f;
    int at = -1;
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
      if (row[c] > score) {
        score = row[c];
        at = c;
      }
    for (int s = 16; s > 0; s /= 2) {
      const float other = __shfl_down_sync(0xffffffffu, score, s);
      const int other_at = __shfl_down_sync(0xffffffffu, at, s);
      if (other > score) {
        score = other;
        at = other_at;
      }
    }
    if (threadIdx.x % 32 == 0) {
      most[threadIdx.x / 32] = score;
      where[threadIdx.x / 32] = at;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < blockDim.x / 32; ++w)
        if (most[w] > most[0]) {
          most[0] = most[w];
          where[0] = where[w];
        }
      best[blockIdx.x * 8 + round] = where[0];
      row[where[0]] = -1e30f;
    }
  }
}

// How well a document of `words` counted words suits a query, with the inverse frequency of each in a table.
__global__ void weigh_words(const unsigned char* counts, const float* rarity, const int* lengths, float* out,
                            int words, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float norm = 1.2f * (0.25f + 0.75f * lengths[i] / 512.0f);
  float score = 0;
  for (int w = 0; w < words; ++w) {
    const float count = counts[w * n + i];
    score += rarity[w] * count * 2.2f / (count + norm);
  }
  out[i] = score;
}

// The gain of an order of 32 results per warp, each lane one: votes tell which are relevant.
__global__ void discounted_gain(const int* grades, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (i >= n) return;
  const int grade = grades[i] & 3;
  float gain = ((1 << grade) - 1) / log2f(lane + 2.0f);
  for (int s = 16; s > 0; s /= 2) gain += __shfl_xor_sync(0xffffffffu, gain, s);
  const unsigned relevant = __ballot_sync(0xffffffffu, grade > 1);
  if (__any_sync(0xffffffffu, grade == 3)) gain *= 1.1f;
  const int first = relevant ? __ffs(relevant) : 33;
  if (lane == 0) out[i / 32] = gain + 1.0f / first;
}

// Two lists of 256 in order become one of the best 256, in shared memory.
__global__ void merge_lists(const float* a, const float* b, float* out) {
  __shared__ float list[256];
  const int t = threadIdx.x;
  list[t] = fmaxf(a[blockIdx.x * 256 + t], b[blockIdx.x * 256 + 255 - t]);
  for (int distance = 128; distance > 0; distance /= 2) {
    __syncthreads();
    const int other = t ^ distance;
    if (other > t && list[t] < list[other]) {
      const float kept = list[t];
      list[t] = list[other];
      list[other] = kept;
    }
  }
  __syncthreads();
  out[blockIdx.x * 256 + t] = list[t];
}

void run(int n) {
  const int columns = 512;
  float* scores = device_array<float>(columns * n, [](int i) {
    return static_cast<float>((static_cast<unsigned>(i) * 2654435761u >> 7) % 65536u);
  });
  float* rarity = device_floats(columns);
  int* lengths = device_ints(n, 1024);
  float* out = device_zeros<float>(256 * n);
  for (int r = 0; r < kLaunches; ++r) best_by_heap<<<ceil_div(n, 64), 64>>>(scores, out, columns, n);
  for (int r = 0; r < kLaunches; ++r)
    best_by_rounds<<<n, 128, columns * sizeof(float)>>>(scores, (int*)out, columns);
  for (int r = 0; r < kLaunches; ++r)
    weigh_words<<<ceil_div(n, 96), 96>>>((unsigned char*)scores, rarity, lengths, out, columns, n);
  for (int r = 0; r < kLaunches; ++r)
    discounted_gain<<<ceil_div(32 * n, 256), 256>>>((int*)scores, out, 32 * n);
  for (int r = 0; r < kLaunches; ++r) merge_lists<<<n, 256>>>(scores, scores + 256 * n, out);
  free_all(scores, rarity, lengths, out);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run(atoi(argv[i]));
  return finish("rankings");
}
