// SPDX-License-Identifier: Apache-2.0
//
// What several interfaces of the Interface Repository have in common: parts that each kind's
// servant is made of.
#pragma once

#include "kairos/ir/ir_skel.h"
#include "kairos/repository/descriptions.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kairos::repository {

using Access = State::Access;

/// What a servant returns: the caller owns it.
template <typename T>
T* given(T value)
{
    return new T(std::move(value));
}

inline char* given_text(const std::string& text) { return CORBA::string_dup(text.c_str()); }

/// What creates a definition begins with.
inline Definition new_definition(Kind kind, const char* id, const char* name, const char* version)
{
    Definition definition;
    definition.kind = kind;
    definition.id = id;
    definition.name = name;
    definition.version = version;
    return definition;
}

class IRObjectPart : public virtual POA_CORBA::IRObject {
  public:
    explicit IRObjectPart(State& state) : state_(state) {}

    CORBA::DefinitionKind def_kind() override { return kind_of(Access(state_).called().kind); }

    void destroy() override
    {
        Access access(state_);
        access.destroy(access.called().key);
    }

  protected:
    /// Changes what is called by a function of a copy.
    template <typename Change>
    void change(const Change& by)
    {
        Access access(state_);
        Definition changed = access.called();
        by(changed, access);
        access.change(changed);
    }
    /// The type that an attribute is set to.
    void set_type(CORBA::IDLType_ptr type)
    {
        const Key key = state_.key_of(type);
        change([key](Definition& changed, Access&) { changed.type = key; });
    }
    [[nodiscard]] CORBA::IDLType_ptr type_of_called()
    {
        Access access(state_);
        return access.reference_to<CORBA::IDLType>(access.called().type);
    }
    [[nodiscard]] CORBA::TypeCode_ptr type_code_of_called()
    {
        Access access(state_);
        return access.type_code(access.called().key)._retn();
    }
    [[nodiscard]] CORBA::TypeCode_ptr type_code_of_its_type()
    {
        Access access(state_);
        return access.type_code(access.called().type)._retn();
    }
    /// Creates something in what is called.
    template <typename T>
    [[nodiscard]] typename T::_ptr_type create(Access& access, Definition definition)
    {
        definition.container = access.called().key;
        return access.reference_to<T>(access.create(std::move(definition)));
    }

    State& state_;
};

class ContainedPart : public virtual POA_CORBA::Contained, public virtual IRObjectPart {
  public:
    explicit ContainedPart(State& state) : IRObjectPart(state) {}

    char* id() override { return given_text(Access(state_).called().id); }
    void id(const char* id) override
    {
        change([id](Definition& changed, Access&) { changed.id = id; });
    }
    char* name() override { return given_text(Access(state_).called().name); }
    void name(const char* name) override
    {
        change([name](Definition& changed, Access&) { changed.name = name; });
    }
    char* version() override { return given_text(Access(state_).called().version); }
    void version(const char* version) override
    {
        change([version](Definition& changed, Access&) { changed.version = version; });
    }
    CORBA::Container_ptr defined_in() override
    {
        Access access(state_);
        return access.reference_to<CORBA::Container>(access.called().container);
    }
    char* absolute_name() override
    {
        Access access(state_);
        return given_text(access.model().absolute_name(access.called().key));
    }
    CORBA::Repository_ptr containing_repository() override { return state_.repository(); }

    CORBA::Contained::Description* describe() override
    {
        Access access(state_);
        const Definition& own = access.called();
        return given(CORBA::Contained::Description{kind_of(own.kind), description_of(own, access)});
    }

    void move(CORBA::Container_ptr container, const char* name, const char* version) override
    {
        const Key to = state_.key_of(container);
        Access access(state_);
        access.move(access.called().key, to, name, version);
    }
};

class IDLTypePart : public virtual POA_CORBA::IDLType, public virtual IRObjectPart {
  public:
    explicit IDLTypePart(State& state) : IRObjectPart(state) {}

    CORBA::TypeCode_ptr type() override { return type_code_of_called(); }
};

class ContainerPart : public virtual POA_CORBA::Container, public virtual IRObjectPart {
  public:
    explicit ContainerPart(State& state) : IRObjectPart(state) {}

    CORBA::Contained_ptr lookup(const char* name) override
    {
        Access access(state_);
        return access.reference_to<CORBA::Contained>(
            access.model().find_name(access.called().key, name));
    }

    CORBA::ContainedSeq* contents(CORBA::DefinitionKind limit, CORBA::Boolean own_only) override
    {
        Access access(state_);
        return given(references_of<CORBA::ContainedSeq>(
            access.model().contents(access.called().key, kind_in(limit), !own_only), access));
    }

    CORBA::ContainedSeq* lookup_name(const char* name, CORBA::Long levels,
                                     CORBA::DefinitionKind limit, CORBA::Boolean own_only) override
    {
        Access access(state_);
        return given(references_of<CORBA::ContainedSeq>(
            access.model().find_all(access.called().key, name, levels, kind_in(limit), !own_only),
            access));
    }

    CORBA::Container::DescriptionSeq* describe_contents(CORBA::DefinitionKind limit,
                                                        CORBA::Boolean own_only,
                                                        CORBA::Long max) override
    {
        Access access(state_);
        std::vector<Key> keys =
            access.model().contents(access.called().key, kind_in(limit), !own_only);
        if (max >= 0 && keys.size() > static_cast<std::size_t>(max))
            keys.resize(static_cast<std::size_t>(max));
        CORBA::Container::DescriptionSeq all;
        all.length(static_cast<CORBA::ULong>(keys.size()));
        for (CORBA::ULong i = 0; i < all.length(); ++i) {
            const Definition& each = *access.model().find(keys[i]);
            all[i].contained_object = access.reference_to<CORBA::Contained>(each.key);
            all[i].kind = kind_of(each.kind);
            all[i].value = description_of(each, access);
        }
        return given(std::move(all));
    }

    CORBA::ModuleDef_ptr create_module(const char* id, const char* name,
                                       const char* version) override
    {
        Access access(state_);
        return create<CORBA::ModuleDef>(access, new_definition(Kind::module, id, name, version));
    }

    CORBA::ConstantDef_ptr create_constant(const char* id, const char* name, const char* version,
                                           CORBA::IDLType_ptr type,
                                           const CORBA::Any& value) override
    {
        Definition made = new_definition(Kind::constant, id, name, version);
        made.type = state_.key_of(type);
        Access access(state_);
        made.value = constant_of(made.type, value, access);
        return create<CORBA::ConstantDef>(access, std::move(made));
    }

    CORBA::StructDef_ptr create_struct(const char* id, const char* name, const char* version,
                                       const CORBA::StructMemberSeq& members) override
    {
        const std::vector<GivenMember> list = given_members(members, state_);
        Definition made = new_definition(Kind::struct_, id, name, version);
        Access access(state_);
        made.members = members_of(list, access);
        return create<CORBA::StructDef>(access, std::move(made));
    }

    CORBA::UnionDef_ptr create_union(const char* id, const char* name, const char* version,
                                     CORBA::IDLType_ptr discriminator,
                                     const CORBA::UnionMemberSeq& members) override
    {
        const std::vector<GivenMember> list = given_members(members, state_);
        Definition made = new_definition(Kind::union_, id, name, version);
        made.type = state_.key_of(discriminator);
        Access access(state_);
        made.members = members_of(list, access);
        access.read_labels(members, made.type, made.members);
        return create<CORBA::UnionDef>(access, std::move(made));
    }

    CORBA::EnumDef_ptr create_enum(const char* id, const char* name, const char* version,
                                   const CORBA::EnumMemberSeq& members) override
    {
        Definition made = new_definition(Kind::enum_, id, name, version);
        for (CORBA::ULong i = 0; i < members.length(); ++i)
            made.members.push_back({.name = members[i].in()});
        Access access(state_);
        return create<CORBA::EnumDef>(access, std::move(made));
    }

    CORBA::AliasDef_ptr create_alias(const char* id, const char* name, const char* version,
                                     CORBA::IDLType_ptr original) override
    {
        return create_of_type<CORBA::AliasDef>(Kind::alias, id, name, version, original);
    }

    CORBA::ValueBoxDef_ptr create_value_box(const char* id, const char* name, const char* version,
                                            CORBA::IDLType_ptr original) override
    {
        return create_of_type<CORBA::ValueBoxDef>(Kind::value_box, id, name, version, original);
    }

    CORBA::InterfaceDef_ptr create_interface(const char* id, const char* name, const char* version,
                                             const CORBA::InterfaceDefSeq& bases) override
    {
        return create_with_bases<CORBA::InterfaceDef>(Kind::interface, id, name, version, bases);
    }

    CORBA::AbstractInterfaceDef_ptr
    create_abstract_interface(const char* id, const char* name, const char* version,
                              const CORBA::AbstractInterfaceDefSeq& bases) override
    {
        return create_with_bases<CORBA::AbstractInterfaceDef>(Kind::abstract_interface, id, name,
                                                              version, bases);
    }

    CORBA::LocalInterfaceDef_ptr
    create_local_interface(const char* id, const char* name, const char* version,
                           const CORBA::InterfaceDefSeq& bases) override
    {
        return create_with_bases<CORBA::LocalInterfaceDef>(Kind::local_interface, id, name, version,
                                                           bases);
    }

    CORBA::ExceptionDef_ptr create_exception(const char* id, const char* name, const char* version,
                                             const CORBA::StructMemberSeq& members) override
    {
        const std::vector<GivenMember> list = given_members(members, state_);
        Definition made = new_definition(Kind::exception, id, name, version);
        Access access(state_);
        made.members = members_of(list, access);
        return create<CORBA::ExceptionDef>(access, std::move(made));
    }

    CORBA::NativeDef_ptr create_native(const char* id, const char* name,
                                       const char* version) override
    {
        Access access(state_);
        return create<CORBA::NativeDef>(access, new_definition(Kind::native, id, name, version));
    }

    CORBA::ValueDef_ptr create_value(const char* id, const char* name, const char* version,
                                     CORBA::Boolean is_custom, CORBA::Boolean is_abstract,
                                     CORBA::ValueDef_ptr base, CORBA::Boolean is_truncatable,
                                     const CORBA::ValueDefSeq& bases,
                                     const CORBA::InterfaceDefSeq& supported,
                                     const CORBA::InitializerSeq& initializers) override
    {
        return make_value<CORBA::ValueDef>(id, name, version, is_custom, is_abstract, base,
                                           is_truncatable, bases, supported, initializers);
    }

    CORBA::ExtValueDef_ptr create_ext_value(const char* id, const char* name, const char* version,
                                            CORBA::Boolean is_custom, CORBA::Boolean is_abstract,
                                            CORBA::ValueDef_ptr base, CORBA::Boolean is_truncatable,
                                            const CORBA::ValueDefSeq& bases,
                                            const CORBA::InterfaceDefSeq& supported,
                                            const CORBA::ExtInitializerSeq& initializers) override
    {
        return make_value<CORBA::ExtValueDef>(id, name, version, is_custom, is_abstract, base,
                                              is_truncatable, bases, supported, initializers);
    }

    /// A constant's value in the model's form. Throws BAD_PARAM where it is of another type.
    static std::string constant_of(Key type, const CORBA::Any& value, Access& access)
    {
        if (type == nothing) require(Refusal::wrong_reference);
        const CORBA::TypeCode_var own = access.type_code(type);
        const CORBA::TypeCode_var its = value.type();
        if (!own->equivalent(its.in())) require(Refusal::wrong_reference);
        return access.encoded(value);
    }

    /// Factories that were given, with the definitions of their types.
    struct GivenInitializer {
        std::string name;
        std::vector<GivenMember> members;
        std::vector<std::string> exceptions; // by id
    };
    template <typename Sequence>
    static std::vector<GivenInitializer> given_initializers(const Sequence& from,
                                                            const State& state)
    {
        std::vector<GivenInitializer> initializers;
        for (CORBA::ULong i = 0; i < from.length(); ++i) {
            GivenInitializer& each = initializers.emplace_back();
            each.name = from[i].name.in();
            each.members = given_members(from[i].members, state);
            if constexpr (std::is_same_v<Sequence, CORBA::ExtInitializerSeq>)
                for (CORBA::ULong j = 0; j < from[i].exceptions.length(); ++j)
                    each.exceptions.emplace_back(from[i].exceptions[j].id.in());
        }
        return initializers;
    }
    static std::vector<Initializer> initializers_of(const std::vector<GivenInitializer>& from,
                                                    Access& access)
    {
        std::vector<Initializer> initializers;
        for (const GivenInitializer& each : from) {
            Initializer& made = initializers.emplace_back();
            made.name = each.name;
            made.members = members_of(each.members, access);
            for (const std::string& id : each.exceptions)
                made.exceptions.push_back(access.model().find_id(id));
        }
        return initializers;
    }

  private:
    /// A kind that nothing is of for a number that CORBA has, but this repository not.
    static Kind kind_in(CORBA::DefinitionKind limit)
    {
        return limit < kinds_end ? static_cast<Kind>(limit) : Kind::none;
    }

    template <typename T>
    typename T::_ptr_type create_of_type(Kind kind, const char* id, const char* name,
                                         const char* version, CORBA::IDLType_ptr type)
    {
        Definition made = new_definition(kind, id, name, version);
        made.type = state_.key_of(type);
        Access access(state_);
        return create<T>(access, std::move(made));
    }

    template <typename T, typename Bases>
    typename T::_ptr_type create_with_bases(Kind kind, const char* id, const char* name,
                                            const char* version, const Bases& bases)
    {
        Definition made = new_definition(kind, id, name, version);
        made.bases = keys_of(bases, state_);
        Access access(state_);
        return create<T>(access, std::move(made));
    }

    template <typename T, typename Initializers>
    typename T::_ptr_type make_value(const char* id, const char* name, const char* version,
                                     bool is_custom, bool is_abstract, CORBA::ValueDef_ptr base,
                                     bool is_truncatable, const CORBA::ValueDefSeq& bases,
                                     const CORBA::InterfaceDefSeq& supported,
                                     const Initializers& initializers)
    {
        Definition made = new_definition(Kind::value, id, name, version);
        made.is_custom = is_custom;
        made.is_abstract = is_abstract;
        made.is_truncatable = is_truncatable;
        made.base_value = state_.key_of(base);
        made.bases = keys_of(bases, state_);
        made.supported = keys_of(supported, state_);
        const std::vector<GivenInitializer> list = given_initializers(initializers, state_);
        Access access(state_);
        made.initializers = initializers_of(list, access);
        return create<T>(access, std::move(made));
    }
};

/// A skeleton with the parts that implement what it inherits.
template <typename Skeleton, typename... Parts>
class Servant : public virtual Skeleton, public Parts... {
  public:
    explicit Servant(State& state) : IRObjectPart(state), Parts(state)... {}
};

} // namespace kairos::repository
