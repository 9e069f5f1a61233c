// Copies and kernels over time, in streams.
//
// A GPU has three engines: for copies to the device, for kernels, and for copies to the host. An operation begins when
// the one before it in its stream and the one before it on its engine have ended, in the order in which they were issued:
//
//   begin(i) = max(end(before i in its stream), end(before i on its engine)),  end(i) = begin(i) + us(i)
//
// While copies run in both directions, each is slower by the factor both_ways, as they share the bus.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime {

enum class StreamEngine : std::uint8_t { to_device, kernels, to_host };

class StreamTimeline {
 public:
  // both_ways: greater than 0, at most 1.
  explicit StreamTimeline(double both_ways = 1) : both_ways_(both_ways) {}

  // Issues an operation that takes so long if nothing runs beside it. One that follows another on the same engine and in
  // the same stream, with none issued between them, is the same operation.
  void add(std::size_t stream, StreamEngine engine, double us);
  // What is issued from now on waits for all before.
  void join();
  // The operations since the last join().
  std::size_t waiting() const { return operations_.size(); }
  // From the begin of the first operation to the end of the last one; joins.
  double total_us();

 private:
  static constexpr std::size_t kEngines = 3;
  struct Operation {
    std::size_t stream;
    std::size_t before;  // the number of the one before it in its stream, and 1; 0: there is none
    double us;           // what is left of it
    StreamEngine engine;
  };
  // Whether the one before it has ended.
  bool is_ready(std::size_t number) const;

  double both_ways_;
  double joined_us_ = 0;  // when all before the last join() had ended
  std::vector<Operation> operations_;
  std::vector<std::size_t> last_of_stream_;  // as Operation::before
  std::vector<char> ended_;
};

}  // namespace warptime
