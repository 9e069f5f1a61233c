#include "tests/execute/harness.h"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::execute::testing {

std::optional<Loaded> load_text(std::string text, const std::string& kernel) {
  Loaded loaded;
  loaded.text = std::make_shared<std::string>(std::move(text));
  auto module = ptx::parse(*loaded.text, "test.ptx");
  if (!module) {
    ADD_FAILURE() << to_text(module.diagnostics());
    return std::nullopt;
  }
  loaded.module = std::make_shared<ptx::Module>(std::move(*module));
  const auto index = find_kernel(*loaded.module, kernel, "test.ptx");
  if (!index) {
    ADD_FAILURE() << to_text(index.diagnostics());
    return std::nullopt;
  }
  const auto code = load(*loaded.module, *index, "test.ptx");
  if (!code) {
    ADD_FAILURE() << to_text(code.diagnostics());
    return std::nullopt;
  }
  loaded.code = *code;
  return loaded;
}

Diagnostics errors_of(const std::string& text) {
  const auto module = ptx::parse(text, "test.ptx");
  if (!module) return module.diagnostics();
  const auto index = find_kernel(*module, {}, "test.ptx");
  if (!index) return index.diagnostics();
  const auto code = load(*module, *index, "test.ptx");
  return code ? Diagnostics{} : code.diagnostics();
}

std::string kernel_text(const std::string& parameters, const std::string& body, const std::string& before,
                        const std::string& target) {
  return fmt::format(
      ".version 8.5\n.target {}\n.address_size 64\n{}\n.visible .entry k({})\n{{\n"
      ".reg .pred %p<40>;\n.reg .b16 %h<40>;\n.reg .b32 %r<40>;\n.reg .b64 %d<40>;\n.reg .b128 "
      "%w<40>;\n{}\nret;\n}}\n",
      target, before, parameters, body);
}

namespace {

// The kind of register number k in `text`: 'r', 'd', 'h', 'p'; 0 where there is none.
char kind_of(const std::string& text, std::size_t k) {
  for (const char kind : {'r', 'd', 'h', 'p'}) {
    const auto name = fmt::format("%{}{}", kind, k);
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      if (at + name.size() == text.size() ||
          std::isdigit(static_cast<unsigned char>(text[at + name.size()])) == 0)
        return kind;
  }
  return 0;
}

}  // namespace

std::uint64_t evaluate(const std::string& instruction, const std::vector<std::uint64_t>& inputs) {
  std::string body =
      "ld.param.u64 %d30, [out];\nmov.u32 %r30, %tid.x;\nmul.wide.u32 %d31, %r30, 8;\nadd.u64 %d30, %d30, "
      "%d31;\n";
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto input = inputs[k];
    switch (kind_of(instruction, k + 1)) {
      case 'r':
        body += fmt::format("mov.b32 %r{}, {};\n", k + 1, static_cast<std::uint32_t>(input));
        break;
      case 'd':
        body += fmt::format("mov.b64 %d{}, 0x{:x};\n", k + 1, input);
        break;
      case 'h':
        body += fmt::format("mov.b16 %h{}, {};\n", k + 1, static_cast<std::uint16_t>(input));
        break;
      case 'p':
        body += fmt::format("setp.ne.u32 %p{}, {}, 0;\n", k + 1, input);
        break;
      default:
        ADD_FAILURE() << "no register " << k + 1 << " in " << instruction;
    }
  }
  body += instruction + "\n";
  switch (kind_of(instruction, 0)) {
    case 'r':
      body += "cvt.u64.u32 %d29, %r0;\n";
      break;
    case 'd':
      body += "mov.b64 %d29, %d0;\n";
      break;
    case 'h':
      body += "cvt.u64.u16 %d29, %h0;\n";
      break;
    case 'p':
      body += "selp.u64 %d29, 1, 0, %p0;\n";
      break;
    default:
      ADD_FAILURE() << "no result in " << instruction;
  }
  body += "st.global.u64 [%d30], %d29;\n";
  const auto loaded = load_text(kernel_text(".param .u64 out", body));
  if (!loaded) return 0;
  const auto outcome = launch(*loaded, {{1}, {32}}, {uninitialised(256)});
  EXPECT_TRUE(outcome.execution.completed);
  for (const auto& finding : outcome.execution.findings) ADD_FAILURE() << finding.message;
  const auto values = outcome.values<std::uint64_t>(0);
  for (const auto value : values) EXPECT_EQ(value, values[0]) << instruction;
  return values[0];
}

bool Outcome::found(Finding::Kind kind) const {
  return finding(kind) != nullptr;
}

const Finding* Outcome::finding(Finding::Kind kind) const {
  for (const auto& one : execution.findings)
    if (one.kind == kind) return &one;
  return nullptr;
}

Given uninitialised(std::size_t bytes) {
  return {Argument(bytes), true, true};
}

Outcome launch(const Loaded& loaded, const LaunchConfig& launch, const std::vector<Given>& arguments,
               const Options& options, ExecutionListener* listener) {
  Outcome outcome;
  auto memory = Memory::create(*loaded.code);
  if (!memory) {
    ADD_FAILURE() << to_text(memory.diagnostics());
    return outcome;
  }
  std::vector<Argument> passed;
  std::vector<std::uint32_t> buffers;
  for (const auto& given : arguments) {
    if (!given.buffer) {
      passed.push_back(given.bytes);
      continue;
    }
    const auto name = fmt::format("buffer {}", buffers.size());
    const auto made = given.uninitialised
                          ? memory->allocate(name, given.bytes.size(), Memory::Contents::uninitialised)
                          : memory->allocate(name, given.bytes);
    buffers.push_back(*made);
    passed.push_back(pointer(*loaded.code, *memory, *made, given.offset));
  }
  auto execution = run(*loaded.code, *memory, launch, passed, options, listener);
  if (!execution) {
    ADD_FAILURE() << to_text(execution.diagnostics());
    return outcome;
  }
  outcome.execution = std::move(*execution);
  for (const auto made : buffers) {
    const auto bytes = memory->bytes(made);
    outcome.buffers.emplace_back(bytes.begin(), bytes.end());
  }
  return outcome;
}

}  // namespace warptime::execute::testing
