// YAML -> kernel programs: the format of the header, key by key.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "simulator/base/did_you_mean.h"
#include "simulator/program/kernel_program.h"
#include "simulator/program/yaml_reader.h"

namespace warptime {
namespace {

using yaml::Entry;
using yaml::Fields;
using yaml::Node;
using yaml::Reader;

constexpr int kDeepestItems = 200;
// Of a kernel's resources: far beyond any GPU's.
constexpr std::int64_t kMostPerThread = 65'536, kMostThreads = std::numeric_limits<int>::max(),
                       kMostBytes = 1'000'000'000'000, kMostOfClass = 1'000'000'000'000;
const std::vector<std::string> kKinds = {"calc", "instructions", "load", "store", "repeat", "when"};

class ProgramReader {
 public:
  explicit ProgramReader(Reader& reader) : reader_(reader) {}

  KernelProgram read(const Node& document) {
    KernelProgram program;
    if (document.kind != Node::Kind::mapping) {
      reader_.error(document, "a kernel program must be a mapping with a `program`",
                    "the smallest one: `program: [calc: 10]`");
      return program;
    }
    Fields fields(
        reader_, document,
        {"warptime", "kernel", "symbol", "source", "compiler", "target", "flags", "description", "parameters",
         "arrays", "assumptions", "not_modelled", "coverage", "resources", "block", "program"},
        "a kernel program");
    yaml::check_version(reader_, fields, KernelProgram::format_version);
    read_provenance(fields, program.provenance);
    if (const Node* node = fields.find("description"))
      program.description = reader_.text(*node, "`description`");
    if (const Node* node = fields.find("parameters")) read_parameters(*node, program.parameters);
    if (const Node* node = fields.find("arrays")) read_arrays(*node, program.arrays);
    if (const Node* node = fields.find("not_modelled")) read_texts(*node, program.not_modelled);
    if (const Node* node = fields.find("assumptions")) read_assumptions(*node, program.assumptions);
    if (const Node* node = fields.find("coverage")) read_coverage(*node, program);
    if (const Node* node = fields.find("resources")) read_resources(*node, program);
    if (const Node* node = fields.find("block")) read_block(*node, program.block_shape);
    if (const Node* node = fields.require("program")) program.program = read_items(*node, "`program`", 1);
    return program;
  }

 private:
  void read_provenance(const Fields& fields, Provenance& provenance) {
    const std::array<std::pair<const char*, std::string*>, 6> texts = {{{"kernel", &provenance.kernel},
                                                                        {"symbol", &provenance.symbol},
                                                                        {"source", &provenance.source},
                                                                        {"compiler", &provenance.compiler},
                                                                        {"target", &provenance.target},
                                                                        {"flags", &provenance.flags}}};
    for (const auto& [key, into] : texts) {
      if (const Node* node = fields.find(key)) *into = reader_.text(*node, fmt::format("`{}`", key));
    }
  }

  void read_parameters(const Node& node, std::vector<Parameter>& parameters) {
    if (node.kind == Node::Kind::null) return;
    std::set<std::string> seen;
    const auto add = [&](const Node& name, std::string description, std::optional<double> share,
                         int ptx_line) {
      const std::string text = reader_.text(name, "a parameter's name");
      if (!is_name(text)) {
        reader_.error(name, fmt::format("`{}` is not a valid name for a parameter", text),
                      "use letters, digits and `_`, not beginning with a digit");
      } else if (!seen.insert(text).second) {
        reader_.error(name, fmt::format("the parameter `{}` occurs twice", text));
      }
      parameters.push_back({text, std::move(description), share, ptx_line});
    };
    if (node.kind == Node::Kind::sequence) {
      for (const Node& name : node.items) add(name, {}, {}, 0);
    } else if (node.kind == Node::Kind::mapping) {
      for (const Entry& entry : node.entries) {
        if (entry.value.kind != Node::Kind::mapping) {
          add(entry.key, reader_.text(entry.value, "a parameter's description"), {}, 0);
          continue;
        }
        Fields fields(reader_, entry.value, {"share", "ptx", "description"}, "a parameter");
        std::string description;
        if (const Node* text = fields.find("description"))
          description = reader_.text(*text, "a parameter's description");
        std::optional<double> share;
        if (const Node* text = fields.find("share")) share = read_share(*text);
        const Node* line = fields.find("ptx");
        add(entry.key, std::move(description), share, line == nullptr ? 0 : read_line(*line));
      }
    } else {
      reader_.error(node, "`parameters` must be a list of names, or a mapping from names to descriptions");
    }
  }

  double read_share(const Node& node) {
    const auto number = reader_.number(node, "`share`");
    if (number && *number >= 0 && *number <= 1) return *number;
    reader_.error(node, "`share` must be a number from 0 to 1");
    return 1;
  }

  void read_texts(const Node& node, std::vector<std::string>& texts) {
    if (node.kind != Node::Kind::sequence) return reader_.error(node, "`not_modelled` must be a list");
    for (const Node& item : node.items) texts.push_back(reader_.text(item, "`not_modelled`"));
  }

  void read_assumptions(const Node& node, std::vector<Assumption>& assumptions) {
    if (node.kind == Node::Kind::null) return;
    if (node.kind != Node::Kind::sequence) return reader_.error(node, "`assumptions` must be a list");
    for (const Node& item : node.items) {
      Assumption assumption;
      if (item.kind == Node::Kind::scalar) {
        assumption.text = item.text;
      } else {
        Fields fields(reader_, item, {"line", "ptx", "text"}, "an assumption");
        if (const Node* line = fields.find("line")) assumption.line = read_line(*line);
        if (const Node* line = fields.find("ptx")) assumption.ptx_line = read_line(*line);
        if (const Node* text = fields.require("text")) assumption.text = reader_.text(*text, "`text`");
      }
      assumptions.push_back(std::move(assumption));
    }
  }

  int read_line(const Node& node) {
    const auto line = reader_.integer(node, "a line");
    if (line && (*line < 1 || *line > std::numeric_limits<int>::max()))
      reader_.error(node, fmt::format("there is no line {}", *line));
    return line && *line >= 1 && *line <= std::numeric_limits<int>::max() ? static_cast<int>(*line) : 0;
  }

  void read_arrays(const Node& node, std::vector<Array>& arrays) {
    if (node.kind != Node::Kind::mapping)
      return reader_.error(node, "`arrays` must be a mapping", "arrays: {in: argument 0}");
    for (const Entry& entry : node.entries) {
      if (entry.value.kind != Node::Kind::mapping) {
        arrays.push_back({entry.key.text, reader_.text(entry.value, "an array's description")});
        continue;
      }
      Fields fields(reader_, entry.value, {"description", "bytes"}, "an array");
      Array array{entry.key.text, {}};
      if (const Node* text = fields.find("description"))
        array.description = reader_.text(*text, "an array's description");
      if (const Node* bytes = fields.require("bytes"))
        array.bytes = read_in_range(*bytes, "bytes", 1, std::int64_t{1} << 46);
      arrays.push_back(std::move(array));
    }
  }

  void read_coverage(const Node& node, KernelProgram& program) {
    Fields fields(reader_, node, {"modelled", "instructions"}, "`coverage`");
    if (const Node* count = fields.require("modelled"))
      program.instructions_modelled = read_count(*count, "`modelled`");
    if (const Node* count = fields.require("instructions")) {
      program.instructions_total = read_count(*count, "`instructions`");
    }
  }

  void read_block(const Node& node, std::optional<std::array<std::int64_t, 3>>& block) {
    std::array<std::int64_t, 3> shape{1, 1, 1};
    if (node.kind != Node::Kind::sequence || node.items.empty() || node.items.size() > shape.size()) {
      reader_.error(node, "`block` is a list of 1 to 3 numbers", "block: [16, 16, 1]");
      return;
    }
    for (std::size_t i = 0; i < node.items.size(); ++i)
      shape[i] = read_in_range(node.items[i], "block", 1, kMostThreads).value_or(1);
    block = shape;
  }

  void read_resources(const Node& node, KernelProgram& program) {
    if (node.kind != Node::Kind::mapping)
      return reader_.error(node, "`resources` must be a mapping",
                           "resources: {registers: 32, shared_bytes: 4096}");
    KernelResources resources;
    Fields fields(reader_, node,
                  {"registers", "registers_estimated", "shared_bytes", "dynamic_shared_bytes",
                   "max_threads_per_block", "required_threads_per_block", "min_blocks_per_sm"},
                  "`resources`");
    const auto figure = [&](const char* key, std::int64_t at_least, std::int64_t at_most) {
      const Node* value = fields.find(key);
      return value == nullptr ? std::nullopt : read_in_range(*value, key, at_least, at_most);
    };
    resources.registers_per_thread = figure("registers", 0, kMostPerThread);
    resources.shared_bytes_static = figure("shared_bytes", 0, kMostBytes).value_or(0);
    const Node* dynamic = fields.find("dynamic_shared_bytes");
    resources.dynamic_shared_unknown = dynamic != nullptr && dynamic->text == "unknown";
    if (!resources.dynamic_shared_unknown)
      resources.shared_bytes_dynamic = figure("dynamic_shared_bytes", 0, kMostBytes).value_or(0);
    resources.max_threads = figure("max_threads_per_block", 1, kMostThreads);
    resources.required_threads = figure("required_threads_per_block", 1, kMostThreads);
    resources.min_blocks_per_sm = figure("min_blocks_per_sm", 0, kMostThreads);
    const Node* estimated = fields.find("registers_estimated");
    if (estimated != nullptr && estimated->text != "true" && estimated->text != "false")
      reader_.error(*estimated, "`registers_estimated` must be true or false");
    if (estimated != nullptr && estimated->text == "true")
      std::swap(program.estimated_registers, resources.registers_per_thread);
    if (!program.estimated_registers || resources != KernelResources()) program.resources = resources;
  }

  std::optional<std::int64_t> read_in_range(const Node& node, std::string_view key, std::int64_t at_least,
                                            std::int64_t at_most) {
    const auto value = reader_.integer(node, fmt::format("`{}`", key));
    if (!value || (*value >= at_least && *value <= at_most)) return value;
    reader_.error(node, fmt::format("`{}` is {}: it must be {} to {}", key, *value, at_least, at_most));
    return std::nullopt;
  }

  std::optional<std::int64_t> read_count(const Node& node, std::string_view what) {
    const auto count = reader_.integer(node, what);
    if (count && *count < 0) reader_.error(node, fmt::format("{} is negative: {}", what, *count));
    return count;
  }

  Items read_items(const Node& node, std::string_view what, int depth) {
    Items items;
    if (depth > kDeepestItems) {
      reader_.error(node, fmt::format("items are nested more than {} deep", kDeepestItems));
    } else if (node.kind != Node::Kind::sequence) {
      reader_.error(node, fmt::format("{} must be a list of items (`- calc: 10` lines)", what));
    } else {
      items.reserve(node.items.size());
      for (const Node& item : node.items) read_item(item, items, depth);
    }
    return items;
  }

  void read_item(const Node& node, Items& items, int depth) {
    if (node.kind != Node::Kind::mapping) {
      return reader_.error(node, "an item must be a mapping such as `calc: 33`");
    }
    std::vector<const Entry*> kinds;
    for (const Entry& entry : node.entries) {
      if (std::find(kKinds.begin(), kKinds.end(), entry.key.text) != kKinds.end()) kinds.push_back(&entry);
    }
    if (kinds.empty()) return unknown_item(node);
    const std::string& kind = kinds[0]->key.text;
    if (kinds.size() > 1 && kinds[1]->key.text != kind) {
      return reader_.error(
          kinds[1]->key,
          fmt::format("an item must be one thing, not `{}` and `{}`", kind, kinds[1]->key.text),
          "begin a new item with `-`");
    }
    std::vector<std::string> known = {kind,      "lines",     "ptx",      "threads", "predicated",
                                      "shares",  "machine",   "needs",    "rises",   "chain",
                                      "on_chip", "barrier",   "near",     "random",  "floating",
                                      "splits",  "read_only", "shuffles", "matches", "row"};
    if (kind == "repeat") known.insert(known.end(), {"counter", "per_thread", "unrolled", "body"});
    if (kind == "when") known.insert(known.end(), {"then_threads", "then", "else"});
    if (kind == "instructions") known.emplace_back("classes");
    Fields fields(reader_, node, std::move(known), fmt::format("`{}`", kind));
    Item item{read_what(kind, kinds[0]->value, fields, depth)};
    if (const Node* lines = fields.find("lines")) item.lines = read_lines(*lines, "`lines`");
    if (const Node* lines = fields.find("ptx")) item.ptx = read_lines(*lines, "`ptx`");
    if (const Node* threads = fields.find("threads"))
      item.threads = reader_.expression(*threads, "`threads`");
    if (const Node* flag = fields.find("predicated")) {
      item.predicated = flag->text == "true";
      if (!item.predicated && flag->text != "false")
        reader_.error(*flag, "`predicated` must be true or false");
    }
    if (const Node* shares = fields.find("shares")) read_shares(*shares, item.shares);
    if (const Node* machine = fields.find("machine")) item.machine = read_machine(*machine);
    item.detail = read_detail(fields);
    items.push_back(std::move(item));
  }

  void read_shares(const Node& node, std::vector<std::string>& shares) {
    if (node.kind != Node::Kind::sequence)
      return reader_.error(node, "`shares` must be a list of parameters", "shares: [taken_at_12]");
    for (const Node& name : node.items) {
      shares.push_back(reader_.text(name, "`shares`"));
      if (!is_name(shares.back()))
        reader_.error(name, fmt::format("`{}` is not a valid name for a parameter", shares.back()));
    }
  }

  std::shared_ptr<const MachineWork> read_machine(const Node& node) {
    auto work = std::make_shared<MachineWork>();
    if (node.kind != Node::Kind::mapping)
      reader_.error(node, "`machine` must be machine instructions by pipe", "machine: {alu: 3, lsu: 1}");
    for (const yaml::Entry& entry : node.entries) {
      const auto pipe = find_pipe(entry.key.text);
      double* const other = entry.key.text == "cycles"   ? &work->cycles
                            : entry.key.text == "imad"   ? &work->imad
                            : entry.key.text == "matrix" ? &work->matrix
                            : entry.key.text == "reads"  ? &work->reads
                                                         : nullptr;
      if (!pipe && other == nullptr) {
        reader_.error(entry.key, fmt::format("`{}` is no pipe", entry.key.text),
                      "there are alu, fma, fp64, fp16, xu, lsu, tex, tensor, uniform, adu, cbu and none, and "
                      "`imad`, `matrix`, `reads` and `cycles`");
        continue;
      }
      const auto count = reader_.number(entry.value, fmt::format("`{}`", entry.key.text));
      if (count && *count < 0)
        reader_.error(entry.value, fmt::format("`{}` is negative: {}", entry.key.text, *count));
      if (count) (other != nullptr ? *other : (*work)[*pipe]) = *count;
    }
    return work;
  }

  std::shared_ptr<const ItemDetail> read_detail(Fields& fields) {
    ItemDetail detail;
    if (const Node* needs = fields.find("needs")) {
      if (needs->kind != Node::Kind::sequence)
        reader_.error(*needs, "`needs` must be a list of the numbers of loads", "needs: [1, 2]");
      for (const Node& load : needs->items)
        if (const auto number = read_in_range(load, "needs", 1, std::numeric_limits<int>::max()))
          detail.needs.push_back(static_cast<int>(*number));
    }
    if (const Node* rises = fields.find("rises")) detail.rises = read_count(*rises, "`rises`").value_or(0);
    if (const Node* chain = fields.find("chain")) {
      detail.chain = reader_.number(*chain, "`chain`");
      if (detail.chain && *detail.chain < 0) reader_.error(*chain, "`chain` is negative");
    }
    if (const Node* accesses = fields.find("on_chip")) {
      if (accesses->kind != Node::Kind::sequence)
        reader_.error(*accesses, "`on_chip` must be a list of accesses",
                      "on_chip: [{load: shared, bytes: 4, address: 4 * threadIdx.x}]");
      for (const Node& access : accesses->items) detail.on_chip.push_back(read_chip_access(access));
    }
    if (const Node* row = fields.find("row")) detail.row = read_row(*row);
    if (const Node* shuffles = fields.find("shuffles"))
      detail.shuffles = read_count(*shuffles, "`shuffles`").value_or(0);
    if (const Node* matches = fields.find("matches"))
      detail.matches = read_count(*matches, "`matches`").value_or(0);
    for (const auto& [name, value] :
         {std::pair{"barrier", &detail.barrier}, std::pair{"near", &detail.near},
          std::pair{"random", &detail.random}, std::pair{"floating", &detail.floating},
          std::pair{"splits", &detail.splits}, std::pair{"read_only", &detail.read_only}})
      if (const Node* flag = fields.find(name)) {
        *value = flag->text == "true";
        if (!*value && flag->text != "false")
          reader_.error(*flag, fmt::format("`{}` must be true or false", name));
      }
    return detail.empty() ? nullptr : std::make_shared<const ItemDetail>(std::move(detail));
  }

  std::optional<RowOfData> read_row(const Node& node) {
    Fields fields(reader_, node, {"by", "of", "bytes", "at"}, "`row`");
    RowOfData row;
    if (const Node* by = fields.find("by")) row.by = reader_.text(*by, "`by`");
    for (const auto& [name, into] :
         {std::pair("of", &row.of), std::pair("bytes", &row.bytes), std::pair("at", &row.at)}) {
      if (const Node* found = fields.find(name)) {
        *into = reader_.expression(*found, fmt::format("`{}`", name));
        continue;
      }
      reader_.error(node, fmt::format("`row` needs `{}`", name),
                    "row: {by: columns, of: 4 * blockIdx.x, bytes: 256, at: 4 * threadIdx.x}");
      return std::nullopt;
    }
    return row;
  }

  ChipAccess read_chip_access(const Node& node) {
    ChipAccess access;
    Fields fields(reader_, node,
                  {"load", "store", "atomic", "bytes", "address", "scattered", "own_bytes", "align"},
                  "an access on the chip");
    const Node* space = nullptr;
    for (std::size_t kind = 0; kind < kChipAccessKinds.size(); ++kind) {
      const Node* found = fields.find(kChipAccessKinds[kind]);
      if (found == nullptr) continue;
      if (space != nullptr)
        reader_.error(*found, "an access on the chip must be one of load, store and atomic");
      space = found;
      access.kind = static_cast<ChipAccess::Kind>(kind);
    }
    const auto known =
        space == nullptr ? kChipSpaces.end() : std::find(kChipSpaces.begin(), kChipSpaces.end(), space->text);
    if (known == kChipSpaces.end())
      reader_.error(space == nullptr ? node : *space,
                    "an access on the chip needs a space: shared, local or constant",
                    "{load: shared, bytes: 4}");
    else
      access.space = static_cast<ChipAccess::Space>(known - kChipSpaces.begin());
    if (const Node* bytes = fields.find("bytes"))
      access.bytes = read_in_range(*bytes, "bytes", 1, kMostBytes).value_or(4);
    if (const Node* address = fields.find("address"))
      access.address = reader_.expression(*address, "`address`");
    if (const Node* scattered = fields.find("scattered"))
      access.scattered = read_in_range(*scattered, "scattered", 1, std::numeric_limits<std::int64_t>::max());
    if (const Node* own = fields.find("own_bytes"))
      access.own_bytes = read_in_range(*own, "own_bytes", 1, access.bytes).value_or(0);
    if (const Node* align = fields.find("align"))
      access.align = read_in_range(*align, "align", 1, 8).value_or(8);
    return access;
  }

  void unknown_item(const Node& node) {
    if (node.entries.empty())
      return reader_.error(node, fmt::format("an empty item; there are {}", yaml::list_of(kKinds)));
    const Node& key = node.entries[0].key;
    const std::string near = nearest(key.text, kKinds);
    reader_.error(key, fmt::format("unknown item `{}`", key.text),
                  near.empty() ? fmt::format("there are {}", yaml::list_of(kKinds))
                               : fmt::format("did you mean `{}`?", near));
  }

  decltype(Item::what) read_what(const std::string& kind, const Node& value, Fields& fields, int depth) {
    if (kind == "calc") return Calculation{reader_.expression(value, "`calc`", Reader::Constant::number)};
    if (kind == "instructions") {
      Instructions instructions{reader_.expression(value, "`instructions`", Reader::Constant::count)};
      if (const Node* classes = fields.find("classes")) read_classes(*classes, instructions);
      return instructions;
    }
    if (kind == "load") return read_access(value, MemoryAccess::Kind::load, "`load`");
    if (kind == "store") return read_access(value, MemoryAccess::Kind::store, "`store`");
    if (kind == "repeat") return read_repeat(value, fields, depth);
    return read_when(value, fields, depth);
  }

  void read_classes(const Node& node, Instructions& instructions) {
    constexpr const char* example = "{instructions: 3, classes: {add.int_const: 2, mad.float_reg: 1}}";
    if (node.kind != Node::Kind::mapping)
      return reader_.error(node, "`classes` must be numbers of instructions by class", example);
    auto classes = std::make_shared<InstructionClasses>();
    for (const yaml::Entry& entry : node.entries) {
      const auto one = find_instruction_class(entry.key.text);
      if (!one) {
        reader_.error(entry.key, fmt::format("`{}` is no class of instructions", entry.key.text),
                      fmt::format("an operation and its operands: {}", example));
        continue;
      }
      if (const auto count = read_in_range(entry.value, entry.key.text, 0, kMostOfClass))
        classes->add(*one, *count);
    }
    if (!instructions.count.is_integer())
      reader_.error(node, "`classes` needs a number of `instructions`, not an expression", example);
    else if (classes->total() > instructions.count.integer_value())
      reader_.error(node, fmt::format("`classes` are {} instructions of {}", classes->total(),
                                      instructions.count.integer_value()));
    instructions.classes = std::move(classes);
  }

  MemoryAccess read_access(const Node& value, MemoryAccess::Kind kind, std::string_view what) {
    MemoryAccess access;
    access.kind = kind;
    if (value.kind != Node::Kind::mapping) {
      access.cycles = reader_.expression(value, what, Reader::Constant::number);
      if (value.kind == Node::Kind::scalar && find_access(value.text)) {
        reader_.error(value, fmt::format("{} needs a duration or a mapping", what),
                      fmt::format("{{access: {}}}", value.text));
      }
      return access;
    }
    Fields fields(reader_, value,
                  {"access", "cycles", "bytes", "sectors", "stride", "footprint", "touched", "address",
                   "array", "continues", "note"},
                  what);
    if (const Node* node = fields.find("access")) access.access = read_pattern(*node);
    if (const Node* node = fields.find("cycles")) {
      access.cycles = reader_.expression(*node, "`cycles`", Reader::Constant::number);
    }
    if (const Node* node = fields.find("bytes")) access.bytes = read_count(*node, "`bytes`");
    if (const Node* node = fields.find("sectors")) access.sectors = read_count(*node, "`sectors`");
    if (const Node* node = fields.find("stride")) access.stride = reader_.text(*node, "`stride`");
    // Format 1 calls it `touched`.
    for (const char* key : {"touched", "footprint"}) {
      if (const Node* node = fields.find(key))
        access.footprint = reader_.expression(*node, fmt::format("`{}`", key), Reader::Constant::count);
    }
    if (const Node* node = fields.find("address")) access.address = reader_.expression(*node, "`address`");
    if (const Node* node = fields.find("array")) access.array = reader_.text(*node, "`array`");
    if (const Node* node = fields.find("continues")) {
      access.continues = node->text == "true";
      if (!access.continues) reader_.error(*node, "`continues` must be true");
    }
    if (const Node* node = fields.find("note")) access.note = reader_.text(*node, "`note`");
    if (fields.find("access") == nullptr && fields.find("cycles") == nullptr) {
      reader_.error(value, fmt::format("{} has neither `access` nor `cycles`", what));
    }
    return access;
  }

  std::optional<Access> read_pattern(const Node& node) {
    const auto access = find_access(node.text);
    if (!access) {
      const std::vector<std::string> known(access_names().begin(), access_names().end());
      const std::string near = nearest(node.text, known);
      reader_.error(node, fmt::format("unknown access `{}`", node.text),
                    near.empty() ? fmt::format("there are {}", yaml::list_of(known))
                                 : fmt::format("did you mean `{}`?", near));
    }
    return access;
  }

  std::vector<UnrolledPiece> read_unrolled(const Node& node) {
    std::vector<UnrolledPiece> pieces;
    if (node.kind != Node::Kind::sequence)
      reader_.error(node, "`unrolled` must be a list of pieces",
                    "unrolled: [{iterations: 4}, {iterations: 1}]");
    for (const Node& one : node.items) {
      Fields fields(reader_, one, {"iterations", "machine"}, "a piece");
      UnrolledPiece& piece = pieces.emplace_back();
      if (const Node* iterations = fields.require("iterations"))
        piece.iterations = reader_.integer(*iterations, "`iterations`").value_or(1);
      if (const Node* machine = fields.find("machine")) piece.machine = *read_machine(*machine);
      if (piece.iterations < 1) reader_.error(one, "`iterations` must be at least 1");
    }
    return pieces;
  }

  Repeat read_repeat(const Node& value, Fields& fields, int depth) {
    Repeat repeat;
    repeat.count = reader_.expression(value, "`repeat`", Reader::Constant::count);
    if (const Node* node = fields.find("counter")) {
      repeat.counter = reader_.text(*node, "`counter`");
      if (!is_name(repeat.counter))
        reader_.error(*node, fmt::format("`{}` is not a valid name for a counter", repeat.counter));
    }
    if (const Node* node = fields.find("per_thread"))
      repeat.per_thread = reader_.expression(*node, "`per_thread`", Reader::Constant::count);
    if (const Node* node = fields.find("unrolled")) repeat.unrolled = read_unrolled(*node);
    if (const Node* node = fields.require("body")) repeat.body = read_items(*node, "`body`", depth + 1);
    return repeat;
  }

  When read_when(const Node& value, Fields& fields, int depth) {
    When when;
    when.condition = reader_.expression(value, "`when`");
    if (const Node* node = fields.find("then_threads"))
      when.then_threads = reader_.expression(*node, "`then_threads`");
    if (const Node* node = fields.find("then")) when.then_items = read_items(*node, "`then`", depth + 1);
    if (const Node* node = fields.find("else")) when.else_items = read_items(*node, "`else`", depth + 1);
    if (fields.find("then") == nullptr && fields.find("else") == nullptr) {
      reader_.error(fields.node(), "`when` has neither `then` nor `else`");
    }
    return when;
  }

  LineSet read_lines(const Node& node, std::string_view what) {
    const auto lines = parse_line_set(reader_.text(node, what));
    if (lines) return *lines;
    if (node.kind == Node::Kind::scalar || node.kind == Node::Kind::null) {
      reader_.error(node, lines.diagnostics().front().message, lines.diagnostics().front().hint);
    }
    return {};
  }

  Reader& reader_;
};

bool is_plan(const Node& document) {
  bool launches = false, program = false;
  for (const Entry& entry : document.entries) {
    launches = launches || entry.key.text == "launches";
    program = program || entry.key.text == "program";
  }
  return launches && !program;
}

}  // namespace

Result<std::vector<KernelProgram>> read_kernel_programs(std::string_view text, const std::string& file) {
  const auto documents = yaml::parse(text, file);
  if (!documents) return documents.diagnostics();
  std::vector<const Node*> found;
  for (const Node& document : *documents) {
    if (document.kind == Node::Kind::sequence) {  // how JSON holds several
      for (const Node& item : document.items) found.push_back(&item);
    } else if (document.kind != Node::Kind::null) {
      found.push_back(&document);
    }
  }
  if (found.empty())
    return error_at(file, 0, 0, "there is no kernel program in this file",
                    "the smallest one: `program: [calc: 10]`");
  Reader reader(text, file);
  ProgramReader program_reader(reader);
  std::vector<KernelProgram> programs;
  for (const Node* document : found) {
    if (is_plan(*document)) {
      reader.error(*document, "this is a plan, not a kernel program", "use `warptime predict` for plans");
      break;
    }
    programs.push_back(program_reader.read(*document));
  }
  if (reader.failed()) return reader.take();
  return programs;
}

}  // namespace warptime
