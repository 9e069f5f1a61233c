// Accesses to device memory through the texture units: all of them are memory access periods, beside the note
// that says what is not modelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "analyzer/pipeline.h"

namespace warptime {
namespace {

struct Case {
  std::string instruction;
  std::string items;  // of the program: a number for a calculation period
  std::string note;   // of the access
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.instruction;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%r1, %r1}];", "1 load", "texture"},
      {"tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f4, %f4}];", "1 load", "texture"},
      {"suld.b.1d.b32.trap %r2, [s, {%r1}];", "1 load", "surface"},
      {"sust.b.1d.b32.trap [s, {%r1}], %r1;", "1 store", "surface"},
      {"sured.b.add.1d.u32.trap [s, {%r1}], %r1;", "1 store", "reduction, surface"},
      {"txq.width.b32 %r2, [t];", "2", ""},
      {"suq.width.b32 %r2, [s];", "2", ""},
  };
  return all;
}

class Surfaces : public ::testing::TestWithParam<Case> {};

TEST_P(Surfaces, AreWhatTheNoteSays) {
  Source source;
  source.file = "surface.ptx";
  source.ptx =
      ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref t;\n.global .surfref s;\n"
      ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<8>;\nmov.u32 %r1, %tid.x;\n" +
      GetParam().instruction + "\nret;\n}\n";
  const auto analysis = analyze(source, {});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  const auto& program = analysis->kernels[0].program;
  std::string items, note;
  for (const auto& item : program.program) {
    if (!items.empty()) items += " ";
    if (const auto* access = std::get_if<MemoryAccess>(&item.what)) {
      items += access->kind == MemoryAccess::Kind::load ? "load" : "store";
      note = access->note;
    } else {
      items += to_string(std::get<Instructions>(item.what).count);
    }
  }
  EXPECT_EQ(items, GetParam().items);
  EXPECT_EQ(note, GetParam().note);
  const auto says_so = [](const std::string& text) {
    return text.find("surface access") != std::string::npos;
  };
  EXPECT_EQ(std::any_of(program.not_modelled.begin(), program.not_modelled.end(), says_so),
            !GetParam().note.empty());
}

INSTANTIATE_TEST_SUITE_P(Instructions, Surfaces, ::testing::ValuesIn(cases()), [](const auto& tested) {
  const auto& text = tested.param.instruction;
  return text.substr(0, text.find('.'));
});

}  // namespace
}  // namespace warptime
