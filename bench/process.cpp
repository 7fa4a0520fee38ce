// SPDX-License-Identifier: Apache-2.0
#include "bench/process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace kairos::bench {
namespace {

using Clock = std::chrono::steady_clock;

void close_if_open(int& descriptor) noexcept
{
    if (descriptor >= 0) close(descriptor);
    descriptor = -1;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Everything the child needs between fork and exec, where nothing may allocate.
struct Launch {
    char* const* command;
    char* const* environment;
    int input;
    int output;
    int errors;
    int inherited;
    int cpu;
    pid_t parent;
};

[[noreturn]] void become(const Launch& launch) noexcept
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launch.parent) _exit(127); // the parent died before the line above
    if (launch.cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(launch.cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0) _exit(126);
    }
    dup2(launch.input, STDIN_FILENO);
    dup2(launch.output, STDOUT_FILENO);
    dup2(launch.errors, STDERR_FILENO);
    if (launch.inherited >= 0) fcntl(launch.inherited, F_SETFD, 0);
    // An ignored SIGPIPE of ours would be inherited; programs expect the default.
    signal(SIGPIPE, SIG_DFL);
    execve(launch.command[0], launch.command, launch.environment);
    const char* reason = strerrordesc_np(errno);
    if (write(STDERR_FILENO, reason, strlen(reason)) < 0) _exit(126);
    _exit(127);
}

std::string last_lines(std::string text)
{
    constexpr std::size_t most = 600;
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    if (text.size() > most) text = "…" + text.substr(text.size() - most);
    return text;
}

} // namespace

Result<ChildProcess> ChildProcess::start(const ProcessOptions& options)
{
    ChildProcess child;
    child.name_ = options.command.at(0);
    child.name_.erase(0, child.name_.rfind('/') + 1);
    if (access(options.command[0].c_str(), X_OK) != 0)
        return Error{ErrorCode::not_found, options.command[0] + " cannot be executed", errno};

    // A socket pair instead of a pipe for input: writing to a dead child then fails with an error
    // (MSG_NOSIGNAL) instead of a signal.
    int input[2] = {-1, -1};
    int output[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0)
        return child.failed("no socket pair", errno);
    child.input_ = input[1];
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(input[0]);
        return child.failed("no pipe", errno);
    }
    child.output_ = output[0];
    child.errors_ = memfd_create("errors", MFD_CLOEXEC);

    std::vector<std::string> command = options.command;
    std::vector<std::string> environment = options.environment;
    for (char** variable = environ; *variable != nullptr; ++variable)
        environment.emplace_back(*variable);
    const std::vector<char*> command_pointers = pointers_to(command);
    const std::vector<char*> environment_pointers = pointers_to(environment);
    const Launch launch{.command = command_pointers.data(),
                        .environment = environment_pointers.data(),
                        .input = input[0],
                        .output = output[1],
                        .errors = child.errors_,
                        .inherited = options.inherited_descriptor,
                        .cpu = options.cpu.value_or(-1),
                        .parent = getpid()};
    child.pid_ = fork();
    if (child.pid_ == 0) become(launch);
    const int fork_errno = errno;
    close(input[0]);
    close(output[1]);
    if (child.pid_ < 0) return child.failed("cannot be started", fork_errno);
    return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept
{
    if (this == &other) return *this;
    end();
    name_ = std::move(other.name_);
    pid_ = std::exchange(other.pid_, -1);
    input_ = std::exchange(other.input_, -1);
    output_ = std::exchange(other.output_, -1);
    errors_ = std::exchange(other.errors_, -1);
    exit_status_ = other.exit_status_;
    usage_ = other.usage_;
    unread_ = std::move(other.unread_);
    return *this;
}

ChildProcess::~ChildProcess() { end(); }

Result<void> ChildProcess::write_line(std::string_view line)
{
    std::string text(line);
    text += '\n';
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t sent = send(input_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return failed("does not take orders any more", errno);
        done += static_cast<std::size_t>(sent);
    }
    return {};
}

Result<std::string> ChildProcess::read_line(std::chrono::seconds patience)
{
    const auto deadline = Clock::now() + patience;
    for (;;) {
        const std::size_t end_of_line = unread_.find('\n');
        if (end_of_line != std::string::npos) {
            std::string line = unread_.substr(0, end_of_line);
            unread_.erase(0, end_of_line + 1);
            return line;
        }
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0)
            return failed("gave no answer within " + std::to_string(patience.count()) + " s");
        pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
        const int ready = poll(&waiting, 1, static_cast<int>(std::min<long>(left.count(), 60'000)));
        if (ready < 0 && errno != EINTR) return failed("cannot be waited for", errno);
        if (ready <= 0) continue;
        char chunk[4096];
        const ssize_t received = read(output_, chunk, sizeof chunk);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) {
            wait_for_end(std::chrono::milliseconds(1000)); // so that its last words are complete
            return failed("ended unexpectedly");
        }
        unread_.append(chunk, static_cast<std::size_t>(received));
    }
}

void ChildProcess::run_on(const std::vector<int>& cpus) const
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus)
        CPU_SET(static_cast<std::size_t>(cpu), &set);
    std::error_code ended;
    const std::string threads = fmt::format("/proc/{}/task", pid_);
    for (const auto& thread : std::filesystem::directory_iterator(threads, ended))
        (void)sched_setaffinity(std::stoi(thread.path().filename()), sizeof set, &set);
}

double ChildProcess::cpu_seconds() const noexcept
{
    clockid_t clock{};
    timespec taken{};
    if (pid_ < 0 || clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &taken) != 0)
        return 0;
    return static_cast<double>(taken.tv_sec) + static_cast<double>(taken.tv_nsec) / 1e9;
}

ChildProcess::Remains ChildProcess::finish(std::chrono::seconds patience)
{
    close_if_open(input_);
    if (!wait_for_end(patience)) {
        kill(pid_, SIGKILL);
        wait_for_end(std::chrono::seconds(10));
    }
    Remains remains{.exit_status = exit_status_,
                    .output = std::move(unread_),
                    .errors = {},
                    .voluntary_switches = usage_.ru_nvcsw,
                    .involuntary_switches = usage_.ru_nivcsw};
    if (output_ >= 0) {
        // Its other end may still be held by a grandchild: take what is there, never wait.
        fcntl(output_, F_SETFL, O_NONBLOCK);
        char chunk[4096];
        for (ssize_t n = read(output_, chunk, sizeof chunk); n > 0;
             n = read(output_, chunk, sizeof chunk))
            remains.output.append(chunk, static_cast<std::size_t>(n));
    }
    remains.errors = errors_so_far();
    return remains;
}

Error ChildProcess::failed(std::string what, int system_errno)
{
    Error error{ErrorCode::system, name_ + " " + std::move(what), system_errno};
    if (system_errno != 0) error.reason += std::string(": ") + strerrordesc_np(system_errno);
    const std::string said = last_lines(errors_so_far());
    if (!said.empty()) error.reason += "; it said: " + said;
    return error;
}

std::string ChildProcess::errors_so_far() const
{
    struct stat information {};
    if (errors_ < 0 || fstat(errors_, &information) != 0) return {};
    std::string text(static_cast<std::size_t>(information.st_size), '\0');
    const ssize_t size = pread(errors_, text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return text;
}

/// True when the child has ended within the time; it is reaped then. A pending output pipe must not
/// block it, so output is collected meanwhile.
bool ChildProcess::wait_for_end(std::chrono::milliseconds patience)
{
    if (pid_ < 0) return true;
    const auto deadline = Clock::now() + patience;
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    bool ended = handle < 0;
    while (!ended) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) break;
        pollfd waiting[2] = {{.fd = handle, .events = POLLIN, .revents = 0},
                             {.fd = output_, .events = POLLIN, .revents = 0}};
        if (poll(waiting, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) break;
        ended = (waiting[0].revents & POLLIN) != 0;
        if (ended || waiting[1].revents == 0) continue;
        char chunk[4096];
        const ssize_t received = read(output_, chunk, sizeof chunk);
        if (received > 0)
            unread_.append(chunk, static_cast<std::size_t>(received));
        else
            close_if_open(output_); // poll skips a negative descriptor
    }
    if (handle >= 0) close(handle);
    if (!ended) return false;
    int status = 0;
    while (wait4(pid_, &status, 0, &usage_) < 0 && errno == EINTR) {
    }
    exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    pid_ = -1;
    return true;
}

void ChildProcess::end() noexcept
{
    close_if_open(input_);
    if (pid_ >= 0) {
        kill(pid_, SIGKILL);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
    }
    close_if_open(output_);
    close_if_open(errors_);
}

Result<ChildProcess::Remains> run_to_end(const ProcessOptions& options,
                                         std::chrono::seconds patience)
{
    Result<ChildProcess> child = ChildProcess::start(options);
    if (!child) return child.error();
    return child->finish(patience);
}

std::string find_program(const std::string& name)
{
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

std::vector<int> usable_cpus()
{
    std::vector<int> cpus;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

} // namespace kairos::bench
