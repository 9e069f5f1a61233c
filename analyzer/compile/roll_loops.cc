#include "analyzer/compile/roll_loops.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <vector>

namespace warptime::compiling {

namespace {

constexpr std::string_view keep_rolled = "_Pragma(\"unroll 1\") ";

clang::LangOptions cuda_language() {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = true;
  options.LineComment = options.CUDA = options.RawStringLiterals = true;
  return options;
}

class LoopRoller {
 public:
  LoopRoller(std::string_view text, const IncludeReplacement& include)
      : text_(text),
        include_(include),
        language_(cuda_language()),
        lexer_(clang::SourceLocation(), language_, text_.data(), text_.data(), text_.data() + text_.size()) {}

  std::string run() {
    while (next()) {
      if (token_.isAtStartOfLine() && token_.is(clang::tok::hash)) {
        directive();
      } else {
        look_at_token();
      }
    }
    copy_until(text_.size());
    return std::move(result_);
  }

 private:
  bool next() {
    if (pushed_back_) {
      pushed_back_ = false;
    } else {
      previous_ = word();
      lexer_.LexFromRawLexer(token_);
    }
    end_ = static_cast<std::size_t>(lexer_.getBufferLocation() - text_.data());
    begin_ = end_ - token_.getLength();
    return token_.isNot(clang::tok::eof);
  }

  std::string_view word() const { return std::string_view(text_).substr(begin_, end_ - begin_); }

  void copy_until(std::size_t position) {
    result_.append(text_, copied_, position - copied_);
    copied_ = position;
  }

  void look_at_token() {
    const std::string_view token = word();
    if (token == "{") ++depth_;
    if (token == "}" && depth_ > 0) --depth_;
    if (token_.isNot(clang::tok::raw_identifier)) return;
    const bool loop = token == "for" || token == "do" || (token == "while" && !ends_do());
    if (token == "do") open_dos_.push_back(depth_);
    if (!loop) return;
    copy_until(begin_);
    result_ += keep_rolled;
  }

  // The `while` of a `do` statement follows its body: a block, or a statement that ends in a semicolon.
  bool ends_do() {
    const bool after_statement = previous_ == "}" || previous_ == ";";
    if (!after_statement || open_dos_.empty() || open_dos_.back() != depth_) return false;
    open_dos_.pop_back();
    return true;
  }

  // The words of a directive are no statements, except in the body of a macro.
  void directive() {
    if (!next() || token_.isAtStartOfLine()) return push_back();
    if (word() == "define") return define();
    if (word() == "include") return include();
    while (next() && !token_.isAtStartOfLine()) {
    }
    push_back();
  }

  void push_back() { pushed_back_ = true; }

  void define() {
    if (!next() || token_.isAtStartOfLine()) return push_back();  // else the name, which is passed over
  }

  void include() {
    if (!next() || token_.isAtStartOfLine()) return push_back();
    const std::size_t line_end = std::min(text_.find('\n', begin_), text_.size());
    const bool quoted = text_[begin_] == '"';
    const std::size_t close = text_.find(quoted ? '"' : '>', begin_ + 1);
    if ((!quoted && text_[begin_] != '<') || close >= line_end) return;
    const std::optional<std::string> other = include_(text_.substr(begin_ + 1, close - begin_ - 1), quoted);
    if (!other) return;
    copy_until(begin_);
    result_ += '"' + *other + '"';
    copied_ = close + 1;
  }

  const std::string text_;  // the lexer relies on the null at its end
  const IncludeReplacement& include_;
  const clang::LangOptions language_;
  clang::Lexer lexer_;
  clang::Token token_;
  bool pushed_back_ = false;
  std::string previous_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t copied_ = 0;
  std::string result_;
  int depth_ = 0;
  std::vector<int> open_dos_;  // the depths of braces at which a `while` is due
};

}  // namespace

std::string roll_loops(std::string_view text, const IncludeReplacement& include) {
  return LoopRoller(text, include).run();
}

}  // namespace warptime::compiling
