// The kernel programs of three kernels, derived by hand from their PTX, against what the
// analyzer makes of it.
//
// Flattened for given parameters, a kernel program is the segmentation of the instructions that one warp
// executes:
//   - every ld.global is a period 'L', every st.global a period 'S';
//   - a maximal run of other instructions, across basic blocks and iterations of loops alike, is one calculation
//     period 'C' of n - 1 + 10 cycles for n instructions;
//   - labels, directives and the final ret are no instructions, ld.param is one of calculation, and a branch
//     counts as one whether it is taken or not (after a taken `@%p bra A`, a `bra.uni B` on the next line is
//     not executed).
//
// Each derivation walks one file of by_hand/ in file order, basic block by basic block. Its comments hold
//   PTX lines   opcodes                  count
// with the count running on from the start of the basic block or from the last memory access in it; it is
// what the next calc() gets. Loops and ifs are those of the PTX, on the registers that its branches test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/compile/compile.h"
#include "analyzer/pipeline.h"
#include "simulator/program/schedule.h"

namespace warptime {
namespace {

struct HandPeriod {
  char kind = 'C';                 // 'C', 'L' or 'S'
  std::uint64_t instructions = 1;  // of a calculation period; 1 for a load or a store

  friend bool operator==(const HandPeriod&, const HandPeriod&) = default;
};

void PrintTo(const HandPeriod& period, std::ostream* out) {
  *out << period.kind;
  if (period.kind == 'C') *out << period.instructions;
}

// The executed instructions in order; neighbouring calculation becomes one period.
class Stream {
 public:
  void calc(std::uint64_t instructions) {
    if (instructions == 0) return;
    if (periods_.empty() || periods_.back().kind != 'C') periods_.push_back({'C', 0});
    periods_.back().instructions += instructions;
  }
  void load() { periods_.push_back({'L', 1}); }
  void store() { periods_.push_back({'S', 1}); }

  const std::vector<HandPeriod>& periods() const { return periods_; }
  std::uint64_t instruction_count() const {
    std::uint64_t count = 0;
    for (const HandPeriod& period : periods_) count += period.instructions;
    return count;
  }

 private:
  std::vector<HandPeriod> periods_;
};

// ----------------------------------------------------------------------------------------------------------
// mtx(K, N, idata, odata, coefs): K products per thread
// ----------------------------------------------------------------------------------------------------------

// mtx.clang.ptx: a loop over four products an iteration, then a loop over the K % 4 that are left.
Stream mtx_clang(std::int64_t K) {
  Stream s;
  // %bb.0
  //   27          ld.param.u32                  1
  //   28          ld.param.u64                  2
  //   29          cvta.to.global.u64            3
  //   32, 34, 36  mov.u32 (ctaid, ntid, tid)    6
  //   38          mad.lo.s32                    7
  //   40          setp.lt.s32   p1 = K < 1      8
  //   41          mov.f32                       9
  //   43          @%p1 bra BB0_7               10
  s.calc(10);
  if (!(K < 1)) {
    // %bb.1
    //   46        ld.param.u32                  1
    //   47        ld.param.u64                  2
    //   48        cvta.to.global.u64            3
    //   49        ld.param.u64                  4
    //   50        cvta.to.global.u64            5
    //   52        shr.u32                       6
    //   53        add.s32                       7
    //   55        and.b32                       8
    //   56        sub.s32                       9
    //   58        mul.lo.s32                   10
    //   60        and.b32       r39 = K & 3    11
    //   61        setp.lt.u32   p2 = K < 4     12
    //   62        mov.f32                      13
    //   63        @%p2 bra BB0_4               14
    s.calc(14);
    std::int64_t r39 = K & 3;
    if (!(K < 4)) {
      // %bb.2
      //   65      and.b32  r34 = K & 2147483644 1
      //   66      mul.wide.s32                  2
      //   67      add.s64                       3
      //   68      add.s64                       4
      //   69      mov.f32                       5
      s.calc(5);
      std::int64_t r34 = K & 2147483644;
      do {
        // BB0_3, first product
        //   72    mul.wide.s32                  1
        //   73    add.s64                       2
        s.calc(2);
        s.load();  //   74  ld.global.f32
        s.load();  //   76  ld.global.f32
        //   78    fma.rn.f32                    1
        //   80    add.s32                       2
        //   82    rem.s32                       3
        // second product
        //   84    mul.wide.s32                  4
        //   85    add.s64                       5
        s.calc(5);
        s.load();  //   86  ld.global.f32
        s.load();  //   88  ld.global.f32
        //   90    fma.rn.f32                    1
        //   92    add.s32                       2
        //   94    rem.s32                       3
        // third product
        //   96    mul.wide.s32                  4
        //   97    add.s64                       5
        s.calc(5);
        s.load();  //   98  ld.global.f32
        s.load();  //  100  ld.global.f32
        //  102    fma.rn.f32                    1
        //  104    add.s32                       2
        //  106    rem.s32                       3
        // fourth product
        //  108    mul.wide.s32                  4
        //  109    add.s64                       5
        s.calc(5);
        s.load();  //  110  ld.global.f32
        s.load();  //  112  ld.global.f32
        //  114    fma.rn.f32                    1
        //  116    add.s32                       2
        //  118    rem.s32                       3
        //  120    add.s32                       4
        //  122    add.s32       r34 -= 4        5
        //  123    add.s64                       6
        //  124    setp.ne.s32   p3 = r34 != 0   7
        //  125    @%p3 bra BB0_3                8
        s.calc(8);
        r34 -= 4;
      } while (r34 != 0);
    }
    // BB0_4
    //  127        setp.eq.s32   p4 = r39 == 0   1
    //  128        @%p4 bra BB0_7                2
    s.calc(2);
    if (!(r39 == 0)) {
      // %bb.5
      //  130      mul.wide.s32                  1
      //  131      add.s64                       2
      s.calc(2);
      do {
        // BB0_6
        //  135    mul.wide.s32                  1
        //  136    add.s64                       2
        s.calc(2);
        s.load();  //  137  ld.global.f32
        s.load();  //  139  ld.global.f32
        //  141    fma.rn.f32                    1
        //  143    add.s32                       2
        //  145    rem.s32                       3
        //  147    add.s64                       4
        //  148    add.s32       r39 -= 1        5
        //  149    setp.ne.s32   p5 = r39 != 0   6
        //  150    @%p5 bra BB0_6                7
        s.calc(7);
        r39 -= 1;
      } while (r39 != 0);
    }
  }
  // BB0_7
  //  153          mul.wide.s32                  1
  //  154          add.s64                       2
  s.calc(2);
  s.store();  //  156  st.global.f32
  //  158          ret: no instruction
  return s;
}

// mtx.clang.rolled.ptx: one product an iteration; the loop counts K itself down in r17.
Stream mtx_clang_rolled(std::int64_t K) {
  Stream s;
  std::int64_t r17 = K;
  // %bb.0
  //   27          ld.param.u32  r17 = K         1
  //   28          ld.param.u64                  2
  //   29          cvta.to.global.u64            3
  //   32, 34, 36  mov.u32 (ctaid, ntid, tid)    6
  //   38          mad.lo.s32                    7
  //   40          setp.lt.s32   p1 = r17 < 1    8
  //   41          mov.f32                       9
  //   43          @%p1 bra BB0_3               10
  s.calc(10);
  if (!(r17 < 1)) {
    // %bb.1
    //   46        ld.param.u32                  1
    //   47        ld.param.u64                  2
    //   48        cvta.to.global.u64            3
    //   49        ld.param.u64                  4
    //   50        cvta.to.global.u64            5
    //   52        shr.u32                       6
    //   53        add.s32                       7
    //   55        and.b32                       8
    //   56        sub.s32                       9
    //   58        mul.lo.s32                   10
    //   60        mul.wide.s32                 11
    //   61        add.s64                      12
    //   62        mov.f32                      13
    s.calc(13);
    do {
      // BB0_2
      //   66      mul.wide.s32                  1
      //   67      add.s64                       2
      s.calc(2);
      s.load();  //   68  ld.global.f32
      s.load();  //   70  ld.global.f32
      //   72      fma.rn.f32                    1
      //   74      add.s32                       2
      //   76      rem.s32                       3
      //   78      add.s32       r17 -= 1        4
      //   79      add.s64                       5
      //   80      setp.ne.s32   p2 = r17 != 0   6
      //   82      @%p2 bra BB0_2                7
      s.calc(7);
      r17 -= 1;
    } while (r17 != 0);
  }
  // BB0_3
  //   85          mul.wide.s32                  1
  //   86          add.s64                       2
  s.calc(2);
  s.store();  //   88  st.global.f32
  //   90          ret: no instruction
  return s;
}

// mtx.nvcc.ptx: a loop over four products an iteration, then a loop over the K % 4 that are left.
Stream mtx_nvcc(std::int64_t K) {
  Stream s;
  // entry
  //   30, 31      ld.param.u32, ld.param.u32    2
  //   32, 33, 34  ld.param.u64                  5
  //   36, 37      cvta.to.global.u64            7
  //   38, 39, 40  mov.u32 (ntid, ctaid, tid)   10
  //   41          mad.lo.s32                   11
  //   43          shr.u32                      12
  //   44          add.s32                      13
  //   45          and.b32                      14
  //   46          sub.s32                      15
  //   47          mul.lo.s32                   16
  //   49          setp.lt.s32   p1 = K < 1     17
  //   50          mov.f32                      18
  //   51          @%p1 bra BB0_7               19
  s.calc(19);
  if (!(K < 1)) {
    // fall through from 51
    //   53        and.b32       r44 = K & 3     1
    //   54        add.s32       r29 = K - 1     2
    //   55        setp.lt.u32   p2 = r29 < 3    3
    //   56        mov.f32                       4
    //   57        @%p2 bra BB0_4                5
    s.calc(5);
    std::int64_t r44 = K & 3;
    const std::int64_t r29 = K - 1;  // not negative here, so that the unsigned comparison is the usual one
    if (!(r29 < 3)) {
      // fall through from 57
      //   59      sub.s32       r40 = K - r44   1
      //   60      mul.wide.s32                  2
      //   61      add.s64                       3
      //   62      add.s64                       4
      //   63      mov.f32                       5
      s.calc(5);
      std::int64_t r40 = K - r44;
      do {
        // BB0_3, first product
        //   67    mul.wide.s32                  1
        //   68    add.s64                       2
        s.calc(2);
        s.load();  //   69  ld.global.f32
        s.load();  //   70  ld.global.f32
        //   71    fma.rn.f32                    1
        //   73    add.s32                       2
        //   74    rem.s32                       3
        // second product
        //   76    mul.wide.s32                  4
        //   77    add.s64                       5
        s.calc(5);
        s.load();  //   78  ld.global.f32
        s.load();  //   79  ld.global.f32
        //   80    fma.rn.f32                    1
        //   82    add.s32                       2
        //   83    rem.s32                       3
        // third product
        //   85    mul.wide.s32                  4
        //   86    add.s64                       5
        s.calc(5);
        s.load();  //   87  ld.global.f32
        s.load();  //   88  ld.global.f32
        //   89    fma.rn.f32                    1
        //   91    add.s32                       2
        //   92    rem.s32                       3
        // fourth product
        //   94    mul.wide.s32                  4
        //   95    add.s64                       5
        s.calc(5);
        s.load();  //   96  ld.global.f32
        s.load();  //   97  ld.global.f32
        //   98    fma.rn.f32                    1
        //  100    add.s32                       2
        //  101    rem.s32                       3
        //  103    add.s32                       4
        //  105    add.s64                       5
        //  106    add.s32       r40 -= 4        6
        //  107    setp.ne.s32   p3 = r40 != 0   7
        //  108    @%p3 bra BB0_3                8
        s.calc(8);
        r40 -= 4;
      } while (r40 != 0);
    }
    // BB0_4
    //  111        setp.eq.s32   p4 = r44 == 0   1
    //  112        @%p4 bra BB0_7                2
    s.calc(2);
    if (!(r44 == 0)) {
      // fall through from 112
      //  114      mul.wide.s32                  1
      //  115      add.s64                       2
      s.calc(2);
      do {
        // BB0_6
        //  120    mul.wide.s32                  1
        //  121    add.s64                       2
        s.calc(2);
        s.load();  //  122  ld.global.f32
        s.load();  //  123  ld.global.f32
        //  124    fma.rn.f32                    1
        //  126    add.s32                       2
        //  127    rem.s32                       3
        //  129    add.s64                       4
        //  130    add.s32       r44 -= 1        5
        //  131    setp.ne.s32   p5 = r44 != 0   6
        //  132    @%p5 bra BB0_6                7
        s.calc(7);
        r44 -= 1;
      } while (r44 != 0);
    }
  }
  // BB0_7
  //  136          cvta.to.global.u64            1
  //  138          mul.wide.s32                  2
  //  139          add.s64                       3
  s.calc(3);
  s.store();  //  140  st.global.f32
  //  142          ret: no instruction
  return s;
}

// mtx.nvcc.rolled.ptx: one product an iteration; the loop counts r18 up to K.
Stream mtx_nvcc_rolled(std::int64_t K) {
  Stream s;
  // entry
  //   30, 31      ld.param.u32                  2
  //   32, 33, 34  ld.param.u64                  5
  //   36, 37, 38  mov.u32 (ntid, ctaid, tid)    8
  //   39          mad.lo.s32                    9
  //   41          setp.lt.s32   p1 = K < 1     10
  //   42          mov.f32                      11
  //   43          @%p1 bra BB0_3               12
  s.calc(12);
  if (!(K < 1)) {
    // fall through from 43
    //   46        shr.u32                       1
    //   47        add.s32                       2
    //   48        and.b32                       3
    //   49        sub.s32                       4
    //   51        mul.lo.s32                    5
    //   53        cvta.to.global.u64            6
    //   55        mul.wide.s32                  7
    //   56        add.s64                       8
    //   58        cvta.to.global.u64            9
    //   59        mov.u32       r18 = 0        10
    //   60        mov.f32                      11
    s.calc(11);
    std::int64_t r18 = 0;
    do {
      // BB0_2
      //   65      mul.wide.s32                  1
      //   66      add.s64                       2
      s.calc(2);
      s.load();  //   67  ld.global.f32
      s.load();  //   68  ld.global.f32
      //   69      fma.rn.f32                    1
      //   71      add.s32                       2
      //   72      rem.s32                       3
      //   74      add.s64                       4
      //   76      add.s32       r18 += 1        5
      //   78      setp.lt.s32   p2 = r18 < K    6
      //   79      @%p2 bra BB0_2                7
      s.calc(7);
      r18 += 1;
    } while (r18 < K);
  }
  // BB0_3
  //   83          cvta.to.global.u64            1
  //   85          mul.wide.s32                  2
  //   86          add.s64                       3
  s.calc(3);
  s.store();  //   87  st.global.f32
  //   89          ret: no instruction
  return s;
}

// ----------------------------------------------------------------------------------------------------------
// ltt(k, L, N, data, coefs): one butterfly per thread, another one in the last stage
// ----------------------------------------------------------------------------------------------------------

// ltt.clang.ptx: the branch leads to the last stage's butterfly, and both sides share the stores.
Stream ltt_clang(std::int64_t k, std::int64_t L) {
  Stream s;
  // %bb.0
  //   27          ld.param.u32                  1
  //   28          ld.param.u64                  2
  //   29          cvta.to.global.u64            3
  //   30          ld.param.u32                  4
  //   31          ld.param.u64                  5
  //   32          cvta.to.global.u64            6
  //   33          ld.param.u32                  7
  //   36          shl.b32                       8
  //   38, 40, 42  mov.u32 (tid, ntid, ctaid)   11
  //   44          mad.lo.s32                   12
  //   46          shl.b32                      13
  //   48          shr.u32                      14
  //   49          add.s32                      15
  //   50          and.b32                      16
  //   51          sub.s32                      17
  //   53          add.s32                      18
  //   55          add.s32                      19
  //   57          rem.s32                      20
  //   59          mul.wide.s32                 21
  //   60          add.s64                      22
  s.calc(22);
  s.load();  //   61  ld.global.f32
  s.load();  //   63  ld.global.f32
  //   65          mul.wide.s32                  1
  //   66          add.s64                       2
  s.calc(2);
  s.load();  //   67  ld.global.f32
  //   69          mul.wide.s32                  1
  //   70          add.s64                       2
  s.calc(2);
  s.load();  //   71  ld.global.f32
  //   73          add.s32       r17 = L - 1     1
  //   75          setp.le.s32   p1 = r17 <= k   2
  //   77          @%p1 bra BB0_2                3
  s.calc(3);
  const std::int64_t r17 = L - 1;
  if (!(r17 <= k)) {
    // %bb.1
    //   80        fma.rn.f32                    1
    //   82        fma.rn.f32                    2
    //   84        bra.uni BB0_3                 3
    s.calc(3);
  } else {
    // BB0_2
    //   87        mul.f32                       1
    //   89        mul.f32                       2
    s.calc(2);
  }
  // BB0_3
  s.store();  //   92  st.global.f32
  s.store();  //   93  st.global.f32
  //   95          ret: no instruction
  return s;
}

// ltt.nvcc.ptx: each side has its own first store; the last stage's side is reached through a second branch.
Stream ltt_nvcc(std::int64_t k, std::int64_t L) {
  Stream s;
  // entry
  //   30, 31      ld.param.u32                  2
  //   32, 33      ld.param.u64                  4
  //   35          cvta.to.global.u64            5
  //   37, 38, 39  mov.u32 (ctaid, ntid, tid)    8
  //   40          mad.lo.s32                    9
  //   41          shl.b32                      10
  //   42          ld.param.u32                 11
  //   43          shr.u32                      12
  //   44          add.s32                      13
  //   45          and.b32                      14
  //   46          sub.s32                      15
  //   47          add.s32                      16
  //   49          add.s32                      17
  //   50          rem.s32                      18
  //   52          shl.b32                      19
  //   53          cvta.to.global.u64           20
  //   55          mul.wide.s32                 21
  //   56          add.s64                      22
  s.calc(22);
  s.load();  //   57  ld.global.f32
  s.load();  //   59  ld.global.f32
  //   61          mul.wide.s32                  1
  //   62          add.s64                       2
  s.calc(2);
  s.load();  //   63  ld.global.f32
  //   65          mul.wide.s32                  1
  //   66          add.s64                       2
  s.calc(2);
  s.load();  //   67  ld.global.f32
  //   69          add.s32       r17 = L - 1     1
  //   70          setp.gt.s32   p1 = r17 > k    2
  //   71          @%p1 bra BB0_2                3
  s.calc(3);
  const bool p1 = L - 1 > k;
  if (!p1) {
    // fall through from 71
    //   72        bra.uni BB0_1                 1
    s.calc(1);
  }
  if (p1) {
    // BB0_2
    //   76        fma.rn.f32                    1
    s.calc(1);
    s.store();  //   77  st.global.f32
    //   79        fma.rn.f32                    1
    //   80        bra.uni BB0_3                 2
    s.calc(2);
  } else {
    // BB0_1
    //   84        mul.f32                       1
    s.calc(1);
    s.store();  //   85  st.global.f32
    //   87        mul.f32                       1
    s.calc(1);
  }
  // BB0_3
  s.store();  //   91  st.global.f32
  //   93          ret: no instruction
  return s;
}

// ----------------------------------------------------------------------------------------------------------
// mtx_mul_vec(N, mtx, vec_in, vec_out): N products per thread, the sum stored after each
// ----------------------------------------------------------------------------------------------------------

// mtx_mul_vec.clang.ptx: four products an iteration, then the N % 4 that are left. The first loop leaves
// through a taken branch and goes on through a second one.
Stream mtx_mul_vec_clang(std::int64_t N) {
  Stream s;
  // %bb.0
  //   26          ld.param.u32                  1
  //   29          setp.lt.s32   p1 = N < 1      2
  //   31          @%p1 bra BB0_7                3
  s.calc(3);
  if (!(N < 1)) {
    // %bb.1
    //   34        ld.param.u64                  1
    //   35        cvta.to.global.u64            2
    //   36        ld.param.u64                  3
    //   37        ld.param.u64                  4
    //   38        cvta.to.global.u64            5
    //   39        cvta.to.global.u64            6
    //   41        mov.u32 (ntid)                7
    //   43        mov.u32 (ctaid)               8
    //   45        mov.u32 (tid)                 9
    //   47        mad.lo.s32                   10
    //   48        mul.lo.s32                   11
    //   49        mul.wide.s32                 12
    //   50        add.s64                      13
    s.calc(13);
    s.load();  //   51  ld.global.f32
    //   53        and.b32       r18 = N & 3     1
    //   54        setp.lt.u32   p2 = N < 4      2
    //   55        mov.b32                       3
    //   56        @%p2 bra BB0_4                4
    s.calc(4);
    std::int64_t r18 = N & 3;
    if (!(N < 4)) {
      // %bb.2
      //   58      and.b32  r17 = N & 2147483644 1
      //   59      add.s64                       2
      //   60      mul.wide.s32                  3
      //   61      add.s64                       4
      //   62      add.s64                       5
      //   63      mov.b32       r19 = 0         6
      s.calc(6);
      const std::int64_t r17 = N & 2147483644;
      std::int64_t r19 = 0;
      while (true) {
        // BB0_3, first product
        s.load();   //   66  ld.global.f32
        s.load();   //   68  ld.global.f32
        s.calc(1);  //   70  fma.rn.f32          1
        s.store();  //   71  st.global.f32
        // second product
        s.load();   //   73  ld.global.f32
        s.load();   //   75  ld.global.f32
        s.calc(1);  //   77  fma.rn.f32          1
        s.store();  //   78  st.global.f32
        // third product
        s.load();   //   80  ld.global.f32
        s.load();   //   82  ld.global.f32
        s.calc(1);  //   84  fma.rn.f32          1
        s.store();  //   85  st.global.f32
        // fourth product
        s.load();   //   87  ld.global.f32
        s.load();   //   89  ld.global.f32
        s.calc(1);  //   91  fma.rn.f32          1
        s.store();  //   92  st.global.f32
        //   94    add.s32       r19 += 4        1
        //   96    add.s64                       2
        //   97    add.s64                       3
        //   98    setp.eq.s32   p3 = r17 == r19 4
        //   99    @%p3 bra BB0_4                5
        s.calc(5);
        r19 += 4;
        if (r17 == r19) break;
        // fall through from 99
        //  100    bra.uni BB0_3                 1
        s.calc(1);
      }
    }
    // BB0_4
    //  102        setp.eq.s32   p4 = r18 == 0   1
    //  103        @%p4 bra BB0_7                2
    s.calc(2);
    if (!(r18 == 0)) {
      // %bb.5
      //  105      mul.wide.u32                  1
      //  106      add.s64                       2
      //  107      add.s32                       3
      //  108      mul.wide.s32                  4
      //  109      add.s64                       5
      s.calc(5);
      do {
        // BB0_6
        s.load();   //  113  ld.global.f32
        s.load();   //  115  ld.global.f32
        s.calc(1);  //  117  fma.rn.f32          1
        s.store();  //  118  st.global.f32
        //  120    add.s64                       1
        //  121    add.s64                       2
        //  122    add.s32       r18 -= 1        3
        //  123    setp.ne.s32   p5 = r18 != 0   4
        //  124    @%p5 bra BB0_6                5
        s.calc(5);
        r18 -= 1;
      } while (r18 != 0);
    }
  }
  // BB0_7
  //  127          ret: no instruction
  return s;
}

// mtx_mul_vec.clang.rolled.ptx: one product an iteration; the loop counts N itself down in r9, leaves through
// a taken branch and goes on through a second one.
Stream mtx_mul_vec_clang_rolled(std::int64_t N) {
  Stream s;
  std::int64_t r9 = N;
  // %bb.0
  //   26          ld.param.u32  r9 = N          1
  //   29          setp.lt.s32   p1 = r9 < 1     2
  //   31          @%p1 bra BB0_3                3
  s.calc(3);
  if (!(r9 < 1)) {
    // %bb.1
    //   34        ld.param.u64                  1
    //   35        cvta.to.global.u64            2
    //   36        ld.param.u64                  3
    //   37        ld.param.u64                  4
    //   38        cvta.to.global.u64            5
    //   39        cvta.to.global.u64            6
    //   41        mov.u32 (ntid)                7
    //   43        mov.u32 (ctaid)               8
    //   45        mov.u32 (tid)                 9
    //   47        mad.lo.s32                   10
    //   48        mul.lo.s32                   11
    //   49        mul.wide.s32                 12
    //   50        add.s64                      13
    s.calc(13);
    s.load();  //   51  ld.global.f32
    //   53        mul.wide.s32                  1
    //   54        add.s64                       2
    s.calc(2);
    while (true) {
      // BB0_2
      s.load();   //   58  ld.global.f32
      s.load();   //   60  ld.global.f32
      s.calc(1);  //   62  fma.rn.f32            1
      s.store();  //   63  st.global.f32
      //   65      add.s32       r9 -= 1         1
      //   66      add.s64                       2
      //   67      add.s64                       3
      //   68      setp.eq.s32   p2 = r9 == 0    4
      //   70      @%p2 bra BB0_3                5
      s.calc(5);
      r9 -= 1;
      if (r9 == 0) break;
      // fall through from 70
      //   71      bra.uni BB0_2                 1
      s.calc(1);
    }
  }
  // BB0_3
  //   74          ret: no instruction
  return s;
}

// mtx_mul_vec.nvcc.ptx: four products an iteration, then the N % 4 that are left; each loop loads the sum
// before its first iteration.
Stream mtx_mul_vec_nvcc(std::int64_t N) {
  Stream s;
  // entry
  //   29          ld.param.u32                  1
  //   30, 31, 32  ld.param.u64                  4
  //   34, 35      cvta.to.global.u64            6
  //   36, 37, 38  mov.u32 (ctaid, ntid, tid)    9
  //   39          mad.lo.s32                   10
  //   41          setp.lt.s32   p1 = N < 1     11
  //   42          @%p1 bra BB0_7               12
  s.calc(12);
  if (!(N < 1)) {
    // fall through from 42
    //   45        cvta.to.global.u64            1
    //   46        mul.wide.s32                  2
    //   47        add.s64                       3
    //   49        and.b32       r23 = N & 3     4
    //   50        add.s32       r16 = N - 1     5
    //   51        setp.lt.u32   p2 = r16 < 3    6
    //   52        mov.u32                       7
    //   53        @%p2 bra BB0_4                8
    s.calc(8);
    std::int64_t r23 = N & 3;
    const std::int64_t r16 = N - 1;  // not negative here, so that the unsigned comparison is the usual one
    if (!(r16 < 3)) {
      // fall through from 53
      //   55      sub.s32       r21 = N - r23   1
      s.calc(1);
      s.load();  //   57  ld.global.f32
      //   59      mul.lo.s32                    1
      //   60      mul.wide.s32                  2
      //   61      add.s64                       3
      //   62      mov.u32                       4
      //   63      mov.u64                       5
      s.calc(5);
      std::int64_t r21 = N - r23;
      do {
        // BB0_3, first product
        s.load();   //   67  ld.global.f32
        s.load();   //   68  ld.global.f32
        s.calc(1);  //   69  fma.rn.f32          1
        s.store();  //   70  st.global.f32
        // second product
        s.load();   //   71  ld.global.f32
        s.load();   //   72  ld.global.f32
        s.calc(1);  //   73  fma.rn.f32          1
        s.store();  //   74  st.global.f32
        // third product
        s.load();   //   75  ld.global.f32
        s.load();   //   76  ld.global.f32
        s.calc(1);  //   77  fma.rn.f32          1
        s.store();  //   78  st.global.f32
        // fourth product
        s.load();   //   79  ld.global.f32
        s.load();   //   80  ld.global.f32
        s.calc(1);  //   81  fma.rn.f32          1
        s.store();  //   82  st.global.f32
        //   84    add.s32                       1
        //   86    add.s64                       2
        //   87    add.s64                       3
        //   88    add.s32       r21 -= 4        4
        //   89    setp.ne.s32   p3 = r21 != 0   5
        //   90    @%p3 bra BB0_3                6
        s.calc(6);
        r21 -= 4;
      } while (r21 != 0);
    }
    // BB0_4
    //   93        setp.eq.s32   p4 = r23 == 0   1
    //   94        @%p4 bra BB0_7                2
    s.calc(2);
    if (!(r23 == 0)) {
      // fall through from 94
      s.load();  //   97  ld.global.f32
      //   99      mul.wide.s32                  1
      //  100      add.s64                       2
      //  101      mad.lo.s32                    3
      //  102      mul.wide.s32                  4
      //  103      add.s64                       5
      s.calc(5);
      do {
        // BB0_6
        s.load();   //  108  ld.global.f32
        s.load();   //  109  ld.global.f32
        s.calc(1);  //  110  fma.rn.f32          1
        s.store();  //  111  st.global.f32
        //  113    add.s64                       1
        //  114    add.s64                       2
        //  115    add.s32       r23 -= 1        3
        //  116    setp.ne.s32   p5 = r23 != 0   4
        //  117    @%p5 bra BB0_6                5
        s.calc(5);
        r23 -= 1;
      } while (r23 != 0);
    }
  }
  // BB0_7
  //  121          ret: no instruction
  return s;
}

// mtx_mul_vec.nvcc.rolled.ptx: one product an iteration; the loop counts r10 up to N.
Stream mtx_mul_vec_nvcc_rolled(std::int64_t N) {
  Stream s;
  // entry
  //   29          ld.param.u32                  1
  //   30, 31, 32  ld.param.u64                  4
  //   34          setp.lt.s32   p1 = N < 1      5
  //   35          @%p1 bra BB0_3                6
  s.calc(6);
  if (!(N < 1)) {
    // fall through from 35
    //   38, 39, 40  mov.u32 (tid, ntid, ctaid)  3
    //   41        mad.lo.s32                    4
    //   42        cvta.to.global.u64            5
    //   43        mul.wide.s32                  6
    //   44        add.s64                       7
    s.calc(7);
    s.load();  //   46  ld.global.f32
    //   48        mul.lo.s32                    1
    //   50        cvta.to.global.u64            2
    //   52        mul.wide.s32                  3
    //   53        add.s64                       4
    //   55        cvta.to.global.u64            5
    //   56        mov.u32       r10 = 0         6
    s.calc(6);
    std::int64_t r10 = 0;
    do {
      // BB0_2
      s.load();   //   61  ld.global.f32
      s.load();   //   62  ld.global.f32
      s.calc(1);  //   63  fma.rn.f32            1
      s.store();  //   64  st.global.f32
      //   66      add.s64                       1
      //   67      add.s64                       2
      //   69      add.s32       r10 += 1        3
      //   71      setp.lt.s32   p2 = r10 < N    4
      //   72      @%p2 bra BB0_2                5
      s.calc(5);
      r10 += 1;
    } while (r10 < N);
  }
  // BB0_3
  //   76          ret: no instruction
  return s;
}

// ----------------------------------------------------------------------------------------------------------
// The helper class and the derivations against counts made without them
// ----------------------------------------------------------------------------------------------------------

TEST(ByHandStream, MergesNeighbouringCalculationOnly) {
  Stream s;
  s.calc(3);
  s.calc(4);
  s.load();
  s.load();
  s.calc(0);
  s.store();
  s.calc(1);
  s.calc(0);
  s.calc(1);
  const std::vector<HandPeriod> expected = {{'C', 7}, {'L', 1}, {'L', 1}, {'S', 1}, {'C', 2}};
  EXPECT_EQ(s.periods(), expected);
  EXPECT_EQ(s.instruction_count(), 7u + 1 + 1 + 1 + 2);
}

// mtx.nvcc.rolled.ptx has 38 instructions without its ret, by PTX lines: 12 in 30-43, 11 in 46-60, 11 in
// 65-79 (two of them loads) and 4 in 83-87 (one of them the store). For K = 2 it executes 12 + 11 + 2 * 11 +
// 4 = 49 of them:
//   30-43, 46-60, 65-66   12 + 11 + 2 = 25 of calculation, the loads of 67 and 68,
//   69-79, 65-66          7 + 2 = 9, the loads of 67 and 68 again,
//   69-79, 83-86          7 + 3 = 10, the store of 87.
TEST(ByHandStream, MtxNvccRolledForTwoCoefficientsCountedDirectly) {
  const Stream s = mtx_nvcc_rolled(2);
  EXPECT_EQ(s.instruction_count(), 49u);
  const std::vector<HandPeriod> expected = {{'C', 25}, {'L', 1}, {'L', 1},  {'C', 9},
                                            {'L', 1},  {'L', 1}, {'C', 10}, {'S', 1}};
  EXPECT_EQ(s.periods(), expected);
}

// For K = 0 only lines 30-43 (12), 83-86 (3) and the store of 87 are executed.
TEST(ByHandStream, MtxNvccRolledForNoCoefficientsCountedDirectly) {
  const Stream s = mtx_nvcc_rolled(0);
  EXPECT_EQ(s.instruction_count(), 16u);
  const std::vector<HandPeriod> expected = {{'C', 15}, {'S', 1}};
  EXPECT_EQ(s.periods(), expected);
}

// ltt.clang.ptx has 40 instructions without its ret: 33 in 27-77 (four of them loads), 3 in 80-84, 2 in 87-89
// and the two stores. An inner stage executes 33 + 3 + 2 = 38, the last stage 33 + 2 + 2 = 37.
TEST(ByHandStream, LttClangCountedDirectly) {
  EXPECT_EQ(ltt_clang(0, 5).instruction_count(), 38u);
  EXPECT_EQ(ltt_clang(4, 5).instruction_count(), 37u);
}

// mtx_mul_vec.clang.ptx for N = 8: 3 + 13 + 1 + 4 + 6 = 27 up to line 63, two iterations of 66-99 with 4 * 4
// + 5 = 21 each, line 100 once between them, and 2 in 102-103: 27 + 42 + 1 + 2 = 72, of which 1 + 2 * 8 = 17
// are loads and 2 * 4 = 8 are stores.
TEST(ByHandStream, MtxMulVecClangForEightCountedDirectly) {
  const Stream s = mtx_mul_vec_clang(8);
  EXPECT_EQ(s.instruction_count(), 72u);
  const auto of_kind = [&s](char kind) {
    return std::count_if(s.periods().begin(), s.periods().end(),
                         [kind](const HandPeriod& period) { return period.kind == kind; });
  };
  EXPECT_EQ(of_kind('L'), 17);
  EXPECT_EQ(of_kind('S'), 8);
}

// ----------------------------------------------------------------------------------------------------------
// The derivations against the analyzer
// ----------------------------------------------------------------------------------------------------------

struct Argument {
  std::string name;  // in the source
  std::int64_t value = 0;
};
// The leading, integer ones, in the order of the kernel's parameters.
using Arguments = std::vector<Argument>;

struct HandFile {
  std::string name;  // MtxClangRolled
  std::string ptx;   // below tests/analyzer/by_hand
  std::string cu;    // below the repository's root
  CompileOptions options;
  std::vector<Arguments> arguments;
  std::function<Stream(const Arguments&)> derivation;
};

std::vector<Arguments> mtx_arguments() {
  std::vector<Arguments> all;
  for (const std::int64_t K : {0, 1, 2, 3, 4, 5, 7, 8, 12, 13}) all.push_back({{"K", K}, {"N", 64}});
  return all;
}

std::vector<Arguments> ltt_arguments() {
  std::vector<Arguments> all;
  for (const auto& [k, L] : std::vector<std::pair<int, int>>{{0, 5}, {3, 5}, {4, 5}, {0, 1}, {5, 5}}) {
    all.push_back({{"k", k}, {"L", L}, {"N", 64}});
  }
  return all;
}

std::vector<Arguments> mtx_mul_vec_arguments() {
  std::vector<Arguments> all;
  for (const std::int64_t N : {0, 1, 2, 3, 4, 5, 7, 8, 100}) all.push_back({{"N", N}});
  return all;
}

CompileOptions compiled_with(Compiler compiler, bool rolled) {
  CompileOptions options;
  options.compiler = compiler;
  options.arch = "sm_75";
  options.rolled = rolled;
  return options;
}

std::vector<HandFile> hand_files() {
  const CompileOptions clang = compiled_with(Compiler::clang, false);
  const CompileOptions clang_rolled = compiled_with(Compiler::clang, true);
  const CompileOptions nvcc = compiled_with(Compiler::nvcc, false);
  const CompileOptions nvcc_rolled = compiled_with(Compiler::nvcc, true);

  const auto of_first = [](Stream (*derivation)(std::int64_t)) {
    return [derivation](const Arguments& arguments) { return derivation(arguments[0].value); };
  };
  const auto of_two = [](Stream (*derivation)(std::int64_t, std::int64_t)) {
    return [derivation](const Arguments& arguments) {
      return derivation(arguments[0].value, arguments[1].value);
    };
  };
  const std::string mtx = "tests/analyzer/by_hand/mtx.cu";
  const std::string ltt = "tests/analyzer/by_hand/ltt.cu";
  const std::string vec = "tests/analyzer/by_hand/mtx_mul_vec.cu";
  const std::vector<Arguments> of_mtx = mtx_arguments();
  const std::vector<Arguments> of_ltt = ltt_arguments();
  const std::vector<Arguments> of_vec = mtx_mul_vec_arguments();
  return {
      {"MtxClang", "mtx.clang.ptx", mtx, clang, of_mtx, of_first(mtx_clang)},
      {"MtxClangRolled", "mtx.clang.rolled.ptx", mtx, clang_rolled, of_mtx, of_first(mtx_clang_rolled)},
      {"MtxNvcc", "mtx.nvcc.ptx", mtx, nvcc, of_mtx, of_first(mtx_nvcc)},
      {"MtxNvccRolled", "mtx.nvcc.rolled.ptx", mtx, nvcc_rolled, of_mtx, of_first(mtx_nvcc_rolled)},
      {"LttClang", "ltt.clang.ptx", ltt, clang, of_ltt, of_two(ltt_clang)},
      {"LttNvcc", "ltt.nvcc.ptx", ltt, nvcc, of_ltt, of_two(ltt_nvcc)},
      {"MtxMulVecClang", "mtx_mul_vec.clang.ptx", vec, clang, of_vec, of_first(mtx_mul_vec_clang)},
      {"MtxMulVecClangRolled", "mtx_mul_vec.clang.rolled.ptx", vec, clang_rolled, of_vec,
       of_first(mtx_mul_vec_clang_rolled)},
      {"MtxMulVecNvcc", "mtx_mul_vec.nvcc.ptx", vec, nvcc, of_vec, of_first(mtx_mul_vec_nvcc)},
      {"MtxMulVecNvccRolled", "mtx_mul_vec.nvcc.rolled.ptx", vec, nvcc_rolled, of_vec,
       of_first(mtx_mul_vec_nvcc_rolled)},
  };
}

struct HandCase {
  HandFile file;
  Arguments arguments;
};

std::vector<HandCase> hand_cases() {
  std::vector<HandCase> cases;
  for (const HandFile& file : hand_files()) {
    for (const Arguments& arguments : file.arguments) cases.push_back({file, arguments});
  }
  return cases;
}

// MtxNvccRolled_K7, LttClang_k0_L5. (N says nothing about mtx and ltt: their names do without it.)
std::string case_name(const HandCase& hand_case) {
  std::string name = hand_case.file.name;
  const std::size_t shown = std::max<std::size_t>(1, hand_case.arguments.size() - 1);
  for (std::size_t i = 0; i < shown; ++i) {
    name += fmt::format("_{}{}", hand_case.arguments[i].name, hand_case.arguments[i].value);
  }
  return name;
}

void PrintTo(const HandCase& hand_case, std::ostream* out) {
  *out << case_name(hand_case);
}
void PrintTo(const HandFile& file, std::ostream* out) {
  *out << file.ptx;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::filesystem::path repository() {
  return WARPTIME_SOURCE_DIR;
}

std::string committed_ptx(const HandFile& file) {
  return read_text(repository() / "tests" / "analyzer" / "by_hand" / file.ptx);
}

// PTX keeps no argument names: its parameters are param_0, param_1, …
Bindings bindings_by_position(const Arguments& arguments) {
  Bindings bindings;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    bindings[fmt::format("param_{}", i)] = arguments[i].value;
  }
  return bindings;
}

Bindings bindings_by_name(const Arguments& arguments) {
  Bindings bindings;
  for (const Argument& argument : arguments) bindings[argument.name] = argument.value;
  return bindings;
}

// A period as both sides are compared: cycles only for calculation, since those of a memory access are not
// the program's.
struct Shape {
  char kind = 'C';
  double cycles = 0;

  friend bool operator==(const Shape&, const Shape&) = default;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.kind;
  if (shape.kind == 'C') *out << " of " << shape.cycles << " cycles";
}

std::vector<Shape> shapes_of(const Stream& stream) {
  std::vector<Shape> shapes;
  for (const HandPeriod& period : stream.periods()) {
    const double cycles = period.kind == 'C' ? static_cast<double>(period.instructions - 1 + 10) : 0;
    shapes.push_back({period.kind, cycles});
  }
  return shapes;
}

std::vector<Shape> shapes_of(const std::vector<Period>& periods) {
  std::vector<Shape> shapes;
  for (const Period& period : periods) {
    switch (period.kind) {
      case PeriodKind::calculation:
        shapes.push_back({'C', period.cycles});
        break;
      case PeriodKind::load:
        shapes.push_back({'L', 0});
        break;
      case PeriodKind::store:
        shapes.push_back({'S', 0});
        break;
    }
  }
  return shapes;
}

Result<std::vector<Shape>> flattened(const KernelProgram& program, const Bindings& bindings) {
  const Result<Schedule> schedule = make_schedule(program, bindings, paper_durations());
  if (!schedule) return schedule.diagnostics();
  const Result<std::vector<Period>> periods = written_out(*schedule, 100'000);
  if (!periods) return periods.diagnostics();
  return shapes_of(*periods);
}

class HandProgram : public testing::TestWithParam<HandCase> {};

TEST_P(HandProgram, IsWhatOneWarpExecutes) {
  const auto& [file, arguments] = GetParam();
  const Result<Analysis> analysis = analyze(ptx_source(file.ptx, committed_ptx(file)), {});
  ASSERT_TRUE(analysis) << to_text(analysis.diagnostics());
  ASSERT_EQ(analysis->kernels.size(), 1u);

  const Result<std::vector<Shape>> actual =
      flattened(analysis->kernels[0].program, bindings_by_position(arguments));
  ASSERT_TRUE(actual) << to_text(actual.diagnostics());
  EXPECT_EQ(*actual, shapes_of(file.derivation(arguments)));
}

INSTANTIATE_TEST_SUITE_P(ByHand, HandProgram, testing::ValuesIn(hand_cases()),
                         [](const testing::TestParamInfo<HandCase>& of) { return case_name(of.param); });

// ----------------------------------------------------------------------------------------------------------
// The committed PTX against what the compilers make of the sources today
// ----------------------------------------------------------------------------------------------------------

// The instructions and the labels that branches name, a line each, without comments and with single spaces.
std::vector<std::string> instruction_lines(const std::string& ptx) {
  std::vector<std::string> lines;
  std::istringstream in(ptx);
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, line.find("//"));
    std::istringstream words(line);
    std::string joined;
    for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
    const bool instruction = joined.ends_with(';') && !joined.starts_with('.');
    const bool label = joined.starts_with("$L__BB") && joined.ends_with(':');
    if (instruction || label) lines.push_back(joined);
  }
  return lines;
}

TEST(ByHandFiles, InstructionsAreToldFromDirectivesAndComments) {
  const std::vector<std::string> expected = {"ld.param.u32 %r1, [p];", "$L__BB0_2:", "@%p1 bra $L__BB0_2;",
                                             "ret;"};
  EXPECT_EQ(instruction_lines(".reg .pred \t%p<2>;\n"
                              "$L__func_begin0:\n"
                              "\t.loc\t1 13 0   // a.cu:13:0\n"
                              "// %bb.0:\n"
                              "\tld.param.u32 \t%r1, [p];\n"
                              "$L__BB0_2:     // =>This Inner Loop Header: Depth=1\n"
                              "\t@%p1 bra \t$L__BB0_2;\n"
                              "\tret;\n"),
            expected);
}

class HandRecompiled : public testing::TestWithParam<HandFile> {};

TEST_P(HandRecompiled, HasTheProgramOfTheCommittedPtx) {
  const HandFile& file = GetParam();
  const bool nvcc = file.options.compiler == Compiler::nvcc;
  if (nvcc && !nvcc_version()) GTEST_SKIP() << "no CUDA Toolkit here";

  Result<Source> source = compile_cuda(file.cu, read_text(repository() / file.cu), file.options);
  ASSERT_TRUE(source) << to_text(source.diagnostics());
  const std::string compiler = source->compiler;
  const std::string committed_text = committed_ptx(file);
  if (instruction_lines(source->ptx) != instruction_lines(committed_text)) {
    GTEST_SKIP() << compiler << " makes other PTX of " << file.cu << " than " << file.ptx << " holds";
  }

  const Result<Analysis> committed = analyze(ptx_source(file.ptx, committed_text), {});
  ASSERT_TRUE(committed) << to_text(committed.diagnostics());
  ASSERT_EQ(committed->kernels.size(), 1u);
  const Result<Analysis> fresh = analyze(std::move(*source), {});
  ASSERT_TRUE(fresh) << to_text(fresh.diagnostics());
  ASSERT_EQ(fresh->kernels.size(), 1u);

  for (const Arguments& arguments : file.arguments) {
    SCOPED_TRACE(case_name({file, arguments}));
    const auto expected = flattened(committed->kernels[0].program, bindings_by_position(arguments));
    ASSERT_TRUE(expected) << to_text(expected.diagnostics());
    const auto actual = flattened(fresh->kernels[0].program, bindings_by_name(arguments));
    ASSERT_TRUE(actual) << to_text(actual.diagnostics());
    EXPECT_EQ(*actual, *expected);
  }
}

INSTANTIATE_TEST_SUITE_P(ByHand, HandRecompiled, testing::ValuesIn(hand_files()),
                         [](const testing::TestParamInfo<HandFile>& of) { return of.param.name; });

}  // namespace
}  // namespace warptime
