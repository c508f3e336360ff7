// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Cogwheel authors
//
// HTTPS: certificates that are trusted and that are not. Over real sockets, with certificates made by the test.
#include "support/durable/callback_rig.hpp"
#include "support/test_certificate.hpp"

#include <asio/error.hpp>
#include <asio/ssl.hpp>
#include <doctest/doctest.h>

using namespace cogwheel;
using namespace cogwheel_tests;

namespace {

class tls_receiver {
public:
    using tcp = asio::ip::tcp;
    using stream = asio::ssl::stream<tcp::socket>;

    tls_receiver(asio::io_context& io, const test_certificate& certificate)
        : context_(asio::ssl::context::tls_server), acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        context_.use_certificate_chain_file(certificate.certificate_file());
        context_.use_private_key_file(certificate.key_file(), asio::ssl::context::pem);
        accept();
    }
    std::string url(const std::string& path, const std::string& host = "localhost") const {
        return "https://" + host + ":" + std::to_string(acceptor_.local_endpoint().port()) + path;
    }

    receiver_log log;

private:
    void accept() {
        acceptor_.async_accept([this](std::error_code ec, tcp::socket socket) {
            if (ec) return;
            ++log.accepted;
            auto session = std::make_shared<receiver_session<stream>>(
                stream(std::move(socket), context_), std::shared_ptr<receiver_log>(std::shared_ptr<void>(), &log));
            session->stream().async_handshake(stream::server, [session](std::error_code failed) {
                if (!failed) session->read();
            });
            accept();
        });
    }

    asio::ssl::context context_;
    tcp::acceptor acceptor_;
};

callback_options tls_options(const std::string& ca_file) {
    auto options = loopback_options();
    options.guard = {.allow_private = true};
    options.ca_file = ca_file;
    return options;
}

} // namespace

TEST_CASE("certificate_that_nobody_has_signed_is_refused") {
    const test_certificate own("DNS:localhost,IP:127.0.0.1"), another("DNS:localhost");
    for (const std::string& ca_file : {std::string(), another.certificate_file()}) {
        callback_rig rig(tls_options(ca_file));
        tls_receiver receiver(rig.io, own);
        const callback_result r = rig.send_to(receiver.url("/200"));
        CHECK(r.error == callback_errc::bad_certificate);
        CHECK(r.outcome == callback_outcome::try_again); // it may be renewed
        CHECK(!r.sent);
        CHECK(receiver.log.requests.empty());
    }
}

TEST_CASE("certificate_of_the_ca_file_is_accepted_for_its_names_only") {
    const test_certificate own("DNS:localhost,IP:127.0.0.1");
    callback_rig rig(tls_options(own.certificate_file()));
    tls_receiver receiver(rig.io, own);
    const callback_result r = rig.send_to(receiver.url("/200"));
    CHECK_MESSAGE(r.outcome == callback_outcome::succeeded, r.message);
    CHECK(rig.send_to(receiver.url("/200")).reused);
    CHECK(rig.send_to(receiver.url("/200", "127.0.0.1")).outcome == callback_outcome::succeeded);
    CHECK(receiver.log.requests.size() >= 3);

    const test_certificate other_name("DNS:other.example");
    callback_rig second(tls_options(other_name.certificate_file()));
    tls_receiver wrong(second.io, other_name);
    CHECK(second.send_to(wrong.url("/200")).error == callback_errc::bad_certificate);
    CHECK(wrong.log.requests.empty());
}

TEST_CASE("certificate_that_has_ended_is_refused") {
    const test_certificate old("DNS:localhost", -3600);
    callback_rig rig(tls_options(old.certificate_file()));
    tls_receiver receiver(rig.io, old);
    CHECK(rig.send_to(receiver.url("/200")).error == callback_errc::bad_certificate);
}

TEST_CASE("https_to_a_receiver_without_tls_fails_in_tls") {
    auto options = tls_options("");
    options.request_timeout = std::chrono::milliseconds(300);
    callback_rig quick(options);
    callback_receiver silent(quick.io); // waits for the end of a head that never comes
    const callback_result r = quick.send_to("https" + silent.url("/200").substr(4));
    CHECK(r.outcome == callback_outcome::try_again);
    CHECK(!r.sent);
}

TEST_CASE("https_survives_many_requests_at_once_and_a_close") {
    const test_certificate own("DNS:localhost");
    callback_rig rig(tls_options(own.certificate_file()));
    tls_receiver receiver(rig.io, own);
    std::vector<callback_rig::answer_ptr> answers;
    for (int i = 0; i < 30; ++i) answers.push_back(rig.start_to(receiver.url("/200")));
    for (const auto& one : answers) CHECK(rig.finish(one).outcome == callback_outcome::succeeded);
    const auto silent = rig.start_to(receiver.url("/silent"));
    rig.run_until([&] { return receiver.log.requests.size() == 31; });
    rig.sender->close();
    CHECK(rig.finish(silent).error == asio::error::operation_aborted);
}
