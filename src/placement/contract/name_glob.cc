#include "placement/contract/name_glob.h"

#include <vector>

namespace emplace::placement {
namespace {

// A pattern's piece, and whether it may be left out or repeated.
struct Piece {
  enum Kind : char { kChar, kOne, kLevel, kAny, kScopes } kind;
  char letter = 0;
};

std::vector<Piece> pieces(std::string_view pattern) {
  std::vector<Piece> out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool two = pattern.substr(i).starts_with("**");
    const bool level_begins = i == 0 || pattern[i - 1] == '/';
    if (two && level_begins && pattern.substr(i).starts_with("**/")) {
      out.push_back({Piece::kScopes});
      i += 2;
    } else if (two) {
      out.push_back({Piece::kAny});
      ++i;
    } else if (pattern[i] == '*') {
      out.push_back({Piece::kLevel});
    } else {
      out.push_back({pattern[i] == '?' ? Piece::kOne : Piece::kChar, pattern[i]});
    }
  }
  return out;
}

// `reached`: the positions in the name that the pieces so far can end at.
std::vector<char> after(const Piece& piece, std::string_view name, const std::vector<char>& reached) {
  std::vector<char> next(reached.size(), 0);
  for (size_t i = 0; i < reached.size(); ++i) {
    const char before = i > 0 ? name[i - 1] : '/';
    switch (piece.kind) {
      case Piece::kChar: next[i] = i > 0 && reached[i - 1] && before == piece.letter; break;
      case Piece::kOne: next[i] = i > 0 && reached[i - 1] && before != '/'; break;
      case Piece::kLevel: next[i] = reached[i] || (i > 0 && next[i - 1] && before != '/'); break;
      case Piece::kAny: next[i] = reached[i] || (i > 0 && next[i - 1]); break;
      case Piece::kScopes: {  // nothing, or all up to a '/'
        next[i] = reached[i];
        for (size_t k = 0; before == '/' && k < i && !next[i]; ++k) next[i] = reached[k];
        break;
      }
    }
  }
  return next;
}

}  // namespace

bool name_matches(std::string_view pattern, std::string_view name) {
  std::vector<char> reached(name.size() + 1, 0);
  reached[0] = 1;
  for (const Piece& piece : pieces(pattern)) reached = after(piece, name, reached);
  return reached.back();
}

}  // namespace emplace::placement
