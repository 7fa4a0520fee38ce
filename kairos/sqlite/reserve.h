// SPDX-License-Identifier: Apache-2.0
//
// Room on a disk that is kept for when it is full: a file beside the store, which holds nothing.
// Used by one thread at a time.
#pragma once

#include <cstddef>
#include <string>

namespace kairos::sqlite {

class Reserve {
  public:
    /// Of the file's owner alone; stays when this goes.
    Reserve(const std::string& path, std::size_t octets);
    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;
    ~Reserve();

    /// Gives the reserved room to whoever writes next.
    void release() noexcept;
    /// Reserves the room again, if there is any.
    void restore() noexcept;

  private:
    const std::size_t octets_;
    const int descriptor_; // or -1: there is none
    bool is_kept_ = false;
};

} // namespace kairos::sqlite
