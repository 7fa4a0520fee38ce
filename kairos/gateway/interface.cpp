// SPDX-License-Identifier: Apache-2.0
#include "kairos/gateway/interface.h"

#include "kairos/types/typecode_data.h"

#include <algorithm>
#include <set>

namespace kairos::gateway {

namespace {

CORBA::TypeCode_var shared(CORBA::TypeCode_ptr type) { return CORBA::TypeCode::_duplicate(type); }

/// Looks through a type, which may contain itself, and notes what is in its values.
class Look {
  public:
    explicit Look(Contents& contents) : contents_(contents) {}

    void at(const CORBA::TypeCode& type)
    {
        const types::TypeCodeData& data = types::resolved(type)._kairos_data();
        switch (data.kind) {
        case CORBA::tk_char:
        case CORBA::tk_string:
            contents_.has_characters = true;
            return;
        case CORBA::tk_wchar:
        case CORBA::tk_wstring:
            contents_.has_wide = true;
            return;
        case CORBA::tk_struct:
        case CORBA::tk_except:
        case CORBA::tk_union:
        case CORBA::tk_sequence:
        case CORBA::tk_array:
            return within(data);
        case CORBA::tk_any:
        case CORBA::tk_TypeCode:
        case CORBA::tk_objref:
        case CORBA::tk_component:
        case CORBA::tk_home:
        case CORBA::tk_value:
        case CORBA::tk_value_box:
        case CORBA::tk_event:
        case CORBA::tk_abstract_interface:
            contents_.has_more = true;
            return;
        default:
            return;
        }
    }

  private:
    void within(const types::TypeCodeData& data)
    {
        if (!seen_.insert(&data).second) return;
        if (data.content != nullptr) at(*data.content);
        for (CORBA::ULong i = 0; data.members != nullptr && i < data.count; ++i)
            at(*data.members[i].type);
    }

    Contents& contents_;
    std::set<const types::TypeCodeData*> seen_;
};

bool has_value(CORBA::TypeCode_ptr type)
{
    const CORBA::TCKind kind = types::resolved(*type).kind();
    return kind != CORBA::tk_void && kind != CORBA::tk_null;
}

} // namespace

void Contents::add(const CORBA::TypeCode& type) { Look(*this).at(type); }

Operation::Operation(CORBA::TypeCode_ptr result)
{
    if (has_value(result)) add(Direction::out, result);
}

void Operation::add(Direction direction, CORBA::TypeCode_ptr type)
{
    if (direction != Direction::out) {
        given_.push_back(shared(type));
        in_.add(*type);
    }
    if (direction != Direction::in) {
        returned_.push_back(shared(type));
        out_.add(*type);
    }
}

void Operation::add_exception(CORBA::TypeCode_ptr type)
{
    if (types::resolved(*type).kind() != CORBA::tk_except)
        throw CORBA::BAD_TYPECODE(0, CORBA::COMPLETED_NO, "not the type of an exception");
    exceptions_.push_back(shared(type));
}

void Operation::set_context()
{
    has_context_ = true;
    in_.has_characters = true;
}

const CORBA::TypeCode* Operation::exception(std::string_view repository_id) const noexcept
{
    const auto found = std::ranges::find_if(exceptions_, [&](const CORBA::TypeCode_var& type) {
        return repository_id == types::resolved(*type.in())._kairos_data().id;
    });
    return found == exceptions_.end() ? nullptr : found->in();
}

} // namespace kairos::gateway
