// Any bytes as measurements and as a profiler's CSV: they are refused with reasons, or make rows that can be told.
#include "fuzz_text.h"
#include "simulator/base/csv.h"
#include "simulator/fit/counter_csv.h"
#include "simulator/fit/measurements.h"
#include "simulator/fit/profiler_csv.h"

using namespace warptime;
using fuzzing::require;

namespace {

const Plan& matrix() {
  static const Plan plan = [] {
    Plan made;
    made.name = "matrix";
    made.parameters = {{"K", ""}, {"N", ""}};
    return made;
  }();
  return plan;
}

void read_as_csv(std::string_view text) {
  const auto records = read_csv(text, "fuzz.csv");
  if (!records) return fuzzing::check_refusal(records.diagnostics());
  std::string written;
  for (const CsvRecord& record : *records) {
    for (std::size_t i = 0; i < record.fields.size(); ++i)
      written += (i == 0 ? "" : ",") + csv_quoted(record.fields[i]);
    written += '\n';
  }
  const auto again = read_csv(written, "written.csv");
  require(static_cast<bool>(again), "what is written as CSV reads");
  require(again->size() <= records->size(), "what is written as CSV has no more records");
}

void read_as_measurements(std::string_view text) {
  const auto file = read_measurements(text, "fuzz.csv");
  if (!file) return fuzzing::check_refusal(file.diagnostics());
  const auto selected = select_measurements(*file, matrix(), {});
  if (!selected) return fuzzing::check_refusal(selected.diagnostics());
  require(static_cast<bool>(read_measurements(to_csv(matrix(), selected->gpus), "written.csv")),
          "what is written of measurements reads");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_as_csv(text);
  read_as_measurements(text);
  (void)recognise_profiler(text);
  for (const Profiler profiler : {Profiler::nsys, Profiler::ncu, Profiler::nvprof})
    if (const auto csv = read_profiler_csv(text, "fuzz.csv", profiler); !csv)
      fuzzing::check_refusal(csv.diagnostics());
  if (const auto counters = read_counter_csv(text, "fuzz.csv"); !counters)
    fuzzing::check_refusal(counters.diagnostics());
  return 0;
}
