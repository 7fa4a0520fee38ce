// SPDX-License-Identifier: Apache-2.0
//
// IORTable, as TAO has it: references under names that the server chooses, for corbaloc URLs.
// "corbaloc::host:port/Name" reaches what "Name" is bound to, wherever that is: the client is sent
// there. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb.h"
#include "kairos/mapping/user_exception.h"

namespace kairos::poa {
class ForwardTable;
} // namespace kairos::poa

namespace IORTable {

class KAIROS_API AlreadyBound final : public kairos::mapping::EmptyException<AlreadyBound> {
  public:
    static constexpr const char* kairos_name = "AlreadyBound";
    static constexpr const char* _kairos_id = "IDL:IORTable/AlreadyBound:1.0";
};

class KAIROS_API NotFound final : public kairos::mapping::EmptyException<NotFound> {
  public:
    static constexpr const char* kairos_name = "NotFound";
    static constexpr const char* _kairos_id = "IDL:IORTable/NotFound:1.0";
};

class Locator;
typedef Locator* Locator_ptr;
typedef kairos::mapping::ObjectVar<Locator> Locator_var;

/// What programs implement to be asked for names that are not bound.
class KAIROS_API Locator : public virtual CORBA::LocalObject {
  public:
    typedef Locator_ptr _ptr_type;
    typedef Locator_var _var_type;
    static constexpr const char* _kairos_id = "IDL:IORTable/Locator:1.0";

    static Locator_ptr _duplicate(Locator_ptr object) { return kairos::corba::duplicate(object); }
    static Locator_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<Locator>(object);
    }
    static Locator_ptr _nil() { return nullptr; }

    /// An object URL, which the caller owns, for a key that some client has: any octets but NUL.
    /// Called while a request waits. May throw NotFound.
    virtual char* locate(const char* object_key) = 0;

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
    }

  protected:
    Locator() = default;
};

class Table;
typedef Table* Table_ptr;
typedef kairos::mapping::ObjectVar<Table> Table_var;

/// resolve_initial_references("IORTable"). Requests for its names are answered from when the first
/// POAManager of the ORB is activated on, whatever states POAManagers are in later.
class KAIROS_API Table : public virtual CORBA::LocalObject {
  public:
    typedef Table_ptr _ptr_type;
    typedef Table_var _var_type;
    static constexpr const char* _kairos_id = "IDL:IORTable/Table:1.0";

    static Table_ptr _duplicate(Table_ptr object) { return kairos::corba::duplicate(object); }
    static Table_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<Table>(object);
    }
    static Table_ptr _nil() { return nullptr; }

    /// Binds a name to an object. `object_key` is the key itself: in a URL it may have to be
    /// escaped. `ior` is any object URL of an object that has an address. Throws AlreadyBound,
    /// BAD_PARAM for nil, local objects and the name itself, and what string_to_object throws.
    void bind(const char* object_key, const char* ior);
    /// Binds the name to this object, instead of what it was bound to, if anything. `object_key` is
    /// the key itself and `ior` any object URL, as of bind(); throws as bind(), but AlreadyBound.
    void rebind(const char* object_key, const char* ior);
    /// Removes a name. Clients that were sent to its object stay there. Throws NotFound.
    void unbind(const char* object_key);
    /// Sets whom requests for names that are not bound ask; nil for nobody.
    void set_locator(Locator_ptr the_locator);

    bool _kairos_supports(std::string_view repository_id) const override;

    /// Made by resolve_initial_references.
    explicit Table(CORBA::ORB_ptr orb);

  private:
    kairos::ior::Ior target_of(std::string_view object_key, const char* ior) const;

    const CORBA::ORB_var orb_;
    kairos::poa::ForwardTable& forwards_; // the core's, which the ORB keeps
};

} // namespace IORTable
