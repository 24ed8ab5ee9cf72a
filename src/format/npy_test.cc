#include "format/npy.h"

#include <gtest/gtest.h>

#include "emplace/error.h"

namespace emplace {
namespace {

std::string npy(const std::string& header, const std::string& data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size());
  out += static_cast<char>(header.size() >> 8);
  return out + header + data;
}

std::string refusal(const std::string& bytes) {
  try {
    parse_npy(bytes);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    return e.message();
  }
  return "";
}

TEST(Npy, WhatIsWrittenIsRead) {
  const Tensor a = Tensor::of({1.5f, -2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  const Tensor b = parse_npy(npy_bytes(a));
  EXPECT_EQ(b.dtype(), DType::kFloat);
  EXPECT_EQ(b.str(), a.str());
  for (const DType t : {DType::kInt8, DType::kUint16, DType::kInt64, DType::kHalf, DType::kBool,
                        DType::kComplex128, DType::kBfloat16}) {
    Tensor x(t, Shape{3, 0, 2});
    EXPECT_EQ(parse_npy(npy_bytes(x)).dtype(), t);
    EXPECT_EQ(parse_npy(npy_bytes(x)).shape().str(), "[3,0,2]");
  }
}

TEST(Npy, TheDataBeginsAtAMultipleOf64) {
  const std::string bytes = npy_bytes(Tensor::scalar(int64_t{7}));
  EXPECT_EQ(bytes.size() % 64, 8u);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
}

TEST(Npy, TextsAreFixedWidthArrays) {
  const Tensor t = Tensor::of<std::string>({"a", "", "longer"}, {3});
  const std::string bytes = npy_bytes(t);
  EXPECT_NE(bytes.find("'|S6'"), std::string::npos);
  const Tensor back = parse_npy(bytes);
  EXPECT_EQ(back.values<std::string>()[2], "longer");
  EXPECT_EQ(back.values<std::string>()[1], "");
}

TEST(Npy, UnicodeTextsBecomeUtf8) {
  const std::string data("\xe9\x00\x00\x00\x00\x00\x00\x00", 8);
  const Tensor t =
      parse_npy(npy("{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }", data));
  EXPECT_EQ(t.values<std::string>()[0], "\xc3\xa9");
}

TEST(Npy, TextsOfNoLettersAreEmpty) {
  for (const char* kind : {"<U0", "|S0"}) {
    const Tensor t = parse_npy(npy(std::string("{'descr': '") + kind +
                                       "', 'fortran_order': False, 'shape': (2,), }", ""));
    EXPECT_EQ(t.shape().str(), "[2]");
    EXPECT_EQ(t.data<std::string>()[1], "");
  }
}

TEST(Npy, ColumnsFirstAndBigEndianAreTurned) {
  const std::string data("\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  const Tensor t =
      parse_npy(npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", data));
  EXPECT_EQ(t.str(), "[[1 3 5]\n [2 4 6]]");
}

TEST(Npy, WhatIsNoArrayIsRefused) {
  EXPECT_NE(refusal("").find("does not begin"), std::string::npos);
  EXPECT_NE(refusal(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "xxxxxxxx"))
                .find("Python objects"), std::string::npos);
  EXPECT_NE(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "1234"))
                .find("needs more than the 4 bytes"), std::string::npos);
  EXPECT_NE(refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, "
                        "1000000000), }", "")), "");
  EXPECT_NE(refusal(npy("{'descr': '<f4', 'fortran_order': False}", "")), "");
  EXPECT_NE(refusal(npy("{'descr': '<x4", "")), "");
}

TEST(Npz, HoldsEachNameOnce) {
  const std::pair<std::string, Tensor> arrays[] = {{"a/b:0", Tensor::scalar(1.f)},
                                                   {"a/b:0", Tensor::scalar(1.f)}};
  const std::string bytes = npz_bytes(arrays);
  EXPECT_EQ(bytes.substr(0, 4), "PK\3\4");
  const size_t first = bytes.find("a/b:0.npy");
  const size_t second = bytes.find("a/b:0.npy", first + 1);  // in the directory
  EXPECT_NE(second, std::string::npos);
  EXPECT_EQ(bytes.find("a/b:0.npy", second + 1), std::string::npos);
}

}  // namespace
}  // namespace emplace
