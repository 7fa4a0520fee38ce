// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/thread.h"

#include "kairos/net/system.h"
#include "kairos/net/system_error.h"
#include "kairos/net/thread_runner.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <malloc.h>
#include <memory>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace kairos::net {
namespace {

/// Linux's limit, without the terminator.
constexpr std::size_t name_size_max = 15;

struct Start {
    std::string name;
    std::function<void()> body;
    ThreadObserver* observer;
};

extern "C" void* run_body(void* argument) noexcept
{
    const NotCancelled whole;
    const std::unique_ptr<Start> start(static_cast<Start*>(argument));
    if (!start->name.empty())
        ::pthread_setname_np(::pthread_self(), start->name.substr(0, name_size_max).c_str());
    if (auto* const runner = dynamic_cast<ThreadRunner*>(start->observer)) {
        runner->run(start->name, start->body);
        return nullptr;
    }
    if (start->observer != nullptr) start->observer->on_thread_start(start->name);
    start->body();
    if (start->observer != nullptr) start->observer->on_thread_end(start->name);
    return nullptr;
}

int native_policy(SchedulingPolicy policy) noexcept
{
    switch (policy) {
    case SchedulingPolicy::fifo:
        return SCHED_FIFO;
    case SchedulingPolicy::round_robin:
        return SCHED_RR;
    case SchedulingPolicy::other:
        break;
    }
    return SCHED_OTHER;
}

std::string describe(Scheduling scheduling)
{
    constexpr const char* names[] = {"SCHED_OTHER", "SCHED_FIFO", "SCHED_RR"};
    return std::string("scheduling ") + names[static_cast<int>(scheduling.policy)] + " priority " +
           std::to_string(scheduling.priority);
}

Result<void> check_priority(Scheduling scheduling)
{
    const int policy = native_policy(scheduling.policy);
    const int least = ::sched_get_priority_min(policy);
    const int most = ::sched_get_priority_max(policy);
    if (scheduling.priority >= least && scheduling.priority <= most) return {};
    return Error{ErrorCode::invalid_argument, "no such " + describe(scheduling) +
                                                  ": priorities are " + std::to_string(least) +
                                                  " to " + std::to_string(most)};
}

Error refused_scheduling(Scheduling scheduling, int error)
{
    return system_error(
        "cannot use " + describe(scheduling) +
            (error == EPERM ? " (needs CAP_SYS_NICE or a higher RLIMIT_RTPRIO)" : ""),
        error);
}

Result<cpu_set_t> only_cpu(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return Error{ErrorCode::invalid_argument, "no such CPU: " + std::to_string(cpu)};
    CPU_SET(static_cast<unsigned>(cpu), &set);
    return set;
}

Error refused_cpu(int cpu, int error)
{
    return system_error("cannot run on CPU " + std::to_string(cpu), error);
}

std::size_t whole_stack(std::size_t bytes)
{
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto least = static_cast<std::size_t>(::sysconf(_SC_THREAD_STACK_MIN));
    const std::size_t wanted = std::max(bytes, least);
    return wanted > SIZE_MAX - page ? wanted : (wanted + page - 1) / page * page;
}

class Attributes {
  public:
    Attributes() { ::pthread_attr_init(&native_); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;
    ~Attributes() { ::pthread_attr_destroy(&native_); }

    Result<void> set(const ThreadOptions& options)
    {
        if (options.stack_bytes != 0) {
            const std::size_t bytes = whole_stack(options.stack_bytes);
            if (const int error = ::pthread_attr_setstacksize(&native_, bytes); error != 0)
                return system_error("cannot use a stack of " + std::to_string(bytes) + " bytes",
                                    error);
        }
        if (options.cpu) {
            const auto only = only_cpu(*options.cpu);
            if (!only) return only.error();
            const int error = ::pthread_attr_setaffinity_np(&native_, sizeof(cpu_set_t), &*only);
            if (error != 0) return refused_cpu(*options.cpu, error);
        }
        return options.scheduling ? set_scheduling(*options.scheduling) : Result<void>();
    }

    [[nodiscard]] const pthread_attr_t* native() const noexcept { return &native_; }

  private:
    Result<void> set_scheduling(Scheduling scheduling)
    {
        if (auto checked = check_priority(scheduling); !checked) return checked;
        const sched_param parameter{.sched_priority = scheduling.priority};
        int error = ::pthread_attr_setinheritsched(&native_, PTHREAD_EXPLICIT_SCHED);
        if (error == 0)
            error = ::pthread_attr_setschedpolicy(&native_, native_policy(scheduling.policy));
        if (error == 0) error = ::pthread_attr_setschedparam(&native_, &parameter);
        return error == 0 ? Result<void>() : refused_scheduling(scheduling, error);
    }

    pthread_attr_t native_;
};

/// pthread_create has one error for everything; only one setting can cause each of these.
Error not_started(const ThreadOptions& options, int error)
{
    if (error == EPERM && options.scheduling) return refused_scheduling(*options.scheduling, error);
    if (error == EINVAL && options.cpu) return refused_cpu(*options.cpu, error);
    return system_error("cannot start thread '" + options.name + "'", error);
}

/// What the calling thread has not used of its stack; 0 where that is not known, or it runs on
/// another stack, of the program's own.
std::size_t stack_left() noexcept
{
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
    void* lowest = nullptr;
    std::size_t size = 0;
    const bool known = ::pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    ::pthread_attr_destroy(&attributes);
    const auto left = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) -
                      reinterpret_cast<std::uintptr_t>(lowest);
    return known && left <= size ? left : 0;
}

/// A frame of its own, so that the pages are below those in use.
[[gnu::noinline]] void touch_stack() noexcept
{
    constexpr std::size_t step = 4096; // pages are not smaller
    [[maybe_unused]] volatile char pages[stack_touched_bytes];
    for (std::size_t end = stack_touched_bytes; end >= step; end -= step)
        pages[end - step] = 0;
}

} // namespace

Result<Thread> Thread::start(const ThreadOptions& options, std::function<void()> body)
{
    try {
        return start_or_throw(options, std::move(body));
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::system, "no memory", ENOMEM}; // which takes none
    }
}

Result<Thread> Thread::start_or_throw(const ThreadOptions& options, std::function<void()> body)
{
    Attributes attributes;
    if (auto set = attributes.set(options); !set) return set.error();
    auto start = std::make_unique<Start>(
        Start{.name = options.name, .body = std::move(body), .observer = options.observer});
    pthread_t handle{};
    const int error = system().pthread_create(&handle, attributes.native(), &run_body, start.get());
    if (error != 0) return not_started(options, error);
    (void)start.release(); // now the thread's
    Thread thread;
    thread.handle_ = handle;
    return thread;
}

Thread::Thread(Thread&& other) noexcept
    : handle_(std::exchange(other.handle_, std::nullopt)), started_(other.started_)
{
}

Thread& Thread::operator=(Thread&& other) noexcept
{
    if (this != &other) {
        join();
        handle_ = std::exchange(other.handle_, std::nullopt);
        started_ = other.started_;
    }
    return *this;
}

void Thread::join() noexcept
{
    if (!handle_) return;
    if (started_.here()) KAIROS_CHECK(::pthread_join(*handle_, nullptr) == 0);
    handle_.reset();
}

Result<void> pin_this_thread(int cpu)
{
    const auto only = only_cpu(cpu);
    if (!only) return only.error();
    const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof(cpu_set_t), &*only);
    return error == 0 ? Result<void>() : refused_cpu(cpu, error);
}

Result<void> schedule_this_thread(Scheduling scheduling)
{
    if (auto checked = check_priority(scheduling); !checked) return checked;
    const sched_param parameter{.sched_priority = scheduling.priority};
    const int error = system().pthread_setschedparam(::pthread_self(),
                                                     native_policy(scheduling.policy), &parameter);
    return error == 0 ? Result<void>() : refused_scheduling(scheduling, error);
}

Result<void> lock_memory()
{
    // Before: growing a locked stack beyond the limit would end the process.
    if (stack_left() >= 2 * stack_touched_bytes) touch_stack();
    if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return system_error(errno == EPERM || errno == ENOMEM
                                ? "cannot lock memory (needs CAP_IPC_LOCK or a higher "
                                  "RLIMIT_MEMLOCK)"
                                : "cannot lock memory",
                            errno);
    // Or the heap would give pages back, and wait for new ones later.
    (void)::mallopt(M_TRIM_THRESHOLD, -1);
    (void)::mallopt(M_MMAP_MAX, 0);
    return {};
}

} // namespace kairos::net
