#include "analyzer/execute/npy.h"

#include <gtest/gtest.h>

#include <cstring>

namespace warptime::execute {
namespace {

Array array_of(const std::string& type, std::vector<std::uint64_t> shape, std::size_t bytes) {
  Array array;
  array.type = type;
  array.shape = std::move(shape);
  for (std::size_t i = 0; i < bytes; ++i) array.bytes.push_back(static_cast<std::byte>(i));
  return array;
}

TEST(Npy, WhatIsWrittenIsRead) {
  for (const auto& array :
       {array_of("f4", {6}, 24), array_of("f8", {2, 3}, 48), array_of("i4", {1, 2, 3, 4}, 96),
        array_of("u1", {5}, 5), array_of("f4", {}, 4), array_of("u2", {0}, 0)}) {
    const auto text = write_npy(array);
    EXPECT_EQ((text.size() - array.bytes.size()) % 64, 0u);
    const auto again = read_npy(text, "a.npy");
    ASSERT_TRUE(again) << to_text(again.diagnostics());
    EXPECT_EQ(again->type, array.type);
    EXPECT_EQ(again->shape, array.shape);
    EXPECT_EQ(again->bytes, array.bytes);
  }
}

TEST(Npy, TheHeaderIsNumpys) {
  EXPECT_EQ(write_npy(array_of("f4", {6}, 24)).substr(10, 58),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), } ");
  EXPECT_EQ(write_npy(array_of("u1", {2, 3}, 6)).substr(10, 61),
            "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  ");
}

std::string file_with(const std::string& header, std::size_t data_bytes, char major = 1) {
  std::string text("\x93NUMPY", 6);
  text += major;
  text += '\0';
  text += static_cast<char>(header.size());
  text += '\0';
  if (major > 1) text += std::string(2, '\0');
  return text + header + std::string(data_bytes, '\0');
}

TEST(Npy, OtherWriters) {
  const auto second =
      read_npy(file_with("{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3)}", 24, 2), "a.npy");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->elements(), 6u);
  // The order is none where there is one dimension.
  EXPECT_TRUE(read_npy(file_with("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", 8), "a.npy"));
}

struct Bad {
  std::string contents;
  const char* message;
};

TEST(Npy, WhatIsWrong) {
  for (const auto& bad : std::vector<Bad>{
           {"", "is not an .npy file"},
           {"hello, world, and more", "is not an .npy file"},
           {file_with("{'descr': '<f4'}", 4), "lacks descr"},
           {file_with("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4), "big-endian"},
           {file_with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16), "Fortran order"},
           {file_with("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8), "type `<c8`"},
           {file_with("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8), "type `|O`"},
           {file_with("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4), "structures"},
           {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 4),
            "has 4 bytes of data, but its shape needs 8"},
           {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }", 4),
            "too large"},
           {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, }", 8), "shape"},
           {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 8).substr(0, 30),
            "is not an .npy file"},
       }) {
    const auto array = read_npy(bad.contents, "a.npy");
    ASSERT_FALSE(array) << bad.message;
    EXPECT_NE(to_text(array.diagnostics()).find(bad.message), std::string::npos)
        << to_text(array.diagnostics());
  }
}

TEST(Npy, TypeNames) {
  EXPECT_EQ(type_name("f32"), "f4");
  EXPECT_EQ(type_name("s32"), "i4");
  EXPECT_EQ(type_name("i64"), "i8");
  EXPECT_EQ(type_name("u8"), "u1");
  EXPECT_EQ(type_name("f8"), "f8");
  EXPECT_EQ(type_name("u4"), "u4");
  EXPECT_EQ(type_name("b16"), "u2");
  EXPECT_EQ(type_name("f16"), "f2");
  EXPECT_EQ(type_name("x32"), "");
  EXPECT_EQ(type_name("f12"), "");
}

}  // namespace
}  // namespace warptime::execute
