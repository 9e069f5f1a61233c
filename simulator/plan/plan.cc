#include "simulator/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "simulator/base/did_you_mean.h"
#include "simulator/base/text.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Entry;
using yaml::Fields;
using yaml::Node;
using yaml::Reader;

constexpr int kDeepestNesting = 100;
constexpr std::size_t kDimensions = 3;
constexpr std::array<std::string_view, 6> kLaunchDimensions = {"blockDim.x", "blockDim.y", "blockDim.z",
                                                               "gridDim.x",  "gridDim.y",  "gridDim.z"};

constexpr std::array kDirections = {PlanTransferDirection::host_to_device,
                                    PlanTransferDirection::device_to_host,
                                    PlanTransferDirection::device_to_device, PlanTransferDirection::set};

struct KnownFlag {
  std::string_view name;
  bool is_path;            // its value is a file or a folder
  bool joined, separated;  // whether the value may follow in the same word, and in the next one
};
constexpr std::array<KnownFlag, 8> kFlags = {{{"-I", true, true, true},
                                              {"-iquote", true, false, true},
                                              {"-isystem", true, false, true},
                                              {"-include", true, false, true},
                                              {"-D", false, true, true},
                                              {"-U", false, true, true},
                                              {"-std=", false, true, false},
                                              {"-x", false, true, true}}};

class PlanReader {
 public:
  PlanReader(Reader& reader, std::string file) : reader_(reader), file_(std::move(file)) {}

  Plan read(const Node& document) {
    Plan plan;
    plan.file = file_;
    Fields fields(reader_, document,
                  {"warptime", "name", "description", "parameters", "flags", "typical", "launches",
                   "transfers", "arrays", "input", "output", "calibrations"},
                  "a plan");
    yaml::check_version(reader_, fields, Plan::format_version);
    if (const Node* node = fields.require("name")) plan.name = read_plan_name(*node);
    if (const Node* node = fields.find("description"))
      plan.description = reader_.text(*node, "`description`");
    if (const Node* node = fields.find("parameters")) plan.parameters = read_parameters(*node);
    if (const Node* node = fields.find("flags")) plan.flags = read_flags(*node);
    if (const Node* node = fields.find("typical")) plan.typical = read_typical(*node);
    if (const Node* node = fields.find("arrays")) plan.arrays = read_plan_arrays(reader_, *node, scope_);
    for (const auto& array : plan.arrays) arrays_.push_back(array.name);
    if (const Node* node = fields.find("input")) plan.input = read_parts(*node, "`input`");
    if (const Node* node = fields.find("output")) plan.output = read_parts(*node, "`output`");
    if (const Node* node = fields.require("launches")) plan.steps = read_steps(*node, 1);
    if (const Node* node = fields.find("transfers")) plan.transfers = read_transfers(*node, 1);
    if (const Node* node = fields.find("calibrations")) plan.calibrations = read_calibrations(reader_, *node);
    return plan;
  }

 private:
  std::string read_plan_name(const Node& node) {
    std::string name = reader_.text(node, "`name`");
    if (name.empty()) reader_.error(node, "`name` is empty");
    return name;
  }

  std::vector<Parameter> read_parameters(const Node& node) {
    std::vector<Parameter> parameters;
    const auto add = [&](const Node& name, std::string description) {
      const std::string text = reader_.text(name, "a parameter's name");
      bring_into_scope(name, text, "parameter");
      parameters.push_back({text, std::move(description)});
    };
    if (node.kind == Node::Kind::sequence) {
      for (const Node& name : node.items) add(name, {});
    } else if (node.kind == Node::Kind::mapping) {
      for (const Entry& entry : node.entries)
        add(entry.key, reader_.text(entry.value, "a parameter's description"));
    } else if (node.kind != Node::Kind::null) {
      reader_.error(node, "`parameters` must be a list of names, or a mapping from names to descriptions");
    }
    return parameters;
  }

  // Of untrusted plans, too: flags that run something, or write, are none of a plan's.
  std::vector<std::string> read_flags(const Node& node) {
    std::vector<std::string> flags;
    if (node.kind == Node::Kind::null) return flags;
    if (node.kind != Node::Kind::sequence) {
      reader_.error(node, "`flags` must be a list", "flags: [-I, include]");
      return flags;
    }
    bool is_value = false;
    for (const Node& item : node.items) {
      flags.push_back(reader_.text(item, "a flag"));
      if (is_value) {
        is_value = false;
        continue;
      }
      const PlanFlag known = plan_flag(flags.back());
      if (!known.kept) {
        std::vector<std::string_view> names;
        for (const KnownFlag& flag : kFlags) names.push_back(flag.name);
        reader_.error(
            item, fmt::format("`{}` is not a flag that a plan may have", flags.back()),
            fmt::format("these are {}; others follow `--` on the command line", fmt::join(names, ", ")));
      }
      is_value = known.value_follows;
    }
    if (is_value) reader_.error(node, fmt::format("`{}` has no value", flags.back()));
    return flags;
  }

  std::vector<std::pair<std::string, std::int64_t>> read_typical(const Node& node) {
    std::vector<std::pair<std::string, std::int64_t>> values;
    if (node.kind == Node::Kind::null) return values;
    if (node.kind != Node::Kind::mapping) {
      reader_.error(node, "`typical` must be a mapping from parameters to values",
                    "typical: {K: 8, N: 2^20}");
      return values;
    }
    std::set<std::string> seen;
    for (const Entry& entry : node.entries) {
      const std::string name = reader_.text(entry.key, "a parameter's name");
      if (std::find(scope_.begin(), scope_.end(), name) == scope_.end()) {
        const std::string near = nearest(name, scope_);
        reader_.error(entry.key, fmt::format("`{}` is not a parameter of the plan", name),
                      near.empty() ? "" : fmt::format("did you mean `{}`?", near));
      }
      if (!seen.insert(name).second) reader_.error(entry.key, fmt::format("`{}` occurs twice", name));
      const auto value = reader_.expression(entry.value, fmt::format("`{}`", name), Reader::Constant::count);
      const auto count = evaluate_count(value, {});
      if (count) {
        values.emplace_back(name, *count);
      } else if (!value.names().empty()) {
        reader_.error(entry.value, fmt::format("the typical `{}` is not a number", name),
                      "such as 8 or 2^20");
      }
    }
    return values;
  }

  void bring_into_scope(const Node& where, const std::string& name, std::string_view what) {
    if (!is_name(name) || is_launch_dimension(name)) {
      reader_.error(where, fmt::format("`{}` is not a valid name for a {}", name, what),
                    "use letters, digits and `_`, not beginning with a digit");
    } else if (std::find(scope_.begin(), scope_.end(), name) != scope_.end()) {
      reader_.error(where, fmt::format("`{}` is already the name of a parameter or counter", name));
    } else if (is_array(name)) {
      reader_.error(where, fmt::format("`{}` is already the name of an array", name));
    }
    scope_.push_back(name);
  }

  std::vector<PlanPart> read_parts(const Node& node, const std::string& what) {
    std::vector<PlanPart> parts;
    if (node.kind != Node::Kind::sequence || node.items.empty()) {
      reader_.error(node, what + " must be a list of parts of arrays", "[{from: x, elements: N}]");
      return parts;
    }
    for (const Node& item : node.items) {
      PlanPart part;
      Fields fields(reader_, item, {"from", "elements"}, "a part");
      if (const Node* from = fields.require("from")) {
        part.from = expression(*from, "`from`", May::be_argument);
        if (!is_data(part.from)) reader_.error(*from, "`from` names none of the plan's arrays");
      }
      if (const Node* elements = fields.require("elements"))
        part.elements = expression(*elements, "`elements`");
      parts.push_back(std::move(part));
    }
    return parts;
  }

  std::vector<PlanStep> read_steps(const Node& node, int depth) {
    std::vector<PlanStep> steps;
    if (depth > kDeepestNesting) {
      reader_.error(node, fmt::format("launches are nested more than {} deep", kDeepestNesting));
    } else if (node.kind != Node::Kind::sequence || node.items.empty()) {
      reader_.error(node, "`launches` must be a list of launches", "- {kernel: mtx.cu, threads: N}");
    } else {
      for (const Node& item : node.items) steps.push_back(read_step(item, depth));
    }
    return steps;
  }

  PlanStep read_step(const Node& node, int depth) {
    PlanStep step;
    step.line = node.line;
    const auto has = [&](std::string_view key) {
      return std::any_of(node.entries.begin(), node.entries.end(),
                         [&](const Entry& entry) { return entry.key.text == key; });
    };
    const bool group = has("launches"), copy = !group && has("copy");
    const std::vector<std::string> group_keys = {"repeat", "counter", "streams", "launches"};
    const std::vector<std::string> copy_keys = {"copy", "repeat", "counter"};
    const std::vector<std::string> launch_keys = {"kernel", "entry",  "arguments", "threads",
                                                  "grid",   "block",  "blocks",    "threads_per_block",
                                                  "shared", "repeat", "counter"};
    Fields fields(reader_, node,
                  group  ? group_keys
                  : copy ? copy_keys
                         : launch_keys,
                  group  ? "a group of launches"
                  : copy ? "a copy"
                         : "a launch");
    if (const Node* repeat = fields.find("repeat")) step.repeat = expression(*repeat, "`repeat`");
    const Node* streams = group ? fields.find("streams") : nullptr;
    if (streams != nullptr) step.streams = read_streams(*streams);
    if (const Node* counter = fields.find("counter")) {
      step.counter = reader_.text(*counter, "`counter`");
      bring_into_scope(*counter, step.counter, "counter");
    }
    if (group) {
      const bool around = std::exchange(in_streams_, in_streams_ || streams != nullptr);
      step.steps = read_steps(*fields.find("launches"), depth + 1);
      in_streams_ = around;
    } else if (copy) {
      step.copy = read_copy(*fields.find("copy"));
    } else {
      step.launch = read_launch(fields);
    }
    if (fields.find("counter") != nullptr) scope_.pop_back();
    return step;
  }

  Expression read_streams(const Node& node) {
    if (in_streams_) reader_.error(node, "`streams` in a group that is in streams itself");
    return expression(node, "`streams`");
  }

  PlanCopy read_copy(const Node& node) {
    PlanCopy copy;
    Fields fields(reader_, node, {"bytes", "to"}, "`copy`");
    if (const Node* bytes = fields.require("bytes")) copy.bytes = expression(*bytes, "`bytes`");
    if (const Node* to = fields.require("to")) {
      const std::string text = reader_.text(*to, "`to`");
      if (text == "host")
        copy.direction = PlanTransferDirection::device_to_host;
      else if (text != "device")
        reader_.error(*to, fmt::format("a copy is to `device` or to `host`, not to `{}`", text));
    }
    return copy;
  }

  std::vector<PlanTransfer> read_transfers(const Node& node, int depth) {
    std::vector<PlanTransfer> transfers;
    if (depth > kDeepestNesting) {
      reader_.error(node, fmt::format("transfers are nested more than {} deep", kDeepestNesting));
    } else if (node.kind != Node::Kind::sequence) {
      reader_.error(node, "`transfers` is a list of transfers",
                    "- {direction: host_to_device, bytes: 4 * N}");
    } else {
      for (const Node& item : node.items) transfers.push_back(read_transfer(item, depth));
    }
    return transfers;
  }

  PlanTransfer read_transfer(const Node& node, int depth) {
    PlanTransfer transfer;
    const bool group = std::any_of(node.entries.begin(), node.entries.end(),
                                   [](const Entry& entry) { return entry.key.text == "transfers"; });
    const std::vector<std::string> group_keys = {"repeat", "counter", "transfers"};
    const std::vector<std::string> transfer_keys = {"direction", "bytes", "repeat", "counter"};
    Fields fields(reader_, node, group ? group_keys : transfer_keys,
                  group ? "a group of transfers" : "a transfer");
    if (const Node* repeat = fields.find("repeat")) transfer.repeat = expression(*repeat, "`repeat`");
    if (const Node* counter = fields.find("counter")) {
      transfer.counter = reader_.text(*counter, "`counter`");
      bring_into_scope(*counter, transfer.counter, "counter");
    }
    if (group) {
      transfer.transfers = read_transfers(*fields.find("transfers"), depth + 1);
    } else {
      if (const Node* direction = fields.require("direction"))
        transfer.direction = read_direction(*direction);
      if (const Node* bytes = fields.require("bytes")) transfer.bytes = expression(*bytes, "`bytes`");
    }
    if (fields.find("counter") != nullptr) scope_.pop_back();
    return transfer;
  }

  PlanTransferDirection read_direction(const Node& node) {
    const std::string text = reader_.text(node, "`direction`");
    for (const auto direction : kDirections)
      if (to_string(direction) == text) return direction;
    std::vector<std::string> names;
    for (const auto direction : kDirections) names.emplace_back(to_string(direction));
    reader_.error(node, fmt::format("unknown direction `{}`", text), yaml::list_of(names));
    return kDirections.front();
  }

  PlanLaunch read_launch(Fields& fields) {
    PlanLaunch launch;
    if (const Node* node = fields.require("kernel")) {
      launch.kernel = reader_.text(*node, "`kernel`");
      if (launch.kernel.empty()) reader_.error(*node, "`kernel` is empty: it must name the kernel's file");
    }
    if (const Node* node = fields.find("entry")) launch.entry = reader_.text(*node, "`entry`");
    if (const Node* node = fields.find("arguments")) read_arguments(*node, launch);
    if (const Node* node = fields.find("threads")) launch.threads = expression(*node, "`threads`");
    launch.grid = read_size(fields, "grid", "blocks");
    launch.block = read_size(fields, "block", "threads_per_block");
    if (const Node* node = fields.find("shared"))
      launch.shared = expression(*node, "`shared`", May::use_dimensions);
    check_size(fields, launch);
    return launch;
  }

  // `key`, or the other name that it may have.
  Dim3Expressions read_size(const Fields& fields, std::string_view key, std::string_view other) {
    const Node* node = fields.find(key);
    const Node* by_other = fields.find(other);
    if (node != nullptr && by_other != nullptr)
      reader_.error(*by_other, fmt::format("`{}` is `{}` under another name: give one of them", other, key));
    const std::string what = fmt::format("`{}`", node != nullptr ? key : other);
    if (node == nullptr) node = by_other;
    return node != nullptr ? read_dimensions(*node, what) : Dim3Expressions();
  }

  // YAML cuts `[ceil_div(N, 32), 8]` at each comma.
  static std::vector<Node> whole_items(const Node& list) {
    std::vector<std::string> texts;
    for (const Node& item : list.items) texts.push_back(item.text);
    std::vector<Node> items;
    for (WholePiece& whole : rejoined_in_parentheses(texts)) {
      items.push_back(list.items[whole.first]);
      items.back().text = std::move(whole.text);
    }
    return items;
  }

  Dim3Expressions read_dimensions(const Node& node, const std::string& what) {
    if (node.kind != Node::Kind::sequence) return {expression(node, what)};
    Dim3Expressions sizes;
    for (const Node& item : whole_items(node)) sizes.push_back(expression(item, what));
    if (sizes.empty() || sizes.size() > kDimensions) {
      reader_.error(node, fmt::format("{} has {} dimensions, not 1 to {}", what, sizes.size(), kDimensions),
                    "[X], [X, Y] or [X, Y, Z]");
      sizes.resize(kDimensions, 1);
    }
    return sizes;
  }

  void check_size(const Fields& fields, const PlanLaunch& launch) {
    if (fields.node().kind != Node::Kind::mapping) return;
    const bool sized = !launch.grid.empty() || !launch.block.empty();
    if (launch.threads && sized) {
      reader_.error(fields.node(), "a launch must have either `threads`, or `grid` and `block`");
    } else if (!launch.threads && !sized) {
      reader_.error(fields.node(), "a launch has neither `threads` nor `grid` and `block`");
    } else if (sized && launch.block.empty()) {
      const bool short_form = fields.find("blocks") != nullptr;
      reader_.error(fields.node(), short_form ? "a launch with `blocks` needs `threads_per_block`"
                                              : "a launch with `grid` needs `block`");
    } else if (sized && launch.grid.empty()) {
      const bool short_form = fields.find("threads_per_block") != nullptr;
      reader_.error(fields.node(), short_form ? "a launch with `threads_per_block` needs `blocks`"
                                              : "a launch with `block` needs `grid`");
    }
  }

  void read_arguments(const Node& node, PlanLaunch& launch) {
    if (node.kind == Node::Kind::null) return;
    if (node.kind != Node::Kind::mapping)
      return reader_.error(node, "`arguments` must be a mapping from names to expressions");
    std::set<std::string> seen;
    for (const Entry& entry : node.entries) {
      const std::string name = reader_.text(entry.key, "an argument's name");
      if (!is_name(name))
        reader_.error(entry.key, fmt::format("`{}` is not a valid name for an argument", name));
      if (!seen.insert(name).second) reader_.error(entry.key, fmt::format("`{}` occurs twice", name));
      auto value = expression(entry.value, fmt::format("`{}`", name), May::be_argument);
      auto& arguments = is_data(value) ? launch.data : launch.arguments;
      arguments.emplace_back(name, std::move(value));
    }
  }

  bool is_array(const std::string& name) const {
    return std::find(arrays_.begin(), arrays_.end(), name) != arrays_.end();
  }
  bool is_data(const Expression& value) const {
    if (value.op() == Expression::Operator::name) return is_array(value.name_text());
    if (value.op() == Expression::Operator::decimal)
      return value.decimal_value() != std::floor(value.decimal_value());
    const auto& operands = value.operands();
    return std::any_of(operands.begin(), operands.end(), [&](const auto& one) { return is_data(one); });
  }

  // What an expression may be beyond a count over parameters and counters.
  enum class May { be_count, use_dimensions, be_argument };
  Expression expression(const Node& node, std::string_view what, May may = May::be_count) {
    const bool argument = may == May::be_argument;
    const Expression read =
        reader_.expression(node, what, argument ? Reader::Constant::any : Reader::Constant::count);
    for (const std::string& name : read.names()) {
      if (std::find(scope_.begin(), scope_.end(), name) != scope_.end()) continue;
      if (may != May::be_count && is_launch_dimension(name)) continue;
      if (argument && is_array(name)) continue;
      const std::string near = nearest(name, scope_);
      std::string hint = near.empty() ? "" : fmt::format("did you mean `{}`?", near);
      if (scope_.empty()) hint = fmt::format("`parameters: [{}]` declares it", name);
      reader_.error(
          node, fmt::format("{}: `{}` is neither a parameter of the plan nor a counter", what, name), hint);
    }
    return read;
  }

  Reader& reader_;
  std::string file_;
  std::vector<std::string> arrays_;
  std::vector<std::string> scope_;  // parameters, and the counters of the groups around
  bool in_streams_ = false;         // whether a group around has `streams`
};

}  // namespace

PlanFlag plan_flag(const std::string& word) {
  for (const KnownFlag& flag : kFlags) {
    const bool separated = word == flag.name;
    if (separated ? flag.separated : flag.joined && word.starts_with(flag.name))
      return {true, std::string(flag.name), flag.is_path, separated};
  }
  return {};
}

bool leaves_blocks(const Plan& plan) {
  bool leaves = false;
  for_each_launch(plan.steps,
                  [&](const PlanStep& step) { leaves = leaves || step.launch->threads.has_value(); });
  return leaves;
}

bool has_copies(const std::vector<PlanStep>& steps) {
  return std::any_of(steps.begin(), steps.end(),
                     [](const PlanStep& step) { return step.copy || has_copies(step.steps); });
}

std::span<const std::string_view> launch_dimensions() {
  return kLaunchDimensions;
}

bool is_launch_dimension(std::string_view name) {
  return std::find(kLaunchDimensions.begin(), kLaunchDimensions.end(), name) != kLaunchDimensions.end();
}

std::string_view to_string(PlanTransferDirection direction) {
  switch (direction) {
    case PlanTransferDirection::host_to_device:
      return "host_to_device";
    case PlanTransferDirection::device_to_host:
      return "device_to_host";
    case PlanTransferDirection::device_to_device:
      return "device_to_device";
    case PlanTransferDirection::set:
      break;
  }
  return "set";
}

Result<Plan> read_plan(std::string_view text, const std::string& file) {
  const auto documents = yaml::parse(text, file);
  if (!documents) return documents.diagnostics();
  if (documents->size() != 1 || documents->front().kind == Node::Kind::null) {
    return error_at(file, 0, 0, fmt::format("a plan must be one YAML document, not {}", documents->size()));
  }
  Reader reader(text, file);
  Plan plan = PlanReader(reader, file).read(documents->front());
  if (reader.failed()) return reader.take();
  return plan;
}

bool looks_like_plan(std::string_view text) {
  // Reading the YAML of a large kernel program takes longer than what is asked of it.
  if (text.find("launches") == std::string_view::npos) return false;
  const auto keys = yaml::top_level_keys(text);
  const auto has = [&](std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  return has("launches") && !has("program");
}

}  // namespace warptime
