// SPDX-License-Identifier: Apache-2.0
//
// The program whose calls budget_test.cpp counts: `server KIND` has an object in a POA of that
// kind, `client REFERENCE` calls it. The object is one of a few, all with one servant.
#include "bench.h"
#include "bench_skel.h"

// These speak the ORB's names.
#include "bench/latency_servant.h"
#include "bench/orb_program.h"

#include <kairos/corba/poa_policies.h>

#include <optional>

namespace {

using namespace PortableServer;
using kairos::bench::LatencyServant;
using kairos::poa::IdStrategy;

struct Kind {
    std::string_view name;
    LifespanPolicyValue lifespan;
    RequestProcessingPolicyValue processing;
    ServantRetentionPolicyValue retention;
    IdStrategy strategy = IdStrategy::active;
};

// Ids are the program's everywhere.
constexpr Kind kinds[] = {
    {"transient", TRANSIENT, USE_ACTIVE_OBJECT_MAP_ONLY, RETAIN},
    {"transient-hash", TRANSIENT, USE_ACTIVE_OBJECT_MAP_ONLY, RETAIN, IdStrategy::hash},
    {"persistent", PERSISTENT, USE_ACTIVE_OBJECT_MAP_ONLY, RETAIN},
    {"persistent-hash", PERSISTENT, USE_ACTIVE_OBJECT_MAP_ONLY, RETAIN, IdStrategy::hash},
    {"persistent-perfect", PERSISTENT, USE_ACTIVE_OBJECT_MAP_ONLY, RETAIN, IdStrategy::perfect},
    {"persistent-linear", PERSISTENT, USE_ACTIVE_OBJECT_MAP_ONLY, RETAIN, IdStrategy::linear},
    {"default-servant", PERSISTENT, USE_DEFAULT_SERVANT, NON_RETAIN},
    {"default-servant-retain", TRANSIENT, USE_DEFAULT_SERVANT, RETAIN},
    {"activator", PERSISTENT, USE_SERVANT_MANAGER, RETAIN},
    {"locator", PERSISTENT, USE_SERVANT_MANAGER, NON_RETAIN},
};

std::vector<ObjectId> object_ids()
{
    std::vector<ObjectId> ids;
    for (const char* text : {"alpha", "beta", "gamma", "the one that is called", "omega"})
        ids.push_back(*ObjectId_var(string_to_ObjectId(text)));
    return ids;
}
constexpr std::size_t called = 3;

class Locator final : public virtual ServantLocator {
  public:
    explicit Locator(Servant servant) : servant_(servant) {}
    Servant preinvoke(const ObjectId&, POA_ptr, const char*, Cookie&) override { return servant_; }
    void postinvoke(const ObjectId&, POA_ptr, const char*, Cookie, Servant) override {}

  private:
    const Servant servant_;
};

class Activator final : public virtual ServantActivator {
  public:
    explicit Activator(Servant servant) : servant_(servant) {}
    Servant incarnate(const ObjectId&, POA_ptr) override
    {
        servant_->_add_ref();
        return servant_;
    }
    void etherealize(const ObjectId&, POA_ptr, Servant, CORBA::Boolean, CORBA::Boolean) override {}

  private:
    const Servant servant_;
};

POA_var make_poa(CORBA::ORB_ptr orb, const Kind& kind)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root = POA::_narrow(object);
    CORBA::PolicyList policies;
    policies.length(6);
    policies[0] = root->create_lifespan_policy(kind.lifespan);
    policies[1] = root->create_id_assignment_policy(USER_ID);
    policies[2] = root->create_id_uniqueness_policy(MULTIPLE_ID);
    policies[3] = root->create_request_processing_policy(kind.processing);
    policies[4] = root->create_servant_retention_policy(kind.retention);
    policies[5] = kairos::corba::create_demultiplexing_policy(
        kind.strategy,
        kind.strategy == IdStrategy::perfect ? object_ids() : std::vector<ObjectId>());
    const POAManager_var manager = root->the_POAManager();
    return root->create_POA("Counted", manager, policies);
}

/// Whoever finds them, the objects have this servant.
void give(POA_ptr poa, const Kind& kind, LatencyServant& servant)
{
    if (kind.processing == USE_DEFAULT_SERVANT) return poa->set_servant(&servant);
    if (kind.processing == USE_ACTIVE_OBJECT_MAP_ONLY) {
        for (const ObjectId& id : object_ids())
            poa->activate_object_with_id(id, &servant);
        return;
    }
    ServantManager_var manager;
    if (kind.retention == RETAIN)
        manager = new Activator(&servant);
    else
        manager = new Locator(&servant);
    poa->set_servant_manager(manager);
}

int serve(CORBA::ORB_ptr orb, const Kind& kind)
{
    LatencyServant servant;
    const POA_var poa = make_poa(orb, kind);
    give(poa, kind, servant);
    const ObjectId id = object_ids()[called];
    const CORBA::Object_var object =
        kind.processing == USE_ACTIVE_OBJECT_MAP_ONLY
            ? poa->id_to_reference(id)
            : poa->create_reference_with_id(id, Bench::Latency::_kairos_id);
    return kairos::bench::serve(orb, {object.in()});
}

int call(CORBA::ORB_ptr orb, const std::string& reference)
{
    const CORBA::Object_var object = orb->string_to_object(reference.c_str());
    Bench::Latency_var target = Bench::Latency::_narrow(object);
    const int status =
        kairos::bench::serve_orders("client", [&](const kairos::bench::Order& order) {
            return kairos::bench::reporting([&] {
                kairos::bench::repeat(order.exercise.calls, [&] { target->ping(); });
                return std::string("{}");
            });
        });
    target = Bench::Latency::_nil();
    orb->destroy();
    return status;
}

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 2 && arguments[0] == "client") return call(orb, arguments[1]);
    if (arguments.size() == 2 && arguments[0] == "server")
        for (const Kind& kind : kinds)
            if (kind.name == arguments[1]) return serve(orb, kind);
    std::cerr << "usage: budget_poa_peer server KIND | client REFERENCE\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
