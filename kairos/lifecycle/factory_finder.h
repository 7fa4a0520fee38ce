// SPDX-License-Identifier: Apache-2.0
//
// Where factories are found (Life Cycle Service 1.2, 1.3.1): a place to copy and move objects to.
// Servants: activate them in any POA. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/lifecycle/CosLifeCycle_skel.h"
#include "kairos/naming/CosNaming.h"

#include <mutex>
#include <vector>

namespace kairos::lifecycle {

/// Finds those of a few factories that support a key.
class KAIROS_API FactoryFinder : public virtual POA_CosLifeCycle::FactoryFinder {
  public:
    /// Adds a factory, which is asked last of all.
    void add(CosLifeCycle::GenericFactory_ptr factory);

    /// Returns the factories that say they support the key; leaves out those that do not answer.
    /// Throws NoFactory if none is left.
    CosLifeCycle::Factories* find_factories(const CosLifeCycle::Key& factory_key) override;

  private:
    std::mutex mutex_; // guards factories_
    std::vector<CosLifeCycle::GenericFactory_var> factories_;
};

/// Finds what is bound to the key as a name in a naming context; where that is a context, the
/// objects bound in it.
class KAIROS_API NamingFactoryFinder : public virtual POA_CosLifeCycle::FactoryFinder {
  public:
    /// `context` is duplicated.
    explicit NamingFactoryFinder(CosNaming::NamingContext_ptr context);

    CosLifeCycle::Factories* find_factories(const CosLifeCycle::Key& factory_key) override;

  private:
    const CosNaming::NamingContext_var context_;
};

} // namespace kairos::lifecycle
