#include "cluster/tls/identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cluster/tls/authority.h"
#include "cluster/tls/tls_stream.h"

namespace emplace::cluster {
namespace {

// What is spoken inside, in the order of our liking: Emplace's own, gRPC's.
constexpr unsigned char kSpoken[] = "\x09" "emplace/1" "\x02" "h2";
constexpr unsigned char kOwn[] = "\x09" "emplace/1";

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                    unsigned int in_size, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, kSpoken, sizeof kSpoken - 1, in, in_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

class TlsIdentity final : public Identity {
 public:
  TlsIdentity(std::string folder, std::string token)
      : folder_(std::move(folder)), token_(std::move(token)), context_(SSL_CTX_new(TLS_method())) {
    if (!context_) throw internal_error("OpenSSL: " + openssl_reason());
    SSL_CTX* const c = context_.get();
    SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
    SSL_CTX_set_num_tickets(c, 0);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(c, 1);
    SSL_CTX_set_default_read_buffer_len(c, 128 << 10);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);  // a client may show a token instead
    SSL_CTX_set_alpn_select_cb(c, choose_protocol, nullptr);
    SSL_CTX_set_alpn_protos(c, kOwn, sizeof kOwn - 1);
    const std::string authority = folder_ + "/" + kAuthorityFile, own = folder_ + "/" + kOwnFile;
    authority_ = read_certificate(authority);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(c), authority_.get());
    if (access(own.c_str(), F_OK) == 0) read_own(own);
  }

  const Caller& own() const override { return own_; }
  const std::string& token() const override { return token_; }
  const std::string& folder() const override { return folder_; }
  std::unique_ptr<SecureStream> as_client(std::unique_ptr<Stream> plain) override {
    return tls_stream(context_.get(), std::move(plain), Side::kClient);
  }
  std::unique_ptr<SecureStream> as_server(std::unique_ptr<Stream> plain) override {
    return tls_stream(context_.get(), std::move(plain), Side::kServer);
  }
  std::string owner_of(std::string_view token) const override {
    return check_token(authority_.get(), token);
  }

 private:
  void read_own(const std::string& path) {
    const OwnCertificate certificate = read_certificate(path);
    const OwnKey key = read_key(path);
    if (X509_verify(certificate.get(), X509_get0_pubkey(authority_.get())) != 1) {
      ERR_clear_error();
      throw invalid_argument(fmt::format("{} is not signed by the authority beside it", path));
    }
    if (X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0)
      throw failed_precondition(fmt::format("The certificate in {} is out of date.", path));
    if (SSL_CTX_use_certificate(context_.get(), certificate.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1)
      throw invalid_argument(fmt::format("{}: {}", path, openssl_reason()));
    own_ = cluster::owner_of(certificate.get());
  }

  const std::string folder_, token_;
  const OwnContext context_;
  OwnCertificate authority_;
  Caller own_;
};

}  // namespace

std::shared_ptr<Identity> tls_identity(const std::string& folder, const std::string& token) {
  return std::make_shared<TlsIdentity>(folder, token);
}

}  // namespace emplace::cluster
