// SPDX-License-Identifier: Apache-2.0
//
// CORBA::NamedValue and NVList (CORBA 3.3 part 1, 8.4; C++ mapping 5.34, 5.35): lists of named
// Anys, of which contexts and dynamic invocations are made. Pseudo objects, counted like
// references. Not shared by threads that change them.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/ref_count.h"
#include "kairos/mapping/exception.h"
#include "kairos/mapping/object_fwd.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/var.h"
#include "kairos/types/any.h"

#include <concepts>

namespace CORBA {

typedef ULong Flags;
inline constexpr Flags ARG_IN = 1;
inline constexpr Flags ARG_OUT = 2;
inline constexpr Flags ARG_INOUT = 3;
inline constexpr Flags IN_COPY_VALUE = 4;
inline constexpr Flags DEPENDENT_LIST = 8;
inline constexpr Flags OUT_LIST_MEMORY = 16;
inline constexpr Flags CTX_RESTRICT_SCOPE = 15;

/// An index beyond the end of a list.
KAIROS_EMPTY_EXCEPTION("CORBA", Bounds)

class NamedValue;
typedef NamedValue* NamedValue_ptr;
typedef kairos::mapping::ObjectVar<NamedValue> NamedValue_var;
typedef kairos::mapping::ObjectOut<NamedValue> NamedValue_out;

class NVList;
typedef NVList* NVList_ptr;
typedef kairos::mapping::ObjectVar<NVList> NVList_var;
typedef kairos::mapping::ObjectOut<NVList> NVList_out;

} // namespace CORBA

namespace kairos::corba {

/// Counting of pseudo objects.
class KAIROS_API PseudoObject {
  public:
    PseudoObject(const PseudoObject&) = delete;
    PseudoObject& operator=(const PseudoObject&) = delete;

    void _add_ref() noexcept { count_.add(); }
    void _remove_ref() noexcept
    {
        if (count_.drop()) delete this;
    }

  protected:
    PseudoObject() = default;
    virtual ~PseudoObject() = default;
    /// Returns whether nobody but the caller can still use the object.
    [[nodiscard]] bool has_one_owner() const noexcept { return count_.count() == 1; }

  private:
    RefCount count_;
};

/// Takes an element that is there out of a sequence of pointers or texts.
template <typename Sequence>
void remove_element(Sequence& sequence, CORBA::ULong index)
{
    auto* const elements = sequence.get_buffer(false);
    const CORBA::ULong last = sequence.length() - 1;
    for (CORBA::ULong i = index; i < last; ++i)
        std::swap(elements[i], elements[i + 1]);
    sequence.length(last);
}

} // namespace kairos::corba

namespace kairos::mapping {

/// Old IDL of the OMG's has pseudo objects as parameters of interfaces that are not local. A nil
/// one cannot be told from any other nil.
template <std::derived_from<corba::PseudoObject> T>
void encode_object(cdr::Writer& out, T* object)
{
    if (object == nullptr) return encode_object(out, static_cast<CORBA::Object*>(nullptr));
    throw CORBA::MARSHAL(omg_minor(4), CORBA::COMPLETED_NO,
                         "a pseudo object cannot be passed to another process");
}

} // namespace kairos::mapping

namespace CORBA {

class KAIROS_API NamedValue final : public kairos::corba::PseudoObject {
  public:
    typedef NamedValue_ptr _ptr_type;
    typedef NamedValue_var _var_type;

    /// Takes over `name` and `value`. Made by NVList and ORB::create_named_value.
    NamedValue(String_var name, Any_var value, Flags flags);

    static NamedValue_ptr _duplicate(NamedValue_ptr value);
    static NamedValue_ptr _nil() { return nullptr; }

    /// The NamedValue's own; "" where none was given.
    [[nodiscard]] const char* name() const noexcept { return name_.in(); }
    /// The NamedValue's own, to be read and assigned to.
    [[nodiscard]] Any* value() const noexcept { return value_.ptr(); }
    [[nodiscard]] Flags flags() const noexcept { return flags_; }

  private:
    ~NamedValue() override = default;

    const String_var name_;
    const Any_var value_;
    const Flags flags_;
};

/// A list of NamedValues, which it keeps: what its functions return is not to be released.
class KAIROS_API NVList final : public kairos::corba::PseudoObject {
  public:
    typedef NVList_ptr _ptr_type;
    typedef NVList_var _var_type;

    NVList() = default;

    static NVList_ptr _duplicate(NVList_ptr list);
    static NVList_ptr _nil() { return nullptr; }

    [[nodiscard]] ULong count() const noexcept { return items_.length(); }
    NamedValue_ptr add(Flags flags);
    /// Appends an item with a copy of the name, and returns it. Throws BAD_PARAM for null.
    NamedValue_ptr add_item(const char* name, Flags flags);
    /// Appends an item with copies of name and value, and returns it. Throws BAD_PARAM for null.
    NamedValue_ptr add_value(const char* name, const Any& value, Flags flags);
    /// Appends an item, which takes over the name, and returns it.
    NamedValue_ptr add_item_consume(char* name, Flags flags);
    /// Appends an item, which takes over name and value, and returns it.
    NamedValue_ptr add_value_consume(char* name, Any* value, Flags flags);
    /// The list's own; not to be released. Throws Bounds.
    [[nodiscard]] NamedValue_ptr item(ULong index) const;
    /// Releases the item and closes the gap. Throws Bounds.
    void remove(ULong index);

  private:
    ~NVList() override = default;
    NamedValue_ptr append(String_var name, Any_var value, Flags flags);

    kairos::mapping::UnboundedObjectSequence<NamedValue> items_;
};

inline Boolean is_nil(NamedValue_ptr value) { return value == nullptr; }
inline Boolean is_nil(NVList_ptr list) { return list == nullptr; }
KAIROS_API void release(NamedValue_ptr value);
KAIROS_API void release(NVList_ptr list);

} // namespace CORBA
