// The unified-buffer transform for images larger than the GPU's memory: tiles of rows with halos, streamed through the GPU. For nvcc alone: it
// is host code around the kernels of lifting_unified.cu, and has no plan.
//
// T. Ikuzawa, F. Ino, K. Hagihara, Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU
// (2017), section 4.4 and Fig. 5: tiles are blocks of whole rows, contiguous in memory; each is transferred with the rows around it that its
// columns' filters need, transformed in place, and its own part transferred back. Streams let the transfers of one tile overlap with
// the kernels of another.
//
//   nvcc -O3 -o lifting_tiles lifting_tiles.cu && ./lifting_tiles 4096 4096 512
//
// transforms an image in tiles of 512 rows and as a whole, and exits with 1 where the results differ.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../lifting_unified.cu"

namespace {

constexpr int chunk = 512;
constexpr int halo_rows = 8;   // (13,7): a low value reaches 6 samples to each side; even, so that pairs stay pairs
constexpr int streams = 3;     // one tile arrives, one is computed, one leaves

void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

// Algorithm 3. The first and the last chunk never move.
std::vector<int> representatives_of(int chunks)
{
    std::vector<int> result;
    std::vector<bool> seen(chunks);
    for (int i = 1; i < chunks - 1; ++i)
    {
        if (seen[i])
            continue;
        result.push_back(i);
        for (int j = i; !seen[j]; j = 2 * j % (chunks - 1))
            seen[j] = true;
    }
    return result;
}

// What the rearrangement of images of one size needs: the representative elements of rows and columns, and where they are in constant memory.
struct Permutations
{
    int row_chunks, row_count, column_chunks, column_count, column_offset;

    Permutations(int rows, int columns) : row_chunks(columns / chunk), column_chunks(rows)
    {
        std::vector<int> all = representatives_of(row_chunks);
        row_count = column_offset = static_cast<int>(all.size());
        const std::vector<int> of_columns = representatives_of(rows);
        column_count = static_cast<int>(of_columns.size());
        all.insert(all.end(), of_columns.begin(), of_columns.end());
        check(cudaMemcpyToSymbol(representatives, all.data(), all.size() * sizeof(int)), "representative elements to constant memory");
    }
};

// Deslauriers-Dubuc (13,7) of rows and columns, in place, in a stream.
void transform(float *x, int rows, int columns, const Permutations &permutations, cudaStream_t stream)
{
    const int half = columns / 2, blocks = rows * ((half + 255) / 256);
    chunk_generation<<<rows * columns / (2 * chunk), 2 * chunk, 0, stream>>>(chunk, x);
    if (permutations.row_count > 0)
        chunk_rearrangement<<<rows * permutations.row_count, chunk, 0, stream>>>(permutations.row_chunks, permutations.row_count, 0, columns, chunk, x);
    lift4_rows<<<blocks, 256, 0, stream>>>(half, -1, 1.0f / 16, -9.0f / 16, x + half, x);
    lift4_rows<<<blocks, 256, 0, stream>>>(half, -2, -1.0f / 32, 9.0f / 32, x, x + half);

    const int band = rows / 2 * columns, column_blocks = (band + 255) / 256;
    chunk_rearrangement<<<columns / 256 * permutations.column_count, 256, 0, stream>>>(permutations.column_chunks, permutations.column_count,
                                                                                       permutations.column_offset, 256, columns, x);
    lift4_columns<<<column_blocks, 256, 0, stream>>>(rows / 2, columns, -1, 1.0f / 16, -9.0f / 16, x + band, x);
    lift4_columns<<<column_blocks, 256, 0, stream>>>(rows / 2, columns, -2, -1.0f / 32, 9.0f / 32, x, x + band);
    check(cudaGetLastError(), "launch");
}

// in, out: rows x columns values in pinned host memory. columns is a multiple of 1024, rows one of tile_rows, which is even.
void transform_in_tiles(const float *in, float *out, int rows, int columns, int tile_rows)
{
    const int segment_rows = tile_rows + 2 * halo_rows;
    const std::size_t row_bytes = columns * sizeof(float);
    const Permutations permutations(segment_rows, columns);
    cudaStream_t stream[streams];
    float *segment[streams];
    for (int i = 0; i < streams; ++i)
    {
        check(cudaStreamCreate(&stream[i]), "stream");
        check(cudaMalloc(&segment[i], segment_rows * row_bytes), "memory for a segment");
    }
    for (int tile = 0; tile < rows / tile_rows; ++tile)
    {
        float *const x = segment[tile % streams];
        const cudaStream_t queue = stream[tile % streams];   // a segment is free when its stream has come this far
        // The rows of the segment, in pieces where the image begins again.
        for (int done = 0; done < segment_rows;)
        {
            const int row = (tile * tile_rows - halo_rows + done + rows) % rows;
            const int count = std::min(rows - row, segment_rows - done);
            check(cudaMemcpyAsync(x + static_cast<std::size_t>(done) * columns, in + static_cast<std::size_t>(row) * columns, count * row_bytes,
                                  cudaMemcpyHostToDevice, queue), "segment to the device");
            done += count;
        }
        transform(x, segment_rows, columns, permutations, queue);
        // Low and high band without what belongs to the halos.
        const std::size_t low = halo_rows / 2, high = segment_rows / 2 + halo_rows / 2, band = tile_rows / 2;
        check(cudaMemcpyAsync(out + tile * band * columns, x + low * columns, band * row_bytes, cudaMemcpyDeviceToHost, queue), "low band");
        check(cudaMemcpyAsync(out + (rows / 2 + tile * band) * columns, x + high * columns, band * row_bytes, cudaMemcpyDeviceToHost, queue), "high band");
    }
    check(cudaDeviceSynchronize(), "tiles");
    for (int i = 0; i < streams; ++i)
    {
        cudaFree(segment[i]);
        cudaStreamDestroy(stream[i]);
    }
}

void transform_whole(const float *in, float *out, int rows, int columns)
{
    const std::size_t bytes = static_cast<std::size_t>(rows) * columns * sizeof(float);
    const Permutations permutations(rows, columns);
    float *x;
    check(cudaMalloc(&x, bytes), "memory for the image");
    check(cudaMemcpy(x, in, bytes, cudaMemcpyHostToDevice), "image to the device");
    transform(x, rows, columns, permutations, nullptr);
    check(cudaMemcpy(out, x, bytes, cudaMemcpyDeviceToHost), "image from the device");
    cudaFree(x);
}

}  // namespace

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? std::atoi(argv[1]) : 4096, columns = argc > 2 ? std::atoi(argv[2]) : 4096, tile_rows = argc > 3 ? std::atoi(argv[3]) : 512;
    if (columns < 1024 || columns % 1024 != 0 || tile_rows < 2 || tile_rows % 2 != 0 || rows < tile_rows || rows % tile_rows != 0 || rows < 2 * halo_rows ||
        rows > 16384)
    {
        std::fprintf(stderr, "usage: lifting_tiles ROWS COLUMNS TILE_ROWS; columns a multiple of 1024, rows one of the tile's, 16 to 16384\n");
        return 2;
    }
    const std::size_t count = static_cast<std::size_t>(rows) * columns;
    float *in, *tiled, *whole;
    check(cudaMallocHost(&in, count * sizeof(float)), "host memory");
    check(cudaMallocHost(&tiled, count * sizeof(float)), "host memory");
    check(cudaMallocHost(&whole, count * sizeof(float)), "host memory");
    unsigned seed = 1;
    for (std::size_t i = 0; i < count; ++i)
    {
        seed = seed * 1103515245 + 12345;
        in[i] = static_cast<float>(seed >> 16 & 255) - 128;
    }
    transform_whole(in, whole, rows, columns);
    transform_in_tiles(in, tiled, rows, columns, tile_rows);
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i)
        largest = std::max(largest, std::abs(static_cast<double>(tiled[i]) - whole[i]));
    std::printf("%d x %d in tiles of %d rows: largest difference %g\n", rows, columns, tile_rows, largest);
    return largest < 1e-3 ? 0 : 1;
}
