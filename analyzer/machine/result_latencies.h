// Cycles from the issue of a machine instruction until its result can be used, in one warp.
//
// Chains on an H100 and an H200 (data/hardware/small_launches.csv, of tests/hardware/small_launches.cu) gave those of XU
// instructions (MUFU, F2I, POPC: 16.8), shuffles (23.7, with the loop around it) and constants (37); `warptime measure
// --device` those of double precision and shared memory.
#pragma once

namespace warptime::machine {

inline constexpr double kXuLatency = 17;
inline constexpr double kDoubleLatency = 8.3;
inline constexpr double kSharedLatency = 34;        // and of local memory that L1 has
inline constexpr double kSharedAtomicLatency = 68;  // taken as a load and a store
inline constexpr double kConstantLatency = 37;      // with an address that is computed
inline constexpr double kShuffleLatency = 23;
inline constexpr double kSpecialRegisterLatency = 20;  // taken: near that of a shuffle
inline constexpr double kReductionLatency =
    54;  // of bar.red, after its barrier: one warp, 512 of them on an H100
inline constexpr double kTensorLatency = 26;  // of m16n8k16 (tests/hardware/matrix_products.cu)

}  // namespace warptime::machine
