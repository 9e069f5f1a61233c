// What the warps of launches execute, for all row models of a plan: a sweep or a fit asks for the same launches again
// and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/model/timed_program.h"

namespace warptime {

class KnownWarps {
 public:
  struct Kind {  // warps that execute the same
    std::shared_ptr<const KernelProgram> program;
    double weight = 0;  // of the launch's warps
  };
  struct Launch {
    std::vector<Kind> kinds;
    bool sampled = false, threads_unknown = false;  // as in LaunchWarps
  };
  // The program, the values of its names, of those that decide how warps differ and of its shares, the launch's
  // dimensions.
  using Key = ProgramWithValues;
  static constexpr std::size_t kMost = 1 << 15;  // launches that are remembered, …
  static constexpr std::size_t kFew = 1 << 7;    // … and where more launches pass before one comes again

  struct Part {  // some of a launch's warps
    double weight = 0;
    Items items;                                         // what they execute, unless …
    std::optional<std::vector<std::int64_t>> decisions;  // … these tell (WarpGroup::decisions)
  };
  using Write = std::function<Items(std::size_t)>;

  // How many launches are remembered: for `rows`, each with launches of its own, that are computed one after the other.
  // What is forgotten before it is asked for again only takes the place of other things in the caches of the CPU.
  void expect(std::uint64_t rows) { most_ = rows > kMost ? kFew : kMost; }
  std::size_t most() const { return most_; }
  // Whether threads gain from each other's launches. Where none comes again, they would only wait for each other: each
  // has a KnownWarps of its own, which remembers programs alone.
  bool worth_sharing() const { return most_ == kMost; }
  void remember_programs_only() { most_ = 0; }

  // nullptr: not known.
  std::shared_ptr<const Launch> find(const Key& key) const;
  // `launch` without its kinds. Warps that execute the same, of this launch or another, get one program: that of `key`
  // with their items. `write` gives the items of a part by its index, where its decisions are new.
  std::shared_ptr<const Launch> add(const Key& key, Launch launch, std::vector<Part> parts,
                                    const Write& write);

 private:
  std::shared_ptr<const KernelProgram> program_of(const KernelProgram& of, Items items);

  mutable std::mutex mutex_;
  std::atomic<std::size_t> most_ = kMost;
  std::unordered_map<Key, std::shared_ptr<const Launch>, Key::Hash> launches_;
  std::unordered_multimap<std::size_t, std::shared_ptr<const KernelProgram>>
      programs_;  // by a hash of their items
  std::unordered_map<Key, std::shared_ptr<const KernelProgram>, Key::Hash>
      decided_;    // by the program and the decisions of its warps
  Key decisions_;  // that are looked for
};

}  // namespace warptime
