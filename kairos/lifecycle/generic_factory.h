// SPDX-License-Identifier: Apache-2.0
//
// A factory for several kinds of objects, each under a key of its own (Life Cycle Service 1.2,
// 1.3.3): it makes them itself or has another factory do it. A servant: activate it in any POA. Any
// thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/lifecycle/CosLifeCycle_skel.h"
#include "kairos/lifecycle/criteria.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace kairos::lifecycle {

class KAIROS_API GenericFactory : public virtual POA_CosLifeCycle::GenericFactory {
  public:
    /// Makes an object from what the criterion "initialization" holds, and returns a reference that
    /// the caller will own. May throw CannotMeetCriteria and InvalidCriteria.
    using Maker = std::function<CORBA::Object_ptr(const CosLifeCycle::Criteria& initialization)>;

    /// `location`: where its objects are. Of a criterion "logical location" every value must be
    /// among these, as a string.
    explicit GenericFactory(CosLifeCycle::Criteria location = {});

    /// From now on `maker` makes the objects of this key, and whatever did so before does not.
    /// Throws CosNaming::NamingContext::InvalidName for a key without components.
    void offer(const CosLifeCycle::Key& key, Maker maker);
    /// From now on `other`, asked with the client's key and criteria, makes the objects of this
    /// key, and whatever did so before does not. Throws CosNaming::NamingContext::InvalidName for a
    /// key without components.
    void offer(const CosLifeCycle::Key& key, CosLifeCycle::GenericFactory_ptr other);
    /// From now on nothing makes objects of this key.
    void withdraw(const CosLifeCycle::Key& key);

    CORBA::Boolean supports(const CosLifeCycle::Key& k) override;
    /// A filter cannot be met: the service says no language for it. Preferences have no choice
    /// here.
    CORBA::Object_ptr create_object(const CosLifeCycle::Key& k,
                                    const CosLifeCycle::Criteria& the_criteria) override;

  private:
    /// What makes the objects of this key; null if nothing does.
    [[nodiscard]] Maker maker_of(const CosLifeCycle::Key& key);
    [[nodiscard]] CosLifeCycle::GenericFactory_ptr other_for(const CosLifeCycle::Key& key);
    void check(const CosLifeCycle::Criteria& criteria, const Wishes& wishes) const;

    const CosLifeCycle::Criteria location_;
    std::mutex mutex_;                                               // guards what follows
    std::map<std::string, Maker> makers_;                            // by the key as text
    std::map<std::string, CosLifeCycle::GenericFactory_var> others_; // by keys not in makers_
};

} // namespace kairos::lifecycle
