// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
#include "callback_transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO {

namespace {

// Receivers and what stands before them drop idle connections, often after 60 s: a request on such a one is lost.
constexpr long max_idle_seconds = 45;
// A name may move to another address.
constexpr long max_connection_seconds = 600;

long milliseconds_of(std::chrono::nanoseconds limit) noexcept {
    constexpr std::chrono::milliseconds most = std::chrono::hours(24 * 20); // below 2^31 ms
    return static_cast<long>(std::min(std::chrono::ceil<std::chrono::milliseconds>(limit), most).count());
}

bool is_visible(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

asio::ip::address address_of(const curl_sockaddr& from) noexcept {
    if (from.family == AF_INET && from.addrlen >= sizeof(sockaddr_in)) {
        sockaddr_in v4{};
        std::memcpy(&v4, &from.addr, sizeof v4);
        return asio::ip::address_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (from.family == AF_INET6 && from.addrlen >= sizeof(sockaddr_in6)) {
        // addr is declared as the short sockaddr, but has the long one's bytes.
        sockaddr_in6 v6{};
        std::memcpy(&v6, static_cast<const void*>(&from.addr), sizeof v6);
        asio::ip::address_v6::bytes_type bytes{};
        std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
        return asio::ip::address_v6(bytes);
    }
    return asio::ip::address_v4(); // 0.0.0.0, which is refused
}

// Returns what keeps this process from opening what libcurl needs to resolve a name.
error_code error_without_descriptors() noexcept {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {errno, sys::generic_category()};
    for (const int end : ends) ::close(end);
    return {};
}

} // namespace

template <class T>
void callback_transfer::set(CURLoption option, T value) {
    if (const CURLcode code = curl_easy_setopt(easy_, option, value); code == CURLE_OUT_OF_MEMORY)
        throw std::bad_alloc();
    else if (code != CURLE_OK)
        throw std::runtime_error(std::string("cogwheel::callback_sender: libcurl: ") + curl_easy_strerror(code));
}

callback_transfer::callback_transfer(const callback_options& options, curl_driver& driver)
    : options_(options), driver_(driver), easy_(curl_easy_init()) {
    if (easy_ == nullptr) throw std::bad_alloc();
    try {
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_PROTOCOLS_STR, "http,https");
        set(CURLOPT_PROXY, ""); // also against http_proxy in the environment
        set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
        set(CURLOPT_FOLLOWLOCATION, 0L);
        set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        set(CURLOPT_SSL_VERIFYPEER, 1L);
        set(CURLOPT_SSL_VERIFYHOST, 2L);
        if (!options.ca_file.empty()) {
            set(CURLOPT_CAINFO, options.ca_file.c_str());
            set(CURLOPT_CAPATH, static_cast<const char*>(nullptr)); // else the system's would count, too
        }
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds_of(options.connect_timeout));
        set(CURLOPT_TIMEOUT_MS, milliseconds_of(options.request_timeout));
        if (options.low_speed != 0) {
            set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(options.low_speed));
            set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.low_speed_period.count()));
        }
        if (options.max_idle_connections == 0) set(CURLOPT_FORBID_REUSE, 1L);
        set(CURLOPT_MAXAGE_CONN, max_idle_seconds);
        set(CURLOPT_MAXLIFETIME_CONN, max_connection_seconds);
        if (!options.user_agent.empty()) set(CURLOPT_USERAGENT, options.user_agent.c_str());
        set(CURLOPT_ERRORBUFFER, words_.data());
        set(CURLOPT_HEADERFUNCTION, &callback_transfer::take_head);
        set(CURLOPT_HEADERDATA, this);
        set(CURLOPT_WRITEFUNCTION, &callback_transfer::take_body);
        set(CURLOPT_WRITEDATA, this);
        set(CURLOPT_OPENSOCKETFUNCTION, &callback_transfer::open_socket);
        set(CURLOPT_OPENSOCKETDATA, this);
        set(CURLOPT_PREREQFUNCTION, &callback_transfer::before_request);
        set(CURLOPT_PREREQDATA, this);
        set(CURLOPT_CLOSESOCKETFUNCTION, &curl_driver::close_socket);
        set(CURLOPT_CLOSESOCKETDATA, &driver);
        set(CURLOPT_PRIVATE, this);
#if LIBCURL_VERSION_NUM >= 0x075700
        // Else the end of a transfer would wait for a resolver that hangs, and the loop with it.
        set(CURLOPT_QUICK_EXIT, 1L);
#endif
    } catch (...) {
        curl_easy_cleanup(easy_);
        throw;
    }
}

void callback_transfer::begin(callback_request& request, std::chrono::sys_seconds now) {
    const http_callback& call = request.call;
    http_url url;
    static_cast<void>(url.parse(call.url));
    host_ = url.host;
    refusal_.clear();
    head_complete_ = has_socket_ = sent_again_ = stale_ = false;
    socket_error_ = {};
    words_[0] = '\0';

    const bool empty = call.body.empty() && (call.method == "GET" || call.method == "DELETE");
    set(CURLOPT_CUSTOMREQUEST, static_cast<const char*>(nullptr));
    if (empty) {
        set(CURLOPT_HTTPGET, 1L);
    } else {
        set(CURLOPT_POST, 1L);
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
        set(CURLOPT_POSTFIELDS, call.body.data()); // not copied
    }
    if (call.method != (empty ? "GET" : "POST")) set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
    set(CURLOPT_URL, call.url.c_str());
    set(CURLOPT_FRESH_CONNECT, 0L);
    request_ = &request;
    set_headers(now);
}

void callback_transfer::add_header(std::string_view name, std::string_view value) {
    header_starts_.push_back(header_bytes_.size());
    header_bytes_ += name;
    // "name:" without a value would mean that libcurl leaves the header out; "name;" is an empty one.
    if (value.find_first_not_of(" \t") == value.npos)
        header_bytes_ += ';';
    else
        header_bytes_.append(": ").append(value);
    header_bytes_ += '\0';
}

void callback_transfer::set_headers(std::chrono::sys_seconds now) {
    const http_callback& call = request_->call;
    const callback_delivery& delivery = request_->delivery;
    header_bytes_.clear();
    header_starts_.clear();
    const std::string id = webhook_safe(delivery.id);
    const std::int64_t seconds = now.time_since_epoch().count();
    add_header("webhook-id", id);
    add_header("webhook-timestamp", std::to_string(seconds));
    std::string signatures;
    for (const webhook_key& key : options_.keys)
        (signatures += signatures.empty() ? "" : " ") += key.sign(id, seconds, call.body);
    if (!signatures.empty()) add_header("webhook-signature", signatures);
    add_header("cogwheel-attempt", std::to_string(delivery.attempt));
    if (!delivery.fencing_token.empty() && is_visible(delivery.fencing_token))
        add_header("cogwheel-fencing-token", delivery.fencing_token);
    if (!delivery.traceparent.empty() && delivery.traceparent.size() <= 255 && is_visible(delivery.traceparent))
        add_header("traceparent", delivery.traceparent);
    for (const auto& [name, value] : call.headers) add_header(name, value);
    if (!call.body.empty() && !call.content_type.empty()) {
        add_header("content-type", call.content_type);
    } else { // libcurl would say that it is a form
        header_starts_.push_back(header_bytes_.size());
        header_bytes_.append("content-type:").append(1, '\0');
    }
    header_starts_.push_back(header_bytes_.size());
    header_bytes_.append("expect:").append(1, '\0'); // no question before the body

    header_list_.resize(header_starts_.size());
    for (std::size_t i = 0; i < header_list_.size(); ++i)
        header_list_[i] = {header_bytes_.data() + header_starts_[i],
                           i + 1 < header_list_.size() ? &header_list_[i + 1] : nullptr};
    set(CURLOPT_HTTPHEADER, header_list_.data());
}

// One call for each line, also for the empty one at the end. A head 1xx may come first; trailers may follow the body.
std::size_t callback_transfer::take_head(char* bytes, std::size_t, std::size_t count, void* transfer) noexcept {
    auto& self = *static_cast<callback_transfer*>(transfer);
    if (count <= 2 && (bytes[0] == '\r' || bytes[0] == '\n'))
        self.head_complete_ = true;
    else if (std::string_view(bytes, count).starts_with("HTTP/"))
        self.head_complete_ = false;
    return count;
}

std::size_t callback_transfer::take_body(char* bytes, std::size_t, std::size_t count, void* transfer) noexcept {
    auto& self = *static_cast<callback_transfer*>(transfer);
    callback_result& result = self.request_->result;
    const std::size_t room = self.options_.max_answer - result.body.size();
    try {
        result.body.append(bytes, std::min(count, room));
    } catch (...) {
        return 0; // no memory: ends the transfer
    }
    if (count <= room) return count;
    result.body_cut = true;
    return 0; // ends the transfer, and closes the connection
}

curl_socket_t callback_transfer::open_socket(void* transfer, curlsocktype, curl_sockaddr* address) noexcept {
    auto& self = *static_cast<callback_transfer*>(transfer);
    if (self.bytes_sent() > 0) { // for a request that libcurl wants to send again
        self.sent_again_ = true;
        return CURL_SOCKET_BAD;
    }
    const asio::ip::address ip = address_of(*address);
    if (self.options_.guard.allows(ip, self.host_)) {
        const curl_socket_t fd =
            self.driver_.open_socket(address->family, address->socktype, address->protocol, self.socket_error_);
        self.has_socket_ |= fd != CURL_SOCKET_BAD;
        return fd;
    }
    try {
        (self.refusal_ += self.refusal_.empty() ? "" : ", ") +=
            ip.to_string() + " is " + std::string(to_string(kind_of(ip)));
    } catch (...) {
        // Without memory the message has fewer words.
    }
    return CURL_SOCKET_BAD;
}

// libcurl sends a request again by itself if an open connection ends without an answer. But the receiver may have got
// it. The size counts what was sent on the first connection, too: 0 if the connection was closed already.
int callback_transfer::before_request(void* transfer, char*, char*, int, int) noexcept {
    auto& self = *static_cast<callback_transfer*>(transfer);
    if (self.bytes_sent() > 0)
        self.sent_again_ = true;
    else if (!self.has_socket_ && self.connection_has_ended())
        self.stale_ = true;
    else
        return CURL_PREREQFUNC_OK;
    return CURL_PREREQFUNC_ABORT;
}

// Releases of libcurl after 8.14 (seen with 8.23) do not ask this before they use an idle connection again. Then the
// receiver seems to have got a request, and to have closed the connection without an answer.
bool callback_transfer::connection_has_ended() const noexcept {
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (curl_easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd == CURL_SOCKET_BAD) return false;
    char byte = 0;
    const auto n = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    // Nothing is to come before the request: bytes are the end of TLS, or an answer to nobody.
    return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool callback_transfer::takes_another_connection() {
    if (!stale_) return false;
    stale_ = false;
    set(CURLOPT_FRESH_CONNECT, 1L);
    return true;
}

long callback_transfer::bytes_sent() const noexcept {
    long bytes = 0;
    curl_easy_getinfo(easy_, CURLINFO_REQUEST_SIZE, &bytes);
    return bytes;
}

void callback_transfer::finish(CURLcode code, std::string_view origin, std::chrono::sys_seconds now) {
    callback_result& result = request_->result;
    result.sent = bytes_sent() > 0;
    long number = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &number);
    result.status = static_cast<int>(number);
    char* address = nullptr;
    curl_easy_getinfo(easy_, CURLINFO_PRIMARY_IP, &address);
    if (address != nullptr && address[0] != '\0') {
        curl_easy_getinfo(easy_, CURLINFO_PRIMARY_PORT, &number);
        const std::string_view ip = address;
        const bool v6 = ip.find(':') != ip.npos;
        ((result.remote_address = v6 ? "[" : "") += ip) += (v6 ? "]:" : ":") + std::to_string(number);
        long opened = 0;
        curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &opened);
        result.reused = opened == 0 || sent_again_;
    }
    transfer_end end{.code = code, .head_complete = head_complete_, .origin = origin};
    // libcurl may also fail to find the host for the second time.
    if (sent_again_ || (result.sent && result.status == 0 && code == CURLE_COULDNT_RESOLVE_HOST)) {
        end.code = CURLE_GOT_NOTHING;
        words_[0] = '\0'; // they tell of the second time
    }
    // Newer releases wait in vain for a resolver that they could not start.
    const bool unresolved = end.code == CURLE_OPERATION_TIMEDOUT && result.remote_address.empty() && !has_socket_;
    if (end.code == CURLE_COULDNT_CONNECT && !has_socket_) {
        end.local = socket_error_;
        end.address_refused = !socket_error_ && !refusal_.empty();
    } else if (unresolved || end.code == CURLE_COULDNT_RESOLVE_HOST || end.code == CURLE_SSL_CACERT_BADFILE) {
        end.local = error_without_descriptors(); // libcurl does not tell why it could not ask, or not read the file
    }
    end.detail = end.address_refused ? std::string_view(refusal_) : std::string_view(words_.data());
    curl_header* header = nullptr;
    if (curl_easy_header(easy_, "retry-after", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
        end.retry_after = header->value;
    judge(result, end, options_, now);
    request_ = nullptr;
}

void callback_transfer::forget() noexcept {
    request_->result.sent = bytes_sent() > 0;
    request_ = nullptr;
}

} // namespace cogwheel::COGWHEEL_ABI::detail::COGWHEEL_ASIO
