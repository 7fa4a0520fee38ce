// SPDX-License-Identifier: Apache-2.0
//
// A client, a gateway and a server, each with an ORB of its own in one process, over TCP; the
// gateway knows the interface of passing.idl as a program that has learned of it at run time does.
#pragma once

#include "kairos/gateway/gateway.h"
#include "kairos/ior/profile.h"
#include "tests/malformed/fixture.h"

#include "passing_skel.h"

#include <condition_variable>
#include <mutex>
#include <optional>

namespace kairos::gateway_testing {

using orb_testing::Client;
using orb_testing::make_orb;
using orb_testing::outcome;

/// What the IOR of an object says: its port.
[[nodiscard]] inline std::uint16_t port_of(CORBA::Object_ptr object)
{
    for (const ior::TaggedProfile& profile : object->_kairos_reference()->ior().profiles)
        if (const auto iiop = ior::decode_iiop(profile.data)) return iiop->port;
    return 0;
}

class Servant final : public POA_Passing::Peer {
  public:
    explicit Servant(std::string name) : name_(std::move(name)) {}

    char* name() override
    {
        const std::lock_guard lock(mutex_);
        return CORBA::string_dup(name_.c_str());
    }
    void name(const char* name) override
    {
        const std::lock_guard lock(mutex_);
        name_ = name;
    }
    Passing::Peer_ptr same(Passing::Peer_ptr one) override
    {
        if (!CORBA::is_nil(one)) last_port = port_of(one);
        return Passing::Peer::_duplicate(one);
    }
    Passing::Held* hold(const Passing::Held& one, Passing::Peers& all,
                        CORBA::Object_out other) override
    {
        Passing::Peer_ptr inside = nullptr; // stays the Any's
        EXPECT_TRUE(one.anything >>= inside);
        last_port = port_of(inside);
        const CORBA::ULong length = all.length();
        for (CORBA::ULong i = 0; i < length; ++i)
            EXPECT_EQ(last_port, port_of(all[i]));
        all.length(length + 1);
        all[length] = Passing::Peer::_duplicate(one.one.in());
        other = CORBA::Object::_duplicate(one.one.in());
        return new Passing::Held(one);
    }
    Passing::Either* choose(const Passing::Either& one) override
    {
        if (one._d()) last_port = port_of(one.one());
        return new Passing::Either(one);
    }
    Passing::Link* share(Passing::Link* one, Passing::Link* other) override
    {
        shared = one->next() == other;
        last_port = port_of(other->one());
        CORBA::add_ref(one);
        return one;
    }
    CORBA::Any* pass(const CORBA::Any& value) override { return new CORBA::Any(value); }
    char* call_back(Passing::Peer_ptr back) override
    {
        last_port = port_of(back);
        return back->name();
    }
    void lose(Passing::Peer_ptr one) override { throw Passing::Lost(one, "lost"); }
    void complain(const char* why) override { throw Passing::Plain(why); }
    void fail() override { throw CORBA::NO_RESOURCES(42, CORBA::COMPLETED_MAYBE); }
    void note(CORBA::Long number) override
    {
        const std::lock_guard lock(mutex_);
        last_note_ = number;
        changed_.notify_all();
    }
    Passing::Octets* echo(const Passing::Octets& all) override { return new Passing::Octets(all); }
    CORBA::Double count(CORBA::Short one, CORBA::Double other, CORBA::LongLong third) override
    {
        return one + other + static_cast<CORBA::Double>(third);
    }
    char* asked(CORBA::Context_ptr context) override
    {
        CORBA::NVList_var values;
        context->get_values("", 0, "user", values.out());
        const char* value = nullptr;
        EXPECT_TRUE(*values->item(0)->value() >>= value);
        return CORBA::string_dup(value);
    }
    void stay() override
    {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(changed_.wait_for(lock, orb_testing::patience, [&] { return is_released_; }));
    }
    void release()
    {
        const std::lock_guard lock(mutex_);
        is_released_ = true;
        changed_.notify_all();
    }
    [[nodiscard]] bool wait_for_note(CORBA::Long number)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, orb_testing::patience, [&] { return last_note_ == number; });
    }

    std::atomic<std::uint16_t> last_port{0}; ///< of the reference that came last
    std::atomic<bool> shared{false};         ///< what `share` found

  private:
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::string name_;
    CORBA::Long last_note_ = 0;
    bool is_released_ = false;
};

/// An ORB whose requests are served by a thread of its own.
class Serving {
  public:
    explicit Serving(std::vector<std::string> options,
                     const std::string& endpoint = "iiop://127.0.0.1:0")
        : orb_(make_orb(with(std::move(options), endpoint)))
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
        const PortableServer::POAManager_var manager = poa_->the_POAManager();
        manager->activate();
        thread_ = std::thread([this] {
            try {
                orb_->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
            }
        });
    }
    ~Serving()
    {
        orb_->shutdown(true);
        thread_.join();
        orb_->destroy();
    }
    Serving(const Serving&) = delete;
    Serving& operator=(const Serving&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_.in(); }
    [[nodiscard]] PortableServer::POA_ptr poa() { return poa_.in(); }
    [[nodiscard]] std::string text(CORBA::Object_ptr object)
    {
        const CORBA::String_var text = orb_->object_to_string(object);
        return text.in();
    }
    [[nodiscard]] Passing::Peer_ptr peer(const std::string& text)
    {
        const CORBA::Object_var object = orb_->string_to_object(text.c_str());
        return Passing::Peer::_unchecked_narrow(object.in());
    }
    [[nodiscard]] Passing::Peer_ptr activate(PortableServer::Servant servant)
    {
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        const CORBA::Object_var object = poa_->id_to_reference(id.in());
        return Passing::Peer::_unchecked_narrow(object.in());
    }

  private:
    [[nodiscard]] static std::vector<std::string> with(std::vector<std::string> options,
                                                       const std::string& endpoint)
    {
        options.insert(options.end(), {"-ORBListenEndpoints", endpoint});
        return options;
    }

    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
    std::thread thread_;
};

/// Knows Passing::Peer, but for what a test leaves out before there are requests.
class Known final : public gateway::Interfaces {
  public:
    Known() : peer_(std::make_shared<gateway::Interface>()) { add_operations(); }

    std::shared_ptr<const gateway::Interface> interface_of(CORBA::Object_ptr target) override
    {
        ++asked;
        if (!knows_interface) return nullptr;
        EXPECT_FALSE(CORBA::is_nil(target));
        return peer_;
    }
    CORBA::TypeCode_ptr type(std::string_view repository_id) override
    {
        for (const CORBA::TypeCode_ptr known : {Passing::_tc_Link, Passing::_tc_LongLink}) {
            if (repository_id == known->id()) return CORBA::TypeCode::_duplicate(known);
        }
        if (knows_exceptions && repository_id == Passing::_tc_Lost->id())
            return CORBA::TypeCode::_duplicate(Passing::_tc_Lost);
        return CORBA::TypeCode::_nil();
    }

    [[nodiscard]] gateway::Operation& operation(const std::string& name)
    {
        return peer_->operations.at(name);
    }

    std::atomic<int> asked{0};
    std::atomic<bool> knows_interface{true};
    std::atomic<bool> knows_exceptions{false}; ///< those that no raises clause names

  private:
    using Direction = gateway::Operation::Direction;
    using In = std::initializer_list<CORBA::TypeCode_ptr>;

    gateway::Operation& add(const char* name, CORBA::TypeCode_ptr result, In arguments)
    {
        gateway::Operation operation(result);
        for (const CORBA::TypeCode_ptr argument : arguments)
            operation.add(Direction::in, argument);
        return peer_->operations.emplace(name, std::move(operation)).first->second;
    }
    void add_operations()
    {
        add("_get_name", CORBA::_tc_string, {});
        add("_set_name", CORBA::_tc_void, {CORBA::_tc_string});
        add("same", Passing::_tc_Peer, {Passing::_tc_Peer});
        gateway::Operation& hold = add("hold", Passing::_tc_Held, {Passing::_tc_Held});
        hold.add(Direction::inout, Passing::_tc_Peers);
        hold.add(Direction::out, CORBA::_tc_Object);
        add("choose", Passing::_tc_Either, {Passing::_tc_Either});
        add("share", Passing::_tc_Link, {Passing::_tc_Link, Passing::_tc_Link});
        add("pass", CORBA::_tc_any, {CORBA::_tc_any});
        add("call_back", CORBA::_tc_string, {Passing::_tc_Peer});
        add("lose", CORBA::_tc_void, {Passing::_tc_Peer});
        add("complain", CORBA::_tc_void, {CORBA::_tc_string}).add_exception(Passing::_tc_Plain);
        add("fail", CORBA::_tc_void, {});
        add("note", CORBA::_tc_void, {CORBA::_tc_long});
        add("echo", Passing::_tc_Octets, {Passing::_tc_Octets});
        add("count", CORBA::_tc_double, {CORBA::_tc_short, CORBA::_tc_double, CORBA::_tc_longlong});
        add("asked", CORBA::_tc_string, {}).set_context();
        add("stay", CORBA::_tc_void, {});
    }

    const std::shared_ptr<gateway::Interface> peer_;
};

/// Options of the three ORBs.
struct Ways {
    std::vector<std::string> client{};
    std::vector<std::string> gateway{};
    std::vector<std::string> server{};
    std::string server_endpoint = "iiop://127.0.0.1:0";
};

/// The three of them, and an object of the server's as the client has it.
class World {
  public:
    explicit World(const gateway::Options& options = {}, const Ways& ways = {})
        : server(ways.server, ways.server_endpoint), middle(ways.gateway), client(ways.client),
          gateway(std::in_place, middle.orb(), known, options)
    {
        own = server.activate(&servant);
        const Passing::Peer_var target = middle.peer(server.text(own.in()));
        const CORBA::Object_var published = gateway->publish(target.in());
        reference = middle.text(published.in());
        peer = client.peer(reference);
        gateway_port = port_of(peer.in());
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    Servant servant{"target"};
    Known known;
    Serving server;
    Serving middle; ///< the gateway's
    Serving client;
    std::optional<gateway::Gateway> gateway;
    Passing::Peer_var own;  ///< the object as its server has it
    Passing::Peer_var peer; ///< as the client has it, through the gateway
    std::string reference;
    std::uint16_t gateway_port = 0;
};

} // namespace kairos::gateway_testing
