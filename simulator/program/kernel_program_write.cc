// Kernel programs -> YAML and JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "simulator/program/kernel_program.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

// Whether its registers are only estimated.
bool has_estimate(const KernelProgram& program) {
  return program.estimated_registers && !(program.resources && program.resources->registers_per_thread);
}

// What is known of them, under the keys of the file.
template <class Function>
void for_each_resource(const KernelProgram& program, Function function) {
  const KernelResources resources = program.resources.value_or(KernelResources());
  const auto figure = [&](std::string_view key, const auto& value) {
    if (value) function(key, static_cast<std::int64_t>(*value));
  };
  const auto bytes = [&](std::string_view key, std::int64_t value) {
    if (value != 0) function(key, value);
  };
  figure("registers",
         resources.registers_per_thread ? resources.registers_per_thread : program.estimated_registers);
  bytes("shared_bytes", resources.shared_bytes_static);
  if (!resources.dynamic_shared_unknown) bytes("dynamic_shared_bytes", resources.shared_bytes_dynamic);
  figure("max_threads_per_block", resources.max_threads);
  figure("required_threads_per_block", resources.required_threads);
  figure("min_blocks_per_sm", resources.min_blocks_per_sm);
}

class YamlWriter {
 public:
  std::string write(const KernelProgram& program) {
    line(0, fmt::format("warptime: {}", KernelProgram::format_version));
    const Provenance& from = program.provenance;
    text_field("kernel", from.kernel);
    text_field("symbol", from.symbol);
    text_field("source", from.source);
    text_field("compiler", from.compiler);
    text_field("target", from.target);
    text_field("flags", from.flags);
    text_field("description", program.description);
    parameters(program.parameters);
    if (!program.arrays.empty()) line(0, "arrays:");
    for (const Array& array : program.arrays)
      line(2, fmt::format("{}: {}", yaml::scalar(array.name), yaml::scalar(array.description)));
    assumptions(program.assumptions);
    if (!program.not_modelled.empty()) line(0, "not_modelled:");
    for (const auto& text : program.not_modelled) line(2, fmt::format("- {}", yaml::scalar(text)));
    if (program.instructions_modelled && program.instructions_total) {
      line(0, fmt::format("coverage: {{modelled: {}, instructions: {}}}", *program.instructions_modelled,
                          *program.instructions_total));
    }
    if (program.resources || program.estimated_registers) resources(program);
    if (program.block_shape) {
      const auto& [x, y, z] = *program.block_shape;
      line(0, fmt::format("block: [{}, {}, {}]", x, y, z));
    }
    items(0, "program", program.program);
    return std::move(out_);
  }

 private:
  void line(int indent, std::string_view text) {
    out_.append(static_cast<std::size_t>(indent), ' ');
    out_ += text;
    out_ += '\n';
  }

  void text_field(std::string_view key, const std::string& text) {
    if (!text.empty()) line(0, fmt::format("{}: {}", key, yaml::scalar(text)));
  }

  void parameters(const std::vector<Parameter>& parameters) {
    if (parameters.empty()) return;
    line(0, "parameters:");
    for (const Parameter& parameter : parameters) {
      if (parameter.share) {
        const std::string at = parameter.ptx_line > 0 ? fmt::format("ptx: {}, ", parameter.ptx_line) : "";
        line(2, fmt::format("{}: {{share: {}, {}description: {}}}", yaml::scalar(parameter.name),
                            *parameter.share, at, yaml::scalar(parameter.description, true)));
        continue;
      }
      line(2, fmt::format("{}: {}", yaml::scalar(parameter.name), yaml::scalar(parameter.description)));
    }
  }

  void assumptions(const std::vector<Assumption>& assumptions) {
    if (assumptions.empty()) return;
    line(0, "assumptions:");
    for (const Assumption& assumption : assumptions) {
      std::string fields;
      if (assumption.line > 0) fields += fmt::format("line: {}, ", assumption.line);
      if (assumption.ptx_line > 0) fields += fmt::format("ptx: {}, ", assumption.ptx_line);
      line(2, fields.empty() ? fmt::format("- {}", yaml::scalar(assumption.text))
                             : fmt::format("- {{{}text: {}}}", fields, yaml::scalar(assumption.text, true)));
    }
  }

  void resources(const KernelProgram& program) {
    std::string fields;
    for_each_resource(program, [&](std::string_view key, std::int64_t value) {
      fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", key, value);
      if (key == "registers" && has_estimate(program)) fields += ", registers_estimated: true";
    });
    if (program.resources && program.resources->dynamic_shared_unknown)
      fields += fmt::format("{}dynamic_shared_bytes: unknown", fields.empty() ? "" : ", ");
    line(0, fmt::format("resources: {{{}}}", fields));
  }

  void items(int indent, std::string_view key, const Items& items) {
    if (items.empty()) return line(indent, fmt::format("{}: []", key));
    line(indent, fmt::format("{}:", key));
    for (const Item& item : items) write_item(indent + 2, item);
  }

  void write_item(int indent, const Item& item) {
    const int inner = indent + 2;
    const auto begin = [&](std::string_view kind, const std::string& value) {
      line(indent, fmt::format("- {}: {}", kind, value));
    };
    const auto places = [&] {
      if (!item.lines.empty()) line(inner, fmt::format("lines: {}", to_string(item.lines)));
      if (!item.ptx.empty()) line(inner, fmt::format("ptx: {}", to_string(item.ptx)));
      for (const auto& [key, value] : who(item)) line(inner, fmt::format("{}: {}", key, value));
    };
    // A period is one line, with the lines that it came from behind it.
    const auto period = [&](std::string_view kind, const std::string& value,
                            const std::string& value_in_flow) {
      const auto threads = who(item);
      if (item.lines.empty() && item.ptx.empty() && threads.empty()) return begin(kind, value);
      std::string from;
      if (!item.lines.empty()) from += fmt::format(", lines: {}", yaml::scalar(to_string(item.lines), true));
      if (!item.ptx.empty()) from += fmt::format(", ptx: {}", yaml::scalar(to_string(item.ptx), true));
      for (const auto& [key, text] : threads) from += fmt::format(", {}: {}", key, text);
      line(indent, fmt::format("- {{{}: {}{}}}", kind, value_in_flow, from));
    };
    if (const auto* calculation = std::get_if<Calculation>(&item.what)) {
      period("calc", expression(calculation->cycles), expression(calculation->cycles, true));
    } else if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
      period("instructions", expression(instructions->count), expression(instructions->count, true));
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      period(access->kind == MemoryAccess::Kind::load ? "load" : "store", memory(*access),
             memory(*access, true));
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      begin("repeat", expression(repeat->count));
      if (!repeat->counter.empty()) line(inner, fmt::format("counter: {}", yaml::scalar(repeat->counter)));
      if (repeat->per_thread) line(inner, fmt::format("per_thread: {}", expression(*repeat->per_thread)));
      if (!repeat->unrolled.empty()) line(inner, fmt::format("unrolled: {}", unrolled(repeat->unrolled)));
      places();
      items(inner, "body", repeat->body);
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      begin("when", expression(when->condition));
      if (when->then_threads) line(inner, fmt::format("then_threads: {}", expression(*when->then_threads)));
      places();
      if (!when->then_items.empty() || when->else_items.empty()) items(inner, "then", when->then_items);
      if (!when->else_items.empty()) items(inner, "else", when->else_items);
    }
  }

  // Which threads and warps execute the item.
  static std::vector<std::pair<std::string_view, std::string>> who(const Item& item) {
    std::vector<std::pair<std::string_view, std::string>> keys;
    if (item.threads) keys.emplace_back("threads", expression(*item.threads, true));
    if (item.predicated) keys.emplace_back("predicated", "true");
    if (!item.shares.empty()) keys.emplace_back("shares", fmt::format("[{}]", fmt::join(item.shares, ", ")));
    if (item.machine) keys.emplace_back("machine", machine(*item.machine));
    if (item.detail) add_detail(*item.detail, keys);
    return keys;
  }

  static void add_detail(const ItemDetail& detail,
                         std::vector<std::pair<std::string_view, std::string>>& keys) {
    if (!detail.needs.empty()) keys.emplace_back("needs", fmt::format("[{}]", fmt::join(detail.needs, ", ")));
    if (detail.rises != 0) keys.emplace_back("rises", fmt::format("{}", detail.rises));
    if (detail.chain) keys.emplace_back("chain", fmt::format("{}", *detail.chain));
    if (!detail.on_chip.empty()) {
      std::string text;
      for (const ChipAccess& access : detail.on_chip) {
        const auto kind = static_cast<std::size_t>(access.kind),
                   space = static_cast<std::size_t>(access.space);
        text += fmt::format("{}{{{}: {}, bytes: {}", text.empty() ? "" : ", ", kChipAccessKinds[kind],
                            kChipSpaces[space], access.bytes);
        if (access.address) text += fmt::format(", address: {}", expression(*access.address, true));
        text += "}";
      }
      keys.emplace_back("on_chip", "[" + text + "]");
    }
    if (detail.barrier) keys.emplace_back("barrier", "true");
  }

  static std::string machine(const MachineWork& work) {
    std::string text;
    for (std::size_t i = 0; i < kPipes; ++i)
      if (work.by_pipe[i] > 0)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", to_string(static_cast<Pipe>(i)),
                            work.by_pipe[i]);
    return "{" + text + "}";
  }

  static std::string unrolled(const std::vector<UnrolledPiece>& pieces) {
    std::string text;
    for (const UnrolledPiece& piece : pieces) {
      text += fmt::format("{}{{iterations: {}", text.empty() ? "" : ", ", piece.iterations);
      if (piece.machine.total() > 0) text += ", machine: " + machine(piece.machine);
      text += "}";
    }
    return "[" + text + "]";
  }

  static std::string expression(const Expression& e, bool in_flow = false) {
    return yaml::scalar(to_string(e), in_flow);
  }

  static std::string memory(const MemoryAccess& access, bool in_flow = false) {
    const bool only_cycles = access.cycles && !access.access && !access.bytes && !access.sectors &&
                             access.stride.empty() && !access.footprint && !access.address &&
                             access.array.empty() && access.note.empty();
    if (only_cycles) return expression(*access.cycles, in_flow);
    std::string fields;
    const auto field = [&fields](std::string_view key, const std::string& value) {
      fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ", key, value);
    };
    if (access.access) field("access", std::string(to_string(*access.access)));
    if (access.cycles) field("cycles", expression(*access.cycles, true));
    if (access.bytes) field("bytes", fmt::format("{}", *access.bytes));
    if (access.sectors) field("sectors", fmt::format("{}", *access.sectors));
    if (!access.stride.empty()) field("stride", yaml::scalar(access.stride, true));
    if (access.footprint) field("footprint", expression(*access.footprint, true));
    if (access.address) field("address", expression(*access.address, true));
    if (!access.array.empty()) field("array", yaml::scalar(access.array, true));
    if (!access.note.empty()) field("note", yaml::scalar(access.note, true));
    return fmt::format("{{{}}}", fields);
  }

  std::string out_;
};

using Json = nlohmann::ordered_json;

Json to_json_value(const MachineWork& work) {
  Json machine = Json::object();
  for (std::size_t i = 0; i < kPipes; ++i)
    if (work.by_pipe[i] > 0) machine[std::string(to_string(static_cast<Pipe>(i)))] = work.by_pipe[i];
  return machine;
}

Json to_json_value(const Expression& e) {
  if (e.is_integer()) return e.integer_value();
  return to_string(e);
}

Json to_json_value(const Items& items);

Json to_json_value(const MemoryAccess& access) {
  Json json = Json::object();
  if (access.access) json["access"] = to_string(*access.access);
  if (access.cycles) json["cycles"] = to_json_value(*access.cycles);
  if (access.bytes) json["bytes"] = *access.bytes;
  if (access.sectors) json["sectors"] = *access.sectors;
  if (!access.stride.empty()) json["stride"] = access.stride;
  if (access.footprint) json["footprint"] = to_json_value(*access.footprint);
  if (access.address) json["address"] = to_json_value(*access.address);
  if (!access.array.empty()) json["array"] = access.array;
  if (!access.note.empty()) json["note"] = access.note;
  if (json.size() == 1 && access.cycles) return json["cycles"];
  return json;
}

void add_detail(const ItemDetail& detail, Json& json) {
  if (!detail.needs.empty()) json["needs"] = detail.needs;
  if (detail.rises != 0) json["rises"] = detail.rises;
  if (detail.chain) json["chain"] = *detail.chain;
  for (const ChipAccess& access : detail.on_chip) {
    Json one = Json::object();
    one[std::string(kChipAccessKinds[static_cast<std::size_t>(access.kind)])] =
        kChipSpaces[static_cast<std::size_t>(access.space)];
    one["bytes"] = access.bytes;
    if (access.address) one["address"] = to_json_value(*access.address);
    json["on_chip"].push_back(std::move(one));
  }
  if (detail.barrier) json["barrier"] = true;
}

Json to_json_value(const Item& item) {
  Json json = Json::object();
  if (const auto* calculation = std::get_if<Calculation>(&item.what)) {
    json["calc"] = to_json_value(calculation->cycles);
  } else if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
    json["instructions"] = to_json_value(instructions->count);
  } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
    json[access->kind == MemoryAccess::Kind::load ? "load" : "store"] = to_json_value(*access);
  } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
    json["repeat"] = to_json_value(repeat->count);
    if (!repeat->counter.empty()) json["counter"] = repeat->counter;
    if (repeat->per_thread) json["per_thread"] = to_json_value(*repeat->per_thread);
    for (const UnrolledPiece& piece : repeat->unrolled) {
      Json one = {{"iterations", piece.iterations}};
      if (piece.machine.total() > 0) one["machine"] = to_json_value(piece.machine);
      json["unrolled"].push_back(std::move(one));
    }
    json["body"] = to_json_value(repeat->body);
  } else if (const auto* when = std::get_if<When>(&item.what)) {
    json["when"] = to_json_value(when->condition);
    if (when->then_threads) json["then_threads"] = to_json_value(*when->then_threads);
    json["then"] = to_json_value(when->then_items);
    if (!when->else_items.empty()) json["else"] = to_json_value(when->else_items);
  }
  if (!item.lines.empty()) json["lines"] = to_string(item.lines);
  if (!item.ptx.empty()) json["ptx"] = to_string(item.ptx);
  if (item.threads) json["threads"] = to_json_value(*item.threads);
  if (item.predicated) json["predicated"] = true;
  if (!item.shares.empty()) json["shares"] = item.shares;
  if (item.machine) json["machine"] = to_json_value(*item.machine);
  if (item.detail) add_detail(*item.detail, json);
  return json;
}

Json to_json_value(const Items& items) {
  Json json = Json::array();
  for (const Item& item : items) json.push_back(to_json_value(item));
  return json;
}

Json to_json_value(const KernelProgram& program) {
  Json json = Json::object();
  json["warptime"] = KernelProgram::format_version;
  const auto text = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  text("kernel", program.provenance.kernel);
  text("symbol", program.provenance.symbol);
  text("source", program.provenance.source);
  text("compiler", program.provenance.compiler);
  text("target", program.provenance.target);
  text("flags", program.provenance.flags);
  text("description", program.description);
  for (const Parameter& parameter : program.parameters) {
    if (parameter.share) {
      Json& json_parameter = json["parameters"][parameter.name];
      json_parameter["share"] = *parameter.share;
      if (parameter.ptx_line > 0) json_parameter["ptx"] = parameter.ptx_line;
      json_parameter["description"] = parameter.description;
    } else {
      json["parameters"][parameter.name] = parameter.description;
    }
  }
  for (const Array& array : program.arrays) json["arrays"][array.name] = array.description;
  for (const auto& one : program.not_modelled) json["not_modelled"].push_back(one);
  for (const Assumption& assumption : program.assumptions) {
    Json entry = Json::object();
    if (assumption.line > 0) entry["line"] = assumption.line;
    if (assumption.ptx_line > 0) entry["ptx"] = assumption.ptx_line;
    entry["text"] = assumption.text;
    json["assumptions"].push_back(std::move(entry));
  }
  if (program.instructions_modelled && program.instructions_total) {
    json["coverage"] = {{"modelled", *program.instructions_modelled},
                        {"instructions", *program.instructions_total}};
  }
  if (program.resources || program.estimated_registers) {
    Json& resources = json["resources"] = Json::object();
    for_each_resource(program, [&](std::string_view key, std::int64_t value) {
      resources[std::string(key)] = value;
      if (key == "registers" && has_estimate(program)) resources["registers_estimated"] = true;
    });
    if (program.resources && program.resources->dynamic_shared_unknown)
      resources["dynamic_shared_bytes"] = "unknown";
  }
  if (program.block_shape) json["block"] = *program.block_shape;
  json["program"] = to_json_value(program.program);
  return json;
}

std::string dump(const Json& json) {
  // Text that is no UTF-8 (a file's name, say) is replaced rather than refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_yaml(const KernelProgram& program) {
  return YamlWriter().write(program);
}

std::string to_yaml(const std::vector<KernelProgram>& programs) {
  std::string text;
  for (const KernelProgram& program : programs) {
    if (!text.empty()) text += "---\n";
    text += to_yaml(program);
  }
  return text;
}

std::string to_json(const std::vector<KernelProgram>& programs) {
  if (programs.size() == 1) return dump(to_json_value(programs.front()));
  Json json = Json::array();
  for (const KernelProgram& program : programs) json.push_back(to_json_value(program));
  return dump(json);
}

}  // namespace warptime
