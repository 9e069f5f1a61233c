#include "analyzer/compile/clang_sources.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

#include "simulator/base/embedded.h"

namespace warptime {
extern const EmbeddedFile cuda_headers[];
extern const std::size_t cuda_headers_count;
}  // namespace warptime

namespace warptime::compiling {

namespace {

// The terminating null that clang relies on is there in literals, but not in a view of the caller's text.
std::unique_ptr<llvm::MemoryBuffer> view_of_literal(std::string_view text, const std::string& name) {
  return llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(text), name, /*RequiresNullTerminator=*/true);
}

bool is_special_register(llvm::StringRef name) {
  llvm::StringRef number = name;
  if (number.consume_front("envreg")) return !number.empty() && llvm::all_of(number, llvm::isDigit);
  return (name.ends_with("_smem_size") && name != "_smem_size") ||
         llvm::StringSwitch<bool>(name)
             .Cases("laneid", "warpid", "nwarpid", "ctaid", "nctaid", true)
             .Cases("tid", "ntid", "smid", "nsmid", "gridid", true)
             .Cases("clock", "clock64", "clock_hi", true)
             .Cases("globaltimer", "globaltimer_lo", "globaltimer_hi", true)
             .Cases("lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", true)
             .Default(false);
}

// nvcc takes asm("mov.u32 %0, %laneid;") where clang wants %%laneid. The second % takes the place of the space
// before it, so that all lengths stay.
void escape_registers(llvm::MutableArrayRef<char> text) {
  const llvm::StringRef all(text.data(), text.size());
  for (std::size_t at = all.find('%'); at != llvm::StringRef::npos; at = all.find('%', at + 1)) {
    if (at == 0 || (all[at - 1] != ' ' && all[at - 1] != '\t')) continue;
    const auto name = all.substr(at + 1).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (is_special_register(name)) text[at - 1] = '%';
  }
}

bool may_name_registers(llvm::StringRef text) {
  return text.contains("asm") && text.contains(" %") &&
         (text.contains("id;") || text.contains("id.") || text.contains("mask_") || text.contains("clock") ||
          text.contains("timer") || text.contains("smem_size"));
}

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

bool is_word(char c) {
  return llvm::isAlnum(c) || c == '_';
}

// Two of `bracket`, spaces, and the third: the third moves to the others. All lengths stay.
void close_up(llvm::MutableArrayRef<char> text, char bracket) {
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    if (text[at] != bracket || text[at + 1] != bracket || !is_space(text[at + 2])) continue;
    std::size_t third = at + 3;
    while (third < text.size() && is_space(text[third])) ++third;
    if (third == text.size() || text[third] != bracket) continue;
    text[third] = ' ';
    text[at + 2] = bracket;
    at = third;
  }
}

// nvcc takes `kernel<< <grid, block>> >(…)`, which is how formatters for C++ write a launch.
void close_up_launches(llvm::MutableArrayRef<char> text) {
  close_up(text, '<');
  close_up(text, '>');
}

bool has_spaced_launch(llvm::StringRef text) {
  return (text.contains("<< <") || text.contains("<<  <")) && text.contains("__global__");
}

// `[]`, with white space in it or without.
bool has_empty_brackets(llvm::StringRef text) {
  for (std::size_t at = text.find('['); at != llvm::StringRef::npos; at = text.find('[', at + 1)) {
    if (text.substr(at + 1).ltrim().starts_with("]")) return true;
  }
  return false;
}

// nvcc takes `extern __shared__ float tile[32][32];`, clang only arrays without a bound. Without `extern` the
// variable has the size that it says.
void make_bounded_shared_static(llvm::MutableArrayRef<char> text) {
  constexpr std::string_view kExtern = "extern", kShared = "__shared__";
  const llvm::StringRef all(text.data(), text.size());
  std::size_t next = 0;  // each text is looked at once, however often it says `extern`
  for (std::size_t at = all.find(kExtern); at != llvm::StringRef::npos; at = all.find(kExtern, next)) {
    next = at + 1;
    if (at > 0 && is_word(all[at - 1])) continue;
    const llvm::StringRef after = all.substr(at + kExtern.size());
    llvm::StringRef declaration = after.drop_while(is_space);
    if (declaration.size() == after.size() || !declaration.consume_front(kShared)) continue;
    if (!declaration.empty() && is_word(declaration.front())) continue;
    const std::size_t end = declaration.find_first_of(";{}");
    if (end == llvm::StringRef::npos) return;
    next = static_cast<std::size_t>(declaration.data() - all.data()) + end;
    if (declaration[end] == ';' && !has_empty_brackets(declaration.take_front(end)))
      std::fill_n(text.begin() + at, kExtern.size(), ' ');
  }
}

bool may_declare_bounded_shared(llvm::StringRef text) {
  std::size_t end = 0;
  for (std::size_t at = text.find("extern __shared__"); at != llvm::StringRef::npos;
       at = text.find("extern __shared__", end)) {
    end = text.find(';', at);
    if (!text.slice(at, end).contains("[]")) return true;
    if (end == llvm::StringRef::npos) break;
  }
  return false;
}

// The word that ends at `end`; empty: there is none.
llvm::StringRef word_before(llvm::StringRef text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.slice(begin, end);
}

// nvcc takes `__shared__ alignas(16) float tile[32];`, clang wants `alignas(16)` before CUDA's words, which are attributes to
// it. They change places, so that all lengths stay.
void move_alignments(llvm::MutableArrayRef<char> text) {
  constexpr std::string_view kAlignas = "alignas";
  // Of what stands in the parentheses, and of the words before: no text makes this slow.
  constexpr std::size_t longest = 1000;
  constexpr int most_words = 8;
  const llvm::StringRef all(text.data(), text.size());
  std::size_t next = 0;
  for (std::size_t at = all.find(kAlignas); at != llvm::StringRef::npos; at = all.find(kAlignas, next)) {
    next = at + kAlignas.size();
    if (at > 0 && is_word(all[at - 1])) continue;
    const llvm::StringRef rest = all.substr(next).ltrim();
    if (!rest.starts_with("(")) continue;
    auto end = static_cast<std::size_t>(rest.data() - all.data());
    const std::size_t last = std::min(all.size(), end + longest);
    int open = 0;
    for (; end < last; ++end) {
      open += all[end] == '(' ? 1 : all[end] == ')' ? -1 : 0;
      if (open == 0 || all[end] == ';' || all[end] == '{') break;
    }
    if (end == last || all[end] != ')') continue;
    std::size_t begin = at;
    for (int words = 0; words < most_words; ++words) {
      const std::size_t word_end = all.take_front(begin).rtrim().size();
      const llvm::StringRef word = word_before(all, word_end);
      if (word != "__shared__" && word != "__device__" && word != "__constant__" && word != "__managed__")
        break;
      begin = word_end - word.size();
    }
    std::rotate(text.begin() + begin, text.begin() + at, text.begin() + end + 1);
    next = end;
  }
}

bool may_align_late(llvm::StringRef text) {
  return text.contains("alignas") && (text.contains("__shared__") || text.contains("__device__") ||
                                      text.contains("__constant__") || text.contains("__managed__"));
}

bool needs_changes(llvm::StringRef text) {
  return may_name_registers(text) || has_spaced_launch(text) || may_declare_bounded_shared(text) ||
         may_align_late(text);
}

// What nvcc takes and clang does not, and what can be written otherwise in as many characters.
void adapt_to_clang(llvm::MutableArrayRef<char> text) {
  const llvm::StringRef before(text.data(), text.size());
  if (may_name_registers(before)) escape_registers(text);
  if (has_spaced_launch(before)) close_up_launches(text);
  if (may_align_late(before)) move_alignments(text);
  if (may_declare_bounded_shared(before)) make_bounded_shared_static(text);
}

// A file that has been read and changed.
class ReadFile : public llvm::vfs::File {
 public:
  ReadFile(llvm::vfs::Status status, std::unique_ptr<llvm::MemoryBuffer> text)
      : status_(std::move(status)), text_(std::move(text)) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t, bool,
                                                               bool) override {
    return llvm::MemoryBuffer::getMemBufferCopy(text_->getBuffer(), name);
  }
  std::error_code close() override { return {}; }

 private:
  llvm::vfs::Status status_;
  std::unique_ptr<llvm::MemoryBuffer> text_;
};

bool is_readable(const llvm::vfs::Status& status, const std::string& name) {
  return status.isRegularFile() || status.isDirectory() || name == "/dev/null";
}

class UserFiles : public llvm::vfs::ProxyFileSystem {
 public:
  using ProxyFileSystem::ProxyFileSystem;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    const std::string name = path.str();
    // A pipe would wait for its writer, and a device may not end.
    if (auto found = status(name); found && !is_readable(*found, name))
      return std::make_error_code(std::errc::invalid_argument);
    auto file = ProxyFileSystem::openFileForRead(name);
    if (!file || llvm::StringRef(name).starts_with("/usr/")) return file;
    auto status = (*file)->status();
    if (!status) return file;
    auto text = (*file)->getBuffer(name);
    if (!text) return text.getError();
    if (!needs_changes((*text)->getBuffer()))
      return std::make_unique<ReadFile>(std::move(*status), std::move(*text));
    auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer((*text)->getBufferSize(), name);
    llvm::copy((*text)->getBuffer(), copy->getBufferStart());
    adapt_to_clang({copy->getBufferStart(), copy->getBufferSize()});
    return std::make_unique<ReadFile>(std::move(*status), std::move(copy));
  }
};

std::string with_insertions(std::string_view text, const FileInsertions& insertions) {
  std::string result;
  std::size_t at = 0;
  for (const auto& [offset, inserted] : insertions) {
    if (offset > text.size()) break;
    result += text.substr(at, offset - at);
    result += inserted;
    at = offset;
  }
  return result += text.substr(at);
}

}  // namespace

unsigned offset_without(unsigned offset, const FileInsertions& insertions) {
  unsigned before = 0;
  for (const auto& [at, inserted] : insertions) {
    if (at + before >= offset) break;
    before += static_cast<unsigned>(inserted.size());
  }
  return offset - std::min(before, offset);
}

SourceTree make_source_tree(const std::string& file, std::string_view text,
                            const SourceInsertions& insertions) {
  auto real = llvm::vfs::createPhysicalFileSystem();
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (const auto folder = real->getCurrentWorkingDirectory()) memory->setCurrentWorkingDirectory(*folder);
  for (std::size_t i = 0; i < cuda_headers_count; ++i) {
    const EmbeddedFile& header = cuda_headers[i];
    const std::string path = fmt::format("/warptime/{}", header.name);
    memory->addFile(path, 0, view_of_literal(header.text, path));
  }
  SourceTree tree;
  tree.main_file = file == "-" ? "<stdin>" : file;
  const auto own_insertions = insertions.find(tree.main_file);
  std::string own =
      own_insertions == insertions.end() ? std::string(text) : with_insertions(text, own_insertions->second);
  for (const auto& [path, inserted] : insertions) {
    if (path == tree.main_file) continue;
    const auto header = real->getBufferForFile(path);
    if (!header) continue;
    std::string changed = with_insertions((*header)->getBuffer(), inserted);
    adapt_to_clang({changed.data(), changed.size()});
    memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(changed, path));
  }
  adapt_to_clang({own.data(), own.size()});
  memory->addFile(tree.main_file, 0, llvm::MemoryBuffer::getMemBufferCopy(own, tree.main_file));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::makeIntrusiveRefCnt<UserFiles>(std::move(real)));
  overlay->pushOverlay(std::move(memory));
  tree.files = std::move(overlay);
  return tree;
}

}  // namespace warptime::compiling
