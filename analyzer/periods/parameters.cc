#include "analyzer/periods/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

namespace warptime::periods {

std::string Parameters::argument_name(std::uint32_t index, std::uint32_t offset) const {
  std::string name;
  if (options_.signature != nullptr && index < options_.signature->arguments.size()) {
    name = options_.signature->arguments[index].name;
  } else if (index < function_.parameters.size()) {
    name = std::string(function_.parameters[index].name);
    const auto prefix = std::string(function_.name) + "_";
    if (name.starts_with(prefix)) name = name.substr(prefix.size());
  }
  for (auto& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  return offset == 0 ? name : fmt::format("{}_{}", name, offset);
}

std::string Parameters::description_of_part(std::uint32_t index, std::uint32_t offset) const {
  const auto whole = argument_description(index);
  return offset == 0 ? whole : fmt::format("byte {} of {}", offset, whole);
}

bool Parameters::is_argument_name(const std::string& name) const {
  for (std::uint32_t i = 0; i < function_.parameters.size(); ++i)
    if (argument_name(i, 0) == name) return true;
  return false;
}

bool Parameters::may_be_pointer(std::uint32_t index) const {
  if (index >= function_.parameters.size()) return false;
  const auto& parameter = function_.parameters[index];
  if (parameter.is_array) return true;  // a struct
  if (options_.signature != nullptr && index < options_.signature->arguments.size())
    return options_.signature->arguments[index].type.find_first_of("*&[") != std::string::npos;
  return parameter.type == "u64" || parameter.type == "b64";
}

std::string Parameters::ask_for(const std::string& wanted, std::string description) {
  return ask_for(wanted, std::move(description), std::nullopt);
}

std::string Parameters::ask_for(const std::string& wanted, std::string description,
                                std::optional<double> share) {
  const auto [known, fresh] = name_of_.emplace(std::pair{description, share}, "");
  if (!fresh) return known->second;
  // iterations_at_line_7, iterations_at_line_7_2, …
  std::string name = wanted;
  for (auto& n = times_wanted_[wanted]; !names_in_use_.insert(name).second;)
    name = fmt::format("{}_{}", wanted, ++n + 1);
  known->second = name;
  asked_for_.push_back({name, std::move(description)});
  return name;
}

std::string Parameters::ask_for_share(const std::string& wanted, std::string description, double share,
                                      int ptx_line) {
  auto name = ask_for(wanted, std::move(description), share);
  const auto asked =
      std::find_if(asked_for_.rbegin(), asked_for_.rend(), [&](const auto& p) { return p.name == name; });
  asked->share = share;
  asked->ptx_line = ptx_line;
  return name;
}

void Parameters::declare_in(KernelProgram& program) {
  auto& parameters = program.parameters;
  for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) {
    if (!is_integer_argument(i)) continue;
    parameters.push_back({argument_name(i, 0), argument_description(i)});
  }
  const auto names = used_names(program);
  const auto declared = [&](const std::string& name) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
  };
  for (auto& asked : asked_for_) parameters.push_back(std::move(asked));
  for (const auto& name : names) {
    if (declared(name)) continue;
    parameters.push_back(
        {name, name.find('.') != std::string::npos ? "launch dimension" : "a part of a kernel argument"});
  }
}

bool Parameters::is_integer_argument(std::uint32_t index) const {
  if (options_.signature != nullptr && index < options_.signature->arguments.size()) {
    const auto& type = options_.signature->arguments[index].type;
    static const std::set<std::string, std::less<>> other{"float", "double", "__half", "half"};
    if (type.find_first_of("*&[<") != std::string::npos || other.contains(type)) return false;
  }
  const auto& parameter = function_.parameters[index];
  if (parameter.is_array || parameter.type.empty() || parameter.type[0] == 'f') return false;
  // PTX alone does not tell a pointer from a 64-bit number.
  return options_.signature != nullptr || (parameter.type != "u64" && parameter.type != "b64");
}

std::string Parameters::argument_description(std::uint32_t index) const {
  if (options_.signature != nullptr && index < options_.signature->arguments.size())
    return fmt::format("argument {} ({} {})", index, options_.signature->arguments[index].type,
                       options_.signature->arguments[index].name);
  return fmt::format("argument {} (.{} {})", index, function_.parameters[index].type,
                     function_.parameters[index].name);
}

}  // namespace warptime::periods
