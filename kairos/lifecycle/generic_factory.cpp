// SPDX-License-Identifier: Apache-2.0
#include "kairos/lifecycle/generic_factory.h"

#include "kairos/corba/CORBA.h"
#include "kairos/naming/call_time.h"
#include "kairos/naming/name.h"

namespace kairos::lifecycle {

using CosLifeCycle::CannotMeetCriteria;
using CosLifeCycle::Criteria;
using CosLifeCycle::GenericFactory_ptr;
using CosLifeCycle::GenericFactory_var;
using CosLifeCycle::Key;

namespace {

/// Nothing has an empty key.
std::string text_of_key(const Key& key)
{
    return key.length() == 0 ? std::string() : naming::to_string(key);
}

Criteria only(const Criteria& criteria, std::string_view name)
{
    Criteria found;
    for (const CosLifeCycle::NameValuePair& criterion : criteria) {
        if (name != criterion.name.in()) continue;
        found.length(1);
        found[0] = criterion;
    }
    return found;
}

} // namespace

GenericFactory::GenericFactory(Criteria location) : location_(std::move(location)) {}

void GenericFactory::offer(const Key& key, Maker maker)
{
    const std::string text = naming::to_string(key);
    const std::lock_guard lock(mutex_);
    others_.erase(text);
    makers_[text] = std::move(maker);
}

void GenericFactory::offer(const Key& key, GenericFactory_ptr other)
{
    const std::string text = naming::to_string(key);
    const std::lock_guard lock(mutex_);
    makers_.erase(text);
    others_[text] = CosLifeCycle::GenericFactory::_duplicate(other);
}

void GenericFactory::withdraw(const Key& key)
{
    const std::string text = text_of_key(key);
    const std::lock_guard lock(mutex_);
    makers_.erase(text);
    others_.erase(text);
}

GenericFactory::Maker GenericFactory::maker_of(const Key& key)
{
    const std::lock_guard lock(mutex_);
    const auto found = makers_.find(text_of_key(key));
    return found == makers_.end() ? nullptr : found->second;
}

/// Owned by the caller; nil if there is none.
GenericFactory_ptr GenericFactory::other_for(const Key& key)
{
    const std::lock_guard lock(mutex_);
    const auto found = others_.find(text_of_key(key));
    return found == others_.end() ? CosLifeCycle::GenericFactory::_nil()
                                  : CosLifeCycle::GenericFactory::_duplicate(found->second);
}

CORBA::Boolean GenericFactory::supports(const Key& k)
{
    if (maker_of(k)) return true;
    const GenericFactory_var other = other_for(k);
    return !CORBA::is_nil(other.in()) &&
           naming::CallTime(other.in()).limited(other.in())->supports(k);
}

CORBA::Object_ptr GenericFactory::create_object(const Key& k, const Criteria& the_criteria)
{
    if (const Maker make = maker_of(k)) {
        const Wishes wishes = wishes_in(the_criteria);
        check(the_criteria, wishes);
        return make(wishes.initialization);
    }
    const GenericFactory_var other = other_for(k); // called without the lock: it may call back
    if (CORBA::is_nil(other.in())) throw CosLifeCycle::NoFactory(k);
    return naming::CallTime(other.in()).limited(other.in())->create_object(k, the_criteria);
}

/// Throws CannotMeetCriteria with the first criterion that cannot be met.
void GenericFactory::check(const Criteria& criteria, const Wishes& wishes) const
{
    if (!wishes.filter.empty()) throw CannotMeetCriteria(only(criteria, "filter"));
    for (const CosLifeCycle::NameValuePair& wish : wishes.location) {
        const char* wished = nullptr;
        const CORBA::Any* here = find(location_, wish.name.in());
        if (here == nullptr || !(wish.value >>= wished) ||
            text_of(location_, wish.name.in()) != wished)
            throw CannotMeetCriteria(only(criteria, "logical location"));
    }
}

} // namespace kairos::lifecycle
