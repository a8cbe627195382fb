// SPDX-License-Identifier: Apache-2.0
// DTLS by OpenSSL's libssl: macros, callbacks and varying parameters, which Swift cannot import.
#ifndef CSRTP_DTLS_H
#define CSRTP_DTLS_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

/// SHA-1 as HMAC, which STUN's MESSAGE-INTEGRITY is made with (RFC 8489, 14.5).
/// @return 1 if all went well.
static inline int ovt_hmac_sha1(
    const unsigned char *key, size_t keySize, const unsigned char *message, size_t size,
    unsigned char result[20]) {
  return EVP_Q_mac(NULL, "HMAC", NULL, "SHA1", NULL, key, keySize, message, size, result, 20, NULL) != NULL;
}

/// A key pair on the curve P-256; null if OpenSSL fails.
static inline EVP_PKEY *ovt_make_p256_key(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }

/// A self-signed certificate for a key, valid from a day ago for thirty days; null if OpenSSL
/// fails.
static inline X509 *ovt_make_certificate(EVP_PKEY *key) {
  X509 *certificate = X509_new();
  BIGNUM *number = BN_new();
  X509_NAME *name = X509_NAME_new();
  int ok = certificate != NULL && number != NULL && name != NULL
      && X509_set_version(certificate, 2) == 1
      && BN_rand(number, 63, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1
      && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL
      && X509_gmtime_adj(X509_getm_notBefore(certificate), -86400L) != NULL
      && X509_gmtime_adj(X509_getm_notAfter(certificate), 30L * 86400L) != NULL
      && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"WebRTC", -1, -1, 0) == 1
      && X509_set_subject_name(certificate, name) == 1 && X509_set_issuer_name(certificate, name) == 1
      && X509_set_pubkey(certificate, key) == 1 && X509_sign(certificate, key, EVP_sha256()) > 0;
  X509_NAME_free(name);
  BN_free(number);
  if (!ok) {
    X509_free(certificate);
    return NULL;
  }
  return certificate;
}

/// The fingerprint of a certificate.
/// @param digest the name of the hash function as OpenSSL knows it.
/// @param result has room for 64 bytes.
/// @return the size of the fingerprint; 0 if OpenSSL fails.
static inline int ovt_certificate_digest(const X509 *certificate, const char *digest, unsigned char *result) {
  const EVP_MD *function = EVP_get_digestbyname(digest);
  unsigned int size = 64;
  return function != NULL && X509_digest(certificate, function, result, &size) == 1 ? (int)size : 0;
}

/// Accepts any certificate: peers sign their own, and the fingerprint in the session description
/// is compared after the handshake (RFC 8122, 6.2).
static inline int ovt_accept_certificate(int ok, X509_STORE_CTX *store) {
  (void)ok;
  (void)store;
  return 1;
}

/// The waits before a flight is sent again, in microseconds: 0.1 s, doubled up to 1.6 s. The round
/// trips of media are far below the second with which RFC 6347, 4.2.4.1, begins.
static inline unsigned int ovt_dtls_wait(SSL *ssl, unsigned int last) {
  (void)ssl;
  if (last == 0) return 100000;
  return last >= 1600000 ? 1600000 : last * 2;
}

/// A context for DTLS 1.2 with forward secrecy, that offers SRTP's protection profiles.
/// @return null if OpenSSL fails.
static inline SSL_CTX *ovt_make_dtls_context(X509 *certificate, EVP_PKEY *key, const char *profiles) {
  SSL_CTX *context = SSL_CTX_new(DTLS_method());
  int ok = context != NULL && SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1
      && SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1
      && SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1
      && SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1
      && SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
      // This function alone returns 0 for success.
      && SSL_CTX_set_tlsext_use_srtp(context, profiles) == 0;
  if (!ok) {
    SSL_CTX_free(context);
    return NULL;
  }
  SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(context, 16384);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, ovt_accept_certificate);
  return context;
}

/// One end of a DTLS association whose datagrams go through memory.
/// @return null if OpenSSL fails.
static inline SSL *ovt_make_dtls(SSL_CTX *context, int isServer, long mtu) {
  SSL *ssl = SSL_new(context);
  BIO *input = BIO_new(BIO_s_mem()), *output = BIO_new(BIO_s_mem());
  if (ssl == NULL || input == NULL || output == NULL) {
    BIO_free(input);
    BIO_free(output);
    SSL_free(ssl);
    return NULL;
  }
  // An empty input means that the next datagram has not come yet.
  BIO_set_mem_eof_return(input, -1);
  BIO_set_mem_eof_return(output, -1);
  SSL_set_bio(ssl, input, output);
  SSL_set_mtu(ssl, mtu);
  DTLS_set_timer_cb(ssl, ovt_dtls_wait);
  if (isServer) SSL_set_accept_state(ssl);
  else SSL_set_connect_state(ssl);
  return ssl;
}

/// The seconds until a flight has to be sent again; negative if none waits for an answer.
static inline double ovt_dtls_timeout(SSL *ssl) {
  struct timeval left;
  if (DTLSv1_get_timeout(ssl, &left) != 1) return -1;
  return (double)left.tv_sec + (double)left.tv_usec * 1e-6;
}

/// Sends a flight again if it is due.
/// @return negative if it was sent too often.
static inline long ovt_dtls_handle_timeout(SSL *ssl) { return DTLSv1_handle_timeout(ssl); }

/// The number of bytes that a memory BIO holds.
static inline size_t ovt_bio_pending(BIO *bio) { return BIO_ctrl_pending(bio); }

/// Empties a memory BIO.
static inline void ovt_bio_reset(BIO *bio) { (void)BIO_reset(bio); }

/// The protection profile that was agreed on (RFC 5764, 4.1.2); 0 if there is none.
static inline unsigned long ovt_dtls_srtp_profile(SSL *ssl) {
  SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(ssl);
  return profile == NULL ? 0 : profile->id;
}

/// Exports keys for SRTP (RFC 5764, 4.2).
/// @return 1 if all went well.
static inline int ovt_dtls_export(SSL *ssl, unsigned char *result, size_t size) {
  static const char label[] = "EXTRACTOR-dtls_srtp";
  return SSL_export_keying_material(ssl, result, size, label, sizeof(label) - 1, NULL, 0, 0);
}

/// The peer's certificate, which the caller releases; null if there is none.
static inline X509 *ovt_dtls_peer_certificate(SSL *ssl) { return SSL_get1_peer_certificate(ssl); }

/// The reason of the oldest error, as text that stays valid; empties the queue of errors.
static inline const char *ovt_ssl_error(void) {
  unsigned long code = ERR_get_error();
  const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason;
}

#endif
