// SPDX-License-Identifier: Apache-2.0
//
// What programs have done when an ORB begins and has ended.
#pragma once

#include "omniORB4/omniORB.h"

namespace omni {

/// Told of the ORBs that the layer's ORB_init makes. Lasts as long as the process.
class KAIROS_API omniInitialiser {
  public:
    /// An ORB is there, and ORB_init about to return it. What it throws comes out of ORB_init.
    virtual void attach() = 0;
    /// An ORB that this was attached for has ended: its destroy() is about to return.
    virtual void detach() = 0;

    /// Has an initialiser hear of the ORBs made from now on, the first that was installed first,
    /// and of their ends. Any thread.
    static void install(omniInitialiser* initialiser);

  protected:
    ~omniInitialiser() = default;
};

} // namespace omni
