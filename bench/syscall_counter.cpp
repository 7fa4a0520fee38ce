// SPDX-License-Identifier: Apache-2.0
//
// kairos-bench-syscalls PROGRAM ARGUMENTS…: runs a program and counts the system calls of all its
// threads, by number, into the page of count_page.h. Every call is stopped at its entry and counted
// once, so the figures are exact; time means nothing here. With KAIROS_COUNT_LIBRARY the program
// has that library loaded before libc. One thread.
#include "kairos/base/count_page.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using kairos::CountPage;

CountPage* map_page()
{
    const char* text = std::getenv(kairos::count_descriptor_variable);
    if (text == nullptr) return nullptr;
    void* memory =
        mmap(nullptr, sizeof(CountPage), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(text), 0);
    return memory == MAP_FAILED ? nullptr : static_cast<CountPage*>(memory);
}

void count_entry(pid_t thread, CountPage& page)
{
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return;
    constexpr std::uint64_t look = MSG_PEEK | MSG_DONTWAIT;
    if (info.entry.nr == SYS_recvfrom && (info.entry.args[3] & look) == look)
        page.looks.fetch_add(1, std::memory_order_relaxed);
    else if (info.entry.nr < page.syscalls.size())
        page.syscalls[info.entry.nr].fetch_add(1, std::memory_order_relaxed);
}

/// The signal to hand on to a stopped thread; 0 for the stops that tracing itself makes.
int signal_to_deliver(int status)
{
    const int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) return 0; // a system call
    if (status >> 16 != 0) return 0;          // a new thread, exec or group stop
    if (signal == SIGSTOP) return 0;          // the first stop of a new thread
    return signal;
}

int trace(pid_t program, CountPage& page)
{
    int status = 0;
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) return 1;
    constexpr unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                                      PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                      PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    page.is_traced = true;
    if (ptrace(PTRACE_SETOPTIONS, program, nullptr, options) != 0) {
        std::perror("kairos-bench-syscalls: ptrace");
        return 1;
    }
    ptrace(PTRACE_SYSCALL, program, nullptr, nullptr);
    for (;;) {
        const pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0 && errno == EINTR) continue;
        if (thread < 0) return 1;
        if (thread == program && WIFEXITED(status)) return WEXITSTATUS(status);
        if (thread == program && WIFSIGNALED(status)) return 128 + WTERMSIG(status);
        if (!WIFSTOPPED(status)) continue;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) count_entry(thread, page);
        ptrace(PTRACE_SYSCALL, thread, nullptr, signal_to_deliver(status));
    }
}

} // namespace

int main(int argc, char** argv)
{
    CountPage* page = map_page();
    if (argc < 2 || page == nullptr) {
        std::fprintf(stderr, "usage: %s=DESCRIPTOR kairos-bench-syscalls PROGRAM ARGUMENTS…\n",
                     kairos::count_descriptor_variable);
        return 2;
    }
    const pid_t program = fork();
    if (program < 0) {
        std::perror("kairos-bench-syscalls: fork");
        return 1;
    }
    if (program == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
            std::perror("kairos-bench-syscalls: ptrace");
            _exit(1);
        }
        if (const char* library = std::getenv("KAIROS_COUNT_LIBRARY"); library != nullptr)
            setenv("LD_PRELOAD", library, 1);
        execvp(argv[1], argv + 1); // stops at its start, with SIGTRAP
        std::perror(argv[1]);
        _exit(127);
    }
    return trace(program, *page);
}
