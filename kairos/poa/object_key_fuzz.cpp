// SPDX-License-Identifier: Apache-2.0
//
// Drives the adapters of a server with arbitrary object keys: whatever a key says, only objects
// that are there are found, and the id that is found is the one that the key has. The first octet
// of the input tells whether the key is given the run of the server, which no seed can know.
#include "kairos/base/check.h"
#include "kairos/mapping/exception.h"
#include "kairos/poa/adapters.h"

#include <algorithm>
#include <string>

using namespace kairos;
using namespace kairos::poa;

namespace {

struct NoServant final : Servant {
    void _kairos_dispatch(orb::Upcall&) override {}
    bool _kairos_supports(std::string_view) const override { return false; }
    const char* _kairos_id() const override { return "IDL:Fuzz:1.0"; }
    void _add_ref() override {}
    void _remove_ref() override {}
};

struct Face final : AdapterFace {
    void begin(poa::Adapter& adapter, std::uint32_t key_id) noexcept override
    {
        found = {&adapter, key_id};
    }
    void end() noexcept override {}
    Adapters::Found found;
};

/// Nobody calls.
struct NoClient final : orb::ClientSide {
    static std::unique_ptr<orb::ClientSide> make(orb::Orb&) { return std::make_unique<NoClient>(); }
    void note_unused() noexcept override {}
    void end() noexcept override {}
    void stop() noexcept override {}
    void lock_for_fork() noexcept override {}
    void unlock_after_fork() noexcept override {}
    void start_over() noexcept override {}
};

orb::Options options()
{
    orb::Options options;
    options.plain_keys = true;
    return options;
}

/// The RootPOA, with an object; "users", transient with an object "a"; "lasting", the same but
/// persistent, and below it "deep", which has none; "declared" and "lasting-declared" are like
/// "users" and "lasting", but keys say the priority in front of the id.
class Server {
  public:
    Server()
    {
        auto adapters = std::make_unique<Adapters>(*core_);
        adapters_ = adapters.get();
        core_->set_adapter(std::move(adapters));
        Policies policies;
        create({}, "RootPOA", policies, root_);
        activate(root_, "");
        policies.id_assignment = IdAssignment::user;
        create(root_.found, "users", policies, users_);
        activate(users_, "a");
        policies.lifespan = Lifespan::persistent;
        create(root_.found, "lasting", policies, lasting_);
        activate(lasting_, "a");
        create(lasting_.found, "deep", policies, deep_);
        policies.real_time.priority_model = ior::PriorityModel{false, 5};
        create(root_.found, "lasting-declared", policies, lasting_declared_);
        activate(lasting_declared_, "a");
        policies.lifespan = Lifespan::transient;
        create(root_.found, "declared", policies, declared_);
        activate(declared_, "a");
    }
    ~Server() { KAIROS_CHECK(adapters_->destroy(root_.found, true, true) == Outcome::ok); }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void look_for(Id key, bool of_this_run)
    {
        const std::uint64_t run = core_->incarnation();
        if (of_this_run && key.size() >= ior::ObjectKey::size) {
            auto head = ior::ObjectKey{.incarnation = run}.encode();
            std::copy_n(head.begin() + 4, 8, key.begin() + 4);
        }
        const bool here = locates(key);
        bool expected = false;
        for (const Face* face :
             {&root_, &users_, &lasting_, &deep_, &lasting_declared_, &declared_}) {
            poa::Adapter& adapter = *face->found.adapter;
            const auto object = adapter.object_in(key);
            if (!object) continue;
            Servant* servant = nullptr;
            expected = expected || adapter.servant_of(object->id, servant) == Outcome::ok ||
                       (object->place && adapter.objects().enter(*object->place));
            const auto again = adapter.object_in(adapter.key_of(*object));
            KAIROS_CHECK(again && again->id == object->id);
        }
        KAIROS_CHECK(here == expected);
    }

  private:
    bool locates(Bytes key)
    {
        try {
            return adapters_->locates(key);
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
            return false;
        } catch (const CORBA::TRANSIENT&) { // its manager holds: nobody may make the adapter now
            return false;
        }
    }
    void create(Adapters::Found parent, const char* name, const Policies& policies, Face& face)
    {
        KAIROS_CHECK(adapters_->create(parent, name, *manager_, policies, face) == Outcome::ok);
    }
    void activate(Face& face, std::string_view id)
    {
        const Bytes octets = as_bytes(id);
        Identity object{.id = {octets.begin(), octets.end()}, .place = {}};
        KAIROS_CHECK(face.found.adapter->activate(servant_, object, !id.empty()) == Outcome::ok);
    }

    const IntrusivePtr<orb::Orb> core_ = make_intrusive<orb::Orb>(options(), &NoClient::make);
    const IntrusivePtr<Manager> manager_ = make_intrusive<Manager>("manager");
    Adapters* adapters_ = nullptr;
    NoServant servant_;
    Face root_;
    Face users_;
    Face lasting_;
    Face deep_;
    Face lasting_declared_;
    Face declared_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Server server;
    if (size == 0) return 0;
    const auto* octets = reinterpret_cast<const std::byte*>(data);
    server.look_for({octets + 1, octets + size}, (data[0] & 1) != 0);
    return 0;
}
