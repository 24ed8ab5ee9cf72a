#include "cluster/socket/link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <utility>

namespace emplace::cluster {
namespace {

struct Receiver final : Link::Owner {
  void expect(size_t messages) override {
    const std::lock_guard lock(mutex);
    expected += messages;
  }
  void message(Message m) override {
    const std::lock_guard lock(mutex);
    sizes.push_back(m.body.size());
    changed.notify_all();
  }
  void lost(const Error&) override {
    const std::lock_guard lock(mutex);
    expected_before_loss = expected;
    is_lost = true;
    changed.notify_all();
  }
  bool awaits() override { return false; }
  void wait_for(const std::vector<size_t>& wanted) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return sizes == wanted; });
  }
  void wait_until_lost() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_lost; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<size_t> sizes;
  size_t expected = 0, expected_before_loss = 0;
  bool is_lost = false;
};

// Calls `asked` when its descriptor is asked for first: while its connection starts.
class AskedStream final : public Stream {
 public:
  AskedStream(std::unique_ptr<Stream> of, std::function<void()> asked)
      : of_(std::move(of)), asked_(std::move(asked)) {}
  int fd() const override {
    if (const auto asked = std::exchange(asked_, nullptr)) asked();
    return of_->fd();
  }
  ssize_t read(void* to, size_t size) override { return of_->read(to, size); }
  ssize_t write(std::span<const iovec> from) override { return of_->write(from); }

 private:
  const std::unique_ptr<Stream> of_;
  mutable std::function<void()> asked_;
};

// Gives nothing to read until it is opened.
class ClosedStream final : public Stream {
 public:
  ClosedStream(std::unique_ptr<Stream> of, const std::atomic<bool>& open)
      : of_(std::move(of)), open_(open) {}
  int fd() const override { return of_->fd(); }
  ssize_t read(void* to, size_t size) override { return open_ ? of_->read(to, size) : kNotNow; }
  ssize_t write(std::span<const iovec> from) override { return of_->write(from); }

 private:
  const std::unique_ptr<Stream> of_;
  const std::atomic<bool>& open_;
};

// Two ends of a way over which long values go in pieces, over connections that come later.
class LinkTest : public ::testing::Test {
 protected:
  LinkTest() {
    auto [ours, theirs] = connected();
    sender->start(std::move(ours), [] {});
    receiver->start(std::move(theirs));
  }
  ~LinkTest() override {
    sender->close(broken_connection("over"));
    receiver->close(broken_connection("over"));
  }
  static std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> connected() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    return {plain_stream(Fd(ends[0])), plain_stream(Fd(ends[1]))};
  }
  std::shared_ptr<OutgoingCall> send(size_t size, std::function<void(bool)> sent = nullptr) {
    Bytes body;
    body.add(std::string(size, 'x'));
    return sender->send({FrameKind::kPost, 0, 1, std::move(body)}, std::move(sent));
  }

  const Link::Limits limits{size_t{1} << 31, false};
  const std::shared_ptr<Receiver> owner = std::make_shared<Receiver>();
  const std::shared_ptr<Link> sender = std::make_shared<Link>(limits, owner);
  const std::shared_ptr<Link> receiver = std::make_shared<Link>(limits, owner);
};

TEST_F(LinkTest, SendsWhatComesWhileAConnectionStarts) {
  std::promise<bool> sent;
  auto [ours, theirs] = connected();
  receiver->add(std::move(theirs));
  sender->add(std::make_unique<AskedStream>(
      std::move(ours), [&] { send(5'000'000, [&](bool well) { sent.set_value(well); }); }));
  EXPECT_TRUE(sent.get_future().get());
  owner->wait_for({5'000'000});
}

TEST_F(LinkTest, GoesOnWithWhatWaitsBehindAWithdrawnValue) {
  auto [ours, theirs] = connected();
  sender->add(std::move(ours));
  const auto withdrawn =
      send(30'000'000);  // nobody reads the other end: its pieces fill the connection
  send(2'000'000);
  withdrawn->cancel();
  receiver->add(std::move(theirs));
  owner->wait_for({2'000'000});
}

// A task that has done its last step says what it has to say, and goes.
class LastWords : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    speaker->start(plain_stream(Fd(ends[0])));
    listener->start(std::make_unique<ClosedStream>(plain_stream(Fd(ends[1])), open));
  }
  void speak(size_t size) {
    std::promise<bool> sent;
    Bytes body;
    body.add(std::string(size, 'x'));
    speaker->send({FrameKind::kPost, 0, 1, std::move(body)},
                  [&](bool well) { sent.set_value(well); });
    ASSERT_TRUE(sent.get_future().get());
    speaker->close(broken_connection("over"));
  }

  std::atomic<bool> open{false};
  const Link::Limits limits{size_t{1} << 31, false};
  const std::shared_ptr<Receiver> none = std::make_shared<Receiver>(),
                                  heard = std::make_shared<Receiver>();
  const std::shared_ptr<Link> speaker = std::make_shared<Link>(limits, none);
  const std::shared_ptr<Link> listener = std::make_shared<Link>(limits, heard);
};

TEST_F(LastWords, AreHeardByWhoseOwnAnswerFindsNobody) {
  speak(10'000);
  std::promise<bool> sent;
  listener->send({FrameKind::kPost, 0, 2, Bytes("too late")},
                 [&](bool well) { sent.set_value(well); });
  open = true;
  EXPECT_FALSE(sent.get_future().get());
  heard->wait_until_lost();
  EXPECT_EQ(heard->expected_before_loss, 1u);
}

TEST_F(LastWords, AreHeardWithTheEnd) {
  speak(100'000);
  open = true;
  heard->wait_until_lost();
  EXPECT_EQ(heard->expected_before_loss, 1u);
  heard->wait_for({100'000});
}

}  // namespace
}  // namespace emplace::cluster
