// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/watched_context.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/tls/channel.h"
#include "kairos/tls/limits.h"

#include <array>
#include <fstream>
#include <new>
#include <utility>

namespace kairos::tls {
namespace {

/// Of what is in these files; of folders, nothing.
std::string digest_of(const std::vector<std::string>& files)
{
    const Owned<EVP_MD_CTX, &EVP_MD_CTX_free> digest(EVP_MD_CTX_new());
    if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) return "none";
    for (const std::string& file : files) {
        std::ifstream octets(file, std::ios::binary);
        std::array<char, 4096> some{};
        while (octets.read(some.data(), some.size()) || octets.gcount() != 0)
            EVP_DigestUpdate(digest.get(), some.data(), static_cast<std::size_t>(octets.gcount()));
        EVP_DigestUpdate(digest.get(), "", 1);
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> made{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(digest.get(), made.data(), &size);
    return {reinterpret_cast<const char*>(made.data()), size};
}

} // namespace

WatchedContext::WatchedContext(Side side, const orb::TlsOptions& options)
    : side_(side), options_(options), files_(files_of(side, options))
{
}

/// The calling thread looks at the files, as long as it lives.
class WatchedContext::Looking {
  public:
    explicit Looking(WatchedContext& watched) noexcept : watched_(watched) {}
    ~Looking()
    {
        const std::lock_guard lock(watched_.mutex_);
        watched_.is_looking_ = false;
    }
    Looking(const Looking&) = delete;
    Looking& operator=(const Looking&) = delete;

  private:
    WatchedContext& watched_;
};

Result<WatchedContext::InForce> WatchedContext::get(Clock::time_point now)
{
    bool is_first = false;
    {
        const std::lock_guard lock(mutex_);
        is_first = !state_.context;
        if (!is_first) {
            if (is_looking_ || now - looked_ < limits::watch_interval) return in_force();
            is_looking_ = true;
            looked_ = now;
        }
    }
    if (is_first) return read_first(now);
    {
        const Looking looking(*this);
        look_at_files();
    }
    const std::lock_guard lock(mutex_);
    return in_force();
}

WatchedContext::InForce WatchedContext::in_force() const
{
    assert_held(mutex_);
    SSL_CTX_up_ref(state_.context.get());
    return {.context = ContextPointer(state_.context.get()), .sessions = state_.sessions};
}

/// Several threads may, at once. All go on with what one of them has read.
Result<WatchedContext::InForce> WatchedContext::read_first(Clock::time_point now)
{
    auto read = read_files(FileStamps(files_));
    if (!read) return read.error();
    const std::lock_guard lock(mutex_);
    if (!state_.context) {
        state_ = std::move(read).value();
        looked_ = now;
    }
    return in_force();
}

/// The stamps are of before: what is written meanwhile is seen the next time.
Result<WatchedContext::State> WatchedContext::read_files(FileStamps stamps) const
{
    std::string contents = stamps.are_fresh() ? digest_of(files_) : std::string();
    auto made = make_context(side_, options_);
    if (!made) return made.error();
    State read{.stamps = std::move(stamps),
               .context = std::move(made).value(),
               .sessions = {},
               .contents = std::move(contents)};
    if (side_ == Side::server) return read;
    watch_sessions(*read.context);
    read.sessions = std::make_shared<Sessions>();
    return read;
}

bool WatchedContext::are_unchanged(const FileStamps& stamps)
{
    if (stamps != state_.stamps) return false; // nobody else changes what is in force
    if (state_.contents.empty()) return true;
    if (digest_of(files_) != state_.contents) return false;
    state_.contents.clear();
    return true;
}

/// By one thread at a time.
void WatchedContext::look_at_files()
{
    assert_not_held(mutex_);
    const std::string_view whose = side_ == Side::server ? "servers" : "clients";
    try {
        FileStamps stamps(files_);
        if (!failure_ && are_unchanged(stamps)) return;
        auto read = read_files(stamps);
        if (read) {
            State before = std::move(read).value();
            {
                const std::lock_guard lock(mutex_);
                std::swap(state_, before);
            }
            // Whoever has read of the failure reads of its end.
            const auto level = failure_ ? log::Level::warning : log::Level::info;
            failure_.reset();
            const log::Line line = log::Line() << "TLS: the files of -ORBTls… have changed and "
                                                  "are in force for new connections of "
                                               << whose;
            log::write(level, line.text());
            return;
        }
        Failure failure{.stamps = std::move(stamps), .reason = read.error().reason};
        if (failure_ == failure) return;
        failure_ = std::move(failure);
        log::warning(log::Line() << failure_->reason
                                 << "; what was read before stays in force for connections of "
                                 << whose);
    } catch (const std::bad_alloc&) { // the next look is as this
        log::warning(log::Line() << "TLS: no memory to look at the files of -ORBTls… for "
                                    "connections of "
                                 << whose);
    }
}

} // namespace kairos::tls
