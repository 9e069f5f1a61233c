// Both methods of lifting on the device: the unified buffer and separate ones, and the device memory that a run is given. For nvcc alone.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tiling.h"

// The kernels' files are self-contained, each with its own constants.
namespace laan {
#include "../lifting_laan.cu"
}
namespace separate {
#include "../lifting_separate.cu"
}
namespace unified {
#include "../lifting_unified.cu"
}
namespace image {
#include "../lifting_unified_image.cu"
}

namespace tiling {

inline void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

// Device memory up to a limit, so that a large GPU can stand for a small one.
class DeviceMemory
{
public:
    explicit DeviceMemory(std::int64_t limit) : limit_(limit) {}
    DeviceMemory(const DeviceMemory &) = delete;
    DeviceMemory &operator=(const DeviceMemory &) = delete;
    ~DeviceMemory()
    {
        for (void *block : blocks_)
            cudaFree(block);
    }

    // Null where the limit or the device has no more.
    float *allocate(std::int64_t bytes)
    {
        void *block = nullptr;
        if (used_ + bytes > limit_ || cudaMalloc(&block, static_cast<std::size_t>(bytes)) != cudaSuccess)
        {
            cudaGetLastError();   // the next call is not to find this one's
            return nullptr;
        }
        blocks_.push_back(block);
        used_ += bytes;
        return static_cast<float *>(block);
    }
    // Constant memory, which has room of its own but is the device's, too.
    void count(std::int64_t bytes) { used_ += bytes; }
    std::int64_t used() const { return used_; }

private:
    std::int64_t limit_, used_ = 0;
    std::vector<void *> blocks_;
};

// An event after each kernel, with the kernel's name.
using AfterKernel = std::vector<std::pair<std::string, cudaEvent_t>>;

inline void mark(AfterKernel *marks, const char *kernel, cudaStream_t stream)
{
    if (marks == nullptr)
        return;
    cudaEvent_t event;
    check(cudaEventCreate(&event), "event");
    check(cudaEventRecord(event, stream), "event");
    marks->emplace_back(kernel, event);
}

inline void upload(const Permutations &permutations)
{
    if (!permutations.elements.empty())
        check(cudaMemcpyToSymbol(unified::representatives, permutations.elements.data(), permutations.elements.size() * sizeof(int)),
              "representative elements to constant memory");
}

// In place. `permutations` is in constant memory.
inline void transform_unified(float *x, std::int64_t rows, std::int64_t columns, const Permutations &permutations, cudaStream_t stream,
                              AfterKernel *marks = nullptr)
{
    const int b = permutations.row_chunk, c = permutations.column_chunk;
    const int r = static_cast<int>(rows), k = static_cast<int>(columns);
    unified::chunk_generation<<<static_cast<unsigned>(rows * columns / (2 * b)), 2 * b, 0, stream>>>(b, x);
    mark(marks, "chunk_generation", stream);
    if (permutations.row_count > 0)
        unified::chunk_rearrangement<<<static_cast<unsigned>(rows * permutations.row_count), b, 0, stream>>>(
            static_cast<int>(permutations.row_chunks), permutations.row_count, 0, k, b, x);
    mark(marks, "chunk_rearrangement_rows", stream);
    image::lift_rows<<<r, 128, 0, stream>>>(k / 2, x);
    mark(marks, "lift_rows", stream);
    image::chunk_generation_columns<<<static_cast<unsigned>(columns / 32 * (rows / (2 * c))), 2 * c, 0, stream>>>(c, k, x);
    mark(marks, "chunk_generation_columns", stream);
    if (permutations.column_count > 0)
        unified::chunk_rearrangement<<<static_cast<unsigned>(columns * permutations.column_count), c, 0, stream>>>(
            static_cast<int>(permutations.column_chunks), permutations.column_count, permutations.column_offset, c, c * k, x);
    mark(marks, "chunk_rearrangement_columns", stream);
    image::lift_columns<<<k / 32, 1024, 0, stream>>>(r / 2, k, x);
    mark(marks, "lift_columns", stream);
    check(cudaGetLastError(), "launch");
}

// From x to scratch and back.
inline void transform_separate(float *x, float *scratch, std::int64_t rows, std::int64_t columns, cudaStream_t stream,
                               AfterKernel *marks = nullptr)
{
    const int r = static_cast<int>(rows), k = static_cast<int>(columns);
    laan::laan_rows<<<static_cast<unsigned>(rows * ((columns / 2 + 127) / 128)), 128, 0, stream>>>(k, x, scratch);
    mark(marks, "laan_rows", stream);
    separate::window_columns<<<static_cast<unsigned>(columns / 32 * ((rows / 2 + 127) / 128)), 256, 0, stream>>>(r, k, scratch, x);
    mark(marks, "window_columns", stream);
    check(cudaGetLastError(), "launch");
}

// One of the two, for images of one size.
class Transform
{
public:
    Transform(Method method, std::int64_t rows, std::int64_t columns)
        : method_(method), rows_(rows), columns_(columns), permutations_(rows, columns)
    {
        if (method == Method::unified)
            upload(permutations_);
    }
    // Bytes of what it needs beside the image.
    std::int64_t constant_bytes() const
    {
        return method_ == Method::unified ? static_cast<std::int64_t>(permutations_.elements.size()) * value_bytes : 0;
    }
    std::int64_t scratch_bytes() const { return method_ == Method::separate ? rows_ * columns_ * value_bytes : 0; }
    void operator()(float *x, float *scratch, cudaStream_t stream, AfterKernel *marks = nullptr) const
    {
        if (method_ == Method::unified)
            transform_unified(x, rows_, columns_, permutations_, stream, marks);
        else
            transform_separate(x, scratch, rows_, columns_, stream, marks);
    }

private:
    Method method_;
    std::int64_t rows_, columns_;
    Permutations permutations_;
};

}  // namespace tiling
