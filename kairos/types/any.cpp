// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/any.h"

#include "kairos/cdr/codeset.h"
#include "kairos/cdr/environment.h"
#include "kairos/mapping/wstring.h"
#include "kairos/types/any_access.h"
#include "kairos/types/any_value.h"
#include "kairos/types/copy.h"
#include "kairos/types/interpreter.h"
#include "kairos/types/typecode_wire.h"

#include <algorithm>
#include <new>

namespace kairos::types {

// --- Received values ---------------------------------------------------------------------------

namespace {

/// `begin` is where the value's first byte is to be, modulo eight.
AnyBytes* allocate_bytes(std::size_t begin, std::size_t size)
{
    void* memory = ::operator new(sizeof(AnyBytes) + begin + size);
    auto* bytes = new (memory) AnyBytes;
    bytes->begin = static_cast<std::uint8_t>(begin);
    bytes->size = static_cast<std::uint32_t>(size);
    return bytes;
}

AnyBytes* share(AnyBytes* bytes) noexcept
{
    bytes->count.add();
    return bytes;
}

void release(AnyBytes* bytes) noexcept
{
    if (!bytes->count.drop()) return;
    if (bytes->orb_owner != nullptr) bytes->orb_owner->release();
    bytes->~AnyBytes();
    ::operator delete(bytes);
}

/// What lies in the writer, the parts included that it left where they were.
void gather(const cdr::Writer& out, std::byte* to)
{
    const Bytes bytes = out.contiguous();
    const std::size_t headroom = out.position() - bytes.size();
    std::size_t done = 0;
    for (const cdr::Writer::External& external : out.externals()) {
        const std::size_t until = external.position - headroom;
        to = std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(done),
                       bytes.begin() + static_cast<std::ptrdiff_t>(until), to);
        to = std::copy(external.bytes.begin(), external.bytes.end(), to);
        done = until;
    }
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(done), bytes.end(), to);
}

// --- Values of C++ types -----------------------------------------------------------------------

/// With room for a value of the class behind it, which is not constructed yet.
AnyValue* allocate_value(const ValueClass& of)
{
    void* memory = ::operator new(sizeof(AnyValue) + of.table->size);
    auto* node = new (memory) AnyValue{.of = &of};
    node->value = node + 1;
    return node;
}

void deallocate(AnyValue* node) noexcept
{
    node->~AnyValue();
    ::operator delete(node);
}

void destroy(AnyValue* node) noexcept
{
    if (node->value == node + 1) {
        node->of->destroy(node->value);
    } else {
        node->of->free(node->value);
    }
    deallocate(node);
}

AnyValue* copied(const ValueClass& of, const void* value)
{
    AnyValue* node = allocate_value(of);
    try {
        of.copy(node->value, value);
    } catch (...) {
        deallocate(node);
        throw;
    }
    return node;
}

/// Numbers and what travels as one: bytes of the value; 0 for other kinds.
std::size_t scalar_size(CORBA::TCKind kind) noexcept
{
    switch (kind) {
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_octet:
        return 1;
    case CORBA::tk_short:
    case CORBA::tk_ushort:
        return 2;
    case CORBA::tk_long:
    case CORBA::tk_ulong:
    case CORBA::tk_float:
    case CORBA::tk_enum:
        return 4;
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_double:
        return 8;
    case CORBA::tk_longdouble:
        return sizeof(CORBA::LongDouble);
    case CORBA::tk_wchar:
        return sizeof(CORBA::WChar);
    default:
        return 0;
    }
}

template <typename T>
T scalar_as(const void* scalar) noexcept
{
    T value;
    std::memcpy(&value, scalar, sizeof value);
    return value;
}

void encode_scalar(cdr::Writer& out, CORBA::TCKind kind, const void* scalar)
{
    if (kind == CORBA::tk_longdouble)
        return mapping::encode(out, scalar_as<CORBA::LongDouble>(scalar));
    if (kind == CORBA::tk_char) return mapping::encode(out, scalar_as<CORBA::Char>(scalar));
    if (kind == CORBA::tk_wchar) return mapping::encode(out, scalar_as<CORBA::WChar>(scalar));
    switch (scalar_size(kind)) {
    case 1:
        return out.write(scalar_as<std::uint8_t>(scalar));
    case 2:
        return out.write(scalar_as<std::uint16_t>(scalar));
    case 4:
        return out.write(scalar_as<std::uint32_t>(scalar));
    default:
        return out.write(scalar_as<std::uint64_t>(scalar));
    }
}

void decode_scalar(cdr::Reader& in, const CORBA::TypeCode& type, void* scalar)
{
    const auto read = [&]<typename T>(std::type_identity<T>) {
        T value{};
        mapping::decode(in, value);
        std::memcpy(scalar, &value, sizeof value);
    };
    switch (type.kind()) {
    case CORBA::tk_boolean:
        return read(std::type_identity<CORBA::Boolean>());
    case CORBA::tk_enum:
        read(std::type_identity<CORBA::ULong>());
        if (scalar_as<CORBA::ULong>(scalar) >= type.member_count())
            in.fail(cdr::Fault::invalid_value);
        return;
    case CORBA::tk_longdouble:
        return read(std::type_identity<CORBA::LongDouble>());
    case CORBA::tk_char:
        return read(std::type_identity<CORBA::Char>());
    case CORBA::tk_wchar:
        return read(std::type_identity<CORBA::WChar>());
    default:
        break;
    }
    switch (scalar_size(type.kind())) {
    case 1:
        return read(std::type_identity<std::uint8_t>());
    case 2:
        return read(std::type_identity<std::uint16_t>());
    case 4:
        return read(std::type_identity<std::uint32_t>());
    default:
        return read(std::type_identity<std::uint64_t>());
    }
}

[[noreturn]] void raise_nothing_to_insert()
{
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a null pointer inserted into an Any");
}

void require_type(CORBA::TypeCode_ptr type)
{
    if (type == nullptr)
        throw CORBA::BAD_TYPECODE(0, CORBA::COMPLETED_NO, "an Any needs a TypeCode");
}

} // namespace

// --- Setting -----------------------------------------------------------------------------------

void AnyAccess::reset(CORBA::Any& any, CORBA::TypeCode_ptr owned_type, Form form) noexcept
{
    any.clear();
    any.type_ = owned_type;
    any.form_ = form;
}

void AnyAccess::set_scalar(CORBA::Any& any, CORBA::TypeCode_ptr type, const void* value,
                           std::size_t size)
{
    require_type(type);
    std::array<std::uint64_t, 2> scalar{};
    std::memcpy(scalar.data(), value, size); // before the reset: it may lie in the Any
    reset(any, CORBA::TypeCode::_duplicate(type), Form::scalar);
    any.scalar_ = scalar;
}

void AnyAccess::set_value(CORBA::Any& any, CORBA::TypeCode_ptr type, AnyValue* value) noexcept
{
    reset(any, CORBA::TypeCode::_duplicate(type), Form::value);
    any.values_.store_relaxed(value);
}

void AnyAccess::set_string(CORBA::Any& any, CORBA::TypeCode_ptr owned_type, char* owned) noexcept
{
    reset(any, owned_type, Form::string);
    any.string_ = owned;
}

void AnyAccess::set_wstring(CORBA::Any& any, CORBA::TypeCode_ptr owned_type,
                            CORBA::WChar* owned) noexcept
{
    reset(any, owned_type, Form::wstring);
    any.wstring_ = owned;
}

void AnyAccess::set_bytes(CORBA::Any& any, CORBA::TypeCode_ptr owned_type, AnyBytes* owned) noexcept
{
    reset(any, owned_type, Form::bytes);
    any.bytes_ = owned;
}

AnyBytes* AnyAccess::bytes_of(const cdr::Writer& out, std::size_t begin)
{
    AnyBytes* bytes = allocate_bytes(begin, out.size() - begin);
    // The first `begin` bytes of the writer are only there to give the value its alignment.
    gather(out, bytes->data());
    return bytes;
}

// --- Asking ------------------------------------------------------------------------------------

const CORBA::TypeCode& AnyAccess::type(const CORBA::Any& any) noexcept
{
    return any.type_ == nullptr ? *CORBA::_tc_null : *any.type_;
}

bool AnyAccess::holds(const CORBA::Any& any, CORBA::TypeCode_ptr type)
{
    return type != nullptr && any.form_ != Form::none &&
           (any.type_ == type || (any.type_ != nullptr && any.type_->equivalent(type)));
}

const AnyValue* AnyAccess::inserted(const CORBA::Any& any) noexcept
{
    const AnyValue* value = any.values_.load_acquire();
    while (value->next != nullptr)
        value = value->next;
    return value;
}

bool AnyAccess::get_scalar(const CORBA::Any& any, CORBA::TypeCode_ptr type, void* value,
                           std::size_t size)
{
    if (any.form_ != Form::scalar || !holds(any, type)) return false;
    std::memcpy(value, any.scalar_.data(), size);
    return true;
}

const char* AnyAccess::string(const CORBA::Any& any) noexcept
{
    return any.form_ == Form::string ? any.string_ : nullptr;
}

const CORBA::WChar* AnyAccess::wstring(const CORBA::Any& any) noexcept
{
    return any.form_ == Form::wstring ? any.wstring_ : nullptr;
}

const AnyBytes* AnyAccess::bytes(const CORBA::Any& any) noexcept
{
    return any.form_ == Form::bytes ? any.bytes_ : nullptr;
}

const void* AnyAccess::find(const CORBA::Any& any, const ValueClass& of) noexcept
{
    for (const AnyValue* value = any.values_.load_acquire(); value != nullptr; value = value->next)
        if (value->of == &of) return value->value;
    return nullptr;
}

void AnyAccess::add(const CORBA::Any& any, AnyValue* value) noexcept
{
    value->next = any.values_.load_relaxed();
    while (!any.values_.compare_exchange(value->next, value)) {
    }
}

void AnyAccess::add_copy(const CORBA::Any& any, const ValueClass& of, const void* value)
{
    add(any, copied(of, value));
}

// --- To the wire and from it -------------------------------------------------------------------

namespace {

bool is_value_kind(CORBA::TCKind kind) noexcept
{
    return kind == CORBA::tk_value || kind == CORBA::tk_value_box || kind == CORBA::tk_event ||
           kind == CORBA::tk_abstract_interface;
}

/// An Any may have a type without its value, but nobody can receive one.
void require_no_value(const CORBA::TypeCode& type)
{
    const CORBA::TCKind kind = resolved(type).kind();
    if (kind != CORBA::tk_null && kind != CORBA::tk_void)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "an Any has a type and no value");
}

/// Lets values within an Any share nothing with the rest of the message: a receiver may keep it as
/// it came, without the message.
class OwnValues {
  public:
    OwnValues(cdr::Writer& out, bool shared) : environment_(shared ? nullptr : out.environment())
    {
        if (environment_ != nullptr) std::swap(environment_->values_written, kept_);
    }
    OwnValues(const OwnValues&) = delete;
    OwnValues& operator=(const OwnValues&) = delete;
    ~OwnValues()
    {
        if (environment_ != nullptr) std::swap(environment_->values_written, kept_);
    }

  private:
    const cdr::Environment* environment_;
    Owner<cdr::Attachment> kept_;
};

} // namespace

void AnyAccess::encode_value(cdr::Writer& out, const CORBA::Any& any)
{
    switch (any.form_) {
    case Form::none:
        return require_no_value(type(any));
    case Form::scalar:
        return encode_scalar(out, resolved(*any.type_).kind(), any.scalar_.data());
    case Form::string:
        return mapping::encode_string(out, any.string_);
    case Form::wstring:
        return mapping::encode_string(out, any.wstring_);
    case Form::bytes:
        return encode_bytes(out, *any.bytes_, *any.type_);
    case Form::value:
        break;
    }
    const AnyValue& value = *inserted(any);
    const CORBA::TypeCode& type = resolved(*any.type_);
    // A value alone is read with the message's; one within a struct is kept as it comes.
    const OwnValues own_values(out, is_value_kind(type.kind()));
    // CORBA 3.3 part 2, 9.3.5.5: an exception's repository id goes in front of its members.
    if (type.kind() == CORBA::tk_except && writes_exception_id(out)) out.write_string(type.id());
    encode(out, *value.of->table, value.value);
}

void AnyAccess::encode_parameter(cdr::Writer& out, const CORBA::Any& any)
{
    if (any.form_ != Form::value) return encode_value(out, any);
    const AnyValue& value = *inserted(any);
    encode(out, *value.of->table, value.value);
}

void AnyAccess::encode_exception(cdr::Writer& out, const CORBA::Any& any)
{
    // What is held in CDR begins with the id, unless that is left out of every Any of the message.
    if (any.form_ == Form::value || !writes_exception_id(out))
        out.write_string(resolved(type(any)).id());
    encode_parameter(out, any);
}

void AnyAccess::encode_bytes(cdr::Writer& out, const AnyBytes& bytes, const CORBA::TypeCode& type)
{
    const bool same_text = (!bytes.has_characters || cdr::converting_form(out) == nullptr) &&
                           (!bytes.has_wide || cdr::text_form(out) == nullptr);
    if (bytes.little_endian == native_little_endian && out.phase() % 8 == bytes.begin &&
        same_text && writes_exception_id(out))
        return out.write_bulk(bytes.value(), 1);
    const cdr::Environment environment = bytes.environment();
    cdr::Reader in = bytes.reader(environment);
    copy_value(in, out, type);
    if (!in.ok()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, cdr::describe(in.fault()));
}

void AnyAccess::decode(cdr::Reader& in, CORBA::Any& any)
{
    const mapping::NestingGuard nesting(in);
    if (!in.ok()) return;
    CORBA::TypeCode_var type = decode_type_code(in);
    if (in.ok()) decode_value(in, std::move(type), any);
}

void AnyAccess::decode_value(cdr::Reader& in, CORBA::TypeCode_var type, CORBA::Any& any)
{
    const CORBA::TypeCode& actual = resolved(*type.in());
    const CORBA::TCKind kind = actual.kind();
    if (kind == CORBA::tk_null || kind == CORBA::tk_void)
        return reset(any, type._retn(), Form::none);
    if (scalar_size(kind) != 0) {
        std::array<std::uint64_t, 2> scalar{};
        decode_scalar(in, actual, scalar.data());
        if (!in.ok()) return;
        reset(any, type._retn(), Form::scalar);
        any.scalar_ = scalar;
        return;
    }
    if (kind == CORBA::tk_string) {
        CORBA::String_var text;
        mapping::decode_string(in, text, actual.length());
        if (in.ok()) set_string(any, type._retn(), text._retn());
        return;
    }
    if (kind == CORBA::tk_wstring) {
        CORBA::WString_var text;
        mapping::decode_string(in, text, actual.length());
        if (in.ok()) set_wstring(any, type._retn(), text._retn());
        return;
    }
    const cdr::Environment* environment = in.environment();
    if (is_value_kind(kind) && environment != nullptr && environment->value_factories != nullptr) {
        auto* const reader = static_cast<ValueReader*>(environment->value_factories);
        if (reader->read_value(in, type.in(), any)) return;
    }
    AnyBytes* bytes = take_value(in, *type.in());
    if (bytes != nullptr) set_bytes(any, type._retn(), bytes);
}

/// The bytes of the value as they came where they can be kept like that, else in this machine's
/// order and independent of the rest of the message. Null if the reader has failed.
AnyBytes* AnyAccess::take_value(cdr::Reader& in, const CORBA::TypeCode& type)
{
    const std::size_t at = in.offset();
    const std::size_t begin = at % 8;
    AnyBytes* bytes = nullptr;
    cdr::Reader behind = in;
    const Found found = inspect_value(behind, type);
    if (!behind.ok()) {
        in.fail(behind.fault());
        return nullptr;
    }
    if (found.is_free && !in.in_chunk() && behind.bytes().data() == in.bytes().data()) {
        const std::size_t size = behind.offset() - at;
        bytes = allocate_bytes(begin, size);
        bytes->little_endian = in.little_endian();
        std::memcpy(bytes->data() + begin, in.bytes().data() + at, size);
        in = behind;
    } else {
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        std::memset(out.claim(begin, 1), 0, begin);
        copy_value(in, out, type);
        if (!in.ok()) return nullptr;
        bytes = bytes_of(out, begin);
    }
    bytes->has_characters = found.has_characters;
    bytes->has_wide = found.has_wide;
    if (const cdr::Environment* environment = in.environment()) {
        bytes->orb = environment->orb;
        bytes->orb_owner = environment->orb_owner;
        bytes->value_factories = environment->value_factories;
        if (bytes->orb_owner != nullptr) bytes->orb_owner->add_ref();
    }
    return bytes;
}

AnyAccess::OwnedBytes::OwnedBytes(const CORBA::Any& any)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Environment environment;
    out.set_environment(&environment);
    encode_value(out, any);
    bytes = bytes_of(out, 0);
}

AnyAccess::OwnedBytes::~OwnedBytes() { release(bytes); }

cdr::Environment AnyBytes::environment() const
{
    cdr::Environment environment;
    environment.orb = orb;
    environment.orb_owner = orb_owner;
    environment.value_factories = value_factories;
    return environment;
}

// --- Functions ---------------------------------------------------------------------------------

void insert_scalar(CORBA::Any& any, CORBA::TypeCode_ptr type, const void* value, std::size_t size)
{
    AnyAccess::set_scalar(any, type, value, size);
}

bool extract_scalar(const CORBA::Any& any, CORBA::TypeCode_ptr type, void* value, std::size_t size)
{
    return AnyAccess::get_scalar(any, type, value, size);
}

void insert_copy(CORBA::Any& any, CORBA::TypeCode_ptr type, const ValueClass& of, const void* value)
{
    require_type(type);
    if (value == nullptr) raise_nothing_to_insert();
    AnyAccess::set_value(any, type, copied(of, value));
}

void insert_adopted(CORBA::Any& any, CORBA::TypeCode_ptr type, const ValueClass& of, void* value)
{
    if (value == nullptr) raise_nothing_to_insert();
    AnyValue* node = nullptr;
    try {
        require_type(type);
        node = new (::operator new(sizeof(AnyValue))) AnyValue{.of = &of, .value = value};
    } catch (...) {
        of.free(value);
        throw;
    }
    AnyAccess::set_value(any, type, node);
}

const void* extract(const CORBA::Any& any, CORBA::TypeCode_ptr type, const ValueClass& of)
{
    if (!AnyAccess::holds(any, type)) return nullptr;
    if (const void* found = AnyAccess::find(any, of)) return found;
    return AnyAccess::extract_new(any, of);
}

/// As a C++ type that this value was not seen as before.
const void* AnyAccess::extract_new(const CORBA::Any& any, const ValueClass& of)
{
    AnyValue* node = allocate_value(of);
    try {
        of.construct(node->value);
    } catch (...) {
        deallocate(node);
        throw;
    }
    try {
        with_reader(any, [&](cdr::Reader& in) {
            const CORBA::TypeCode& actual = resolved(type(any));
            if (actual.kind() == CORBA::tk_except) (void)in.read_string();
            types::decode(in, *of.table, node->value);
            if (!in.ok()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, cdr::describe(in.fault()));
        });
    } catch (...) {
        destroy(node);
        throw;
    }
    add(any, node);
    return node->value;
}

const CORBA::TypeCode& type_of(const CORBA::Any& any) noexcept { return AnyAccess::type(any); }

} // namespace kairos::types

namespace CORBA {

using kairos::types::AnyAccess;
using kairos::types::AnyValue;

Any::Any(const Any& other) { *this = other; }

Any::Any(Any&& other) noexcept { steal(other); }

Any::Any(TypeCode_ptr type, void* value, Boolean release) { replace(type, value, release); }

Any& Any::operator=(const Any& other)
{
    if (this == &other) return *this;
    // Whatever can throw comes first.
    AnyValue* value = nullptr;
    char* string = nullptr;
    WChar* wstring = nullptr;
    if (other.form_ == Form::value) {
        const AnyValue& inserted = *AnyAccess::inserted(other);
        value = kairos::types::copied(*inserted.of, inserted.value);
    } else if (other.form_ == Form::string) {
        string = string_dup(other.string_);
    } else if (other.form_ == Form::wstring) {
        wstring = wstring_dup(other.wstring_);
    }
    clear();
    type_ = TypeCode::_duplicate(other.type_);
    form_ = other.form_;
    switch (form_) {
    case Form::none:
        break;
    case Form::scalar:
        scalar_ = other.scalar_;
        break;
    case Form::string:
        string_ = string;
        break;
    case Form::wstring:
        wstring_ = wstring;
        break;
    case Form::bytes:
        bytes_ = kairos::types::share(other.bytes_);
        break;
    case Form::value:
        values_.store_relaxed(value);
        break;
    }
    return *this;
}

Any& Any::operator=(Any&& other) noexcept
{
    if (this == &other) return *this;
    clear();
    steal(other);
    return *this;
}

void Any::steal(Any& other) noexcept
{
    type_ = std::exchange(other.type_, nullptr);
    form_ = std::exchange(other.form_, Form::none);
    std::memcpy(&scalar_, &other.scalar_, sizeof scalar_); // whichever member it is
    values_.store_relaxed(other.values_.exchange(nullptr));
}

void Any::clear() noexcept
{
    AnyValue* value = values_.exchange(nullptr);
    while (value != nullptr) {
        AnyValue* next = value->next;
        kairos::types::destroy(value);
        value = next;
    }
    if (form_ == Form::string) string_free(string_);
    if (form_ == Form::wstring) wstring_free(wstring_);
    if (form_ == Form::bytes) kairos::types::release(bytes_);
    form_ = Form::none;
    if (type_ != nullptr) release(std::exchange(type_, nullptr));
}

TypeCode_ptr Any::type() const { return TypeCode::_duplicate(type_ == nullptr ? _tc_null : type_); }

void Any::type(TypeCode_ptr type)
{
    if (type == nullptr || !AnyAccess::type(*this).equivalent(type))
        throw BAD_TYPECODE(0, COMPLETED_NO, "not equivalent to the TypeCode of the Any");
    TypeCode_ptr old = std::exchange(type_, TypeCode::_duplicate(type));
    if (old != nullptr) CORBA::release(old);
}

const void* Any::value() const noexcept
{
    switch (form_) {
    case Form::scalar:
        return &scalar_;
    case Form::string:
        return string_;
    case Form::wstring:
        return wstring_;
    default:
        break;
    }
    const AnyValue* first = values_.load_acquire();
    return first == nullptr ? nullptr : AnyAccess::inserted(*this)->value;
}

} // namespace CORBA

namespace kairos::mapping {

void Marshal<CORBA::Any>::encode(cdr::Writer& out, const CORBA::Any& value)
{
    types::encode_type_code(out, types::type_of(value));
    types::AnyAccess::encode_value(out, value);
}

void Marshal<CORBA::Any>::decode(cdr::Reader& in, CORBA::Any& value)
{
    types::AnyAccess::decode(in, value);
}

} // namespace kairos::mapping
