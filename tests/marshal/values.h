// SPDX-License-Identifier: Apache-2.0
//
// What the generated part of the property test is written with: a source of random values and a
// reference encoder that knows CDR and nothing else, in either byte order. One thread.
#pragma once

#include "kairos/base/bytes.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace marshal_test {

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    /// While it lives, sequences are shorter: recursive types come to an end.
    class Deeper {
      public:
        explicit Deeper(Random& random) : random_(random) { ++random_.depth_; }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        ~Deeper() { --random_.depth_; }

      private:
        Random& random_;
    };

    [[nodiscard]] std::uint32_t below(std::uint32_t limit)
    {
        return static_cast<std::uint32_t>(engine_() % limit);
    }
    template <typename T>
    [[nodiscard]] T number()
    {
        if constexpr (std::same_as<T, bool>) {
            return below(2) != 0;
        } else if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(static_cast<std::int32_t>(engine_())) / 16;
        } else {
            return static_cast<T>(engine_());
        }
    }
    /// Of a sequence with this bound, 0 for none.
    [[nodiscard]] std::uint32_t length(std::uint32_t bound)
    {
        const std::uint32_t most = depth_ < 4 ? 5 - depth_ : 0;
        const std::uint32_t count = below(most + 1);
        return bound != 0 && count > bound ? bound : count;
    }
    [[nodiscard]] std::string text(std::uint32_t bound)
    {
        std::string text(below(bound == 0 ? 40 : bound + 1), '\0');
        for (char& character : text)
            character = static_cast<char>('!' + below(90));
        return text;
    }

  private:
    std::mt19937_64 engine_;
    std::uint32_t depth_ = 0;
};

class Plain {
  public:
    Plain(std::size_t start, bool swap) : bytes_(start, std::byte{0}), swap_(swap) {}

    template <typename T>
    void number(T value)
    {
        while (bytes_.size() % sizeof(T) != 0)
            bytes_.push_back(std::byte{0});
        std::byte image[sizeof(T)];
        std::memcpy(image, &value, sizeof(T));
        for (std::size_t i = 0; i < sizeof(T); ++i)
            bytes_.push_back(image[swap_ ? sizeof(T) - 1 - i : i]);
    }
    void text(const char* text)
    {
        const auto size = static_cast<std::uint32_t>(std::strlen(text) + 1);
        number(size);
        for (std::uint32_t i = 0; i < size; ++i)
            bytes_.push_back(static_cast<std::byte>(text[i]));
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
    bool swap_;
};

} // namespace marshal_test
