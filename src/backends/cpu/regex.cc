// Regular expressions, by RE2: linear in the text's length, whatever the pattern.
#include "backends/cpu/text_kernels.h"
#include "backends/cpu/utf.h"
#include "base/stop_scope.h"

#if defined(EMPLACE_WITH_RE2)
#include <re2/re2.h>
#endif

namespace emplace::cpu {

#if defined(EMPLACE_WITH_RE2)
namespace {

class Pattern {
 public:
  explicit Pattern(const std::string& text) {
    RE2::Options options;
    options.set_log_errors(false);
    expression_ = std::make_shared<const RE2>(text, options);
    if (!expression_->ok())
      throw invalid_argument("Invalid pattern: " + text + ", error: " + expression_->error());
  }
  bool matches(const std::string& s) const { return RE2::FullMatch(s, *expression_); }
  // A rewrite that names groups which aren't there changes nothing.
  std::string replaced(std::string s, const std::string& rewrite, bool all) const {
    std::string error;
    if (!expression_->CheckRewriteString(rewrite, &error)) return s;
    if (all) return all_replaced(s, rewrite);
    RE2::Replace(&s, *expression_, rewrite);
    return s;
  }

 private:
  // As RE2::GlobalReplace, which doesn't stop before the end of a long text: an empty match next to
  // the one before is none.
  std::string all_replaced(std::string_view s, const std::string& rewrite) const {
    std::vector<re2::StringPiece> found(static_cast<size_t>(1 + RE2::MaxSubmatch(rewrite)));
    const int groups = static_cast<int>(found.size());
    std::string out;
    Pace pace;
    size_t at = 0, last = s.npos;
    const re2::StringPiece text(s.data(), s.size());
    while (expression_->Match(text, at, s.size(), RE2::UNANCHORED, found.data(), groups)) {
      pace.step();
      const auto begin = static_cast<size_t>(found[0].data() - s.data());
      out += s.substr(at, begin - at);
      at = begin + found[0].size();
      if (begin == last && found[0].empty()) {
        if (at == s.size()) break;
        const size_t size = first_character(s.substr(at));
        out += s.substr(at, size);
        at += size;
      } else {
        expression_->Rewrite(&out, rewrite, found.data(), groups);
        last = at;
      }
    }
    return out += s.substr(at);
  }

  static size_t first_character(std::string_view s) {
    const auto all = decode(s.substr(0, 4), Encoding::kUtf8);
    if (all[0].value < 0) return 1;
    return all.size() > 1 ? static_cast<size_t>(all[1].begin) : std::min<size_t>(s.size(), 4);
  }

  std::shared_ptr<const RE2> expression_;
};

const std::string& scalar_string(KernelContext& c, int i, const char* what) {
  if (c.input(i).num_elements() != 1 || c.input(i).rank() != 0)
    throw invalid_argument(std::string(what) + " must be scalar, but received " +
                           c.input(i).shape().str());
  return *c.input(i).data<std::string>();
}

struct Replace {
  bool all;
  void operator()(KernelContext& c) const {
    const Pattern pattern(scalar_string(c, 1, "Pattern"));
    const std::string& rewrite = scalar_string(c, 2, "Rewrite");
    map_strings<std::string>(
        c, [&](const std::string& s) { return pattern.replaced(s, rewrite, all); });
  }
};
Prepared make_replace(const KernelInit& i) {
  return prepared(Replace{i.attr<bool>("replace_global")});
}

struct StaticReplace {
  Pattern pattern;
  std::string rewrite;
  bool all;
  void operator()(KernelContext& c) const {
    map_strings<std::string>(
        c, [&](const std::string& s) { return pattern.replaced(s, rewrite, all); });
  }
};
Prepared make_static_replace(const KernelInit& i) {
  return prepared(StaticReplace{Pattern(i.attr<std::string>("pattern")),
                                i.attr<std::string>("rewrite"), i.attr<bool>("replace_global")});
}

void match(KernelContext& c) {
  const Pattern pattern(scalar_string(c, 1, "Pattern"));
  map_strings<bool>(c, [&](const std::string& s) { return pattern.matches(s); });
}

struct StaticMatch {
  Pattern pattern;
  void operator()(KernelContext& c) const {
    map_strings<bool>(c, [&](const std::string& s) { return pattern.matches(s); });
  }
};
Prepared make_static_match(const KernelInit& i) {
  return prepared(StaticMatch{Pattern(i.attr<std::string>("pattern"))});
}

}  // namespace

std::vector<KernelRow> regex_kernels() {
  return {text_row("RegexReplace", make_replace), text_row("RegexFullMatch", stateless<match>),
          text_row("StaticRegexReplace", make_static_replace),
          text_row("StaticRegexFullMatch", make_static_match)};
}
#else
std::vector<KernelRow> regex_kernels() { return {}; }
#endif

}  // namespace emplace::cpu
