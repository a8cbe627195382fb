// SPDX-License-Identifier: Apache-2.0
// libsrtp's public header, and of OpenSSL's libcrypto the functions that keys are made with: macros
// and varying parameters, which Swift cannot import.
#ifndef CSRTP_SHIM_H
#define CSRTP_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <srtp2/srtp.h>
#include <stddef.h>
#include <string.h>

/// How packets are protected (RFC 3711, RFC 7714). Tags have 16 bytes, those of HMAC 10.
enum ovt_srtp_profile { OVT_SRTP_AES256_GCM, OVT_SRTP_AES128_GCM, OVT_SRTP_AES128_CM_SHA1_80 };

/// A session for whatever sources come.
/// @param key the key, and after it the salt: 32 and 12 bytes, 16 and 12, or 16 and 14.
/// @param repeats whether a packet that was protected may be protected again, unchanged.
static inline int ovt_srtp_create(
    srtp_t *session, int inbound, unsigned char *key, enum ovt_srtp_profile profile, int repeats) {
  srtp_policy_t policy;
  memset(&policy, 0, sizeof(policy));
  switch (profile) {
    case OVT_SRTP_AES256_GCM:
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp);
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp);
      break;
    case OVT_SRTP_AES128_GCM:
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
      break;
    case OVT_SRTP_AES128_CM_SHA1_80:
      srtp_crypto_policy_set_rtp_default(&policy.rtp);
      srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
      break;
  }
  policy.ssrc.type = inbound ? ssrc_any_inbound : ssrc_any_outbound;
  policy.key = key;
  policy.window_size = 1024;
  policy.allow_repeat_tx = repeats;
  return (int)srtp_create(session, &policy);
}

/// Overwrites memory, also where the compiler sees that nobody reads it any more.
static inline void ovt_wipe(void *memory, size_t size) {
  if (memory != NULL) OPENSSL_cleanse(memory, size);
}

/// @return 1 if all went well.
static inline int ovt_hmac_sha256(
    const unsigned char *key, size_t keySize, const unsigned char *message, size_t size,
    unsigned char result[32]) {
  unsigned int length = 32;
  return HMAC(EVP_sha256(), key, (int)keySize, message, size, result, &length) != NULL && length == 32;
}

/// HKDF with SHA-256 (RFC 5869).
/// @return 1 if all went well.
static inline int ovt_hkdf_sha256(
    const unsigned char *key, size_t keySize, const unsigned char *salt, size_t saltSize,
    const unsigned char *info, size_t infoSize, unsigned char *result, size_t size) {
  char digest[] = "SHA256";
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
  OSSL_PARAM parameters[5];
  parameters[0] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0);
  parameters[1] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, keySize);
  parameters[2] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, saltSize);
  parameters[3] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, infoSize);
  parameters[4] = OSSL_PARAM_construct_end();
  int ok = context != NULL && EVP_KDF_derive(context, result, size, parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  return ok;
}

/// scrypt (RFC 7914).
/// @return 1 if all went well.
static inline int ovt_scrypt(
    const char *secret, size_t secretSize, const unsigned char *salt, size_t saltSize, uint64_t n,
    unsigned char *result, size_t size) {
  return EVP_PBE_scrypt(secret, secretSize, salt, saltSize, n, 8, 1, 1ull << 28, result, size);
}

/// AES-128 in CBC mode, padded.
/// @param result has room for the message and 16 bytes.
/// @return the size of the result; 0 if OpenSSL fails.
static inline int ovt_aes128_cbc(
    const unsigned char key[16], const unsigned char vector[16], const unsigned char *message, int size,
    unsigned char *result) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int written = 0, last = 0;
  int ok = context != NULL && EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), NULL, key, vector) == 1
      && EVP_EncryptUpdate(context, result, &written, message, size) == 1
      && EVP_EncryptFinal_ex(context, result + written, &last) == 1;
  EVP_CIPHER_CTX_free(context);
  return ok ? written + last : 0;
}

#endif
