// SPDX-License-Identifier: Apache-2.0
//
// What makes a servant's object one that can be copied, moved and removed (Life Cycle Service 1.2,
// 1.3.2). With an interface Document that derives from CosLifeCycle::LifeCycleObject:
//
//   class DocumentServant : public POA_Document, public kairos::lifecycle::LifeCycleObject { … };
//
// Any thread, as far as what the servant overrides allows.
#pragma once

#include "kairos/base/export.h"
#include "kairos/lifecycle/CosLifeCycle_skel.h"
#include "kairos/lifecycle/home.h"

namespace kairos::lifecycle {

class KAIROS_API LifeCycleObject : public virtual POA_CosLifeCycle::LifeCycleObject {
  public:
    /// Makes an equal object with the first factory at `there` that can, and returns it. A nil
    /// `there` means the home's finder. The initialization that `the_criteria` asks for goes before
    /// the object's own state, value by value. Factories that do not answer are passed over.
    CosLifeCycle::LifeCycleObject_ptr copy(CosLifeCycle::FactoryFinder_ptr there,
                                           const CosLifeCycle::Criteria& the_criteria) override;
    /// Makes an equal object at `there` and sends callers of this one to it. What another request
    /// changes here meanwhile is lost, unless the servant prevents it.
    void move(CosLifeCycle::FactoryFinder_ptr there,
              const CosLifeCycle::Criteria& the_criteria) override;
    /// Ends the object, and the servant with it when the last request has left it.
    void remove() override;

  protected:
    /// `home` must outlive the object and be where it is activated.
    explicit LifeCycleObject(Home& home) : home_(home) {}

    /// The key under which factories make such objects.
    [[nodiscard]] virtual CosLifeCycle::Key factory_key() = 0;
    /// What a factory needs to make an equal object.
    [[nodiscard]] virtual CosLifeCycle::Criteria state() = 0;

    /// Called first of all by copy(): an object that is not to be copied now throws NotCopyable.
    virtual void check_copyable() {}
    /// Called first of all by move(): an object that is not to be moved now throws NotMovable.
    virtual void check_movable() {}
    /// Called first of all by remove(): an object that is not to be removed now throws
    /// NotRemovable.
    virtual void check_removable() {}

  private:
    [[nodiscard]] CosLifeCycle::LifeCycleObject_ptr
    make_another(CosLifeCycle::FactoryFinder_ptr there, const CosLifeCycle::Criteria& criteria);

    Home& home_;
};

} // namespace kairos::lifecycle
