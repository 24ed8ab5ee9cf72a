#include "all/session_fixture.h"
#include "emplace/contract.h"

namespace emplace {
namespace {

class SessionContracts : public testing::SessionFixture {
 protected:
  Output two_towers() {
    const Scope gpu = graph.device("/gpu:0");
    const Output a = constant({1.f, 2.f}, {2});
    const Scope cpu = graph.device("/cpu:0");
    const Scope named = graph.name_scope("tower");
    return identity(a);
  }
};

TEST_F(SessionContracts, RefuseASignatureWithAllThatIsWrong) {
  const Output b = two_towers();
  auto s = session(gpus(1));
  s->run(b);  // what is planned already stays
  require(*s, {.device = "/gpu:*", .ops = "tower/**"});
  require(*s, {.ops = "tower/**", .max_copies = 0});
  const Output c = identity(b);
  const Error e = error_of([&] { s->run(c); });
  EXPECT_EQ(e.code(), Code::kFailedPrecondition);
  EXPECT_NE(e.message().find("tower/Identity (Identity) on /job:localhost/replica:0/task:0/device:"
                             "CPU:0: must be on /gpu:*: pinned"),
            std::string::npos) << e.message();
  EXPECT_NE(e.message().find("2 copies a step, 0 allowed"), std::string::npos) << e.message();
  EXPECT_NE(e.message().find("contracts_test.cc:"), std::string::npos) << e.message();
  EXPECT_EQ(s->run(b).str(), "[1. 2.]");
}

TEST_F(SessionContracts, AreMetInSilence) {
  const Output b = two_towers();
  auto s = session(gpus(1));
  require(*s, {.device = "/cpu:*", .ops = "tower/**", .max_copies = 1, .max_copied_bytes = 8});
  EXPECT_EQ(s->run(b).str(), "[1. 2.]");
}

TEST_F(SessionContracts, NameADeviceThatThereCanBe) {
  auto s = session();
  EXPECT_EQ(error_of([&] { require(*s, {.device = "gpu"}); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace emplace
