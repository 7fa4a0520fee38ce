// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/ior.h"

#include "kairos/base/limits.h"
#include "kairos/ior/text.h"

namespace kairos::ior {

namespace {

/// Profiles and components alike are a tag and octets: at least eight bytes each.
template <typename Tagged>
bool decode_tagged(cdr::Reader& reader, std::size_t count_max, std::vector<Tagged>& list)
{
    list.clear();
    const std::uint32_t count = reader.read_length(8);
    if (count > count_max) reader.fail(cdr::Fault::bound_exceeded);
    if (!reader.ok()) return false;
    list.reserve(count);
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        const auto tag = reader.read<std::uint32_t>();
        const Bytes data = reader.read_octets();
        list.push_back({tag, OctetVector(data.begin(), data.end())});
    }
    if (!reader.ok()) list.clear();
    return reader.ok();
}

template <typename Tagged>
void encode_tagged(cdr::Writer& writer, const std::vector<Tagged>& list)
{
    writer.write(static_cast<std::uint32_t>(list.size()));
    for (const Tagged& entry : list) {
        writer.write(entry.tag);
        // Not write_octets, which may borrow: a reference often does not outlive the call.
        writer.write(static_cast<std::uint32_t>(entry.data.size()));
        writer.write_bytes(entry.data);
    }
}

/// A repository id, where length zero stands for "" as well.
std::string_view read_type_id(cdr::Reader& reader)
{
    const std::uint32_t length = reader.read_length(1);
    if (length == 0) return "";
    if (length > limits::operation_name_max) reader.fail(cdr::Fault::bound_exceeded);
    const std::byte* octets = reader.block(length, 1);
    if (octets == nullptr) return "";
    const std::string_view text = as_text({octets, length});
    if (text.back() != '\0') reader.fail(cdr::Fault::string_not_terminated);
    // A NUL inside could not be written again as a CDR string.
    if (text.find('\0') != length - 1) reader.fail(cdr::Fault::invalid_value);
    return reader.ok() ? text.substr(0, length - 1) : "";
}

} // namespace

bool decode(cdr::Reader& reader, Ior& reference)
{
    reference.type_id = read_type_id(reader);
    if (!decode_tagged(reader, limits::profiles_max, reference.profiles)) reference.type_id.clear();
    return reader.ok();
}

void encode(cdr::Writer& writer, const Ior& reference)
{
    writer.write_string(reference.type_id);
    encode_tagged(writer, reference.profiles);
}

bool decode(cdr::Reader& reader, std::vector<TaggedComponent>& components)
{
    return decode_tagged(reader, limits::components_max, components);
}

void encode(cdr::Writer& writer, const std::vector<TaggedComponent>& components)
{
    encode_tagged(writer, components);
}

std::string to_string(const Ior& reference)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    encode(writer, reference);
    std::string text = "IOR:";
    append_hex(text, writer.contiguous());
    return text;
}

Result<Ior> from_string(std::string_view text)
{
    const std::string_view url = trimmed(text);
    if (!begins_with(url, "ior:"))
        return Error{ErrorCode::invalid_argument, "text does not begin with 'IOR:'"};
    const std::string_view digits = url.substr(4);
    if (digits.empty())
        return Error{ErrorCode::invalid_argument, "no hexadecimal digits follow 'IOR:'"};
    OctetVector octets(digits.size() / 2);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const auto value = hex_digit_value(digits[i]);
        if (!value) {
            const auto position = static_cast<std::size_t>(digits.data() - text.data()) + i + 1;
            return Error{ErrorCode::invalid_argument,
                         "'" + printable(digits.substr(i, 1)) +
                             "' is not a hexadecimal digit at character " +
                             std::to_string(position)};
        }
        if (i / 2 < octets.size())
            octets[i / 2] |= static_cast<std::byte>(i % 2 == 0 ? *value << 4 : *value);
    }
    if (digits.size() % 2 != 0)
        return Error{ErrorCode::invalid_argument,
                     "an odd number of hexadecimal digits: the text is incomplete"};

    cdr::Reader reader = cdr::Reader::of_encapsulation(octets);
    Ior reference;
    if (!decode(reader, reference))
        return Error{ErrorCode::malformed,
                     "not an object reference: " + std::string(cdr::describe(reader.fault()))};
    return reference;
}

} // namespace kairos::ior
