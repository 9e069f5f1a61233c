// The lifting transforms of images that are larger than the GPU's memory, or than a limit that stands for a smaller GPU: whole images, halves
// that swap, and tiles of rows with halos, one after the other or streamed through the GPU. For nvcc alone: it is host code around kernels
// that have plans (lifting_unified, lifting_separate), and has none itself.
//
// T. Ikuzawa, F. Ino, K. Hagihara, Reducing memory usage by the lifting-based discrete wavelet transform with a unified buffer on a GPU
// (2017), sections 4.4, 5.2 and 5.4: Figures 8, 9, 11 and 12. The arithmetic of tiles is in tiling.h.
//
//   nvcc -std=c++17 -O3 -arch=native -o lifting_tiles lifting_tiles.cu
//   ./lifting_tiles sizes=4096,32768 methods=separate,unified modes=whole,halves,tiles,pipelined ends=GG,CG,GC,CC memory=6442450944
//
// writes a line of CSV for every combination that its memory allows, and says on stderr which were omitted. Every result is compared with
// the transform's definition at the tiles' ends and at other places; the exit status is 1 where one differs.
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "options.h"
#include "recorder.h"

namespace tiling {
namespace {

// A value between -128 and 127 for every place.
float pixel(std::int64_t row, std::int64_t column)
{
    std::uint32_t x = static_cast<std::uint32_t>(row) * 0x9e3779b1u + static_cast<std::uint32_t>(column) * 0x85ebca6bu;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    x ^= x >> 13;
    return static_cast<float>(x >> 11 & 255) - 128;
}

// Pinned host memory for the image, its coefficients and what is swapped; made once for the largest size.
struct Host
{
    float *in = nullptr, *out = nullptr, *swapped = nullptr;

    Host(std::int64_t values, std::int64_t swapped_values)
    {
        check(cudaMallocHost(&in, static_cast<std::size_t>(values * value_bytes)), "host memory");
        check(cudaMallocHost(&out, static_cast<std::size_t>(values * value_bytes)), "host memory");
        if (swapped_values > 0)
            check(cudaMallocHost(&swapped, static_cast<std::size_t>(swapped_values * value_bytes)), "host memory");
    }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;
    ~Host()
    {
        cudaFreeHost(in);
        cudaFreeHost(out);
        cudaFreeHost(swapped);
    }
    void fill(std::int64_t rows, std::int64_t columns)
    {
        const int workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
        std::vector<std::thread> threads;
        for (int worker = 0; worker < workers; ++worker)
            threads.emplace_back([=] {
                for (std::int64_t row = worker; row < rows; row += workers)
                    for (std::int64_t column = 0; column < columns; ++column)
                        in[row * columns + column] = pixel(row, column);
            });
        for (auto &thread : threads)
            thread.join();
    }
};

// One combination of the options.
struct Job
{
    Method method;
    std::string mode;
    bool from_device, to_device;   // where the image is, and where its coefficients are to be: G or C of the paper
    std::int64_t rows, columns;
};

void send_segment(Recorder &run, const Tiles &tiles, std::int64_t tile, float *segment, const float *in, int stream)
{
    for (const Run &piece : rows_of_segment(tiles, tile))
        run.to_device(stream, tile, segment + piece.segment * tiles.columns, in + piece.image * tiles.columns, piece.count);
}

void fetch_result(Recorder &run, const Tiles &tiles, std::int64_t tile, const float *segment, float *out, int stream)
{
    for (const Run &band : rows_of_result(tiles, tile))
        run.to_host(stream, tile, out + band.image * tiles.columns, segment + band.segment * tiles.columns, band.count);
}

// Section 5.2, "without tiling".
void run_whole(const Job &job, Recorder &run, Host &host, float *x, float *scratch, AfterKernel *marks)
{
    if (!job.from_device)
        run.to_device(0, 0, x, host.in, job.rows);
    run.kernels(0, 0, x, scratch, marks);
    if (!job.to_device)
        run.to_host(0, 0, host.out, x, job.rows);
}

// Section 5.2, "with tiling": separate buffers for half of the image in the memory that the image takes. Where the image is on the device, its
// lower half leaves for the host first; where the coefficients are to stay, those of the upper half leave until the lower half is done.
// `x`: two segments, one after the other; an image on the device begins after the halo of the first.
void run_halves(const Job &job, const Tiles &tiles, Recorder &run, Host &host, float *x)
{
    const std::int64_t columns = tiles.columns, segment = tiles.segment_values(), half = tiles.tile_rows, band = half / 2;
    float *const first = x, *const second = x + segment;
    if (job.from_device)
    {
        const float *const image = x + halo_rows * columns;
        run.to_host(0, 1, host.swapped, image + (half - halo_rows) * columns, half + halo_rows);
        run.to_host(0, 1, host.swapped + (half + halo_rows) * columns, image, halo_rows);
        run.on_device(first, image + (2 * half - halo_rows) * columns, halo_rows);
    }
    else
        send_segment(run, tiles, 0, first, host.in, 0);
    run.kernels(0, 0, first, second);
    fetch_result(run, tiles, 0, first, host.out, 0);
    if (job.from_device)
        run.to_device(0, 1, second, host.swapped, tiles.segment_rows());
    else
        send_segment(run, tiles, 1, second, host.in, 0);
    run.kernels(0, 1, second, first);
    if (!job.to_device)
    {
        fetch_result(run, tiles, 1, second, host.out, 0);
        return;
    }
    // The lower half's bands to their places, by way of the place of the upper half's low band; then the upper half's bands.
    const auto bands = rows_of_result(tiles, 1);
    run.on_device(x, second + bands[1].segment * columns, band);
    run.on_device(x + band * columns, second + bands[0].segment * columns, band);
    run.on_device(x + 3 * band * columns, x, band);
    run.to_device(0, 0, x, host.out, band);
    run.to_device(0, 0, x + 2 * band * columns, host.out + half * columns, band);
}

// Section 5.4: tile after tile, in as many streams as there are segments.
void run_tiles(const Tiles &tiles, Recorder &run, Host &host, const std::vector<float *> &segments, const std::vector<float *> &scratch)
{
    for (std::int64_t tile = 0; tile < tiles.count(); ++tile)
    {
        const int stream = static_cast<int>(tile % static_cast<std::int64_t>(segments.size()));   // free when the stream has come this far
        send_segment(run, tiles, tile, segments[stream], host.in, stream);
        run.kernels(stream, tile, segments[stream], scratch[stream]);
        fetch_result(run, tiles, tile, segments[stream], host.out, stream);
    }
}

// The places whose coefficients are checked: around the ends of the tiles' bands and of the rows, and elsewhere.
template <typename Check> void at_checked_places(std::int64_t rows, std::int64_t columns, std::int64_t tile_rows, Check check_place)
{
    const std::int64_t band = std::max<std::int64_t>(tile_rows / 2, rows / 256);
    std::uint32_t seed = 1;
    for (std::int64_t row = 0; row < rows; row += band)
        for (const std::int64_t near : {row - 2, row - 1, row, row + 1, row + band / 2})
            for (int i = 0; i < 64; ++i)
            {
                seed = seed * 1664525 + 1013904223;
                check_place((near + rows) % rows, i < 8 ? (i - 4 + columns) % columns : i < 16 ? columns / 2 - 12 + i : seed % columns);
            }
}

// So that what an earlier run left is not taken for this one's.
void spoil(Host &host, std::int64_t rows, std::int64_t columns, std::int64_t tile_rows)
{
    at_checked_places(rows, columns, tile_rows, [&](std::int64_t row, std::int64_t column) {
        host.out[row * columns + column] = std::numeric_limits<float>::quiet_NaN();
    });
}

// The largest difference from the definition.
double largest_difference(const Host &host, std::int64_t rows, std::int64_t columns, std::int64_t tile_rows)
{
    const auto at = [&](std::int64_t row, std::int64_t column) { return host.in[row * columns + column]; };
    double largest = 0;
    at_checked_places(rows, columns, tile_rows, [&](std::int64_t row, std::int64_t column) {
        const double difference = coefficient_2d(at, rows, columns, row, column) - host.out[row * columns + column];
        largest = std::max(largest, std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::abs(difference));
    });
    return largest;
}

// The arrays of a combination on the device; false where they do not fit.
struct Arrays
{
    std::vector<float *> segments, scratch;
    Tiles tiles;
};

bool allocate(const Job &job, const Options &options, const Transform &transform, const Tiles &tiles, int count, DeviceMemory &memory,
              Arrays &arrays)
{
    arrays.tiles = tiles;
    memory.count(transform.constant_bytes());
    const std::int64_t values = (job.mode == "whole" ? job.rows : tiles.segment_rows()) * job.columns, image = values * value_bytes;
    for (int i = 0; i < count; ++i)
    {
        // Halves take turns as each other's second buffer.
        float *const segment = memory.allocate(job.mode == "halves" ? 2 * image : image);
        float *const second = job.mode != "halves" && transform.scratch_bytes() > 0 ? memory.allocate(transform.scratch_bytes()) : segment;
        if (segment == nullptr || second == nullptr || values > INT32_MAX)   // the kernels count in int
        {
            std::fprintf(stderr, "%s, %s, %lld columns: does not fit into %lld bytes\n", job.mode.c_str(),
                         job.method == Method::unified ? "unified" : "separate", static_cast<long long>(job.columns),
                         static_cast<long long>(options.memory));
            return false;
        }
        arrays.segments.push_back(segment);
        arrays.scratch.push_back(second);
    }
    return true;
}

void run_once(const Job &job, const Arrays &arrays, Recorder &run, Host &host, AfterKernel *marks)
{
    if (job.mode == "whole")
        run_whole(job, run, host, arrays.segments[0], arrays.scratch[0], marks);
    else if (job.mode == "halves")
        run_halves(job, arrays.tiles, run, host, arrays.segments[0]);
    else
        run_tiles(arrays.tiles, run, host, arrays.segments, arrays.scratch);
    check(cudaDeviceSynchronize(), job.mode.c_str());
}

void write_phases(std::ostream &out, const std::string &label, const AfterKernel &marks)
{
    for (std::size_t i = 1; i < marks.size(); ++i)
    {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, marks[i - 1].second, marks[i].second), "time");
        out << label << ',' << marks[i].first << ',' << 1e3 * milliseconds << '\n';
    }
    for (const auto &mark : marks)
        cudaEventDestroy(mark.second);
}

// Runs a combination, once to warm up and then `repetitions` times, and writes its line: the median of the times. False: the result is wrong.
bool run_job(const Job &job, const Options &options, Host &host, std::ostream *timeline, std::ostream *phases)
{
    Tiles tiles{job.rows, job.columns, job.mode == "whole" ? job.rows : job.mode == "halves" ? job.rows / 2 : options.tile};
    const int count = job.mode == "pipelined" ? options.streams : 1;
    if (tiles.tile_rows == 0)
        tiles.tile_rows = tile_rows_within(options.memory, job.method, job.rows, job.columns, count);
    if (tiles.tile_rows == 0 || tiles.tile_rows % 32 != 0 || job.rows % tiles.tile_rows != 0)   // chunks of columns are pairs of 16 rows or more
    {
        std::fprintf(stderr, "%lld rows: no tiles of %lld rows\n", static_cast<long long>(job.rows), static_cast<long long>(tiles.tile_rows));
        return true;
    }
    const Transform transform(job.method, job.mode == "whole" ? job.rows : tiles.segment_rows(), job.columns);
    DeviceMemory memory(options.memory);
    Arrays arrays;
    if (!allocate(job, options, transform, tiles, count, memory, arrays))
        return true;
    float *const image = arrays.segments[0] + (job.mode == "halves" ? halo_rows * job.columns : 0);
    const auto bytes = static_cast<std::size_t>(job.rows * job.columns * value_bytes);
    const std::string method = job.method == Method::unified ? "unified" : "separate";
    const std::string label = method + ',' + job.mode + ',' + std::to_string(job.rows) + ',' + std::to_string(job.columns);
    spoil(host, job.rows, job.columns, tiles.tile_rows);
    std::vector<std::pair<double, double>> times;
    std::int64_t to_device = 0, to_host = 0;
    for (int repetition = 0; repetition <= options.repetitions; ++repetition)
    {
        if (job.from_device)
            check(cudaMemcpy(image, host.in, bytes, cudaMemcpyHostToDevice), "image to the device");
        Recorder run(transform, job.columns, count);
        AfterKernel marks;
        const bool last = repetition == options.repetitions, with_phases = last && phases != nullptr && job.mode == "whole";
        check(cudaDeviceSynchronize(), "before");
        const auto begin = std::chrono::steady_clock::now();
        run_once(job, arrays, run, host, with_phases ? &marks : nullptr);
        const double time = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
        if (repetition > 0)
            times.emplace_back(time, run.kernels_us());
        to_device = run.to_device_bytes();
        to_host = run.to_host_bytes();
        if (last && timeline != nullptr)
            run.write_timeline(*timeline, label);
        if (with_phases)
            write_phases(*phases, label, marks);
    }
    if (job.to_device)
        check(cudaMemcpy(host.out, arrays.segments[0], bytes, cudaMemcpyDeviceToHost), "coefficients from the device");
    const double difference = largest_difference(host, job.rows, job.columns, tiles.tile_rows);
    std::sort(times.begin(), times.end());
    const auto [time, kernels] = times[times.size() / 2];
    std::printf("%s,%c%c,%lld,%lld,%d,%lld,%lld,%lld,%.1f,%.1f,%.3f,%d,%.2g\n", label.c_str(), job.from_device ? 'G' : 'C',
                job.to_device ? 'G' : 'C', static_cast<long long>(tiles.tile_rows), static_cast<long long>(tiles.count()), count,
                static_cast<long long>(memory.used()), static_cast<long long>(to_device), static_cast<long long>(to_host), time, kernels,
                static_cast<double>(job.rows * job.columns) / time / 1e3, options.repetitions, difference);
    std::fflush(stdout);
    return difference < 1e-3;
}

// The combinations of one size; tiles go from the host to the host.
std::vector<Job> jobs_of(const Options &options, std::int64_t rows, std::int64_t columns)
{
    std::vector<Job> result;
    for (const auto &mode : options.modes)
        for (const auto &ends : options.ends)
            for (const auto &method : options.methods)
                if (ends == "CC" || mode == "whole" || mode == "halves")
                    result.push_back({method == "unified" ? Method::unified : Method::separate, mode, ends[0] == 'G', ends[1] == 'G', rows, columns});
    return result;
}

int run(const Options &options)
{
    std::int64_t largest = 0, swapped = 0;
    for (const std::int64_t columns : options.sizes)
    {
        const std::int64_t rows = options.rows == 0 ? columns : options.rows;
        largest = std::max(largest, rows * columns);
        if (std::count(options.modes.begin(), options.modes.end(), "halves") > 0)
            swapped = std::max(swapped, Tiles{rows, columns, rows / 2}.segment_values());
    }
    Host host(largest, swapped);
    std::ofstream timeline(options.timeline), phases(options.phases);
    timeline << "method,mode,rows,columns,stream,tile,what,begin_us,end_us\n";
    phases << "method,mode,rows,columns,kernel,time_us\n";
    std::printf("method,mode,rows,columns,ends,tile_rows,tiles,streams,device_bytes,to_device_bytes,to_host_bytes,time_us,kernels_us,"
                "gpixel_s,repetitions,largest_difference\n");
    bool right = true;
    for (const std::int64_t columns : options.sizes)
    {
        const std::int64_t rows = options.rows == 0 ? columns : options.rows;
        host.fill(rows, columns);
        for (const Job &job : jobs_of(options, rows, columns))
            right &= run_job(job, options, host, options.timeline.empty() ? nullptr : &timeline, options.phases.empty() ? nullptr : &phases);
    }
    return right ? 0 : 1;
}

}  // namespace
}  // namespace tiling

int main(int argc, char **argv)
{
    tiling::Options options;
    for (int i = 1; i < argc; ++i)
    {
        const std::string text = argv[i];
        const auto equals = text.find('=');
        if (equals == std::string::npos || !tiling::read_option(text.substr(0, equals), text.substr(equals + 1), options))
        {
            std::fprintf(stderr, "unknown option: %s\n", argv[i]);
            return 2;
        }
    }
    if (!tiling::valid(options))
    {
        std::fprintf(stderr, "usage: lifting_tiles sizes=N,… [rows=R] [methods=separate,unified] [modes=whole,halves,tiles,pipelined]\n"
                             "       [ends=GG,CG,GC,CC] [tile=ROWS, 0: as the memory allows] [memory=BYTES] [streams=4] [repetitions=3]\n"
                             "       [timeline=FILE] [phases=FILE]; rows and columns are multiples of 32\n");
        return 2;
    }
    return tiling::run(options);
}
