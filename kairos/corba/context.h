// SPDX-License-Identifier: Apache-2.0
//
// CORBA::Context (CORBA 3.3 part 1, 8.6; C++ mapping 5.37): named strings of a client that go along
// with the operations that ask for them in a context clause. A tree: a child sees its parents'
// properties. Pseudo object, counted; not shared by threads that change it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/owner.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/corba/nvlist.h"

#include <span>
#include <string>
#include <string_view>

namespace CORBA {

class Context;
typedef Context* Context_ptr;
typedef kairos::mapping::ObjectVar<Context> Context_var;
typedef kairos::mapping::ObjectOut<Context> Context_out;

class KAIROS_API Context final : public kairos::corba::PseudoObject {
  public:
    typedef Context_ptr _ptr_type;
    typedef Context_var _var_type;
    /// Names in order, and what they stand for (context.cpp).
    struct Properties;

    /// Makes a root of contexts. Programs get one from ORB::get_default_context.
    Context();

    static Context_ptr _duplicate(Context_ptr context);
    static Context_ptr _nil() { return nullptr; }

    /// The name given to create_child; "" for a root.
    [[nodiscard]] const char* context_name() const noexcept { return name_.c_str(); }
    /// The parent, not counted: the child keeps it. Nil for a root.
    [[nodiscard]] Context_ptr parent() const noexcept { return parent_.in(); }
    void create_child(const char* name, Context_out child);

    /// Sets a property. Throws BAD_TYPECODE for a value that is not a string, BAD_PARAM for a name
    /// that is empty, null or holds an asterisk.
    void set_one_value(const char* name, const Any& value);
    /// Sets all properties of the list, or none and throws BAD_TYPECODE for a value that is not a
    /// string, BAD_PARAM for a name that is empty, null or holds an asterisk.
    void set_values(NVList_ptr values);
    /// Deletes this context's properties that match a name, or its beginning and an asterisk.
    /// Throws BAD_CONTEXT where none does.
    void delete_values(const char* pattern);
    /// Gives out the properties that match a name, or its beginning and an asterisk, from the
    /// context called `start_scope` ("": from this) to the root, unless CTX_RESTRICT_SCOPE is set.
    /// Throws BAD_CONTEXT: minor 1 for no such scope, 2 for no such property.
    void get_values(const char* start_scope, Flags flags, const char* pattern, NVList_out values);

    /// Adds to `found` the properties of this context, and with `parents` of those above, that
    /// match and that `found` has not yet.
    void _kairos_collect(std::string_view pattern, bool parents, Properties& found) const;
    [[nodiscard]] Properties& _kairos_properties() noexcept { return *properties_; }

  private:
    Context(std::string_view name, Context_ptr parent);
    ~Context() override;

    std::string name_;
    Context_var parent_;
    const kairos::Owner<Properties> properties_;
};

inline Boolean is_nil(Context_ptr context) { return context == nullptr; }
KAIROS_API void release(Context_ptr context);

} // namespace CORBA

namespace kairos::corba {

/// Writes, behind a request's arguments, what the context clause asks for. Nil has nothing.
KAIROS_API void encode_context(cdr::Writer& out, CORBA::Context_ptr context,
                               std::span<const std::string_view> clause);
/// What the skeleton gives to the servant, owned by the caller; null when the reader has failed.
[[nodiscard]] KAIROS_API CORBA::Context_ptr decode_context(cdr::Reader& in);

} // namespace kairos::corba
