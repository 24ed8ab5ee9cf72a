#pragma once
#include <memory>

#include "cluster/secure.h"
#include "cluster/tls/openssl.h"

namespace emplace::cluster {

enum class Side { kClient, kServer };

// TLS over another stream. `context` says who we are and whom we believe; it must live longer.
std::unique_ptr<SecureStream> tls_stream(SSL_CTX* context, std::unique_ptr<Stream> under, Side side);

// Whose a certificate is; kAnyone when it does not say.
Caller owner_of(const X509* certificate);

}  // namespace emplace::cluster
