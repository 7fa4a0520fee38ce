// SPDX-License-Identifier: Apache-2.0
//
// Name servers over one database, as their clients meet them: whichever is asked, it is one naming
// service.
#include "kairos/corba/CORBA.h"
#include "kairos/nameserver/postgres_testing.h"
#include "kairos/nameserver/service.h"
#include "kairos/naming/name.h"

#include <atomic>

namespace {

using namespace kairos;
using namespace kairos::nameserver;
using CosNaming::NamingContext;
using CosNaming::NamingContext_var;
using CosNaming::NamingContextExt_var;

CORBA::ORB_ptr make_orb()
{
    static int count = 0;
    std::vector<std::string> options{"test", "-ORBDebug", "0", "-ORBListenEndpoints",
                                     "iiop://127.0.0.1"};
    std::vector<char*> argv;
    for (std::string& option : options)
        argv.push_back(option.data());
    int argc = static_cast<int>(argv.size());
    return CORBA::ORB_init(argc, argv.data(), ("shared " + std::to_string(++count)).c_str());
}

class Server {
  public:
    explicit Server(const PostgresBackend& backend) : orb_(make_orb())
    {
        service_.emplace(orb_.in(), backend.open());
        const NamingContextExt_var root = service_->root();
        reference_ = CORBA::String_var(orb_->object_to_string(root.in())).in();
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() { stop(); }
    void stop()
    {
        if (!service_) return;
        service_.reset();
        orb_->destroy();
    }
    [[nodiscard]] const std::string& reference() const { return reference_; }

  private:
    CORBA::ORB_var orb_;
    std::optional<NamingService> service_;
    std::string reference_;
};

class SharedServiceTest : public testing::Test {
  protected:
    SharedServiceTest()
        : client_(make_orb()), first_(backend_), second_(backend_), root_(root_of(first_)),
          other_(root_of(second_))
    {
    }
    ~SharedServiceTest() override { client_->destroy(); }

    [[nodiscard]] NamingContextExt_var root_of(const Server& server) const
    {
        const CORBA::Object_var object = client_->string_to_object(server.reference().c_str());
        return CosNaming::NamingContextExt::_narrow(object.in());
    }
    [[nodiscard]] CORBA::Object_var object(int number) const
    {
        return client_->string_to_object(
            ("corbaloc::127.0.0.1:9/" + std::to_string(number)).c_str());
    }
    [[nodiscard]] static bool finds(NamingContext::_ptr_type root, const char* name,
                                    CORBA::Object_ptr object)
    {
        const CORBA::Object_var found = root->resolve(naming::to_name(name));
        return object->_is_equivalent(found.in());
    }

    const PostgresBackend backend_;
    CORBA::ORB_var client_;
    Server first_;
    Server second_;
    NamingContextExt_var root_;
    NamingContextExt_var other_;
};

CosNaming::Name name(const char* text) { return naming::to_name(text); }

} // namespace

TEST_F(SharedServiceTest, WhatOneAcknowledgedTheOtherAnswers)
{
    (void)NamingContext_var(root_->bind_new_context(name("a")));
    root_->bind(name("a/o"), object(1).in());
    for (int i = 2; i < 20; ++i) {
        EXPECT_TRUE(finds(root_.in(), "a/o", object(i - 1).in()));
        other_->rebind(name("a/o"), object(i).in());
        EXPECT_TRUE(finds(root_.in(), "a/o", object(i).in()));
        root_->unbind(name("a/o"));
        EXPECT_THROW((void)other_->resolve(name("a/o")), NamingContext::NotFound);
        other_->bind(name("a/o"), object(i).in());
        EXPECT_THROW(root_->bind(name("a/o"), object(i).in()), NamingContext::AlreadyBound);
    }
}

TEST_F(SharedServiceTest, AContextOfOneIsAContextOfTheOther)
{
    const NamingContext_var context = root_->new_context();
    context->bind(name("o"), object(1).in());
    other_->bind_context(name("c"), context.in());
    EXPECT_TRUE(finds(other_.in(), "c/o", object(1).in()));
    first_.stop(); // nobody has to ask it
    EXPECT_TRUE(finds(other_.in(), "c/o", object(1).in()));
}

TEST_F(SharedServiceTest, WithoutTheDatabaseCallsAreTransient)
{
    root_->bind(name("o"), object(1).in());
    EXPECT_TRUE(finds(other_.in(), "o", object(1).in()));
    postgres::server().stop();
    EXPECT_THROW((void)other_->resolve(name("o")), CORBA::TRANSIENT);
    EXPECT_THROW(root_->rebind(name("o"), object(2).in()), CORBA::TRANSIENT);
    postgres::server().start();
    EXPECT_TRUE(finds(other_.in(), "o", object(1).in()));
    root_->rebind(name("o"), object(2).in());
    EXPECT_TRUE(finds(other_.in(), "o", object(2).in()));
}

int main(int argc, char** argv) { return postgres::run_tests(argc, argv); }
