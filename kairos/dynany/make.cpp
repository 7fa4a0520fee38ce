// SPDX-License-Identifier: Apache-2.0
//
// Which class is the DynAny of which type.
#include "kairos/dynany/elements.h"
#include "kairos/dynany/leaf.h"
#include "kairos/dynany/structure.h"
#include "kairos/dynany/union_node.h"
#include "kairos/dynany/value_node.h"
#include "kairos/types/any_access.h"

namespace kairos::dynany {

namespace {

[[noreturn]] void raise_inconsistent() { throw DynamicAny::DynAnyFactory::InconsistentTypeCode(); }

Node* new_node(Tree& tree, const CORBA::TypeCode& type)
{
    const types::TypeCodeData& data = types::resolved(type)._kairos_data();
    switch (data.kind) {
    case CORBA::tk_fixed:
        return new FixedNumber(tree, type);
    case CORBA::tk_enum:
        return new Enumeration(tree, type);
    case CORBA::tk_struct:
    case CORBA::tk_except:
        return new Structure(tree, type);
    case CORBA::tk_union:
        return new UnionNode(tree, type);
    case CORBA::tk_sequence:
        return new Sequence(tree, type);
    case CORBA::tk_array:
        return new Array(tree, type);
    case CORBA::tk_value:
    case CORBA::tk_event:
        if (data.detail == CORBA::VM_CUSTOM) raise_inconsistent(); // only its class can read it
        return new Value(tree, type);
    case CORBA::tk_value_box:
        return new ValueBox(tree, type);
    case CORBA::tk_Principal:
    case CORBA::tk_native:
        raise_inconsistent();
    default:
        return new Leaf(tree, type);
    }
}

} // namespace

NodePtr make_node(Tree& tree, const CORBA::TypeCode& type)
{
    return NodePtr::adopt(
        new_node(tree, type._kairos_is_recursive() ? type._kairos_bound() : type));
}

NodePtr make_root(orb::Orb& core, const CORBA::TypeCode& type)
{
    auto tree = std::make_shared<Tree>(core);
    NodePtr node = make_node(*tree, type);
    node->make_root(std::move(tree));
    return node;
}

NodePtr make_root(orb::Orb& core, const CORBA::Any& any, bool may_truncate)
{
    NodePtr node = make_root(core, types::AnyAccess::type(any));
    node->load(any, may_truncate);
    return node;
}

} // namespace kairos::dynany
