// SPDX-License-Identifier: Apache-2.0
//
// A hostile client that hands something over: messages of any octets with any descriptors, whole or
// in pieces, and then the end. Only one greeting with one descriptor of memory that stays as it is
// is taken; then nothing that the client does to its file takes a page away; and no descriptor
// is left open.
#include "kairos/base/check.h"
#include "kairos/net/handover_testing.h"

#include <algorithm>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string>
#include <sys/eventfd.h>
#include <vector>

using namespace kairos;
using namespace kairos::net;

namespace {

constexpr std::size_t memory_size = 8192;

/// The octets of the input, one after the other; zeros at its end.
class Input {
  public:
    explicit Input(Bytes data) : data_(data) {}
    [[nodiscard]] bool at_end() const { return at_ >= data_.size(); }
    [[nodiscard]] unsigned octet()
    {
        return at_end() ? 0 : std::to_integer<unsigned>(data_[at_++]);
    }

  private:
    Bytes data_;
    std::size_t at_ = 0;
};

int opened_for_reading(int file)
{
    const std::string name = "/proc/self/fd/" + std::to_string(file);
    const int opened = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    ::close(file);
    return opened;
}

/// Kinds 0 and 1 are right; the second has pages to begin with.
constexpr unsigned right_kinds = 2;
int descriptor_of(unsigned kind, const Socket& theirs)
{
    constexpr int all = memory_seals;
    switch (kind) {
    case 0:
        return memory_file(memory_size, all);
    case 1: {
        const int file = memory_file(memory_size, all);
        (void)!::pwrite(file, "text", 4, memory_size - 4);
        return file;
    }
    case 2:
        return memory_file(memory_size - 1, all);
    case 3:
        return memory_file(memory_size + 4096, all);
    case 4:
        return memory_file(0, all);
    case 5:
        return memory_file(memory_size, 0);
    case 6:
        return memory_file(memory_size, F_SEAL_GROW);
    case 7:
        return memory_file(memory_size, F_SEAL_SHRINK);
    case 8:
        return memory_file(memory_size, all | F_SEAL_WRITE);
    case 9:
        return memory_file(memory_size, all | F_SEAL_SEAL);
    case 10:
        return opened_for_reading(memory_file(memory_size, all));
    case 11:
        return ::memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
    case 12:
        return ::open("/dev/zero", O_RDWR | O_CLOEXEC);
    case 13:
        return ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case 14:
        return ::eventfd(0, EFD_CLOEXEC);
    default: // the very socket that it comes by
        return ::fcntl(theirs.descriptor(), F_DUPFD_CLOEXEC, 0);
    }
}
constexpr unsigned kinds = 16;

struct SentMessage {
    std::string octets;
    std::vector<Socket> files; // not sockets, but owned and closed alike
    bool has_right = false;    // one descriptor, and that is right

    [[nodiscard]] ssize_t send(const Socket& socket) const
    {
        std::vector<int> descriptors;
        descriptors.reserve(files.size());
        for (const Socket& file : files)
            descriptors.push_back(file.descriptor());
        return hand_over(socket, descriptors, octets);
    }
};

SentMessage message_of(Input& input, std::size_t& greeted, const Socket& theirs)
{
    constexpr unsigned is_greeting = 0x80;
    SentMessage message;
    const unsigned how = input.octet();
    for (unsigned left = how % 16; left != 0; --left) {
        const bool greets = (how & is_greeting) != 0 && greeted < handover_greeting.size();
        message.octets += greets ? handover_greeting[greeted++] : static_cast<char>(input.octet());
    }
    bool is_right = false;
    for (unsigned left = input.octet() % 8; left != 0; --left) {
        const unsigned kind = input.octet() % kinds;
        Socket file(descriptor_of(kind, theirs));
        if (!file.is_open()) continue; // huge pages, of which the system may have none
        message.files.push_back(std::move(file));
        is_right = kind < right_kinds;
    }
    message.has_right = is_right && message.files.size() == 1;
    return message;
}

/// The file that the client still has cannot hurt who has mapped it.
void try_to_take_back(SharedMemory& memory, int file)
{
    constexpr int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    KAIROS_CHECK(::ftruncate(file, 0) != 0);
    KAIROS_CHECK(::fallocate(file, punch, 0, memory_size) != 0);
    KAIROS_CHECK(::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) != 0);
    KAIROS_CHECK(memory.size() == memory_size);
    for (std::size_t at = 0; at < memory.size(); at += 512)
        memory.data()[at] = std::byte{1};
}

void hand_over_and_receive(Input& input)
{
    constexpr int messages_max = 4;
    auto pair = socket_pair();
    if (!pair) return;
    std::string stream;
    std::size_t greeted = 0;
    std::vector<SentMessage> sent;
    for (int i = 0; i < messages_max && !input.at_end(); ++i) {
        SentMessage message = message_of(input, greeted, pair->second);
        if (message.send(pair->first) > 0) stream += message.octets;
        sent.push_back(std::move(message));
    }
    pair->first.shutdown_write();
    auto taken = SharedMemory::receive(pair->second.descriptor(), memory_size);
    const bool at_once = !sent.empty() && sent.front().has_right &&
                         sent.front().octets.starts_with(handover_greeting);
    const bool in_pieces =
        stream.starts_with(handover_greeting) &&
        std::ranges::any_of(sent, [](const SentMessage& message) { return message.has_right; });
    KAIROS_CHECK(taken.ok() ? in_pieces : !at_once);
    if (at_once) try_to_take_back(*taken, sent.front().files.front().descriptor());
}

/// Is the same again if nothing was left open.
int next_descriptor()
{
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    return next;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Input input(std::as_bytes(std::span(data, size)));
    const int next = next_descriptor();
    hand_over_and_receive(input);
    KAIROS_CHECK(next_descriptor() == next);
    return 0;
}
