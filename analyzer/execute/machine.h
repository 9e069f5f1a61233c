// Running warps: frames, divergence, barriers. run.cc drives blocks; this is what happens in one.
#pragma once

#include "analyzer/execute/warp.h"

namespace warptime::execute {

// Lets a warp begin at the kernel's first instruction with the lanes of `live`.
void start_warp(Warp& warp, std::uint32_t live);
// Runs until the warp waits or ends, `instructions` instructions are done, or the machine stops.
void run_warp(Warp& warp, std::uint64_t instructions);

// frames.cc: enters `callee` with the lanes of `mask`; leaves the topmost frame. The program counter is the
// caller's.
bool enter(Warp& warp, const FunctionCode& callee, const CallSite& site, std::uint32_t mask);
void leave(Warp& warp);
void use_frame(Warp& warp);

// barriers.cc: the warp reaches a barrier; the warp has ended (others may wait for it). Nobody can go on: a
// finding.
void reach_barrier(Warp& warp, const DecodedInstruction& op, std::uint32_t mask);
void warp_ended(Block& block);
void report_deadlock(Block& block);

// externals.cc: vprintf, __assertfail, malloc, free.
void call_external(Warp& warp, const CallSite& site, std::uint32_t mask);
// The value of a call's argument for one lane.
std::uint64_t argument_value(const Warp& warp, const CallSite::Passed& passed, std::uint32_t lane);
// Gives a call's result to one lane.
void give_value(Warp& warp, const CallSite::Passed& passed, std::uint32_t lane, std::uint64_t value);

}  // namespace warptime::execute
