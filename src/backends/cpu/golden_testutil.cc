#include "backends/cpu/golden_testutil.h"

#include <cmath>
#include <fstream>

#include "backends/cpu/loops.h"
#include "backends/cpu/quantized.h"
#include "base/source_dir_testutil.h"

namespace emplace::cpu {
namespace {

double number(const std::string& word) { return std::strtod(word.c_str(), nullptr); }

template <class T>
T read_value(const std::string& word) {
  if constexpr (std::is_same_v<T, std::string>) return golden_text(word);
  else if constexpr (kIsComplex<T>) {
    const size_t comma = word.find(',');
    using R = typename T::value_type;
    return T(static_cast<R>(number(word.substr(0, comma))),
             static_cast<R>(number(word.substr(comma + 1))));
  } else if constexpr (kIsSmallFloat<T>) return T(static_cast<float>(number(word)));
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(number(word));
  else if constexpr (std::is_same_v<T, uint64_t>) return std::stoull(word);
  else return static_cast<T>(std::stoll(word));
}

Shape read_shape(const std::string& dims) {  // "2,3", or "-" for a scalar's
  Shape shape;
  std::istringstream sizes(dims == "-" ? "" : dims);
  for (std::string word; std::getline(sizes, word, ',');) shape.push_back(std::stoll(word));
  return shape;
}

void read_attr(std::istringstream& in, AttrList& attrs) {
  std::string name, kind, value;
  in >> name >> kind;
  if (kind == "ints") {
    std::vector<int64_t> list;
    while (in >> value) list.push_back(std::stoll(value));
    return set_attr(attrs, name, list);
  }
  if (kind == "texts") {
    std::vector<std::string> list;
    while (in >> value) list.push_back(golden_text(value));
    return set_attr(attrs, name, list);
  }
  if (kind == "types") {
    std::vector<DType> list;
    while (in >> value) list.push_back(dtype_from_name(value));
    return set_attr(attrs, name, list);
  }
  if (kind == "floats") {
    std::vector<float> list;
    while (in >> value) list.push_back(std::stof(value));
    return set_attr(attrs, name, list);
  }
  in >> value;
  if (kind == "shape") set_attr(attrs, name, read_shape(value));
  else if (kind == "text") set_attr(attrs, name, golden_text(value));
  else if (kind == "int") set_attr(attrs, name, static_cast<int64_t>(std::stoll(value)));
  else if (kind == "bool") set_attr(attrs, name, value == "1");
  else if (kind == "float") set_attr(attrs, name, std::stof(value));
  else if (kind == "type") set_attr(attrs, name, dtype_from_name(value));
  else set_attr(attrs, name, value);
}

bool near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

template <class T>
bool near_enough(const T& a, const T& b, double slack) {
  if constexpr (std::is_same_v<T, Half>)
    return near(static_cast<float>(a), static_cast<float>(b), 2e-3 * slack);
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return near(static_cast<float>(a), static_cast<float>(b), 2e-2 * slack);
  else if constexpr (kIsComplex<T>) {
    const double tolerance = slack * (sizeof(T) == 8 ? 5e-6 : 1e-12);
    return near(a.real(), b.real(), tolerance) && near(a.imag(), b.imag(), tolerance);
  } else if constexpr (std::is_floating_point_v<T>)
    return near(a, b, slack * (sizeof(T) == 4 ? 5e-6 : 1e-12));
  else
    return a == b;
}

}  // namespace

std::string golden_text(std::string_view word) {
  std::string text;
  for (size_t i = 1; i < word.size(); ++i) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    text += static_cast<char>(std::stoi(std::string(word.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return text;
}

Tensor golden_tensor(std::istringstream& in) {
  std::string dtype, dims, word;
  in >> dtype >> dims;
  Tensor t(dtype_from_name(dtype), read_shape(dims));
  visit_dtype(stored_as(t.dtype()), Join<Plain, Types<std::string>>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      in >> word;
      t.data<T>()[i] = read_value<T>(word);
    }
  });
  return t;
}

std::vector<GoldenCase> golden_cases(const std::string& name) {
  std::ifstream file(source_dir() + "/tests/golden/" + name + ".txt");
  std::vector<GoldenCase> cases;
  std::string line, word;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream in(line);
    if (!(in >> word)) continue;
    if (word == "op") {
      cases.emplace_back().line = number;
      in >> cases.back().op;
    } else if (word == "attr") read_attr(in, cases.back().attrs);
    else if (word == "var") cases.back().variables.push_back(golden_tensor(in));
    else if (word == "after") cases.back().after.push_back(golden_tensor(in));
    else if (word == "in") cases.back().inputs.push_back(golden_tensor(in));
    else if (word == "out") cases.back().outputs.push_back(golden_tensor(in));
    else if (word == "error") in >> cases.back().error;
  }
  return cases;
}

std::string difference(const Tensor& got, const Tensor& want, double slack) {
  if (got.dtype() != want.dtype()) return "dtype " + std::string(dtype_name(got.dtype()));
  if (!(got.shape() == want.shape())) return "shape " + got.shape().str();
  bool same = true;
  visit_dtype(stored_as(got.dtype()), Join<Plain, Types<std::string>>{}, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < got.num_elements(); ++i)
      same = same && near_enough(got.data<T>()[i], want.data<T>()[i], slack);
  });
  return same ? "" : "got " + got.str() + "\nwant " + want.str();
}

}  // namespace emplace::cpu
