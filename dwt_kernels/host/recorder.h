// Copies and kernels in streams, with what they move and when: the lines of Fig. 12. For nvcc alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <ostream>

#include "lifting_methods.h"

namespace tiling {

// An operation of a stream between two events.
struct Operation
{
    int stream;
    std::int64_t tile;
    const char *what;   // to_device, kernels, to_host
    cudaEvent_t begin, end;
};

// Copies and kernels of one run in its streams, with what they move and when.
class Recorder
{
public:
    Recorder(const Transform &transform, std::int64_t columns, int streams) : transform_(transform), columns_(columns), streams_(streams)
    {
        for (auto &stream : streams_)
            check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
        origin_ = event(0);
    }
    Recorder(const Recorder &) = delete;
    Recorder &operator=(const Recorder &) = delete;
    ~Recorder()
    {
        for (const auto &one : operations_)
        {
            cudaEventDestroy(one.begin);
            cudaEventDestroy(one.end);
        }
        cudaEventDestroy(origin_);
        for (auto &stream : streams_)
            cudaStreamDestroy(stream);
    }

    void to_device(int stream, std::int64_t tile, float *to, const float *from, std::int64_t rows)
    {
        copy(stream, tile, "to_device", to, from, rows, cudaMemcpyHostToDevice);
        to_device_ += rows * columns_ * value_bytes;
    }
    void to_host(int stream, std::int64_t tile, float *to, const float *from, std::int64_t rows)
    {
        copy(stream, tile, "to_host", to, from, rows, cudaMemcpyDeviceToHost);
        to_host_ += rows * columns_ * value_bytes;
    }
    void on_device(float *to, const float *from, std::int64_t rows) { copy(0, 0, "on_device", to, from, rows, cudaMemcpyDeviceToDevice); }
    void kernels(int stream, std::int64_t tile, float *x, float *scratch, AfterKernel *marks = nullptr)
    {
        const cudaEvent_t begin = event(stream);
        mark(marks, "begin", streams_[stream]);
        transform_(x, scratch, streams_[stream], marks);
        operations_.push_back({stream, tile, "kernels", begin, event(stream)});
    }

    std::int64_t to_device_bytes() const { return to_device_; }
    std::int64_t to_host_bytes() const { return to_host_; }
    double kernels_us() const
    {
        double sum = 0;
        for (const auto &one : operations_)
            sum += std::strcmp(one.what, "kernels") == 0 ? microseconds(one.begin, one.end) : 0;
        return sum;
    }
    // An event before a copy fires when its stream comes to it, though the copy may still wait for the copies of other streams: copies in one
    // direction begin no earlier than the one before them ends.
    void write_timeline(std::ostream &out, const std::string &label) const
    {
        std::map<std::string, double> free_from;
        auto in_order = operations_;
        std::stable_sort(in_order.begin(), in_order.end(),
                         [&](const auto &a, const auto &b) { return microseconds(origin_, a.end) < microseconds(origin_, b.end); });
        for (const auto &one : in_order)
        {
            const double end = microseconds(origin_, one.end), begin = std::max<double>(microseconds(origin_, one.begin), free_from[one.what]);
            free_from[one.what] = end;
            out << label << ',' << one.stream << ',' << one.tile << ',' << one.what << ',' << begin << ',' << end << '\n';
        }
    }

private:
    cudaEvent_t event(int stream) const
    {
        cudaEvent_t result;
        check(cudaEventCreate(&result), "event");
        check(cudaEventRecord(result, streams_[stream]), "event");
        return result;
    }
    static double microseconds(cudaEvent_t from, cudaEvent_t to)
    {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, from, to), "time");
        return 1e3 * milliseconds;
    }
    void copy(int stream, std::int64_t tile, const char *what, float *to, const float *from, std::int64_t rows, cudaMemcpyKind kind)
    {
        const cudaEvent_t begin = event(stream);
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(rows * columns_ * value_bytes), kind, streams_[stream]), what);
        operations_.push_back({stream, tile, what, begin, event(stream)});
    }

    const Transform &transform_;
    std::int64_t columns_, to_device_ = 0, to_host_ = 0;
    std::vector<cudaStream_t> streams_;
    std::vector<Operation> operations_;
    cudaEvent_t origin_;
};

}  // namespace tiling
