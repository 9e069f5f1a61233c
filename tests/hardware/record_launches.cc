// Records the kernels that a program launches: a row per kernel, grid, block and dynamic shared memory with the number
// of launches, static shared memory, registers and the mean duration in µs. It made data/hardware/h100_launches.csv.
//
//   g++ -std=c++17 -O1 -shared -fPIC record_launches.cc -o record_launches.so -I $CUDA_HOME/include -lcupti
//   RECORD=launches.csv CUDA_INJECTION64_PATH=$PWD/record_launches.so ./program
//
// With RECORD_EACH=1 it writes a row per launch instead, in their order: mangled name, grid, block, dynamic and static
// shared memory, registers and the duration in ns. scripts/measure_development_set reads these.
//
// The driver loads the library that CUDA_INJECTION64_PATH names and calls InitializeInjection().
#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Row {
  std::string name, shape;
  unsigned first = 0;  // the correlation id of its first launch: the order of launches
  unsigned launches = 0;
  int static_shared_bytes = 0, registers = 0;
  unsigned long long nanoseconds = 0;
};

struct Launch {
  std::string name, shape;
  unsigned correlation_id = 0;
  int static_shared_bytes = 0, registers = 0;
  unsigned long long nanoseconds = 0;
};

std::mutex rows_mutex;  // CUPTI's own thread fills the rows
std::map<std::string, Row> rows;
std::vector<Launch> launches;

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *bytes = size_t{1} << 20;
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *bytes));
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  const std::lock_guard lock(rows_mutex);
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 && cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    char shape[160];
    snprintf(shape, sizeof shape, "%dx%dx%d,%dx%dx%d,%d", kernel->gridX, kernel->gridY, kernel->gridZ,
             kernel->blockX, kernel->blockY, kernel->blockZ, kernel->dynamicSharedMemory);
    Row& row = rows[std::string(kernel->name) + "," + shape];
    if (row.launches == 0) row = {kernel->name, shape, kernel->correlationId};
    row.first = std::min(row.first, kernel->correlationId);
    row.launches += 1;
    row.static_shared_bytes = kernel->staticSharedMemory;
    row.registers = kernel->registersPerThread;
    row.nanoseconds += kernel->end - kernel->start;
    launches.push_back({kernel->name, shape, kernel->correlationId, kernel->staticSharedMemory,
                        kernel->registersPerThread, kernel->end - kernel->start});
  }
  free(buffer);
}

void write_each(FILE* file) {
  std::sort(launches.begin(), launches.end(),
            [](const Launch& a, const Launch& b) { return a.correlation_id < b.correlation_id; });
  for (const Launch& launch : launches)
    fprintf(file, "%s,%s,%d,%d,%llu\n", launch.name.c_str(), launch.shape.c_str(), launch.static_shared_bytes,
            launch.registers, launch.nanoseconds);
}

void write_rows() {
  cuptiActivityFlushAll(1);
  const std::lock_guard lock(rows_mutex);
  std::vector<Row> sorted;
  for (const auto& [key, row] : rows) sorted.push_back(row);
  std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.first < b.first; });
  const char* path = getenv("RECORD");
  FILE* file = path ? fopen(path, "w") : stderr;
  if (!file) return;
  if (getenv("RECORD_EACH")) {
    write_each(file);
    fclose(file);
    return;
  }
  for (const Row& row : sorted) {
    int status = 0;
    char* readable = abi::__cxa_demangle(row.name.c_str(), nullptr, nullptr, &status);
    fprintf(file, "\"%s\",%s,%u,%d,%d,%.3f\n", status == 0 ? readable : row.name.c_str(), row.shape.c_str(),
            row.launches, row.static_shared_bytes, row.registers, row.nanoseconds / 1e3 / row.launches);
    free(readable);
  }
  fclose(file);
}

}  // namespace

extern "C" int InitializeInjection() {
  cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  atexit(write_rows);
  return 1;
}
