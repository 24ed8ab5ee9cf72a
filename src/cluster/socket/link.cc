#include "cluster/socket/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace emplace::cluster {
namespace {

constexpr size_t kTransfer = size_t{1} << 20;  // from here on a value goes in pieces
constexpr int kPieces = 2;                     // of a connection's, at a time
constexpr size_t kMostIncomplete = 4'096;      // messages
constexpr int kAskAfter = 6, kSilent = 18;     // beats: 3 s and 9 s

std::string bytes_of(const FrameHead& head, std::span<const PartHead> parts, size_t text) {
  std::string all;
  all.reserve(sizeof head + parts.size_bytes() + text);
  all.append(reinterpret_cast<const char*>(&head), sizeof head);
  all.append(reinterpret_cast<const char*>(parts.data()), parts.size_bytes());
  return all;
}

}  // namespace

// One message on its way out: over when its frame and all its values are.
class Link::Sending final : public OutgoingCall, public std::enable_shared_from_this<Sending> {
 public:
  Sending(std::weak_ptr<Link> link, std::function<void(bool)> sent)
      : link_(std::move(link)), sent_(std::move(sent)) {}
  void expect(size_t count) { left_ += count; }
  void one(bool well) {
    if (!well) well_ = false;
    if (--left_ == 0 && sent_) sent_(well_);
  }
  void cancel() override {
    if (const auto link = link_.lock()) link->withdraw(*this);
  }
  std::function<void(bool)> part() {
    return [self = shared_from_this()](bool well) { self->one(well); };
  }

 private:
  const std::weak_ptr<Link> link_;
  const std::function<void(bool)> sent_;
  std::atomic<size_t> left_{0};
  std::atomic<bool> well_{true};
};

struct Link::Out {
  uint64_t id = 0;
  Bytes::Piece piece;
  size_t next = 0;       // bytes handed to connections
  size_t under_way = 0;  // pieces that are not sent yet
  std::shared_ptr<Sending> of;
};

Link::Link(const Limits& limits, std::weak_ptr<Owner> owner)
    : limits_(limits), owner_(std::move(owner)), in_(limits.max_message) {}

Link::~Link() {
  const Error why = broken_connection("closed");
  if (messages_) messages_->close(why);
  for (const auto& [connection, pieces] : others_) connection->close(why);
}

void Link::start(std::unique_ptr<Stream> stream, std::function<void()> more) {
  more_ = std::move(more);
  shares_ = limits_.shared_memory && stream->gives_files();
  messages_ = std::make_shared<Connection>(std::move(stream), limits_.max_message, shared_from_this());
  Poller::get().on_beat(weak_from_this());
  messages_->start();
}

void Link::add(std::unique_ptr<Stream> stream) {
  auto connection =
      std::make_shared<Connection>(std::move(stream), limits_.max_message, shared_from_this());
  connection->start();  // before others may send by it: what waits for the socket must be watched
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    late = over_;
    if (!late) others_.emplace_back(connection, 0);
  }
  if (late) connection->close(broken_connection("closed"));
  pump();
}

// What waits for connections that can't be had goes over the one that there is.
void Link::no_more() {
  {
    const std::lock_guard lock(mutex_);
    if (!others_.empty()) return;
    others_.emplace_back(messages_, 0);
  }
  pump();
}

void Link::close(const Error& why) { messages_->close(why); }

// ---- Out.

void Link::control(FrameKind kind, uint64_t id, uint64_t size, int file) {
  const PartHead part{0, size, 0, Way::kSegment, 0};
  const bool sized = kind == FrameKind::kSegment;
  const FrameHead head{kind, 0, 0, sized ? 1u : 0u, id, 0};
  messages_->send({bytes_of(head, {&part, sized ? 1u : 0u}, 0), {}, nullptr, file, nullptr});
}

bool Link::add_shared(const Bytes::Piece& piece, PartHead& part) {
  if (!shares_) return false;
  const auto filled = shared_out_.fill(piece);
  if (!filled) return false;
  for (const uint64_t id : filled->forgotten) control(FrameKind::kForget, id);
  if (filled->file >= 0) control(FrameKind::kSegment, filled->segment, filled->capacity, filled->file);
  part.way = Way::kSegment;
  part.where = filled->segment;
  return true;
}

bool Link::wants_transfer(size_t size) {
  if (size < kTransfer) return false;
  std::function<void()> ask;
  {
    const std::lock_guard lock(mutex_);
    if (others_.empty() && !more_) return false;
    if (!std::exchange(asked_, true)) ask = more_;
  }
  if (ask) ask();
  return true;
}

std::shared_ptr<OutgoingCall> Link::send(Message message, std::function<void(bool)> sent) {
  auto sending = std::make_shared<Sending>(weak_from_this(), std::move(sent));
  sending->expect(1);
  std::string text;
  std::vector<PartHead> parts;
  Connection::Outgoing out{{}, {}, sending->part(), -1, sending.get()};
  for (const Bytes::Piece& piece : message.body.pieces()) {
    if (piece.size < kLargePiece || parts.size() == kMostParts) {
      text.append(piece.data, piece.size);
      continue;
    }
    PartHead part{text.size(), piece.size, 0, Way::kInline, 0};
    if (!add_shared(piece, part)) {
      if (wants_transfer(piece.size)) {
        auto value = std::make_shared<Out>();
        value->piece = piece;
        value->of = sending;
        sending->expect(1);
        const std::lock_guard lock(mutex_);
        part.way = Way::kTransfer;
        part.where = value->id = next_transfer_++;
        out_.emplace(value->id, std::move(value));
      } else {
        out.pieces.push_back(piece);
      }
    }
    parts.push_back(part);
  }
  const FrameHead head{message.kind, 0, message.number, static_cast<uint32_t>(parts.size()), message.id,
                       text.size()};
  out.first = bytes_of(head, parts, text.size()) + text;
  messages_->send(std::move(out));
  pump();
  return sending;
}

// Gives the connections for pieces something to do.
void Link::pump() {
  while (auto next = next_piece())
    if (next->write) next->connection->go_on(next->message);
}

// It is queued before anybody else may look: who withdraws its value finds it there.
std::optional<Link::NextPiece> Link::next_piece() {
  const std::lock_guard lock(mutex_);
  const auto free = std::ranges::min_element(others_, {}, [](const auto& o) { return o.second; });
  if (over_ || free == others_.end() || free->second >= kPieces) return {};
  const auto it = std::ranges::find_if(
      out_, [](const auto& o) { return o.second->next < o.second->piece.size; });
  if (it == out_.end()) return {};
  const std::shared_ptr<Out> value = it->second;
  const size_t size = std::min(kTransferPiece, value->piece.size - value->next);
  const PartHead part{value->next, size, value->piece.size, Way::kInline, 0};
  const FrameHead head{FrameKind::kPiece, 0, 0, 1, value->id, 0};
  Connection::Outgoing piece{bytes_of(head, {&part, 1}, 0),
                             {{value->piece.data + value->next, size, value->piece.owner}},
                             nullptr, -1, value->of.get()};
  value->next += size;
  ++value->under_way;
  ++free->second;
  piece.sent = [link = weak_from_this(), connection = free->first.get(), value](bool well) {
    const auto self = link.lock();
    bool over = !self;
    if (self) {
      const std::lock_guard inner(self->mutex_);
      for (auto& [c, pieces] : self->others_)
        if (c.get() == connection) --pieces;
      over = --value->under_way == 0 && value->next == value->piece.size;
      if (over) self->out_.erase(value->id);
    }
    if (over) value->of->one(well);
    if (self && well) self->pump();
  };
  const bool write = free->first->queue(piece);
  return NextPiece{free->first, std::move(piece), write};
}

// Nothing of it is read afterwards.
void Link::withdraw(Sending& sending) {
  std::vector<uint64_t> abandoned;
  std::vector<std::shared_ptr<Out>> ended;
  std::vector<std::shared_ptr<Connection>> connections{messages_};
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, value] : out_)
      if (value->of.get() == &sending && value->next < value->piece.size) {
        value->next = value->piece.size;
        abandoned.push_back(id);
        if (value->under_way == 0) ended.push_back(value);
      }
    for (const auto& value : ended) out_.erase(value->id);
    for (const auto& [c, pieces] : others_) connections.push_back(c);
  }
  for (const uint64_t id : abandoned) control(FrameKind::kAbandon, id);
  for (const auto& value : ended) value->of->one(false);
  for (const auto& c : connections) c->detach(&sending);
  pump();  // there is room for what waited behind it
}

// ---- In.

std::function<void()> Link::come(std::vector<Frame> frames) {
  std::vector<Message> messages;
  for (Frame& f : frames) come_one(std::move(f), messages);
  if (messages.empty()) return nullptr;
  if (const auto owner = owner_.lock()) owner->expect(messages.size());
  return [self = shared_from_this(), all = std::make_shared<std::vector<Message>>(std::move(messages))] {
    self->hand_over(std::move(*all));
  };
}

void Link::come_one(Frame f, std::vector<Message>& messages) {
  const uint64_t id = f.head.id;
  switch (f.head.kind) {
    case FrameKind::kPing: return control(FrameKind::kPong, id);
    case FrameKind::kPong: return;
    case FrameKind::kForget: return shared_in_.forget(id);
    case FrameKind::kRelease: return shared_out_.release(id);
    case FrameKind::kAbandon: return in_.abandon(id);
    case FrameKind::kPiece: {
      if (!in_.came(id, f.parts[0].size)) return;
      const std::lock_guard lock(mutex_);
      for (auto it = incomplete_.begin(); it != incomplete_.end(); ++it)
        if (complete(*it)) {
          messages.push_back(assembled(std::move(*it)));
          incomplete_.erase(it);
          return;
        }
      return;
    }
    case FrameKind::kSegment:
      if (!shares_ || f.parts.size() != 1) throw invalid_argument("shared memory came unasked");
      return shared_in_.add(id, std::move(f.file), f.parts[0].size);
    default: return come_message(std::move(f), messages);
  }
}

bool Link::complete(const Frame& f) {
  return std::ranges::all_of(f.parts, [&](const PartHead& p) {
    return p.way != Way::kTransfer || in_.complete(p.where);
  });
}

void Link::come_message(Frame f, std::vector<Message>& messages) {
  {
    const std::lock_guard lock(mutex_);  // no piece comes between the look and the waiting
    if (!complete(f)) {
      if (incomplete_.size() >= kMostIncomplete) throw resource_exhausted("too much is coming at once");
      incomplete_.push_back(std::move(f));
      return;
    }
  }
  messages.push_back(assembled(std::move(f)));
}

// The text with the parts where they belong.
Message Link::assembled(Frame f) {
  Message m{f.head.kind, f.head.number, f.head.id, {}};
  size_t at = 0, next = 0;
  const auto text_until = [&](size_t end) {
    m.body.add({f.text.data + at, end - at, f.text.owner});
    at = end;
  };
  for (const PartHead& p : f.parts) {
    text_until(p.at);
    if (p.way == Way::kInline) m.body.add(std::move(f.contents[next++]));
    else m.body.add(p.way == Way::kTransfer ? in_.take(p.where, p.size) : shared_piece(p));
  }
  text_until(f.text.size);
  return m;
}

Bytes::Piece Link::shared_piece(const PartHead& p) {
  return shared_in_.piece(p.where, p.size, [link = weak_from_this(), id = p.where] {
    if (const auto self = link.lock()) self->control(FrameKind::kRelease, id);
  });
}

// Whoever is called may wait for what comes behind: so each but the last has a thread of its own.
void Link::hand_over(std::vector<Message> messages) {
  const auto owner = owner_.lock();
  if (!owner) return;
  std::vector<Message*> calls;
  for (Message& m : messages)
    if (m.kind == FrameKind::kCall || m.kind == FrameKind::kPost) calls.push_back(&m);
    else owner->message(std::move(m));
  for (size_t i = 0; i + 1 < calls.size(); ++i)
    Poller::get().run([owner, m = std::make_shared<Message>(std::move(*calls[i]))] {
      owner->message(std::move(*m));
    });
  if (!calls.empty()) owner->message(std::move(*calls.back()));
}

// ---- Ends.

void Link::beat() {
  const auto owner = owner_.lock();
  if (over_ || !owner || !owner->awaits()) return;
  const int silence = messages_->silence();
  if (silence == kAskAfter) control(FrameKind::kPing, 0);
  if (silence >= kSilent) close(broken_connection("nothing has come for 9 seconds"));
}

void Link::lost(Connection&, const Error& why) {
  if (over_.exchange(true)) return;
  std::vector<std::pair<std::shared_ptr<Connection>, int>> others;
  std::map<uint64_t, std::shared_ptr<Out>> out;
  {
    const std::lock_guard lock(mutex_);
    others.swap(others_);
    out.swap(out_);
    for (const auto& [id, value] : out) value->next = value->piece.size;
    incomplete_.clear();
    more_ = nullptr;
  }
  messages_->close(why);
  for (const auto& [connection, pieces] : others) connection->close(why);
  for (const auto& [id, value] : out)
    if (value->under_way == 0) value->of->one(false);
  if (const auto owner = owner_.lock()) owner->lost(why);
}

}  // namespace emplace::cluster
