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

}  // namespace

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
    Fields fields(reader, document, {"warptime", "kernel", "shares", "iterations"}, "a profile");
    yaml::check_version(reader, fields, Profile::format_version);
    KernelProfile kernel;
    if (const Node* name = fields.find("kernel")) kernel.kernel = reader.text(*name, "`kernel`");
    if (const Node* shares = fields.find("shares")) read_shares(reader, *shares, kernel);
    if (const Node* loops = fields.find("iterations")) read_iterations(reader, *loops, kernel);
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
    if (!kernel.shares.empty()) text += "shares:\n";
    for (const auto& [name, share] : kernel.shares) text += fmt::format("  {}: {:.6g}\n", name, share);
    if (!kernel.iterations.empty()) text += "iterations:\n";
    for (const auto& [name, loop] : kernel.iterations)
      text += fmt::format("  {}: {{mean: {:.6g}, deviation: {:.6g}, most: {}}}\n", name, loop.mean,
                          loop.deviation, loop.most);
  }
  return text;
}

}  // namespace warptime
