// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/resolver.h"

#include "kairos/base/limits.h"
#include "kairos/net/system_error.h"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace kairos::net {
namespace {

using Answer = Result<std::vector<Address>>;

/// Shared by who asks and who waits: either may be gone before the other.
struct Question {
    std::string host;
    std::uint16_t port;
    Resolver resolver;
    std::mutex mutex; // guards what follows
    std::condition_variable answered;
    std::optional<Answer> answer;
};

std::atomic<std::size_t> open_questions{0};

void ask(const std::shared_ptr<Question>& question)
{
    Answer answer = question->resolver(question->host, question->port);
    open_questions.fetch_sub(1);
    const std::lock_guard lock(question->mutex);
    question->answer = std::move(answer);
    question->answered.notify_one();
}

/// Detached, and without the program's signals. False if the system has no thread left.
bool ask_elsewhere(const std::shared_ptr<Question>& question)
{
    sigset_t all;
    sigset_t former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    bool started = true;
    try {
        std::thread([question] { ask(question); }).detach();
    } catch (const std::system_error&) {
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
    return started;
}

Error failure(std::string_view host, int error)
{
    return system_error("cannot resolve host '" + std::string(host) + "'", error,
                        ErrorCode::unreachable);
}

} // namespace

Result<std::vector<Address>> resolve(std::string_view host, std::uint16_t port, Deadline deadline,
                                     Resolver resolver)
{
    if (auto numeric = Address::parse(host, port)) return std::vector<Address>{*numeric};
    if (deadline.is_never()) return resolver(host, port);
    const auto question = std::make_shared<Question>();
    question->host = host;
    question->port = port;
    question->resolver = resolver;
    if (open_questions.fetch_add(1) >= limits::open_questions_max || !ask_elsewhere(question)) {
        open_questions.fetch_sub(1);
        return failure(host, EAGAIN);
    }
    std::unique_lock lock(question->mutex);
    const bool answered = question->answered.wait_until(
        lock, deadline.at(), [&] { return question->answer.has_value(); });
    if (!answered) return failure(host, ETIMEDOUT);
    return std::move(*question->answer);
}

} // namespace kairos::net
