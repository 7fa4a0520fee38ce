// SPDX-License-Identifier: Apache-2.0
//
// The Interface Repository over PostgreSQL, as its clients meet it: what they hear when the
// database goes away or another server takes it over, and that they need do nothing when it is
// back.
#include "kairos/corba/CORBA.h"
#include "kairos/repository/postgres_testing.h"
#include "kairos/repository/repository.h"
#include "kairos/repository/store_testing.h"

#include <optional>
#include <thread>

namespace {

using namespace kairos;
using namespace kairos::repository;

CORBA::ORB_ptr make_orb()
{
    static int count = 0;
    std::vector<std::string> options{"test", "-ORBListenEndpoints", "iiop://127.0.0.1"};
    std::vector<char*> argv;
    argv.reserve(options.size());
    for (std::string& option : options)
        argv.push_back(option.data());
    int argc = static_cast<int>(argv.size());
    return CORBA::ORB_init(argc, argv.data(), ("repository " + std::to_string(++count)).c_str());
}

class PostgresServiceTest : public testing::Test {
  protected:
    PostgresServiceTest()
        : server_(make_orb()), client_(make_orb()),
          service_(std::in_place, server_.in(), backend_.opened())
    {
        const CORBA::Repository_var own = service_->reference();
        const CORBA::String_var text = server_->object_to_string(own.in());
        const CORBA::Object_var object = client_->string_to_object(text.in());
        repository_ = CORBA::Repository::_narrow(object.in());
        made_ = make("Made");
    }
    ~PostgresServiceTest() override
    {
        service_.reset();
        client_->destroy();
        server_->destroy();
    }

    CORBA::ModuleDef_var make(const std::string& name)
    {
        return repository_->create_module(("IDL:" + name + ":1.0").c_str(), name.c_str(), "1.0");
    }
    [[nodiscard]] bool has(const char* name)
    {
        const CORBA::Contained_var found = repository_->lookup(name);
        return !CORBA::is_nil(found.in());
    }

    const PostgresBackend backend_;
    CORBA::ORB_var server_;
    CORBA::ORB_var client_;
    std::optional<InterfaceRepository> service_;
    CORBA::Repository_var repository_;
    CORBA::ModuleDef_var made_;
};

} // namespace

TEST_F(PostgresServiceTest, WhatOneServerKeepsTheNextOneHas)
{
    service_.reset();
    service_.emplace(server_.in(), backend_.opened());
    const CORBA::String_var name = made_->name(); // by its reference of before
    EXPECT_STREQ(name.in(), "Made");
    made_->destroy();
    EXPECT_FALSE(has("Made"));
}

TEST_F(PostgresServiceTest, WithoutItsDatabaseItIsReadAndChangesAreTransient)
{
    postgres::server().stop();
    EXPECT_THROW((void)make("Other"), CORBA::TRANSIENT);
    EXPECT_THROW(made_->destroy(), CORBA::TRANSIENT);
    EXPECT_THROW(made_->name("Renamed"), CORBA::TRANSIENT);
    EXPECT_TRUE(has("Made"));
    EXPECT_FALSE(has("Other"));
    postgres::server().start();
    made_->name("Renamed");
    (void)make("Other");
    EXPECT_TRUE(has("Renamed"));
    EXPECT_TRUE(has("Other"));
    EXPECT_EQ(backend_.execute("SELECT count(*) FROM kairos_definition"), 2);
}

TEST_F(PostgresServiceTest, AConnectionThatWasLostIsNotNoticed)
{
    backend_.end_connections();
    (void)make("Other");
    EXPECT_TRUE(has("Other"));
}

TEST_F(PostgresServiceTest, AChangeThatIsNotKeptIsNotSeen)
{
    backend_.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                     " 'BEGIN RAISE EXCEPTION ''no''; END'");
    backend_.execute("CREATE TRIGGER refuse BEFORE INSERT ON kairos_definition"
                     " FOR EACH ROW EXECUTE FUNCTION refuse()");
    try {
        (void)make("Other");
        ADD_FAILURE() << "was kept";
    } catch (const CORBA::PERSIST_STORE& refused) {
        EXPECT_EQ(refused.completed(), CORBA::COMPLETED_NO);
    }
    EXPECT_TRUE(has("Made"));
    EXPECT_FALSE(has("Other"));
    backend_.execute("DROP TRIGGER refuse ON kairos_definition");
    (void)make("Other");
    EXPECT_TRUE(has("Other"));
}

TEST_F(PostgresServiceTest, AfterAnotherServerHadItItServesWhatThatHasWritten)
{
    backend_.end_connections();
    {
        const auto other = backend_.opened();
        const auto kept = other->read();
        ASSERT_TRUE(kept);
        ASSERT_EQ(kept->definitions.size(), 1U);
        const Definition theirs = module_of(kept->next, "Theirs");
        ASSERT_TRUE(other->write({&theirs}, {kept->definitions.front().key}, kept->next + 1));
        // What it would make may be there already.
        EXPECT_THROW((void)make("Other"), CORBA::PERSIST_STORE);
        // What it has may be of yesterday.
        EXPECT_THROW((void)has("Made"), CORBA::PERSIST_STORE);
    }
    const auto serves_again = [this] {
        try {
            return has("Theirs");
        } catch (const CORBA::PERSIST_STORE&) {
            return false;
        }
    };
    while (!serves_again())
        std::this_thread::yield(); // until it is read again
    EXPECT_FALSE(has("Made"));
    EXPECT_THROW((void)CORBA::String_var(made_->name()), CORBA::OBJECT_NOT_EXIST);
    (void)make("Other");
    EXPECT_TRUE(has("Other"));
}

int main(int argc, char** argv) { return postgres::run_tests(argc, argv); }
