// SPDX-License-Identifier: Apache-2.0
//
// CosNaming::NamingContextExt: all contexts of a service, served by one servant. A name is followed
// in the store in one step, as far as its contexts are there; the rest is another server's.
#include "kairos/corba/invocation.h"
#include "kairos/nameserver/service_state.h"
#include "kairos/naming/KairosNaming_skel.h"
#include "kairos/naming/name.h"
#include "kairos/orb/upcall.h"

#include <memory>
#include <utility>

namespace kairos::nameserver {
namespace {

using CosNaming::Name;
using CosNaming::NamingContext_ptr;
using CosNaming::NamingContext_var;
using Naming = CosNaming::NamingContext; // its exceptions

constexpr orb::ExceptionType resolve_raises[] = {corba::exception_type<Naming::NotFound>(),
                                                 corba::exception_type<Naming::CannotProceed>(),
                                                 corba::exception_type<Naming::InvalidName>()};
constexpr orb::Operation resolve_operation{"resolve", orb::Response::required, resolve_raises};

Name rest_of(const Name& name, std::size_t begin)
{
    Name rest;
    rest.length(name.length() - static_cast<CORBA::ULong>(begin));
    for (CORBA::ULong i = 0; i < rest.length(); ++i)
        rest[i] = name[static_cast<CORBA::ULong>(begin) + i];
    return rest;
}

/// Where the last component of a name is: in a context of the store or, with what is left of the
/// name, in another server's.
struct Place {
    ContextId context = root_context;
    Entry foreign; // of a foreign context; else of an object
    Name rest;
    [[nodiscard]] bool is_foreign() const noexcept
    {
        return foreign.kind == Entry::Kind::foreign_context;
    }
};

/// What another server is asked, and its answer. Belongs to the thread that asks, until it has
/// answered: who waits may give up before.
struct Question {
    NamingContext_var context;
    Name rest;
    CORBA::Object_var answer;
};

class ContextServant final : public POA_KairosNaming::NamingContext {
  public:
    explicit ContextServant(ServiceState& state) : state_(state) {}

    void _kairos_dispatch(orb::Upcall& upcall) override
    {
        if (upcall.operation() == resolve_operation.name()) return serve_resolve(upcall);
        POA_KairosNaming::NamingContext::_kairos_dispatch(upcall);
    }

    void bind(const Name& name, CORBA::Object_ptr object) override
    {
        const Entry entry = state_.entry_of(object);
        change(
            name, Naming::not_object,
            [&](ContextId context, const ior::NameComponent& last) {
                return state_.store->bind(context, last, entry);
            },
            [kept = CORBA::Object_var(CORBA::Object::_duplicate(object))](Question& question) {
                question.context->bind(question.rest, kept.in());
            });
    }

    void rebind(const Name& name, CORBA::Object_ptr object) override
    {
        const Entry entry = state_.entry_of(object);
        change(
            name, Naming::not_object,
            [&](ContextId context, const ior::NameComponent& last) {
                return state_.store->rebind(context, last, entry);
            },
            [kept = CORBA::Object_var(CORBA::Object::_duplicate(object))](Question& question) {
                question.context->rebind(question.rest, kept.in());
            });
    }

    void bind_context(const Name& name, NamingContext_ptr bound) override
    {
        const Entry entry = existing(bound);
        change(
            name, Naming::not_context,
            [&](ContextId context, const ior::NameComponent& last) {
                return state_.store->bind(context, last, entry);
            },
            [kept = NamingContext_var(CosNaming::NamingContext::_duplicate(bound))](
                Question& question) { question.context->bind_context(question.rest, kept.in()); });
    }

    void rebind_context(const Name& name, NamingContext_ptr bound) override
    {
        const Entry entry = existing(bound);
        change(
            name, Naming::not_context,
            [&](ContextId context, const ior::NameComponent& last) {
                return state_.store->rebind(context, last, entry);
            },
            [kept = NamingContext_var(CosNaming::NamingContext::_duplicate(bound))](
                Question& question) {
                question.context->rebind_context(question.rest, kept.in());
            });
    }

    void unbind(const Name& name) override
    {
        change(
            name, Naming::not_object,
            [&](ContextId context, const ior::NameComponent& last) {
                return state_.store->unbind(context, last);
            },
            [](Question& question) { question.context->unbind(question.rest); });
    }

    NamingContext_ptr bind_new_context(const Name& name) override
    {
        NamingContext_var made;
        const CORBA::Object_var there = change(
            name, Naming::not_context,
            [&](ContextId context, const ior::NameComponent& last) {
                ContextId created = 0;
                const StoreStatus status = state_.store->bind_new_context(context, last, created);
                if (status == StoreStatus::done) made = state_.reference_to(created);
                return status;
            },
            [](Question& question) {
                question.answer = question.context->bind_new_context(question.rest);
            });
        return CORBA::is_nil(there.in()) ? made._retn()
                                         : CosNaming::NamingContext::_unchecked_narrow(there.in());
    }

    CORBA::Object_ptr resolve(const Name& name) override
    {
        Resolution resolution;
        return follow(name, resolution) ? state_.object_of(resolution.entry)
                                        : resolve_there(name, resolution);
    }

    NamingContext_ptr new_context() override
    {
        require_called();
        ContextId created = 0;
        raise_store_failure(state_.store->new_context(created));
        return state_.reference_to(created);
    }

    void destroy() override
    {
        const ContextId context = state_.called_context();
        if (context == root_context)
            throw CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO,
                                       "the root context of a name server stays");
        const StoreStatus status = state_.store->destroy_context(context);
        raise_store_failure(status);
        if (status == StoreStatus::not_empty) throw Naming::NotEmpty();
        if (status == StoreStatus::no_context) raise_not_there();
    }

    void list(CORBA::ULong how_many, CosNaming::BindingList_out list,
              CosNaming::BindingIterator_out iterator) override
    {
        const ContextId context = state_.called_context();
        Portion portion;
        raise_store_failure(
            state_.store->list(context, nullptr, state_.portion_of(how_many), portion));
        const std::vector<Listed>& listed = portion.bindings;
        if (listed.empty() && !portion.more) require_called();
        iterator = portion.more
                       ? state_.begin_listing(context, listed.empty() ? nullptr : &listed.back())
                       : CosNaming::BindingIterator::_nil();
        list = to_idl(listed);
    }

    char* to_string(const Name& name) override
    {
        return CORBA::string_dup(naming::to_string(name).c_str());
    }
    Name* to_name(const char* text) override { return new Name(naming::to_name(text)); }
    char* to_url(const char* address, const char* text) override
    {
        return CORBA::string_dup(naming::to_url(address, text).c_str());
    }
    CORBA::Object_ptr resolve_str(const char* text) override
    {
        return resolve(naming::to_name(text));
    }

    KairosNaming::LivenessList* liveness(const CosNaming::BindingList& bindings) override
    {
        if (bindings.length() > state_.limits.portion_max)
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "too many names at once");
        const ContextId context = state_.called_context();
        KairosNaming::LivenessList_var list = new KairosNaming::LivenessList;
        list->length(bindings.length());
        for (CORBA::ULong i = 0; i < bindings.length(); ++i)
            list[i] = liveness_of(context, checked(bindings[i].binding_name));
        return list._retn();
    }

    /// OBJECT_NOT_EXIST for a context that was destroyed, as for all its operations.
    CORBA::Boolean _non_existent() override
    {
        require_called();
        return false;
    }

  private:
    /// What the skeleton does; but the answer may be known, and a reference that is only passed on
    /// is not made an object of.
    void serve_resolve(orb::Upcall& upcall)
    {
        const auto question = Answers::question_of(state_.called_context(), upcall.in());
        const std::uint64_t changes = state_.store->changes(); // before the store is asked
        if (question && state_.answers.write(*question, changes, upcall.out()))
            return upcall.reply();
        Name name;
        mapping::decode(upcall.in(), name);
        upcall.arguments_read(resolve_operation.exceptions());
        Resolution resolution;
        if (follow(name, resolution)) {
            state_.encode(upcall.out(), resolution.entry);
            if (question) state_.answers.keep(*question, changes, upcall.out().contiguous());
        } else {
            const CORBA::Object_var object = resolve_there(name, resolution);
            mapping::encode_object(upcall.out(), object.in());
        }
        upcall.reply();
    }

    [[nodiscard]] KairosNaming::Liveness liveness_of(ContextId context, const ior::Name& name) const
    {
        Resolution resolution;
        const StoreStatus status = state_.store->resolve(context, name, resolution);
        raise_store_failure(status);
        if (status != StoreStatus::done) return KairosNaming::not_known;
        // There as long as it is bound, unless somebody destroyed it where it is bound, too.
        if (resolution.entry.kind == Entry::Kind::context)
            return state_.store->find_context(resolution.entry.context) == StoreStatus::done
                       ? KairosNaming::alive
                       : KairosNaming::dead;
        switch (state_.sweeper.of(resolution.entry)) {
        case Liveness::alive:
            return KairosNaming::alive;
        case Liveness::dead:
            return KairosNaming::dead;
        case Liveness::not_known:
            break;
        }
        return KairosNaming::not_known;
    }

    /// True: the store has what the name leads to; false: the rest of it is another server's.
    [[nodiscard]] bool follow(const Name& name, Resolution& resolution) const
    {
        const ior::Name components = checked(name);
        const StoreStatus status =
            state_.store->resolve(state_.called_context(), components, resolution);
        if (status != StoreStatus::done && status != StoreStatus::foreign)
            raise_unresolved(status, resolution, name);
        return status == StoreStatus::done;
    }

    [[nodiscard]] CORBA::Object_ptr resolve_there(const Name& name,
                                                  const Resolution& resolution) const
    {
        return proceed(resolution.entry, rest_of(name, resolution.resolved),
                       [](Question& question) {
                           question.answer = question.context->resolve(question.rest);
                       })
            ._retn();
    }

    /// Throws InvalidName for names without components and beyond the limits.
    [[nodiscard]] ior::Name checked(const Name& name) const
    {
        if (name.length() == 0 || name.length() > state_.limits.components_max)
            throw Naming::InvalidName();
        ior::Name components = naming::from_idl(name);
        std::size_t octets = 0;
        for (const ior::NameComponent& component : components)
            octets += component.id.size() + component.kind.size();
        if (octets > state_.limits.name_octets_max) throw Naming::InvalidName();
        return components;
    }

    void require_called() const
    {
        const StoreStatus status = state_.store->find_context(state_.called_context());
        raise_store_failure(status);
        if (status != StoreStatus::done) raise_not_there();
    }

    /// A context of the store that was destroyed cannot be bound.
    [[nodiscard]] Entry existing(NamingContext_ptr context) const
    {
        Entry entry = state_.entry_of_context(context);
        if (entry.kind != Entry::Kind::context) return entry;
        const StoreStatus status = state_.store->find_context(entry.context);
        raise_store_failure(status);
        if (status != StoreStatus::done) raise_not_there();
        return entry;
    }

    /// Throws what it is that the store could not follow a name.
    [[noreturn]] void raise_unresolved(StoreStatus status, const Resolution& resolution,
                                       const Name& name) const
    {
        raise_store_failure(status);
        const std::size_t resolved = resolution.resolved;
        if (status == StoreStatus::not_bound)
            throw Naming::NotFound(Naming::missing_node, rest_of(name, resolved));
        if (status == StoreStatus::wrong_type)
            throw Naming::NotFound(Naming::not_context, rest_of(name, resolved - 1));
        // The context was destroyed: the one that is called, or one that is still bound.
        if (resolved == 0) raise_not_there();
        throw_cannot_proceed(resolution.context, rest_of(name, resolved));
    }

    [[noreturn]] void throw_cannot_proceed(ContextId context, const Name& rest) const
    {
        const CosNaming::NamingContextExt_var reference = state_.reference_to(context);
        throw Naming::CannotProceed(reference.in(), rest);
    }

    [[nodiscard]] Place place_of(const Name& name, const ior::Name& components) const
    {
        Place place;
        place.context = state_.called_context();
        if (components.size() == 1) return place;
        const std::span<const ior::NameComponent> outer(components.data(), components.size() - 1);
        Resolution resolution;
        const StoreStatus status = state_.store->resolve(place.context, outer, resolution);
        if (status != StoreStatus::done && status != StoreStatus::foreign)
            raise_unresolved(status, resolution, name);
        switch (resolution.entry.kind) {
        case Entry::Kind::object:
            throw Naming::NotFound(Naming::not_context, rest_of(name, outer.size() - 1));
        case Entry::Kind::context:
            place.context = resolution.entry.context;
            break;
        case Entry::Kind::foreign_context:
            place.foreign = std::move(resolution.entry);
            place.rest = rest_of(name, resolution.resolved);
        }
        return place;
    }

    /// Changes what the last component is bound to: `here` in the store, `there` in another
    /// server's context. `otherwise` is what NotFound says of one that is the wrong kind of
    /// binding. Answers what the other server did, if anything.
    template <typename Here, typename There>
    CORBA::Object_var change(const Name& name, Naming::NotFoundReason otherwise, Here&& here,
                             There&& there)
    {
        const ior::Name components = checked(name);
        const Place place = place_of(name, components);
        if (place.is_foreign())
            return proceed(place.foreign, place.rest, std::forward<There>(there));
        const StoreStatus status = here(place.context, components.back());
        raise_store_failure(status);
        const auto last = [&] { return rest_of(name, components.size() - 1); };
        switch (status) {
        case StoreStatus::not_bound:
            throw Naming::NotFound(Naming::missing_node, last());
        case StoreStatus::already_bound:
            throw Naming::AlreadyBound();
        case StoreStatus::wrong_type:
            throw Naming::NotFound(otherwise, last());
        case StoreStatus::no_context:
            if (components.size() == 1) raise_not_there();
            throw_cannot_proceed(place.context, last());
        default:
            return {};
        }
    }

    /// Goes on at another server, whose answers and exceptions are the client's. If it cannot be
    /// asked, or does not answer in time, the client may try.
    template <typename Call>
    [[nodiscard]] CORBA::Object_var proceed(const Entry& foreign, const Name& rest,
                                            Call&& call) const
    {
        const auto question = std::make_shared<Question>(
            Question{.context = state_.foreign_context(foreign), .rest = rest, .answer = {}});
        try {
            if (state_.foreign_calls.run(foreign.reference, [question, call] { call(*question); }))
                return std::move(question->answer);
        } catch (const CORBA::SystemException&) {
            // The context is wherever its server is; why we do not reach it is not for the client.
        }
        throw Naming::CannotProceed(question->context.in(), rest);
    }

    ServiceState& state_;
};

} // namespace

PortableServer::Servant make_context_servant(ServiceState& state)
{
    return new ContextServant(state);
}

} // namespace kairos::nameserver
