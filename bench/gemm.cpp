// The job of `fp4 gemm` on HiF4 as a triple loop: integers of 8 bits under group scales, C = A B^T, each output the sum over
// groups of 64 of an integer dot times two scales in binary64, rounded once to FP32.
//   g++ -O2 -fno-tree-vectorize -o gemm bench/gemm.cpp && ./gemm 1024
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int groups = n / 64;
  std::vector<int8_t> a(n * n), b(n * n);
  std::vector<double> sa(n * groups), sb(n * groups);
  std::vector<float> c(n * n);
  uint32_t x = 1;
  auto next = [&] { return x ^= x << 13, x ^= x >> 17, x ^= x << 5, x; };
  for (auto &v : a) v = int(next() % 57) - 28;
  for (auto &v : b) v = int(next() % 57) - 28;
  for (auto &v : sa) v = 4 + next() % 4;
  for (auto &v : sb) v = 4 + next() % 4;
  double best = 1e9;
  for (int run = 0; run < 3; run++) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int g = 0; g < groups; g++) {
          const int8_t *p = &a[i * n + 64 * g], *q = &b[j * n + 64 * g];
          int dot = 0;
          for (int k = 0; k < 64; k++) dot += p[k] * q[k];
          sum += dot * (sa[i * groups + g] * sb[j * groups + g]);
        }
        c[i * n + j] = float(sum);
      }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (took.count() < best) best = took.count();
  }
  float check = 0;
  for (float v : c) check += v;
  std::fprintf(stderr, "%a\n", check); // so that nothing is optimised away
  std::printf("%.6f\n", best);
}
