// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// A certificate for tests of TLS. It needs OpenSSL.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace cogwheel_tests {

/// A key and a certificate that signs itself, as files in a folder of its own.
class test_certificate {
public:
    explicit test_certificate(const char* names, long valid_seconds = 3600) {
        EVP_PKEY* key = EVP_EC_gen("P-256");
        X509* x = X509_new();
        X509_set_version(x, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
        X509_gmtime_adj(X509_getm_notBefore(x), -7200);
        X509_gmtime_adj(X509_getm_notAfter(x), valid_seconds);
        X509_set_pubkey(x, key);
        X509_NAME* name = X509_get_subject_name(x);
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("cogwheel test"),
                                   -1, -1, 0);
        X509_set_issuer_name(x, name);
        X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
        X509_add_ext(x, extension, -1);
        X509_EXTENSION_free(extension);
        X509_sign(x, key, EVP_sha256());

        std::string pattern = (std::filesystem::temp_directory_path() / "cogwheel-tls-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        folder_ = pattern;
        std::FILE* file = std::fopen(certificate_file().c_str(), "w");
        PEM_write_X509(file, x);
        std::fclose(file);
        file = std::fopen(key_file().c_str(), "w");
        PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
        std::fclose(file);
        X509_free(x);
        EVP_PKEY_free(key);
    }
    test_certificate(const test_certificate&) = delete;
    test_certificate& operator=(const test_certificate&) = delete;
    ~test_certificate() { std::filesystem::remove_all(folder_); }

    std::string certificate_file() const { return folder_ + "/certificate.pem"; }
    std::string key_file() const { return folder_ + "/key.pem"; }

private:
    std::string folder_;
};

} // namespace cogwheel_tests
