// SPDX-License-Identifier: Apache-2.0
//
// What the tests of dynamic invocation share: a servant, and ORBs that serve it to a client within
// the process, over TCP or not.
#pragma once

#include "tests/malformed/fixture.h"

#include "dynamic_skel.h"

#include <condition_variable>
#include <mutex>
#include <set>

namespace kairos::dynamic_testing {

using orb_testing::Client;
using orb_testing::make_orb;
using orb_testing::outcome;

inline constexpr const char* already_sent = "BAD_INV_ORDER 0x4f4d000a NO";
inline constexpr const char* not_sent = "BAD_INV_ORDER 0x4f4d000b NO";
inline constexpr const char* already_fetched = "BAD_INV_ORDER 0x4f4d000c NO";
inline constexpr const char* sent_synchronously = "BAD_INV_ORDER 0x4f4d000d NO";

inline void add_factories(CORBA::ORB_ptr orb)
{
    const CORBA::ValueFactoryBase_var factory = new Dynamic::Item_init;
    const CORBA::ValueFactoryBase_var former =
        orb->register_value_factory(Dynamic::Item::_kairos_id, factory.in());
}

/// Thread-safe, as calls come over several connections.
class Servant final : public POA_Dynamic::Target {
  public:
    CORBA::Long number() override { return number_; }
    void number(CORBA::Long value) override { number_ = value; }
    CORBA::Long add(CORBA::Long left, CORBA::Long right) override { return left + right; }

    /// Gives back what came, the inout argument changed.
    Dynamic::Person* change(CORBA::Octet o, Dynamic::Person& who, const Dynamic::Choice& choice,
                            Dynamic::Choice_out chosen, const CORBA::Any& anything,
                            CORBA::Any_out back, const Dynamic::Grid numbers, Dynamic::Grid same,
                            Dynamic::Target_ptr peer, Dynamic::Target_out other,
                            const char* code) override
    {
        Dynamic::Person_var before = new Dynamic::Person(who);
        who.name = code;
        who.marks.length(1);
        who.marks[0] = o;
        chosen = new Dynamic::Choice(choice);
        back = new CORBA::Any(anything);
        std::memcpy(same, numbers, sizeof(Dynamic::Grid));
        other = Dynamic::Target::_duplicate(peer);
        return before._retn();
    }

    /// The last of the left list. A value that two parameters share comes as one.
    Dynamic::Item* link(Dynamic::Item* first, const Dynamic::Pair& both,
                        Dynamic::Item_out last) override
    {
        shared = first == both.left.in() && first->next() == both.right.in();
        last = first->next();
        CORBA::add_ref(last.ptr());
        CORBA::add_ref(first);
        return first;
    }

    void refuse(const char* why) override
    {
        if (*why == '\0') throw Dynamic::Other();
        throw Dynamic::Refused(why, Dynamic::Point{3, 4.5});
    }

    char* asked(CORBA::Context_ptr context) override
    {
        CORBA::NVList_var values;
        context->get_values("", 0, "*", values.out());
        std::string all;
        for (CORBA::ULong i = 0; i < values->count(); ++i) {
            const char* value = nullptr;
            EXPECT_TRUE(*values->item(i)->value() >>= value);
            all += std::string(values->item(i)->name()) + "=" + value + ";";
        }
        return CORBA::string_dup(all.c_str());
    }

    void note(CORBA::Long number) override
    {
        const std::lock_guard lock(mutex_);
        last_note_ = number;
        changed_.notify_all();
    }
    CORBA::ULong large(const Dynamic::Octets& octets) override
    {
        CORBA::ULong sum = 0;
        for (CORBA::ULong i = 0; i < octets.length(); ++i)
            sum += octets[i];
        return sum;
    }

    CORBA::Long hold(CORBA::Long number) override
    {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(changed_.wait_for(lock, orb_testing::patience,
                                      [&] { return released_.contains(number); }));
        return number;
    }
    /// Lets hold(number) return, now or as soon as it is called.
    void release(CORBA::Long number)
    {
        const std::lock_guard lock(mutex_);
        released_.insert(number);
        changed_.notify_all();
    }
    [[nodiscard]] bool wait_for_note(CORBA::Long number)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, orb_testing::patience, [&] { return last_note_ == number; });
    }

    std::atomic<bool> shared{false}; ///< what `link` found

  private:
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::set<CORBA::Long> released_;
    CORBA::Long last_note_ = 0;
    std::atomic<CORBA::Long> number_{0};
};

/// An ORB that serves a Servant in threads of its own.
class Server {
  public:
    explicit Server(const std::string& concurrency = "thread-per-connection")
        : orb_(make_orb(
              {"-ORBConcurrency", concurrency, "-ORBListenEndpoints", "iiop://127.0.0.1:0"}))
    {
        add_factories(orb_.in());
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var target = poa->id_to_reference(id.in());
        own_ = Dynamic::Target::_narrow(target);
        const CORBA::String_var text = orb_->object_to_string(target);
        reference = text.in();
        const PortableServer::POAManager_var manager = poa->the_POAManager();
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
    /// The object as the server itself knows it: calls of it stay in the process.
    [[nodiscard]] Dynamic::Target_ptr collocated() { return own_.in(); }

    Servant servant;
    std::string reference;

  private:
    CORBA::ORB_var orb_;
    Dynamic::Target_var own_;
    std::thread thread_;
};

} // namespace kairos::dynamic_testing
