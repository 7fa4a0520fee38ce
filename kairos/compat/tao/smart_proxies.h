// SPDX-License-Identifier: Apache-2.0
//
// What `kairos-idl --smart-proxies` (tao_idl -Gsp) generates stands on. A smart proxy is an object
// of the program's in the place of a stub: it has the stub's reference, so it is passed, compared
// and asked like it, and the operations that the program overrides. Nothing of it is in a library.
#pragma once

#include "kairos/base/export.h"
#include "kairos/compat/tao/synch.h"
#include "kairos/corba/stub.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

/// The one object of a class in the process: made when it is first asked for, never destroyed.
/// Safe in any thread, whatever the lock.
template <typename Type, typename Lock>
class KAIROS_API TAO_Singleton {
  public:
    static Type* instance()
    {
        static Type* const one = new Type;
        return one;
    }
};

/// What all smart proxies derive from. Programs construct it by its name, `: TAO_Smart_Proxy_Base
/// (proxy)`, in each class of which they make objects; it takes the proxy over.
class KAIROS_API TAO_Smart_Proxy_Base : public virtual CORBA::Object {
  protected:
    TAO_Smart_Proxy_Base() = default;
    explicit TAO_Smart_Proxy_Base(CORBA::Object_ptr proxy) : base_proxy_(proxy) {}

    /// What calls go to that are not overridden: the stub.
    CORBA::Object_var base_proxy_;
};

namespace kairos::compat::tao {

/// The reference of what a smart proxy stands in front of. Throws BAD_PARAM for nil and for local
/// objects.
[[nodiscard]] inline corba::StubArgument reference_behind(CORBA::Object_ptr proxy)
{
    if (CORBA::is_nil(proxy) || !proxy->_kairos_reference())
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a smart proxy of no remote object");
    return proxy->_kairos_reference();
}

/// Which factory an interface's references are given to when they are narrowed. Any thread may use
/// it; no lock is held while a factory is called or deleted.
template <typename Interface, typename Factory>
class KAIROS_API ProxyFactories {
  public:
    /// Takes the factory over; the one before is deleted, once nobody is in it. With
    /// `one_shot_factory` it stays, else until a proxy of the interface is called for its first
    /// time. Null: no factory.
    void register_proxy_factory(Factory* factory, bool one_shot_factory = true)
    {
        std::shared_ptr<Owner> before; // goes behind the lock
        const std::lock_guard lock(mutex_);
        stays_ = one_shot_factory;
        if (owner_ != nullptr && owner_->factory.get() == factory) return; // its constructor did it
        before =
            std::exchange(owner_, factory == nullptr ? nullptr : std::make_shared<Owner>(factory));
    }

    void unregister_proxy_factory() { register_proxy_factory(nullptr); }

    /// What the program has instead of this new reference: itself where there is no factory, and
    /// where it is a smart proxy, or a local object. Takes the reference over; the caller owns the
    /// result.
    [[nodiscard]] Interface* create_proxy(Interface* proxy)
    {
        if (proxy == nullptr || !proxy->_kairos_reference() ||
            dynamic_cast<TAO_Smart_Proxy_Base*>(proxy) != nullptr)
            return proxy;
        const std::shared_ptr<Owner> owner = current();
        return owner == nullptr ? proxy : owner->factory->create_proxy(proxy);
    }

    /// A smart proxy is called for the first time.
    void proxy_used()
    {
        std::shared_ptr<Owner> gone;
        const std::lock_guard lock(mutex_);
        if (!stays_) owner_.swap(gone);
    }

    /// The factory is being destroyed, by whomever.
    void forget(const Factory* factory) noexcept
    {
        std::shared_ptr<Owner> gone;
        const std::lock_guard lock(mutex_);
        if (owner_ == nullptr || owner_->factory.get() != factory) return;
        static_cast<void>(owner_->factory.release());
        owner_.swap(gone);
    }

  private:
    struct Owner {
        explicit Owner(Factory* which) : factory(which) {}
        std::unique_ptr<Factory> factory;
    };

    [[nodiscard]] std::shared_ptr<Owner> current()
    {
        const std::lock_guard lock(mutex_);
        return owner_;
    }

    std::mutex mutex_; // guards the members below; inside nothing
    std::shared_ptr<Owner> owner_;
    bool stays_ = true;
};

/// What a generated smart proxy calls where nothing is overridden: an Interface's stub.
template <typename Interface, typename Factories>
class KAIROS_API ProxyBehind {
  public:
    /// Borrows the stub, which the smart proxy owns.
    explicit ProxyBehind(CORBA::Object_ptr proxy)
        : proxy_(corba::unchecked_narrow<Interface>(proxy))
    {
    }
    /// The stub. Throws INV_OBJREF for a smart proxy that was made without one.
    [[nodiscard]] Interface* get()
    {
        if (!called_.load(std::memory_order_relaxed) &&
            !called_.exchange(true, std::memory_order_relaxed))
            Factories::instance()->proxy_used();
        if (CORBA::is_nil(proxy_.in()))
            throw CORBA::INV_OBJREF(0, CORBA::COMPLETED_NO, "a smart proxy of nothing");
        return proxy_.in();
    }

  private:
    const mapping::ObjectVar<Interface> proxy_;
    std::atomic<bool> called_{false}; // any thread that calls the smart proxy
};

} // namespace kairos::compat::tao

// CORBA::Object is a virtual base, which only the class of the whole object can construct: the
// program's, whose constructor names TAO's class alone. The argument is evaluated twice.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define TAO_Smart_Proxy_Base(proxy)                                                                \
    CORBA::Object(::kairos::compat::tao::reference_behind(proxy)), TAO_Smart_Proxy_Base(proxy)
