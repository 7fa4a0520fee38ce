// SPDX-License-Identifier: Apache-2.0
//
// The measured program for demultiplexing end to end: a server with as many objects as it is told
// of each interface in many.idl, and a client that calls them in one of paper 000's patterns
// (§3.7). One source for each ORB and each way of finding operations, in the classic C++ mapping.
// Options -ORB… after the program's own go to the ORB.
#ifdef KAIROS_BENCH_OMNIORB
#include "many.hh"
#else
#include "kairos/corba/CORBA.h"
#include "many.h"
#include "many_skel.h"
#endif

// This speaks the ORB's names.
#include "bench/orb_program.h"

#include "bench/demux_peer.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// What the interfaces have ten and a hundred of.
#define KAIROS_TEN(one, tens)                                                                      \
    one(tens##0) one(tens##1) one(tens##2) one(tens##3) one(tens##4) one(tens##5) one(tens##6)     \
        one(tens##7) one(tens##8) one(tens##9)
#define KAIROS_HUNDRED(one)                                                                        \
    KAIROS_TEN(one, 00)                                                                            \
    KAIROS_TEN(one, 01)                                                                            \
    KAIROS_TEN(one, 02)                                                                            \
    KAIROS_TEN(one, 03)                                                                            \
    KAIROS_TEN(one, 04)                                                                            \
    KAIROS_TEN(one, 05)                                                                            \
    KAIROS_TEN(one, 06)                                                                            \
    KAIROS_TEN(one, 07) KAIROS_TEN(one, 08) KAIROS_TEN(one, 09)

namespace {

using kairos::bench::Exercise;
using kairos::bench::LatencySummary;
using kairos::bench::reporting;

// --- servants ------------------------------------------------------------------------------------

#define KAIROS_SERVE(number)                                                                       \
    void send_no_params_##number() override {}

class OneServant : public POA_Many::One {
  public:
    KAIROS_SERVE(000)
};
class TenServant : public POA_Many::Ten {
  public:
    KAIROS_TEN(KAIROS_SERVE, 00)
};
class HundredServant : public POA_Many::Hundred {
  public:
    KAIROS_HUNDRED(KAIROS_SERVE)
};

/// So many objects with servants of their own, in an adapter of their own.
template <typename Servant>
class Objects {
  public:
    Objects(PortableServer::POA_ptr root, const char* name, std::size_t count,
            const std::string& strategy)
        : servants_(count)
    {
        const PortableServer::POA_var poa = create(root, name, strategy);
        for (Servant& servant : servants_) {
            const PortableServer::ObjectId_var id = activate(poa, servant, strategy);
            objects_.emplace_back(poa->id_to_reference(id));
        }
    }
    void append_to(std::vector<CORBA::Object_ptr>& objects) const
    {
        for (const CORBA::Object_var& object : objects_)
            objects.push_back(object);
    }

  private:
#ifdef KAIROS_BENCH_OMNIORB
    PortableServer::POA_ptr create(PortableServer::POA_ptr root, const char* name,
                                   const std::string&)
    {
        const PortableServer::POAManager_var manager = root->the_POAManager();
        return root->create_POA(name, manager, CORBA::PolicyList());
    }
#else
    /// -ORBDemux says it for all strategies but the perfect hash, which wants to know the ids.
    PortableServer::POA_ptr create(PortableServer::POA_ptr root, const char* name,
                                   const std::string& strategy)
    {
        const PortableServer::POAManager_var manager = root->the_POAManager();
        CORBA::PolicyList policies;
        if (strategy == "perfect") {
            std::vector<PortableServer::ObjectId> ids;
            for (std::size_t i = 0; i < servants_.size(); ++i)
                ids.push_back(id_of(i));
            policies.length(2);
            policies[0] = root->create_id_assignment_policy(PortableServer::USER_ID);
            policies[1] =
                kairos::corba::create_demultiplexing_policy(kairos::poa::IdStrategy::perfect, ids);
        }
        return root->create_POA(name, manager, policies);
    }
#endif
    PortableServer::ObjectId* activate(PortableServer::POA_ptr poa, Servant& servant,
                                       const std::string& strategy)
    {
        if (strategy != "perfect") return poa->activate_object(&servant);
        PortableServer::ObjectId id = id_of(objects_.size());
        poa->activate_object_with_id(id, &servant);
        return new PortableServer::ObjectId(id);
    }
    static PortableServer::ObjectId id_of(std::size_t index)
    {
        const PortableServer::ObjectId_var id =
            PortableServer::string_to_ObjectId(("servant/" + std::to_string(index)).c_str());
        return id;
    }

    std::vector<Servant> servants_;
    std::vector<CORBA::Object_var> objects_;
};

int serve(CORBA::ORB_ptr orb, std::size_t count, const std::string& strategy)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    const Objects<OneServant> one(root, "one", count, strategy);
    const Objects<TenServant> ten(root, "ten", count, strategy);
    const Objects<HundredServant> hundred(root, "hundred", count, strategy);
    std::vector<CORBA::Object_ptr> objects;
    one.append_to(objects);
    ten.append_to(objects);
    hundred.append_to(objects);
    return kairos::bench::serve(orb, objects);
}

// --- clients -------------------------------------------------------------------------------------

/// What a reference points to: omniORB's has the operations itself.
template <typename Interface>
using Stub = std::remove_pointer_t<typename Interface::_ptr_type>;

#define KAIROS_ONE_CALL(number) &Stub<Many::One>::send_no_params_##number,
#define KAIROS_TEN_CALL(number) &Stub<Many::Ten>::send_no_params_##number,
#define KAIROS_HUNDRED_CALL(number) &Stub<Many::Hundred>::send_no_params_##number,
constexpr void (Stub<Many::One>::*one_calls[])() = {KAIROS_ONE_CALL(000)};
constexpr void (Stub<Many::Ten>::*ten_calls[])() = {KAIROS_TEN(KAIROS_TEN_CALL, 00)};
constexpr void (Stub<Many::Hundred>::*hundred_calls[])() = {KAIROS_HUNDRED(KAIROS_HUNDRED_CALL)};

/// Calls every object it has a reference to. An order's request_bytes are the pattern's number, its
/// units say of which interface: how many operations.
class ManyClient final : public kairos::bench::Client {
  public:
    ManyClient(CORBA::ORB_ptr orb, const std::vector<std::string>& references)
    {
        const std::size_t count = references.size() / kairos::bench::operation_counts.size();
        for (std::size_t i = 0; i < count; ++i) {
            one_.emplace_back(narrow<Many::One>(orb, references[i]));
            ten_.emplace_back(narrow<Many::Ten>(orb, references[count + i]));
            hundred_.emplace_back(narrow<Many::Hundred>(orb, references[2 * count + i]));
        }
    }

    LatencySummary latency(const Exercise& exercise) override
    {
        switch (exercise.units) {
        case 1:
            return time(one_, one_calls, exercise);
        case 10:
            return time(ten_, ten_calls, exercise);
        case 100:
            return time(hundred_, hundred_calls, exercise);
        default:
            throw std::invalid_argument("there is no interface of so many operations");
        }
    }

    double ttcp_seconds(const Exercise&) override { return refuse(); }
    void call(const Exercise&) override { refuse(); }
    kairos::bench::MessageBytes message_bytes(const Exercise&) override
    {
        refuse();
        return {};
    }

  private:
    static double refuse() { throw std::invalid_argument("this program measures latency only"); }

    template <typename Interface>
    static typename Interface::_ptr_type narrow(CORBA::ORB_ptr orb, const std::string& reference)
    {
        const CORBA::Object_var object = orb->string_to_object(reference.c_str());
        const auto narrowed = Interface::_narrow(object);
        if (CORBA::is_nil(narrowed))
            throw std::invalid_argument("not a reference to one of the benchmark's objects");
        return narrowed;
    }

    template <typename Reference, typename Call, std::size_t operations>
    static LatencySummary time(const std::vector<Reference>& objects,
                               const Call (&calls)[operations], const Exercise& exercise)
    {
        return reporting([&] {
            const auto pattern = kairos::bench::pattern_numbered(exercise.request_bytes);
            const auto servants = kairos::bench::servants_of(
                pattern, static_cast<std::uint32_t>(objects.size()), exercise.calls);
            const auto called = kairos::bench::operations_of(pattern, operations, exercise.calls);
            std::size_t next = 0;
            const auto once = [&] {
                (objects[servants[next]].in()->*calls[called[next]])();
                next = next + 1 == servants.size() ? 0 : next + 1;
            };
            kairos::bench::repeat(kairos::bench::warm_up_calls, once);
            return kairos::bench::time_each(exercise.calls, once);
        });
    }

    std::vector<Many::One_var> one_;
    std::vector<Many::Ten_var> ten_;
    std::vector<Many::Hundred_var> hundred_;
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if ((arguments.size() == 2 || arguments.size() == 3) && arguments[0] == "server")
        return serve(orb, std::stoul(arguments[1]), arguments.size() == 3 ? arguments[2] : "");
    if (arguments.size() > 1 && arguments[0] == "client") {
        int status = 0;
        {
            ManyClient client(orb, {arguments.begin() + 1, arguments.end()});
            status = kairos::bench::serve_orders(client);
        }
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-many… server COUNT [perfect] [-ORB…]\n"
              << "       kairos-bench-many… client REFERENCE… [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
