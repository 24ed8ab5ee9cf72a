#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "emplace/error.h"

// OpenSSL's objects with owners, and its errors as ours.
namespace emplace::cluster {

template <auto free_it>
struct Freed {
  template <class T>
  void operator()(T* p) const {
    free_it(p);
  }
};
inline void free_names(GENERAL_NAMES* names) { GENERAL_NAMES_free(names); }
using OwnKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using OwnCertificate = std::unique_ptr<X509, Freed<X509_free>>;
using OwnBio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using OwnContext = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using OwnSsl = std::unique_ptr<SSL, Freed<SSL_free>>;
using OwnNames = std::unique_ptr<GENERAL_NAMES, Freed<free_names>>;
using OwnDigest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;

// What OpenSSL's last call failed with.
inline std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const text = code ? ERR_reason_error_string(code) : nullptr;
  return text ? text : "for a reason that OpenSSL does not tell";
}

// Whose a certificate is stands in it as a URI: "emplace:task:/job:ps/replica:0/task:0",
// "emplace:client:alice".
inline constexpr std::string_view kTaskUri = "emplace:task:";
inline constexpr std::string_view kClientUri = "emplace:client:";

inline constexpr const char* kAuthorityFile = "authority.crt";
inline constexpr const char* kAuthorityKeyFile = "authority.key";
inline constexpr const char* kOwnFile = "own.pem";

}  // namespace emplace::cluster
