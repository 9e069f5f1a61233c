// The 3D transform of a video: the reference against PyWavelets, the tiled version and the kernels against
// the reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dwt_kernels/host/frame_window.h"
#include "dwt_kernels/reference/fwt3d.h"
#include "tests/kernels/harness.h"

namespace warptime::kernels {
namespace {

using namespace reference;

constexpr double kFloat = 2e-6;  // of the largest value

TEST(Fwt3d, IsPyWavelets) {
  auto data = golden();
  const VideoSize size{8, 6, 12};
  const Signal video = whole_numbers(8 * 6 * 12, 7);
  // PyWavelets' filters of four taps begin one sample earlier, in each dimension.
  Signal moved(video.size());
  for (std::size_t f = 0; f < 8; ++f)
    for (std::size_t r = 0; r < 6; ++r)
      for (std::size_t c = 0; c < 12; ++c)
        moved[(f * 6 + r) * 12 + c] = video[((f + 7) % 8 * 6 + (r + 5) % 6) * 12 + (c + 11) % 12];
  const Signal result = fwt3d(moved, size, daubechies(4));
  for (std::size_t band = 0; band < 8; ++band) {
    const std::string name = {band & 4 ? 'd' : 'a', band & 2 ? 'd' : 'a', band & 1 ? 'd' : 'a'};
    Signal one;
    for (std::size_t f = 0; f < 4; ++f)
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 6; ++c)
          one.push_back(
              result[((f + (band & 4)) * 6 + r + (band & 2 ? 3 : 0)) * 12 + c + (band & 1 ? 6 : 0)]);
    expect_near(one, data["video_" + name], 1e-9, name);
  }
}

TEST(Fwt3d, TilesAndBlocksChangeNothing) {
  const VideoSize size{6, 22, 30};
  const auto video = random_floats(size.frames * size.pixels());
  const auto wanted = fwt3d(to_doubles(video), size, daubechies(4));
  const auto whole = fwt3d_tiled(video, size, {1000, 1000});
  expect_near(whole, wanted, kFloat, "one tile");
  for (const auto& tiling : {Tiling{1, 1}, Tiling{7, 3}, Tiling{64, 4}, Tiling{8, 11}})
    EXPECT_EQ(fwt3d_tiled(video, size, tiling), whole)
        << tiling.columns << " columns, " << tiling.rows << " rows";
}

// Who goes through the loop, and dummy elements at the ends of rows, change no bit.
TEST(Fwt3d, EnginesAndRowExtensionChangeNothing) {
  const VideoSize video_size{10, 12, 16};
  const auto video = random_floats(video_size.frames * video_size.pixels());
  const auto wanted = fwt3d_tiled(video, video_size, {});
  constexpr std::size_t kPitch = 19;
  const FrameSize size{video_size.rows, video_size.columns, kPitch};
  std::vector<float> frames(video_size.frames * size.values(), NAN);  // of a dummy element nothing may come
  for (std::size_t i = 0; i < video.size(); ++i)
    frames[i / video_size.columns * kPitch + i % video_size.columns] = video[i];
  for (const FrameEngine engine : {FrameEngine::sequential, FrameEngine::openmp, FrameEngine::pthreads})
    for (const int threads : {1, 2, 4, 9})
      for (const auto& tiling : {Tiling{1, kWhole}, Tiling{7, 3}}) {
        std::vector<float> results(frames.size());
        std::vector<FrameStep> steps(video_size.frames / 2);
        for (std::size_t i = 0; i < steps.size(); ++i) {
          for (std::size_t j = 0; j < 4; ++j)
            steps[i].frames[j] = frames.data() + (2 * i + j) % video_size.frames * size.values();
          steps[i].reference = results.data() + i * size.values();
          steps[i].detailed = results.data() + (steps.size() + i) * size.values();
        }
        make_frames(FrameTransform(size, tiling), steps, engine, threads);
        std::vector<float> dense;
        for (std::size_t i = 0; i < video.size(); ++i)
          dense.push_back(results[i / video_size.columns * kPitch + i % video_size.columns]);
        EXPECT_EQ(dense, wanted) << static_cast<int>(engine) << ", " << threads << " threads, tile "
                                 << tiling.columns;
      }
}

// The check of the host program finds what it is there for: a coefficient that is off by a sixteenth.
TEST(Fwt3d, TheHostProgramsCheckFindsWrongFrames) {
  const FrameSize size{6, 10, 11};
  const host::FrameSource noise("", 8, size);
  host::FrameWindow window(noise, 1);
  const FrameTransform transform(size, {});
  std::vector<float> low(size.values()), high(size.values());
  for (std::size_t pair = 0; pair < 4; ++pair) {
    ASSERT_TRUE(window.advance(pair, pair + 1).empty());
    transform.make({window.frame(2 * pair), window.frame(2 * pair + 1), window.frame(2 * pair + 2),
                    window.frame(2 * pair + 3)},
                   low.data(), high.data());
    EXPECT_EQ(host::check_pair(window, size, pair, low.data(), high.data()), "") << pair;
    EXPECT_NE(host::check_pair(window, size, pair, high.data(), low.data()), "") << pair;
    for (auto* frame : {&low, &high})
      for (float& value : *frame) value += 1.0F / 16;
    EXPECT_NE(host::check_pair(window, size, pair, low.data(), high.data()), "") << pair;
  }
}

class Fwt3dKernels : public testing::TestWithParam<Compiler> {};
INSTANTIATE_TEST_SUITE_P(By, Fwt3dKernels, testing::ValuesIn(compilers()),
                         [](const auto& of) { return name_of(of.param); });

// The binder is the host: before each iteration it copies two new frames over the two oldest.
TEST_P(Fwt3dKernels, SlidingWindowOfFourFrames) {
  for (const auto& [F, R, C] :
       std::vector<std::array<int, 3>>{{6, 8, 16}, {4, 10, 300}, {8, 4, 256}, {2, 2, 2}}) {
    const VideoSize size{static_cast<std::size_t>(F), static_cast<std::size_t>(R),
                         static_cast<std::size_t>(C)};
    const std::size_t pixels = size.pixels();
    const auto video = random_floats(size.frames * pixels);
    Device device;
    device.floats = {{"window", std::vector<float>(4 * pixels)},
                     {"reference", std::vector<float>(pixels)},
                     {"detailed", std::vector<float>(pixels)},
                     {"half_done", std::vector<float>(pixels)},
                     {"result", std::vector<float>(video.size())}};
    std::size_t frames_copied = 0;
    const auto copy_frame = [&](std::size_t frame) {
      const auto from = video.begin() + static_cast<std::ptrdiff_t>(frame % size.frames * pixels);
      std::copy_n(from, pixels,
                  device.floats["window"].begin() + static_cast<std::ptrdiff_t>(frame % 4 * pixels));
      ++frames_copied;
    };
    const Binder host = [&](const std::string& kernel, const std::string& argument,
                            const Bindings& counters) -> Value {
      const auto iteration = static_cast<std::size_t>(counters.at("iteration"));
      if (argument == "frames") {
        for (std::size_t frame = iteration == 0 ? 0 : 2 * iteration + 2; frame < 2 * iteration + 4; ++frame)
          copy_frame(frame);
        return Pointer{"window"};
      }
      if (kernel == "fwt_frames") return Pointer{argument};
      const bool detailed = counters.at("video") == 0;  // first
      if (kernel == "fwt_rows")
        return Pointer{argument == "out" ? "half_done" : detailed ? "detailed" : "reference"};
      if (argument == "in") return Pointer{"half_done"};
      return Pointer{"result", (detailed ? size.frames / 2 + iteration : iteration) * pixels};
    };
    const auto ran =
        run_plan("dwt_kernels/fwt3d.plan.yaml", {{"F", F}, {"R", R}, {"C", C}}, device, host, GetParam());
    EXPECT_EQ(ran.launches, 5 * F / 2);
    EXPECT_EQ(frames_copied, size.frames + 2) << "the first two again, at the end";
    expect_near(device.floats["result"], fwt3d(to_doubles(video), size, daubechies(4)), kFloat,
                fmt::format("{} x {} x {}", F, R, C));
  }
}

}  // namespace
}  // namespace warptime::kernels
