// SPDX-License-Identifier: Apache-2.0
//
// Every limit that protects the process from what a peer may send, with its reason, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kairos::limits {

/// Largest GIOP message body accepted by default; `-ORBMaxMessageSize` changes it.
inline constexpr std::size_t message_size_max = std::size_t{256} << 20;
/// What a server keeps for its peers beside the largest message, by default (-ORBMemory).
inline constexpr std::size_t memory_beside_message = std::size_t{32} << 20;
/// First size of a connection's receive buffer: holds an ordinary request in one read, and leaves
/// most of a page to others, for there may be thousands that are idle.
inline constexpr std::size_t receive_buffer_initial = std::size_t{2} << 10;
/// How many times its first size a receive buffer becomes when a read has filled it.
inline constexpr std::size_t receive_buffer_growth = 8;
/// The size up to which a receive buffer grows because reads fill it: of many messages, one read
/// then takes several.
inline constexpr std::size_t receive_buffer_streaming = std::size_t{128} << 10;
/// A receive buffer that grew beyond this for one large message is given back afterwards; a smaller
/// one, too, where much of -ORBMemory is in use.
inline constexpr std::size_t receive_buffer_kept = std::size_t{1} << 20;
/// Requests of one connection whose fragments may be incomplete at the same time.
inline constexpr std::size_t fragmented_messages_max = 64;
/// Fragments of one GIOP 1.1 message from the first one on that begins an alignment of its own:
/// each is remembered until the message is read. Enough for the largest in usual fragments.
inline constexpr std::size_t misaligned_parts_max = std::size_t{64} << 10;
/// Service contexts of one message, profiles of one reference, components of one profile: real
/// ones have a handful; the bytes left bound them anyway, this bounds the time spent.
inline constexpr std::size_t service_contexts_max = 1024;
inline constexpr std::size_t profiles_max = 256;
inline constexpr std::size_t components_max = 1024;
/// Elements of one sequence, or members and elements of one value in an Any, that take no bytes at
/// all: no real type has many, and neither time nor memory may depend on a number that no bytes
/// stand for.
inline constexpr std::size_t empty_elements_max = std::size_t{64} << 10;
/// Depth to which encapsulations and constructed types may nest before they are refused.
inline constexpr std::size_t nesting_max = 64;
/// Values of valuetypes within values, as in a linked list, in either direction: each takes part of
/// a thread's stack.
inline constexpr std::size_t values_nesting_max = 1000;
/// Repository ids that one value may offer to be truncated to.
inline constexpr std::size_t value_ids_max = 256;
/// Location forwards followed for one call before TRANSIENT: a loop, not a route.
inline constexpr std::size_t forwards_max = 16;
/// Servants that one reference remembers for direct calls, one after the other.
inline constexpr std::size_t direct_links_max = 16;
/// Octets of an object key, an operation name or a repository id.
inline constexpr std::size_t object_key_max = std::size_t{64} << 10;
inline constexpr std::size_t operation_name_max = std::size_t{4} << 10;
/// Connections a server accepts by default; `-ORBMaxConnections` changes it.
inline constexpr std::size_t connections_max = 10'000;
/// Connections of a client to servers by default; `-ORBMaxClientConnections` changes it.
inline constexpr std::size_t client_connections_max = 10'000;

/// Octets of oneways with SYNC_NONE that are kept for a peer which does not take them, for each
/// connection, by default; `-ORBOnewayQueue` changes it.
inline constexpr std::size_t oneways_unsent_max = std::size_t{1} << 20;

/// Octets of a file of options.
inline constexpr std::size_t configuration_size_max = std::size_t{1} << 20;

/// Names that the system's resolver is being asked for by a deadline, at the same time: each takes
/// a thread for as long as a dead name server is waited for.
inline constexpr std::size_t open_questions_max = 64;

/// Requests that wait for their POAManagers by default; `-ORBHoldLimit` changes it. Each keeps its
/// connection, and with thread-per-connection its thread.
inline constexpr std::size_t held_requests_max = 1000;

/// Priorities for which one server has threads of their own.
inline constexpr std::size_t lanes_max = 64;
/// Addresses of one reference for different priorities.
inline constexpr std::size_t priority_addresses_max = 1024;
/// Addresses within the host of one reference, and octets of one: what the system has room for.
inline constexpr std::size_t local_addresses_max = 128;
inline constexpr std::size_t socket_path_max = 107;
/// Policies that one reference says its object has, and bands of priorities in one of them.
inline constexpr std::size_t exposed_policies_max = 256;
inline constexpr std::size_t priority_bands_max = 64;
/// Threads of a Real-Time CORBA thread pool, those made at need included.
inline constexpr std::size_t pool_threads_max = 10'000;
/// Threads that serve at the same time by default, where there is a pool; `-ORBThreads`.
inline constexpr std::size_t threads = 8;
/// What `-ORBStackSize` can give threads, in bytes.
inline constexpr std::size_t stack_least = 64 * 1024;
inline constexpr std::size_t stack_most = 1024 * 1024 * 1024;
/// Requests that wait for a pool of threads by default; `-ORBQueue` changes it.
inline constexpr std::size_t requests_queued_max = 1000;

} // namespace kairos::limits
