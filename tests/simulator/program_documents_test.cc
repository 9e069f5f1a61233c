#include "simulator/program/program_documents.h"

#include <gtest/gtest.h>

#include "simulator/program/kernel_program.h"

namespace warptime {
namespace {

TEST(ProgramDocuments, AreToldApartByTheirNames) {
  const std::string text =
      "# two kernels\n"
      "kernel: \"add<float>\"  # the first\n"
      "symbol: _Z3addIfEvPT_\n"
      "program:\n"
      "  - {calc: 10}\n"
      "---\n"
      "kernel: scale\n"
      "program: [calc: 20]\n";
  const auto documents = program_documents(text);
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].kernel, "add<float>");
  EXPECT_EQ(documents[0].symbol, "_Z3addIfEvPT_");
  EXPECT_EQ(documents[1].kernel, "scale");
  EXPECT_EQ(documents[1].symbol, "");
  const auto all = read_kernel_programs(text, "kernels.yaml");
  ASSERT_TRUE(all);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto one = read_kernel_programs(documents[i].text, "kernels.yaml");
    ASSERT_TRUE(one && one->size() == 1);
    EXPECT_EQ(one->front(), (*all)[i]);
  }
}

TEST(ProgramDocuments, AreWhatTheWriterWrites) {
  auto programs = read_kernel_programs(
      "{kernel: one, program: [calc: 10]}\n---\n{kernel: \"a: b\", program: [calc: 3]}\n", "");
  ASSERT_TRUE(programs);
  const std::string text = to_yaml(*programs);
  const auto documents = program_documents(text);
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].kernel, "one");
  EXPECT_EQ(documents[1].kernel, "a: b");
}

TEST(ProgramDocuments, NeedReadingWhereALineDoesNotTell) {
  for (const std::string text : {
           "{kernel: one, program: [calc: 10]}\n",                // a document in braces
           "[{kernel: one, program: [calc: 10]}]\n",              // JSON
           "%YAML 1.2\n---\nkernel: one\nprogram: [calc: 10]\n",  // a directive
           "kernel:\n  one\nprogram: [calc: 10]\n",               // a name on a line of its own
           "kernel: one\n  two\nprogram: [calc: 10]\n",           // … on two lines
           "kernel: one\nkernel: two\nprogram: [calc: 10]\n",     // twice
           "kernel: [one]\nprogram: [calc: 10]\n",                // no name
           "\"kernel\": one\nprogram: [calc: 10]\n",              // a key in quotes
           "kernel: one\nprogram:\n- calc: 10\n",                 // a list that is not indented
           "",
       })
    EXPECT_TRUE(program_documents(text).empty()) << text;
}

}  // namespace
}  // namespace warptime
