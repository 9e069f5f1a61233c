// warptime_make_register_table TARGET FILES.ptx… > machine/registers/TARGET.csv
//
// Fits the coefficients of registers.h to what ptxas gives the kernels of the files. Each file counts as the root of its
// kernels: instances of one template are much alike. What ptxas rounds to a step costs nothing within that step's limits,
// and large errors weigh little (iteratively reweighted least squares). For the check, consecutive files are left out
// together: give those of one source, by several compilers, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "analyzer/compile/ptxas.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/registers.h"
#include "analyzer/periods/resources.h"

namespace warptime::machine {
namespace {

using Terms = std::array<double, kRegisterTerms>;

constexpr std::size_t kMostInstructionsWithCallees = 300'000;
constexpr int kRounds = 25;        // of reweighting
constexpr std::size_t kParts = 6;  // of the files, for the check
constexpr double kPrior = 20;  // kernels' worth of the coefficients that are assumed: 0, and 0.9 of the peak
constexpr double kPriorOfPeak = 0.9;
constexpr double kLargeError = 5;  // registers
constexpr int kWithin = 4;         // registers: what the check counts as right

struct Sample {
  Pressure pressure;
  KernelResources resources;
  Terms terms{};
  int registers = 0;
  std::size_t part = 0;
  double weight = 1;
};

std::vector<RegisterTable::Step> steps() {
  return {{32, 28, 38}, {40, 38, 43}, {48, 45, 50.5}, {64, 60, 70}};
}

// What the linear part should have given: the nearest sum that makes the right number.
double wanted(int registers, double sum, const std::vector<RegisterTable::Step>& all) {
  for (const RegisterTable::Step& step : all)
    if (step.registers == registers) return std::clamp(sum, step.from, step.to);
  return registers;
}

// Gauss and Jordan's elimination, with pivoting by rows.
Terms solved(std::array<Terms, kRegisterTerms> matrix, Terms right) {
  for (std::size_t i = 0; i < kRegisterTerms; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i; r < kRegisterTerms; ++r)
      if (std::abs(matrix[r][i]) > std::abs(matrix[pivot][i])) pivot = r;
    std::swap(matrix[i], matrix[pivot]);
    std::swap(right[i], right[pivot]);
    for (std::size_t r = 0; r < kRegisterTerms; ++r) {
      if (r == i) continue;
      const double factor = matrix[r][i] / matrix[i][i];
      for (std::size_t c = i; c < kRegisterTerms; ++c) matrix[r][c] -= factor * matrix[i][c];
      right[r] -= factor * right[i];
    }
  }
  for (std::size_t i = 0; i < kRegisterTerms; ++i) right[i] /= matrix[i][i];
  return right;
}

double sum_of(const Terms& terms, const Terms& coefficients) {
  double sum = 0;
  for (std::size_t t = 0; t < kRegisterTerms; ++t) sum += terms[t] * coefficients[t];
  return sum;
}

RegisterTable fit(const std::vector<Sample>& samples, std::size_t without_part) {
  RegisterTable table;
  table.steps = steps();
  for (int round = 0; round < kRounds; ++round) {
    std::array<Terms, kRegisterTerms> matrix{};
    Terms right{};
    matrix[0][0] = 1e-6;
    for (std::size_t t = 1; t < kRegisterTerms; ++t) matrix[t][t] = kPrior;
    right[1] = kPrior * kPriorOfPeak;
    for (const Sample& one : samples) {
      if (one.part == without_part) continue;
      const double sum = sum_of(one.terms, table.coefficients);
      const double want = round == 0 ? one.registers : wanted(one.registers, sum, table.steps);
      const double error = round == 0 ? 0 : (sum - want) / kLargeError;
      const double weight = one.weight / (1 + error * error);
      for (std::size_t t = 0; t < kRegisterTerms; ++t) {
        right[t] += weight * one.terms[t] * want;
        for (std::size_t u = 0; u < kRegisterTerms; ++u) matrix[t][u] += weight * one.terms[t] * one.terms[u];
      }
    }
    table.coefficients = solved(matrix, right);
  }
  for (double& one : table.coefficients) one = std::round(one * 1000) / 1000;
  return table;
}

void add_file(const std::string& file, const std::string& target, std::size_t part,
              std::vector<Sample>& samples) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto module = ptx::parse(text, file);
  const auto truth = registers_of(text, target);
  if (!module || !truth) {
    std::cerr << file << ": left out\n";
    return;
  }
  const periods::ResourceFinder resources(*module);
  const std::size_t first = samples.size();
  for (std::uint32_t f = 0; f < module->functions.size(); ++f) {
    const auto found = truth->find(std::string(module->functions[f].name));
    if (!module->functions[f].entry || found == truth->end()) continue;
    auto code = analysis::build_code(*module, f, kMostInstructionsWithCallees);
    const auto cfg = analysis::build_cfg(code, file);
    const auto pressure = cfg ? pressure_of(code, *cfg) : std::nullopt;
    if (!pressure) continue;
    Sample one{
        *pressure, resources.resources_of(f).value_or(KernelResources()), {}, found->second.registers, part};
    const bool bounded = one.resources.max_threads || one.resources.required_threads;
    for (std::size_t t = 0; t < kRegisterTerms; ++t)
      one.terms[t] = register_terms[t].value(one.pressure, bounded);
    samples.push_back(one);
  }
  for (std::size_t i = first; i < samples.size(); ++i)
    samples[i].weight = 1 / std::sqrt(static_cast<double>(samples.size() - first));
}

// The share of kernels within kWithin registers when the part of the files that they are in was left out.
double checked(const std::vector<Sample>& samples) {
  double good = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    const RegisterTable table = fit(samples, part);
    for (const Sample& one : samples)
      if (one.part == part &&
          std::abs(table.estimate(one.pressure, one.resources) - one.registers) <= kWithin)
        good += 1;
  }
  return good / static_cast<double>(samples.size());
}

int make(const std::string& target, const std::vector<std::string>& files) {
  if (!compiling::parse_target(target)) return 2;
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < files.size(); ++i)
    add_file(files[i], target, i * kParts / files.size(), samples);
  if (samples.empty()) return 1;
  const RegisterTable table = fit(samples, kParts);
  std::cout << fmt::format(
      "# Registers of a thread as ptxas allocates them for {}: see analyzer/machine/registers.h.\n"
      "# Made by warptime_make_register_table of {} kernels in {} files. Fitted without the file that a "
      "kernel is in,\n"
      "# {:.0f}% of the kernels are within {} registers.\n"
      "# term,coefficient; step,registers,from,to\n",
      target, samples.size(), files.size(), 100 * checked(samples), kWithin);
  for (std::size_t t = 0; t < kRegisterTerms; ++t)
    std::cout << fmt::format("{},{}\n", register_terms[t].name, table.coefficients[t]);
  for (const RegisterTable::Step& step : table.steps)
    std::cout << fmt::format("step,{},{},{}\n", step.registers, step.from, step.to);
  return 0;
}

}  // namespace
}  // namespace warptime::machine

int main(int count, char** arguments) {
  if (count < 3) return 2;
  return warptime::machine::make(arguments[1], {arguments + 2, arguments + count});
}
