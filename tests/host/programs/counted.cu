// What a loop leaves is not guessed: values that data decide are parameters.
#include <vector>

__global__ void work(float* a, int n) { a[threadIdx.x] = n; }

bool is_wanted(int i);
void first_line(float* a);

int count_wanted(int n) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (!is_wanted(i)) continue;
    count++;
  }
  return count;
}

std::vector<int> all_wanted(int n) {
  std::vector<int> result;
  for (int i = 0; i < n; i++)
    if (is_wanted(i)) result.push_back(i);
  return result;
}

int first_wanted(int n) {
  for (int i = 0; i < n; i++)
    if (is_wanted(i)) return i;
  return n;
}

int sum_to(int n) {
  int sum = 0;
  for (int i = 1; i <= n; i++) sum += i;
  return sum;
}

int main() {
  float* a = nullptr;
  const int wanted = count_wanted(100);
  work<<<wanted, 32>>>(a, 1);
  const std::vector<int> list = all_wanted(100);
  work<<<list.size(), 32>>>(a, 2);
  const int first = first_wanted(100);
  work<<<first, 32>>>(a, 3);
  work<<<sum_to(10), 32>>>(a, 4);
  int levels = 0;
  for (int n = 1000; n > 1; n /= 2) levels++;
  work<<<levels, 32>>>(a, 5);
  std::vector<float> values(640);
  work<<<values.size() / 64, 64>>>(a, 6);
  first_line(a);
}

bool is_last(int i);

// A `break` that data decide, and what is counted before it.
void first_line(float* a) {
  int features = 0, lines = 0;
  for (int i = 0; i < 100; i++) {
    lines++;
    if (is_wanted(i)) {
      while (!is_last(features)) features++;
      break;
    }
  }
  work<<<features, 32>>>(a, 7);
}
