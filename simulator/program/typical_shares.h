// What branches on loaded data typically do, where neither a profile nor the user says.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "simulator/program/kernel_program.h"

namespace warptime {

// How the analysis names the shares of a branch's sides, and what stands before the condition in their descriptions: that and
// "`" end them.
inline constexpr std::string_view kTakenAt = "taken_at_", kNotTakenAt = "not_taken_at_";
inline constexpr std::string_view kDataDecide = "data decide `";

// Whether a parameter is the share of the warps that go to one side of a branch on data.
bool is_side_of_branch(const Parameter& parameter);

// The share of a warp's threads that typically go to a side to which some of them go: half of them, or all where the condition is
// that a place lies between two bounds.
double typical_threads(const Parameter& side);

// Of the parameters of `program` that are shares of warps, those that the analysis leaves at 1, since nothing is known of the
// data, and that typically are less:
// - at most two fifths, where the warps count or collect what they find: there are atomics on this side of the branch, and
//   none on the other. But all of them where one thread of each warp adds for the others, which asks whether any of them has
//   found something, or which data choose.
// - three in ten, where two values must be equal, but for remainders of a division by 32 or less, of which some thread of a
//   warp mostly has each; of a conjunction the least share of its parts, of a disjunction the most.
// - all, where they must differ.
// - all, where a place must lie between a number and what the launch gives: within an image, say.
// - three quarters, of all other conditions.
// Branches in each other together have the least share of them.
// The shares are those with which times of the open sets of data/development are nearest (docs/extended.md, "What is
// simulated").
std::map<std::string, double> typical_shares(const KernelProgram& program);

}  // namespace warptime
