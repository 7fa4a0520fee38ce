// SPDX-License-Identifier: Apache-2.0
//
// What a store says in the log. Clients repeat what fails: each line once, and few, until a change
// succeeds. Any thread.
#pragma once

#include "kairos/base/log.h"
#include "kairos/base/shown.h"
#include "kairos/ior/name.h"
#include "kairos/nameserver/store.h"

#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace kairos::nameserver {

class StoreLog {
  public:
    explicit StoreLog(std::string store) : store_(std::move(store)) {}

    void say_once(const std::string& line)
    {
        constexpr std::size_t lines_max = 8;
        const std::lock_guard lock(mutex_);
        if (said_.size() == lines_max || !said_.insert(line).second) return;
        log::error("name server's store " + store_ + ": " + line +
                   (said_.size() == lines_max ? "; what else fails is not said" : ""));
    }
    void say_damaged(ContextId context, std::string_view id, std::string_view kind)
    {
        say_once("the row of " +
                 shown(ior::to_string(ior::NameComponent{std::string(id), std::string(kind)})) +
                 " in context " + std::to_string(context) + " is not as it was written");
    }
    /// From here on everything may be said again.
    void forget()
    {
        const std::lock_guard lock(mutex_);
        said_.clear();
    }

  private:
    const std::string store_;
    std::mutex mutex_; // guards said_; inside SqliteStore::writing_mutex_
    std::set<std::string> said_;
};

} // namespace kairos::nameserver
