// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/repository_load.h"

#include "tools/kairos/constant_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace kairos::tools {
namespace {

/// The version of a repository id, "1.0" for one of another form than IDL's.
std::string version_of(const std::string& id)
{
    const std::size_t colon = id.rfind(':');
    if (!id.starts_with("IDL:") || colon < 4) return "1.0";
    const std::string version = id.substr(colon + 1);
    return version.empty() ? "1.0" : version;
}

CORBA::ULong repository_bound(std::uint64_t bound)
{
    if (bound > std::numeric_limits<CORBA::ULong>::max())
        throw std::runtime_error("a bound does not fit the repository");
    return static_cast<CORBA::ULong>(bound);
}

/// The type that a literal of this value has, whatever it was computed from.
idlc::Type fixed_type_of(const idlc::FixedValue& value)
{
    idlc::Type type;
    type.kind = idlc::TypeKind::fixed;
    std::string digits = value.text;
    std::erase_if(digits, [](char c) { return c == '-' || c == '.'; });
    const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
    type.scale = value.scale;
    type.digits = static_cast<std::uint16_t>(
        std::max({digits.size() - zeros, static_cast<std::size_t>(value.scale), std::size_t{1}}));
    return type;
}

/// What a declaration is created with.
struct Labels {
    explicit Labels(const idlc::Declaration& declaration)
        : id(declaration.repository_id.c_str()), name(declaration.name.c_str()),
          version_text(version_of(declaration.repository_id)), version(version_text.c_str())
    {
    }
    const char* id;
    const char* name;
    std::string version_text;
    const char* version;
};

class Loader {
  public:
    Loader(CORBA::Repository_ptr repository, CORBA::ORB_ptr orb)
        : repository_(CORBA::Repository::_duplicate(repository)), orb_(CORBA::ORB::_duplicate(orb))
    {
    }

    std::size_t add_all(const idlc::Declarations& declarations)
    {
        for (const idlc::Declaration* declaration : declarations)
            add(*declaration);
        return created_;
    }

  private:
    using Object = CORBA::Object_var;

    void add(const idlc::Declaration& declaration)
    {
        try {
            idlc::visit(declaration, [this](const auto& own) { add_own(own); });
        } catch (const std::runtime_error&) {
            throw; // it names what is within
        } catch (const CORBA::Exception& exception) {
            throw std::runtime_error(fmt::format("{} ({}): {}", declaration.scoped_name,
                                                 declaration.repository_id, exception.what()));
        }
    }

    // --- What is there ---------------------------------------------------------------------------

    /// What was created for a declaration, or is there already; nil for neither.
    [[nodiscard]] Object found(const idlc::Declaration& declaration)
    {
        if (const auto known = objects_.find(&declaration); known != objects_.end())
            return known->second;
        const CORBA::Contained_var there =
            repository_->lookup_id(declaration.repository_id.c_str());
        if (CORBA::is_nil(there.in())) return {};
        const Object object = CORBA::Object::_duplicate(there.in());
        objects_.emplace(&declaration, object);
        return object;
    }

    /// Remembers what has been created. Takes the reference.
    template <typename T>
    void created(const idlc::Declaration& declaration, T* made)
    {
        objects_[&declaration] = Object(made);
        ++created_;
    }

    [[nodiscard]] CORBA::Container_var container_of(const idlc::Declaration& declaration)
    {
        const idlc::Declaration* parent = declaration.parent;
        if (parent == nullptr) return CORBA::Container::_duplicate(repository_.in());
        // A box contains nothing: what its type declares has its place beside it.
        if (parent->kind == idlc::DeclarationKind::value_box) return container_of(*parent);
        if (const auto* module = idlc::as<idlc::Module>(parent); module != nullptr)
            if (module->first != nullptr) parent = module->first;
        Object object = found(*parent);
        if (CORBA::is_nil(object.in())) {
            // Of module CORBA, which is known without being declared.
            const auto* module = idlc::as<idlc::Module>(parent);
            if (module == nullptr) throw std::runtime_error(parent->scoped_name + " is not there");
            add_module(*module);
            object = found(*parent);
        }
        return CORBA::Container::_unchecked_narrow(object.in());
    }

    template <typename T>
    [[nodiscard]] typename T::_var_type as(const idlc::Declaration& declaration)
    {
        Object object = found(declaration);
        if (CORBA::is_nil(object.in())) { // a pseudo object that no file declares
            add(declaration);
            object = found(declaration);
        }
        if (CORBA::is_nil(object.in()))
            throw std::runtime_error(declaration.scoped_name + " is not in the repository");
        return T::_unchecked_narrow(object.in());
    }

    template <typename Sequence, typename Element, typename Declared>
    [[nodiscard]] Sequence all_as(const std::vector<const Declared*>& declarations)
    {
        Sequence sequence;
        for (const Declared* declaration : declarations) {
            if constexpr (std::is_same_v<Element, CORBA::ExceptionDef>)
                if (declaration->kind != idlc::DeclarationKind::exception) continue;
            sequence.length(sequence.length() + 1);
            sequence[sequence.length() - 1] = as<Element>(*declaration);
        }
        return sequence;
    }

    [[nodiscard]] CORBA::ExcDescriptionSeq described(const idlc::Declarations& raised)
    {
        CORBA::ExcDescriptionSeq exceptions;
        for (const idlc::Declaration* declaration : raised) {
            if (declaration->kind != idlc::DeclarationKind::exception) continue;
            const CORBA::ULong at = exceptions.length();
            exceptions.length(at + 1);
            exceptions[at].id = declaration->repository_id.c_str();
            exceptions[at].name = declaration->name.c_str();
            exceptions[at].version = version_of(declaration->repository_id).c_str();
            exceptions[at].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
        }
        return exceptions;
    }

    // --- Types -----------------------------------------------------------------------------------

    [[nodiscard]] CORBA::IDLType_var primitive(CORBA::PrimitiveKind kind)
    {
        CORBA::IDLType_var& known = primitives_[kind];
        if (CORBA::is_nil(known.in())) {
            const CORBA::PrimitiveDef_var type = repository_->get_primitive(kind);
            known = CORBA::IDLType::_duplicate(type.in());
        }
        return known;
    }

    template <typename T>
    static CORBA::IDLType_var as_type(T* made)
    {
        const typename T::_var_type owner(made);
        return CORBA::IDLType::_duplicate(made);
    }

    [[nodiscard]] CORBA::IDLType_var of(const idlc::Type& type)
    {
        using enum idlc::TypeKind;
        switch (type.kind) {
        case void_:
            return primitive(CORBA::pk_void);
        case boolean:
            return primitive(CORBA::pk_boolean);
        case char_:
            return primitive(CORBA::pk_char);
        case wchar:
            return primitive(CORBA::pk_wchar);
        case octet:
        case int8: // as on the wire
        case uint8:
            return primitive(CORBA::pk_octet);
        case short_:
            return primitive(CORBA::pk_short);
        case unsigned_short:
            return primitive(CORBA::pk_ushort);
        case long_:
            return primitive(CORBA::pk_long);
        case unsigned_long:
            return primitive(CORBA::pk_ulong);
        case long_long:
            return primitive(CORBA::pk_longlong);
        case unsigned_long_long:
            return primitive(CORBA::pk_ulonglong);
        case float_:
            return primitive(CORBA::pk_float);
        case double_:
            return primitive(CORBA::pk_double);
        case long_double:
            return primitive(CORBA::pk_longdouble);
        case any:
            return primitive(CORBA::pk_any);
        case object:
            return primitive(CORBA::pk_objref);
        case value_base:
            return primitive(CORBA::pk_value_base);
        case type_code:
            return primitive(CORBA::pk_TypeCode);
        case string:
            return type.bound == 0
                       ? primitive(CORBA::pk_string)
                       : as_type(repository_->create_string(repository_bound(type.bound)));
        case wstring:
            return type.bound == 0
                       ? primitive(CORBA::pk_wstring)
                       : as_type(repository_->create_wstring(repository_bound(type.bound)));
        case fixed:
            return as_type(repository_->create_fixed(type.digits, type.scale));
        case sequence: {
            const CORBA::IDLType_var element = of(*type.element);
            return as_type(
                repository_->create_sequence(repository_bound(type.bound), element.in()));
        }
        case array: {
            CORBA::IDLType_var element = of(*type.element);
            for (auto length = type.dimensions.rbegin(); length != type.dimensions.rend(); ++length)
                element =
                    as_type(repository_->create_array(repository_bound(*length), element.in()));
            return element;
        }
        case declared:
            return as<CORBA::IDLType>(*type.declaration);
        }
        throw std::runtime_error("a type that the repository cannot have");
    }

    [[nodiscard]] CORBA::StructMemberSeq members_of(const std::vector<idlc::Member>& from)
    {
        CORBA::StructMemberSeq members;
        members.length(static_cast<CORBA::ULong>(from.size()));
        for (CORBA::ULong i = 0; i < members.length(); ++i) {
            members[i].name = from[i].name.c_str();
            members[i].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
            members[i].type_def = of(*from[i].type);
        }
        return members;
    }

    // --- Declarations ----------------------------------------------------------------------------

    void add_module(const idlc::Module& module)
    {
        const idlc::Module& first = module.first == nullptr ? module : *module.first;
        if (!CORBA::is_nil(found(first).in())) return;
        const Labels names(first);
        const CORBA::Container_var container = container_of(first);
        // A module that was opened first with another prefix is the same.
        const CORBA::Contained_var there = container->lookup(names.name);
        if (!CORBA::is_nil(there.in()) && there->def_kind() == CORBA::dk_Module) {
            objects_[&first] = CORBA::Object::_duplicate(there.in());
            return;
        }
        created(first, container->create_module(names.id, names.name, names.version));
    }

    void add_own(const idlc::Module& module)
    {
        add_module(module);
        for (const idlc::Declaration* declaration : module.declarations)
            add(*declaration);
    }

    void add_own(const idlc::Forward& forward)
    {
        if (const auto* interface = idlc::as<idlc::Interface>(forward.definition))
            static_cast<void>(begin(*interface));
        else if (const auto* value = idlc::as<idlc::ValueType>(forward.definition))
            static_cast<void>(begin(*value));
        else if (const auto* type = idlc::as<idlc::Struct>(forward.definition))
            static_cast<void>(begin(*type));
        else if (const auto* choice = idlc::as<idlc::Union>(forward.definition))
            static_cast<void>(begin(*choice));
    }

    void add_own(const idlc::Enumerator&) {}
    void add_own(const idlc::AnnotationDeclaration&) {}

    [[nodiscard]] bool begin(const idlc::Interface& interface)
    {
        if (!CORBA::is_nil(found(interface).in())) return false;
        const Labels names(interface);
        const CORBA::Container_var container = container_of(interface);
        if (interface.is_abstract)
            created(interface,
                    container->create_abstract_interface(names.id, names.name, names.version, {}));
        else if (interface.is_local)
            created(interface,
                    container->create_local_interface(names.id, names.name, names.version, {}));
        else
            created(interface,
                    container->create_interface(names.id, names.name, names.version, {}));
        return begun_.insert(&interface).second;
    }

    /// Of what a forward declaration may have begun: whether it is to be filled now.
    template <typename Declaration>
    [[nodiscard]] bool is_new(const Declaration& declaration)
    {
        static_cast<void>(begin(declaration));
        return begun_.contains(&declaration) && filled_.insert(&declaration).second;
    }

    void add_own(const idlc::Interface& interface)
    {
        if (!interface.defined) return static_cast<void>(begin(interface));
        if (!is_new(interface) && !(filled_.insert(&interface).second && is_empty(interface)))
            return;
        const CORBA::InterfaceDef_var own = as<CORBA::InterfaceDef>(interface);
        if (!interface.bases.empty())
            own->base_interfaces(
                all_as<CORBA::InterfaceDefSeq, CORBA::InterfaceDef>(interface.bases));
        add_all(interface.declarations);
    }

    /// Whether the repository knows nothing of it but its name, from a file that only named it.
    [[nodiscard]] bool is_empty(const idlc::Interface& interface)
    {
        const CORBA::InterfaceDef_var own = as<CORBA::InterfaceDef>(interface);
        const CORBA::ContainedSeq_var contents = own->contents(CORBA::dk_all, true);
        const CORBA::InterfaceDefSeq_var bases = own->base_interfaces();
        return contents->length() == 0 && bases->length() == 0;
    }

    [[nodiscard]] bool begin(const idlc::Struct& type)
    {
        if (!CORBA::is_nil(found(type).in())) return false;
        const Labels names(type);
        created(type, container_of(type)->create_struct(names.id, names.name, names.version, {}));
        return begun_.insert(&type).second;
    }

    void add_own(const idlc::Struct& type)
    {
        if (!type.defined || !is_new(type)) return;
        add_all(type.declarations);
        std::vector<idlc::Member> members; // those of its bases first
        for (const idlc::Struct* from = &type; from != nullptr; from = from->base)
            members.insert(members.begin(), from->members.begin(), from->members.end());
        as<CORBA::StructDef>(type)->members(members_of(members));
    }

    void add_own(const idlc::Exception& exception)
    {
        if (!CORBA::is_nil(found(exception).in())) return;
        const Labels names(exception);
        const CORBA::Container_var container = container_of(exception);
        if (exception.declarations.empty()) {
            created(exception, container->create_exception(names.id, names.name, names.version,
                                                           members_of(exception.members)));
            return;
        }
        created(exception, container->create_exception(names.id, names.name, names.version, {}));
        add_all(exception.declarations);
        as<CORBA::ExceptionDef>(exception)->members(members_of(exception.members));
    }

    [[nodiscard]] bool begin(const idlc::Union& type)
    {
        if (!CORBA::is_nil(found(type).in())) return false;
        const Labels names(type);
        // Its discriminator may be declared within it.
        const CORBA::IDLType_var discriminator = primitive(CORBA::pk_long);
        created(type, container_of(type)->create_union(names.id, names.name, names.version,
                                                       discriminator.in(), {}));
        return begun_.insert(&type).second;
    }

    void add_own(const idlc::Union& type)
    {
        if (!type.defined || !is_new(type)) return;
        add_all(type.declarations);
        const CORBA::UnionDef_var own = as<CORBA::UnionDef>(type);
        const CORBA::IDLType_var discriminator = of(*type.discriminator);
        own->discriminator_type_def(discriminator.in());
        const CORBA::TypeCode_var code = discriminator->type();
        CORBA::UnionMemberSeq members; // one for each label
        for (const idlc::UnionCase& each : type.cases) {
            const CORBA::IDLType_var member = of(*each.member.type);
            for (const idlc::CaseLabel& label : each.labels) {
                const CORBA::ULong at = members.length();
                members.length(at + 1);
                members[at].name = each.member.name.c_str();
                members[at].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
                members[at].type_def = member;
                if (label.is_default) {
                    members[at].label <<= CORBA::Any::from_octet(0);
                } else {
                    idlc::Constant constant;
                    constant.type = type.discriminator;
                    constant.value = label.value;
                    members[at].label = any_of(constant, code.in(), orb_.in());
                }
            }
        }
        own->members(members);
    }

    void add_own(const idlc::Enum& type)
    {
        if (!CORBA::is_nil(found(type).in())) return;
        CORBA::EnumMemberSeq members;
        members.length(static_cast<CORBA::ULong>(type.enumerators.size()));
        for (CORBA::ULong i = 0; i < members.length(); ++i)
            members[i] = type.enumerators[i]->name.c_str();
        const Labels names(type);
        created(type,
                container_of(type)->create_enum(names.id, names.name, names.version, members));
    }

    void add_own(const idlc::Alias& alias)
    {
        if (!CORBA::is_nil(found(alias).in())) return;
        const Labels names(alias);
        const CORBA::IDLType_var original = of(*alias.type);
        created(alias, container_of(alias)->create_alias(names.id, names.name, names.version,
                                                         original.in()));
    }

    void add_own(const idlc::ValueBox& box)
    {
        if (!CORBA::is_nil(found(box).in())) return;
        add_all(box.declarations);
        const Labels names(box);
        const CORBA::IDLType_var boxed = of(*box.type);
        created(box, container_of(box)->create_value_box(names.id, names.name, names.version,
                                                         boxed.in()));
    }

    void add_own(const idlc::Native& native)
    {
        if (!CORBA::is_nil(found(native).in())) return;
        const Labels names(native);
        created(native, container_of(native)->create_native(names.id, names.name, names.version));
    }

    void add_own(const idlc::Constant& constant)
    {
        if (!CORBA::is_nil(found(constant).in())) return;
        idlc::Type bare;
        const idlc::Type* type = constant.type;
        if (type->kind == idlc::TypeKind::fixed) { // IDL says no more of it than its value
            bare = fixed_type_of(std::get<idlc::FixedValue>(constant.value));
            type = &bare;
        }
        const CORBA::IDLType_var definition = of(*type);
        const CORBA::TypeCode_var code = definition->type();
        const Labels names(constant);
        created(constant, container_of(constant)->create_constant(
                              names.id, names.name, names.version, definition.in(),
                              any_of(constant, code.in(), orb_.in())));
    }

    void add_own(const idlc::Attribute& attribute)
    {
        if (!CORBA::is_nil(found(attribute).in())) return;
        const Labels names(attribute);
        const CORBA::IDLType_var type = of(*attribute.type);
        const CORBA::AttributeMode mode =
            attribute.readonly ? CORBA::ATTR_READONLY : CORBA::ATTR_NORMAL;
        const CORBA::Container_var container = container_of(attribute);
        const auto create = [&]<typename T>(T* narrowed) {
            const typename T::_var_type parent(narrowed);
            return parent->create_attribute(names.id, names.name, names.version, type.in(), mode);
        };
        CORBA::AttributeDef_var made =
            attribute.parent->kind == idlc::DeclarationKind::value_type
                ? create(CORBA::ValueDef::_unchecked_narrow(container.in()))
                : create(CORBA::InterfaceDef::_unchecked_narrow(container.in()));
        created(attribute, CORBA::AttributeDef::_duplicate(made.in()));
        if (attribute.get_raises.empty() && attribute.set_raises.empty()) return;
        const CORBA::ExtAttributeDef_var extended =
            CORBA::ExtAttributeDef::_unchecked_narrow(made.in());
        if (!attribute.get_raises.empty())
            extended->get_exceptions(described(attribute.get_raises));
        if (!attribute.set_raises.empty())
            extended->set_exceptions(described(attribute.set_raises));
    }

    void add_own(const idlc::Operation& operation)
    {
        if (!CORBA::is_nil(found(operation).in())) return;
        CORBA::ParDescriptionSeq parameters;
        parameters.length(static_cast<CORBA::ULong>(operation.parameters.size()));
        for (CORBA::ULong i = 0; i < parameters.length(); ++i) {
            const idlc::Parameter& parameter = operation.parameters[i];
            parameters[i].name = parameter.name.c_str();
            parameters[i].type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
            parameters[i].type_def = of(*parameter.type);
            parameters[i].mode = parameter.direction == idlc::Direction::in    ? CORBA::PARAM_IN
                                 : parameter.direction == idlc::Direction::out ? CORBA::PARAM_OUT
                                                                               : CORBA::PARAM_INOUT;
        }
        CORBA::ContextIdSeq contexts;
        contexts.length(static_cast<CORBA::ULong>(operation.context.size()));
        for (CORBA::ULong i = 0; i < contexts.length(); ++i)
            contexts[i] = operation.context[i].c_str();
        const Labels names(operation);
        const CORBA::IDLType_var result = of(*operation.result);
        const CORBA::Container_var container = container_of(operation);
        const auto create = [&]<typename T>(T* narrowed) {
            const typename T::_var_type parent(narrowed);
            return parent->create_operation(
                names.id, names.name, names.version, result.in(),
                operation.oneway ? CORBA::OP_ONEWAY : CORBA::OP_NORMAL, parameters,
                all_as<CORBA::ExceptionDefSeq, CORBA::ExceptionDef>(operation.raises), contexts);
        };
        created(operation, operation.parent->kind == idlc::DeclarationKind::value_type
                               ? create(CORBA::ValueDef::_unchecked_narrow(container.in()))
                               : create(CORBA::InterfaceDef::_unchecked_narrow(container.in())));
    }

    [[nodiscard]] bool begin(const idlc::ValueType& value)
    {
        if (!CORBA::is_nil(found(value).in())) return false;
        const Labels names(value);
        created(value, container_of(value)->create_ext_value(
                           names.id, names.name, names.version, false, value.is_abstract,
                           CORBA::ValueDef::_nil(), false, {}, {}, {}));
        return begun_.insert(&value).second;
    }

    void add_own(const idlc::ValueType& value)
    {
        if (!value.defined || !is_new(value)) return;
        const CORBA::ExtValueDef_var own = as<CORBA::ExtValueDef>(value);
        if (value.is_custom) own->is_custom(true);
        const idlc::ValueType* const base = idlc::concrete_base(value);
        if (base != nullptr) own->base_value(as<CORBA::ValueDef>(*base).in());
        if (value.is_truncatable) own->is_truncatable(true);
        std::vector<const idlc::ValueType*> bases = value.bases;
        std::erase(bases, base);
        if (!bases.empty())
            own->abstract_base_values(all_as<CORBA::ValueDefSeq, CORBA::ValueDef>(bases));
        if (!value.supports.empty())
            own->supported_interfaces(
                all_as<CORBA::InterfaceDefSeq, CORBA::InterfaceDef>(value.supports));
        add_all(value.declarations);
        for (const idlc::StateMember& member : value.members) {
            const CORBA::IDLType_var type = of(*member.member.type);
            const std::string id = id_within(value, member.member.name);
            const CORBA::ValueMemberDef_var made = own->create_value_member(
                id.c_str(), member.member.name.c_str(), version_of(id).c_str(), type.in(),
                member.is_public ? CORBA::PUBLIC_MEMBER : CORBA::PRIVATE_MEMBER);
            ++created_;
        }
        if (value.factories.empty()) return;
        CORBA::ExtInitializerSeq initializers;
        initializers.length(static_cast<CORBA::ULong>(value.factories.size()));
        for (CORBA::ULong i = 0; i < initializers.length(); ++i) {
            const idlc::Factory& factory = value.factories[i];
            initializers[i].name = factory.name.c_str();
            initializers[i].exceptions = described(factory.raises);
            initializers[i].members.length(static_cast<CORBA::ULong>(factory.parameters.size()));
            for (CORBA::ULong j = 0; j < initializers[i].members.length(); ++j) {
                CORBA::StructMember& member = initializers[i].members[j];
                member.name = factory.parameters[j].name.c_str();
                member.type = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
                member.type_def = of(*factory.parameters[j].type);
            }
        }
        own->ext_initializers(initializers);
    }

    /// The id of what IDL gives none: the container's with a name behind it.
    static std::string id_within(const idlc::Declaration& container, const std::string& name)
    {
        const std::string& id = container.repository_id;
        const std::size_t colon = id.rfind(':');
        if (!id.starts_with("IDL:") || colon <= 4) return id + '/' + name;
        return id.substr(0, colon) + '/' + name + id.substr(colon);
    }

    const CORBA::Repository_var repository_;
    const CORBA::ORB_var orb_;
    std::map<const idlc::Declaration*, Object> objects_;
    std::map<CORBA::PrimitiveKind, CORBA::IDLType_var> primitives_;
    std::set<const idlc::Declaration*> begun_;  // created here, without what they are made of
    std::set<const idlc::Declaration*> filled_; // with it
    std::size_t created_ = 0;
};

} // namespace

std::size_t load(const idlc::Unit& unit, CORBA::Repository_ptr repository, CORBA::ORB_ptr orb)
{
    return Loader(repository, orb).add_all(unit.declarations);
}

} // namespace kairos::tools
