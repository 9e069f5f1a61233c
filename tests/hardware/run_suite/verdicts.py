"""Where `warptime run` and compute-sanitizer say different things of a kernel of this folder, and who is right.

A group's name, why, and its cases. scripts/compare_run_suite makes a section of docs/run.md of it.
"""
GROUPS = {
    "Flags, fences, locks": (
        "`run` is right: a fence or a release before the flag, and a fence or an acquire behind it, order the accesses "
        "(PTX ISA, memory consistency model). racecheck knows barriers only. In `lock_in_shared_memory` what the lock "
        "guards is volatile besides. `token_from_lane_to_lane` ends on hardware, and not under racecheck.",
        "lock_in_shared_memory lock_guards_plain_data flag_and_fence_in_shared_memory release_and_acquire "
        "last_warp_sums token_from_lane_to_lane"),
    "Volatile stores of one value": (
        "`run` is right: volatile accesses are strong, and strong ones of the same size do not race with each other. "
        "racecheck reports equal values for information, and a volatile flag as a hazard within the warp. "
        "`barrier_that_others_wait_for` hangs for both.",
        "side_waits_for_side other_side_waits_for_side warp_waits_for_warp barrier_that_others_wait_for"),
    "bar.arrive": (
        "`run` is right of `producer_and_consumer_in_turns`, which is the PTX ISA's own use of `bar.arrive`: the consumer "
        "arrives when it has read. In `producer_runs_ahead` both are: the producer may overwrite what the consumer reads, "
        "or complete the barrier alone, after which the consumer waits for ever. `run` executes the second order, the GPU "
        "the first, and synccheck the second.",
        "producer_and_consumer_in_turns producer_runs_ahead"),
    "Barriers": (
        "`barrier_in_both_branches_of_a_block`: synccheck is right by the CUDA C++ guide, which asks for one condition in the "
        "whole block; PTX asks for it in a warp only, the result is defined there, and the GPU gives it. "
        "`unaligned_barriers_of_half_warps`: both; it is the illegal instruction that `run` calls a barrier of part of a "
        "warp. `ballot_without_itself`: `run` is right, PTX leaves it undefined; the GPU went on.",
        "barrier_in_both_branches_of_a_block unaligned_barriers_of_half_warps ballot_without_itself"),
    "Races that racecheck misses": (
        "`run` is right. racecheck misses a plain read or write beside atomics, pairs of warps at barriers of their own, and "
        "two warps' stores of the same constant (of which it reports others).",
        "atomic_and_plain_read initialisation_races_with_atomics named_barriers_of_two_pairs "
        "two_warps_write_the_same_value"),
    "The same race twice": (
        "Both are right. racecheck adds that some of the threads write equal values; `run` adds that, in the order in which "
        "it executes, the reader comes before anything was written.",
        "two_warps_write_one_word lanes_write_one_word read_without_barrier asynchronous_copy_without_barrier"),
    "Memory that nothing has written": (
        "`run` is right. initcheck looks at global memory only, and reports padding that a copy of a structure reads and "
        "nobody uses.",
        "shared_memory_without_value local_memory_without_value padded_structure structure_that_is_mostly_padding"),
    "Accesses": (
        "`run` is right of the PTX. `misaligned_vector` loads 8 bytes at an address that is no multiple of 8; the machine "
        "code, in which only the lower half is used, did not fault. `local_past_the_end` reads 4 MiB past an array in local "
        "memory, which gave a value. memcheck knows where allocations end, not which one an address was computed from: it "
        "finds nothing where an index leads into another buffer or another shared array.",
        "misaligned_vector local_past_the_end index_into_another_shared_array index_into_another_buffer"),
}
