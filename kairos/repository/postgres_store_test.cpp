// SPDX-License-Identifier: Apache-2.0
//
// A repository in PostgreSQL, against a server that the test starts: that it is a store, that
// nobody writes over what another server wrote, and what it does when the database goes away.
#include "kairos/repository/postgres_store.h"

#include "kairos/repository/postgres_testing.h"
#include "kairos/repository/store_conformance_testing.h"

#include <mutex>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace kairos::repository {

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, StoreConformance, PostgresBackend);

namespace {

class PostgresStoreTest : public testing::Test {
  protected:
    PostgresStoreTest() : store_(backend_.opened())
    {
        EXPECT_TRUE(store_->write({&one_}, {}, first_free + 1));
    }

    static ErrorCode code_of(const Result<void>& result)
    {
        EXPECT_FALSE(result);
        return result ? ErrorCode::not_found : result.error().code;
    }

    /// Of this program's servers.
    [[nodiscard]] std::int64_t locks() const
    {
        return backend_.execute(
            "SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l USING (pid)"
            " WHERE l.locktype = 'advisory' AND l.granted AND l.objid ="
            " 'kairos_repository'::regclass AND a.application_name = 'kairos-ifr'");
    }

    const Definition one_ = module_of(first_free, "One");
    const Definition two_ = module_of(first_free + 1, "Two");
    const Definition three_ = module_of(first_free + 2, "Three");
    const PostgresBackend backend_;
    std::unique_ptr<Store> store_;
};

// --- whose it is ---------------------------------------------------------------------------------

TEST_F(PostgresStoreTest, WhoComesSecondIsToldWhy)
{
    const auto second = backend_.open();
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().reason.find("another server has the Interface Repository"),
              std::string::npos)
        << second.error().reason;
    EXPECT_EQ(locks(), 1);
    // Another schema is another repository.
    const PostgresBackend other;
    EXPECT_TRUE(other.open());
}

TEST_F(PostgresStoreTest, WhoWasReplacedDoesNotWriteUntilItHasReadAgain)
{
    backend_.end_connections();
    auto other = backend_.opened();
    ASSERT_TRUE(other->read());
    ASSERT_TRUE(other->write({&two_}, {first_free}, first_free + 2));

    EXPECT_EQ(code_of(store_->write({&three_}, {}, first_free + 3)), ErrorCode::unreachable);
    EXPECT_EQ(code_of(store_->check()), ErrorCode::closed);
    EXPECT_EQ(code_of(store_->write({&three_}, {}, first_free + 3)), ErrorCode::unreachable);
    EXPECT_FALSE(store_->read()); // it is the other's

    other.reset();
    const Result<void> checked = store_->check();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::closed);
    EXPECT_EQ(checked.error().reason, "another server has changed the repository");
    EXPECT_EQ(code_of(store_->write({&three_}, {}, first_free + 3)), ErrorCode::closed);
    EXPECT_EQ(definitions_in(*store_), std::vector{two_});
    EXPECT_TRUE(store_->check());
    EXPECT_TRUE(store_->write({&three_}, {}, first_free + 3));
    EXPECT_EQ(definitions_in(*store_), (std::vector{two_, three_}));
}

TEST_F(PostgresStoreTest, WhatSomebodyChangesInSpiteOfTheLockIsNotWrittenOver)
{
    backend_.execute("UPDATE kairos_repository SET changes = changes + 1");
    EXPECT_EQ(code_of(store_->write({&two_}, {}, first_free + 2)), ErrorCode::closed);
    EXPECT_EQ(code_of(store_->check()), ErrorCode::closed);
    EXPECT_EQ(definitions_in(*store_), std::vector{one_});
    EXPECT_TRUE(store_->check());
    EXPECT_TRUE(store_->write({&two_}, {}, first_free + 2));
}

// --- what is not ours, or damaged ----------------------------------------------------------------

TEST_F(PostgresStoreTest, TablesOfAnotherVersionOrWithoutTheirBeginningAreRefused)
{
    store_.reset();
    const auto refusal = [&] {
        const auto store = backend_.open();
        return store ? std::string("accepted") : store.error().reason;
    };
    EXPECT_EQ(refusal(), "accepted");
    backend_.execute("UPDATE kairos_repository SET version = 2");
    EXPECT_NE(refusal().find("another version"), std::string::npos);
    backend_.execute("DELETE FROM kairos_repository");
    EXPECT_NE(refusal().find("no identity"), std::string::npos);
}

TEST_F(PostgresStoreTest, AnotherRepositoryAtItsAddressIsNotTakenForIt)
{
    backend_.execute("UPDATE kairos_repository SET identity = identity + 1");
    EXPECT_EQ(code_of(store_->write({&two_}, {}, first_free + 2)), ErrorCode::closed);
    EXPECT_EQ(code_of(store_->check()), ErrorCode::malformed);
    backend_.end_connections();
    EXPECT_EQ(code_of(store_->check()), ErrorCode::malformed);
    EXPECT_FALSE(store_->read());
    // Whose it is may have it.
    EXPECT_TRUE(backend_.open());
}

TEST_F(PostgresStoreTest, ADefinitionUnderAnothersNumberIsDamaged)
{
    backend_.execute("UPDATE kairos_definition SET key = key + 1");
    const auto kept = store_->read();
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::malformed);
}

TEST_F(PostgresStoreTest, AChangeThatTheDatabaseRefusesIsNotThereInPart)
{
    backend_.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                     " 'BEGIN RAISE EXCEPTION ''no''; END'");
    backend_.execute("CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON kairos_definition"
                     " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.key = 66)"
                     " EXECUTE FUNCTION refuse()");
    ASSERT_EQ(three_.key, 66U);
    // When it is committed.
    EXPECT_EQ(code_of(store_->write({&two_, &three_}, {first_free}, first_free + 3)),
              ErrorCode::system);
    EXPECT_EQ(definitions_in(*store_), std::vector{one_});
    EXPECT_TRUE(store_->write({&two_}, {first_free}, first_free + 2));
    EXPECT_EQ(definitions_in(*store_), std::vector{two_});
}

// --- a database that goes away -------------------------------------------------------------------

TEST_F(PostgresStoreTest, AConnectionThatWasLostIsMadeAgain)
{
    backend_.end_connections();
    EXPECT_TRUE(store_->check());
    EXPECT_TRUE(store_->write({&two_}, {}, first_free + 2));
    backend_.end_connections();
    EXPECT_EQ(definitions_in(*store_), (std::vector{one_, two_}));
    backend_.end_connections();
    EXPECT_EQ(code_of(store_->write({&three_}, {}, first_free + 3)), ErrorCode::unreachable);
    EXPECT_TRUE(store_->check());
    EXPECT_TRUE(store_->write({&three_}, {}, first_free + 3));
    EXPECT_EQ(locks(), 1);
}

/// A way to the server that can be cut so that its end does not notice, as when a network fails.
class Relay {
  public:
    Relay() : listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        const sockaddr_un at = address(folder_.path());
        if (bind(listener_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
            listen(listener_, 8) != 0)
            throw std::runtime_error("the relay cannot listen");
        acceptor_ = std::thread([this] { accept_all(); });
    }
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;
    ~Relay()
    {
        shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        for (const auto* ends : {&clients_, &servers_})
            for (const int end : *ends)
                shutdown(end, SHUT_RDWR);
        for (std::thread& thread : threads_)
            thread.join();
        for (const auto* ends : {&clients_, &servers_})
            for (const int end : *ends)
                close(end);
        close(listener_);
    }
    [[nodiscard]] std::string url(const std::string& direct) const
    {
        std::string url = direct;
        const std::string folder = postgres::server().folder();
        return url.replace(url.find(folder), folder.size(), folder_.path());
    }
    /// Of those that there are: others may come.
    void cut()
    {
        const std::lock_guard lock(mutex_);
        for (const int end : clients_)
            shutdown(end, SHUT_RDWR);
    }

  private:
    static sockaddr_un address(const std::filesystem::path& folder)
    {
        sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
        const std::string path = folder / ".s.PGSQL.5432";
        path.copy(at.sun_path, sizeof at.sun_path - 1);
        return at;
    }
    void accept_all()
    {
        for (int client = 0; (client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
            const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const sockaddr_un at = address(postgres::server().folder());
            (void)connect(server, reinterpret_cast<const sockaddr*>(&at), sizeof at);
            const std::lock_guard lock(mutex_);
            clients_.push_back(client);
            servers_.push_back(server);
            threads_.emplace_back([=] { copy(client, server); });
            threads_.emplace_back([=] {
                copy(server, client);
                shutdown(client, SHUT_RDWR);
            });
        }
    }
    static void copy(int from, int to)
    {
        char octets[4096];
        for (ssize_t count = 0; (count = read(from, octets, sizeof octets)) > 0;)
            if (send(to, octets, static_cast<std::size_t>(count), MSG_NOSIGNAL) != count) return;
    }

    const postgres::ServerFolder folder_;
    const int listener_;
    std::mutex mutex_; // guards clients_
    std::vector<int> clients_;
    std::vector<int> servers_;         // the acceptor's until it ends
    std::vector<std::thread> threads_; // likewise
    std::thread acceptor_;
};

TEST_F(PostgresStoreTest, ItsOwnConnectionThatTheServerStillHasIsNotInItsWay)
{
    store_.reset();
    Relay relay;
    const auto store = open_store(relay.url(backend_.url()));
    ASSERT_TRUE(store) << store.error().reason;
    ASSERT_TRUE((*store)->read());
    relay.cut();
    ASSERT_EQ(locks(), 1); // the server has noticed nothing
    const Result<void> checked = (*store)->check();
    EXPECT_TRUE(checked) << checked.error().reason;
    EXPECT_TRUE((*store)->write({&two_}, {}, first_free + 2));
    EXPECT_EQ(locks(), 1);
}

TEST_F(PostgresStoreTest, WithoutItsServerItSaysSoAndGoesOnWhenThatIsBack)
{
    postgres::server().stop();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(code_of(store_->check()), ErrorCode::unreachable);
        EXPECT_EQ(code_of(store_->write({&two_}, {}, first_free + 2)), ErrorCode::unreachable);
        const auto kept = store_->read();
        ASSERT_FALSE(kept);
        EXPECT_EQ(kept.error().code, ErrorCode::unreachable);
    }
    EXPECT_FALSE(backend_.open());
    postgres::server().start();
    EXPECT_TRUE(store_->check());
    EXPECT_TRUE(store_->write({&two_}, {}, first_free + 2));
    EXPECT_EQ(definitions_in(*store_), (std::vector{one_, two_}));
}

TEST_F(PostgresStoreTest, AServerThatDoesNotAnswerIsNotWaitedForForEver)
{
    store_.reset();
    constexpr std::chrono::milliseconds soon(400);
    auto quick = open_postgres_store({.url = backend_.url(), .timeout = soon});
    ASSERT_TRUE(quick) << quick.error().reason;
    ASSERT_TRUE((*quick)->read());
    postgres::server().freeze();
    EXPECT_EQ(code_of((*quick)->check()), ErrorCode::unreachable);
    EXPECT_EQ(code_of((*quick)->check()), ErrorCode::unreachable); // at once
    EXPECT_EQ(code_of((*quick)->write({&two_}, {}, first_free + 2)), ErrorCode::unreachable);
    EXPECT_FALSE(open_postgres_store({.url = backend_.url(), .opening_timeout = soon}));
    postgres::server().thaw();
    while (!(*quick)->check())
        std::this_thread::yield(); // until it is asked again
    EXPECT_TRUE((*quick)->write({&two_}, {}, first_free + 2));
    EXPECT_EQ(definitions_in(**quick), (std::vector{one_, two_}));
}

TEST_F(PostgresStoreTest, WhoHasTheTablesIsNotWaitedForForEver)
{
    const auto other = postgres::Connection::open(backend_.url(), "test", {});
    ASSERT_TRUE(other);
    ASSERT_TRUE((*other)->execute("BEGIN").ok());
    ASSERT_TRUE((*other)->execute("LOCK TABLE kairos_repository IN ACCESS EXCLUSIVE MODE").ok());
    EXPECT_EQ(code_of(store_->check()), ErrorCode::system);
    ASSERT_TRUE((*other)->execute("ROLLBACK").ok());
    EXPECT_TRUE(store_->check());
    EXPECT_TRUE(store_->write({&two_}, {}, first_free + 2));
}

} // namespace
} // namespace kairos::repository

int main(int argc, char** argv) { return kairos::postgres::run_tests(argc, argv); }
