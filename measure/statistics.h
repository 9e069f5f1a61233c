// Medians and spreads of repeated measurements.
#pragma once

#include <vector>

namespace warptime::measuring {

// Of `values`, sorted or not, at least one; between two of them linearly (numpy's default).
double quantile(std::vector<double> values, double fraction);
double median(const std::vector<double>& values);
// The interquartile range: between a quarter and three quarters.
double interquartile_range(const std::vector<double>& values);

}  // namespace warptime::measuring
