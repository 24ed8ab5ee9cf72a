// The reader of op signatures: a hand-written scanner over one line.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "emplace/error.h"
#include "op/op_def.h"

namespace emplace {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Walks over the text; every method skips blanks first. Throws where the text is not understood.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool done() {
    skip();
    return at_ == text_.size();
  }
  bool peek(std::string_view token) {
    skip();
    return text_.substr(at_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!peek(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(fmt::format("expected '{}'", token));
  }
  bool take_word(std::string_view word) {
    const size_t start = at_;
    if (take(word) && (at_ == text_.size() || !is_word(text_[at_]))) return true;
    at_ = start;
    return false;
  }
  std::string_view word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || (text_[at_] == '>' && at_ > begin))) ++at_;
    if (at_ == begin) fail("expected a name");
    return text_.substr(begin, at_ - begin);
  }
  // The next word, left in place.
  std::string_view peek_word() {
    const size_t start = at_;
    const std::string_view found = word();
    at_ = start;
    return found;
  }
  bool next_is_attribute() {
    const size_t start = at_;
    word();
    const bool found = peek(":");
    at_ = start;
    return found;
  }
  std::string quoted();
  int64_t integer();
  float real();

  [[noreturn]] void fail(std::string_view what) const {
    throw invalid_argument(
        fmt::format("Op signature: {} at '{}' in '{}'", what, text_.substr(at_, 40), text_));
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

char unescaped(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '0': return '\0';
    default: return c;
  }
}

std::string Reader::quoted() {
  expect("'");
  std::string out;
  while (at_ < text_.size() && text_[at_] != '\'') {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      out += unescaped(text_[at_ + 1]);
      at_ += 2;
    } else {
      out += text_[at_++];
    }
  }
  if (at_ == text_.size()) fail("string without end");
  ++at_;
  return out;
}

int64_t Reader::integer() {
  skip();
  const std::string digits(text_.substr(at_, 24));
  char* end = nullptr;
  const int64_t v = std::strtoll(digits.c_str(), &end, 10);
  if (end == digits.c_str()) fail("expected an integer");
  at_ += static_cast<size_t>(end - digits.c_str());
  return v;
}

float Reader::real() {
  skip();
  const char* const start = text_.data() + at_;
  float v = 0;  // from_chars: in any locale; it reads "inf" and "nan" too
  const auto [end, error] = std::from_chars(start, text_.data() + text_.size(), v);
  if (error != std::errc()) fail("expected a number");
  at_ += static_cast<size_t>(end - start);
  return v;
}

// Reads "[a,b]" with `item` for each entry.
template <class Item>
auto read_list(Reader& in, Item item) {
  std::vector<decltype(item())> out;
  in.expect("[");
  while (!in.take("]")) {
    if (!out.empty()) in.expect(",");
    out.push_back(item());
  }
  return out;
}

DType read_dtype(Reader& in) {
  const std::string_view name = in.peek_word();
  const DType t = dtype_from_name(name);
  if (t == DType::kInvalid) in.fail("unknown dtype");
  in.word();
  return t;
}

bool read_bool(Reader& in) {
  if (in.take_word("true")) return true;
  if (in.take_word("false")) return false;
  in.fail("expected true or false");
}

Shape read_shape(Reader& in) {
  if (in.take_word("unknown")) return Shape::unknown();
  const auto dims = read_list(in, [&] { return in.integer(); });
  return Shape(std::span<const int64_t>(dims));
}

// "uint8[1,2]": a vector of bytes; "tensor": one that is not written out.
AttrValue read_tensor(Reader& in) {
  if (in.take_word("tensor")) return {};
  in.expect("uint8");
  const auto values = read_list(in, [&] { return in.integer(); });
  Tensor t(DType::kUint8, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) t.data<uint8_t>()[i] = static_cast<uint8_t>(values[i]);
  return t;
}

AttrValue read_scalar(Reader& in, AttrType type) {
  switch (type) {
    case AttrType::kString: return in.quoted();
    case AttrType::kInt: return in.integer();
    case AttrType::kFloat: return in.real();
    case AttrType::kBool: return read_bool(in);
    case AttrType::kType: return read_dtype(in);
    case AttrType::kShape: return read_shape(in);
    case AttrType::kTensor: return read_tensor(in);
    case AttrType::kFunc: return FunctionName{std::string(in.word()), {}};
  }
  in.fail("unknown attribute type");
}

AttrValue read_values(Reader& in, AttrType type) {
  switch (type) {
    case AttrType::kString: return read_list(in, [&] { return in.quoted(); });
    case AttrType::kInt: return read_list(in, [&] { return in.integer(); });
    case AttrType::kFloat: return read_list(in, [&] { return in.real(); });
    case AttrType::kBool: return read_list(in, [&] { return read_bool(in); });
    case AttrType::kType: return read_list(in, [&] { return read_dtype(in); });
    case AttrType::kShape: return read_list(in, [&] { return read_shape(in); });
    case AttrType::kTensor: return read_list(in, [&]() -> Tensor { in.fail("tensor in a list"); });
    case AttrType::kFunc:
      return read_list(in, [&] { return FunctionName{std::string(in.word()), {}}; });
  }
  in.fail("unknown attribute type");
}

AttrType read_attr_type(Reader& in) {
  static constexpr std::pair<std::string_view, AttrType> kTypes[] = {
      {"string", AttrType::kString}, {"int", AttrType::kInt},     {"float", AttrType::kFloat},
      {"bool", AttrType::kBool},     {"type", AttrType::kType},   {"shape", AttrType::kShape},
      {"tensor", AttrType::kTensor}, {"func", AttrType::kFunc}};
  for (const auto& [name, type] : kTypes)
    if (in.take_word(name)) return type;
  in.fail("unknown attribute type");
}

void read_allowed(Reader& in, AttrDef& attr) {
  if (attr.type == AttrType::kType)
    attr.allowed_types = read_list(in, [&] { return read_dtype(in); });
  else
    attr.allowed_strings = read_list(in, [&] { return in.quoted(); });
}

AttrDef read_attr(Reader& in) {
  AttrDef attr;
  attr.name = in.word();
  in.expect(":");
  attr.is_list = in.take("list(");
  attr.type = read_attr_type(in);
  if (attr.is_list) in.expect(")");
  if (in.take_word("in")) read_allowed(in, attr);
  if (in.take(">=")) attr.minimum = in.integer();
  if (in.take("="))
    attr.default_value = attr.is_list ? read_values(in, attr.type) : read_scalar(in, attr.type);
  return attr;
}

// What an argument's type says before the attributes are known.
struct ArgText {
  ArgDef def;
  std::string type;
};

std::vector<ArgText> read_args(Reader& in) {
  std::vector<ArgText> out;
  in.expect("(");
  while (!in.take(")")) {
    if (!out.empty()) in.expect(",");
    ArgText arg;
    arg.def.name = in.word();
    in.expect(":");
    arg.def.is_ref = in.take_word("ref");
    arg.type = in.word();
    if (in.take("*")) arg.def.number_attr = std::exchange(arg.type, std::string(in.word()));
    out.push_back(std::move(arg));
  }
  return out;
}

ArgDef resolved(Reader& in, const OpDef& op, ArgText arg) {
  const AttrDef* attr = op.find_attr(arg.type);
  if (!arg.def.number_attr.empty() && op.find_attr(arg.def.number_attr) == nullptr)
    in.fail(fmt::format("no attribute '{}' for argument '{}'", arg.def.number_attr, arg.def.name));
  if (attr == nullptr) {
    arg.def.type = dtype_from_name(arg.type);
    if (arg.def.type == DType::kInvalid)
      in.fail(fmt::format("'{}' of argument '{}' is neither a dtype nor an attribute", arg.type,
                          arg.def.name));
  } else if (attr->is_list) {
    arg.def.type_list_attr = arg.type;
  } else {
    arg.def.type_attr = arg.type;
  }
  return std::move(arg.def);
}

void read_flag(Reader& in, OpDef& op) {
  if (in.take_word("stateful")) op.stateful = true;
  else if (in.take_word("commutative")) op.commutative = true;
  else if (in.take_word("aggregate")) op.aggregate = true;
  else if (in.take_word("allows_uninitialized_input")) op.allows_uninitialized_input = true;
  else if (!in.take_word("distributed_communication")) in.fail("unknown flag");
}

}  // namespace

OpDef parse_signature(std::string_view signature) {
  Reader in(signature);
  OpDef op;
  op.name = in.word();
  auto inputs = read_args(in);
  in.expect("->");
  auto outputs = read_args(in);
  while (in.take("|")) {
    if (in.next_is_attribute()) {
      do op.attrs.push_back(read_attr(in));
      while (in.take(";"));
    } else {
      while (!in.done() && !in.peek("|")) read_flag(in, op);
    }
  }
  if (!in.done()) in.fail("trailing text");
  for (auto& arg : inputs) op.inputs.push_back(resolved(in, op, std::move(arg)));
  for (auto& arg : outputs) op.outputs.push_back(resolved(in, op, std::move(arg)));
  return op;
}

}  // namespace emplace
