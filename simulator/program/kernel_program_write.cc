// Kernel programs -> YAML and JSON.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <concepts>
#include <iterator>
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

// Writes straight to the end of one text: programs are long, and their parts short.
class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  void write(const KernelProgram& program) {
    put("warptime: ", KernelProgram::format_version, '\n');
    const Provenance& from = program.provenance;
    text_field("kernel", from.kernel);
    text_field("symbol", from.symbol);
    text_field("source", from.source);
    text_field("compiler", from.compiler);
    text_field("target", from.target);
    text_field("flags", from.flags);
    text_field("description", program.description);
    parameters(program.parameters);
    if (!program.arrays.empty()) put("arrays:\n");
    for (const Array& array : program.arrays)
      if (array.bytes)
        put("  ", Scalar{array.name}, ": {description: ", Scalar{array.description, true},
            ", bytes: ", *array.bytes, "}\n");
      else
        put("  ", Scalar{array.name}, ": ", Scalar{array.description}, '\n');
    assumptions(program.assumptions);
    if (!program.not_modelled.empty()) put("not_modelled:\n");
    for (const auto& text : program.not_modelled) put("  - ", Scalar{text}, '\n');
    if (program.instructions_modelled && program.instructions_total)
      put("coverage: {modelled: ", *program.instructions_modelled,
          ", instructions: ", *program.instructions_total, "}\n");
    if (program.resources || program.estimated_registers) resources(program);
    if (program.block_shape) {
      const auto& [x, y, z] = *program.block_shape;
      put("block: [", x, ", ", y, ", ", z, "]\n");
    }
    items(0, "program", program.program);
  }

 private:
  struct Scalar {
    std::string_view text;
    bool in_flow = false;
  };
  struct Formula {  // an expression as a scalar
    const Expression& expression;
    bool in_flow = true;
  };
  struct Indent {
    int width;
  };

  template <class... Parts>
  void put(const Parts&... parts) {
    (put_one(parts), ...);
  }
  void put_one(std::string_view text) { out_ += text; }
  void put_one(char c) { out_ += c; }
  void put_one(Indent indent) { out_.append(static_cast<std::size_t>(indent.width), ' '); }
  void put_one(const Scalar& scalar) { yaml::append_scalar(out_, scalar.text, scalar.in_flow); }
  void put_one(const Formula& formula) {
    const auto begin = out_.size();
    append_text(formula.expression, out_);
    yaml::make_scalar(out_, begin, formula.in_flow);
  }
  void put_one(std::integral auto number) {
    fmt::format_to(std::back_inserter(out_), FMT_COMPILE("{}"), number);
  }
  void put_one(double number) { fmt::format_to(std::back_inserter(out_), "{}", number); }

  void text_field(std::string_view key, const std::string& text) {
    if (!text.empty()) put(key, ": ", Scalar{text}, '\n');
  }

  void parameters(const std::vector<Parameter>& parameters) {
    if (parameters.empty()) return;
    put("parameters:\n");
    for (const Parameter& parameter : parameters) {
      put("  ", Scalar{parameter.name}, ": ");
      if (parameter.share) {
        put("{share: ", *parameter.share, ", ");
        if (parameter.ptx_line > 0) put("ptx: ", parameter.ptx_line, ", ");
        put("description: ", Scalar{parameter.description, true}, "}\n");
      } else {
        put(Scalar{parameter.description}, '\n');
      }
    }
  }

  void assumptions(const std::vector<Assumption>& assumptions) {
    if (assumptions.empty()) return;
    put("assumptions:\n");
    for (const Assumption& assumption : assumptions) {
      const bool has_place = assumption.line > 0 || assumption.ptx_line > 0;
      put("  - ", has_place ? "{" : "");
      if (assumption.line > 0) put("line: ", assumption.line, ", ");
      if (assumption.ptx_line > 0) put("ptx: ", assumption.ptx_line, ", ");
      put(has_place ? "text: " : "", Scalar{assumption.text, has_place}, has_place ? "}\n" : "\n");
    }
  }

  void resources(const KernelProgram& program) {
    put("resources: {");
    std::string_view separator;
    for_each_resource(program, [&](std::string_view key, std::int64_t value) {
      put(separator, key, ": ", value);
      if (key == "registers" && has_estimate(program)) put(", registers_estimated: true");
      separator = ", ";
    });
    if (program.resources && program.resources->dynamic_shared_unknown)
      put(separator, "dynamic_shared_bytes: unknown");
    put("}\n");
  }

  void items(int indent, std::string_view key, const Items& items) {
    put(Indent{indent}, key, items.empty() ? ": []\n" : ":\n");
    for (const Item& item : items) write_item(indent + 2, item);
  }

  void write_item(int indent, const Item& item) {
    const int inner = indent + 2;
    if (const auto* calculation = std::get_if<Calculation>(&item.what)) {
      period(indent, item, "calc", [&](bool in_flow) { put(Formula{calculation->cycles, in_flow}); });
    } else if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
      period(indent, item, "instructions", [&](bool in_flow) { put(Formula{instructions->count, in_flow}); });
    } else if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      period(indent, item, access->kind == MemoryAccess::Kind::load ? "load" : "store",
             [&](bool in_flow) { memory(*access, in_flow); });
    } else if (const auto* repeat = std::get_if<Repeat>(&item.what)) {
      put(Indent{indent}, "- repeat: ", Formula{repeat->count, false}, '\n');
      if (!repeat->counter.empty()) put(Indent{inner}, "counter: ", Scalar{repeat->counter}, '\n');
      if (repeat->per_thread) put(Indent{inner}, "per_thread: ", Formula{*repeat->per_thread, false}, '\n');
      if (!repeat->unrolled.empty()) {
        put(Indent{inner}, "unrolled: ");
        unrolled(repeat->unrolled);
        put('\n');
      }
      places(inner, item);
      items(inner, "body", repeat->body);
    } else if (const auto* when = std::get_if<When>(&item.what)) {
      put(Indent{indent}, "- when: ", Formula{when->condition, false}, '\n');
      if (when->then_threads) put(Indent{inner}, "then_threads: ", Formula{*when->then_threads, false}, '\n');
      places(inner, item);
      if (!when->then_items.empty() || when->else_items.empty()) items(inner, "then", when->then_items);
      if (!when->else_items.empty()) items(inner, "else", when->else_items);
    }
  }

  // Where an item with others nested in it comes from, and who executes it: a line each.
  void places(int indent, const Item& item) {
    if (!item.lines.empty()) put(Indent{indent}, "lines: ", to_string(item.lines), '\n');
    if (!item.ptx.empty()) put(Indent{indent}, "ptx: ", to_string(item.ptx), '\n');
    who(
        item, [&](std::string_view key) { put(Indent{indent}, key, ": "); }, [&] { put('\n'); });
  }

  // A period is one line, with the lines that it came from behind it.
  template <class Value>
  void period(int indent, const Item& item, std::string_view kind, Value value) {
    put(Indent{indent}, "- ");
    const bool all = !item.threads && !item.predicated && item.shares.empty() && !item.machine &&
                     (!item.detail || item.detail->empty()) && classes_of(item) == nullptr;
    if (item.lines.empty() && item.ptx.empty() && all) {
      put(kind, ": ");
      value(false);
      put('\n');
      return;
    }
    put('{', kind, ": ");
    value(true);
    if (const auto* classes = classes_of(item)) put(", classes: "), write_classes(*classes);
    if (!item.lines.empty()) put(", lines: ", Scalar{to_string(item.lines), true});
    if (!item.ptx.empty()) put(", ptx: ", Scalar{to_string(item.ptx), true});
    who(
        item, [&](std::string_view key) { put(", ", key, ": "); }, [] {});
    put("}\n");
  }

  // Which threads and warps execute the item: begin(key), the value, end().
  template <class Begin, class End>
  void who(const Item& item, Begin begin, End end) {
    if (item.threads) begin("threads"), put(Formula{*item.threads}), end();
    if (item.predicated) begin("predicated"), put("true"), end();
    if (!item.shares.empty()) begin("shares"), list(item.shares), end();
    if (item.machine) begin("machine"), machine(*item.machine), end();
    if (!item.detail) return;
    const ItemDetail& detail = *item.detail;
    if (!detail.needs.empty()) begin("needs"), list(detail.needs), end();
    if (detail.rises != 0) begin("rises"), put(detail.rises), end();
    if (detail.chain) begin("chain"), put(*detail.chain), end();
    if (!detail.on_chip.empty()) begin("on_chip"), on_chip(detail.on_chip), end();
    if (detail.shuffles != 0) begin("shuffles"), put(detail.shuffles), end();
    if (detail.matches != 0) begin("matches"), put(detail.matches), end();
    if (detail.barrier) begin("barrier"), put("true"), end();
    if (detail.near) begin("near"), put("true"), end();
    if (detail.random) begin("random"), put("true"), end();
    if (detail.row) begin("row"), row(*detail.row), end();
    if (detail.floating) begin("floating"), put("true"), end();
    if (detail.splits) begin("splits"), put("true"), end();
    if (detail.read_only) begin("read_only"), put("true"), end();
  }

  static const InstructionClasses* classes_of(const Item& item) {
    const auto* instructions = std::get_if<Instructions>(&item.what);
    return instructions == nullptr ? nullptr : instructions->classes.get();
  }

  void write_classes(const InstructionClasses& classes) {
    put('{');
    std::string_view separator;
    for (const auto& [one, count] : classes.counts) {
      put(separator, to_string(one), ": ", count);
      separator = ", ";
    }
    put('}');
  }

  template <class T>
  void list(const std::vector<T>& values) {
    put('[');
    for (std::size_t i = 0; i < values.size(); ++i) put(i == 0 ? "" : ", ", values[i]);
    put(']');
  }

  void row(const RowOfData& row) {
    put('{');
    if (!row.by.empty()) put("by: ", row.by, ", ");
    put("of: ", Formula{row.of}, ", bytes: ", Formula{row.bytes}, ", at: ", Formula{row.at}, '}');
  }

  void on_chip(const std::vector<ChipAccess>& accesses) {
    std::string_view separator = "[";
    for (const ChipAccess& access : accesses) {
      const auto kind = static_cast<std::size_t>(access.kind), space = static_cast<std::size_t>(access.space);
      put(separator, '{', kChipAccessKinds[kind], ": ", kChipSpaces[space], ", bytes: ", access.bytes);
      if (access.address) put(", address: ", Formula{*access.address});
      if (access.scattered) put(", scattered: ", *access.scattered);
      if (access.own_bytes != 0) put(", own_bytes: ", access.own_bytes);
      if (access.align < 8) put(", align: ", access.align);
      put('}');
      separator = ", ";
    }
    put(']');
  }

  void machine(const MachineWork& work) {
    put('{');
    std::string_view separator;
    for (std::size_t i = 0; i < kPipes; ++i) {
      if (!(work.by_pipe[i] > 0)) continue;
      put(separator, to_string(static_cast<Pipe>(i)), ": ", work.by_pipe[i]);
      separator = ", ";
    }
    for (const auto& [name, cycles] : {std::pair("imad", work.imad), std::pair("matrix", work.matrix),
                                       std::pair("reads", work.reads), std::pair("cycles", work.cycles)}) {
      if (!(cycles > 0)) continue;
      put(separator, name, ": ", cycles);
      separator = ", ";
    }
    put('}');
  }

  void unrolled(const std::vector<UnrolledPiece>& pieces) {
    std::string_view separator = "[";
    for (const UnrolledPiece& piece : pieces) {
      put(separator, "{iterations: ", piece.iterations);
      if (piece.machine.total() > 0) put(", machine: "), machine(piece.machine);
      put('}');
      separator = ", ";
    }
    put(']');
  }

  void memory(const MemoryAccess& access, bool in_flow) {
    const bool only_cycles = access.cycles && !access.access && !access.bytes && !access.sectors &&
                             access.stride.empty() && !access.footprint && !access.address &&
                             access.array.empty() && !access.continues && access.note.empty();
    if (only_cycles) return put(Formula{*access.cycles, in_flow});
    std::string_view separator = "{";
    const auto field = [&](std::string_view key, const auto& value) {
      put(separator, key, ": ", value);
      separator = ", ";
    };
    if (access.access) field("access", to_string(*access.access));
    if (access.cycles) field("cycles", Formula{*access.cycles});
    if (access.bytes) field("bytes", *access.bytes);
    if (access.sectors) field("sectors", *access.sectors);
    if (!access.stride.empty()) field("stride", Scalar{access.stride, true});
    if (access.footprint) field("footprint", Formula{*access.footprint});
    if (access.address) field("address", Formula{*access.address});
    if (!access.array.empty()) field("array", Scalar{access.array, true});
    if (access.continues) field("continues", "true");
    if (!access.note.empty()) field("note", Scalar{access.note, true});
    put(separator == "{" ? "{}" : "}");
  }

  std::string& out_;
};

using Json = nlohmann::ordered_json;

Json to_json_value(const MachineWork& work) {
  Json machine = Json::object();
  for (std::size_t i = 0; i < kPipes; ++i)
    if (work.by_pipe[i] > 0) machine[std::string(to_string(static_cast<Pipe>(i)))] = work.by_pipe[i];
  if (work.imad > 0) machine["imad"] = work.imad;
  if (work.matrix > 0) machine["matrix"] = work.matrix;
  if (work.reads > 0) machine["reads"] = work.reads;
  if (work.cycles > 0) machine["cycles"] = work.cycles;
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
  if (access.continues) json["continues"] = true;
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
    if (access.scattered) one["scattered"] = *access.scattered;
    if (access.own_bytes != 0) one["own_bytes"] = access.own_bytes;
    if (access.align < 8) one["align"] = access.align;
    json["on_chip"].push_back(std::move(one));
  }
  if (detail.shuffles != 0) json["shuffles"] = detail.shuffles;
  if (detail.matches != 0) json["matches"] = detail.matches;
  if (detail.barrier) json["barrier"] = true;
  if (detail.near) json["near"] = true;
  if (detail.row) {
    Json row = Json::object();
    if (!detail.row->by.empty()) row["by"] = detail.row->by;
    row["of"] = to_json_value(detail.row->of);
    row["bytes"] = to_json_value(detail.row->bytes);
    row["at"] = to_json_value(detail.row->at);
    json["row"] = std::move(row);
  }
  if (detail.floating) json["floating"] = true;
  if (detail.splits) json["splits"] = true;
  if (detail.read_only) json["read_only"] = true;
}

Json to_json_value(const Item& item) {
  Json json = Json::object();
  if (const auto* calculation = std::get_if<Calculation>(&item.what)) {
    json["calc"] = to_json_value(calculation->cycles);
  } else if (const auto* instructions = std::get_if<Instructions>(&item.what)) {
    json["instructions"] = to_json_value(instructions->count);
    if (instructions->classes) {
      Json& classes = json["classes"] = Json::object();
      for (const auto& [one, count] : instructions->classes->counts) classes[to_string(one)] = count;
    }
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
  for (const Array& array : program.arrays) {
    Json& one = json["arrays"][array.name];
    one = array.description;
    if (array.bytes) one = {{"description", array.description}, {"bytes", *array.bytes}};
  }
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

void append_yaml(const KernelProgram& program, std::string& out) {
  YamlWriter(out).write(program);
}

std::string to_yaml(const KernelProgram& program) {
  std::string text;
  append_yaml(program, text);
  return text;
}

std::string to_yaml(const std::vector<KernelProgram>& programs) {
  std::string text;
  for (const KernelProgram& program : programs) {
    if (!text.empty()) text += "---\n";
    append_yaml(program, text);
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
