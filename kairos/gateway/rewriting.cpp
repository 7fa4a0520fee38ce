// SPDX-License-Identifier: Apache-2.0
#include "kairos/gateway/rewriting.h"

namespace kairos::gateway {

namespace {

/// Ids that one message may have looked up: they are the peer's to choose.
constexpr std::size_t types_max = 1024;

} // namespace

void Rewriting::copy_reference(cdr::Reader& in, cdr::Writer& out)
{
    ior::Ior reference;
    if (!ior::decode(in, reference)) return;
    if (!reference.is_nil() && references_left_-- == 0)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "too many references in one message");
    ior::encode(out, relay_.exchanged(reference));
}

const CORBA::TypeCode* Rewriting::value_type(std::string_view repository_id)
{
    if (const auto known = types_.find(repository_id); known != types_.end())
        return known->second.in();
    if (types_.size() == types_max) return nullptr;
    CORBA::TypeCode_var found = relay_.interfaces().type(repository_id);
    return types_.emplace(repository_id, std::move(found)).first->second.in();
}

} // namespace kairos::gateway
