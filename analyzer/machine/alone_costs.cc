#include "analyzer/machine/alone_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/cfg/cfg.h"
#include "analyzer/compile/ptxas.h"
#include "analyzer/compile/targets.h"
#include "analyzer/machine/kernel_work.h"
#include "analyzer/machine/machine_code.h"
#include "analyzer/ptx/opcodes.h"
#include "simulator/program/machine_work.h"

namespace warptime::machine {
namespace {

// An operation's result and operands: `f` float, `d` double, `r` 32 bits, `l` 64 bits.
struct Operation {
  std::string_view opcode;
  char result;
  std::string_view operands;
};
constexpr std::array<Operation, 90> kOperations = {{
    {"sin.approx.f32", 'f', "f"},
    {"sin.approx.ftz.f32", 'f', "f"},
    {"cos.approx.f32", 'f', "f"},
    {"cos.approx.ftz.f32", 'f', "f"},
    {"lg2.approx.f32", 'f', "f"},
    {"lg2.approx.ftz.f32", 'f', "f"},
    {"ex2.approx.f32", 'f', "f"},
    {"ex2.approx.ftz.f32", 'f', "f"},
    {"tanh.approx.f32", 'f', "f"},
    {"rcp.approx.f32", 'f', "f"},
    {"rcp.approx.ftz.f32", 'f', "f"},
    {"rcp.rn.f32", 'f', "f"},
    {"rcp.rn.ftz.f32", 'f', "f"},
    {"rsqrt.approx.f32", 'f', "f"},
    {"rsqrt.approx.ftz.f32", 'f', "f"},
    {"sqrt.approx.f32", 'f', "f"},
    {"sqrt.approx.ftz.f32", 'f', "f"},
    {"sqrt.rn.f32", 'f', "f"},
    {"sqrt.rn.ftz.f32", 'f', "f"},
    {"div.approx.f32", 'f', "ff"},
    {"div.approx.ftz.f32", 'f', "ff"},
    {"div.full.f32", 'f', "ff"},
    {"div.full.ftz.f32", 'f', "ff"},
    {"div.rn.f32", 'f', "ff"},
    {"div.rn.ftz.f32", 'f', "ff"},
    {"rcp.rn.f64", 'd', "d"},
    {"rcp.approx.ftz.f64", 'd', "d"},
    {"sqrt.rn.f64", 'd', "d"},
    {"rsqrt.approx.f64", 'd', "d"},
    {"rsqrt.approx.ftz.f64", 'd', "d"},
    {"div.rn.f64", 'd', "dd"},
    {"min.f64", 'd', "dd"},
    {"max.f64", 'd', "dd"},
    {"popc.b32", 'r', "r"},
    {"popc.b64", 'r', "l"},
    {"clz.b32", 'r', "r"},
    {"clz.b64", 'r', "l"},
    {"brev.b32", 'r', "r"},
    {"brev.b64", 'l', "l"},
    {"bfind.u32", 'r', "r"},
    {"bfind.s32", 'r', "r"},
    {"bfind.shiftamt.u32", 'r', "r"},
    {"mul.lo.s64", 'l', "ll"},
    {"mul.lo.u64", 'l', "ll"},
    {"mul.hi.s64", 'l', "ll"},
    {"mul.hi.u64", 'l', "ll"},
    {"min.s64", 'l', "ll"},
    {"max.s64", 'l', "ll"},
    {"min.u64", 'l', "ll"},
    {"max.u64", 'l', "ll"},
    {"mul24.lo.s32", 'r', "rr"},
    {"mul24.lo.u32", 'r', "rr"},
    {"dp4a.s32.s32", 'r', "rrr"},
    {"dp4a.u32.u32", 'r', "rrr"},
    {"cvt.rn.f32.s32", 'f', "r"},
    {"cvt.rn.f32.u32", 'f', "r"},
    {"cvt.rn.f32.s64", 'f', "l"},
    {"cvt.rn.f32.u64", 'f', "l"},
    {"cvt.rn.f32.f64", 'f', "d"},
    {"cvt.f64.f32", 'd', "f"},
    {"cvt.rn.f64.s32", 'd', "r"},
    {"cvt.rn.f64.u32", 'd', "r"},
    {"cvt.rn.f64.s64", 'd', "l"},
    {"cvt.rn.f64.u64", 'd', "l"},
    {"cvt.rzi.s32.f32", 'r', "f"},
    {"cvt.rzi.u32.f32", 'r', "f"},
    {"cvt.rni.s32.f32", 'r', "f"},
    {"cvt.rmi.s32.f32", 'r', "f"},
    {"cvt.rpi.s32.f32", 'r', "f"},
    {"cvt.rni.u32.f32", 'r', "f"},
    {"cvt.rzi.s64.f32", 'l', "f"},
    {"cvt.rzi.u64.f32", 'l', "f"},
    {"cvt.rni.s64.f32", 'l', "f"},
    {"cvt.rzi.s32.f64", 'r', "d"},
    {"cvt.rzi.u32.f64", 'r', "d"},
    {"cvt.rni.s32.f64", 'r', "d"},
    {"cvt.rmi.s32.f64", 'r', "d"},
    {"cvt.rzi.s64.f64", 'l', "d"},
    {"cvt.rzi.u64.f64", 'l', "d"},
    {"cvt.rni.s64.f64", 'l', "d"},
    {"cvt.rni.f32.f32", 'f', "f"},
    {"cvt.rmi.f32.f32", 'f', "f"},
    {"cvt.rpi.f32.f32", 'f', "f"},
    {"cvt.rzi.f32.f32", 'f', "f"},
    {"cvt.rni.f64.f64", 'd', "d"},
    {"cvt.rmi.f64.f64", 'd', "d"},
    {"cvt.rpi.f64.f64", 'd', "d"},
    {"cvt.rzi.f64.f64", 'd', "d"},
    {"cvt.sat.f32.f32", 'f', "f"},
    {"brkpt", 'r', ""},

}};

struct RegisterKind {
  char letter;
  std::string_view type;  // of loads and stores
  int bytes;
};
constexpr std::array<RegisterKind, 4> kKinds = {
    {{'f', "f32", 4}, {'d', "f64", 8}, {'r', "b32", 4}, {'l', "b64", 8}}};
const RegisterKind& kind_of(char letter) {
  return *std::find_if(kKinds.begin(), kKinds.end(),
                       [&](const RegisterKind& kind) { return kind.letter == letter; });
}

// A kernel of `copies` of the operation, each of operands that it loads and with a result that it stores.
std::string kernel_of(const Operation& operation, int copies, const std::string& target) {
  constexpr int apart = 4096;  // bytes: no two accesses are joined
  std::string loads, work, stores;
  int loaded = 0;
  for (int copy = 0; copy < copies; ++copy) {
    std::string operands;
    for (const char letter : operation.operands) {
      loads +=
          fmt::format("ld.global.{} %{}{}, [%p+{}];\n", kind_of(letter).type, letter, loaded, apart * loaded);
      operands += fmt::format(", %{}{}", letter, loaded++);
    }
    work += fmt::format("{} %{}o{}{};\n", operation.opcode, operation.result, copy, operands);
    stores += fmt::format("st.global.{} [%q+{}], %{}o{};\n", kind_of(operation.result).type, apart * copy,
                          operation.result, copy);
  }
  std::string registers;
  for (const RegisterKind& kind : kKinds)
    registers +=
        fmt::format(".reg .{0} %{1}<{2}>, %{1}o<{2}>;\n", kind.type, kind.letter, loaded + copies + 1);
  return fmt::format(
      ".version {}\n.target {}\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 o)\n{{\n{}"
      ".reg .b64 %p, %q, %w;\n.reg .b32 %t;\nld.param.u64 %p, [a];\nld.param.u64 %q, [o];\n"
      "cvta.to.global.u64 %p, %p;\ncvta.to.global.u64 %q, %q;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %w, %t, 8;\n"
      "add.s64 %p, %p, %w;\nadd.s64 %q, %q, %w;\n{}{}{}ret;\n}}\n",
      compiling::target_number(target) < 100 ? "7.8" : "8.7", target, registers, loads, work, stores);
}

// Of one execution; nothing: the target lacks the operation.
std::optional<MachineWork> executed(const Operation& operation, const std::string& target) {
  constexpr int copies = 16;
  const std::string text = kernel_of(operation, copies, target);
  const auto cubin = assemble(text, target, {"-lineinfo"});
  const auto module = ptx::parse(text, "operation");
  if (!cubin || !module) return std::nullopt;
  const auto kernels = read_machine_code(*cubin, "ptxas");
  if (!kernels || kernels->empty()) return std::nullopt;
  analysis::KernelCode code(*module, module->functions.front());
  const auto cfg = analysis::build_cfg(code, "");
  if (!cfg) return std::nullopt;
  const KernelWork made = work_of(code, *cfg, kernels->begin()->second, compiling::target_number(target));
  MachineWork sum;
  const auto& instructions = module->functions.front().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].opcode == operation.opcode) sum.add(made.lines[i].inside, 1.0 / copies);
  return sum;
}

}  // namespace

Result<std::string> alone_lines(const std::string& target) {
  if (const auto cubin = assemble(kernel_of(kOperations.front(), 1, target), target); !cubin)
    return cubin.diagnostics();
  std::string lines;
  for (const Operation& operation : kOperations) {
    const auto work = executed(operation, target);
    if (!work) continue;
    lines += fmt::format("{},alone,*,1", operation.opcode);
    for (const double count : work->by_pipe) lines += fmt::format(",{:.3g}", count < 0.005 ? 0 : count);
    lines += '\n';
  }
  return lines;
}

}  // namespace warptime::machine
