// SPDX-License-Identifier: Apache-2.0
//
// What the tests of asynchronous calls share: a server, a client that dispatches
// replies when it is told to, and a handler that writes down what it hears.
#pragma once

#include "tests/ami/servant.h"
#include "tests/malformed/fixture.h"

#include <functional>
#include <string>
#include <vector>

namespace kairos::ami_testing {

using orb_testing::make_orb;
using orb_testing::patience;

/// An ORB that serves a Servant in threads of its own.
class Server {
  public:
    explicit Server(std::vector<std::string> options = {"-ORBConcurrency", "worker-pool",
                                                        "-ORBThreads", "4"})
        : orb_(make_orb(with_endpoint(std::move(options))))
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa = PortableServer::POA::_narrow(object);
        manager = poa->the_POAManager();
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var target = poa->id_to_reference(id.in());
        own_ = Ami::Target::_narrow(target);
        const CORBA::String_var text = orb_->object_to_string(target);
        reference = text.in();
        manager->activate();
        thread_ = std::thread([this] {
            try {
                orb_->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
            }
        });
    }
    ~Server()
    {
        orb_->shutdown(true);
        thread_.join();
        orb_->destroy();
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_.in(); }

    PortableServer::POA_var poa;
    PortableServer::POAManager_var manager;
    Servant servant;
    std::string reference;

  private:
    static std::vector<std::string> with_endpoint(std::vector<std::string> options)
    {
        options.insert(options.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        return options;
    }

    CORBA::ORB_var orb_;
    Ami::Target_var own_;
    std::thread thread_;
};

/// Writes down what it hears, a line each.
class Handler final : public POA_Ami::AMI_TargetHandler {
  public:
    void get_name(const char* value) override { add(std::string("get_name ") + value); }
    void get_name_excep(Messaging::ExceptionHolder* holder) override { fail("get_name", holder); }
    void set_name() override { add("set_name"); }
    void set_name_excep(Messaging::ExceptionHolder* holder) override { fail("set_name", holder); }
    void get_owner(const Ami::Person& person) override
    {
        add(std::string("get_owner ") + person.name.in() + " " + std::to_string(person.at.x));
    }
    void get_owner_excep(Messaging::ExceptionHolder* holder) override { fail("get_owner", holder); }
    void add(CORBA::Long sum) override
    {
        if (writes) add("add " + std::to_string(sum));
        if (on_add) on_add(sum);
    }
    void add_excep(Messaging::ExceptionHolder* holder) override { fail("add", holder); }
    void change(const char* result, const char* text, const Ami::Person& who,
                const Ami::Point& where, const Ami::Names& all, const Ami::Grid same,
                const CORBA::Any& anything, Ami::Target_ptr other, CORBA::Long number) override
    {
        CORBA::Long value = 0;
        EXPECT_TRUE(anything >>= value);
        EXPECT_EQ(2u, all.length());
        EXPECT_EQ(5, same[1][2]);
        EXPECT_FALSE(CORBA::is_nil(other));
        EXPECT_EQ(2.5, where.y);
        add(std::string("change ") + result + " " + text + " " + std::to_string(who.at.x) + " " +
            all[1].in() + " " + std::to_string(value) + " " + std::to_string(number));
    }
    void change_excep(Messaging::ExceptionHolder* holder) override { fail("change", holder); }
    void refuse() override { add("refuse"); }
    void refuse_excep(Messaging::ExceptionHolder* holder) override { fail("refuse", holder); }
    void fail() override { add("fail"); }
    void fail_excep(Messaging::ExceptionHolder* holder) override { fail("fail", holder); }
    void hold(CORBA::Long number) override { add("hold " + std::to_string(number)); }
    void hold_excep(Messaging::ExceptionHolder* holder) override { fail("hold", holder); }
    void echo(const Ami::Octets& octets) override
    {
        add("echo " + std::to_string(octets.length()));
    }
    void echo_excep(Messaging::ExceptionHolder* holder) override { fail("echo", holder); }

    [[nodiscard]] std::vector<std::string> heard()
    {
        const std::lock_guard lock(mutex_);
        return heard_;
    }
    [[nodiscard]] std::size_t count() { return heard().size(); }
    std::function<void(CORBA::Long)> on_add;
    bool writes = true; ///< sums

  private:
    void add(std::string line)
    {
        const std::lock_guard lock(mutex_);
        heard_.push_back(std::move(line));
    }
    void fail(const std::string& operation, Messaging::ExceptionHolder* holder)
    {
        std::string how = "nothing";
        try {
            holder->raise_exception();
        } catch (const Ami::Refused& refused) {
            how = std::string("Refused ") + refused.why.in();
        } catch (const CORBA::SystemException&) {
            how = orb_testing::outcome([&] { holder->raise_exception(); });
        }
        add(operation + ": " + how);
    }

    std::mutex mutex_; // guards what follows
    std::vector<std::string> heard_;
};

/// An ORB with a handler, whose replies are dispatched by `dispatch` alone.
class Client {
  public:
    explicit Client(std::vector<std::string> options = {}) : orb_(make_orb(std::move(options)))
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa = PortableServer::POA::_narrow(object);
        const PortableServer::ObjectId_var id = poa->activate_object(&handler);
        const CORBA::Object_var target = poa->id_to_reference(id.in());
        reference = Ami::AMI_TargetHandler::_narrow(target);
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
    }
    ~Client() { orb_->destroy(); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_.in(); }
    [[nodiscard]] Ami::Target_var target(const std::string& text)
    {
        const CORBA::Object_var object = orb_->string_to_object(text.c_str());
        return Ami::Target::_unchecked_narrow(object);
    }
    /// Dispatches until that is so.
    template <typename Condition>
    [[nodiscard]] bool dispatch(Condition&& is_so)
    {
        const Deadline limit = Deadline::after(patience);
        while (!is_so()) {
            if (limit.has_passed()) return false;
            if (orb_->work_pending())
                orb_->perform_work();
            else
                std::this_thread::yield();
        }
        return true;
    }
    /// Dispatches until the handler has heard as much.
    [[nodiscard]] std::vector<std::string> hear(std::size_t count = 1)
    {
        EXPECT_TRUE(dispatch([&] { return handler.count() >= count; }));
        return handler.heard();
    }

    PortableServer::POA_var poa;
    Handler handler;
    Ami::AMI_TargetHandler_var reference;

  private:
    CORBA::ORB_var orb_;
};

} // namespace kairos::ami_testing
