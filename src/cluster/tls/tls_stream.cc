#include "cluster/tls/tls_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>

namespace emplace::cluster {
namespace {

constexpr size_t kRecord = 16 << 10;  // TLS encrypts so much at a time

// OpenSSL's face of the stream below; errors must not be thrown through it.
struct Below {
  std::unique_ptr<Stream> stream;
  std::optional<Error> error;

  template <class F>
  int call(BIO* bio, F f) {
    BIO_clear_retry_flags(bio);
    try {
      return f();
    } catch (const Error& e) {
      error = e;
    } catch (const std::exception& e) {
      error = internal_error(e.what());
    }
    return -1;
  }
};

Below& below(BIO* bio) { return *static_cast<Below*>(BIO_get_data(bio)); }

int read_below(BIO* bio, char* to, int size) {
  return below(bio).call(bio, [&] {
    const ssize_t n = below(bio).stream->read(to, static_cast<size_t>(size));
    if (n == Stream::kNotNow) BIO_set_retry_read(bio);
    return static_cast<int>(n);
  });
}

int write_below(BIO* bio, const char* from, int size) {
  return below(bio).call(bio, [&] {
    const iovec piece{const_cast<char*>(from), static_cast<size_t>(size)};
    const ssize_t n = below(bio).stream->write({&piece, 1});
    if (n == Stream::kNotNow) BIO_set_retry_write(bio);
    return static_cast<int>(n);
  });
}

long control_below(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* method_below() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    BIO_meth_set_read(m, read_below);
    BIO_meth_set_write(m, write_below);
    BIO_meth_set_ctrl(m, control_below);
    return m;
  }();
  return method;
}

class TlsStream final : public SecureStream {
 public:
  TlsStream(SSL_CTX* context, std::unique_ptr<Stream> under, Side side) : ssl_(SSL_new(context)) {
    below_.stream = std::move(under);
    BIO* const bio = BIO_new(method_below());
    if (!ssl_ || !bio) throw resource_exhausted("no memory for an encrypted connection");
    BIO_set_data(bio, &below_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    if (side == Side::kServer) SSL_set_accept_state(ssl_.get());
    else SSL_set_connect_state(ssl_.get());
  }

  int fd() const override { return below_.stream->fd(); }
  const Caller& peer() const override { return peer_; }

  bool handshake() override {
    const std::lock_guard lock(mutex_);
    return is_made();
  }

  ssize_t read(void* to, size_t size) override {
    const std::lock_guard lock(mutex_);
    if (!is_made()) return kNotNow;
    ERR_clear_error();
    size_t n = 0;
    const bool well = SSL_read_ex(ssl_.get(), to, size, &n) == 1;
    more_ = well;
    if (well) return static_cast<ssize_t>(n);
    if (SSL_get_error(ssl_.get(), 0) == SSL_ERROR_ZERO_RETURN) return 0;
    return not_now();
  }

  // One record at a time, from memory of our own: what OpenSSL has begun must be offered to it again as
  // it was, while whoever called may change their mind.
  ssize_t write(std::span<const iovec> from) override {
    const std::lock_guard lock(mutex_);
    ssize_t written = 0;
    size_t piece = 0, at = 0;
    while (is_made() && flushed()) {
      filled_ = 0;
      while (piece < from.size() && filled_ < kRecord) {
        const size_t n = std::min(from[piece].iov_len - at, kRecord - filled_);
        std::memcpy(record_ + filled_, static_cast<const char*>(from[piece].iov_base) + at, n);
        filled_ += n;
        at += n;
        if (at == from[piece].iov_len) at = 0, ++piece;
      }
      if (filled_ == 0) break;
      written += static_cast<ssize_t>(filled_);
    }
    return written == 0 ? kNotNow : written;
  }
  bool flush() override {
    const std::lock_guard lock(mutex_);
    return filled_ == 0 || (is_made() && flushed());
  }
  bool holds_more() const override { return more_; }

 private:
  bool is_made() {
    if (made_) return true;
    ERR_clear_error();
    if (SSL_do_handshake(ssl_.get()) != 1) return not_now() != kNotNow;
    const OwnCertificate shown(SSL_get1_peer_certificate(ssl_.get()));
    if (shown) peer_ = owner_of(shown.get());
    return made_ = true;
  }
  bool flushed() {
    while (sent_ < filled_) {
      ERR_clear_error();
      size_t n = 0;
      if (SSL_write_ex(ssl_.get(), record_ + sent_, filled_ - sent_, &n) != 1) return not_now() != kNotNow;
      sent_ += n;
    }
    sent_ = filled_ = 0;
    return true;
  }
  // After a call that did not do it.
  ssize_t not_now() {
    const int why = SSL_get_error(ssl_.get(), -1);
    if (!below_.error && (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)) return kNotNow;
    if (below_.error) throw *below_.error;
    const long distrust = SSL_get_verify_result(ssl_.get());
    if (!made_ && distrust != X509_V_OK)
      throw Error(Code::kPermissionDenied,
                  fmt::format("the other side's certificate is not trusted: {}",
                              X509_verify_cert_error_string(distrust)));
    const std::string reason = openssl_reason();
    // An alert is what the other side holds of us.
    if (reason.find("alert") != std::string::npos)
      throw Error(Code::kPermissionDenied, "the other side refuses us: " + reason);
    throw Error(Code::kUnavailable, "Socket closed: the connection is not what TLS would have it: " + reason);
  }

  Below below_;  // OpenSSL's objects use it
  std::mutex mutex_;
  const OwnSsl ssl_;
  Caller peer_;
  bool made_ = false;
  std::atomic<bool> more_{false};
  char record_[kRecord];
  size_t filled_ = 0, sent_ = 0;
};

}  // namespace

Caller owner_of(const X509* certificate) {
  const OwnNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const text = name->d.uniformResourceIdentifier;
    const std::string_view uri(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                               static_cast<size_t>(ASN1_STRING_length(text)));
    if (uri.starts_with(kTaskUri)) return {Caller::Kind::kTask, std::string(uri.substr(kTaskUri.size()))};
    if (uri.starts_with(kClientUri))
      return {Caller::Kind::kClient, std::string(uri.substr(kClientUri.size()))};
  }
  return {};
}

std::unique_ptr<SecureStream> tls_stream(SSL_CTX* context, std::unique_ptr<Stream> under, Side side) {
  return std::make_unique<TlsStream>(context, std::move(under), side);
}

}  // namespace emplace::cluster
