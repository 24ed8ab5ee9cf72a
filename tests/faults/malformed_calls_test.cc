// Calls of raw ops that make no sense: each gives an answer or an Error, never a crash, a hang or
// memory beyond all measure. EMPLACE_MALFORMED_SEED=n and EMPLACE_MALFORMED_OP=Name repeat a part.
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <random>

#include <gtest/gtest.h>

#include "emplace/eager.h"
#include "kernel/kernel.h"
#include "op/shape_context.h"
#include "session/runtime.h"

namespace emplace {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

char current_call[4096] = "none";  // shown should the process die

void tell(int signal) {
  std::fprintf(stderr, "signal %d in %s\n", signal, current_call);
  std::_Exit(128 + signal);
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }

  // Small and likely ones, then the edges.
  int64_t number() {
    if (chance(75)) return below(8) - 2;
    std::vector<int64_t> edges = {-1, 0, 127, 255, 1000, -1000, INT32_MIN, INT64_MIN,
                                  -(int64_t{1} << 40)};
    // A sanitizer's allocator gives gigabytes, or ends the process, where ours says no.
    if (!kSanitized)
      edges.insert(edges.end(), {1 << 20, INT32_MAX, int64_t{1} << 33, int64_t{1} << 40,
                                 int64_t{1} << 62, INT64_MAX});
    return one_of(edges);
  }
  double real() {
    if (chance(70)) return static_cast<double>(below(200) - 100) / 16;
    return one_of(std::vector<double>{NAN, INFINITY, -INFINITY, 1e300, -1e300, 0, -0.0, 1e-300});
  }
  std::string text() {
    return one_of(std::vector<std::string>{
        "", "a", "ab,bc->ac", "ij,jk->ik", "...", "->", "SAME", "VALID", "NHWC", "3.5", "-7", "(",
        "%s", "\xff\xfe", std::string("\0x", 2), "hello world", "UTF-8", std::string(300, 'x')});
  }
  Shape shape() {
    Shape s;
    const int64_t rank = chance(97) ? below(5) : below(9);
    for (int64_t i = 0; i < rank; ++i) s.push_back(chance(88) ? 1 + below(4) : 0);
    return s;
  }

  Tensor tensor(DType dtype, const Shape& s) {
    Tensor t(dtype, s);
    for (int64_t i = 0; i < t.num_elements(); ++i) put(t, i);
    return t;
  }

 private:
  void put(Tensor& t, int64_t i) {
    switch (t.dtype()) {
      case DType::kFloat: t.data<float>()[i] = static_cast<float>(real()); break;
      case DType::kDouble: t.data<double>()[i] = real(); break;
      case DType::kHalf: t.data<Half>()[i] = Half(static_cast<float>(real())); break;
      case DType::kBfloat16: t.data<Bfloat16>()[i] = Bfloat16(static_cast<float>(real())); break;
      case DType::kComplex64:
        t.data<Complex64>()[i] = {static_cast<float>(real()), static_cast<float>(real())};
        break;
      case DType::kComplex128: t.data<Complex128>()[i] = {real(), real()}; break;
      case DType::kBool: t.data<bool>()[i] = chance(50); break;
      case DType::kString: t.data<std::string>()[i] = text(); break;
      case DType::kResource:
      case DType::kVariant: break;  // empty
      default: {
        const int64_t v = number();
        std::memcpy(static_cast<char*>(t.raw()) + i * static_cast<int64_t>(dtype_size(t.dtype())),
                    &v, dtype_size(t.dtype()));
      }
    }
  }

  std::mt19937_64 random_;
};

struct Call {
  std::vector<Tensor> inputs;
  AttrList attrs;
};

class Calls {
 public:
  Calls(Generator& g, Eager& eager) : g_(g), eager_(eager) {}

  Call make(const OpDef& op) {
    Call c;
    choose_types(op, c.attrs);
    for (const AttrDef& a : op.attrs)
      if (!find_attr(c.attrs, a.name) && (!a.default_value.is_set() || g_.chance(40)))
        if (AttrValue v = value_of(a); v.is_set()) set_attr(c.attrs, a.name, std::move(v));
    const Shape common = g_.shape();
    const bool alike = g_.chance(40);
    for (const ArgDef& arg : op.inputs)
      for (DType t : types_of(arg, c.attrs))
        c.inputs.push_back(input(t, alike && g_.chance(85) ? common : g_.shape()));
    if (g_.chance(2) && !c.inputs.empty()) c.inputs.pop_back();
    return c;
  }

 private:
  // A combination of dtypes that some kernel takes, most of the time.
  void choose_types(const OpDef& op, AttrList& attrs) {
    const auto rows = kernel_table({}).rows(op.name);
    if (rows.empty() || g_.chance(5)) return;
    const KernelRow& row = rows[static_cast<size_t>(g_.below(static_cast<int64_t>(rows.size())))];
    for (const TypeConstraint& c : row.types)
      if (const AttrDef* a = op.find_attr(c.attr); a && !a->is_list && !c.allowed.empty())
        set_attr(attrs, c.attr, g_.one_of(c.allowed));
  }

  AttrValue value_of(const AttrDef& a) {
    if (a.is_list) return list_of(a);
    switch (a.type) {
      case AttrType::kInt: {
        const int64_t n = g_.chance(60) && a.minimum ? *a.minimum + g_.below(4) : g_.number();
        return is_length(a.name) ? std::min<int64_t>(n, 4) : n;
      }
      case AttrType::kBool: return g_.chance(50);
      case AttrType::kFloat: return static_cast<float>(g_.real());
      case AttrType::kString:
        return a.allowed_strings.empty() || g_.chance(5) ? g_.text() : g_.one_of(a.allowed_strings);
      case AttrType::kType:
        return a.allowed_types.empty() ? any_type() : g_.one_of(a.allowed_types);
      case AttrType::kShape: return g_.chance(80) ? g_.shape() : Shape::unknown();
      case AttrType::kTensor: return g_.tensor(any_type(), g_.shape());
      case AttrType::kFunc: break;
    }
    return {};
  }
  AttrValue list_of(const AttrDef& a) {
    const int64_t n = g_.below(6);
    switch (a.type) {
      case AttrType::kInt: return many<int64_t>(n, [&] { return g_.number(); });
      case AttrType::kFloat: return many<float>(n, [&] { return static_cast<float>(g_.real()); });
      case AttrType::kString: return many<std::string>(n, [&] { return g_.text(); });
      case AttrType::kType:
        return many<DType>(n, [&] {
          return a.allowed_types.empty() ? any_type() : g_.one_of(a.allowed_types);
        });
      case AttrType::kShape: return many<Shape>(n, [&] { return g_.shape(); });
      case AttrType::kBool: return many<bool>(n, [&] { return g_.chance(50); });
      default: return {};
    }
  }
  template <class T, class F>
  std::vector<T> many(int64_t n, F&& f) {
    std::vector<T> list;
    for (int64_t i = 0; i < n; ++i) list.push_back(f());
    return list;
  }
  // Lengths of lists of tensors, which this program has to make.
  static bool is_length(const std::string& name) {
    return name == "N" || name.starts_with("num_") || name == "num";
  }
  DType any_type() {
    using enum DType;
    return g_.one_of(std::vector{kFloat, kDouble, kInt32, kInt64, kString, kBool, kComplex64, kHalf,
                                 kUint8, kInt8});
  }

  std::vector<DType> types_of(const ArgDef& arg, AttrList& attrs) {
    if (!arg.type_list_attr.empty()) {
      const AttrValue* v = find_attr(attrs, arg.type_list_attr);
      return v && v->is<std::vector<DType>>() ? v->as<std::vector<DType>>() : std::vector<DType>{};
    }
    DType t = arg.type;
    if (!arg.type_attr.empty()) {
      const AttrValue* v = find_attr(attrs, arg.type_attr);
      t = v && v->is<DType>() ? v->as<DType>() : DType::kFloat;
    }
    int64_t n = 1;
    if (!arg.number_attr.empty()) {
      const AttrValue* v = find_attr(attrs, arg.number_attr);
      n = v && v->is<int64_t>() ? std::clamp<int64_t>(v->as<int64_t>(), 0, 4) : 2;
    }
    return std::vector<DType>(static_cast<size_t>(n), t);
  }

  Tensor input(DType t, const Shape& s) {
    if (t != DType::kResource || g_.chance(5)) return g_.tensor(t, s);
    static int number = 0;
    const DType held = g_.chance(70) ? DType::kFloat : any_type();
    const AttrList attrs = {{"dtype", held}, {"shape", s},
                            {"shared_name", "malformed" + std::to_string(number++ % 50)}};
    try {
      Tensor handle = eager_.execute("VarHandleOp", {}, attrs)[0];
      const Tensor both[] = {handle, g_.tensor(held, s)};
      if (g_.chance(95)) eager_.execute("AssignVariableOp", both, {{"dtype", held}});
      return handle;
    } catch (const Error&) {  // another one of that name has another dtype
      return g_.tensor(t, s);
    }
  }

  Generator& g_;
  Eager& eager_;
};

// Asks the shape rule, with some shapes and values unknown. True when it was reached.
bool ask_rule(const OpDef& op, const Call& call, Generator& g, int* errors) {
  std::vector<DType> types;
  for (const Tensor& t : call.inputs) types.push_back(t.dtype());
  AttrList attrs;
  int outputs;
  try {
    attrs = complete_attrs(op, types, call.attrs);
    if (input_types(op, attrs).size() != call.inputs.size()) return false;
    outputs = static_cast<int>(output_types(op, attrs).size());
  } catch (const Error&) {
    return false;
  }
  std::vector<ShapeContext::Input> inputs(call.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].dtype = types[i];
    if (g.chance(80)) inputs[i].shape = call.inputs[i].shape();
    if (g.chance(60) && is_plain(types[i]) && inputs[i].shape.has_rank())
      inputs[i].value = &call.inputs[i];
  }
  try {
    ShapeContext context(op, attrs, inputs, outputs);
    if (op.shape_rule) op.shape_rule(context);
  } catch (const Error&) {
    ++*errors;
  }
  return true;
}

// Ops that would leave this test: they write files, print, end the process or wait for others.
bool left_out(const OpDef& op) {
  for (const char* word : {"Print", "Save", "Write", "Abort", "Summary", "Queue", "Barrier",
                           "Merge", "Restore", "_Send", "_Recv", "Reader", "File", "Delete",
                           // parts of loops and branches, which no one calls
                           "Switch", "Enter", "Exit", "NextIteration", "LoopCond"})
    if (op.name.find(word) != std::string::npos) return true;
  for (const KernelRow& row : kernel_table({}).rows(op.name))
    if (row.traits.blocks) return true;
  for (const AttrDef& a : op.attrs)
    if (a.type == AttrType::kFunc) return true;
  return op.name.starts_with("_");
}

std::vector<const OpDef*> ops_under_test() {
  const char* only = std::getenv("EMPLACE_MALFORMED_OP");
  std::vector<const OpDef*> ops;
  for (const OpDef* op : op_catalogue().all())
    if (only ? op->name == only : !left_out(*op)) ops.push_back(op);
  return ops;
}

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// No more than this much memory on top of what the process has: what asks for more is refused.
void limit_memory(int64_t bytes) {
  if (kSanitized) return;
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages;
  const auto limit = static_cast<rlim_t>(pages * 4096 + bytes);
  const rlimit wanted{limit, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &wanted);
}

TEST(MalformedCalls, GiveAnAnswerOrAnError) {
  for (int s : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) std::signal(s, tell);
  const char* seed = std::getenv("EMPLACE_MALFORMED_SEED");
  Generator g(seed ? std::strtoull(seed, nullptr, 10) : 1);
  SessionOptions options;
  options.intra_op_parallelism_threads = 1;
  Eager eager(options);
  Calls calls(g, eager);
  const auto ops = ops_under_test();
  ASSERT_FALSE(ops.empty());
  const bool full = std::getenv("EMPLACE_TEST_FULL") != nullptr;
  const int wanted = full && !kSanitized ? 100'000 : kSanitized ? 4'000 : 10'000;
  limit_memory(int64_t{96} << 20);
  const int64_t before = peak_kib();
  int reached = 0, answers = 0, rule_errors = 0;
  for (int i = 0; i < wanted; ++i) {
    const OpDef& op = *ops[static_cast<size_t>(i) % ops.size()];
    const Call call = calls.make(op);
    std::string text = "call " + std::to_string(i) + ": " + op.name;
    for (const Tensor& t : call.inputs)
      text += " " + std::string(dtype_name(t.dtype())) + t.shape().str() + "=" + t.summary(6);
    for (const auto& [name, value] : call.attrs) text += " " + name + "=" + value.str();
    std::snprintf(current_call, sizeof current_call, "%s", text.c_str());
    try {
      reached += ask_rule(op, call, g, &rule_errors);
      eager.execute(op.name, call.inputs, call.attrs);
      ++answers;
    } catch (const Error& e) {
      EXPECT_NE(e.code(), Code::kOk);
      // TensorFlow's class and words for an optimizer's variable that has no value.
      const bool valueless =
          std::string_view(e.what()).find("Invalid variable reference.") != std::string_view::npos;
      EXPECT_TRUE(valueless || e.code() != Code::kInternal) << text << "\n" << e.what();
    } catch (const std::exception& e) {
      ADD_FAILURE() << text << "\n" << e.what();
    }
    if (!kSanitized) {  // nothing limits memory there
      ASSERT_LT(peak_kib() - before, 1 << 20) << text;
    }
  }
  EXPECT_GE(reached, wanted / 2);
  EXPECT_GE(answers, wanted / 50);
  std::printf("%d calls, %d reached a rule, which refused %d; %d answers\n", wanted, reached,
              rule_errors, answers);
}

}  // namespace
}  // namespace emplace
