#include "dwt_kernels/reference/lattice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warptime::reference {
namespace {

constexpr double kOrthogonal = 1e-6;  // filters are often given with eight digits
constexpr double kTolerance = 1e-9;   // what counts as 0, as a share of the norm of the filters that are left
constexpr double kLeftOver = 1e-4;    // of taps that are to vanish: what the digits of the filters leave

// The inner product of two filters, the second one shifted to the right.
double product(const std::vector<double>& a, const std::vector<double>& b, std::size_t shift) {
  double sum = 0;
  for (std::size_t j = shift; j < a.size(); ++j) sum += a[j] * b[j - shift];
  return sum;
}

double norm_of(const std::vector<double>& filter) {
  return std::sqrt(product(filter, filter, 0));
}

Diagnostics reasons_against(const Filters& filters) {
  const auto& [low, high] = filters;
  if (low.size() != high.size())
    return {error(fmt::format(
        "the low-pass filter has {} taps and the high-pass filter {}: a lattice needs equally many",
        low.size(), high.size()))};
  if (low.empty() || low.size() % 2 != 0)
    return {error(fmt::format("{} taps: a lattice needs an even number", low.size()))};
  for (const double tap : low)
    if (!std::isfinite(tap)) return {error("a tap of the low-pass filter is not a number")};
  for (const double tap : high)
    if (!std::isfinite(tap)) return {error("a tap of the high-pass filter is not a number")};
  const double norm = product(low, low, 0);
  if (norm == 0) return {error("the low-pass filter is all zeros")};
  const auto vanishes = [&](double value) { return std::abs(value) <= kOrthogonal * norm; };
  if (!vanishes(product(high, high, 0) - norm))
    return {error("the two filters have different norms: they are not orthogonal filters")};
  for (std::size_t shift = 0; shift < low.size(); shift += 2) {
    const auto of = [&](const char* what) {
      return error(fmt::format("the filters are not orthogonal: {} at a shift of {} samples", what, shift));
    };
    if (shift > 0 && !vanishes(product(low, low, shift))) return {of("low-pass by low-pass is not 0")};
    if (shift > 0 && !vanishes(product(high, high, shift))) return {of("high-pass by high-pass is not 0")};
    if (!vanishes(product(low, high, shift)) || !vanishes(product(high, low, shift)))
      return {of("low-pass by high-pass is not 0")};
  }
  return {};
}

Diagnostic infinite(std::size_t stage) {
  return error(fmt::format("butterfly stage {} would need an infinite coefficient: both filters begin or end "
                           "there with taps that no tangent relates",
                           stage),
               "a filter that begins with zeros can be factorised when these are moved to its end, or left "
               "out in pairs");
}

// Whether the last two taps of Q and the first two of P are 0, as they are to be left out.
bool vanish(const std::vector<double>& q, const std::vector<double>& p, double largest) {
  const double left_over = std::hypot(std::hypot(q[q.size() - 2], q[q.size() - 1]), std::hypot(p[0], p[1]));
  return left_over <= kLeftOver * largest;
}

Diagnostic no_delay(std::size_t stage) {
  return error(fmt::format("butterfly stage {} has no coefficient: the filters' delay is not that of a "
                           "lattice of their length",
                           stage),
               "leave out taps that are 0 at an end of both filters, in pairs");
}

// +1 or -1: the sign of the 2 x 2 determinant that pairs of neighbouring taps of both filters have, summed
// over the filter: that of the polyphase matrix at z = 1.
double orientation(const Filters& filters) {
  double low_even = 0, low_odd = 0, high_even = 0, high_odd = 0;
  for (std::size_t j = 0; j < filters.low.size(); j += 2) {
    low_even += filters.low[j];
    low_odd += filters.low[j + 1];
    high_even += filters.high[j];
    high_odd += filters.high[j + 1];
  }
  return low_even * high_odd - low_odd * high_even < 0 ? -1 : 1;
}

// The filters' tap pair, at the first or the last place, that is larger; its ratio says how the filters
// combine to nothing there.
struct Ends {
  double u, v;
};
Ends larger_at(const std::vector<double>& u, const std::vector<double>& v, std::size_t place) {
  const double first = std::hypot(u[place], v[place]), second = std::hypot(u[place + 1], v[place + 1]);
  return first > second ? Ends{u[place], v[place]} : Ends{u[place + 1], v[place + 1]};
}

}  // namespace

Result<Lattice> factorise(const Filters& filters) {
  if (auto reasons = reasons_against(filters); !reasons.empty()) return reasons;
  // Butterflies have positive determinants, and between two of them the outputs change places. The scale
  // carries the sign that is left.
  const double sign = orientation(filters) * (filters.low.size() / 2 % 2 == 1 ? 1 : -1);
  std::vector<double> a = filters.low, b = filters.high;
  for (double& tap : b) tap *= sign;

  Lattice lattice;
  const std::size_t stages = a.size() / 2;
  lattice.t.resize(stages);
  lattice.s.resize(stages);
  for (std::size_t stage = stages; stage-- > 1;) {
    const double largest = norm_of(a);  // what is left becomes smaller from stage to stage
    // a = Q + t P, b = P - t Q: where Q has ended, a = t b; before P begins, b = -t a.
    const Ends last = larger_at(a, b, a.size() - 2), first = larger_at(a, b, 0);
    const bool from_last = std::hypot(last.u, last.v) > std::hypot(first.u, first.v);
    const double over = from_last ? last.u : -first.v, under = from_last ? last.v : first.u;
    if (std::hypot(over, under) <= kTolerance * largest) {
      // Nothing at either end: the stage has nothing to do but to pass on.
      lattice.t[stage] = 0;
    } else {
      if (std::abs(under) <= kTolerance * std::abs(over)) return infinite(stage);
      lattice.t[stage] = over / under;
    }
    const double t = lattice.t[stage], determinant = 1 + t * t;
    lattice.s[stage] = -t;
    std::vector<double> q(a.size()), p(a.size());
    for (std::size_t j = 0; j < a.size(); ++j) {
      q[j] = (a[j] - t * b[j]) / determinant;
      p[j] = (t * a[j] + b[j]) / determinant;
    }
    if (!vanish(q, p, largest)) return no_delay(stage);
    a.assign(p.begin() + 2, p.end());  // the stage before makes P as its first output and Q as its second
    b.assign(q.begin(), q.end() - 2);
  }
  if (std::abs(a[0]) <= kTolerance * std::abs(a[1])) return infinite(0);
  lattice.t[0] = a[1] / a[0];
  lattice.s[0] = -lattice.t[0];
  lattice.low_scale = a[0];
  lattice.high_scale = sign * a[0];
  return lattice;
}

Result<std::vector<double>> factorise_tangents(const Filters& filters) {
  if (auto reasons = reasons_against(filters); !reasons.empty()) return reasons;
  if (orientation(filters) < 0)
    return error(
        "the high-pass filter has the sign that this lattice cannot make: it scales both bands by one number",
        "negate the high-pass filter");
  std::vector<double> u = filters.high, v = filters.low;  // of the butterfly: u = Q + w P, v = w Q - P
  const std::size_t stages = u.size() / 2;
  std::vector<double> wtg(stages + 1);
  for (std::size_t stage = stages; stage-- > 1;) {
    const double largest = norm_of(u);  // what is left becomes smaller from stage to stage
    // Where Q has ended, u = -w v; before P begins, v = w u.
    const Ends last = larger_at(u, v, u.size() - 2), first = larger_at(u, v, 0);
    const bool from_last = std::hypot(last.u, last.v) > std::hypot(first.u, first.v);
    const double over = from_last ? -last.u : first.v, under = from_last ? last.v : first.u;
    if (std::hypot(over, under) > kTolerance * largest) {
      if (std::abs(under) <= kTolerance * std::abs(over)) return infinite(stage);
      wtg[stage] = over / under;
    }
    const double w = wtg[stage], determinant = 1 + w * w;
    std::vector<double> q(u.size()), p(u.size());
    for (std::size_t j = 0; j < u.size(); ++j) {
      q[j] = (u[j] + w * v[j]) / determinant;
      p[j] = (w * u[j] - v[j]) / determinant;
    }
    if (!vanish(q, p, largest)) return no_delay(stage);
    u.assign(p.begin() + 2, p.end());  // the stage before makes P as its first output and Q as its second
    v.assign(q.begin(), q.end() - 2);
  }
  if (std::abs(u[0]) <= kTolerance * std::abs(u[1])) return infinite(0);
  wtg[0] = u[1] / u[0];
  wtg[stages] = u[0];
  return wtg;
}

std::vector<float> ltt_coefficients(const Lattice& lattice) {
  std::vector<float> coefs;
  for (std::size_t i = 0; i < lattice.t.size(); ++i) {
    coefs.push_back(static_cast<float>(lattice.t[i]));
    coefs.push_back(static_cast<float>(lattice.s[i]));
  }
  coefs.push_back(static_cast<float>(lattice.high_scale));
  coefs.push_back(static_cast<float>(lattice.low_scale));
  return coefs;
}

std::vector<float> ltt_inverse_coefficients(const Lattice& lattice) {
  std::vector<float> coefs;
  double determinants = 1;
  for (std::size_t i = 0; i < lattice.t.size(); ++i) {
    coefs.push_back(static_cast<float>(-lattice.t[i]));
    coefs.push_back(static_cast<float>(-lattice.s[i]));
    determinants *= 1 - lattice.t[i] * lattice.s[i];
  }
  coefs.push_back(static_cast<float>(1 / (lattice.high_scale * determinants)));
  coefs.push_back(static_cast<float>(1 / (lattice.low_scale * determinants)));
  return coefs;
}

Signal lattice_forward(const Signal& signal, const Lattice& lattice) {
  Signal data = signal;
  const std::size_t n = data.size(), stages = lattice.t.size();
  for (std::size_t stage = 0; stage < stages; ++stage)
    for (std::size_t i = stage % 2; i < n; i += 2) {
      const double a = data[i], b = data[(i + 1) % n];
      data[i] = a + lattice.t[stage] * b;
      data[(i + 1) % n] = lattice.s[stage] * a + b;
    }
  const std::size_t low = (stages - 1) % 2;
  for (std::size_t i = 0; i < n; ++i) data[i] *= i % 2 == low ? lattice.low_scale : lattice.high_scale;
  return data;
}

Signal lattice_inverse(const Signal& coefficients, const Lattice& lattice) {
  Signal data = coefficients;
  const std::size_t n = data.size(), stages = lattice.t.size(), low = (stages - 1) % 2;
  for (std::size_t i = 0; i < n; ++i) data[i] /= i % 2 == low ? lattice.low_scale : lattice.high_scale;
  for (std::size_t stage = stages; stage-- > 0;)
    for (std::size_t i = stage % 2; i < n; i += 2) {
      const double a = data[i], b = data[(i + 1) % n], determinant = 1 - lattice.t[stage] * lattice.s[stage];
      data[i] = (a - lattice.t[stage] * b) / determinant;
      data[(i + 1) % n] = (b - lattice.s[stage] * a) / determinant;
    }
  return data;
}

}  // namespace warptime::reference
