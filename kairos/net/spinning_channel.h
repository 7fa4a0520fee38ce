// SPDX-License-Identifier: Apache-2.0
//
// A socket whose reader asks again and again for a while before it waits (-ORBSpin): the wake-up of
// a thread, which takes longer than many an answer, is saved.
#pragma once

#include "kairos/net/descriptor_channel.h"
#include "kairos/net/spin.h"
#include "kairos/net/spin_history.h"

#include <optional>

namespace kairos::net {

class SpinningChannel final : public DescriptorChannel {
  public:
    /// `descriptor` is the socket's, which owns this. Spins always, or where that has paid.
    SpinningChannel(int descriptor, std::chrono::microseconds spin, bool learns) noexcept
        : DescriptorChannel(descriptor), spin_(spin)
    {
        if (learns) history_.emplace();
    }

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override;
    IoResult wait_readable(Deadline deadline) noexcept override;

  private:
    template <typename Ready>
    [[nodiscard]] bool until(Ready ready) noexcept;

    Spin spin_; // of who reads
    std::optional<SpinHistory> history_;
};

} // namespace kairos::net
