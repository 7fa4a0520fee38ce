// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/profile.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::types {

constinit std::atomic<bool> probes_on{false};

namespace {

constinit std::atomic<const Probe*> used_probes{nullptr};
constinit thread_local Measurement* innermost = nullptr;

/// Where the profile goes. Constant-initialised and never destroyed: ORBs may outlive statics.
struct Output {
    std::mutex mutex; // guards what follows
    int descriptor = -1;
    unsigned users = 0; ///< ORBs that want it written
    pid_t owner = 0;    ///< a child of the process has its descriptor, but is not what it measures
};
constinit Output output;

[[nodiscard]] std::uint64_t now_ns() noexcept
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

[[gnu::cold]] void list(Probe& probe) noexcept
{
    if (probe.listed.exchange(true, std::memory_order_relaxed)) return;
    probe.next = used_probes.load(std::memory_order_relaxed);
    while (!used_probes.compare_exchange_weak(probe.next, &probe, std::memory_order_release,
                                              std::memory_order_relaxed)) {
    }
}

[[nodiscard]] std::string reason_of(int error) { return std::generic_category().message(error); }

// --- The file ----------------------------------------------------------------------------------

/// By name, so that two profiles can be compared by eye.
[[nodiscard]] std::vector<const Probe*> sorted_probes()
{
    std::vector<const Probe*> probes;
    for (const Probe* probe = used_probes.load(std::memory_order_acquire); probe != nullptr;
         probe = probe->next)
        probes.push_back(probe);
    const auto key = [](const Probe* probe) {
        return std::tuple(std::string_view(probe->name), std::string_view(probe->what));
    };
    std::sort(probes.begin(), probes.end(),
              [&](const Probe* left, const Probe* right) { return key(left) < key(right); });
    return probes;
}

[[nodiscard]] std::string profile_text()
{
    const std::vector<const Probe*> probes = sorted_probes();
    if (probes.empty())
        log::warning("-ORBProfileTypes: nothing was measured: no code from kairos-idl "
                     "--instrument was called");
    std::string text = "kairos-profile 1\n";
    for (const Probe* probe : probes) {
        text.append(probe->what);
        for (const auto* figure : {&probe->calls, &probe->total_ns, &probe->self_ns})
            text.append(" ").append(std::to_string(figure->load(std::memory_order_relaxed)));
        text.append(" ").append(probe->name).append("\n");
    }
    return text;
}

void write_all(int descriptor, std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            log::error("-ORBProfileTypes: cannot write the profile: " + reason_of(errno));
            return;
        }
    }
}

/// Must hold output.mutex.
void write_profile() noexcept
try {
    assert_held(output.mutex);
    probes_on.store(false, std::memory_order_relaxed);
    const int descriptor = std::exchange(output.descriptor, -1);
    if (descriptor < 0) return;
    if (output.owner == ::getpid()) write_all(descriptor, profile_text());
    ::close(descriptor);
} catch (const std::bad_alloc&) {
    log::error("-ORBProfileTypes: no memory for the profile");
}

/// For programs that end without destroying their ORB.
void write_at_exit() noexcept
{
    const std::lock_guard lock(output.mutex);
    output.users = 0;
    write_profile();
}

[[nodiscard]] Error refusal(const std::string& path, const std::string& why)
{
    return Error{ErrorCode::invalid_argument,
                 "-ORBProfileTypes: cannot write '" + path + "': " + why};
}

[[nodiscard]] bool is_output(const std::string& path)
{
    struct stat wanted = {};
    struct stat open = {};
    return ::stat(path.c_str(), &wanted) == 0 && ::fstat(output.descriptor, &open) == 0 &&
           wanted.st_dev == open.st_dev && wanted.st_ino == open.st_ino;
}

} // namespace

void Measurement::begin(Probe& probe) noexcept
{
    if (!probe.listed.load(std::memory_order_relaxed)) list(probe);
    probe_ = &probe;
    outer_ = innermost;
    innermost = this;
    begin_ns_ = now_ns();
}

void Measurement::finish() noexcept
{
    const std::uint64_t total = now_ns() - begin_ns_;
    innermost = outer_;
    bool within_itself = false; // a recursive type
    for (const Measurement* outer = outer_; outer != nullptr; outer = outer->outer_)
        within_itself = within_itself || outer->probe_ == probe_;
    probe_->calls.fetch_add(1, std::memory_order_relaxed);
    if (!within_itself) probe_->total_ns.fetch_add(total, std::memory_order_relaxed);
    probe_->self_ns.fetch_add(total - std::min(total, inner_ns_), std::memory_order_relaxed);
    if (outer_ != nullptr) outer_->inner_ns_ += total;
    probe_ = nullptr;
}

Result<void> start_profile(const std::string& path)
{
    const std::lock_guard lock(output.mutex);
    if (output.users != 0) {
        if (!is_output(path)) return refusal(path, "the process writes its profile elsewhere");
        ++output.users;
        return {};
    }
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return refusal(path, reason_of(errno));
    static const int registered = std::atexit(&write_at_exit);
    static_cast<void>(registered); // if that failed, orderly ends of the ORB still write
    output.descriptor = descriptor;
    output.users = 1;
    output.owner = ::getpid();
    probes_on.store(true, std::memory_order_relaxed);
    return {};
}

void end_profile() noexcept
{
    const std::lock_guard lock(output.mutex);
    if (output.users == 0 || --output.users != 0) return;
    write_profile();
}

} // namespace kairos::types
