// Bytes of memory that nothing has written, and what is done with them. Copies of structures copy their padding, so
// that to read and to store such bytes is no error. An address, a branch or a stored result that depends on them is,
// and so is a read where nothing around the bytes was written either.
#pragma once

#include <string>

#include "analyzer/execute/warp.h"

namespace warptime::execute {

// A read of warp.undefined_bytes into registers, each of `bytes` bytes: it is remembered which hold them.
void load_undefined(Warp& warp, const Ref* refs, std::uint32_t count, std::uint32_t lane,
                    std::uint32_t bytes);
// A store of registers that may hold undefined bytes, which are then at `to`; a finding where they were computed with.
void store_undefined(Warp& warp, const DecodedInstruction& op, std::uint32_t lane, const std::byte* to,
                     std::uint32_t bytes);
// An instruction in a frame that has undefined values: findings where its guard or address is one. Then the handler
// runs, and what it writes is undefined where it depends on what is.
void run_with_undefined(Warp& warp, const DecodedInstruction& op, std::uint32_t active, std::uint32_t mask);
// Keeps what to say of the read that is being done, should anything depend on it.
void note_undefined_read(Warp& warp, const std::string& message);

}  // namespace warptime::execute
