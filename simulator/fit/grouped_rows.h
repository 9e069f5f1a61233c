// Measured rows by their predictions: rows of the same parameters are predicted once, and an error over all of
// them takes time in proportion to the number of different ones.
#pragma once

#include <cstddef>
#include <vector>

namespace warptime {

class GroupedRows {
 public:
  // group_of: the group of each row, 0 to groups - 1; launches: of each group; measured_us: positive, of each row.
  GroupedRows(const std::vector<std::size_t>& group_of, const std::vector<double>& launches,
              const std::vector<double>& measured_us);

  // The mean of |1 - (t_p launches + rest) / measured| over all rows. rest_us: of each group.
  double mean_error(double t_p_us, const std::vector<double>& rest_us) const;

  // The t_p >= 0 with the smallest mean_error(): the weighted median of (measured - rest) / launches with weights
  // launches / measured. 0 where no row has a launch.
  double best_t_p(const std::vector<double>& rest_us) const;

  double largest_measured_us(std::size_t group) const { return groups_[group].measured_us.back(); }

 private:
  struct Group {
    double launches = 0;
    std::vector<double> measured_us;     // ascending
    std::vector<double> sum_of_inverse;  // of the first i of them, from 0 on
    // How many are at most `us`.
    std::size_t at_most(double us) const;
  };
  // The weight of the rows whose own t_p, (measured - rest) / launches, is at most this.
  double weight_at_most(double t_p_us, const std::vector<double>& rest_us) const;

  std::vector<Group> groups_;
  std::size_t rows_ = 0;
  double weight_ = 0;
};

}  // namespace warptime
