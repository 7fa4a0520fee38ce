// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/value_node.h"

#include "kairos/base/limits.h"
#include "kairos/dynany/input.h"
#include "kairos/dynany/output.h"
#include "kairos/types/any_access.h"

#include <string_view>

namespace kairos::dynany {

namespace {

/// Whether a value of this type may be where that one is declared.
bool is_a(const types::TypeCodeData& type, const types::TypeCodeData& formal)
{
    const types::TypeCodeData* each = &type;
    for (std::size_t depth = 0; depth < limits::nesting_max; ++depth) {
        if (std::string_view(each->id) == formal.id) return true;
        if (each->kind == CORBA::tk_value_box || each->content == nullptr) break;
        each = &types::resolved(*each->content)._kairos_data();
    }
    // Which abstract types a value has, no TypeCode says.
    return formal.kind != CORBA::tk_value_box &&
           (formal.detail == CORBA::VM_ABSTRACT ||
            std::string_view(formal.id) == CORBA::_tc_ValueBase->id());
}

} // namespace

void ValueNode::read(Input& in)
{
    std::shared_ptr<ValueState> state = in.value(*this);
    if (!in.data().ok()) return;
    if (state != nullptr && !is_a(state->type, data()))
        return in.data().fail(cdr::Fault::invalid_value);
    state_ = std::move(state);
}

void ValueNode::write(Output& out) { out.value(state_.get(), data()); }

bool ValueNode::same(Node& other, Compared& compared)
{
    require_stack();
    const ValueState* mine = state_.get();
    const ValueState* others = other.as_value()->state_.get();
    if (mine == nullptr || others == nullptr) return mine == others;
    if (!compared.emplace(mine, others).second) return true;
    if (std::string_view(mine->type.id) != others->type.id ||
        mine->members.size() != others->members.size())
        return false;
    for (std::size_t i = 0; i < mine->members.size(); ++i)
        if (!mine->members[i]->same(*others->members[i], compared)) return false;
    return true;
}

CORBA::ULong ValueNode::count()
{
    return state_ == nullptr ? 0 : static_cast<CORBA::ULong>(state_->members.size());
}

const ValueState& ValueNode::state() const
{
    (void)tree();
    if (state_ == nullptr) raise_invalid_value();
    return *state_;
}

CORBA::Boolean ValueNode::is_null()
{
    (void)tree();
    return state_ == nullptr;
}

void ValueNode::set_to_null()
{
    (void)tree();
    state_.reset();
    rewind();
}

void ValueNode::set_to_value()
{
    (void)tree();
    if (state_ != nullptr) return;
    state_ = make_state();
    rewind();
}

// --- DynValue ------------------------------------------------------------------------------------

std::shared_ptr<ValueState> Value::make_state()
{
    if (data().detail == CORBA::VM_ABSTRACT)
        throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "an abstract valuetype has no values");
    auto state = std::make_shared<ValueState>(tree(), declared_type());
    state->members = make_components(tree(), members_of(data()));
    return state;
}

char* Value::current_member_name()
{
    if (count() == 0 && !is_null()) raise_type_mismatch();
    (void)current();
    const auto index = static_cast<std::size_t>(position());
    return CORBA::string_dup(members_of(state().type)[index]->name);
}

CORBA::TCKind Value::current_member_kind()
{
    if (count() == 0 && !is_null()) raise_type_mismatch();
    return current().kind();
}

DynamicAny::NameValuePairSeq* Value::get_members()
{
    return values_of(members_of(state().type), state().members);
}

DynamicAny::NameDynAnyPairSeq* Value::get_members_as_dyn_any()
{
    return nodes_of(members_of(state().type), state().members);
}

template <typename Pairs>
void Value::set_all(const Pairs& value)
{
    const bool was_null = is_null();
    set_to_value();
    try {
        set_values(members_of(state().type), state().members, value);
    } catch (...) {
        if (was_null) set_to_null();
        throw;
    }
    rewind();
}

void Value::set_members(const DynamicAny::NameValuePairSeq& value) { set_all(value); }

void Value::set_members_as_dyn_any(const DynamicAny::NameDynAnyPairSeq& value) { set_all(value); }

// --- DynValueBox ---------------------------------------------------------------------------------

std::shared_ptr<ValueState> ValueBox::make_state()
{
    auto state = std::make_shared<ValueState>(tree(), declared_type());
    state->members.emplace_back(make_node(tree(), *data().content));
    return state;
}

void ValueBox::require_boxed(CORBA::TypeCode& type) const
{
    (void)tree();
    if (!types::pointer(*data().content)->equivalent(&type)) raise_type_mismatch();
}

CORBA::Any* ValueBox::get_boxed_value() { return new CORBA::Any(state().members[0]->store()); }

void ValueBox::set_boxed_value(const CORBA::Any& boxed)
{
    require_boxed(*types::pointer(types::AnyAccess::type(boxed)));
    set_to_value();
    at(0).load(boxed);
    rewind();
}

DynamicAny::DynAny_ptr ValueBox::get_boxed_value_as_dyn_any()
{
    return DynAny::_duplicate(&*state().members[0]);
}

void ValueBox::set_boxed_value_as_dyn_any(DynamicAny::DynAny_ptr boxed)
{
    Node& from = node_of(boxed);
    require_boxed(from.declared_type());
    set_to_value();
    if (&from != &at(0)) at(0).take(from);
    rewind();
}

} // namespace kairos::dynany
