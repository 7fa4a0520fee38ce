// SPDX-License-Identifier: Apache-2.0
#include "kairos/cdr/writer.h"

namespace kairos::cdr {

void Writer::grow(std::size_t needed)
{
    const std::size_t used = position();
    buffer_.reserve(used + needed + slack, used);
    cursor_ = buffer_.data() + used;
    end_ = buffer_.data() + buffer_.capacity() - slack;
}

} // namespace kairos::cdr
