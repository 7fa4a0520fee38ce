// SPDX-License-Identifier: Apache-2.0
#include "kairos/lifecycle/life_cycle_object.h"

#include "kairos/base/log.h"
#include "kairos/corba/CORBA.h"
#include "kairos/lifecycle/criteria.h"
#include "kairos/naming/call_time.h"

#include <optional>

namespace kairos::lifecycle {

using CosLifeCycle::CannotMeetCriteria;
using CosLifeCycle::Criteria;
using CosLifeCycle::FactoryFinder_ptr;
using CosLifeCycle::Key;
using CosLifeCycle::LifeCycleObject_ptr;
using naming::CallTime;

namespace {

/// Nil if it is none, makes no such objects or does not answer; nothing is made by asking.
CosLifeCycle::GenericFactory_ptr factory_for(CORBA::Object_ptr factory, const Key& key,
                                             CallTime& time)
{
    try {
        const auto generic = CosLifeCycle::GenericFactory_var(
            CosLifeCycle::GenericFactory::_narrow(time.briefly(factory).in()));
        if (CORBA::is_nil(generic.in()) || !time.briefly(generic.in())->supports(key))
            return nullptr;
        return CosLifeCycle::GenericFactory::_unchecked_narrow(factory);
    } catch (const CORBA::SystemException&) {
        return nullptr;
    }
}

/// Likewise, of the factory.
LifeCycleObject_ptr make_with(CORBA::Object_ptr factory, const Key& key, const Criteria& criteria,
                              CallTime& time)
{
    const CosLifeCycle::GenericFactory_var generic = factory_for(factory, key, time);
    if (CORBA::is_nil(generic.in())) return nullptr;
    try {
        const CORBA::Object_var made = time.limited(generic.in())->create_object(key, criteria);
        const CosLifeCycle::LifeCycleObject_var same =
            CosLifeCycle::LifeCycleObject::_narrow(time.limited(made.in()).in());
        // The caller's is without our limit.
        return CORBA::is_nil(same.in()) ? nullptr
                                        : CosLifeCycle::LifeCycleObject::_unchecked_narrow(made);
    } catch (const CosLifeCycle::NoFactory&) {
        return nullptr;
    } catch (const CORBA::SystemException& exception) {
        if (exception.completed() != CORBA::COMPLETED_NO) throw; // it may have made one
        return nullptr;
    }
}

/// As well as that goes: the reason why it is not wanted is what the caller is to hear.
void give_up(LifeCycleObject_ptr object) noexcept
{
    try {
        CallTime(object).limited(object)->remove();
    } catch (const CORBA::Exception& exception) {
        log::warning(std::string("a copy that nobody wants could not be removed: ") +
                     exception.what());
    }
}

} // namespace

LifeCycleObject_ptr LifeCycleObject::copy(FactoryFinder_ptr there, const Criteria& the_criteria)
{
    check_copyable();
    return make_another(there, the_criteria);
}

void LifeCycleObject::move(FactoryFinder_ptr there, const Criteria& the_criteria)
{
    check_movable();
    const CosLifeCycle::LifeCycleObject_var same = make_another(there, the_criteria);
    try {
        home_.moved(this, same.in());
    } catch (...) { // removed or moved by somebody else meanwhile
        give_up(same.in());
        throw;
    }
}

void LifeCycleObject::remove()
{
    check_removable();
    home_.removed(this);
}

LifeCycleObject_ptr LifeCycleObject::make_another(FactoryFinder_ptr there, const Criteria& criteria)
{
    const Key key = factory_key();
    if (CORBA::is_nil(there)) there = home_.finder();
    if (CORBA::is_nil(there)) throw CosLifeCycle::NoFactory(key);
    const Criteria wanted = with_initialization(criteria, state());
    CallTime time(there);
    const CosLifeCycle::Factories_var factories = time.limited(there)->find_factories(key);
    std::optional<CannotMeetCriteria> unmet;
    for (CORBA::ULong i = 0; i < factories->length(); ++i) {
        try {
            const LifeCycleObject_ptr made = make_with(factories[i], key, wanted, time);
            if (!CORBA::is_nil(made)) return made;
        } catch (const CannotMeetCriteria& exception) { // another may
            unmet = exception;
        }
    }
    if (unmet) throw CannotMeetCriteria(*unmet);
    throw CosLifeCycle::NoFactory(key);
}

} // namespace kairos::lifecycle
