// The command line of lifting_tiles.cu: NAME=VALUE for each option.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "tiling.h"

namespace tiling {

struct Options
{
    std::vector<std::int64_t> sizes = {4096};
    std::vector<std::string> methods = {"separate", "unified"}, modes = {"tiles", "pipelined"}, ends = {"CC"};
    std::int64_t rows = 0;       // 0: as many as columns
    std::int64_t tile = 512;     // rows; 0: the largest power of two that the memory allows
    std::int64_t memory = INT64_MAX;   // bytes on the device
    int streams = 4, repetitions = 3;
    std::string timeline, phases;      // files for the last repetition's copies and kernels
};

inline std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> result;
    std::stringstream stream(text);
    for (std::string one; std::getline(stream, one, ',');)
        result.push_back(one);
    return result;
}

// A size such as 4096, or 2K: 2 * 1024.
inline std::int64_t size_of(const std::string &text)
{
    const std::int64_t number = std::strtoll(text.c_str(), nullptr, 10);
    const char last = text.empty() ? ' ' : text.back();
    return number << (last == 'K' ? 10 : last == 'M' ? 20 : last == 'G' ? 30 : 0);
}

inline bool read_option(const std::string &name, const std::string &value, Options &options)
{
    if (name == "sizes")
    {
        options.sizes.clear();
        for (const auto &one : split(value))
            options.sizes.push_back(size_of(one));
    }
    else if (name == "methods")
        options.methods = split(value);
    else if (name == "modes")
        options.modes = split(value);
    else if (name == "ends")
        options.ends = split(value);
    else if (name == "rows")
        options.rows = size_of(value);
    else if (name == "tile")
        options.tile = size_of(value);
    else if (name == "memory")
        options.memory = size_of(value);
    else if (name == "streams")
        options.streams = static_cast<int>(size_of(value));
    else if (name == "repetitions")
        options.repetitions = static_cast<int>(size_of(value));
    else if (name == "timeline")
        options.timeline = value;
    else if (name == "phases")
        options.phases = value;
    else
        return false;
    return true;
}

// Methods, modes and ends by name; sizes that the kernels take.
inline bool valid(const Options &options)
{
    const auto all_of = [](const std::vector<std::string> &values, std::initializer_list<const char *> known) {
        return std::all_of(values.begin(), values.end(), [&](const std::string &one) {
            return std::any_of(known.begin(), known.end(), [&](const char *name) { return one == name; });
        });
    };
    const auto kernels_take = [&](std::int64_t columns) {
        const std::int64_t rows = options.rows == 0 ? columns : options.rows;
        return columns >= 32 && columns % 32 == 0 && rows >= 32 && rows % 32 == 0 && columns * halo_rows < INT32_MAX;
    };
    return all_of(options.methods, {"separate", "unified"}) && all_of(options.modes, {"whole", "halves", "tiles", "pipelined"}) &&
           all_of(options.ends, {"CC", "CG", "GC", "GG"}) && std::all_of(options.sizes.begin(), options.sizes.end(), kernels_take) &&
           options.streams >= 1 && options.repetitions >= 1 && options.tile >= 0 && options.memory > 0;
}

}  // namespace tiling
