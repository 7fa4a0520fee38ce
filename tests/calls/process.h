// SPDX-License-Identifier: Apache-2.0
//
// A program that a test starts and ends: its input and output are pipes to the test. A server ends
// when its input does, so that none outlives a test that dies. Used by one thread.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ;

namespace calls {

class Process {
  public:
    /// `arguments[0]` is the program. Its standard error is the test's.
    explicit Process(std::vector<std::string> arguments)
    {
        int in[2];
        int out[2];
        if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
            throw std::runtime_error(std::strerror(errno));
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
        std::vector<char*> argv;
        for (std::string& argument : arguments)
            argv.push_back(argument.data());
        argv.push_back(nullptr);
        const int error = posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        close(in[0]);
        close(out[1]);
        input_ = in[1];
        output_ = out[0];
        if (error != 0) throw std::runtime_error(arguments[0] + ": " + std::strerror(error));
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process()
    {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            (void)wait();
        }
        end_input();
        close(output_);
    }

    /// The next line of its output, without the end; empty at the end of the output.
    [[nodiscard]] std::string read_line()
    {
        std::string line;
        char c;
        while (read_octet(c) && c != '\n')
            line += c;
        return line;
    }
    /// Everything until its output ends.
    [[nodiscard]] std::string read_all()
    {
        std::string text;
        char buffer[4096];
        for (;;) {
            const ssize_t count = read(output_, buffer, sizeof buffer);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return text;
            text.append(buffer, static_cast<std::size_t>(count));
        }
    }

    /// What a program that ended cannot read is lost.
    void write_line(const std::string& line)
    {
        const std::string text = line + '\n';
        std::size_t done = 0;
        while (done < text.size()) {
            const ssize_t count = write(input_, text.data() + done, text.size() - done);
            if (count < 0 && errno != EINTR) return;
            if (count > 0) done += static_cast<std::size_t>(count);
        }
    }
    void end_input()
    {
        if (input_ >= 0) close(std::exchange(input_, -1));
    }
    void kill_now() { kill(pid_, SIGKILL); }

    /// Its exit status, or minus the signal that ended it.
    [[nodiscard]] int wait()
    {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    /// Ends a server in order.
    [[nodiscard]] int stop()
    {
        end_input();
        return wait();
    }

  private:
    bool read_octet(char& c)
    {
        ssize_t count;
        while ((count = read(output_, &c, 1)) < 0 && errno == EINTR) {
        }
        return count == 1;
    }

    pid_t pid_ = -1;
    int input_ = -1;
    int output_ = -1;
};

} // namespace calls
