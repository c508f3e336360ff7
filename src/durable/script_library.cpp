// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "script_library.hpp"

#include "script_texts.hpp"

#include <stdexcept>

#include <openssl/evp.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

std::string sha1(std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr) != 1)
        throw std::runtime_error("cogwheel: OpenSSL has no SHA-1, by which Redis names scripts");
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
        hex += "0123456789abcdef"[digest[i] >> 4];
        hex += "0123456789abcdef"[digest[i] & 15];
    }
    return hex;
}

} // namespace

script_library::script_library() {
    for (const script_text& s : script_texts()) scripts_.emplace(s.name, server_script{s.text, sha1(s.text)});
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
