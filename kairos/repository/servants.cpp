// SPDX-License-Identifier: Apache-2.0
//
// The servants of the Interface Repository, one for each kind of definition.
#include "kairos/repository/parts.h"
#include "kairos/types/typecode_factory.h"

#include <utility>

namespace kairos::repository {
namespace {

class RepositoryServant final : public Servant<POA_CORBA::Repository, ContainerPart> {
  public:
    explicit RepositoryServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::Contained_ptr lookup_id(const char* id) override
    {
        Access access(state_);
        static_cast<void>(access.called());
        return access.reference_to<CORBA::Contained>(access.model().find_id(id));
    }

    CORBA::TypeCode_ptr get_canonical_typecode(CORBA::TypeCode_ptr type) override
    {
        const CORBA::TypeCode_var compact = type->get_compact_typecode();
        Access access(state_);
        return canonical(compact.in(), access, 0)._retn();
    }

    CORBA::PrimitiveDef_ptr get_primitive(CORBA::PrimitiveKind kind) override
    {
        Access access(state_);
        return access.reference_to<CORBA::PrimitiveDef>(first_primitive + static_cast<Key>(kind));
    }

    CORBA::StringDef_ptr create_string(CORBA::ULong bound) override
    {
        if (bound == 0) require(Refusal::wrong_reference);
        return create_anonymous<CORBA::StringDef>({.kind = Kind::string, .bound = bound});
    }
    CORBA::WstringDef_ptr create_wstring(CORBA::ULong bound) override
    {
        if (bound == 0) require(Refusal::wrong_reference);
        return create_anonymous<CORBA::WstringDef>({.kind = Kind::wstring, .bound = bound});
    }
    CORBA::SequenceDef_ptr create_sequence(CORBA::ULong bound, CORBA::IDLType_ptr type) override
    {
        return create_anonymous<CORBA::SequenceDef>(
            {.kind = Kind::sequence, .type = state_.key_of(type), .bound = bound});
    }
    CORBA::ArrayDef_ptr create_array(CORBA::ULong length, CORBA::IDLType_ptr type) override
    {
        return create_anonymous<CORBA::ArrayDef>(
            {.kind = Kind::array, .type = state_.key_of(type), .bound = length});
    }
    CORBA::FixedDef_ptr create_fixed(CORBA::UShort digits, CORBA::Short scale) override
    {
        return create_anonymous<CORBA::FixedDef>(
            {.kind = Kind::fixed, .digits = digits, .scale = scale});
    }

  private:
    template <typename T>
    typename T::_ptr_type create_anonymous(Definition definition)
    {
        Access access(state_);
        return access.reference_to<T>(access.create(std::move(definition)));
    }

    /// The repository's own TypeCode of a type that it knows, which has the names that were left
    /// out; of others the one given.
    static CORBA::TypeCode_var canonical(CORBA::TypeCode_ptr type, Access& access, int depth)
    {
        switch (const CORBA::TCKind kind = type->kind()) {
        case CORBA::tk_sequence:
        case CORBA::tk_array: {
            if (depth == 64) break;
            const CORBA::TypeCode_var content = type->content_type();
            const CORBA::TypeCode_var element = canonical(content.in(), access, depth + 1);
            return types::make_elements(kind, type->length(), element.in());
        }
        default:
            try {
                const Key known = access.model().find_id(type->id());
                if (known != nothing) return access.type_code(known);
            } catch (const CORBA::TypeCode::BadKind&) {
                // It has no id.
            }
        }
        return CORBA::TypeCode::_duplicate(type);
    }
};

class ModuleServant final : public Servant<POA_CORBA::ModuleDef, ContainedPart, ContainerPart> {
  public:
    explicit ModuleServant(State& state) : IRObjectPart(state), Servant(state) {}
};

class ConstantServant final : public Servant<POA_CORBA::ConstantDef, ContainedPart> {
  public:
    explicit ConstantServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::TypeCode_ptr type() override { return type_code_of_called(); }
    CORBA::IDLType_ptr type_def() override { return type_of_called(); }
    /// The value must be of the new type as well (CORBA 3.3 part 1, 14.5.8): BAD_PARAM otherwise.
    void type_def(CORBA::IDLType_ptr type) override
    {
        const Key key = state_.key_of(type);
        change([key](Definition& changed, Access& access) {
            if (key == nothing) require(Refusal::wrong_reference);
            const CORBA::TypeCode_var before = access.type_code(changed.type);
            const CORBA::TypeCode_var after = access.type_code(key);
            if (!before->equivalent(after.in())) require(Refusal::wrong_reference);
            changed.type = key;
        });
    }
    CORBA::Any* value() override
    {
        Access access(state_);
        const Definition& own = access.called();
        const CORBA::TypeCode_var type = access.type_code(own.type);
        return given(access.decoded(own.value, type.in()));
    }
    void value(const CORBA::Any& value) override
    {
        change([&value](Definition& changed, Access& access) {
            changed.value = ContainerPart::constant_of(changed.type, value, access);
        });
    }
};

class StructServant final
    : public Servant<POA_CORBA::StructDef, ContainedPart, IDLTypePart, ContainerPart> {
  public:
    explicit StructServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::StructMemberSeq* members() override
    {
        Access access(state_);
        return given(members_of(access.called().members, access));
    }
    void members(const CORBA::StructMemberSeq& members) override
    {
        const std::vector<GivenMember> list = given_members(members, state_);
        change([&list](Definition& changed, Access& access) {
            changed.members = members_of(list, access);
        });
    }
};

class UnionServant final
    : public Servant<POA_CORBA::UnionDef, ContainedPart, IDLTypePart, ContainerPart> {
  public:
    explicit UnionServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::TypeCode_ptr discriminator_type() override { return type_code_of_its_type(); }
    CORBA::IDLType_ptr discriminator_type_def() override { return type_of_called(); }
    void discriminator_type_def(CORBA::IDLType_ptr type) override { set_type(type); }

    CORBA::UnionMemberSeq* members() override
    {
        Access access(state_);
        const Definition& own = access.called();
        const CORBA::TypeCode_var type = access.type_code(own.key);
        CORBA::UnionMemberSeq members;
        members.length(static_cast<CORBA::ULong>(own.members.size()));
        for (CORBA::ULong i = 0; i < members.length(); ++i) {
            const CORBA::Any_var label = type->member_label(i);
            members[i].name = own.members[i].name.c_str();
            members[i].label = label.in();
            members[i].type = access.type_code(own.members[i].type);
            members[i].type_def = access.reference_to<CORBA::IDLType>(own.members[i].type);
        }
        return given(std::move(members));
    }
    void members(const CORBA::UnionMemberSeq& members) override
    {
        const std::vector<GivenMember> list = given_members(members, state_);
        change([&](Definition& changed, Access& access) {
            changed.members = members_of(list, access);
            access.read_labels(members, changed.type, changed.members);
        });
    }
};

class EnumServant final : public Servant<POA_CORBA::EnumDef, ContainedPart, IDLTypePart> {
  public:
    explicit EnumServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::EnumMemberSeq* members() override
    {
        Access access(state_);
        const Definition& own = access.called();
        CORBA::EnumMemberSeq members;
        members.length(static_cast<CORBA::ULong>(own.members.size()));
        for (CORBA::ULong i = 0; i < members.length(); ++i)
            members[i] = own.members[i].name.c_str();
        return given(std::move(members));
    }
    void members(const CORBA::EnumMemberSeq& members) override
    {
        change([&members](Definition& changed, Access&) {
            changed.members.clear();
            for (CORBA::ULong i = 0; i < members.length(); ++i)
                changed.members.push_back({.name = members[i].in()});
        });
    }
};

class AliasServant final : public Servant<POA_CORBA::AliasDef, ContainedPart, IDLTypePart> {
  public:
    explicit AliasServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::IDLType_ptr original_type_def() override { return type_of_called(); }
    void original_type_def(CORBA::IDLType_ptr type) override { set_type(type); }
};

class ValueBoxServant final : public Servant<POA_CORBA::ValueBoxDef, ContainedPart, IDLTypePart> {
  public:
    explicit ValueBoxServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::IDLType_ptr original_type_def() override { return type_of_called(); }
    void original_type_def(CORBA::IDLType_ptr type) override { set_type(type); }
};

class NativeServant final : public Servant<POA_CORBA::NativeDef, ContainedPart, IDLTypePart> {
  public:
    explicit NativeServant(State& state) : IRObjectPart(state), Servant(state) {}
};

class PrimitiveServant final : public Servant<POA_CORBA::PrimitiveDef, IDLTypePart> {
  public:
    explicit PrimitiveServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::PrimitiveKind kind() override
    {
        return static_cast<CORBA::PrimitiveKind>(Access(state_).called().key - first_primitive);
    }
};

/// Of bounded strings of either width.
template <typename Skeleton>
class TextServant final : public virtual Skeleton, public IDLTypePart {
  public:
    explicit TextServant(State& state) : IRObjectPart(state), IDLTypePart(state) {}

    CORBA::ULong bound() override { return Access(state_).called().bound; }
    void bound(CORBA::ULong bound) override
    {
        if (bound == 0) require(Refusal::wrong_reference);
        change([bound](Definition& changed, Access&) { changed.bound = bound; });
    }
};

class FixedServant final : public Servant<POA_CORBA::FixedDef, IDLTypePart> {
  public:
    explicit FixedServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::UShort digits() override { return Access(state_).called().digits; }
    void digits(CORBA::UShort digits) override
    {
        change([digits](Definition& changed, Access&) { changed.digits = digits; });
    }
    CORBA::Short scale() override { return Access(state_).called().scale; }
    void scale(CORBA::Short scale) override
    {
        change([scale](Definition& changed, Access&) { changed.scale = scale; });
    }
};

class SequenceServant final : public Servant<POA_CORBA::SequenceDef, IDLTypePart> {
  public:
    explicit SequenceServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::ULong bound() override { return Access(state_).called().bound; }
    void bound(CORBA::ULong bound) override
    {
        change([bound](Definition& changed, Access&) { changed.bound = bound; });
    }
    CORBA::TypeCode_ptr element_type() override { return type_code_of_its_type(); }
    CORBA::IDLType_ptr element_type_def() override { return type_of_called(); }
    void element_type_def(CORBA::IDLType_ptr type) override { set_type(type); }
};

class ArrayServant final : public Servant<POA_CORBA::ArrayDef, IDLTypePart> {
  public:
    explicit ArrayServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::ULong length() override { return Access(state_).called().bound; }
    void length(CORBA::ULong length) override
    {
        change([length](Definition& changed, Access&) { changed.bound = length; });
    }
    CORBA::TypeCode_ptr element_type() override { return type_code_of_its_type(); }
    CORBA::IDLType_ptr element_type_def() override { return type_of_called(); }
    void element_type_def(CORBA::IDLType_ptr type) override { set_type(type); }
};

class ExceptionServant final
    : public Servant<POA_CORBA::ExceptionDef, ContainedPart, ContainerPart> {
  public:
    // NOLINTNEXTLINE(bugprone-throw-keyword-missing): it is a base
    explicit ExceptionServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::TypeCode_ptr type() override { return type_code_of_called(); }
    CORBA::StructMemberSeq* members() override
    {
        Access access(state_);
        return given(members_of(access.called().members, access));
    }
    void members(const CORBA::StructMemberSeq& members) override
    {
        const std::vector<GivenMember> list = given_members(members, state_);
        change([&list](Definition& changed, Access& access) {
            changed.members = members_of(list, access);
        });
    }
};

class AttributeServant final : public Servant<POA_CORBA::ExtAttributeDef, ContainedPart> {
  public:
    explicit AttributeServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::TypeCode_ptr type() override { return type_code_of_called(); }
    CORBA::IDLType_ptr type_def() override { return type_of_called(); }
    void type_def(CORBA::IDLType_ptr type) override { set_type(type); }
    CORBA::AttributeMode mode() override
    {
        return Access(state_).called().is_readonly ? CORBA::ATTR_READONLY : CORBA::ATTR_NORMAL;
    }
    void mode(CORBA::AttributeMode mode) override
    {
        change([mode](Definition& changed, Access&) {
            changed.is_readonly = mode == CORBA::ATTR_READONLY;
            if (changed.is_readonly) changed.set_exceptions.clear();
        });
    }
    CORBA::ExcDescriptionSeq* get_exceptions() override
    {
        Access access(state_);
        return given(exceptions_of(access.called().exceptions, access));
    }
    void get_exceptions(const CORBA::ExcDescriptionSeq& exceptions) override
    {
        change([&](Definition& changed, Access& access) {
            changed.exceptions = keys_by_id(exceptions, access);
        });
    }
    CORBA::ExcDescriptionSeq* set_exceptions() override
    {
        Access access(state_);
        return given(exceptions_of(access.called().set_exceptions, access));
    }
    void set_exceptions(const CORBA::ExcDescriptionSeq& exceptions) override
    {
        change([&](Definition& changed, Access& access) {
            changed.set_exceptions = keys_by_id(exceptions, access);
        });
    }
    CORBA::ExtAttributeDescription* describe_attribute() override
    {
        Access access(state_);
        return given(ext_attribute_of(access.called(), access));
    }

  private:
    static std::vector<Key> keys_by_id(const CORBA::ExcDescriptionSeq& exceptions, Access& access)
    {
        std::vector<Key> keys;
        for (CORBA::ULong i = 0; i < exceptions.length(); ++i)
            keys.push_back(access.model().find_id(exceptions[i].id.in()));
        return keys;
    }
};

class OperationServant final : public Servant<POA_CORBA::OperationDef, ContainedPart> {
  public:
    explicit OperationServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::TypeCode_ptr result() override { return type_code_of_called(); }
    CORBA::IDLType_ptr result_def() override { return type_of_called(); }
    void result_def(CORBA::IDLType_ptr type) override { set_type(type); }
    CORBA::ParDescriptionSeq* params() override
    {
        Access access(state_);
        return given(parameters_of(access.called(), access));
    }
    void params(const CORBA::ParDescriptionSeq& parameters) override
    {
        const std::vector<GivenMember> list = given_members(parameters, state_);
        change([&](Definition& changed, Access& access) {
            changed.parameters = parameters_in(parameters, list, access);
        });
    }
    CORBA::OperationMode mode() override
    {
        return Access(state_).called().is_oneway ? CORBA::OP_ONEWAY : CORBA::OP_NORMAL;
    }
    void mode(CORBA::OperationMode mode) override
    {
        change(
            [mode](Definition& changed, Access&) { changed.is_oneway = mode == CORBA::OP_ONEWAY; });
    }
    CORBA::ContextIdSeq* contexts() override
    {
        Access access(state_);
        return given(operation_of(access.called(), access).contexts);
    }
    void contexts(const CORBA::ContextIdSeq& contexts) override
    {
        change([&contexts](Definition& changed, Access&) {
            changed.contexts = contexts_in(contexts);
        });
    }
    CORBA::ExceptionDefSeq* exceptions() override
    {
        Access access(state_);
        return given(references_of<CORBA::ExceptionDefSeq>(access.called().exceptions, access));
    }
    void exceptions(const CORBA::ExceptionDefSeq& exceptions) override
    {
        const std::vector<Key> keys = keys_of(exceptions, state_);
        change([&keys](Definition& changed, Access&) { changed.exceptions = keys; });
    }

    static std::vector<std::string> contexts_in(const CORBA::ContextIdSeq& contexts)
    {
        std::vector<std::string> list;
        for (CORBA::ULong i = 0; i < contexts.length(); ++i)
            list.emplace_back(contexts[i].in());
        return list;
    }
    static std::vector<Parameter> parameters_in(const CORBA::ParDescriptionSeq& from,
                                                const std::vector<GivenMember>& with_types,
                                                Access& access)
    {
        std::vector<Parameter> parameters;
        for (CORBA::ULong i = 0; i < from.length(); ++i)
            parameters.push_back(
                {.name = with_types[i].name,
                 .type = access.type_of(with_types[i].type, with_types[i].code.in()),
                 .direction = from[i].mode == CORBA::PARAM_IN    ? Direction::in
                              : from[i].mode == CORBA::PARAM_OUT ? Direction::out
                                                                 : Direction::inout});
        return parameters;
    }
};

/// What interfaces and valuetypes have: operations and attributes, their own and inherited ones.
class OperationsPart : public virtual IRObjectPart {
  public:
    explicit OperationsPart(State& state) : IRObjectPart(state) {}

  protected:
    [[nodiscard]] CORBA::ExtAttributeDef_ptr
    make_attribute(const char* id, const char* name, const char* version, CORBA::IDLType_ptr type,
                   CORBA::AttributeMode mode, const CORBA::ExceptionDefSeq& get_exceptions,
                   const CORBA::ExceptionDefSeq& set_exceptions)
    {
        Definition made = new_definition(Kind::attribute, id, name, version);
        made.type = state_.key_of(type);
        made.is_readonly = mode == CORBA::ATTR_READONLY;
        made.exceptions = keys_of(get_exceptions, state_);
        made.set_exceptions = keys_of(set_exceptions, state_);
        Access access(state_);
        return create<CORBA::ExtAttributeDef>(access, std::move(made));
    }

    [[nodiscard]] CORBA::OperationDef_ptr
    make_operation(const char* id, const char* name, const char* version, CORBA::IDLType_ptr result,
                   CORBA::OperationMode mode, const CORBA::ParDescriptionSeq& parameters,
                   const CORBA::ExceptionDefSeq& exceptions, const CORBA::ContextIdSeq& contexts)
    {
        const std::vector<GivenMember> list = given_members(parameters, state_);
        Definition made = new_definition(Kind::operation, id, name, version);
        made.type = state_.key_of(result);
        made.is_oneway = mode == CORBA::OP_ONEWAY;
        made.exceptions = keys_of(exceptions, state_);
        made.contexts = OperationServant::contexts_in(contexts);
        Access access(state_);
        made.parameters = OperationServant::parameters_in(parameters, list, access);
        return create<CORBA::OperationDef>(access, std::move(made));
    }

    /// Describes all that the type has, inherited ones behind its own.
    template <typename Description, typename Attribute>
    static void fill_operations(Description& description, const Definition& own, Access& access,
                                Attribute (*attribute)(const Definition&, Access&))
    {
        fill_names(description, own, access.model());
        const std::vector<Key> operations = access.model().contents(own.key, Kind::operation, true);
        description.operations.length(static_cast<CORBA::ULong>(operations.size()));
        for (CORBA::ULong i = 0; i < description.operations.length(); ++i)
            description.operations[i] = operation_of(*access.model().find(operations[i]), access);
        const std::vector<Key> attributes = access.model().contents(own.key, Kind::attribute, true);
        description.attributes.length(static_cast<CORBA::ULong>(attributes.size()));
        for (CORBA::ULong i = 0; i < description.attributes.length(); ++i)
            description.attributes[i] = attribute(*access.model().find(attributes[i]), access);
        description.type = access.type_code(own.key);
    }
};

/// Of the three kinds of interfaces.
template <typename Skeleton>
class InterfacePart : public virtual Skeleton,
                      public ContainedPart,
                      public ContainerPart,
                      public IDLTypePart,
                      public OperationsPart {
  public:
    explicit InterfacePart(State& state)
        : IRObjectPart(state), ContainedPart(state), ContainerPart(state), IDLTypePart(state),
          OperationsPart(state)
    {
    }

    CORBA::InterfaceDefSeq* base_interfaces() override
    {
        Access access(state_);
        return given(references_of<CORBA::InterfaceDefSeq>(access.called().bases, access));
    }
    void base_interfaces(const CORBA::InterfaceDefSeq& bases) override
    {
        const std::vector<Key> keys = keys_of(bases, state_);
        change([&keys](Definition& changed, Access&) { changed.bases = keys; });
    }
    CORBA::Boolean is_a(const char* id) override
    {
        Access access(state_);
        return access.model().is_a(access.called().key, id);
    }
    CORBA::InterfaceDef::FullInterfaceDescription* describe_interface() override
    {
        return described<CORBA::InterfaceDef::FullInterfaceDescription>(&attribute_of);
    }
    CORBA::AttributeDef_ptr create_attribute(const char* id, const char* name, const char* version,
                                             CORBA::IDLType_ptr type,
                                             CORBA::AttributeMode mode) override
    {
        return make_attribute(id, name, version, type, mode, {}, {});
    }
    CORBA::OperationDef_ptr create_operation(const char* id, const char* name, const char* version,
                                             CORBA::IDLType_ptr result, CORBA::OperationMode mode,
                                             const CORBA::ParDescriptionSeq& parameters,
                                             const CORBA::ExceptionDefSeq& exceptions,
                                             const CORBA::ContextIdSeq& contexts) override
    {
        return make_operation(id, name, version, result, mode, parameters, exceptions, contexts);
    }

  protected:
    template <typename Description, typename Attribute>
    Description* described(Attribute (*attribute)(const Definition&, Access&))
    {
        Access access(state_);
        const Definition& own = access.called();
        Description description;
        fill_operations(description, own, access, attribute);
        description.base_interfaces = ids_of(own.bases, access.model());
        return given(std::move(description));
    }
};

class InterfaceServant final : public InterfacePart<POA_CORBA::ExtInterfaceDef> {
  public:
    explicit InterfaceServant(State& state) : IRObjectPart(state), InterfacePart(state) {}

    CORBA::InterfaceAttrExtension::ExtFullInterfaceDescription* describe_ext_interface() override
    {
        return described<CORBA::InterfaceAttrExtension::ExtFullInterfaceDescription>(
            &ext_attribute_of);
    }
    CORBA::ExtAttributeDef_ptr
    create_ext_attribute(const char* id, const char* name, const char* version,
                         CORBA::IDLType_ptr type, CORBA::AttributeMode mode,
                         const CORBA::ExceptionDefSeq& get_exceptions,
                         const CORBA::ExceptionDefSeq& set_exceptions) override
    {
        return make_attribute(id, name, version, type, mode, get_exceptions, set_exceptions);
    }
};

class AbstractInterfaceServant final : public InterfacePart<POA_CORBA::AbstractInterfaceDef> {
  public:
    explicit AbstractInterfaceServant(State& state) : IRObjectPart(state), InterfacePart(state) {}
};

class LocalInterfaceServant final : public InterfacePart<POA_CORBA::LocalInterfaceDef> {
  public:
    explicit LocalInterfaceServant(State& state) : IRObjectPart(state), InterfacePart(state) {}
};

class ValueMemberServant final : public Servant<POA_CORBA::ValueMemberDef, ContainedPart> {
  public:
    explicit ValueMemberServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::TypeCode_ptr type() override { return type_code_of_called(); }
    CORBA::IDLType_ptr type_def() override { return type_of_called(); }
    void type_def(CORBA::IDLType_ptr type) override { set_type(type); }
    CORBA::Visibility access() override
    {
        return Access(state_).called().is_public ? CORBA::PUBLIC_MEMBER : CORBA::PRIVATE_MEMBER;
    }
    void access(CORBA::Visibility visibility) override
    {
        change([visibility](Definition& changed, Access&) {
            changed.is_public = visibility == CORBA::PUBLIC_MEMBER;
        });
    }
};

class ValueServant final : public Servant<POA_CORBA::ExtValueDef, ContainedPart, ContainerPart,
                                          IDLTypePart, OperationsPart> {
  public:
    explicit ValueServant(State& state) : IRObjectPart(state), Servant(state) {}

    CORBA::InterfaceDefSeq* supported_interfaces() override
    {
        Access access(state_);
        return given(references_of<CORBA::InterfaceDefSeq>(access.called().supported, access));
    }
    void supported_interfaces(const CORBA::InterfaceDefSeq& interfaces) override
    {
        const std::vector<Key> keys = keys_of(interfaces, state_);
        change([&keys](Definition& changed, Access&) { changed.supported = keys; });
    }
    CORBA::InitializerSeq* initializers() override
    {
        Access access(state_);
        return given(repository::initializers_of(access.called(), access));
    }
    void initializers(const CORBA::InitializerSeq& initializers) override
    {
        set_initializers(initializers);
    }
    CORBA::ExtInitializerSeq* ext_initializers() override
    {
        Access access(state_);
        return given(ext_initializers_of(access.called(), access));
    }
    void ext_initializers(const CORBA::ExtInitializerSeq& initializers) override
    {
        set_initializers(initializers);
    }
    CORBA::ValueDef_ptr base_value() override
    {
        Access access(state_);
        return access.reference_to<CORBA::ValueDef>(access.called().base_value);
    }
    void base_value(CORBA::ValueDef_ptr base) override
    {
        const Key key = state_.key_of(base);
        change([key](Definition& changed, Access&) { changed.base_value = key; });
    }
    CORBA::ValueDefSeq* abstract_base_values() override
    {
        Access access(state_);
        return given(references_of<CORBA::ValueDefSeq>(access.called().bases, access));
    }
    void abstract_base_values(const CORBA::ValueDefSeq& bases) override
    {
        const std::vector<Key> keys = keys_of(bases, state_);
        change([&keys](Definition& changed, Access&) { changed.bases = keys; });
    }
    CORBA::Boolean is_abstract() override { return Access(state_).called().is_abstract; }
    void is_abstract(CORBA::Boolean is) override
    {
        change([is](Definition& changed, Access&) { changed.is_abstract = is; });
    }
    CORBA::Boolean is_custom() override { return Access(state_).called().is_custom; }
    void is_custom(CORBA::Boolean is) override
    {
        change([is](Definition& changed, Access&) { changed.is_custom = is; });
    }
    CORBA::Boolean is_truncatable() override { return Access(state_).called().is_truncatable; }
    void is_truncatable(CORBA::Boolean is) override
    {
        change([is](Definition& changed, Access&) { changed.is_truncatable = is; });
    }
    CORBA::Boolean is_a(const char* id) override
    {
        Access access(state_);
        return access.model().is_a(access.called().key, id);
    }
    CORBA::ValueDef::FullValueDescription* describe_value() override
    {
        Access access(state_);
        const Definition& own = access.called();
        CORBA::ValueDef::FullValueDescription description;
        fill_value(description, own, access, &attribute_of);
        description.initializers = repository::initializers_of(own, access);
        return given(std::move(description));
    }
    CORBA::ExtValueDef::ExtFullValueDescription* describe_ext_value() override
    {
        Access access(state_);
        const Definition& own = access.called();
        CORBA::ExtValueDef::ExtFullValueDescription description;
        fill_value(description, own, access, &ext_attribute_of);
        description.initializers = ext_initializers_of(own, access);
        return given(std::move(description));
    }
    CORBA::ValueMemberDef_ptr create_value_member(const char* id, const char* name,
                                                  const char* version, CORBA::IDLType_ptr type,
                                                  CORBA::Visibility visibility) override
    {
        Definition made = new_definition(Kind::value_member, id, name, version);
        made.type = state_.key_of(type);
        made.is_public = visibility == CORBA::PUBLIC_MEMBER;
        Access access(state_);
        return create<CORBA::ValueMemberDef>(access, std::move(made));
    }
    CORBA::AttributeDef_ptr create_attribute(const char* id, const char* name, const char* version,
                                             CORBA::IDLType_ptr type,
                                             CORBA::AttributeMode mode) override
    {
        return make_attribute(id, name, version, type, mode, {}, {});
    }
    CORBA::ExtAttributeDef_ptr
    create_ext_attribute(const char* id, const char* name, const char* version,
                         CORBA::IDLType_ptr type, CORBA::AttributeMode mode,
                         const CORBA::ExceptionDefSeq& get_exceptions,
                         const CORBA::ExceptionDefSeq& set_exceptions) override
    {
        return make_attribute(id, name, version, type, mode, get_exceptions, set_exceptions);
    }
    CORBA::OperationDef_ptr create_operation(const char* id, const char* name, const char* version,
                                             CORBA::IDLType_ptr result, CORBA::OperationMode mode,
                                             const CORBA::ParDescriptionSeq& parameters,
                                             const CORBA::ExceptionDefSeq& exceptions,
                                             const CORBA::ContextIdSeq& contexts) override
    {
        return make_operation(id, name, version, result, mode, parameters, exceptions, contexts);
    }

  private:
    template <typename Initializers>
    void set_initializers(const Initializers& initializers)
    {
        const auto list = given_initializers(initializers, state_);
        change([&list](Definition& changed, Access& access) {
            changed.initializers = ContainerPart::initializers_of(list, access);
        });
    }

    template <typename Description, typename Attribute>
    static void fill_value(Description& description, const Definition& own, Access& access,
                           Attribute (*attribute)(const Definition&, Access&))
    {
        fill_operations(description, own, access, attribute);
        description.is_abstract = own.is_abstract;
        description.is_custom = own.is_custom;
        description.is_truncatable = own.is_truncatable;
        const std::vector<Key> members =
            access.model().contents(own.key, Kind::value_member, false);
        description.members.length(static_cast<CORBA::ULong>(members.size()));
        for (CORBA::ULong i = 0; i < description.members.length(); ++i)
            description.members[i] = value_member_of(*access.model().find(members[i]), access);
        description.supported_interfaces = ids_of(own.supported, access.model());
        description.abstract_base_values = ids_of(own.bases, access.model());
        if (const Definition* const base = access.model().find(own.base_value))
            description.base_value = base->id.c_str();
    }
};

} // namespace

PortableServer::Servant make_servant(Kind kind, State& state)
{
    switch (kind) {
    case Kind::attribute:
        return new AttributeServant(state);
    case Kind::constant:
        return new ConstantServant(state);
    case Kind::exception:
        return new ExceptionServant(state);
    case Kind::interface:
        return new InterfaceServant(state);
    case Kind::module:
        return new ModuleServant(state);
    case Kind::operation:
        return new OperationServant(state);
    case Kind::alias:
        return new AliasServant(state);
    case Kind::struct_:
        return new StructServant(state);
    case Kind::union_:
        return new UnionServant(state);
    case Kind::enum_:
        return new EnumServant(state);
    case Kind::primitive:
        return new PrimitiveServant(state);
    case Kind::string:
        return new TextServant<POA_CORBA::StringDef>(state);
    case Kind::sequence:
        return new SequenceServant(state);
    case Kind::array:
        return new ArrayServant(state);
    case Kind::repository:
        return new RepositoryServant(state);
    case Kind::wstring:
        return new TextServant<POA_CORBA::WstringDef>(state);
    case Kind::fixed:
        return new FixedServant(state);
    case Kind::value:
        return new ValueServant(state);
    case Kind::value_box:
        return new ValueBoxServant(state);
    case Kind::value_member:
        return new ValueMemberServant(state);
    case Kind::native:
        return new NativeServant(state);
    case Kind::abstract_interface:
        return new AbstractInterfaceServant(state);
    case Kind::local_interface:
        return new LocalInterfaceServant(state);
    default:
        return nullptr;
    }
}

} // namespace kairos::repository
