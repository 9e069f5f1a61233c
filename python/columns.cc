#include "python/columns.h"

#include "simulator/plan/launch.h"

namespace warptime::python {

void TextColumn::add(std::string_view text) {
  if (!codes.empty() && texts[static_cast<std::size_t>(codes.back())] == text) {
    codes.push_back(codes.back());
    return;
  }
  codes.push_back(code_of(text));
}

std::int32_t TextColumn::code_of(std::string_view text) {
  const auto [found, is_new] = known.try_emplace(std::string(text), static_cast<std::int32_t>(texts.size()));
  if (is_new) texts.emplace_back(text);
  return found->second;
}

void TextColumn::append(const TextColumn& other) {
  std::vector<std::int32_t> here;  // the codes of the other's texts
  for (const std::string& text : other.texts) here.push_back(code_of(text));
  for (const std::int32_t code : other.codes) codes.push_back(here[static_cast<std::size_t>(code)]);
}

ResultColumn& ResultColumns::next(ResultColumn::Kind kind, std::string name) {
  columns_.push_back({std::move(name), kind, {}, {}, {}});
  return columns_.back();
}

ResultColumns::ResultColumns(const Plan& plan, const cli::PredictionColumns& columns) : of_(columns) {
  using Kind = ResultColumn::Kind;
  next(Kind::text, "plan");
  next(Kind::text, "gpu");
  for (const auto& parameter : plan.parameters) next(Kind::integer, parameter.name);
  for (const char* name : {"blocks", "threads_per_block", "launches"}) next(Kind::integer, name);
  next(Kind::real, "time_us");
  next(Kind::real, "t_p_us");
  next(Kind::text, "t_p_source");
  next(Kind::real, "t_m_cycles");
  next(Kind::text, "t_m_source");
  for (const TimePart& part : columns.model->parts()) next(Kind::real, std::string(part.key));
  if (columns.best_launch) {
    next(Kind::real, "algorithm_3_us");
    next(Kind::real, "gain_percent");
  }
  for (const Model* model : columns.beside) next(Kind::real, cli::time_key(*model));
  if (!columns.beside.empty()) next(Kind::integer, "models_disagree");
  for (const char* name : {"notes", "grid", "block", "model"}) next(Kind::text, name);
}

void ResultColumns::append(const ResultColumns& other) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ResultColumn& from = other.columns_[i];
    columns_[i].integers.insert(columns_[i].integers.end(), from.integers.begin(), from.integers.end());
    columns_[i].reals.insert(columns_[i].reals.end(), from.reals.begin(), from.reals.end());
    columns_[i].text.append(from.text);
  }
}

void ResultColumns::add(const PredictionRow& row) {
  at_ = 0;
  add_text(row.plan);
  add_text(row.gpu);
  for (const auto& [name, value] : row.parameters) add_integer(value);
  add_integer(row.first_launch.blocks);
  add_integer(row.first_launch.threads_per_block);
  add_integer(row.launches);
  add_real(row.time.total_us);
  add_real(row.t_p_us);
  add_text(to_string(row.t_p_source));
  add_real(row.t_m_cycles);
  add_text(to_string(row.t_m_source));
  for (std::size_t i = 0; i < of_.model->parts().size(); ++i) add_real(row.time.us[i]);
  if (of_.best_launch) {
    add_real(row.algorithm_3_us.value_or(row.time.total_us));
    add_real(cli::gain_percent(row));
  }
  for (const double other : row.beside_us) add_real(other);
  if (!of_.beside.empty()) add_integer(cli::disagree(row, of_) ? 1 : 0);
  add_text(cli::notes_text(row));
  const GridAndBlock shape = row.first_shape();
  add_text(to_string(shape.grid));
  add_text(to_string(shape.block));
  add_text(row.model->name());
}

}  // namespace warptime::python
