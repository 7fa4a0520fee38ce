// SPDX-License-Identifier: Apache-2.0
//
// A PostgreSQL server of the test's own, in a temporary folder: initdb made it, clients come by a
// socket in the folder, and nothing of it is left at the end. Where PostgreSQL is not installed the
// tests are skipped.
#pragma once

#include "kairos/postgres/connection.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <pwd.h>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::postgres {

/// Gone, with what is in it, at the end.
class ServerFolder {
  public:
    ServerFolder()
    {
        // Where there is a file system in memory nothing waits for a disk; what the tests kill is
        // processes, not the machine.
        const std::filesystem::path memory = "/dev/shm";
        const auto root =
            access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
        std::string path = root / "kairos_postgres_XXXXXX";
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = path;
    }
    ServerFolder(const ServerFolder&) = delete;
    ServerFolder& operator=(const ServerFolder&) = delete;
    ~ServerFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

class Server {
  public:
    Server()
    {
        // It refuses to run as root.
        if (geteuid() == 0) {
            const passwd* nobody = getpwnam("nobody");
            if (nobody == nullptr) throw std::runtime_error("there is no user nobody");
            user_ = {nobody->pw_uid, nobody->pw_gid};
            if (chown(folder_.path().c_str(), user_->first, user_->second) != 0)
                throw std::runtime_error("no folder for the user nobody");
        }
        const int initdb =
            end_of(run({"initdb", "--pgdata", data(), "--username", "tester", "--auth", "trust",
                        "--no-locale", "--encoding", "UTF8", "--no-sync", "--no-instructions"},
                       {}));
        if (initdb != 0) throw std::runtime_error("initdb failed: " + what_was_said());
        start();
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() { stop(); }

    [[nodiscard]] static bool is_installed()
    {
        return access((std::string(KAIROS_POSTGRES_PROGRAMS) + "/initdb").c_str(), X_OK) == 0;
    }

    /// Returns when it takes connections.
    void start()
    {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        process_ =
            run({"postgres", "-D", data(), "-k", folder_.path(), "-c", "listen_addresses=", "-c",
                 "max_connections=60", "-c", "shared_buffers=8MB", "-c", "log_min_messages=log"},
                ends[1]);
        close(ends[1]);
        const bool ready = await(ends[0], "ready to accept connections");
        said_ = ends[0]; // open until the server's end, so that it can go on writing
        if (!ready) throw std::runtime_error("postgres did not start: " + what_was_said());
    }
    /// At once: whoever is connected loses the connection.
    void stop()
    {
        if (process_ == 0) return;
        kill(process_, SIGQUIT);
        (void)end_of(process_);
        process_ = 0;
        close(said_);
    }

    /// It is there, and takes connections as far as the kernel does that, but answers nobody.
    void freeze() { signal_all(SIGSTOP); }
    void thaw() { signal_all(SIGCONT); }

    /// Where its socket is.
    [[nodiscard]] std::string folder() const { return folder_.path(); }
    /// In a schema of its own, as good as a database.
    [[nodiscard]] std::string url(const std::string& schema) const
    {
        return "postgresql://tester@/postgres?host=" + folder_.path().string() +
               "&options=-csearch_path%3D" + schema;
    }

  private:
    void signal_all(int signal) const
    {
        const std::string id = std::to_string(process_);
        std::ifstream children("/proc/" + id + "/task/" + id + "/children");
        kill(process_, signal); // first: it makes no others then
        for (pid_t child = 0; children >> child;)
            kill(child, signal);
    }

    [[nodiscard]] std::string data() const { return folder_.path() / "data"; }
    [[nodiscard]] std::string log() const { return folder_.path() / "log"; }

    /// The child's id. What it says goes to `output`, or to the log.
    [[nodiscard]] pid_t run(std::vector<std::string> command, std::optional<int> output) const
    {
        command[0] = std::string(KAIROS_POSTGRES_PROGRAMS) + "/" + command[0];
        std::vector<char*> argv;
        argv.reserve(command.size() + 1);
        for (std::string& argument : command)
            argv.push_back(argument.data());
        argv.push_back(nullptr);
        const std::string log_file = log();
        const pid_t child = fork();
        if (child != 0) return child;
        prctl(PR_SET_PDEATHSIG, SIGQUIT); // a test that is killed leaves no server
        if (user_ && (setgid(user_->second) != 0 || setuid(user_->first) != 0)) _exit(126);
        if (chdir("/") != 0) _exit(126);
        const int descriptor = output ? *output : open(log_file.c_str(), O_CREAT | O_WRONLY, 0600);
        dup2(descriptor, STDOUT_FILENO);
        dup2(descriptor, STDERR_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGQUIT); // setuid took it back
        execv(argv[0], argv.data());
        _exit(127);
    }
    static int end_of(pid_t child)
    {
        int status = -1;
        waitpid(child, &status, 0);
        return status;
    }
    /// Reads until a line has the text; false at the end.
    [[nodiscard]] bool await(int input, std::string_view text)
    {
        said_so_far_.clear();
        char octets[4096];
        for (;;) {
            const ssize_t count = read(input, octets, sizeof octets);
            if (count <= 0) return false;
            said_so_far_.append(octets, static_cast<std::size_t>(count));
            if (said_so_far_.find(text) != std::string::npos) return true;
        }
    }
    [[nodiscard]] std::string what_was_said() const
    {
        std::string text = said_so_far_;
        if (std::FILE* file = std::fopen(log().c_str(), "r")) {
            char octets[4096];
            text.append(octets, std::fread(octets, 1, sizeof octets, file));
            std::fclose(file);
        }
        return text;
    }

    const ServerFolder folder_;
    std::optional<std::pair<uid_t, gid_t>> user_;
    std::string said_so_far_;
    pid_t process_ = 0;
    int said_ = -1;
};

/// One for all tests of a program, from the first that wants it to the program's end.
inline Server& server()
{
    static Server one;
    return one;
}

/// The main function of its tests.
inline int run_tests(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (Server::is_installed()) return RUN_ALL_TESTS();
    std::puts("skipped: PostgreSQL's programs are not installed");
    constexpr int skipped = 77; // as CMakeLists.txt tells ctest
    return skipped;
}

/// As good as a database of a test's own, and behind the back of who uses it.
class Schema {
  public:
    Schema()
    {
        static int count = 0;
        name_ = "test" + std::to_string(++count);
        execute("CREATE SCHEMA " + name_);
    }

    [[nodiscard]] std::string url() const { return server().url(name_); }
    /// The first column of the first row if it is an integer.
    std::int64_t execute(const std::string& sql) const
    {
        const auto connection = Connection::open(url(), "test", {});
        if (!connection) throw std::runtime_error(connection.error().reason);
        const Rows rows = (*connection)->execute(sql.c_str());
        if (!rows.ok()) throw std::runtime_error((*connection)->failure());
        return rows.count() == 0 ? 0 : rows.integer(0, 0);
    }
    /// Returns when the server has ended every connection but its own, of all schemas.
    void end_connections() const
    {
        execute("SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
    }

  private:
    std::string name_;
};

} // namespace kairos::postgres
