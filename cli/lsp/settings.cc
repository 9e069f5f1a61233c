#include "cli/lsp/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/options/launch_options.h"
#include "cli/options/model_option.h"
#include "cli/options/options.h"
#include "load/input.h"
#include "simulator/program/yaml_reader.h"

namespace warptime::cli {
namespace {

constexpr std::string_view comment_mark = "warptime:";

struct GivenOption {
  std::string name;
  std::optional<std::string> value;
};

struct GivenWords {
  std::vector<GivenOption> options;
  std::vector<std::string> flags;  // behind `--`
};

// Words that the syntax takes, one by one.
GivenWords parse_words(const CommandSyntax& syntax, const std::vector<std::string>& words) {
  GivenWords given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      given.flags.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    const auto equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::size_t dashes = words[i].starts_with("--") ? 2 : 1;
    const Option* option =
        find_option(syntax, words[i].substr(dashes, equals == std::string::npos ? equals : equals - dashes));
    if (option == nullptr) continue;
    GivenOption one{long_name(*option), std::nullopt};
    if (equals != std::string::npos)
      one.value = words[i].substr(equals + 1);
    else if (!option->value.empty() && i + 1 < words.size())
      one.value = words[++i];
    given.options.push_back(std::move(one));
  }
  return given;
}

bool is_launch(const std::string& name) {
  const auto options = launch_options(ShortForms::with);
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& one) { return long_name(one) == name; });
}

// "K=8,10,N=4" -> "K=8,10" and "N=4".
std::vector<std::string> single_parameters(const std::string& text) {
  std::vector<std::string> found;
  for (std::string& piece : split_at_commas(text)) {
    if (found.empty() || piece.find('=') != std::string::npos)
      found.push_back(std::move(piece));
    else
      found.back() += "," + piece;
  }
  return found;
}

std::string name_of_parameter(const std::string& text) {
  return text.substr(0, text.find('='));
}

// The options of several layers as those of one command line.
class MergedOptions {
 public:
  void add(const GivenWords& layer) {
    const auto launches = [](const GivenOption& one) { return is_launch(one.name); };
    if (std::any_of(layer.options.begin(), layer.options.end(), launches)) std::erase_if(options_, launches);
    for (const char* whole : {"gpu", "gpu-dir"})
      if (std::any_of(layer.options.begin(), layer.options.end(),
                      [&](const GivenOption& one) { return one.name == whole; }))
        std::erase_if(options_, [&](const GivenOption& one) { return one.name == whole; });
    for (const GivenOption& one : layer.options) {
      if (one.name == "kernel") continue;
      if (one.name != "param" || !one.value) {
        options_.push_back(one);
        continue;
      }
      for (const std::string& parameter : single_parameters(*one.value)) {
        std::erase_if(options_, [&](const GivenOption& other) {
          return other.name == "param" && name_of_parameter(*other.value) == name_of_parameter(parameter);
        });
        options_.push_back({"param", parameter});
      }
    }
    flags_.insert(flags_.end(), layer.flags.begin(), layer.flags.end());
  }

  std::vector<std::string> words() const {
    std::vector<std::string> words;
    for (const GivenOption& one : options_)
      words.push_back(one.value ? fmt::format("--{}={}", one.name, *one.value) : "--" + one.name);
    if (!flags_.empty()) words.emplace_back("--");
    words.insert(words.end(), flags_.begin(), flags_.end());
    return words;
  }

 private:
  std::vector<GivenOption> options_;
  std::vector<std::string> flags_;
};

// A layer, if its words are right; else what is wrong, at this place.
void add_layer(DocumentSettings& settings, const std::vector<std::string>& words, const std::string& file,
               int line) {
  const CommandSyntax syntax = editor_syntax();
  const auto arguments = parse_arguments(syntax, words);
  if (!arguments) {
    for (Diagnostic wrong : arguments.diagnostics()) {
      if (!wrong.file.empty()) wrong.message = fmt::format("{}: {}", wrong.file, wrong.message);
      wrong.file = file;
      wrong.line = line;
      wrong.column = 0;
      settings.wrong.push_back(std::move(wrong));
    }
    return;
  }
  settings.layers.push_back({arguments->value_or("kernel", ""), words});
}

void add_client(DocumentSettings& settings, const lsp::Json& client) {
  if (!client.is_object()) return;
  if (const auto inner = client.find("warptime"); inner != client.end()) return add_client(settings, *inner);
  std::vector<std::string> words;
  if (const auto gpu = client.find("gpu");
      gpu != client.end() && gpu->is_string() && !gpu->get_ref<const std::string&>().empty()) {
    words.emplace_back("--gpu");
    words.push_back(gpu->get<std::string>());
  }
  if (const auto options = client.find("options"); options != client.end()) {
    if (options->is_string())
      for (auto& word : split_words(options->get<std::string>())) words.push_back(std::move(word));
    if (options->is_array())
      for (const auto& word : *options)
        if (word.is_string()) words.push_back(word.get<std::string>());
  }
  if (!words.empty()) add_layer(settings, words, "settings of the editor", 0);
}

std::vector<std::string> words_of(const yaml::Node& node) {
  if (node.kind == yaml::Node::Kind::scalar) return split_words(node.text);
  std::vector<std::string> words;
  for (const yaml::Node& one : node.items)
    for (auto& word : split_words(one.text)) words.push_back(std::move(word));
  return words;
}

// `options` for all sources below the file's folder, and `sources: {NAME: OPTIONS}` for one.
void add_file(DocumentSettings& settings, const std::string& file, const std::string& name) {
  const auto text = read_text(file);
  if (!text) return;
  const auto documents = yaml::parse(*text, file);
  if (!documents) {
    settings.wrong.insert(settings.wrong.end(), documents.diagnostics().begin(),
                          documents.diagnostics().end());
    return;
  }
  yaml::Reader reader(*text, file);
  for (const yaml::Node& document : *documents) {
    const yaml::Fields fields(reader, document, {"warptime", "options", "sources"}, "the settings");
    if (const yaml::Node* options = fields.find("options"))
      add_layer(settings, words_of(*options), file, options->line);
    if (const yaml::Node* sources = fields.find("sources"))
      for (const yaml::Entry& entry : sources->entries)
        if (entry.key.text == name) add_layer(settings, words_of(entry.value), file, entry.value.line);
  }
  for (Diagnostic& wrong : reader.take()) settings.wrong.push_back(std::move(wrong));
}

// The settings file in the document's folder, or in the nearest one above that has any.
void add_nearest_file(DocumentSettings& settings, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path document(path);
  for (fs::path folder = document.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const fs::path file = folder / settings_file;
    if (fs::is_regular_file(file, failed))
      return add_file(settings, file.string(), document.lexically_relative(folder).generic_string());
    if (folder == folder.root_path()) return;
  }
}

// Lines `// warptime: OPTIONS`.
void add_comments(DocumentSettings& settings, const std::string& path, std::string_view text) {
  int number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line.substr(first, 2) != "//") continue;
    line.remove_prefix(first + 2);
    const auto mark = line.find_first_not_of(" \t/");
    if (mark == std::string_view::npos || line.substr(mark, comment_mark.size()) != comment_mark) continue;
    line.remove_prefix(mark + comment_mark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    add_layer(settings, split_words(line), path, number);
  }
}

}  // namespace

CommandSyntax editor_syntax() {
  CommandSyntax syntax;
  syntax.name = "lsp";
  std::vector<Option> options = launch_options(ShortForms::with);
  options.push_back(kernel_option());
  options.push_back({"gpu", "NAME", "the GPU to predict for"});
  options.push_back(gpu_dir_option());
  options.push_back({"set", "FIGURE=VALUE", "change a figure of the GPU"});
  options.push_back(param_option());
  options.push_back({"assume", "NAME=VALUE", "what loaded data decide"});
  options.push_back({"caches", "warm|cold", "what the caches hold", Names::no_file, {"warm", "cold"}});
  options.push_back(model_option(false));
  syntax.groups = {{"What to predict", std::move(options)}, compiler_options()};
  syntax.groups.push_back(
      {"General", {{"h,help", "", ""}, {"format", "FORMAT", "", Names::no_file, {"text"}}}});
  syntax.least_positionals = syntax.most_positionals = 0;
  syntax.takes_compiler_flags = true;
  return syntax;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      if (begun) words.push_back(std::exchange(word, {}));
      begun = false;
      continue;
    }
    begun = true;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (begun) words.push_back(std::move(word));
  return words;
}

Result<Arguments> DocumentSettings::arguments_for(const std::string& kernel) const {
  const CommandSyntax syntax = editor_syntax();
  MergedOptions merged;
  merged.add({{{"gpu", default_editor_gpu}}, {}});
  for (const bool named : {false, true})
    for (const KernelSettings& layer : layers)
      if (layer.kernel.empty() != named && (layer.kernel.empty() || layer.kernel == kernel))
        merged.add(parse_words(syntax, layer.words));
  return parse_arguments(syntax, merged.words());
}

DocumentSettings read_document_settings(const std::string& path, std::string_view text,
                                        const lsp::Json& client) {
  DocumentSettings settings;
  add_client(settings, client);
  if (!path.empty()) add_nearest_file(settings, path);
  add_comments(settings, path, text);
  return settings;
}

}  // namespace warptime::cli
