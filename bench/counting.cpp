// SPDX-License-Identifier: Apache-2.0
#include "bench/counting.h"

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kairos::bench {
namespace {

constexpr std::pair<long, const char*> syscall_names[] = {
#define KAIROS_SYSCALL(name)                                                                       \
    {                                                                                              \
        SYS_##name, #name                                                                          \
    }
    KAIROS_SYSCALL(read),           KAIROS_SYSCALL(write),        KAIROS_SYSCALL(readv),
    KAIROS_SYSCALL(writev),         KAIROS_SYSCALL(recvfrom),     KAIROS_SYSCALL(sendto),
    KAIROS_SYSCALL(recvmsg),        KAIROS_SYSCALL(sendmsg),      KAIROS_SYSCALL(recvmmsg),
    KAIROS_SYSCALL(sendmmsg),       KAIROS_SYSCALL(ppoll),        KAIROS_SYSCALL(pselect6),
    KAIROS_SYSCALL(epoll_pwait),    KAIROS_SYSCALL(epoll_ctl),    KAIROS_SYSCALL(futex),
    KAIROS_SYSCALL(sched_yield),    KAIROS_SYSCALL(nanosleep),    KAIROS_SYSCALL(clock_nanosleep),
    KAIROS_SYSCALL(clock_gettime),  KAIROS_SYSCALL(gettimeofday), KAIROS_SYSCALL(setsockopt),
    KAIROS_SYSCALL(getsockopt),     KAIROS_SYSCALL(getsockname),  KAIROS_SYSCALL(getpeername),
    KAIROS_SYSCALL(accept),         KAIROS_SYSCALL(accept4),      KAIROS_SYSCALL(socket),
    KAIROS_SYSCALL(connect),        KAIROS_SYSCALL(shutdown),     KAIROS_SYSCALL(close),
    KAIROS_SYSCALL(fcntl),          KAIROS_SYSCALL(ioctl),        KAIROS_SYSCALL(mmap),
    KAIROS_SYSCALL(munmap),         KAIROS_SYSCALL(mprotect),     KAIROS_SYSCALL(madvise),
    KAIROS_SYSCALL(mremap),         KAIROS_SYSCALL(brk),          KAIROS_SYSCALL(rt_sigaction),
    KAIROS_SYSCALL(rt_sigprocmask), KAIROS_SYSCALL(clone),        KAIROS_SYSCALL(clone3),
    KAIROS_SYSCALL(exit),           KAIROS_SYSCALL(exit_group),   KAIROS_SYSCALL(gettid),
    KAIROS_SYSCALL(getpid),
#ifdef SYS_poll
    KAIROS_SYSCALL(poll),
#endif
#ifdef SYS_select
    KAIROS_SYSCALL(select),
#endif
#ifdef SYS_epoll_wait
    KAIROS_SYSCALL(epoll_wait),
#endif
#undef KAIROS_SYSCALL
};

/// The letter of a thread's state: the first field after the command's closing bracket.
char state_in(const std::filesystem::path& stat_file)
{
    std::ifstream file(stat_file);
    std::string text;
    std::getline(file, text);
    const std::size_t bracket = text.rfind(')');
    return bracket != std::string::npos && bracket + 2 < text.size() ? text[bracket + 2] : '?';
}

/// Every thread of the process sleeps, and so do those of its children (a tracer's program).
bool at_rest(pid_t process)
{
    std::error_code failure;
    const auto tasks = fmt::format("/proc/{}/task", process);
    for (const auto& thread : std::filesystem::directory_iterator(tasks, failure)) {
        if (state_in(thread.path() / "stat") != 'S') return false;
        std::ifstream children(thread.path() / "children");
        for (pid_t child = 0; children >> child;)
            if (!at_rest(child)) return false;
    }
    return !failure;
}

} // namespace

Counts& Counts::operator-=(const Counts& other)
{
    allocations -= other.allocations;
    locks -= other.locks;
    condition_actions -= other.condition_actions;
    requests_served -= other.requests_served;
    for (std::size_t number = 0; number < syscalls.size(); ++number)
        syscalls[number] -= other.syscalls[number];
    looks -= other.looks;
    return *this;
}

Result<CountedPage> CountedPage::create()
{
    CountedPage counted;
    counted.descriptor_ = memfd_create("kairos-counts", MFD_CLOEXEC);
    if (counted.descriptor_ < 0 || ftruncate(counted.descriptor_, sizeof(CountPage)) != 0)
        return Error{ErrorCode::system, "no memory file for the counters", errno};
    void* memory = mmap(nullptr, sizeof(CountPage), PROT_READ | PROT_WRITE, MAP_SHARED,
                        counted.descriptor_, 0);
    if (memory == MAP_FAILED) return Error{ErrorCode::system, "no page for the counters", errno};
    counted.page_ = static_cast<CountPage*>(memory);
    return counted;
}

CountedPage::CountedPage(CountedPage&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), page_(std::exchange(other.page_, nullptr))
{
}

CountedPage::~CountedPage()
{
    if (page_ != nullptr) munmap(page_, sizeof(CountPage));
    if (descriptor_ >= 0) close(descriptor_);
}

std::string CountedPage::environment() const
{
    return fmt::format("{}={}", count_descriptor_variable, descriptor_);
}

Counts CountedPage::read() const
{
    const auto value = [](const std::atomic<std::uint64_t>& counter) {
        return static_cast<std::int64_t>(counter.load());
    };
    Counts counts{.allocations = value(page_->allocations),
                  .locks = value(page_->locks),
                  .condition_actions = value(page_->condition_actions),
                  .requests_served = value(page_->requests_served),
                  .syscalls = {},
                  .looks = value(page_->looks)};
    for (std::size_t number = 0; number < counts.syscalls.size(); ++number)
        counts.syscalls[number] = value(page_->syscalls[number]);
    return counts;
}

bool wait_until_at_rest(pid_t process, std::chrono::seconds patience)
{
    const auto deadline = std::chrono::steady_clock::now() + patience;
    // Twice in a row: a thread may have been woken just after it was looked at.
    for (int in_a_row = 0; in_a_row < 2;) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        in_a_row = at_rest(process) ? in_a_row + 1 : 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

std::string syscall_name(std::size_t number)
{
    for (const auto& [candidate, name] : syscall_names)
        if (static_cast<std::size_t>(candidate) == number) return name;
    return fmt::format("syscall {}", number);
}

Result<std::int64_t> collected_instructions(std::string_view callgrind_output)
{
    constexpr std::string_view label = "Collected : ";
    const std::size_t at = callgrind_output.rfind(label);
    std::int64_t count = 0;
    if (at != std::string_view::npos) {
        const char* first = callgrind_output.data() + at + label.size();
        const char* last = callgrind_output.data() + callgrind_output.size();
        if (std::from_chars(first, last, count).ec == std::errc{}) return count;
    }
    return Error{ErrorCode::malformed, "valgrind said nothing about collected instructions"};
}

} // namespace kairos::bench
