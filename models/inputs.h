// Which texts a model comes from: its source and the user's files that the source includes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/file.h"

namespace warptime::models {

struct ModelInputs {
  std::vector<ModelInput> inputs;  // the source first
  // Whether these are all for certain: not where an #include names its file by a macro.
  bool complete = true;
};

// `#include` lines alone decide, whichever #if they stand under: too many files are no harm. A file is looked
// for beside the one that includes it and in the folders of -I and the like among `flags`; those of the
// system and of the compiler belong to the compiler's version. `file`: as it is opened.
ModelInputs inputs_of(const std::string& file, std::string_view text, const std::vector<std::string>& flags);

}  // namespace warptime::models
