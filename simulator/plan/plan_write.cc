#include "simulator/plan/plan_write.h"

#include <fmt/format.h>

#include <utility>

#include "simulator/base/visible.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

bool is_one(const Expression& expression) {
  return expression.is_integer() && expression.integer_value() == 1;
}

std::string in_flow(const Expression& expression) {
  return yaml::scalar(to_string(expression), true);
}

std::string flow_mapping(const std::vector<std::pair<std::string, Expression>>& first,
                         const std::vector<std::pair<std::string, Expression>>& second) {
  std::string text;
  for (const auto* list : {&first, &second})
    for (const auto& [name, value] : *list)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", yaml::scalar(name, true), in_flow(value));
  return "{" + text + "}";
}

class PlanWriter {
 public:
  std::string write(const Plan& plan, const std::vector<std::string>& comments) {
    for (const std::string& comment : comments) line(0, comment.empty() ? "#" : "# " + visible(comment));
    line(0, "name: " + yaml::scalar(plan.name));
    if (!plan.description.empty()) line(0, "description: " + yaml::scalar(plan.description));
    if (!plan.parameters.empty()) line(0, "parameters:");
    for (const Parameter& parameter : plan.parameters)
      line(2, fmt::format("{}: {}", yaml::scalar(parameter.name), yaml::scalar(parameter.description)));
    std::vector<std::string> flags;
    for (const std::string& flag : plan.flags) flags.push_back(yaml::scalar(flag, true));
    if (!flags.empty()) line(0, fmt::format("flags: [{}]", fmt::join(flags, ", ")));
    typical(plan);
    arrays(plan.arrays);
    parts("input", plan.input);
    parts("output", plan.output);
    line(0, "launches:");
    for (const PlanStep& step : plan.steps) this->step(step, 2);
    if (!plan.transfers.empty()) line(0, "transfers:");
    for (const PlanTransfer& transfer : plan.transfers) this->transfer(transfer, 2);
    calibrations(plan.calibrations);
    return std::move(out_);
  }

 private:
  void line(int indent, const std::string& text, const std::string& comment = {}) {
    out_.append(static_cast<std::size_t>(indent), ' ');
    out_ += text;
    if (!comment.empty()) out_ += "  # " + visible(comment);  // a line break would end it
    out_ += '\n';
  }

  void typical(const Plan& plan) {
    std::string text;
    for (const auto& [name, value] : plan.typical)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", yaml::scalar(name, true), value);
    if (!text.empty()) line(0, "typical: {" + text + "}");
  }

  void arrays(const std::vector<PlanArray>& arrays) {
    if (!arrays.empty()) line(0, "arrays:");
    for (const PlanArray& array : arrays) {
      const bool plain = array.type == ElementType::f32 && array.fill == ArrayFill::random &&
                         array.wavelet == WaveletNumbers::none;
      std::string fields = "elements: " + in_flow(array.elements);
      if (array.type != ElementType::f32) fields += fmt::format(", type: {}", to_string(array.type));
      if (array.fill == ArrayFill::constant)
        fields += fmt::format(", fill: {}", array.value);
      else if (array.fill != ArrayFill::random)
        fields += fmt::format(", fill: {}", to_string(array.fill));
      if (array.fill == ArrayFill::cycle_leaders) fields += ", of: " + in_flow(array.of);
      if (array.wavelet != WaveletNumbers::none)
        fields += fmt::format(", wavelet: {}", to_string(array.wavelet));
      line(2, fmt::format("{}: {}", yaml::scalar(array.name),
                          plain ? yaml::scalar(to_string(array.elements)) : "{" + fields + "}"));
    }
  }

  void parts(const char* key, const std::vector<PlanPart>& parts) {
    std::string text;
    for (const PlanPart& part : parts)
      text += fmt::format("{}{{from: {}, elements: {}}}", text.empty() ? "" : ", ", in_flow(part.from),
                          in_flow(part.elements));
    if (!text.empty()) line(0, fmt::format("{}: [{}]", key, text));
  }

  void repeats(int indent, const Expression& repeat, const std::string& counter) {
    if (!is_one(repeat) || !counter.empty()) line(indent, "repeat: " + yaml::scalar(to_string(repeat)));
    if (!counter.empty()) line(indent, "counter: " + yaml::scalar(counter));
  }

  // The first key of a list's item stands behind its dash.
  template <class Keys>
  void item(int indent, Keys keys) {
    const std::size_t begin = out_.size();
    keys(indent + 2);
    out_[begin + static_cast<std::size_t>(indent)] = '-';
  }

  void step(const PlanStep& step, int indent) {
    item(indent, [&](int inner) {
      if (step.launch) {
        launch(*step.launch, inner, step.origin);
        repeats(inner, step.repeat, step.counter);
        return;
      }
      if (step.copy) {
        line(inner,
             fmt::format("copy: {{bytes: {}, to: {}}}", in_flow(step.copy->bytes),
                         step.copy->direction == PlanTransferDirection::device_to_host ? "host" : "device"),
             step.origin);
        repeats(inner, step.repeat, step.counter);
        return;
      }
      line(inner, "repeat: " + yaml::scalar(to_string(step.repeat)), step.origin);
      if (!step.counter.empty()) line(inner, "counter: " + yaml::scalar(step.counter));
      if (step.streams) line(inner, "streams: " + yaml::scalar(to_string(*step.streams)));
      line(inner, "launches:");
      for (const PlanStep& one : step.steps) this->step(one, inner + 2);
    });
  }

  void launch(const PlanLaunch& launch, int indent, const std::string& origin) {
    line(indent, "kernel: " + yaml::scalar(launch.kernel), origin);
    if (!launch.entry.empty()) line(indent, "entry: " + yaml::scalar(launch.entry));
    if (!launch.arguments.empty() || !launch.data.empty())
      line(indent, "arguments: " + flow_mapping(launch.arguments, launch.data));
    if (launch.threads) line(indent, "threads: " + yaml::scalar(to_string(*launch.threads)));
    size(indent, "grid", launch.grid);
    size(indent, "block", launch.block);
    if (launch.shared) line(indent, "shared: " + yaml::scalar(to_string(*launch.shared)));
  }

  void size(int indent, const char* key, const Dim3Expressions& sizes) {
    if (sizes.empty()) return;
    std::string text;
    for (const Expression& size : sizes) text += (text.empty() ? "" : ", ") + to_string(size);
    line(indent, fmt::format("{}: [{}]", key, text));
  }

  void transfer(const PlanTransfer& transfer, int indent) {
    if (transfer.transfers.empty()) {
      std::string fields =
          fmt::format("direction: {}, bytes: {}", to_string(transfer.direction), in_flow(transfer.bytes));
      if (!is_one(transfer.repeat) || !transfer.counter.empty())
        fields += ", repeat: " + in_flow(transfer.repeat);
      if (!transfer.counter.empty()) fields += ", counter: " + yaml::scalar(transfer.counter, true);
      line(indent, "- {" + fields + "}", transfer.origin);
      return;
    }
    item(indent, [&](int inner) {
      line(inner, "repeat: " + yaml::scalar(to_string(transfer.repeat)), transfer.origin);
      if (!transfer.counter.empty()) line(inner, "counter: " + yaml::scalar(transfer.counter));
      line(inner, "transfers:");
      for (const PlanTransfer& one : transfer.transfers) this->transfer(one, inner + 2);
    });
  }

  void calibrations(const Calibrations& calibrations) {
    if (!calibrations.empty()) line(0, "calibrations:");
    for (const auto& [gpu, one] : calibrations) {
      std::string fields;
      const auto field = [&](const char* key, const std::optional<double>& value) {
        if (value) fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", key, *value);
      };
      field("t_p", one.t_p_us);
      field("t_m", one.t_m_cycles);
      std::string durations;
      for (const auto& [name, cycles] : one.memory_cycles)
        durations += fmt::format("{}{}: {}", durations.empty() ? "" : ", ", name, cycles);
      if (!durations.empty())
        fields += fmt::format("{}memory_cycles: {{{}}}", fields.empty() ? "" : ", ", durations);
      if (!one.source.empty())
        fields += fmt::format("{}source: {}", fields.empty() ? "" : ", ", yaml::scalar(one.source, true));
      line(2, fmt::format("{}: {{{}}}", yaml::scalar(gpu), fields));
    }
  }

  std::string out_;
};

}  // namespace

std::string write_plan(const Plan& plan, const std::vector<std::string>& comments) {
  return PlanWriter().write(plan, comments);
}

}  // namespace warptime
