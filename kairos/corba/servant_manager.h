// SPDX-License-Identifier: Apache-2.0
//
// What programs implement to be asked for servants and adapters (CORBA 3.3 part 1, 15.3.5 to
// 15.3.7; C++ mapping 5.38). Local interfaces: a program's class derives from one of them and
// belongs to whoever holds a reference.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/servant.h"
#include "kairos/mapping/exception.h"

namespace PortableServer {

/// Thrown by a servant manager: the client is to call this object, now and from then on.
class KAIROS_API ForwardRequest final : public CORBA::UserException {
  public:
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/ForwardRequest:1.0";

    CORBA::Object_var forward_reference;

    ForwardRequest() = default;
    /// Gains an owner of the reference.
    explicit ForwardRequest(CORBA::Object_ptr reference)
        : forward_reference(CORBA::Object::_duplicate(reference))
    {
    }
    [[noreturn]] void _raise() const override { throw *this; }
    [[nodiscard]] const char* _name() const noexcept override { return "ForwardRequest"; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return _kairos_id; }
    [[nodiscard]] CORBA::Exception* _duplicate() const override
    {
        return new ForwardRequest(*this);
    }
    void _marshal(kairos::cdr::Writer& out) const override;
    static ForwardRequest* _downcast(CORBA::Exception* exception)
    {
        return dynamic_cast<ForwardRequest*>(exception);
    }
    static const ForwardRequest* _downcast(const CORBA::Exception* exception)
    {
        return dynamic_cast<const ForwardRequest*>(exception);
    }
};

class ServantManager;
typedef ServantManager* ServantManager_ptr;
typedef kairos::mapping::ObjectVar<ServantManager> ServantManager_var;
typedef kairos::mapping::ObjectOut<ServantManager> ServantManager_out;

class KAIROS_API ServantManager : public virtual CORBA::LocalObject {
  public:
    typedef ServantManager_ptr _ptr_type;
    typedef ServantManager_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/ServantManager:1.0";

    static ServantManager_ptr _duplicate(ServantManager_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static ServantManager_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<ServantManager>(object);
    }
    static ServantManager_ptr _nil() { return nullptr; }

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
    }

  protected:
    ServantManager() = default;
};

class ServantActivator;
typedef ServantActivator* ServantActivator_ptr;
typedef kairos::mapping::ObjectVar<ServantActivator> ServantActivator_var;
typedef kairos::mapping::ObjectOut<ServantActivator> ServantActivator_out;

/// Makes servants for objects that are not active; the objects stay active then. Calls of one
/// activator never overlap.
class KAIROS_API ServantActivator : public virtual ServantManager {
  public:
    typedef ServantActivator_ptr _ptr_type;
    typedef ServantActivator_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/ServantActivator:1.0";

    static ServantActivator_ptr _duplicate(ServantActivator_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static ServantActivator_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<ServantActivator>(object);
    }
    static ServantActivator_ptr _nil() { return nullptr; }

    /// Returns a servant for the object `oid`; the POA takes over an owner of it. May throw
    /// ForwardRequest.
    virtual Servant incarnate(const ObjectId& oid, POA_ptr adapter) = 0;
    /// The object `oid` is not active any more: takes over the POA's owner of its servant.
    /// `_remove_ref` is the least to do.
    virtual void etherealize(const ObjectId& oid, POA_ptr adapter, Servant serv,
                             CORBA::Boolean cleanup_in_progress,
                             CORBA::Boolean remaining_activations) = 0;

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || ServantManager::_kairos_supports(repository_id);
    }

  protected:
    ServantActivator() = default;
};

class ServantLocator;
typedef ServantLocator* ServantLocator_ptr;
typedef kairos::mapping::ObjectVar<ServantLocator> ServantLocator_var;
typedef kairos::mapping::ObjectOut<ServantLocator> ServantLocator_out;

/// Finds a servant for each request.
class KAIROS_API ServantLocator : public virtual ServantManager {
  public:
    typedef ServantLocator_ptr _ptr_type;
    typedef ServantLocator_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/ServantLocator:1.0";
    typedef void* Cookie;

    static ServantLocator_ptr _duplicate(ServantLocator_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static ServantLocator_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<ServantLocator>(object);
    }
    static ServantLocator_ptr _nil() { return nullptr; }

    /// Returns the servant for one request; it stays the locator's. `the_cookie` goes to
    /// postinvoke. May throw ForwardRequest. LocateRequests ask for the operation "_non_existent".
    virtual Servant preinvoke(const ObjectId& oid, POA_ptr adapter, const char* operation,
                              Cookie& the_cookie) = 0;
    /// Called after the request that preinvoke found a servant for, in the same thread, whatever
    /// became of it. The client gets the exception that this throws, if any, instead of the reply.
    virtual void postinvoke(const ObjectId& oid, POA_ptr adapter, const char* operation,
                            Cookie the_cookie, Servant the_servant) = 0;

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || ServantManager::_kairos_supports(repository_id);
    }

  protected:
    ServantLocator() = default;
};

class AdapterActivator;
typedef AdapterActivator* AdapterActivator_ptr;
typedef kairos::mapping::ObjectVar<AdapterActivator> AdapterActivator_var;
typedef kairos::mapping::ObjectOut<AdapterActivator> AdapterActivator_out;

/// Makes POAs when they are first needed.
class KAIROS_API AdapterActivator : public virtual CORBA::LocalObject {
  public:
    typedef AdapterActivator_ptr _ptr_type;
    typedef AdapterActivator_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/AdapterActivator:1.0";

    static AdapterActivator_ptr _duplicate(AdapterActivator_ptr object)
    {
        return kairos::corba::duplicate(object);
    }
    static AdapterActivator_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<AdapterActivator>(object);
    }
    static AdapterActivator_ptr _nil() { return nullptr; }

    /// Makes the child of this name, if it can; returns whether it did.
    virtual CORBA::Boolean unknown_adapter(POA_ptr parent, const char* name) = 0;

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
    }

  protected:
    AdapterActivator() = default;
};

} // namespace PortableServer
