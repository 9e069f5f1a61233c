// Loops and roots without a closed form: the first number with which a condition holds.
#include <cmath>
#include <cstdlib>

__global__ void step(float* data, int side) {}

int main(int argc, char** argv) {
  const int n = std::atoi(argv[1]);
  float* data;
  cudaMalloc(&data, 4 * n);
  int side = 16;
  while (side * side < 2 * n) side += 16;
  step<<<side / 16, 16>>>(data, side);
  int cities = 512;
  while (cities < 16384 && cities * cities / 256 < n) cities *= 2;
  step<<<cities / 128, 128>>>(data, cities);
  for (int k = 0; k < n; k += n / 3) {
    if (k * k + 1 >= n) break;
    step<<<n - k, 64>>>(data, k);
  }
  const int root = (int)sqrt((double)n), tiles = 4 * std::sqrt((double)n);
  step<<<(int)ceil(sqrt((double)n)), 32>>>(data, root);
  step<<<tiles, 32>>>(data, 1);
  const int eighth = std::sqrt((double)n) / 8, nearest = std::lround(std::sqrt(n));
  step<<<eighth, 32>>>(data, nearest);
  const int cells = cbrt(n / 8.0f), half_up = (int)(0.5 + 0.75f * sqrtf(n));
  step<<<cells, 32>>>(data, half_up);
  step<<<(int)std::ceil(std::log2((double)n)), 32>>>(data, (int)(std::log(n) / std::log(2.0)));
  const int power = std::pow(n, 0.7), decimal = std::log10(n);  // of no whole number: parameters
  step<<<power, 32>>>(data, decimal);
  for (int k = 0; k < n; k++) {
    step<<<1, 32>>>(data, k);
    if (k * k > n) break;  // after a launch: data decide
  }
}
