// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/channel.h"

#include "kairos/base/log.h"
#include "kairos/base/thread_owned.h"
#include "kairos/tls/limits.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string_view>
#include <typeinfo>
#include <unistd.h>
#include <utility>

namespace kairos::tls {

using Status = net::IoResult::Status;

namespace {

/// Whether a host is written as a number. An IPv6 address may have a zone.
bool is_address(const std::string& host) noexcept
{
    in6_addr address{};
    return ::inet_pton(AF_INET, host.c_str(), &address) == 1 || host.find(':') != std::string::npos;
}

} // namespace

// --- making one ----------------------------------------------------------------------------------

Channel::Channel(int descriptor, bool is_server) noexcept
    : WrappingChannel(descriptor, is_server), is_server_(is_server), process_(::getpid())
{
}

Result<void> Channel::open(SSL_CTX& context)
{
    ERR_clear_error();
    const BIO_METHOD* const method = bio_method();
    ssl_.reset(SSL_new(&context));
    BIO* const bio = ssl_ && method != nullptr ? BIO_new(method) : nullptr;
    if (bio == nullptr) return Error{ErrorCode::system, "no memory for TLS"};
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_msg_callback(ssl_.get(), &count_without_data);
    SSL_set_msg_callback_arg(ssl_.get(), this);
    return {};
}

/// Has the name or address of the reference compared with those of the certificate.
Result<void> Channel::expect(const std::string& host)
{
    X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl_.get());
    // An address may have a zone, which is nobody's but ours.
    const std::string bare = host.substr(0, host.find('%'));
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const int set = is_address(host)
                        ? X509_VERIFY_PARAM_set1_ip_asc(wanted, bare.c_str())
                        : X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size());
    if (set != 1)
        return Error{ErrorCode::unreachable, "'" + host + "' is no name that a certificate has"};
    host_ = bare;
    return {};
}

Result<std::unique_ptr<Channel>> Channel::to_server(int descriptor, SSL_CTX& context,
                                                    const std::string& host, std::uint16_t port,
                                                    orb::ServerCheck check,
                                                    std::shared_ptr<Sessions> sessions)
{
    std::unique_ptr<Channel> channel(new Channel(descriptor, false));
    if (const auto opened = channel->open(context); !opened) return opened.error();
    SSL* const ssl = channel->ssl_.get();
    SSL_set_connect_state(ssl);
    if (!is_address(host)) SSL_set_tlsext_host_name(ssl, host.c_str());
    if (check != orb::ServerCheck::no) SSL_set_verify(ssl, SSL_VERIFY_PEER, &look_at_certificate);
    if (check == orb::ServerCheck::name)
        if (const auto expected = channel->expect(host); !expected) return expected.error();
    channel->peer_ = host + ":" + std::to_string(port);
    // Who was believed then may not be now: what resumes a session shows no certificate.
    const SessionPointer session = sessions->take(channel->peer_);
    if (session && !has_expired(SSL_SESSION_get0_peer(session.get())) &&
        !has_old_revocations(context))
        channel->offers_session_ = SSL_set_session(ssl, session.get()) == 1;
    channel->sessions_ = std::move(sessions);
    return channel;
}

Result<std::unique_ptr<Channel>> Channel::to_client(int descriptor, SSL_CTX& context,
                                                    orb::ClientCheck check,
                                                    std::shared_ptr<Handshakes> handshakes,
                                                    const net::Address& peer)
{
    std::unique_ptr<Channel> channel(new Channel(descriptor, true));
    if (const auto opened = channel->open(context); !opened) return opened.error();
    SSL* const ssl = channel->ssl_.get();
    SSL_set_accept_state(ssl);
    const int required = check == orb::ClientCheck::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
    if (check != orb::ClientCheck::no)
        SSL_set_verify(ssl, SSL_VERIFY_PEER | required, &look_at_certificate);
    channel->handshakes_ = std::move(handshakes);
    channel->peer_ = peer.to_text();
    channel->peer_number_ = peer.host_number();
    return channel;
}

/// The peer hears of the end, unless the connection is of a process that this one was forked from.
/// Either way the session can be resumed.
Channel::~Channel()
{
    if (!ssl_) return;
    if (!may_say_goodbye()) SSL_set_quiet_shutdown(ssl_.get(), 1);
    (void)SSL_shutdown(ssl_.get());
    ERR_clear_error();
}

bool Channel::may_say_goodbye() const noexcept
{
    return has_agreed_ && !broken_ && process_ == ::getpid() &&
           (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) == 0;
}

/// Before the descriptor takes nothing more.
void Channel::shut_writing() noexcept
{
    const Turn turn(turn_);
    if (!may_say_goodbye()) return;
    (void)SSL_shutdown(ssl_.get());
    ERR_clear_error();
}

bool Channel::is_resumed() const noexcept
{
    const Turn turn(turn_);
    return SSL_session_reused(ssl_.get()) == 1;
}

// --- who is there --------------------------------------------------------------------------------

Result<Peer> Channel::peer() const
{
    CertificatePointer certificate;
    Peer peer;
    {
        const Turn turn(turn_);
        peer.version = SSL_get_version(ssl_.get());
        const SSL_CIPHER* const cipher = SSL_get_current_cipher(ssl_.get());
        const char* const name = cipher != nullptr ? SSL_CIPHER_standard_name(cipher) : nullptr;
        if (name != nullptr) peer.cipher = name;
        certificate.reset(SSL_get1_peer_certificate(ssl_.get()));
    }
    if (!certificate) return peer;
    auto subject = distinguished_name(*X509_get_subject_name(certificate.get()));
    if (!subject) return subject.error();
    auto issuer = distinguished_name(*X509_get_issuer_name(certificate.get()));
    if (!issuer) return issuer.error();
    peer.subject = std::move(subject).value();
    peer.issuer = std::move(issuer).value();
    auto names = alternative_names_of(*certificate);
    if (!names) return names.error();
    peer.names = std::move(names).value();
    return peer;
}

Result<orb::PeerCertificate> Channel::trusted_certificate() const
{
    CertificatePointer certificate;
    {
        const Turn turn(turn_);
        // A client that checks no server takes any certificate.
        if ((SSL_get_verify_mode(ssl_.get()) & SSL_VERIFY_PEER) != 0 &&
            SSL_get_verify_result(ssl_.get()) == X509_V_OK)
            certificate.reset(SSL_get1_peer_certificate(ssl_.get()));
    }
    if (!certificate) return orb::PeerCertificate{};
    return names_of(*certificate);
}

std::vector<CertificatePointer> Channel::peer_certificates() const
{
    std::vector<CertificatePointer> all;
    const Turn turn(turn_);
    CertificatePointer own(SSL_get1_peer_certificate(ssl_.get()));
    if (!own) return all;
    all.push_back(std::move(own));
    // Its first is the peer's own.
    const STACK_OF(X509)* const verified = SSL_get0_verified_chain(ssl_.get());
    const int count = verified != nullptr ? sk_X509_num(verified) : 0;
    for (int i = 1; i < count; ++i) {
        X509* const next = sk_X509_value(verified, i);
        X509_up_ref(next);
        all.emplace_back(next);
    }
    return all;
}

// --- the descriptor, as OpenSSL sees it ----------------------------------------------------------

const BIO_METHOD* Channel::bio_method()
{
    static const BIO_METHOD* const method = []() -> const BIO_METHOD* {
        BIO_METHOD* const made =
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "a connection of Kairos");
        if (made == nullptr) return nullptr;
        BIO_meth_set_read_ex(made, &bio_read);
        BIO_meth_set_write_ex(made, &bio_write);
        BIO_meth_set_ctrl(made, &bio_control);
        return made; // never freed: connections may outlive static objects
    }();
    return method;
}

/// Counts what comes after shaking hands: records, and what is in them that is no data. OpenSSL
/// goes from one to the next within one call, as long as there are octets.
void Channel::count_without_data(int is_sent, int, int type, const void*, std::size_t, SSL*,
                                 void* argument)
{
    auto& self = *static_cast<Channel*>(argument);
    if (is_sent == 0 && self.has_agreed_ && (type == SSL3_RT_HEADER || type == SSL3_RT_HANDSHAKE))
        ++self.without_data_;
}

/// Those that were waited for come first. Who writes gets none: who reads may be waiting for them
/// just now, and they would come in the wrong order.
net::IoResult Channel::next_octets(MutableBytes buffer) noexcept
{
    if (is_putting_) return {.status = Status::would_block};
    if (ahead_at_ == ahead_size_)
        return ahead_end_ ? *std::exchange(ahead_end_, std::nullopt) : receive(buffer);
    const std::size_t size = std::min(buffer.size(), ahead_size_ - ahead_at_);
    std::memcpy(buffer.data(), ahead_.data() + ahead_at_, size);
    ahead_at_ += size;
    return {.bytes = size};
}

int Channel::bio_read(BIO* bio, char* buffer, std::size_t size, std::size_t* got)
{
    auto& self = *static_cast<Channel*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (self.sends_no_data()) return 0;
    const IoResult result =
        self.next_octets(MutableBytes(reinterpret_cast<std::byte*>(buffer), size));
    if (result.ok()) {
        const std::size_t more = std::min(self.first_.size() - self.first_size_, result.bytes);
        std::memcpy(self.first_.data() + self.first_size_, buffer, more);
        self.first_size_ += more;
        *got = result.bytes;
        return 1;
    }
    if (result.status == Status::would_block) {
        self.is_blocked_ = true;
        BIO_set_retry_read(bio);
    } else {
        self.is_at_end_ = result.status == Status::closed && result.error == 0;
        if (!self.is_at_end_) self.broken_ = result;
    }
    return 0;
}

/// Takes everything: what the descriptor does not take is kept, so that nothing that was encrypted
/// is ever encrypted anew.
int Channel::bio_write(BIO* bio, const char* data, std::size_t size, std::size_t* written)
{
    auto& self = *static_cast<Channel*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
    *written = size;
    if (self.unsent_.empty() && !self.broken_) {
        const IoResult sent = self.send(bytes);
        if (!sent.ok() && sent.status != Status::would_block) self.broken_ = sent;
        bytes = bytes.subspan(sent.bytes);
    }
    if (self.broken_ || self.unsent_.size() + bytes.size() > limits::unsent_max) {
        if (!self.broken_) self.broken_ = IoResult{.error = ENOBUFS, .status = Status::failed};
        return 0;
    }
    try {
        self.unsent_.insert(self.unsent_.end(), bytes.begin(), bytes.end());
    } catch (const std::bad_alloc&) {
        self.broken_ = IoResult{.error = ENOMEM, .status = Status::failed};
        return 0;
    }
    return 1;
}

long Channel::bio_control(BIO* bio, int command, long, void*)
{
    switch (command) {
    case BIO_CTRL_FLUSH:
        return 1;
    case BIO_CTRL_EOF:
        return static_cast<const Channel*>(BIO_get_data(bio))->is_at_end_ ? 1 : 0;
    default:
        return 0;
    }
}

/// Writes to the descriptor what it has not taken before.
net::IoResult Channel::flush() noexcept
{
    if (broken_) return *broken_;
    std::size_t done = 0;
    IoResult result;
    while (done < unsent_.size()) {
        result = send(Bytes(unsent_).subspan(done));
        done += result.bytes;
        if (!result.ok()) break;
    }
    if (done == unsent_.size())
        std::vector<std::byte>().swap(unsent_); // a connection that idles has none
    else
        unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(done));
    result.bytes = 0;
    if (!result.ok() && result.status != Status::would_block) broken_ = result;
    return result;
}

// --- shaking hands -------------------------------------------------------------------------------

net::IoResult Channel::shake_hands() noexcept
{
    const Turn turn(turn_);
    if (handshakes_) {
        std::byte octet{};
        if (receive(MutableBytes(&octet, 1), true).status == Status::would_block)
            return {.status = Status::would_block};
        if (!begin_handshake()) return refuse(why_);
    }
    for (;;) {
        is_blocked_ = false;
        ERR_clear_error();
        const int done = SSL_do_handshake(ssl_.get());
        const int error = SSL_get_error(ssl_.get(), done);
        const IoResult flushed = flush();
        if (flushed.status == Status::would_block) {
            want(net::Interest::writable);
            if (done == 1 || error == SSL_ERROR_WANT_READ) return flushed;
        }
        if (done == 1 && flushed.ok()) {
            end_handshake();
            return {};
        }
        if (error != SSL_ERROR_WANT_READ) return refuse_handshake(error);
        if (is_blocked_) return {.status = Status::would_block};
        if (++without_data_ > limits::without_data_max) return refuse_handshake(error);
    }
}

/// Takes a place: who sends nothing has none. False: why_ says why there is none.
bool Channel::begin_handshake() noexcept
{
    const std::shared_ptr<Handshakes> handshakes = std::exchange(handshakes_, nullptr);
    try {
        auto place = handshakes->begin(peer_number_);
        if (!place) {
            why_ = place.error().reason;
            return false;
        }
        place_ = std::move(place).value();
        return true;
    } catch (const std::bad_alloc&) {
        why_ = "out of memory";
        return false;
    }
}

void Channel::end_handshake() noexcept
{
    without_data_ = 0;
    has_agreed_ = true;
    has_at_hand_ = SSL_has_pending(ssl_.get()) == 1;
    place_ = {};
}

net::IoResult Channel::refuse_handshake(int error) noexcept
{
    place_ = {};
    try {
        why_ = why_refused(error);
    } catch (const std::bad_alloc&) {
        return {.error = ENOMEM, .status = Status::failed};
    }
    return refuse(why_);
}

/// Why shaking hands has failed, with what can be done about it.
std::string Channel::why_refused(int error)
{
    const std::string_view came(first_.data(), first_size_);
    if (came == "GIOP")
        return is_server_ ? "it speaks GIOP in the clear where TLS is expected (ssliop://)"
                          : "the server speaks GIOP in the clear where TLS is expected";
    if (distrust_ != 0) {
        is_distrusted_ = true;
        return why_distrusted();
    }
    if (broken_) return std::string("while shaking hands: ") + std::strerror(broken_->error);
    if (sends_no_data()) return "the peer does not come to an end of shaking hands";
    if (is_at_end_ || error == SSL_ERROR_ZERO_RETURN || error == SSL_ERROR_SYSCALL)
        return "the peer has closed the connection while shaking hands";
    const unsigned long last = ERR_peek_last_error();
    const int reason = ERR_GET_REASON(last);
    if (ERR_GET_LIB(last) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET) {
        ERR_clear_error();
        return alert_received(reason - SSL_AD_REASON_OFFSET);
    }
    if (ERR_GET_LIB(last) == ERR_LIB_SSL && reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        ERR_clear_error();
        is_distrusted_ = true;
        return "the client shows no certificate (-ORBTlsVerifyClient required)";
    }
    return "no TLS: " + take_error();
}

/// What the other end says is wrong.
std::string Channel::alert_received(int alert)
{
    std::string text = std::string("the peer says '") + SSL_alert_desc_string_long(alert) + "'";
    switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
        is_distrusted_ = true;
        return text + " of our certificate (-ORBTlsCertificate)";
    case SSL_AD_CERTIFICATE_REQUIRED:
    case SSL_AD_HANDSHAKE_FAILURE: // what TLS 1.2 says of that
        is_distrusted_ = SSL_get_certificate(ssl_.get()) == nullptr && !is_server_;
        return text + (is_distrusted_ ? "; there is no -ORBTlsCertificate" : "");
    default:
        return text;
    }
}

std::string Channel::why_distrusted() const
{
    std::string text = "certificate " + distrusted_ + " is not accepted: " + why_distrusted_;
    if (!why_distrusted_.empty()) return text;
    switch (distrust_) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return text + "it is not for '" + host_ + "' (-ORBTlsVerifyServer name)";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
        return text + X509_verify_cert_error_string(distrust_) +
               ": nobody whom -ORBTlsTrust names has signed it";
    case X509_V_ERR_CERT_REVOKED:
        return text + "it was revoked (-ORBTlsRevocations)";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
        return text + "-ORBTlsRevocations has no list of who has signed it";
    case X509_V_ERR_CRL_HAS_EXPIRED:
        return text + "the list of who has signed it is too old (-ORBTlsRevocations)";
    case X509_V_ERR_CRL_NOT_YET_VALID:
    case X509_V_ERR_CRL_SIGNATURE_FAILURE:
    case X509_V_ERR_KEYUSAGE_NO_CRL_SIGN:
        return text + X509_verify_cert_error_string(distrust_) + " (-ORBTlsRevocations)";
    default:
        return text + X509_verify_cert_error_string(distrust_);
    }
}

/// Notes what is wrong with a certificate, and with which. That it is wrong stands.
int Channel::look_at_certificate(int accepted, X509_STORE_CTX* store)
{
    if (accepted == 1) return 1;
    auto* const ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto& self = *static_cast<Channel*>(SSL_get_app_data(ssl));
    if (self.distrust_ != 0) return 0;
    self.distrust_ = X509_STORE_CTX_get_error(store);
    const X509* const certificate = X509_STORE_CTX_get_current_cert(store);
    try {
        if (certificate == nullptr) return 0;
        self.distrusted_ = "'" + subject_of(*certificate) + "'";
        if (self.distrust_ == X509_V_ERR_HOSTNAME_MISMATCH ||
            self.distrust_ == X509_V_ERR_IP_ADDRESS_MISMATCH)
            self.distrusted_ += " of " + hosts_of(*certificate);
    } catch (const std::bad_alloc&) { // the message has no name then
    }
    return 0;
}

void Channel::distrust(SSL& ssl, std::string why)
{
    auto& self = *static_cast<Channel*>(SSL_get_app_data(&ssl));
    const X509* const certificate = SSL_get0_peer_certificate(&ssl);
    if (certificate != nullptr) self.distrusted_ = "'" + subject_of(*certificate) + "'";
    self.why_distrusted_ = std::move(why);
    self.distrust_ = X509_V_ERR_OCSP_VERIFY_FAILED;
}

// --- sessions ------------------------------------------------------------------------------------

int Channel::keep_session(SSL* ssl, SSL_SESSION* session)
{
    auto& self = *static_cast<Channel*>(SSL_get_app_data(ssl));
    if (!self.sessions_ || SSL_SESSION_is_resumable(session) != 1) return 0;
    try {
        self.sessions_->keep(self.peer_, SessionPointer(session));
    } catch (const std::bad_alloc&) { // it was freed
    }
    return 1;
}

void watch_sessions(SSL_CTX& context) { SSL_CTX_sess_set_new_cb(&context, &Channel::keep_session); }

// --- data ----------------------------------------------------------------------------------------

namespace {

/// Takes what OpenSSL has noted of this thread's errors away, which in most cases is nothing:
/// looking costs less.
void forget_errors() noexcept
{
    if (ERR_peek_error() != 0) ERR_clear_error();
}

} // namespace

/// Blocks in the descriptor, without the turn, where all that has come was taken: a reply then
/// costs one system call and not three.
void Channel::await_octets() noexcept
{
    if (!std::exchange(is_drained_, false)) return;
    const IoResult got = receive_waiting(ahead_);
    ahead_at_ = 0;
    ahead_size_ = got.bytes;
    if (!got.ok() && got.status != Status::would_block) ahead_end_ = got;
}

net::IoResult Channel::take(MutableBytes buffer, bool peek) noexcept
{
    const Turn turn(turn_);
    is_blocked_ = is_drained_ = false;
    const IoResult result = take_octets(buffer, peek);
    has_at_hand_ = !is_blocked_ && (ahead_at_ != ahead_size_ || SSL_has_pending(ssl_.get()) == 1);
    return result;
}

net::IoResult Channel::take_octets(MutableBytes buffer, bool peek) noexcept
{
    for (std::size_t done = 0;;) {
        forget_errors();
        const MutableBytes rest = buffer.subspan(done);
        std::size_t got = 0;
        const int read = peek ? SSL_peek_ex(ssl_.get(), rest.data(), rest.size(), &got)
                              : SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &got);
        if (read == 1) {
            without_data_ = 0;
            done += got;
            const bool has_more = ahead_at_ != ahead_size_ || SSL_has_pending(ssl_.get()) == 1;
            // Half a record is read again when the rest has come.
            if (!peek && done < buffer.size() && has_more) continue;
            is_drained_ = !peek && !has_more;
            return {.bytes = done};
        }
        const int error = SSL_get_error(ssl_.get(), read);
        if (done == 0 && (error != SSL_ERROR_WANT_READ || sends_no_data()))
            return end_of_reading(error);
        is_drained_ = error == SSL_ERROR_WANT_READ && is_blocked_;
        if (done != 0) return {.bytes = done}; // the next call tells
        if (is_blocked_) return {.status = Status::would_block};
    }
}

/// Says in the log what only TLS knows.
net::IoResult Channel::end_of_reading(int error) noexcept
{
    if (broken_) return *broken_;
    if (is_at_end_ || error == SSL_ERROR_ZERO_RETURN) return {.status = Status::closed};
    return fail();
}

net::IoResult Channel::fail(std::string_view known) noexcept
{
    try {
        const unsigned long last = ERR_peek_last_error();
        const int reason = ERR_GET_REASON(last);
        const bool is_alert = ERR_GET_LIB(last) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET;
        const std::string why = !known.empty()    ? std::string(known)
                                : sends_no_data() ? "it sends records without data"
                                : is_alert        ? alert_received(reason - SSL_AD_REASON_OFFSET)
                                                  : take_error();
        log::write_limited(log::Level::warning, peer_number_,
                           log::Line() << "TLS with " << peer_ << " has ended: " << why);
    } catch (const std::bad_alloc&) { // then without a word
    }
    ERR_clear_error();
    broken_ = IoResult{.error = EPROTO, .status = Status::failed};
    return *broken_;
}

namespace {

/// Octets of data in one record.
constexpr std::size_t record_size = 16'384;

/// Where a thread puts together what goes into one record.
struct RecordRoom {
    std::unique_ptr<std::byte[]> octets{new (std::nothrow) std::byte[record_size]};
};

/// Returns the calling thread's; null where there is no memory for it.
std::byte* record_room() noexcept
{
    try {
        return ThreadOwned<RecordRoom>::get().octets.get();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

/// Returns what goes into the next record; the first octets are skipped. It is where it was if one
/// segment fills the record, or is all there is. What is put together otherwise is what would be
/// left for the last record, so that most of a large argument behind a header is not copied.
Bytes next_record(std::span<const iovec> segments, std::size_t skipped) noexcept
{
    while (!segments.empty() && skipped >= segments.front().iov_len) {
        skipped -= segments.front().iov_len;
        segments = segments.subspan(1);
    }
    if (segments.empty()) return {};
    const auto octets_of = [](const iovec& segment) {
        return Bytes(static_cast<const std::byte*>(segment.iov_base), segment.iov_len);
    };
    const Bytes first = octets_of(segments.front()).subspan(skipped);
    std::size_t left = first.size();
    for (const iovec& segment : segments.subspan(1))
        left += segment.iov_len;
    const std::size_t beside = left % record_size;
    const std::size_t wanted =
        left > record_size && beside >= first.size() ? beside : std::min(left, record_size);
    std::byte* const room = first.size() >= wanted ? nullptr : record_room();
    if (room == nullptr) return first.first(std::min(first.size(), wanted));
    std::size_t size = 0;
    for (const iovec& segment : segments) {
        const Bytes octets = octets_of(segment).subspan(std::exchange(skipped, 0));
        const std::size_t count = std::min(octets.size(), wanted - size);
        if (count != 0) std::memcpy(room + size, octets.data(), count);
        size += count;
    }
    return {room, size};
}

} // namespace

net::IoResult Channel::put(std::span<const iovec> segments) noexcept
{
    std::size_t size = 0;
    for (const iovec& segment : segments)
        size += segment.iov_len;
    for (std::size_t done = 0;;) {
        const IoResult one = put_record(segments, done);
        done += one.bytes;
        if (one.ok() && done < size && owed_ == 0) continue;
        return one.ok() || done != 0 ? IoResult{.bytes = done} : one; // the next call tells
    }
}

/// Has a turn of its own: who reads need not wait until all is written. Returns no octets when
/// there are none left.
net::IoResult Channel::put_record(std::span<const iovec> segments, std::size_t skipped) noexcept
{
    const Turn turn(turn_);
    if (const IoResult flushed = flush(); !flushed.ok()) return flushed;
    std::size_t done = std::exchange(owed_, 0);
    const Bytes record = next_record(segments, skipped + done);
    if (record.empty()) return {.bytes = done};
    forget_errors();
    std::size_t written = 0;
    is_putting_ = true;
    const int put = SSL_write_ex(ssl_.get(), record.data(), record.size(), &written);
    is_putting_ = false;
    if (put != 1) {
        // Whoever has begun a message, such as a ticket, has to end it before we write: real peers
        // send each in one record.
        if (!broken_)
            return fail(SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_READ
                            ? "it has sent half a message of TLS"
                            : std::string_view());
        ERR_clear_error();
        return *broken_;
    }
    done += written;
    if (broken_) return *broken_;
    if (!unsent_.empty()) {
        owed_ = 1;
        if (--done == 0) return {.status = Status::would_block};
    }
    return {.bytes = done};
}

namespace {

std::uint64_t number_of(const net::Channel& channel) noexcept
{
    return typeid(channel) == typeid(Channel) ? static_cast<const Channel&>(channel).number() : 0;
}

Result<orb::PeerCertificate> certificate_of(const net::Channel& channel)
{
    const auto* const own = dynamic_cast<const Channel*>(&channel);
    return own == nullptr ? orb::PeerCertificate{} : own->trusted_certificate();
}

} // namespace
} // namespace kairos::tls

namespace kairos::orb {

/// What kairos/access and kairos/csiv2 ask for.
KAIROS_API const TlsPeers& tls_peers();

const TlsPeers& tls_peers()
{
    static constexpr TlsPeers peers{.number_of = &tls::number_of,
                                    .certificate_of = &tls::certificate_of,
                                    .first_of_chain = &tls::first_of_chain,
                                    .written_name = &tls::written_name};
    return peers;
}

} // namespace kairos::orb
