#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/source_dir_testutil.h"
#include "emplace/tensor.h"

namespace emplace {
namespace {

struct Case {
  std::string dtype, shape, data, text;
};

// The format is told in tests/golden/print/make.py.
std::vector<Case> golden_cases() {
  std::ifstream in(source_dir() + "/tests/golden/print/cases.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("= ")) {
      Case& c = cases.emplace_back();
      std::istringstream(line.substr(2)) >> c.dtype >> c.shape >> c.data;
    } else {
      std::string& text = cases.back().text;
      if (!text.empty()) text += '\n';
      text += line.substr(1);
    }
  }
  return cases;
}

std::vector<std::string> split(const std::string& s) {
  std::vector<std::string> parts;
  std::istringstream in(s);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

std::string unhex(const std::string& hex) {
  std::string bytes;
  if (hex == ".") return bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

Tensor tensor_of(const Case& c) {
  std::vector<int64_t> dims;
  if (c.shape != "-")
    for (const std::string& d : split(c.shape)) dims.push_back(std::stoll(d));
  Tensor t(dtype_from_name(c.dtype), Shape(dims));
  if (t.dtype() == DType::kString) {
    const std::vector<std::string> words = split(c.data);
    for (int64_t i = 0; i < t.num_elements(); ++i)
      t.data<std::string>()[i] = unhex(words[i % words.size()]);
  } else {
    const std::string bytes = unhex(c.data);
    for (size_t i = 0; i < t.bytes(); ++i) t.data<char>()[i] = bytes[i % bytes.size()];
  }
  return t;
}

TEST(PrintTest, PrintsEveryGoldenArrayAsNumPyDoes) {
  const std::vector<Case> cases = golden_cases();
  ASSERT_GT(cases.size(), 2000u);
  int wrong = 0;
  for (const Case& c : cases) {
    const std::string text = tensor_of(c).str();
    if (text == c.text) continue;
    if (++wrong <= 10)
      ADD_FAILURE() << c.dtype << " " << c.shape << " " << c.data.substr(0, 60) << "\nNumPy:\n"
                    << c.text << "\nours:\n"
                    << text;
  }
  EXPECT_EQ(wrong, 0) << "of " << cases.size();
}

TEST(PrintTest, PrintsAProductOfMatrices) {
  EXPECT_EQ(Tensor::of<float>({22, 28, 49, 64}, {2, 2}).str(), "[[22. 28.]\n [49. 64.]]");
}

TEST(PrintTest, StreamsTheSameText) {
  std::ostringstream out;
  out << Tensor::of<int32_t>({1, 20}, {2});
  EXPECT_EQ(out.str(), "[ 1 20]");
}

TEST(PrintTest, PrintsNoValueAndHandlesWithoutFailing) {
  EXPECT_EQ(Tensor().str(), "<no value>");
  ResourceHandle handle;
  handle.name = "v";
  handle.type_name = "Var";
  EXPECT_EQ(Tensor::scalar(handle).str(), "<Resource Var v>");
  EXPECT_EQ(Tensor(DType::kVariant, {1}).str(), "[<Variant empty>]");
}

TEST(PrintTest, SaysWhereATensorOfADeviceIs) {
  char memory[8];
  auto* device = reinterpret_cast<Device*>(memory);  // never looked into
  const Tensor t(DType::kFloat, {2}, BufferPtr(new Buffer(memory, 8, device)));
  EXPECT_EQ(t.str(), "<float32 [2] in a device's memory>");
}

}  // namespace
}  // namespace emplace
