// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/interpreted.h"

#include "kairos/corba/invocation.h"
#include "kairos/orb/upcall.h"
#include "kairos/types/interpreter.h"

namespace kairos::corba {
namespace {

using types::Op;
using types::Table;

constexpr unsigned passing_mask = 3;
constexpr unsigned way_mask = 12;
constexpr std::size_t parameters_max = 255;

[[nodiscard]] Passing passing_of(unsigned form) noexcept { return Passing(form & passing_mask); }
[[nodiscard]] Way way_of(unsigned form) noexcept { return Way(form & way_mask); }

// --- Client ------------------------------------------------------------------------------------

/// Results that belong to the call until all of them have been read.
class Results {
  public:
    Results(const Signature& signature, void* const* arguments)
        : signature_(signature), arguments_(arguments)
    {
    }
    Results(const Results&) = delete;
    Results& operator=(const Results&) = delete;
    ~Results()
    {
        for (std::size_t i = 0; i < decoded_; ++i)
            give_up(i);
    }

    void decode(cdr::Reader& in)
    {
        for (std::size_t i = 0; i < signature_.count; ++i) {
            const Table& table = *signature_.tables()[i];
            const unsigned form = signature_.form(i);
            slots_[i] = nullptr;
            decoded_ = i + 1;
            if (way_of(form) == Way::in) continue;
            switch (passing_of(form)) {
            case Passing::value:
                types::decode(in, table, arguments_[i]);
                break;
            case Passing::owned:
                types::decode(in, table, &slots_[i]);
                break;
            case Passing::pointer:
                slots_[i] = types::new_value(table);
                types::decode(in, table, slots_[i]);
                break;
            }
        }
    }
    /// To the caller: nothing can fail any more.
    void hand_over() noexcept
    {
        for (std::size_t i = 0; i < decoded_; ++i) {
            const unsigned form = signature_.form(i);
            if (way_of(form) == Way::in || passing_of(form) == Passing::value) continue;
            if (way_of(form) == Way::inout)
                types::destroy_value(*signature_.tables()[i], arguments_[i]);
            *static_cast<void**>(arguments_[i]) = slots_[i];
        }
        decoded_ = 0;
    }

  private:
    [[gnu::cold]] void give_up(std::size_t index) noexcept
    {
        const Table& table = *signature_.tables()[index];
        const unsigned form = signature_.form(index);
        if (way_of(form) == Way::in) return;
        if (passing_of(form) == Passing::owned) types::destroy_value(table, &slots_[index]);
        if (passing_of(form) == Passing::pointer) types::delete_value(table, slots_[index]);
    }

    const Signature& signature_;
    void* const* arguments_;
    std::size_t decoded_ = 0;
    void* slots_[parameters_max]; // as many as are decoded are set
};

// --- Server ------------------------------------------------------------------------------------

/// The parameters of one request while it is served.
class Parameters {
  public:
    Parameters(orb::Upcall& upcall, const Signature& signature)
        : upcall_(upcall), signature_(signature)
    {
    }
    Parameters(const Parameters&) = delete;
    Parameters& operator=(const Parameters&) = delete;
    ~Parameters()
    {
        while (made_ != 0)
            destroy(--made_);
    }

    [[nodiscard]] void* const* arguments() const noexcept { return arguments_; }

    void decode()
    {
        cdr::Reader& in = upcall_.in();
        for (std::size_t i = 0; i < signature_.count; ++i) {
            const Table& table = *signature_.tables()[i];
            const unsigned form = signature_.form(i);
            const bool is_value = passing_of(form) == Passing::value;
            void* const place = allocate(is_value ? table.size : sizeof(void*));
            arguments_[i] = place;
            if (!is_value) {
                *static_cast<void**>(place) = nullptr;
            } else if (!is_view(table, form) && (!table.is_trivial || table.op == Op::functions ||
                                                 way_of(form) == Way::out)) {
                types::construct_value(table, place);
            }
            made_ = i + 1;
            if (way_of(form) == Way::out) continue;
            types::decode(in, table, place, is_view(table, form) ? &upcall_.arena() : nullptr);
        }
    }
    void encode()
    {
        cdr::Writer& out = upcall_.out();
        for (std::size_t i = 0; i < signature_.count; ++i) {
            const unsigned form = signature_.form(i);
            if (way_of(form) == Way::in) continue;
            const void* value = arguments_[i];
            if (passing_of(form) == Passing::pointer) {
                value = *static_cast<const void* const*>(value);
                if (value == nullptr) mapping::raise_null_result();
            }
            types::encode(out, *signature_.tables()[i], value);
        }
    }

  private:
    [[nodiscard]] void* allocate(std::size_t size)
    {
        const std::size_t aligned = align_up(size, alignof(std::max_align_t));
        if (aligned <= sizeof frame_ - used_) {
            void* const place = frame_ + used_;
            used_ += aligned;
            return place;
        }
        const std::size_t count = (size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
        return upcall_.arena().allocate<std::max_align_t>(count);
    }

    /// Made by decoding it, and not to be destroyed.
    [[nodiscard]] static bool is_view(const Table& table, unsigned form) noexcept
    {
        return table.is_viewable && way_of(form) == Way::in;
    }

    void destroy(std::size_t index) noexcept
    {
        const Table& table = *signature_.tables()[index];
        const unsigned form = signature_.form(index);
        void* const place = arguments_[index];
        if (passing_of(form) == Passing::pointer)
            return types::delete_value(table, *static_cast<void**>(place));
        if (is_view(table, form)) return;
        types::destroy_value(table, place);
    }

    orb::Upcall& upcall_;
    const Signature& signature_;
    std::size_t made_ = 0;
    std::size_t used_ = 0;
    void* arguments_[parameters_max]; // those made are set
    alignas(std::max_align_t) std::byte frame_[512];
};

template <typename Invoke>
[[gnu::always_inline]] inline void call_by(CORBA::Object& target, const Signature& signature,
                                           const void* const* arguments, Invoke invoke)
{
    Invocation invocation(target, signature.operation);
    for (std::size_t i = 0; i < signature.count; ++i)
        if (way_of(signature.form(i)) != Way::out)
            types::encode(invocation.out(), *signature.tables()[i], arguments[i]);
    invoke(invocation);
    if (signature.operation.response() == orb::Response::none) return;
    Results results(signature, const_cast<void* const*>(arguments));
    results.decode(invocation.in());
    invocation.finish();
    results.hand_over();
}

} // namespace

void call(CORBA::Object& target, const Signature& signature, const void* const* arguments)
{
    call_by(target, signature, arguments, [](Invocation& invocation) { invocation.invoke(); });
}

void call(CORBA::Object& target, const Signature& signature, const void* const* arguments,
          std::int64_t deadline_ns)
{
    call_by(target, signature, arguments,
            [deadline_ns](Invocation& invocation) { invocation.invoke_within(deadline_ns); });
}

void call(CORBA::Object& target, const void* first, const void* second, const void* third,
          const void* fourth, const Signature& signature)
{
    const void* const arguments[] = {first, second, third, fourth};
    call(target, signature, arguments);
}

void* call_for_pointer(CORBA::Object& target, const void* first, const void* second,
                       const void* third, const void* fourth, const Signature& signature)
{
    void* result = nullptr;
    const void* const arguments[] = {&result, first, second, third, fourth};
    call(target, signature, arguments);
    return result;
}

void serve(orb::Upcall& upcall, const Signature& signature, Thunk thunk, void* servant)
{
    Parameters parameters(upcall, signature);
    parameters.decode();
    if (signature.operation.response() == orb::Response::none)
        upcall.oneway_arguments_read();
    else
        upcall.arguments_read(signature.operation.exceptions());
    thunk(servant, parameters.arguments());
    parameters.encode();
    upcall.reply();
}

} // namespace kairos::corba
