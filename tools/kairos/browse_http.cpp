// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/browse_http.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <fstream>
#include <httplib.h>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <set>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kairos::tools {
namespace {

using Clock = std::chrono::steady_clock;

/// What is read and thrown away of a request that was refused, so that its sender sees why.
constexpr std::size_t drained_octets_max = 4 * browse_body_octets_max;
constexpr std::size_t request_octets_max = browse_head_octets_max + browse_body_octets_max;

/// Scripts and styles are files of the page, nothing else is loaded, and nobody frames it.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string body_of(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// An answer that is written without a parser, because none has seen the request.
std::string plain_answer(const Refusal& refusal)
{
    const std::string body = body_of({{"error", refusal.reason}});
    return fmt::format(
        "HTTP/1.1 {} Refused\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{}",
        refusal.status, body.size(), body);
}

/// A connection, from its first octet to its last. A sender has until a deadline for all of the
/// request, not for each octet, and so has who reads the answer. One thread.
class BoundedStream final : public httplib::Stream {
  public:
    BoundedStream(int socket, std::chrono::milliseconds patience)
        : socket_(socket), patience_(patience), read_until_(Clock::now() + patience)
    {
    }

    /// Reads up to the empty line, and keeps what it has read for `read`. Nothing where the
    /// sender ends or takes too long.
    [[nodiscard]] Refusal read_head(std::string& head)
    {
        constexpr std::string_view end = "\r\n\r\n";
        std::size_t looked = 0;
        for (;;) {
            const std::size_t found = buffer_.find(end, looked);
            if (found != std::string::npos) {
                head = buffer_.substr(0, found + end.size());
                return {};
            }
            looked = buffer_.size() < end.size() ? 0 : buffer_.size() - end.size() + 1;
            if (buffer_.size() >= browse_head_octets_max) return {431, "the head is too long"};
            if (!receive()) return {408, "the request did not come in time"};
        }
    }

    bool is_readable() const override { return taken_ < buffer_.size() || wait(POLLIN); }
    bool is_writable() const override { return true; } // `write` waits
    ssize_t read(char* to, size_t size) override
    {
        if (taken_ == buffer_.size()) {
            buffer_.clear();
            taken_ = 0;
            if (received_ >= request_octets_max || !receive()) return -1;
        }
        const std::size_t octets = std::min(size, buffer_.size() - taken_);
        std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(taken_), octets, to);
        taken_ += octets;
        return static_cast<ssize_t>(octets);
    }
    ssize_t write(const char* from, size_t size) override
    {
        if (write_until_ == Clock::time_point()) write_until_ = Clock::now() + patience_;
        std::size_t sent = 0;
        while (sent < size) {
            const ssize_t octets =
                ::send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (octets > 0)
                sent += static_cast<std::size_t>(octets);
            else if (errno != EAGAIN && errno != EINTR)
                return -1;
            else if (errno == EAGAIN && !wait(POLLOUT))
                return -1;
        }
        return static_cast<ssize_t>(size);
    }
    void get_remote_ip_and_port(std::string& ip, int& port) const override
    {
        ip.clear(); // nobody asks
        port = 0;
    }
    void get_local_ip_and_port(std::string& ip, int& port) const override
    {
        ip.clear();
        port = 0;
    }
    socket_t socket() const override { return socket_; }

    /// Lets the other side read what was written: a connection that is closed with octets unread is
    /// reset, and the answer may be lost.
    void drain()
    {
        ::shutdown(socket_, SHUT_WR);
        while (received_ < drained_octets_max) {
            buffer_.clear();
            if (!receive()) return;
        }
    }

  private:
    [[nodiscard]] bool wait(short events) const
    {
        const auto until = events == POLLOUT ? write_until_ : read_until_;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        if (left <= 0) return false;
        pollfd watched{.fd = socket_, .events = events, .revents = 0};
        return ::poll(&watched, 1, static_cast<int>(left)) > 0;
    }

    /// Appends to the buffer what is there, or comes in time.
    [[nodiscard]] bool receive()
    {
        std::array<char, 4096> octets{};
        while (wait(POLLIN)) {
            const ssize_t size = ::recv(socket_, octets.data(), octets.size(), MSG_DONTWAIT);
            if (size > 0) {
                buffer_.append(octets.data(), static_cast<std::size_t>(size));
                received_ += static_cast<std::size_t>(size);
                return true;
            }
            if (size == 0 || (errno != EAGAIN && errno != EINTR)) return false;
        }
        return false;
    }

    const int socket_;
    const std::chrono::milliseconds patience_;
    const Clock::time_point read_until_;
    Clock::time_point write_until_{};
    std::string buffer_;
    std::size_t taken_ = 0; // of the buffer
    std::size_t received_ = 0;
};

/// Set while a connection is only told that there are too many.
thread_local bool is_refusing = false;

/// So many threads, and so many connections that wait for one.
class BoundedQueue final : public httplib::TaskQueue {
  public:
    /// `ended` is called when no more connections come, before those that there are have ended.
    /// Throws std::system_error where the system gives no threads.
    BoundedQueue(std::size_t threads, std::size_t waiting_max, std::function<void()> ended)
        : waiting_max_(waiting_max), ended_(std::move(ended))
    {
        try {
            for (std::size_t i = 0; i < threads; ++i)
                threads_.emplace_back([this] { serve(); });
        } catch (...) {
            end_threads();
            throw;
        }
    }
    BoundedQueue(const BoundedQueue&) = delete;
    BoundedQueue& operator=(const BoundedQueue&) = delete;
    ~BoundedQueue() override { end_threads(); }

    void enqueue(std::function<void()> serve_one) override
    {
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.size() < waiting_max_) {
                waiting_.push_back(std::move(serve_one));
                changed_.notify_one();
                return;
            }
        }
        is_refusing = true;
        serve_one();
        is_refusing = false;
    }
    void shutdown() override
    {
        ended_();
        end_threads();
    }

  private:
    void end_threads()
    {
        {
            const std::lock_guard lock(mutex_);
            is_ending_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
        threads_.clear();
    }

    void serve()
    {
        for (;;) {
            std::function<void()> serve_one;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
                if (waiting_.empty()) return;
                serve_one = std::move(waiting_.front());
                waiting_.pop_front();
            }
            serve_one();
        }
    }

    const std::size_t waiting_max_;
    const std::function<void()> ended_;
    std::mutex mutex_; // guards waiting_, is_ending_; inside nothing
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    bool is_ending_ = false;
    std::vector<std::thread> threads_;
};

struct PageFile {
    std::string content;
    const char* type = nullptr;
};

/// All files of the page, by path: what is not among them is not there.
std::map<std::string, PageFile> read_files(const std::string& folder)
{
    constexpr std::array<std::array<const char*, 3>, 4> files{{
        {"/", "index.html", "text/html; charset=utf-8"},
        {"/browse.css", "browse.css", "text/css; charset=utf-8"},
        {"/browse.js", "browse.js", "text/javascript; charset=utf-8"},
        {"/favicon.svg", "favicon.svg", "image/svg+xml"},
    }};
    std::map<std::string, PageFile> read;
    for (const auto& [path, name, type] : files) {
        const std::string file_name = folder + "/" + name;
        std::ifstream file(file_name, std::ios::binary);
        std::string content(std::istreambuf_iterator<char>(file), {});
        if (!file || content.empty())
            throw std::runtime_error("the page is not installed: cannot read " + file_name);
        read.emplace(path, PageFile{std::move(content), type});
    }
    return read;
}

/// The names that mean this machine whatever it listens at.
std::vector<std::string> names_of(const BrowseHttpOptions& options)
{
    std::vector<std::string> names = options.hosts;
    const bool is_v6 = options.host.find(':') != std::string::npos;
    names.push_back(is_v6 ? "[" + options.host + "]" : options.host);
    for (const char* loopback : {"127.0.0.1", "localhost", "[::1]"})
        names.emplace_back(loopback);
    return names;
}

} // namespace

class BrowseHttp::Server final : public httplib::Server {
  public:
    Server(BrowseHttpOptions options, Answer answer)
        : options_(std::move(options)), answer_(std::move(answer)),
          files_(read_files(options_.files))
    {
        new_task_queue = [this] {
            return new BoundedQueue(options_.threads, options_.waiting_max,
                                    [this] { end_of_accepting(); });
        };
        set_payload_max_length(browse_body_octets_max);
        set_default_headers({{"Content-Security-Policy", content_policy},
                             {"X-Content-Type-Options", "nosniff"},
                             {"Referrer-Policy", "no-referrer"},
                             {"Cross-Origin-Opener-Policy", "same-origin"},
                             {"Cross-Origin-Resource-Policy", "same-origin"},
                             {"Cache-Control", "no-store"}});
        set_pre_routing_handler(
            [this](const httplib::Request& request, httplib::Response& response) {
                return take(request, response);
            });
        // The library matches by std::regex, which is no friend of long texts: `take` lets none by.
        Post("/api/[a-z]+", [this](const httplib::Request& request, httplib::Response& response) {
            serve_call(request, response);
        });
        set_tcp_nodelay(true);
        port_ = begin_to_listen();
        guard_.emplace(names_of(options_), port_, options_.token);
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    void run(std::function<void()> lost)
    {
        lost_ = std::move(lost);
        listen_after_bind();
    }

    void end()
    {
        bool is_lost = false;
        {
            const std::lock_guard lock(mutex_);
            is_ended_ = true;
            is_lost = is_lost_;
            for (const int socket : sockets_)
                ::shutdown(socket, SHUT_RDWR);
        }
        if (is_lost) return; // the library has closed the socket, and does not know that
        stop();
        // Does nothing before `run` has begun to accept, which then shall not.
        if (const int listening = svr_sock_; listening != INVALID_SOCKET)
            ::shutdown(listening, SHUT_RDWR);
    }

  private:
    /// The library accepts until it is told to stop, or until that fails: then it says nothing.
    void end_of_accepting()
    {
        {
            const std::lock_guard lock(mutex_);
            if (is_ended_) return;
            is_lost_ = true;
        }
        lost_();
    }

    [[nodiscard]] std::uint16_t begin_to_listen()
    {
        const std::string& host = options_.host;
        const int port = options_.port != 0
                             ? (bind_to_port(host, options_.port) ? options_.port : -1)
                             : bind_to_any_port(host);
        if (port <= 0)
            throw std::runtime_error(
                fmt::format("cannot listen at {} port {}", host, options_.port));
        // The library's is 5: who comes with others would have to try again, a second later.
        (void)::listen(svr_sock_, static_cast<int>(options_.waiting_max));
        return static_cast<std::uint16_t>(port);
    }

    bool process_and_close_socket(socket_t socket) override
    {
        bool is_served = false;
        try {
            is_served = is_refusing ? refuse(socket) : serve(socket);
        } catch (const std::exception&) { // no memory: this connection is over, the others are not
        }
        {
            const std::lock_guard lock(mutex_);
            sockets_.erase(socket);
        }
        ::close(socket);
        return is_served;
    }

    /// Nobody waits for who is one too many.
    static bool refuse(int socket)
    {
        const std::string answer = plain_answer({503, "too many connections"});
        (void)::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return false;
    }

    bool serve(int socket)
    {
        {
            const std::lock_guard lock(mutex_);
            if (is_ended_) return false;
            sockets_.insert(socket);
        }
        BoundedStream stream(socket, options_.patience);
        std::string head;
        Refusal refusal = stream.read_head(head);
        if (!refusal) refusal = judge_head(head);
        bool is_served = false;
        if (refusal) {
            const std::string answer = plain_answer(refusal);
            (void)stream.write(answer.data(), answer.size());
        } else {
            bool is_closed = false;
            is_served = process_request(stream, true, is_closed, nullptr);
        }
        stream.drain();
        return is_served;
    }

    /// Comes before the body is read.
    HandlerResponse take(const httplib::Request& request, httplib::Response& response) const
    {
        const Refusal refusal =
            guard_->judge({.method = request.method,
                           .path = request.path,
                           .host = request.get_header_value("Host"),
                           .origin = request.get_header_value("Origin"),
                           .fetch_site = request.get_header_value("Sec-Fetch-Site"),
                           .content_type = request.get_header_value("Content-Type"),
                           .token = request.get_header_value("X-Kairos-Token")});
        if (refusal) return say(response, refusal.status, {{"error", refusal.reason}});
        if (BrowseGuard::is_call(request.path)) return HandlerResponse::Unhandled;
        const auto file = files_.find(request.path);
        if (file == files_.end()) return say(response, 404, {{"error", "there is no such file"}});
        response.set_content(file->second.content, file->second.type);
        response.status = 200;
        return HandlerResponse::Handled;
    }

    void serve_call(const httplib::Request& request, httplib::Response& response) const
    {
        BrowseCall call;
        try {
            call = browse_call_of(request.path, request.body);
        } catch (const std::runtime_error& wrong) {
            say(response, 400, {{"error", wrong.what()}});
            return;
        }
        const std::string text = body_of(answer_(call));
        if (text.size() > browse_answer_octets_max) {
            say(response, 200, {{"error", "the answer is too large to be shown"}});
            return;
        }
        response.set_content(text, "application/json");
        response.status = 200;
    }

    static HandlerResponse say(httplib::Response& response, int status, const Json& what)
    {
        response.status = status;
        response.set_content(body_of(what), "application/json");
        return HandlerResponse::Handled;
    }

    const BrowseHttpOptions options_;
    const Answer answer_;
    const std::map<std::string, PageFile> files_;
    std::uint16_t port_ = 0;
    std::optional<BrowseGuard> guard_;
    std::function<void()> lost_; // set before there is another thread
    std::mutex mutex_;           // guards sockets_, is_ended_, is_lost_; inside nothing
    std::set<int> sockets_;
    bool is_ended_ = false; // it was told to end
    bool is_lost_ = false;  // nothing is accepted, though nobody has told it to end
};

BrowseHttp::BrowseHttp(BrowseHttpOptions options, Answer answer)
    : server_(std::make_unique<Server>(std::move(options), std::move(answer)))
{
}

BrowseHttp::~BrowseHttp() = default;

std::uint16_t BrowseHttp::port() const noexcept { return server_->port(); }

void BrowseHttp::run(std::function<void()> lost) { server_->run(std::move(lost)); }

void BrowseHttp::end() { server_->end(); }

} // namespace kairos::tools
