// SPDX-License-Identifier: Apache-2.0
//
// What the servants of a repository share.
#pragma once

#include "kairos/base/assert_held.h"
#include "kairos/codec/Codec.h"
#include "kairos/corba/CORBA.h"
#include "kairos/ir/ir.h"
#include "kairos/repository/model.h"
#include "kairos/repository/store.h"
#include "kairos/repository/type_codes.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace kairos::repository {

/// Throws what CORBA says of a refusal.
void require(Refusal refusal);

class State {
  public:
    State(CORBA::ORB_ptr orb, std::unique_ptr<Store> store, const Limits& limits);
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();

    /// One reading or writing of the model, during which nobody else has it. What comes from the
    /// program's references is read before, and no call leaves the process within.
    class Access {
      public:
        explicit Access(State& state) : lock_(state.mutex_), state_(state) {}

        [[nodiscard]] const Model& model() const noexcept { return state_.model_; }
        /// The definition of the object that is being called. Throws OBJECT_NOT_EXIST.
        [[nodiscard]] const Definition& called() const;
        /// Throws BAD_PARAM where there is none.
        [[nodiscard]] const Definition& definition(Key key) const;
        [[nodiscard]] CORBA::TypeCode_var type_code(Key key) const
        {
            return state_.type_codes_.of(key);
        }
        [[nodiscard]] CORBA::Object_var reference(Key key) const;
        template <typename T>
        [[nodiscard]] typename T::_ptr_type reference_to(Key key) const
        {
            if (key == nothing) return T::_nil();
            const CORBA::Object_var object = reference(key);
            return T::_unchecked_narrow(object.in());
        }

        // Throw what CORBA says of a refusal, TRANSIENT where the store does not work now, and
        // PERSIST_STORE where the change cannot be kept: then nothing has changed, unless it is
        // COMPLETED_MAYBE.
        [[nodiscard]] Key create(Definition definition);
        void change(const Definition& changed);
        void move(Key key, Key container, const char* name, const char* version);
        void destroy(Key key);
        /// The type that an argument means: the definition, or where that is nil the TypeCode.
        [[nodiscard]] Key type_of(Key definition, CORBA::TypeCode_ptr type);

        /// A constant's value, in the form in which the model has it, and back.
        [[nodiscard]] std::string encoded(const CORBA::Any& value) const;
        [[nodiscard]] CORBA::Any decoded(const std::string& value, CORBA::TypeCode_ptr type) const;
        /// Reads the labels of members into the model's.
        void read_labels(const CORBA::UnionMemberSeq& from, Key discriminator,
                         std::vector<Member>& to) const;

      private:
        void require_working() const;
        void begin_change();
        void keep(Refusal refusal);

        const std::unique_lock<std::mutex> lock_;
        State& state_;
        bool may_change_ = false; // the store was asked
    };

    /// The definition that an argument refers to; nothing for nil. Throws BAD_PARAM for an object
    /// that is not of this repository.
    [[nodiscard]] Key key_of(CORBA::Object_ptr object) const;
    [[nodiscard]] CORBA::Repository_ptr repository();
    [[nodiscard]] Model copy();

  private:
    void read();
    void read_again();
    void say_once(const std::string& line);

    const CORBA::ORB_var orb_;
    const Limits limits_;
    std::uint64_t identity_ = 0;
    std::array<PortableServer::POA_var, kinds_end> adapters_; // by kind
    CORBA::Object_var table_;                                 // if the repository is bound there
    IOP::Codec_var codec_;

    std::mutex mutex_; // guards what follows; outside those of the POAs and of the store
    Model model_;
    TypeCodes type_codes_;
    std::unique_ptr<Store> store_;
    std::unordered_map<Key, CORBA::Object_var> references_; // made before
    bool is_broken_ = false;                                // the model is not what the store has
    std::chrono::steady_clock::time_point read_at_{};       // the next time, if it is
    std::string said_;                                      // of the store, since it last worked
};

/// The servant of a kind of definitions. Null where there is none.
[[nodiscard]] PortableServer::Servant make_servant(Kind kind, State& state);
/// The most derived interface of a kind of definitions.
[[nodiscard]] const char* interface_id(Kind kind);

} // namespace kairos::repository
