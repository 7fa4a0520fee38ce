// SPDX-License-Identifier: Apache-2.0
//
// References of servers that clients on their host reach by other ways than TCP, changed as
// somebody on the way could have changed them.
#pragma once

#include "tests/malformed/fixture.h"

#include "kairos/ior/profile.h"

#include <sys/stat.h>
#include <unistd.h>

namespace kairos::orb_testing {

using Arguments = std::vector<std::string>;

/// A port of loopback where nobody listens as long as this lives.
class DeadPort {
  public:
    DeadPort()
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
          bound_(::bind(socket_.descriptor(), loopback_.native(), loopback_.native_size()) == 0)
    {
    }
    [[nodiscard]] std::uint16_t port() const
    {
        EXPECT_TRUE(bound_);
        return socket_.local_address().value().port();
    }

  private:
    net::Address loopback_ = net::Address::loopback_ipv4();
    net::Socket socket_;
    bool bound_;
};

/// The reference with its first profile changed.
template <typename Change>
[[nodiscard]] std::string changed(const std::string& reference, Change change)
{
    ior::Ior ior = ior::from_string(reference).value();
    ior::IiopProfile profile = ior::decode_iiop(ior.profiles.at(0).data).value();
    change(profile);
    ior.profiles.at(0) = ior::encode_iiop(profile);
    return ior::to_string(ior);
}

[[nodiscard]] inline ior::TaggedComponent& component(ior::IiopProfile& profile, std::uint32_t tag)
{
    for (ior::TaggedComponent& each : profile.components)
        if (each.tag == tag) return each;
    throw std::runtime_error("no such component");
}

template <typename Change>
[[nodiscard]] std::string with_local(const std::string& reference, Change change)
{
    return changed(reference, [&](ior::IiopProfile& profile) {
        auto& tagged = component(profile, ior::tag_local_addresses);
        auto local = ior::decode_local_addresses(tagged).value();
        change(local);
        tagged = ior::make_local_addresses(local);
    });
}

[[nodiscard]] inline std::string with_port(const std::string& reference, std::uint16_t port)
{
    return changed(reference, [&](ior::IiopProfile& profile) {
        profile.port = port;
        std::erase_if(profile.components, [](const ior::TaggedComponent& each) {
            return each.tag == ior::tag_priority_addresses;
        });
    });
}

[[nodiscard]] inline std::string local_path(const std::string& reference)
{
    std::string path;
    (void)with_local(reference,
                     [&](ior::LocalAddresses& local) { path = local.addresses.at(0).path; });
    return path;
}

[[nodiscard]] inline bool exists(const std::string& path)
{
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

/// A path for a socket that no other test has.
[[nodiscard]] inline std::string own_path()
{
    static int count = 0;
    return "/tmp/kairos-local-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// A server with these options alone, and one object.
class OnlyLocal {
  public:
    explicit OnlyLocal(Arguments options) : orb_(make_orb(std::move(options)))
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->activate();
        object_ = root->servant_to_reference(servant_);
        text_ = CORBA::String_var(orb_->object_to_string(object_)).in();
    }
    ~OnlyLocal() { orb_->destroy(); }
    OnlyLocal(const OnlyLocal&) = delete;
    OnlyLocal& operator=(const OnlyLocal&) = delete;

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] CORBA::Object_ptr object() { return object_; }

  private:
    CORBA::ORB_var orb_;
    PortableServer::Servant_var<Servant> servant_ = new Servant;
    CORBA::Object_var object_;
    std::string text_;
};

/// Calls of every kind and size get to a server that nobody has called yet.
inline void expect_calls_of_every_size(RunningServer& server, const std::string& reference,
                                       Arguments options = {})
{
    Event noted;
    server.servant().note_action = [&] { noted.set(); };
    options.insert(options.end(), {"-ORBFragmentSize", "65536"});
    Client client(std::move(options));
    const Probe::Target_var target = client.target(reference);
    target->ping();
    EXPECT_EQ(target->add(20, 22), 42);
    Probe::Octets large;
    large.length(3'000'000);
    EXPECT_EQ(target->count_octets(large), large.length());
    const Probe::Octets_var produced = target->produce(large.length());
    EXPECT_EQ(produced->length(), large.length());
    target->note(1);
    EXPECT_TRUE(noted.wait());
}

/// Two servers call each other, each within calls of the other.
inline void expect_partners_call_back(RunningServer& left, const std::string& left_reference,
                                      RunningServer& right, const std::string& right_reference,
                                      Arguments options = {})
{
    const auto target_in = [](RunningServer& from, const std::string& reference) {
        const CORBA::Object_var object = from.orb()->string_to_object(reference.c_str());
        return Probe::Target::_unchecked_narrow(object);
    };
    const Probe::Target_var to_right = target_in(left, right_reference);
    const Probe::Target_var to_left = target_in(right, left_reference);
    std::atomic<int> left_to_do{4};
    left.servant().action = [&] {
        if (left_to_do-- > 0) to_right->act();
    };
    right.servant().action = [&] { to_left->act(); };
    Client client(std::move(options));
    const Probe::Target_var target = client.target(left_reference);
    target->act();
    EXPECT_EQ(left.servant().calls, 5u);
}

/// Clients call at the same time, each with an ORB of these options.
inline void expect_many_clients(RunningServer& server, const std::string& reference,
                                const std::vector<Arguments>& options)
{
    constexpr unsigned calls_each = 50;
    std::vector<std::thread> callers;
    callers.reserve(options.size());
    for (const Arguments& each : options) {
        callers.emplace_back([&] {
            Client client(each);
            const Probe::Target_var target = client.target(reference);
            for (unsigned n = 0; n < calls_each; ++n)
                target->ping();
        });
    }
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(server.servant().calls, calls_each * options.size());
}

/// Why a server does not start.
[[nodiscard]] inline std::string complaint(Arguments options)
{
    const CORBA::ORB_var orb = make_orb(std::move(options));
    std::string reason = "none";
    try {
        (void)orb->resolve_initial_references("RootPOA");
    } catch (const CORBA::INITIALIZE& exception) {
        reason = exception.what();
    }
    orb->destroy();
    return reason;
}

} // namespace kairos::orb_testing
