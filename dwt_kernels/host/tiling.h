// The arithmetic of tiles: which rows of an image a tile is computed from, where its coefficients belong, how much memory it takes. Plain C++,
// so that tests/kernels/tiling_test.cc checks it on the CPU; lifting_tiles.cu streams tiles through a GPU by it.
//
// T. Ikuzawa, F. Ino, K. Hagihara, Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU
// (2017), section 4.4 and Fig. 5: a tile is a block of whole rows, contiguous in memory (1-D block decomposition); a segment is the tile and
// the rows around it that its columns' filters reach.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tiling {

constexpr std::int64_t value_bytes = 4;
// Rows of a segment above and below its tile. The (13,7) wavelet reaches 6; with 16, a segment of a tile of 512 rows has 544 = 17 * 32 rows,
// which chunks of columns divide.
constexpr std::int64_t halo_rows = 16;
constexpr int largest_chunk = 512;

enum class Method { separate, unified };

struct Tiles
{
    std::int64_t rows, columns;   // of the image
    std::int64_t tile_rows;       // even; divides rows

    std::int64_t count() const { return rows / tile_rows; }
    std::int64_t segment_rows() const { return tile_rows + 2 * halo_rows; }
    std::int64_t segment_values() const { return segment_rows() * columns; }
};

// `count` rows, from row `image` of the image and row `segment` of the segment on.
struct Run
{
    std::int64_t image, segment, count;
};

// The rows of a segment, in pieces where the image begins again: signals are periodic. A tile of less rows than a halo may need the image
// several times.
inline std::vector<Run> rows_of_segment(const Tiles &tiles, std::int64_t tile)
{
    std::vector<Run> result;
    const std::int64_t first = tile * tiles.tile_rows - halo_rows + tiles.rows * halo_rows;   // no remainder of negative numbers
    for (std::int64_t done = 0; done < tiles.segment_rows();)
    {
        const std::int64_t row = (first + done) % tiles.rows, count = std::min(tiles.rows - row, tiles.segment_rows() - done);
        result.push_back({row, done, count});
        done += count;
    }
    return result;
}

// What a tile's segment gives to the result: the rows of its low band and of its high band, without those of the halos.
inline std::array<Run, 2> rows_of_result(const Tiles &tiles, std::int64_t tile)
{
    const std::int64_t band = tiles.tile_rows / 2, first = halo_rows / 2;
    return {Run{tile * band, first, band}, Run{tiles.rows / 2 + tile * band, tiles.segment_rows() / 2 + first, band}};
}

// b for signals of this length: the largest multiple of 16 up to 512 such that chunks divide it in pairs; 0 where it is no multiple of 32.
inline int chunk_of(std::int64_t length)
{
    for (int b = largest_chunk; b > 0; b -= 16)
        if (length % (2 * b) == 0)
            return b;
    return 0;
}

// Algorithm 3. The first and the last chunk never move.
inline std::vector<int> representatives_of(std::int64_t chunks)
{
    std::vector<int> result;
    std::vector<bool> seen(static_cast<std::size_t>(chunks));
    for (std::int64_t i = 1; i < chunks - 1; ++i)
    {
        if (seen[static_cast<std::size_t>(i)])
            continue;
        result.push_back(static_cast<int>(i));
        for (std::int64_t j = i; !seen[static_cast<std::size_t>(j)]; j = 2 * j % (chunks - 1))
            seen[static_cast<std::size_t>(j)] = true;
    }
    return result;
}

// What Algorithm 2 needs for the rows and the columns of an image: their chunks, and the representative elements of both in one array.
struct Permutations
{
    int row_chunk, column_chunk;           // b
    std::int64_t row_chunks, column_chunks;   // 2m
    int row_count, column_count;           // l
    std::vector<int> elements;             // of the rows, then of the columns where they have another number of chunks
    int column_offset;                     // where those of the columns begin

    Permutations(std::int64_t rows, std::int64_t columns) : row_chunk(chunk_of(columns)), column_chunk(chunk_of(rows))
    {
        row_chunks = columns / row_chunk;
        column_chunks = rows / column_chunk;
        elements = representatives_of(row_chunks);
        row_count = column_count = static_cast<int>(elements.size());
        column_offset = 0;
        if (column_chunks == row_chunks)
            return;
        const std::vector<int> of_columns = representatives_of(column_chunks);
        column_count = static_cast<int>(of_columns.size());
        column_offset = row_count;
        elements.insert(elements.end(), of_columns.begin(), of_columns.end());
    }
};

// Bytes of device memory for an image or a segment: a second buffer, or the representative elements (Figures 6 and 7).
inline std::int64_t device_bytes(Method method, std::int64_t rows, std::int64_t columns)
{
    const std::int64_t image = rows * columns * value_bytes;
    return method == Method::separate ? 2 * image : image + static_cast<std::int64_t>(Permutations(rows, columns).elements.size()) * value_bytes;
}

// The largest power of two of rows, up to half the image, such that this many segments fit into `memory` bytes at once; 0 where none does.
inline std::int64_t tile_rows_within(std::int64_t memory, Method method, std::int64_t rows, std::int64_t columns, int segments)
{
    for (std::int64_t tile_rows = rows / 2; tile_rows >= 32; tile_rows /= 2)
        if (rows % tile_rows == 0 && segments * device_bytes(method, Tiles{rows, columns, tile_rows}.segment_rows(), columns) <= memory)
            return tile_rows;
    return 0;
}

// Coefficient `place` of the block layout of a periodic signal whose sample i is get(i): the (13,7) wavelet by its definition (equations 1
// and 2), for checks of single values.
template <typename Get> double coefficient(Get get, std::int64_t length, std::int64_t place)
{
    const std::int64_t half = length / 2;
    const auto sample = [&](std::int64_t i) { return static_cast<double>(get((i % length + length) % length)); };
    const auto high = [&](std::int64_t t) {
        return sample(2 * t + 1) - (9 * (sample(2 * t) + sample(2 * t + 2)) - sample(2 * t - 2) - sample(2 * t + 4)) / 16;
    };
    if (place >= half)
        return high(place - half);
    return sample(2 * place) + (9 * (high(place - 1) + high(place)) - high(place - 2) - high(place + 1)) / 32;
}

// The same for an image: get(row, column).
template <typename Get>
double coefficient_2d(Get get, std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column)
{
    return coefficient([&](std::int64_t r) { return coefficient([&](std::int64_t c) { return get(r, c); }, columns, column); }, rows, row);
}

}  // namespace tiling
