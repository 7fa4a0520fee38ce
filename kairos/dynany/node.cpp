// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/node.h"

#include "kairos/base/stack.h"
#include "kairos/dynany/input.h"
#include "kairos/dynany/output.h"
#include "kairos/dynany/transfer.h"
#include "kairos/types/any_access.h"
#include "kairos/types/copy.h"

namespace kairos::dynany {

using types::AnyAccess;

void raise_type_mismatch() { throw DynAny::TypeMismatch(); }

void raise_invalid_value() { throw DynAny::InvalidValue(); }

void require_stack()
{
    if (!is_above(stack_limit()))
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a value is nested too deeply");
}

namespace {

/// A component that is to end, and what it counts in.
struct Ending {
    NodePtr node;
    std::shared_ptr<Tree> tree;
};
/// Where the components of what is ending wait, so that no depth of theirs takes any stack.
thread_local std::vector<Ending>* waiting = nullptr;

} // namespace

Component::~Component()
{
    if (!node_) return;
    std::shared_ptr<Tree> tree = node_->kept_tree();
    if (waiting != nullptr && tree != nullptr) {
        waiting->push_back({std::move(node_), std::move(tree)});
        return;
    }
    std::vector<Ending> own;
    std::vector<Ending>* const outer = std::exchange(waiting, &own);
    std::exchange(node_, NodePtr())->end();
    while (!own.empty()) {
        const Ending next = std::move(own.back());
        own.pop_back();
        next.node->end();
    }
    waiting = outer;
}

Node& node_of(DynamicAny::DynAny_ptr object)
{
    auto* node = dynamic_cast<Node*>(object);
    if (node == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "not a DynAny of this ORB's factory");
    (void)node->tree();
    return *node;
}

Node::Node(Tree& tree, const CORBA::TypeCode& type)
    : type_(CORBA::TypeCode::_duplicate(types::pointer(type))),
      data_(types::resolved(type)._kairos_data()), tree_(&tree)
{
    require_stack();
    tree.add_component();
}

Node::~Node()
{
    if (tree_ != nullptr) tree_->remove_component();
}

Tree& Node::tree() const
{
    if (tree_ == nullptr)
        throw CORBA::OBJECT_NOT_EXIST(0, CORBA::COMPLETED_NO, "the DynAny was destroyed");
    return *tree_;
}

std::shared_ptr<Tree> Node::kept_tree() const noexcept
{
    return tree_ == nullptr ? nullptr : tree_->weak_from_this().lock();
}

void Node::end() noexcept
{
    if (tree_ == nullptr) return;
    tree_->remove_component();
    tree_ = nullptr;
    clear();
    root_of_.reset();
}

void Node::require_type(CORBA::TypeCode_ptr type) const
{
    if (!type_->equivalent(type)) raise_type_mismatch();
}

// --- Values --------------------------------------------------------------------------------------

void Node::load(const CORBA::Any& any, bool may_truncate)
{
    Transfer transfer(tree());
    AnyAccess::with_reader(any, [&](cdr::Reader& in) {
        cdr::Reader ahead = in;
        const types::Found found = types::inspect_value(ahead, AnyAccess::type(any));
        if (!ahead.ok()) raise_invalid_value();
        if (found.is_truncated && !may_truncate) throw DynamicAny::MustTruncate();
        types::copy_value(in, transfer.out(), AnyAccess::type(any));
        if (!in.ok()) raise_invalid_value();
    });
    cdr::Reader copied = transfer.reader();
    Input in(copied);
    read(in);
    in.finish();
    rewind();
}

CORBA::Any Node::store()
{
    Transfer transfer(tree());
    Output out(transfer.out(), as_value() != nullptr);
    write(out);
    return transfer.any(declared_type());
}

void Node::take(Node& from)
{
    Transfer transfer(tree());
    Output out(transfer.out(), false);
    from.write(out);
    cdr::Reader copied = transfer.reader();
    Input in(copied);
    read(in);
    in.finish();
    rewind();
}

CORBA::TypeCode_ptr Node::type()
{
    (void)tree();
    return CORBA::TypeCode::_duplicate(types::pointer(declared_type()));
}

void Node::assign(DynamicAny::DynAny_ptr dyn_any)
{
    (void)tree();
    Node& from = node_of(dyn_any);
    require_type(&from.declared_type());
    if (&from != this) take(from);
}

void Node::from_any(const CORBA::Any& value)
{
    (void)tree();
    require_type(types::pointer(AnyAccess::type(value)));
    try {
        load(value);
    } catch (const CORBA::BAD_PARAM&) { // the Any has a type and no value
        raise_invalid_value();
    }
}

CORBA::Any* Node::to_any()
{
    (void)tree();
    return new CORBA::Any(store());
}

CORBA::Boolean Node::equal(DynamicAny::DynAny_ptr dyn_any)
{
    (void)tree();
    Node& other = node_of(dyn_any);
    Compared compared;
    return type_->equivalent(&other.declared_type()) && same(other, compared);
}

/// A component's life is its owner's.
void Node::destroy()
{
    (void)tree();
    if (root_of_ != nullptr) end();
}

DynamicAny::DynAny_ptr Node::copy()
{
    const NodePtr copied = dynany::make_root(tree().core(), declared_type());
    copied->take(*this);
    return DynAny::_duplicate(copied.get());
}

// --- Components ----------------------------------------------------------------------------------

Node& Node::at(CORBA::ULong) { raise_type_mismatch(); }

CORBA::Long Node::position()
{
    return position_ >= 0 && static_cast<CORBA::ULong>(position_) < count() ? position_ : -1;
}

Node& Node::current()
{
    (void)tree();
    if (!can_have_components()) raise_type_mismatch();
    const CORBA::Long index = position();
    if (index < 0) raise_invalid_value();
    return at(static_cast<CORBA::ULong>(index));
}

CORBA::Boolean Node::seek(CORBA::Long index)
{
    (void)tree();
    position_ = index;
    position_ = position();
    return position_ >= 0;
}

void Node::rewind() { (void)seek(0); }

CORBA::Boolean Node::next()
{
    (void)tree();
    return seek(position() + 1);
}

CORBA::ULong Node::component_count()
{
    (void)tree();
    return count();
}

DynamicAny::DynAny_ptr Node::current_component()
{
    (void)tree();
    if (!can_have_components()) raise_type_mismatch();
    const CORBA::Long index = position();
    return index < 0 ? DynAny::_nil() : DynAny::_duplicate(&at(static_cast<CORBA::ULong>(index)));
}

} // namespace kairos::dynany
