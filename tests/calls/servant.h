// SPDX-License-Identifier: Apache-2.0
//
// The servant of Echo: every echo returns `a`, passes `b` on as `c` and `a` back as `b`, so that a
// value lost in any direction is missed. Plain mapping code, for any ORB. Any thread.
#pragma once

#include "kinds.h"
#include "peer_orb.h"

#include <functional>
#include <mutex>

namespace calls {

/// What oneway operations of Echo ask of the program.
struct Commands {
    std::function<void()> shut_down; ///< in order
    std::function<void()> die;       ///< at once
};

class EchoServant : public POA_Types::Echo {
  public:
    EchoServant(CORBA::ORB_ptr orb, PortableServer::POA_ptr poa, Commands commands)
        : orb_(CORBA::ORB::_duplicate(orb)), poa_(PortableServer::POA::_duplicate(poa)),
          commands_(std::move(commands))
    {
    }

    // One function for each way that the mapping passes values.
#define ECHO_BASIC(T)                                                                              \
    Types::T echo_##T(Types::T a, Types::T& b, Types::T& c) override                               \
    {                                                                                              \
        c = b;                                                                                     \
        b = a;                                                                                     \
        return a;                                                                                  \
    }
#define ECHO_FIXED(T)                                                                              \
    Types::T echo_##T(const Types::T& a, Types::T& b, Types::T& c) override                        \
    {                                                                                              \
        c = b;                                                                                     \
        b = a;                                                                                     \
        return a;                                                                                  \
    }
#define ECHO_STRING(T)                                                                             \
    char* echo_##T(const char* a, char*& b, CORBA::String_out c) override                          \
    {                                                                                              \
        c = CORBA::string_dup(b);                                                                  \
        CORBA::string_free(b);                                                                     \
        b = CORBA::string_dup(a);                                                                  \
        return CORBA::string_dup(a);                                                               \
    }
#define ECHO_VARIABLE(T)                                                                           \
    Types::T* echo_##T(const Types::T& a, Types::T& b, Types::T##_out c) override                  \
    {                                                                                              \
        c = new Types::T(b);                                                                       \
        b = a;                                                                                     \
        return new Types::T(a);                                                                    \
    }
#define ECHO_REFERENCE(T)                                                                          \
    Types::T##_ptr echo_##T(Types::T##_ptr a, Types::T##_ptr& b, Types::T##_out c) override        \
    {                                                                                              \
        c = Types::T::_duplicate(b);                                                               \
        CORBA::release(b);                                                                         \
        b = Types::T::_duplicate(a);                                                               \
        return Types::T::_duplicate(a);                                                            \
    }
#define ECHO_FIXED_ARRAY(T)                                                                        \
    Types::T##_slice* echo_##T(const Types::T a, Types::T b, Types::T c) override                  \
    {                                                                                              \
        Types::T##_copy(c, b);                                                                     \
        Types::T##_copy(b, a);                                                                     \
        return Types::T##_dup(a);                                                                  \
    }
#define ECHO_VARIABLE_ARRAY(T)                                                                     \
    Types::T##_slice* echo_##T(const Types::T a, Types::T b, Types::T##_out c) override            \
    {                                                                                              \
        c = Types::T##_dup(b);                                                                     \
        Types::T##_copy(b, a);                                                                     \
        return Types::T##_dup(a);                                                                  \
    }
#define ECHO_SEQUENCES(T) ECHO_VARIABLE(T##_s) ECHO_VARIABLE(T##_s4) ECHO_VARIABLE(T##_ss)
#define ECHO_OF_FIXED(T) ECHO_FIXED_ARRAY(T##_3) ECHO_FIXED_ARRAY(T##_2x3) ECHO_SEQUENCES(T)
#define ECHO_OF_VARIABLE(T)                                                                        \
    ECHO_VARIABLE_ARRAY(T##_3) ECHO_VARIABLE_ARRAY(T##_2x3) ECHO_SEQUENCES(T)

#define BASIC(T) ECHO_BASIC(T) ECHO_OF_FIXED(T)
#define FIXED(T) ECHO_FIXED(T) ECHO_OF_FIXED(T)
#define STRING(T) ECHO_STRING(T) ECHO_OF_VARIABLE(T)
#define VARIABLE(T) ECHO_VARIABLE(T) ECHO_OF_VARIABLE(T)
#define REFERENCE(T) ECHO_REFERENCE(T) ECHO_OF_VARIABLE(T)
    KINDS
#undef BASIC
#undef FIXED
#undef STRING
#undef VARIABLE
#undef REFERENCE
    ECHO_FIXED(Wrapped)
    ECHO_VARIABLE(Node)
    ECHO_VARIABLE(Tree)
    ECHO_VARIABLE(Wrapped_s)
    ECHO_VARIABLE(I32_3_s)
    ECHO_VARIABLE(Point_3_s)
    ECHO_VARIABLE(Name_3_s)
    ECHO_VARIABLE(PersonsAgain)
#ifndef NO_LONG_DOUBLE
    ECHO_VARIABLE(F128Structs)
#endif

    // Root.
    char* label() override { return CORBA::string_dup("echo"); }
    void refuse(const char* why) override { throw Types::Root::Refused(why); }
    CORBA::ULong sum(CORBA::ULong a, CORBA::ULong b) override { return a + b; }

    // Attributes.
    Types::I32 number() override { return locked(number_); }
    void number(Types::I32 value) override { assign(number_, value); }
    Types::Shape figure() override { return locked(figure_); }
    void figure(const Types::Shape& value) override { assign(figure_, value); }
    char* title() override
    {
        const std::lock_guard lock(mutex_);
        return CORBA::string_dup(title_.in());
    }
    void title(const char* value) override { assign(title_, CORBA::string_dup(value)); }
    Types::Person* owner() override { return new Types::Person(locked(owner_)); }
    void owner(const Types::Person& value) override { assign(owner_, value); }
    Types::I32_3_slice* vector() override
    {
        const std::lock_guard lock(mutex_);
        return Types::I32_3_dup(vector_);
    }
    void vector(const Types::I32_3 value) override
    {
        const std::lock_guard lock(mutex_);
        Types::I32_3_copy(vector_, value);
    }
    Types::Name_3_slice* names() override
    {
        const std::lock_guard lock(mutex_);
        return Types::Name_3_dup(names_);
    }
    void names(const Types::Name_3 value) override
    {
        const std::lock_guard lock(mutex_);
        Types::Name_3_copy(names_, value);
    }
    Types::Echo_ptr neighbour() override
    {
        const std::lock_guard lock(mutex_);
        return Types::Echo::_duplicate(neighbour_.in());
    }
    void neighbour(Types::Echo_ptr value) override
    {
        assign(neighbour_, Types::Echo::_duplicate(value));
    }
    Types::Point_s* points() override { return new Types::Point_s(locked(points_)); }
    void points(const Types::Point_s& value) override { assign(points_, value); }
    Types::Color mood() override { return Types::blue; }

    // Echo.
    void nothing() override {}
    void note(CORBA::ULong number, const char* text) override;
    CORBA::ULong notes() override { return locked(notes_); }
    char* last_note() override
    {
        const std::lock_guard lock(mutex_);
        return CORBA::string_dup(last_note_.in());
    }
    CORBA::Double mixed(CORBA::Octet a, CORBA::Double b, const char* c, CORBA::Short d,
                        const Types::Shape& e, CORBA::Octet& f, CORBA::Double& g,
                        CORBA::String_out h, Types::Point_s_out i, CORBA::Boolean& j) override;
    void throw_plain() override { throw Types::Plain(); }
    void throw_full(CORBA::Long number, const Types::Person& who, Types::Echo_ptr where) override;
    void throw_unlisted() override { throw Types::Root::Refused("not in the raises clause"); }
    void throw_system(const char* which, CORBA::ULong minor, CORBA::ULong completed) override;
    void throw_foreign() override { throw 42; }
    Types::Byte_s* large(CORBA::ULong size) override;
    CORBA::ULong checksum(const Types::Byte_s& bytes) override;
    char* long_text(CORBA::ULong size) override;
    Types::Echo_ptr make_object() override;
    void remove_object(Types::Echo_ptr victim) override;
    CORBA::ULong call_back(Types::Root_ptr target, CORBA::ULong a, CORBA::ULong b) override
    {
        return target->sum(a, b);
    }
    CORBA::Boolean same_object(CORBA::Object_ptr a, CORBA::Object_ptr b) override;
    void shut_down() override { commands_.shut_down(); }
    void die() override { commands_.die(); }

    PortableServer::POA_ptr _default_POA() override
    {
        return PortableServer::POA::_duplicate(poa_.in());
    }

  private:
    template <typename T>
    T locked(const T& value)
    {
        const std::lock_guard lock(mutex_);
        return value;
    }
    template <typename T, typename U>
    void assign(T& place, const U& value)
    {
        const std::lock_guard lock(mutex_);
        place = value;
    }

    const CORBA::ORB_var orb_;
    const PortableServer::POA_var poa_;
    const Commands commands_;
    std::mutex mutex_; // guards what follows
    Types::I32 number_ = 0;
    Types::Shape figure_{};
    CORBA::String_var title_ = CORBA::string_dup("");
    Types::Person owner_{};
    Types::I32_3 vector_{};
    Types::Name_3 names_;
    Types::Echo_var neighbour_;
    Types::Point_s points_;
    CORBA::ULong notes_ = 0;
    CORBA::String_var last_note_ = CORBA::string_dup("");
};

/// The octet at `index` of what `large` returns; `checksum` of it is known, too.
inline CORBA::Octet large_octet(CORBA::ULong index)
{
    return static_cast<CORBA::Octet>(index * 2654435761u >> 24);
}
CORBA::ULong checksum_of(const CORBA::Octet* octets, CORBA::ULong count);

} // namespace calls
