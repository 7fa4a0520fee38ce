// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/message.h"

#include "kairos/base/limits.h"

namespace kairos::giop {

Fault message_of(MutableBytes bytes, Message& message) noexcept
{
    if (bytes.size() < header_size) return Fault::wrong_size;
    MessageHeader header;
    if (const Fault fault = parse_header(bytes.data(), header); fault != Fault::none) return fault;
    if (bytes.size() - header_size != header.size) return Fault::wrong_size;
    message = {header.version, header.type, header.little_endian, bytes};
    return Fault::none;
}

std::optional<Bytes> ServiceContexts::find(std::uint32_t wanted) const noexcept
{
    cdr::Reader reader(bytes_, little_endian_);
    for (std::uint32_t i = 0; i < count_; ++i) {
        const auto id = reader.read<std::uint32_t>();
        const Bytes data = reader.read_octets();
        if (id == wanted) return data;
    }
    return std::nullopt;
}

ServiceContexts ServiceContexts::walk(cdr::Reader& reader, std::uint32_t count) noexcept
{
    if (count > limits::service_contexts_max) {
        reader.fail(cdr::Fault::bound_exceeded);
        return {};
    }
    ServiceContexts contexts;
    const std::size_t begin = reader.offset();
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        (void)reader.read<std::uint32_t>();
        (void)reader.read_octets();
    }
    if (!reader.ok()) return {};
    contexts.bytes_ = reader.bytes().subspan(begin, reader.offset() - begin);
    contexts.count_ = count;
    contexts.little_endian_ = reader.little_endian();
    return contexts;
}

} // namespace kairos::giop
