// The host program of G. Bernabé, Parallel 3D fast wavelet transform comparison on CPUs and GPUs: one level of the 3D
// transform with Daubechies' W4 of a video, from graymaps to graymaps, timed.
//
//   fwt3d_frames --engine pthreads --threads 2 IN%03d.pgm OUT%03d.pgm
//   fwt3d_frames --engine opencl --frames 64 --size 512x512
//
// Frames of the input are numbered from 0 on. Of F frames, results 0 to F / 2 - 1 are the reference video, the others the
// detailed one: 16 bits a pixel, 32768 + 16 * value. Without file names, the video is noise, and nothing is written.
//
// Writes a CSV of a row: the times of reading and writing, of the transform, and of Table 6's stages (OpenCL and CUDA alone), in
// milliseconds. Each pair of result frames is compared with the definition at 16 places: exit status 1, and why, where
// it differs.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "dwt_kernels/host/device_frames.h"
#include "dwt_kernels/host/frame_window.h"
#include "dwt_kernels/host/pgm.h"
#include "dwt_kernels/host/program.h"

namespace {

using namespace warptime;
using namespace warptime::host;
using reference::FrameEngine;
using reference::FrameSize;

struct Settings {
  std::string engine, in, out;
  std::size_t frames = 0, threads = 1, device = 0;
  FrameSize size;
  reference::Tiling tiling;
  bool on_device() const { return engine == "opencl" || engine == "cuda"; }
};

struct Times {
  double read = 0, transform = 0, write = 0;
};

int report(const Diagnostics& problems) {
  std::fprintf(stderr, "%s\n", to_text(problems).c_str());
  return 1;
}

// Makes the result frames of pairs from … to - 1; they lie one after the other, each pair's reference frame first.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Diagnostics make(const FrameWindow& window, std::size_t from, std::size_t to, float* results) = 0;
  virtual StageTimes stages() const { return {}; }
};

class OnCpu : public Engine {
 public:
  OnCpu(const Settings& settings)
      : transform_(settings.size, settings.tiling),
        engine_(settings.engine == "openmp"     ? FrameEngine::openmp
                : settings.engine == "pthreads" ? FrameEngine::pthreads
                                                : FrameEngine::sequential),
        threads_(static_cast<int>(settings.threads)) {}

  Diagnostics make(const FrameWindow& window, std::size_t from, std::size_t to, float* results) override {
    const std::size_t values = transform_.size().values();
    std::vector<reference::FrameStep> steps;
    for (std::size_t pair = from; pair < to; ++pair, results += 2 * values)
      steps.push_back({{window.frame(2 * pair), window.frame(2 * pair + 1), window.frame(2 * pair + 2),
                        window.frame(2 * pair + 3)},
                       results,
                       results + values});
    make_frames(transform_, steps, engine_, threads_);
    return {};
  }

 private:
  reference::FrameTransform transform_;
  FrameEngine engine_;
  int threads_;
};

class OnDevice : public Engine {
 public:
  OnDevice(std::unique_ptr<DeviceFrames> device, const FrameSize& size)
      : device_(std::move(device)), size_(size) {}

  Diagnostics make(const FrameWindow& window, std::size_t from, std::size_t, float* results) override {
    for (std::size_t frame = window.first_new(); frame < window.end_of_new(); ++frame)
      if (auto problems = device_->put(window.place(frame), window.frame(frame)); !problems.empty())
        return problems;
    return device_->step(window.place(2 * from), results, results + size_.values());
  }
  StageTimes stages() const override { return device_->times; }

 private:
  std::unique_ptr<DeviceFrames> device_;
  FrameSize size_;
};

Result<std::unique_ptr<Engine>> engine_of(const Settings& settings) {
  if (!settings.on_device()) return std::unique_ptr<Engine>(std::make_unique<OnCpu>(settings));
  const auto make = settings.engine == "cuda" ? cuda_frames : opencl_frames;
  auto device = make(settings.size.rows, settings.size.columns, settings.device);
  if (!device) return device.diagnostics();
  std::fprintf(stderr, "device: %s\n", (*device)->device_name().c_str());
  return std::unique_ptr<Engine>(std::make_unique<OnDevice>(std::move(*device), settings.size));
}

Diagnostics write(const Settings& settings, std::size_t from, std::size_t to, const float* results) {
  if (settings.out.empty()) return {};
  const FrameSize& size = settings.size;
  for (std::size_t pair = from; pair < to; ++pair)
    for (const std::size_t video : {0, 1}) {
      const float* frame = results + (2 * (pair - from) + video) * size.values();
      const std::string path = numbered(settings.out, pair + video * settings.frames / 2);
      if (auto problems = write_coefficients(path, frame, size.rows, size.columns, size.pitch);
          !problems.empty())
        return problems;
    }
  return {};
}

void print(const Settings& settings, const Times& times, const StageTimes& stages) {
  std::puts(
      "engine,threads,frames,rows,columns,tile,block,extension,read_ms,transform_ms,write_ms,host_to_device_"
      "ms,"
      "frames_ms,rows_ms,columns_ms,device_to_host_ms");
  const auto& [columns, rows] = settings.tiling;
  std::printf("%s,%zu,%zu,%zu,%zu,%zu,%zu,%zu,%.4g,%.4g,%.4g", settings.engine.c_str(), settings.threads,
              settings.frames, settings.size.rows, settings.size.columns,
              std::min(columns, settings.size.columns), std::min(rows, settings.size.rows / 2),
              settings.size.pitch - settings.size.columns, times.read, times.transform, times.write);
  if (settings.on_device())
    std::printf(",%.4g,%.4g,%.4g,%.4g,%.4g\n", stages.host_to_device, stages.frames, stages.rows,
                stages.columns, stages.device_to_host);
  else
    std::printf(",,,,,\n");
}

int transform(const Settings& settings) {
  auto engine = engine_of(settings);
  if (!engine) return report(engine.diagnostics());
  const FrameSource source(settings.in, settings.frames, settings.size);
  FrameWindow window(source, settings.threads);
  std::vector<float> results(2 * settings.threads * settings.size.values());
  Times times;
  const auto timed = [](double& time, auto step) {
    const double begin = now_ms();
    auto problems = step();
    time += now_ms() - begin;
    return problems;
  };
  for (std::size_t from = 0; from < settings.frames / 2; from += settings.threads) {
    const std::size_t to = std::min(settings.frames / 2, from + settings.threads);
    auto problems = timed(times.read, [&] { return window.advance(from, to); });
    if (problems.empty())
      problems = timed(times.transform, [&] { return (*engine)->make(window, from, to, results.data()); });
    for (std::size_t pair = from; problems.empty() && pair < to; ++pair) {
      const float* low = results.data() + 2 * (pair - from) * settings.size.values();
      const std::string wrong = check_pair(window, settings.size, pair, low, low + settings.size.values());
      if (!wrong.empty()) problems = {error(wrong)};
    }
    if (problems.empty())
      problems = timed(times.write, [&] { return write(settings, from, to, results.data()); });
    if (!problems.empty()) return report(problems);
  }
  print(settings, times, (*engine)->stages());
  return 0;
}

// How many frames there are, and how large they are: those of the files, or of --frames and --size.
int complete(Settings& settings, const cxxopts::ParseResult& options) {
  const auto frames = size_of(options["frames"].as<std::string>());
  if (!frames || *frames < 0) return usage_error("--frames: a number");
  settings.frames = static_cast<std::size_t>(*frames);
  if (!settings.in.empty()) {
    if (numbered(settings.in, 0).empty())
      return usage_error(settings.in + ": has no place for a number, like %03d");
    const auto first = read_graymap(numbered(settings.in, 0));
    if (!first) return report(first.diagnostics());
    settings.size.rows = first->rows;
    settings.size.columns = first->columns;
    std::size_t there = 1;
    while (std::filesystem::exists(numbered(settings.in, there))) ++there;
    if (options.count("frames") == 0) settings.frames = there;
  } else {
    const std::string text = options["size"].as<std::string>();
    const std::size_t cross = std::min(text.find('x'), text.size());
    const auto columns = size_of(text.substr(0, cross)),
               rows = size_of(text.substr(std::min(cross + 1, text.size())));
    if (!columns || !rows || *columns > 1 << 15 || *rows > 1 << 15)
      return usage_error("--size: like 512x512");
    settings.size.rows = static_cast<std::size_t>(*rows);
    settings.size.columns = static_cast<std::size_t>(*columns);
  }
  if (settings.frames < 2 || settings.frames % 2 != 0)
    return usage_error("an even number of frames is needed");
  if (settings.size.rows < 2 || settings.size.columns < 2 || settings.size.rows % 2 != 0 ||
      settings.size.columns % 2 != 0)
    return usage_error("frames need even numbers of rows and columns");
  return 0;
}

int program(const cxxopts::ParseResult& options) {
  Settings settings;
  settings.engine = options["engine"].as<std::string>();
  if (settings.engine != "sequential" && settings.engine != "openmp" && settings.engine != "pthreads" &&
      !settings.on_device())
    return usage_error("--engine: sequential, openmp, pthreads, opencl or cuda");
  const auto files = options.count("files") > 0 ? options["files"].as<std::vector<std::string>>()
                                                : std::vector<std::string>();
  if (files.size() > 2) return usage_error("two file names at most: of the input and of the output");
  if (!files.empty()) settings.in = files[0];
  if (files.size() == 2) settings.out = files[1];
  if (!settings.out.empty() && numbered(settings.out, 0).empty())
    return usage_error(settings.out + ": has no place for a number, like %03d");
  if (const int status = complete(settings, options); status != 0) return status;
  const auto threads = size_of(options["threads"].as<std::string>()),
             tile = size_of(options["tile"].as<std::string>()),
             block = size_of(options["block"].as<std::string>()),
             extension = size_of(options["row-extension"].as<std::string>()),
             device = size_of(options["device"].as<std::string>());
  if (!threads || *threads < 1 || *threads > 1024) return usage_error("--threads: 1 to 1024");
  if (!tile || !block || !device) return usage_error("--tile, --block, --device: numbers");
  if (!extension || *extension > 1 << 15) return usage_error("--row-extension: 0 to 32768");
  if (settings.on_device() && (*threads != 1 || *extension != 0))
    return usage_error("--engine " + settings.engine + " takes no --threads and no --row-extension");
  settings.threads = static_cast<std::size_t>(*threads);
  settings.device = static_cast<std::size_t>(*device);
  settings.size.pitch = settings.size.columns + static_cast<std::size_t>(*extension);
  settings.tiling = {*tile > 0 ? static_cast<std::size_t>(*tile) : settings.size.columns,
                     *block > 0 ? static_cast<std::size_t>(*block) : reference::kWhole};
  return transform(settings);
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("fwt3d_frames",
                           "The 3D wavelet transform of a video, from graymaps to graymaps, timed.");
  const auto text = [](const char* by_default) {
    return cxxopts::value<std::string>()->default_value(by_default);
  };
  options.positional_help("[IN%03d.pgm [OUT%03d.pgm]]");
  options.add_options()("engine", "sequential, openmp, pthreads, opencl or cuda", text("openmp"))(
      "threads", "Threads, and pairs of result frames an iteration", text("1"))(
      "tile", "Columns filtered together; 1: column by column; 0: all", text("64"))(
      "block", "Pairs of rows made before the next ones; 0: the whole frame", text("32"))(
      "row-extension", "Dummy elements at each row's end", text("0"))(
      "frames", "Frames of the video; by default all files there are, or 64", text("64"))(
      "size", "Columns x rows of the noise", text("512x512"))(
      "device", "Which OpenCL or CUDA device", text("0"))("files", "",
                                                          cxxopts::value<std::vector<std::string>>());
  options.parse_positional({"files"});
  return run_program(options, argc, argv, program);
}
