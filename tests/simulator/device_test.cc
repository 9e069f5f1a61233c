#include "simulator/gpu/device.h"

#include <gtest/gtest.h>

#include <ostream>

namespace warptime {
namespace {

struct DeviceCase {
  DeviceFigures device;
  const char* gpu;  // "": none of the catalogue
};
void PrintTo(const DeviceCase& one, std::ostream* out) {
  *out << one.device.name << " with " << one.device.sms << " SMs";
}
class Device : public testing::TestWithParam<DeviceCase> {};

TEST_P(Device, IsFoundInTheCatalogue) {
  const Gpu* found = find_device(GpuCatalogue::bundled(), GetParam().device);
  EXPECT_EQ(found != nullptr ? found->name : "", GetParam().gpu);
}

// As drivers report them, with SMs and the highest SM clock.
INSTANTIATE_TEST_SUITE_P(
    WithFigures, Device,
    testing::Values(
        DeviceCase{{"NVIDIA H100 80GB HBM3", 132, 1980}, "h100-sxm"},
        DeviceCase{{"NVIDIA H100 PCIe", 114, 1755}, "h100-pcie"},
        DeviceCase{{"NVIDIA H100 NVL", 132, 1785}, "h100-nvl"},
        DeviceCase{{"NVIDIA H100 SXM5 80GB", 132, 1980}, "h100-sxm"},
        DeviceCase{{"NVIDIA H100", 132, 1980}, "h100-sxm"},
        DeviceCase{{"NVIDIA H100", 114, 1755}, "h100-pcie"},
        DeviceCase{{"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, 1980}, ""},
        DeviceCase{{"NVIDIA H200", 132, 1980}, "h200"}, DeviceCase{{"NVIDIA H200 NVL", 132, 1785}, ""},
        DeviceCase{{"NVIDIA GH200 480GB", 132, 1980}, ""}, DeviceCase{{"NVIDIA H20", 78, 1980}, ""},
        DeviceCase{{"NVIDIA A100-SXM4-40GB", 108, 1410}, "a100"},
        DeviceCase{{"NVIDIA A100-SXM4-80GB", 108, 1410}, "a100"},
        DeviceCase{{"NVIDIA A100-PCIE-40GB", 108, 1410}, "a100"},
        DeviceCase{{"NVIDIA A100 80GB PCIe", 108, 1410}, "a100"},
        DeviceCase{{"A100-SXM4-40GB", 108, 1410}, "a100"},
        DeviceCase{{"NVIDIA A100-SXM4-40GB MIG 1g.5gb", 14, 1410}, ""},
        DeviceCase{{"Tesla V100-SXM2-16GB", 80, 1530}, "v100"},
        DeviceCase{{"Tesla V100-PCIE-32GB", 80, 1380}, "v100"},
        DeviceCase{{"Tesla V100-DGXS-32GB", 80, 1530}, "v100"},
        DeviceCase{{"Tesla V100S-PCIE-32GB", 80, 1597}, ""},
        DeviceCase{{"Tesla P100-PCIE-16GB", 56, 1328}, "p100"}, DeviceCase{{"Tesla T4", 40, 1590}, "t4"},
        DeviceCase{{"NVIDIA L4", 58, 2040}, "l4"}, DeviceCase{{"NVIDIA L40S", 142, 2520}, "l40s"},
        DeviceCase{{"NVIDIA L40", 142, 2490}, "l40"}, DeviceCase{{"NVIDIA L20", 92, 2520}, ""},
        DeviceCase{{"NVIDIA A10", 72, 1695}, "a10"}, DeviceCase{{"NVIDIA A10G", 80, 1710}, ""},
        DeviceCase{{"NVIDIA GeForce RTX 4090", 128, 2580}, "rtx-4090"},
        DeviceCase{{"NVIDIA GeForce RTX 4090 Laptop GPU", 76, 2040}, ""},
        DeviceCase{{"NVIDIA GeForce RTX 4090 D", 114, 2520}, ""},
        DeviceCase{{"NVIDIA GeForce RTX 3090", 82, 1695}, "rtx-3090"},
        DeviceCase{{"NVIDIA GeForce RTX 3090 Ti", 84, 1860}, ""},
        DeviceCase{{"NVIDIA GeForce RTX 2080 Ti", 68, 1545}, "rtx-2080-ti"},
        DeviceCase{{"GeForce GTX 980", 16, 1216}, "gtx-980"},
        // The notebooks' GPU of the same name has other figures.
        DeviceCase{{"GeForce GTX 980", 12, 1126}, ""}, DeviceCase{{"GeForce GTX 980", 16, 924}, ""},
        DeviceCase{{"GeForce GTX 260", 27, 1242}, ""},
        // Table 3 of Puchala et al. counts 10 and 68 SMs.
        DeviceCase{{"GeForce GTX 1070", 15, 1683}, "gtx-1070"},
        DeviceCase{{"GeForce RTX 2080", 46, 1710}, "rtx-2080"}));

// As profilers write them: the name alone. So do the measurements of other tools.
INSTANTIATE_TEST_SUITE_P(
    ByName, Device,
    testing::Values(DeviceCase{{"NVIDIA H100 80GB HBM3"}, "h100-sxm"},
                    DeviceCase{{"NVIDIA H100 PCIe"}, "h100-pcie"},
                    DeviceCase{{"NVIDIA H100 NVL"}, "h100-nvl"}, DeviceCase{{"NVIDIA H100"}, ""},
                    DeviceCase{{"NVIDIA A100-SXM4-40GB"}, "a100"},
                    DeviceCase{{"GeForce RTX 2080 Ti"}, "rtx-2080-ti"},
                    DeviceCase{{"rtx-2080-ti"}, "rtx-2080-ti"}, DeviceCase{{"RTX2080Ti"}, "rtx-2080-ti"},
                    DeviceCase{{"NVIDIA RTX 4090"}, "rtx-4090"}, DeviceCase{{"Quadro K1000M"}, "k1000m"},
                    DeviceCase{{"NVIDIA"}, ""}, DeviceCase{{""}, ""}));

TEST(DeviceName, IsMadeOfTheDevicesOwn) {
  const auto name_of = [](const DeviceFigures& device) {
    return device_gpu_name(GpuCatalogue::bundled(), device);
  };
  EXPECT_EQ(name_of({"NVIDIA H200 NVL", 132}), "h200-nvl");
  EXPECT_EQ(name_of({"NVIDIA GeForce RTX 4090 Laptop GPU", 76}), "rtx-4090-laptop-gpu");
  EXPECT_EQ(name_of({"NVIDIA A100-SXM4-40GB MIG 1g.5gb", 14}), "a100-sxm4-40gb-mig-1g-5gb");
  EXPECT_EQ(name_of({"GeForce GTX 260", 27}), "gtx-260-27-sms");
  EXPECT_EQ(name_of({"NVIDIA", 27}), "gpu");
}

TEST(DeviceFile, OfEveryGpuIsReadBackAsItWas) {
  for (const Gpu& gpu : GpuCatalogue::bundled().gpus()) {
    const auto read = read_gpu(to_yaml(gpu), gpu.name + ".yaml");
    ASSERT_TRUE(read) << to_text(read.diagnostics());
    EXPECT_EQ(read->title, gpu.title);
    EXPECT_EQ(read->compute_capability, gpu.compute_capability);
    for (const GpuFigure& figure : gpu_figures())
      EXPECT_EQ(figure.get(*read), figure.get(gpu)) << gpu.name << ", " << figure.name;
    for (const TimingFigure& figure : timing_figures())
      EXPECT_EQ(read->timing.*figure.member, gpu.timing.*figure.member) << gpu.name << ", " << figure.name;
    EXPECT_EQ(read->timing_origins, gpu.timing_origins) << gpu.name;
    EXPECT_EQ(read->copies, gpu.copies) << gpu.name;
    auto sources = gpu.sources;
    std::erase_if(sources, [](const auto& one) { return one.first.starts_with("luo_suda."); });
    EXPECT_EQ(read->sources, sources) << gpu.name;
  }
}

TEST(DeviceFile, HasWhatTheDeviceSays) {
  DeviceDescription device;
  device.figures = {"NVIDIA H200 NVL", 132, 1785};
  device.compute_capability = {9, 0};
  device.max_threads_per_block = 1024;
  device.max_threads_per_sm = 2048;
  device.max_blocks_per_sm = 32;
  device.registers_per_sm = 65536;
  device.shared_bytes_per_sm = 233472;
  device.shared_bytes_per_block = 232448;
  device.l2_bytes = 62914560;
  device.memory_clock_mhz = 2619;
  device.memory_bus_bits = 6016;
  device.driver = "580.1";
  const Gpu made = gpu_of_device(GpuCatalogue::bundled(), device);
  const auto read = read_gpu(to_yaml(made), "h200-nvl.yaml");
  ASSERT_TRUE(read) << to_text(read.diagnostics());
  EXPECT_EQ(read->name, "h200-nvl");
  EXPECT_EQ(read->title, "NVIDIA H200 NVL");
  EXPECT_EQ(read->compute_capability, (ComputeCapability{9, 0}));
  EXPECT_EQ(read->sms, 132);
  EXPECT_EQ(read->cores_per_sm, 128);
  EXPECT_EQ(read->max_warps_per_sm, 64);
  EXPECT_DOUBLE_EQ(read->memory_bandwidth_gb_s.value_or(0), 2 * 2619 * 6016 / 8 / 1000.0);
  EXPECT_FALSE(read->validated);
  for (const GpuFigure& figure : gpu_figures()) EXPECT_EQ(figure.get(*read), figure.get(made)) << figure.name;
  EXPECT_EQ(read->sources.at("sms"), "device attributes read on an NVIDIA H200 NVL (driver 580.1)");
  // Its nearest of Table 3.
  EXPECT_EQ(read->t_p_us, (*GpuCatalogue::bundled().find("rtx-2080"))->t_p_us);
  EXPECT_EQ(find_device(GpuCatalogue::bundled(), device.figures), nullptr);
  // Without a clock it is still a file that can be read.
  device.figures.clock_mhz = 0;
  EXPECT_TRUE(read_gpu(to_yaml(gpu_of_device(GpuCatalogue::bundled(), device)), "h200-nvl.yaml"));
}

}  // namespace
}  // namespace warptime
