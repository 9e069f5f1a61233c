// The rows of a prediction as columns, in the order of `warptime predict --format csv`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/views/prediction_view.h"
#include "simulator/predict/prediction.h"

namespace warptime::python {

// Texts, each kept once.
struct TextColumn {
  std::vector<std::int32_t> codes;  // of rows: indices into texts
  std::vector<std::string> texts;
  std::unordered_map<std::string, std::int32_t> known;
  void add(std::string_view text);
  void append(const TextColumn& other);

 private:
  std::int32_t code_of(std::string_view text);
};

// One of the three holds the values.
struct ResultColumn {
  enum class Kind { integer, real, text };
  std::string name;
  Kind kind = Kind::real;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  TextColumn text;
};

class ResultColumns {
 public:
  // `columns` must outlive this. Ranks are left to the caller: they need all GPUs.
  ResultColumns(const Plan& plan, const cli::PredictionColumns& columns);
  void add(const PredictionRow& row);
  // Adds the rows of other columns of the same plan behind its own.
  void append(const ResultColumns& other);
  std::vector<ResultColumn>& all() { return columns_; }

 private:
  ResultColumn& next(ResultColumn::Kind kind, std::string name);
  void add_integer(std::int64_t value) { columns_[at_++].integers.push_back(value); }
  void add_real(double value) { columns_[at_++].reals.push_back(value); }
  void add_text(std::string_view value) { columns_[at_++].text.add(value); }

  const cli::PredictionColumns& of_;
  std::vector<ResultColumn> columns_;
  std::size_t at_ = 0;  // the next column of the row that is added
};

// Consecutive rows, made into columns by the thread that computed them.
class ColumnsBatch : public RowBatch {
 public:
  ColumnsBatch(const Plan& plan, const cli::PredictionColumns& of) : columns(plan, of) {}
  void add(const PredictionRow& row) override { columns.add(row); }
  ResultColumns columns;
};

}  // namespace warptime::python
