// SPDX-License-Identifier: Apache-2.0
//
// PortableServer::Current and `_this()`: what a servant knows of the request it is serving (CORBA
// 3.3 part 1, 15.3.10; C++ mapping 5.37).
#include "tests/poa/fixture.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;
using orb_testing::Servant;

class CurrentRequest : public Everywhere {
  protected:
    World world_{GetParam()};
    POA_ptr root_ = world_.root();
    CORBA::Object_var object_ = world_.orb()->resolve_initial_references("POACurrent");
    Current_var current_ = Current::_narrow(object_);
};

TEST_P(CurrentRequest, ThereIsNoneOutside)
{
    ASSERT_FALSE(CORBA::is_nil(current_));
    EXPECT_EQ(outcome([&] { const POA_var x = current_->get_POA(); }), "NoContext");
    EXPECT_EQ(outcome([&] { const ObjectId_var x = current_->get_object_id(); }), "NoContext");
    EXPECT_EQ(outcome([&] { const CORBA::Object_var x = current_->get_reference(); }), "NoContext");
    EXPECT_EQ(outcome([&] { const Servant_var<ServantBase> x = current_->get_servant(); }),
              "NoContext");
}

TEST_P(CurrentRequest, TellsOfTheObjectWhateverThePolicies)
{
    int number = 0;
    for (const auto lifespan : {TRANSIENT, PERSISTENT}) {
        for (const auto assignment : {USER_ID, SYSTEM_ID}) {
            for (const bool active : {true, false}) {
                const std::string name = "poa " + std::to_string(++number);
                Policies policies(root_);
                policies << lifespan << assignment << MULTIPLE_ID;
                if (!active) policies << NON_RETAIN << USE_DEFAULT_SERVANT;
                const POA_var poa = world_.poa(name.c_str(), policies);
                Servant_var<Servant> servant = new Servant;
                ObjectId_var id = new ObjectId(id_of("object"));
                if (assignment == SYSTEM_ID) {
                    const CORBA::Object_var made = poa->create_reference(target_id);
                    id = poa->reference_to_id(made);
                }
                if (active)
                    poa->activate_object_with_id(id, servant);
                else
                    poa->set_servant(servant);
                const CORBA::Object_var object = poa->create_reference_with_id(id, target_id);
                servant->action = [&] {
                    const POA_var its_poa = current_->get_POA();
                    EXPECT_EQ(its_poa.in(), poa.in());
                    const ObjectId_var its_id = current_->get_object_id();
                    EXPECT_EQ(text_of(its_id), text_of(id));
                    const CORBA::Object_var its_reference = current_->get_reference();
                    EXPECT_TRUE(its_reference->_is_equivalent(object));
                    const Servant_var<ServantBase> its_servant = current_->get_servant();
                    EXPECT_EQ(its_servant.in(), servant.in());
                    const Probe::Target_var self = servant->_this();
                    EXPECT_TRUE(self->_is_equivalent(object));
                };
                world_.seen(object)->act();
                EXPECT_EQ(servant->calls, 1u);
                poa->destroy(true, true);
            }
        }
    }
}

TEST_P(CurrentRequest, RequestsNest)
{
    const POA_var poa = world_.poa("poa", Policies(root_) << USER_ID);
    Servant_var<Servant> outer = new Servant;
    Servant_var<Servant> inner = new Servant;
    poa->activate_object_with_id(id_of("outer"), outer);
    poa->activate_object_with_id(id_of("inner"), inner);
    const CORBA::Object_var inner_object = poa->id_to_reference(id_of("inner"));
    const auto current_id = [&] {
        const ObjectId_var id = current_->get_object_id();
        return text_of(id);
    };
    inner->action = [&] { EXPECT_EQ(current_id(), "inner"); };
    outer->action = [&] {
        EXPECT_EQ(current_id(), "outer");
        world_.seen(inner_object)->act();
        EXPECT_EQ(current_id(), "outer");
    };
    const CORBA::Object_var object = poa->id_to_reference(id_of("outer"));
    world_.seen(object)->act();
    EXPECT_EQ(inner->calls, 1u);
}

TEST_P(CurrentRequest, ThisOutsideActivatesWhereTheServantSays)
{
    class Placed final : public Servant {
      public:
        explicit Placed(POA_ptr poa) : poa_(POA::_duplicate(poa)) {}
        POA_ptr _default_POA() override { return POA::_duplicate(poa_); }

      private:
        POA_var poa_;
    };
    const POA_var implicit = world_.poa("implicit", Policies(root_) << IMPLICIT_ACTIVATION);
    Servant_var<Placed> servant = new Placed(implicit);
    const Probe::Target_var self = servant->_this();
    EXPECT_EQ(world_.ping(self), "ok");
    const ObjectId_var id = implicit->reference_to_id(self);
    const POA_var none = world_.poa("none", {});
    Servant_var<Placed> other = new Placed(none);
    EXPECT_EQ(outcome([&] { const Probe::Target_var x = other->_this(); }), "ServantNotActive");
    const POA_var users = world_.poa("users", Policies(root_) << USER_ID << MULTIPLE_ID);
    Servant_var<Placed> third = new Placed(users);
    EXPECT_EQ(outcome([&] { const Probe::Target_var x = third->_this(); }), "WrongPolicy");
}

KAIROS_EVERYWHERE(CurrentRequest);

} // namespace
} // namespace kairos::poa_testing
