// SPDX-License-Identifier: Apache-2.0
#include "kairos/lifecycle/factory_finder.h"

#include "kairos/corba/CORBA.h"
#include "kairos/naming/call_time.h"

#include <memory>

namespace kairos::lifecycle {

using CosLifeCycle::Factories;
using CosLifeCycle::GenericFactory_var;
using CosLifeCycle::Key;
using CosNaming::NamingContext;

namespace {

void append(Factories& factories, CORBA::Object_ptr factory)
{
    const CORBA::ULong last = factories.length();
    factories.length(last + 1);
    factories[last] = CORBA::Object::_duplicate(factory);
}

bool supports(CosLifeCycle::GenericFactory_ptr factory, const Key& key, naming::CallTime& time)
{
    try {
        return time.briefly(factory)->supports(key);
    } catch (const CORBA::SystemException&) {
        return false;
    }
}

CORBA::Object_ptr resolve(CosNaming::NamingContext_ptr context, const Key& key,
                          naming::CallTime& time)
{
    try {
        return time.limited(context)->resolve(key);
    } catch (const CORBA::UserException&) { // NotFound, CannotProceed, InvalidName
        throw CosLifeCycle::NoFactory(key);
    }
}

/// Nil where the object is none, and where its server does not answer: then it may be a factory
/// that will.
CosNaming::NamingContext_var as_context(CORBA::Object_ptr object, naming::CallTime& time)
{
    try {
        return NamingContext::_narrow(time.briefly(object).in());
    } catch (const CORBA::SystemException&) {
        return {};
    }
}

} // namespace

void FactoryFinder::add(CosLifeCycle::GenericFactory_ptr factory)
{
    if (CORBA::is_nil(factory)) throw CORBA::BAD_PARAM();
    const std::lock_guard lock(mutex_);
    factories_.emplace_back(CosLifeCycle::GenericFactory::_duplicate(factory));
}

Factories* FactoryFinder::find_factories(const Key& factory_key)
{
    std::vector<GenericFactory_var> factories;
    {
        const std::lock_guard lock(mutex_); // not while they are called
        factories = factories_;
    }
    auto found = std::make_unique<Factories>();
    naming::CallTime time(factories.empty() ? CORBA::Object::_nil() : factories.front().in());
    for (const GenericFactory_var& factory : factories)
        if (lifecycle::supports(factory.in(), factory_key, time)) append(*found, factory.in());
    if (found->length() == 0) throw CosLifeCycle::NoFactory(factory_key);
    return found.release();
}

NamingFactoryFinder::NamingFactoryFinder(CosNaming::NamingContext_ptr context)
    : context_(NamingContext::_duplicate(context))
{
    if (CORBA::is_nil(context)) throw CORBA::BAD_PARAM();
}

Factories* NamingFactoryFinder::find_factories(const Key& factory_key)
{
    naming::CallTime time(context_.in());
    const CORBA::Object_var object = resolve(context_.in(), factory_key, time);
    auto found = std::make_unique<Factories>();
    const CosNaming::NamingContext_var context = as_context(object.in(), time);
    if (CORBA::is_nil(context.in())) {
        append(*found, object.in());
        return found.release();
    }
    const auto add = [&](const CosNaming::Binding& binding) {
        if (binding.binding_type != CosNaming::nobject) return;
        const CORBA::Object_var factory = time.limited(context.in())->resolve(binding.binding_name);
        append(*found, factory.in());
    };
    naming::for_each_binding(context.in(), add, time);
    if (found->length() == 0) throw CosLifeCycle::NoFactory(factory_key);
    return found.release();
}

} // namespace kairos::lifecycle
