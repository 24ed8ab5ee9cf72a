#include "cluster/tls/authority.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace emplace::cluster {
namespace {

namespace fs = std::filesystem;

constexpr int kAuthorityDays = 3650;
constexpr long kSecondsADay = 86'400;

[[noreturn]] void failed(const std::string& what) {
  throw internal_error(fmt::format("{}: {}", what, openssl_reason()));
}

OwnBio file_to_read(const std::string& path) {
  OwnBio bio(BIO_new_file(path.c_str(), "r"));
  if (bio) return bio;
  ERR_clear_error();
  throw not_found(fmt::format("{}: {}", path, std::strerror(errno)));
}

// New, and nobody else's to read.
OwnBio file_to_write(const std::string& path, mode_t mode) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) throw failed_precondition(fmt::format("{}: {}", path, std::strerror(errno)));
  return OwnBio(BIO_new_fd(fd, BIO_CLOSE));
}

void write_certificate(BIO* to, X509* certificate) {
  if (PEM_write_bio_X509(to, certificate) != 1 || BIO_flush(to) != 1) failed("a certificate was not written");
}

void write_key(BIO* to, EVP_PKEY* key) {
  if (PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr) != 1 || BIO_flush(to) != 1)
    failed("a key was not written");
}

OwnKey new_key() {
  OwnKey key(EVP_EC_gen("P-256"));
  if (!key) failed("no key could be made");
  return key;
}

void extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const e = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
  if (!e) failed(value);
  X509_add_ext(certificate, e, -1);
  X509_EXTENSION_free(e);
}

// Not yet signed, nor issued by anyone.
OwnCertificate new_certificate(EVP_PKEY* key, const std::string& subject, int days) {
  OwnCertificate c(X509_new());
  std::unique_ptr<BIGNUM, Freed<BN_free>> serial(BN_new());
  if (!c || BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) != 1) failed("a certificate");
  X509_set_version(c.get(), X509_VERSION_3);
  BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(c.get()));
  X509_gmtime_adj(X509_getm_notBefore(c.get()), -300);  // clocks differ
  X509_gmtime_adj(X509_getm_notAfter(c.get()), days * kSecondsADay);
  X509_set_pubkey(c.get(), key);
  X509_NAME_add_entry_by_NID(X509_get_subject_name(c.get()), NID_commonName, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  return c;
}

void sign(X509* certificate, EVP_PKEY* key) {
  if (X509_sign(certificate, key, EVP_sha256()) == 0) failed("a certificate was not signed");
}

void make_authority(const fs::path& folder) {
  const OwnKey key = new_key();
  const OwnCertificate c = new_certificate(key.get(), "Emplace cluster authority", kAuthorityDays);
  X509_set_issuer_name(c.get(), X509_get_subject_name(c.get()));
  extend(c.get(), c.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  extend(c.get(), c.get(), NID_key_usage, "critical,keyCertSign,digitalSignature");
  extend(c.get(), c.get(), NID_subject_key_identifier, "hash");
  sign(c.get(), key.get());
  write_key(file_to_write(folder / kAuthorityKeyFile, 0600).get(), key.get());
  write_certificate(file_to_write(folder / kAuthorityFile, 0644).get(), c.get());
}

void make_own(const fs::path& authority, const fs::path& folder, const std::string& uri,
              const std::string& subject, const char* uses, int days) {
  const OwnCertificate issuer = read_certificate(authority / kAuthorityFile);
  const OwnKey issuing = read_key(authority / kAuthorityKeyFile);
  const OwnKey key = new_key();
  const OwnCertificate c = new_certificate(key.get(), subject, days);
  X509_set_issuer_name(c.get(), X509_get_subject_name(issuer.get()));
  extend(c.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  extend(c.get(), issuer.get(), NID_key_usage, "critical,digitalSignature");
  extend(c.get(), issuer.get(), NID_ext_key_usage, uses);
  extend(c.get(), issuer.get(), NID_subject_alt_name, "URI:" + uri);
  extend(c.get(), issuer.get(), NID_authority_key_identifier, "keyid");
  sign(c.get(), issuing.get());
  const OwnBio own = file_to_write(folder / kOwnFile, 0600);
  write_key(own.get(), key.get());
  write_certificate(own.get(), c.get());
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw failed_precondition(fmt::format("{}: {}", folder.string(), error.message()));
  chmod(folder.c_str(), 0700);
}

// Part of a path, of a URI and of a token.
void check_name(const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), plain))
    throw invalid_argument(fmt::format("'{}' is no name for a client: letters, digits, _ and -", name));
}

// ---- Tokens.

constexpr std::string_view kTokenKind = "emplace1";

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) << 4 | (digit(hex[i + 1]) & 15));
  return bytes;
}

[[noreturn]] void false_token(const char* why) {
  throw Error(Code::kPermissionDenied, fmt::format("the token is not good: {}", why));
}

}  // namespace

OwnCertificate read_certificate(const std::string& path) {
  OwnCertificate c(PEM_read_bio_X509(file_to_read(path).get(), nullptr, nullptr, nullptr));
  if (!c) throw invalid_argument(fmt::format("{} holds no certificate: {}", path, openssl_reason()));
  return c;
}

OwnKey read_key(const std::string& path) {
  OwnKey key(PEM_read_bio_PrivateKey(file_to_read(path).get(), nullptr, nullptr, nullptr));
  if (!key) throw invalid_argument(fmt::format("{} holds no key: {}", path, openssl_reason()));
  return key;
}

std::vector<std::string> make_keys(const KeyRequest& r) {
  const fs::path top(r.folder);
  std::vector<std::string> made;
  for (const std::string& client : r.clients) check_name(client);
  make_folder(top);
  if (!fs::exists(top / kAuthorityFile)) {
    make_authority(top);
    made.push_back(top.string());
  }
  const auto add = [&](const std::string& name, const std::string& uri, const std::string& subject,
                       const char* uses) {
    const fs::path folder = top / name;
    if (fs::exists(folder / kOwnFile)) return;
    make_folder(folder);
    make_own(top, folder, uri, subject, uses, r.days);
    fs::copy_file(top / kAuthorityFile, folder / kAuthorityFile, fs::copy_options::overwrite_existing);
    made.push_back(folder.string());
  };
  for (const std::string& task : r.tasks)
    add(key_folder(task), std::string(kTaskUri) + task, key_folder(task), "serverAuth,clientAuth");
  for (const std::string& client : r.clients)
    add("client-" + client, std::string(kClientUri) + client, client, "clientAuth");
  return made;
}

std::string make_token(const std::string& folder, const std::string& name, int days) {
  check_name(name);
  const OwnKey key = read_key(fs::path(folder) / kAuthorityKeyFile);
  const std::string text = fmt::format("{}.{}.{}", kTokenKind, name, time(nullptr) + days * kSecondsADay);
  const OwnDigest digest(EVP_MD_CTX_new());
  std::string signature(256, '\0');
  size_t size = signature.size();
  if (EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1)
    failed("a token was not signed");
  signature.resize(size);
  return text + "." + hex(signature);
}

std::string check_token(X509* authority, std::string_view token) {
  const size_t signature_at = token.rfind('.');
  const size_t until_at = signature_at == token.npos ? token.npos : token.rfind('.', signature_at - 1);
  if (!token.starts_with(std::string(kTokenKind) + ".") || until_at == token.npos ||
      until_at <= kTokenKind.size())
    false_token("it does not look like one");
  const std::string_view text = token.substr(0, signature_at);
  const std::string signature = bytes_of(token.substr(signature_at + 1));
  const OwnDigest digest(EVP_MD_CTX_new());
  if (EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, X509_get0_pubkey(authority)) != 1 ||
      EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), reinterpret_cast<const unsigned char*>(text.data()),
                       text.size()) != 1) {
    ERR_clear_error();
    false_token("the cluster's authority has not signed it");
  }
  if (std::strtoll(std::string(text.substr(until_at + 1)).c_str(), nullptr, 10) < time(nullptr))
    false_token("its time is over");
  return std::string(text.substr(kTokenKind.size() + 1, until_at - kTokenKind.size() - 1));
}

}  // namespace emplace::cluster
