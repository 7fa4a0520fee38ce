// SPDX-License-Identifier: Apache-2.0
//
// DynAnyFactory (CORBA 3.3 part 1, 16.2.2).
#include "kairos/dynany/DynamicAny.h"
#include "kairos/dynany/input.h"
#include "kairos/dynany/linked.h"
#include "kairos/dynany/transfer.h"
#include "kairos/types/any_access.h"
#include "kairos/types/copy.h"
#include "kairos/types/typecode_factory.h"

#include <string>
#include <vector>

namespace kairos::dynany {

namespace {

using types::AnyAccess;

/// The factory's operations know no InvalidValue: the TypeCode is not that of the value.
template <typename Make>
auto consistent(Make&& make)
{
    try {
        return make();
    } catch (const DynAny::InvalidValue&) {
        throw DynamicAny::DynAnyFactory::InconsistentTypeCode();
    }
}

void require_type(CORBA::TypeCode_ptr type)
{
    if (type == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a nil TypeCode");
}

class Factory final : public DynamicAny::DynAnyFactory {
  public:
    explicit Factory(orb::Orb& core) : core_(&core) {}

    DynamicAny::DynAny_ptr create_dyn_any(const CORBA::Any& value) override
    {
        return DynAny::_duplicate(
            consistent([&] { return dynany::make_root(*core_, value); }).get());
    }
    DynamicAny::DynAny_ptr create_dyn_any_from_type_code(CORBA::TypeCode_ptr type) override
    {
        require_type(type);
        return DynAny::_duplicate(dynany::make_root(*core_, *type).get());
    }
    DynamicAny::DynAny_ptr create_dyn_any_without_truncation(const CORBA::Any& value) override
    {
        return DynAny::_duplicate(
            consistent([&] { return dynany::make_root(*core_, value, false); }).get());
    }
    DynamicAny::DynAnySeq* create_multiple_dyn_anys(const DynamicAny::AnySeq& values,
                                                    CORBA::Boolean allow_truncate) override;
    DynamicAny::AnySeq* create_multiple_anys(const DynamicAny::DynAnySeq& values) override;

  private:
    const IntrusivePtr<orb::Orb> core_;
};

/// Reads values that share what they have in common: as the members of one struct they know it.
void read_together(Tree& tree, const std::vector<const CORBA::Any*>& anys,
                   const std::vector<Node*>& nodes, bool may_truncate)
{
    if (anys.empty()) return;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < anys.size(); ++i)
        names.push_back("m" + std::to_string(i));
    std::vector<types::NewMember> members;
    Transfer together(tree);
    for (std::size_t i = 0; i < anys.size(); ++i) {
        members.push_back({names[i].c_str(), types::pointer(AnyAccess::type(*anys[i]))});
        AnyAccess::encode_parameter(together.out(), *anys[i]);
    }
    const CORBA::TypeCode_var type =
        types::make_struct(CORBA::tk_struct, "IDL:All:1.0", "All", members);
    cdr::Reader in = together.reader();
    cdr::Reader ahead = in;
    const types::Found found = types::inspect_value(ahead, *type.in());
    if (!ahead.ok()) raise_invalid_value();
    if (found.is_truncated && !may_truncate) throw DynamicAny::MustTruncate();
    Transfer copied(tree);
    types::copy_value(in, copied.out(), *type.in());
    cdr::Reader again = copied.reader();
    Input input(again);
    for (Node* node : nodes)
        node->read(input);
    input.finish();
    for (Node* node : nodes)
        node->rewind();
}

DynamicAny::DynAnySeq* Factory::create_multiple_dyn_anys(const DynamicAny::AnySeq& values,
                                                         CORBA::Boolean allow_truncate)
{
    const auto tree = std::make_shared<Tree>(*core_);
    DynamicAny::DynAnySeq_var list = new DynamicAny::DynAnySeq;
    list->length(values.length());
    std::vector<const CORBA::Any*> anys;
    std::vector<Node*> nodes;
    consistent([&] {
        for (CORBA::ULong i = 0; i < values.length(); ++i) {
            const NodePtr node = make_node(*tree, AnyAccess::type(values[i]));
            node->make_root(tree);
            list[i] = DynAny::_duplicate(node.get());
            // An exception cannot be a member, and what is no value shares nothing.
            if (node->as_leaf() != nullptr || node->kind() == CORBA::tk_except) {
                node->load(values[i], allow_truncate);
            } else {
                anys.push_back(&values[i]);
                nodes.push_back(node.get());
            }
        }
        read_together(*tree, anys, nodes, allow_truncate);
        return true;
    });
    return list._retn();
}

DynamicAny::AnySeq* Factory::create_multiple_anys(const DynamicAny::DynAnySeq& values)
{
    DynamicAny::AnySeq_var list = new DynamicAny::AnySeq;
    list->length(values.length());
    for (CORBA::ULong i = 0; i < values.length(); ++i)
        list[i] = node_of(values[i]).store();
    return list._retn();
}

} // namespace

} // namespace kairos::dynany

namespace kairos::corba {

CORBA::Object_ptr dynamic_any_service(CORBA::ORB& orb)
{
    return new dynany::Factory(orb._kairos_core());
}

} // namespace kairos::corba
