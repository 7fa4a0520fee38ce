// SPDX-License-Identifier: Apache-2.0
//
// The files of unix-domain sockets: those of the dead are replaced, those of the living and of
// anything else are not, and what a server made it removes.
#include "kairos/net/socket_file.h"

#include "kairos/net/acceptor.h"
#include "kairos/net/connector.h"
#include "kairos/net/host_identity.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace kairos;
using namespace kairos::net;

/// A directory of the test's own, removed with what is in it.
class SocketFiles : public testing::Test {
  protected:
    SocketFiles()
    {
        char name[] = "/tmp/kairos-test-XXXXXX";
        directory = ::mkdtemp(name);
    }
    ~SocketFiles() override
    {
        for (const char* file : {"/s", "/kairos", "/t"})
            ::unlink((directory + file).c_str());
        ::rmdir((directory + "/kairos").c_str());
        ::rmdir(directory.c_str());
    }
    [[nodiscard]] std::string path() const { return directory + "/s"; }
    [[nodiscard]] Address address() const { return *Address::unix_path(path()); }
    [[nodiscard]] static bool exists(const std::string& file)
    {
        struct stat status {};
        return ::lstat(file.c_str(), &status) == 0;
    }
    /// What a server leaves that was killed.
    void leave_dead_file() const
    {
        auto socket = listen(address());
        ASSERT_TRUE(socket) << socket.error().reason;
        socket->close();
        ASSERT_TRUE(exists(path()));
    }

    std::string directory;
};

TEST_F(SocketFiles, IsRemovedWhenTheAcceptorIsShutDown)
{
    auto acceptor = Acceptor::open(address());
    ASSERT_TRUE(acceptor) << acceptor.error().reason;
    EXPECT_TRUE(exists(path()));
    EXPECT_TRUE(connect(address()));
    acceptor->shut_down();
    EXPECT_FALSE(exists(path()));
    acceptor->shut_down();
    EXPECT_EQ(connect(address()).error().system_errno, ENOENT);
}

TEST_F(SocketFiles, IsRemovedWithTheAcceptor)
{
    {
        const auto acceptor = Acceptor::open(address());
        ASSERT_TRUE(acceptor) << acceptor.error().reason;
        EXPECT_TRUE(exists(path()));
    }
    EXPECT_FALSE(exists(path()));
}

TEST_F(SocketFiles, OfADeadServerIsReplaced)
{
    leave_dead_file();
    const auto acceptor = Acceptor::open(address());
    ASSERT_TRUE(acceptor) << acceptor.error().reason;
    EXPECT_TRUE(connect(address()));
}

TEST_F(SocketFiles, OfALivingServerIsLeftAlone)
{
    const auto first = Acceptor::open(address());
    ASSERT_TRUE(first) << first.error().reason;
    const auto second = Acceptor::open(address());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().system_errno, EADDRINUSE);
    EXPECT_TRUE(connect(address()));
}

TEST_F(SocketFiles, AnythingElseIsLeftAlone)
{
    std::ofstream(path()) << "precious";
    const auto acceptor = Acceptor::open(address());
    ASSERT_FALSE(acceptor);
    EXPECT_EQ(acceptor.error().system_errno, EADDRINUSE);
    std::string text;
    std::ifstream(path()) >> text;
    EXPECT_EQ(text, "precious");
}

TEST_F(SocketFiles, OfSomebodyElseIsNotRemoved)
{
    auto first = Acceptor::open(address());
    ASSERT_TRUE(first) << first.error().reason;
    ::unlink(path().c_str());
    const auto second = Acceptor::open(address());
    ASSERT_TRUE(second) << second.error().reason;
    first->shut_down();
    EXPECT_TRUE(exists(path()));
    EXPECT_TRUE(connect(address()));
}

/// Whoever may read a directory can lock it, and keeps nobody from listening: only what is there
/// already is not taken for dead.
TEST_F(SocketFiles, ALockedDirectoryIsNotWaitedForForEver)
{
    {
        const auto dead = listen(address(), {}, 1); // its file stays
        ASSERT_TRUE(dead);
    }
    const int locked = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(locked, LOCK_EX), 0);
    const auto refused = Acceptor::open(address());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().reason.find("cannot lock " + directory), std::string::npos);
    const auto other = *Address::unix_path(directory + "/other");
    const auto acceptor = Acceptor::open(other);
    ASSERT_TRUE(acceptor) << acceptor.error().reason;
    EXPECT_TRUE(connect(other));
    ::close(locked);
    EXPECT_TRUE(Acceptor::open(address()));
}

TEST_F(SocketFiles, ADirectoryThatIsNotThereIsNamed)
{
    const auto acceptor = Acceptor::open(*Address::unix_path(directory + "/no/s"));
    ASSERT_FALSE(acceptor);
    EXPECT_NE(acceptor.error().reason.find(directory + "/no"), std::string::npos);
}

TEST_F(SocketFiles, AnAbstractNameHasNone)
{
    const auto name = *Address::unix_path("@kairos-test-file-" + std::to_string(::getpid()));
    auto acceptor = Acceptor::open(name);
    ASSERT_TRUE(acceptor) << acceptor.error().reason;
    EXPECT_TRUE(connect(name));
    EXPECT_FALSE(Acceptor::open(name));
    acceptor->shut_down();
}

TEST_F(SocketFiles, ThePeerIsKnownByItsProcess)
{
    auto acceptor = Acceptor::open(address());
    ASSERT_TRUE(acceptor) << acceptor.error().reason;
    const auto client = connect(address());
    ASSERT_TRUE(client);
    const auto accepted = acceptor->accept();
    ASSERT_EQ(accepted.status, Acceptor::Status::accepted);
    EXPECT_EQ(accepted.peer.to_text(), "unix:process " + std::to_string(::getpid()) + ", user " +
                                           std::to_string(::geteuid()));
}

TEST_F(SocketFiles, APrivatePathIsInADirectoryOfThisUserAlone)
{
    ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
    const auto first = private_path();
    const auto second = private_path();
    ::unsetenv("XDG_RUNTIME_DIR");
    ASSERT_TRUE(first && second);
    EXPECT_NE(*first, *second);
    EXPECT_TRUE(first->host_text().starts_with(directory + "/kairos/"));
    struct stat status {};
    ASSERT_EQ(::stat((directory + "/kairos").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
}

TEST_F(SocketFiles, APrivatePathIsNotWhereOthersMayLook)
{
    ASSERT_EQ(::mkdir((directory + "/kairos").c_str(), 0755), 0);
    ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
    const auto path = private_path();
    ::unsetenv("XDG_RUNTIME_DIR");
    ASSERT_TRUE(path) << path.error().reason;
    EXPECT_FALSE(path->host_text().starts_with(directory));
}

TEST_F(SocketFiles, WhatTheDeadLeftInThePrivateDirectoryIsRemoved)
{
    ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto path = private_path();
        ::_exit(path && listen(*path) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const std::string inside = directory + "/kairos/";
    const auto living = private_path();
    ASSERT_TRUE(living);
    const auto acceptor = Acceptor::open(*living);
    ASSERT_TRUE(acceptor);
    const auto later = private_path();
    ::unsetenv("XDG_RUNTIME_DIR");
    ASSERT_TRUE(later);
    EXPECT_TRUE(exists(living->host_text()));
    // Nothing but the living one: a directory with more could not be removed.
    ::unlink(living->host_text().c_str());
    EXPECT_EQ(::rmdir(inside.c_str()), 0);
}

TEST(HostIdentity, IsOfTheHostAndNotOfTheProcess)
{
    ASSERT_TRUE(this_host().has_value());
    int answer[2];
    ASSERT_EQ(::pipe(answer), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const HostIdentity theirs = this_host().value_or(HostIdentity{});
        ::_exit(::write(answer[1], &theirs, sizeof theirs) == sizeof theirs ? 0 : 1);
    }
    HostIdentity theirs{};
    ASSERT_EQ(::read(answer[0], &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
    EXPECT_EQ(theirs, *this_host());
    EXPECT_NE(theirs, HostIdentity{});
    ::waitpid(child, nullptr, 0);
    ::close(answer[0]);
    ::close(answer[1]);
}

} // namespace
