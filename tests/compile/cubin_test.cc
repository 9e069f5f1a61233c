// Registers and shared memory from ptxas' cubin, held against what `ptxas -v` prints. Skipped where there is
// no CUDA Toolkit.
#include "analyzer/compile/cubin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "analyzer/compile/nvcc.h"
#include "analyzer/compile/process.h"
#include "analyzer/compile/ptxas.h"
#include "analyzer/compile/toolkit.h"

namespace warptime {
namespace {

using compiling::run_process;
using compiling::TemporaryFolder;

// Bytes of an ELF file with one kernel, `k`, of `registers` and `shared` bytes. newer: as for sm_90 and
// later, with the registers in .nv.info and the reserved shared memory in that of the kernel.
class Elf {
 public:
  Elf(unsigned registers, unsigned shared, bool newer = false) {
    names_.push_back('\0');
    bytes_.assign(64, '\0');
    add({"", 0, {}, 0, 0});           // every file begins with one that is none
    add({".shstrtab", 3, {}, 0, 0});  // its contents come last
    add({".text.k", 1, std::string(128, 'x'), 0, newer ? 5 : registers << 24 | 5});
    add({".nv.info.k", 1, std::string(32, '\0'), 0, 0});
    add({".nv.shared.k", 8, {}, newer ? shared + 1024 : shared, 0});
    add({".text.device_function", 1, std::string(64, 'y'), 0, 7u << 24});
    if (newer) {
      add({".nv.shared.reserved.0", 8, {}, 0, 0});
      add({".strtab", 3, std::string("\0k\0", 3), 0, 0});
      std::string symbols(48, '\0');
      put(symbols, 24, 1, 4);  // symbol 1 is `k`
      add({".symtab", 2, symbols, 0, 0, 7});
      std::string info(16, '\0');
      put(info, 0, 0x0000'3701, 4);  // an attribute without bytes behind it
      put(info, 4, 0x0008'2f04, 4);  // REGCOUNT
      put(info, 8, 1, 4);
      put(info, 12, registers, 4);
      add({".nv.info", 1, info, 0, 0});
    }
    finish();
  }
  std::string bytes() const { return bytes_; }

 private:
  struct Section {
    std::string name;
    unsigned type;
    std::string contents;
    std::uint64_t size;  // of one without contents
    std::uint32_t info;
    unsigned link = 0;
  };

  void add(const Section& section) {
    std::string header(64, '\0');
    put(header, 0, names_.size(), 4);
    put(header, 4, section.type, 4);
    put(header, 24, bytes_.size(), 8);
    put(header, 32, section.contents.empty() ? section.size : section.contents.size(), 8);
    put(header, 40, section.link, 4);
    put(header, 44, section.info, 4);
    bytes_ += section.contents;
    names_ += section.name;
    names_.push_back('\0');
    sections_.push_back(header);
  }

  void finish() {
    put(sections_[1], 24, bytes_.size(), 8);
    put(sections_[1], 32, names_.size(), 8);
    bytes_ += names_;
    bytes_.replace(0, 6,
                   "\x7f"
                   "ELF\x02\x01");
    put(bytes_, 18, 190, 2);
    put(bytes_, 40, bytes_.size(), 8);
    put(bytes_, 58, 64, 2);
    put(bytes_, 60, sections_.size(), 2);
    put(bytes_, 62, 1, 2);
    for (const auto& header : sections_) bytes_ += header;
  }

  static void put(std::string& into, std::size_t at, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) into[at + i] = static_cast<char>(value >> (8 * i));
  }

  std::string bytes_, names_;
  std::vector<std::string> sections_;
};

TEST(Cubin, HasRegistersAndSharedMemoryOfEachKernel) {
  for (const bool newer : {false, true}) {
    const auto kernels = read_cubin(Elf(42, 1712, newer).bytes(), "k.cubin");
    ASSERT_TRUE(kernels) << to_text(kernels.diagnostics());
    ASSERT_EQ(kernels->size(), 1u) << "device functions are no kernels";
    EXPECT_EQ(kernels->at("k").registers, 42);
    EXPECT_EQ(kernels->at("k").shared_bytes, 1712);
  }
}

TEST(Cubin, AnyBytesAreSafe) {
  for (const bool newer : {false, true}) {
    const std::string whole = Elf(255, 49152, newer).bytes();
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_FALSE(read_cubin(whole.substr(0, length), "k.cubin")) << length;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
        std::string broken = whole;
        broken[i] = static_cast<char>(value);
        const auto kernels = read_cubin(broken, "k.cubin");
        if (!kernels) continue;
        for (const auto& [symbol, kernel] : *kernels)
          EXPECT_TRUE(kernel.registers >= 0 && kernel.shared_bytes >= 0) << symbol;
      }
    }
    EXPECT_EQ(to_text(read_cubin(whole.substr(0, 100), "k.cubin").diagnostics()),
              "k.cubin: error: the cubin is truncated\n");
  }
  EXPECT_EQ(to_text(read_cubin("", "k.cubin").diagnostics()), "k.cubin: error: this is not a cubin\n");
}

std::string ptx_for(const std::string& target) {
  return ".version 8.7\n.target " + target + R"(
.address_size 64
.shared .align 16 .b8 table[1200];
.visible .entry small(.param .u64 out) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
.visible .entry large(.param .u64 out) {
  .shared .align 4 .b8 own[512];
  .reg .b64 %rd<5>;
  .reg .b32 %r<12>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, table;
  mov.u32 %r4, own;
  add.u32 %r5, %r3, %r2;
  add.u32 %r6, %r4, %r2;
  st.shared.u32 [%r5], %r1;
  st.shared.u32 [%r6], %r2;
  bar.sync 0;
  ld.shared.u32 %r7, [%r5+4];
  ld.shared.u32 %r8, [%r6+4];
  add.u32 %r9, %r7, %r8;
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r9;
  ret;
}
)";
}

class Ptxas : public testing::TestWithParam<const char*> {};

TEST_P(Ptxas, RegistersAreThoseThatItPrints) {
  const std::string target = GetParam();
  const std::string ptx = ptx_for(target);
  const auto kernels = registers_of(ptx, target);
  if (!kernels) GTEST_SKIP() << to_text(kernels.diagnostics());
  std::string ptxas;
  for (const auto& folder : compiling::toolkit_folders())
    if (ptxas.empty() && std::filesystem::exists(folder + "/ptxas")) ptxas = folder + "/ptxas";
  const TemporaryFolder folder;
  ASSERT_TRUE(compiling::write_file(folder.path() + "/k.ptx", ptx));
  const auto run = run_process(
      {ptxas, "-v", "-arch=" + target, folder.path() + "/k.ptx", "-o", folder.path() + "/k.cubin"});
  ASSERT_TRUE(run);
  const std::regex said("Compiling entry function '(\\w+)'[^]*?Used (\\d+) registers");
  const std::string text = run->output + run->errors;
  int found = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), said), end; match != end; ++match, ++found)
    EXPECT_EQ(kernels->at((*match)[1]).registers, std::stoi((*match)[2])) << text;
  EXPECT_EQ(found, 2) << text;
  EXPECT_EQ(kernels->at("small").shared_bytes, 0);
  EXPECT_EQ(kernels->at("large").shared_bytes, 1200 + 512);
}

INSTANTIATE_TEST_SUITE_P(Targets, Ptxas,
                         testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"));

TEST(PtxasErrors, AreItsOwnWords) {
  EXPECT_EQ(to_text(registers_of("", "7.5").diagnostics()),
            "error: `7.5` is not a target; targets are named like sm_86\n");
  const auto refused = registers_of(".version 8.0\n.target sm_80\n.entry k() { nonsense; }\n", "sm_80");
  ASSERT_FALSE(refused);
  const std::string text = to_text(refused.diagnostics());
  if (text.find("was not found") != std::string::npos) GTEST_SKIP() << text;
  EXPECT_EQ(text.rfind("error: ptxas rejects the PTX for sm_80: ", 0), 0u) << text;
  EXPECT_EQ(text.find("/tmp"), std::string::npos) << text;
}

}  // namespace
}  // namespace warptime
