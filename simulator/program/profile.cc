#include "simulator/program/profile.h"

#include <fmt/format.h>

#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Entry;
using yaml::Fields;
using yaml::Node;
using yaml::Reader;

void read_shares(Reader& reader, const Node& node, KernelProfile& profile) {
  for (const Entry& entry : node.entries) {
    const auto share = reader.number(entry.value, "a share");
    if (share && !(*share >= 0 && *share <= 1)) reader.error(entry.value, "a share must be 0 to 1");
    if (share) profile.shares[entry.key.text] = *share;
  }
}

void read_iterations(Reader& reader, const Node& node, KernelProfile& profile) {
  for (const Entry& entry : node.entries) {
    Fields fields(reader, entry.value, {"mean", "deviation", "most"}, "iterations");
    auto& iterations = profile.iterations[entry.key.text];
    if (const Node* mean = fields.require("mean"))
      iterations.mean = reader.number(*mean, "`mean`").value_or(0);
    if (const Node* spread = fields.find("deviation"))
      iterations.deviation = reader.number(*spread, "`deviation`").value_or(0);
    if (const Node* most = fields.find("most")) iterations.most = reader.integer(*most, "`most`").value_or(0);
    if (!(iterations.mean >= 0 && iterations.mean < 1e18))
      reader.error(entry.value, "`mean` must be at least 0");
  }
}

void read_sample(Reader& reader, const Node& node, KernelProfile& profile) {
  Fields fields(reader, node, {"blocks", "of"}, "`sample`");
  const auto number = [&](const char* key) {
    const Node* value = fields.require(key);
    return value == nullptr ? 0 : reader.integer(*value, fmt::format("`{}`", key)).value_or(0);
  };
  const auto blocks = number("blocks"), of = number("of");
  if (reader.failed()) return;
  if (blocks < 1 || blocks > of) return reader.error(node, "`blocks` must be 1 to `of`");
  profile.sample = {static_cast<std::uint64_t>(blocks), static_cast<std::uint64_t>(of)};
}

// The numbers of an access: each at least `least` and at most `most`.
class AccessReader {
 public:
  explicit AccessReader(Reader& reader) : reader_(reader) {}

  void read(const Node& node, AccessProfile& access) {
    Fields fields(reader_, node,
                  {"requests", "sectors", "lines", "atomic", "launch", "block", "repeats", "reuse_on_sm",
                   "first_on_sm", "reuse_in_launch", "sectors_by_turn"},
                  "an access");
    number(fields, "requests", 0, kMost, access.requests, true);
    number(fields, "sectors", 1, kMostSectors, access.sectors, true);
    number(fields, "lines", 1, kMostSectors, access.lines, true);
    number(fields, "repeats", 0, 1, access.repeats);
    if (access.lines > access.sectors) reader_.error(node, "`lines` must be at most `sectors`");
    if (const Node* atomic = fields.find("atomic")) read_atomic(*atomic, access);
    if (const Node* launch = fields.require("launch")) {
      Fields of(reader_, *launch, {"sectors", "pieces", "lines", "blocks", "threads"}, "`launch`");
      touched(of, access.launch);
      number(of, "blocks", 1, kMost, access.blocks, true);
      number(of, "threads", 1, kMost, access.threads, true);
    }
    if (const Node* block = fields.require("block")) {
      Fields of(reader_, *block, {"sectors", "pieces", "lines"}, "`block`");
      touched(of, access.block);
    }
    if (const Node* times = fields.find("reuse_on_sm")) read_times(*times, access.sm);
    if (const Node* turns = fields.find("sectors_by_turn")) read_turns(*turns, access.by_turn);
    if (const Node* times = fields.find("first_on_sm")) {
      read_times(*times, access.first);
      if (access.first.size() != kPartsOfFirst)
        reader_.error(*times, fmt::format("`first_on_sm` must have {} shares", kPartsOfFirst));
    }
    if (const Node* times = fields.find("reuse_in_launch")) read_times(*times, access.all);
  }

  void read(const Node& node, ChipAccessProfile& access) {
    Fields fields(reader_, node, {"requests", "ways"}, "an access on the chip");
    number(fields, "requests", 0, kMost, access.requests, true);
    number(fields, "ways", 1, 2 * kLanesOfWarp, access.ways, true);
  }

 private:
  static constexpr double kMost = 1e18, kLanesOfWarp = 32;
  static constexpr double kMostSectors = 4 * kLanesOfWarp;  // 16 bytes a thread, each in sectors of its own
  static constexpr std::size_t kMostTimes = 64;

  void number(Fields& fields, const char* key, double least, double most, double& into, bool needed = false) {
    const Node* node = needed ? fields.require(key) : fields.find(key);
    if (node == nullptr) return;
    const auto value = reader_.number(*node, fmt::format("`{}`", key));
    if (!value) return;
    into = *value;
    if (!(into >= least && into <= most))
      reader_.error(*node, fmt::format("`{}` must be {:.0f} to {:g}", key, least, most));
  }

  void touched(Fields& fields, TouchedMemory& memory) {
    number(fields, "sectors", 0, kMost, memory.sectors, true);
    number(fields, "pieces", 0, kMost, memory.pieces, true);
    number(fields, "lines", 0, kMost, memory.lines, true);
  }

  void read_atomic(const Node& node, AccessProfile& access) {
    Fields fields(reader_, node, {"turns", "addresses", "hottest", "hottest_lines"}, "`atomic`");
    number(fields, "turns", 1, kMostSectors, access.turns, true);
    number(fields, "addresses", 1, kLanesOfWarp, access.addresses, true);
    number(fields, "hottest", 0, 1, access.hottest);
    number(fields, "hottest_lines", 0, 1, access.hottest_lines);
  }

  void read_turns(const Node& node, std::vector<double>& turns) {
    if (node.kind != Node::Kind::sequence || node.items.size() > kMostTimes)
      return reader_.error(node,
                           fmt::format("`sectors_by_turn` must be a list of at most {} numbers", kMostTimes));
    for (const Node& item : node.items) {
      const auto sectors = reader_.number(item, "sectors of a request");
      if (sectors && !(*sectors >= 1 && *sectors <= kMostSectors))
        reader_.error(item, fmt::format("sectors of a request must be 1 to {:g}", kMostSectors));
      turns.push_back(sectors.value_or(1));
    }
  }

  void read_times(const Node& node, ReuseTimes& times) {
    if (node.kind != Node::Kind::sequence || node.items.size() > kMostTimes)
      return reader_.error(node, fmt::format("reuse times must be a list of at most {} shares", kMostTimes));
    double sum = 0;
    for (const Node& item : node.items) {
      const auto share = reader_.number(item, "a share");
      if (share && !(*share >= 0 && *share <= 1)) reader_.error(item, "a share must be 0 to 1");
      sum += times.emplace_back(share.value_or(0));
    }
    constexpr double rounding = 0.01;
    if (sum > 1 + rounding) reader_.error(node, "the shares must be 1 at most together");
  }

  Reader& reader_;
};

void read_accesses(Reader& reader, const Fields& fields, KernelProfile& kernel) {
  const auto each = [&](const char* key, const auto& read) {
    const Node* accesses = fields.find(key);
    if (accesses == nullptr) return;
    if (accesses->kind != Node::Kind::mapping)
      return reader.error(*accesses, fmt::format("`{}` must be a mapping", key));
    for (const Entry& entry : accesses->entries) read(entry);
  };
  each("accesses", [&](const Entry& entry) {
    AccessProfile access;
    AccessReader(reader).read(entry.value, access);
    kernel.accesses[entry.key.text] = std::make_shared<const AccessProfile>(std::move(access));
  });
  each("on_chip", [&](const Entry& entry) {
    AccessReader(reader).read(entry.value, kernel.chip_accesses[entry.key.text]);
  });
}

void append_times(std::string& text, const char* key, const ReuseTimes& times) {
  if (times.empty()) return;
  text += fmt::format("    {}: [", key);
  for (std::size_t k = 0; k < times.size(); ++k)
    text += fmt::format("{}{:.3g}", k == 0 ? "" : ", ", times[k]);
  text += "]\n";
}

void append_access(std::string& text, const std::string& name, const AccessProfile& access) {
  const auto touched = [](const TouchedMemory& memory) {
    return fmt::format("sectors: {:.6g}, pieces: {:.6g}, lines: {:.6g}", memory.sectors, memory.pieces,
                       memory.lines);
  };
  text += fmt::format("  {}:\n    requests: {:.12g}\n    sectors: {:.6g}\n    lines: {:.6g}\n", name,
                      access.requests, access.sectors, access.lines);
  if (access.turns > 0)
    text += fmt::format(
        "    atomic: {{turns: {:.6g}, addresses: {:.6g}, hottest: {:.3g}, hottest_lines: {:.3g}}}\n",
        access.turns, access.addresses, access.hottest, access.hottest_lines);
  text += fmt::format("    launch: {{{}, blocks: {:.12g}, threads: {:.12g}}}\n", touched(access.launch),
                      access.blocks, access.threads);
  text += fmt::format("    block: {{{}}}\n    repeats: {:.3g}\n", touched(access.block), access.repeats);
  append_times(text, "reuse_on_sm", access.sm);
  append_times(text, "sectors_by_turn", access.by_turn);
  append_times(text, "first_on_sm", access.first);
  append_times(text, "reuse_in_launch", access.all);
}

}  // namespace

const KernelProfile* Profile::of_kernel(std::string_view kernel) const {
  for (const KernelProfile& one : kernels)
    if (kernel.empty() || one.kernel.empty() || one.kernel == kernel) return &one;
  return nullptr;
}

std::optional<double> Profile::find(std::string_view kernel, std::string_view name) const {
  const std::string key(name);
  for (const KernelProfile& one : kernels) {
    if (!kernel.empty() && !one.kernel.empty() && one.kernel != kernel) continue;
    if (const auto share = one.shares.find(key); share != one.shares.end()) return share->second;
    if (const auto found = one.iterations.find(key); found != one.iterations.end()) return found->second.mean;
  }
  return std::nullopt;
}

Result<Profile> read_profile(std::string_view text, const std::string& file) {
  const auto documents = yaml::parse(text, file);
  if (!documents) return documents.diagnostics();
  Reader reader(text, file);
  Profile profile;
  for (const Node& document : *documents) {
    if (document.kind != Node::Kind::mapping) {
      reader.error(document, "a profile must be a mapping", "`warptime run --profile FILE` writes one");
      continue;
    }
    Fields fields(reader, document,
                  {"warptime", "kernel", "sample", "shares", "iterations", "accesses", "on_chip"},
                  "a profile");
    yaml::check_version(reader, fields, Profile::format_version);
    KernelProfile kernel;
    if (const Node* name = fields.find("kernel")) kernel.kernel = reader.text(*name, "`kernel`");
    if (const Node* sample = fields.find("sample")) read_sample(reader, *sample, kernel);
    if (const Node* shares = fields.find("shares")) read_shares(reader, *shares, kernel);
    if (const Node* loops = fields.find("iterations")) read_iterations(reader, *loops, kernel);
    read_accesses(reader, fields, kernel);
    profile.kernels.push_back(std::move(kernel));
  }
  if (reader.failed()) return reader.take();
  return profile;
}

std::string to_yaml(const Profile& profile) {
  std::string text;
  for (const KernelProfile& kernel : profile.kernels) {
    if (!text.empty()) text += "---\n";
    text += fmt::format("warptime: {}\nkernel: {}\n", Profile::format_version, yaml::scalar(kernel.kernel));
    if (kernel.sample)
      text += fmt::format("sample: {{blocks: {}, of: {}}}\n", kernel.sample->blocks, kernel.sample->of);
    if (!kernel.shares.empty()) text += "shares:\n";
    for (const auto& [name, share] : kernel.shares) text += fmt::format("  {}: {:.6g}\n", name, share);
    if (!kernel.iterations.empty()) text += "iterations:\n";
    for (const auto& [name, loop] : kernel.iterations)
      text += fmt::format("  {}: {{mean: {:.6g}, deviation: {:.6g}, most: {}}}\n", name, loop.mean,
                          loop.deviation, loop.most);
    if (!kernel.accesses.empty()) text += "accesses:\n";
    for (const auto& [name, access] : kernel.accesses) append_access(text, name, *access);
    if (!kernel.chip_accesses.empty()) text += "on_chip:\n";
    for (const auto& [name, access] : kernel.chip_accesses)
      text += fmt::format("  {}: {{requests: {:.12g}, ways: {:.6g}}}\n", name, access.requests, access.ways);
  }
  return text;
}

}  // namespace warptime
