// Reads that SMs of one GPC make of the same sectors at about the same time reach L2 as one: Hopper has a
// unit between the SMs of a GPC and L2 that joins them (Nsight Compute's L2 Request Coalescer).
//
// On an H100 two SMs of one GPC that read the same array at the same time cause as many reads of L2 as one SM
// does; two SMs of different GPCs cause twice as many. All 132 cause 34 times as many, in GPCs of 16 and 18
// SMs: no more than four requests are joined. A request is joined while the first is under way behind the
// unit: within about 90 cycles where L2 has the data, within 500 where memory does. Blocks start in order, GPC
// by GPC. (data/development.md, tests/hardware/joined_reads.cu)
#pragma once

#include "simulator/gpu/gpu.h"
#include "simulator/sm/sm_simulation.h"

namespace warptime {

// SMs of a GPC whose reads are joined; 1: the GPU has no such unit, or none is known.
std::int64_t sms_with_joined_reads(const Gpu& gpu);

// What reaches L2 of the reads that neighbouring SMs make: a share, at most 1, as if all SMs kept step.
// `options.sm` is one of the SMs.
double share_of_joined_reads(const LaunchTrace& launch, const SmFigures& figures, const SmOptions& options,
                             std::int64_t sms_together);

}  // namespace warptime
