// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/sequence.h"

namespace kairos::mapping {

template class PointerStorage<StringElements<0>>;
template class SequenceBase<PointerStorage<StringElements<0>>>;

} // namespace kairos::mapping
