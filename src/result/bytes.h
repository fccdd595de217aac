// Plain data as bytes for another process of the same build, and back: one function that names a type's fields serves
// both directions.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "src/stats/histogram.h"

namespace cqbench {

// For `template <class Archive, Like<Finding> T> void Fields(Archive& archive, T& finding)`, in this namespace: it
// calls archive(finding.code) and so on, of a const one to write and of another to read.
template <class T, class U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

// Whole numbers take seven bits a byte, the lowest first; signed ones alternate between both sides of 0.
class ByteWriter {
 public:
  std::string Take() { return std::move(bytes_); }

  template <std::unsigned_integral T>
  void operator()(const T& value) {
    uint64_t left = value;
    for (; left >= 0x80; left >>= 7) bytes_.push_back(static_cast<char>(left | 0x80));
    bytes_.push_back(static_cast<char>(left));
  }
  template <std::signed_integral T>
  void operator()(const T& value) {
    const int64_t wide = value;
    (*this)((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
  }
  void operator()(const double& value) { (*this)(std::bit_cast<uint64_t>(value)); }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_ += text;
  }
  void operator()(const Histogram& histogram);
  template <class T>
  void operator()(const std::vector<T>& values) {
    (*this)(values.size());
    for (const T& value : values) (*this)(value);
  }
  template <class T, size_t n>
  void operator()(const std::array<T, n>& values) {
    for (const T& value : values) (*this)(value);
  }
  template <class A, class B>
  void operator()(const std::pair<A, B>& pair) {
    (*this)(pair.first);
    (*this)(pair.second);
  }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class T>
  void operator()(const std::unique_ptr<T>& value) {
    (*this)(value != nullptr);
    if (value) (*this)(std::as_const(*value));
  }
  template <class T>
  void operator()(const T& value) {
    Fields(*this, value);
  }

 private:
  std::string bytes_;
};

// Bytes of any origin are safe: what does not fit ends the reading, and nothing is allocated on their word beyond
// what they could fill.
class ByteReader {
 public:
  explicit ByteReader(absl::string_view bytes) : left_(bytes) {}

  // Whether everything so far was there; after the first thing that was not, the rest is as it was before.
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && left_.empty(); }

  template <std::unsigned_integral T>
  void operator()(T& value) {
    const uint64_t wide = Number();
    value = static_cast<T>(wide);
    ok_ = ok_ && value == wide;
  }
  template <std::signed_integral T>
  void operator()(T& value) {
    const uint64_t zigzag = Number();
    const auto wide = static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
    value = static_cast<T>(wide);
    ok_ = ok_ && value == wide;
  }
  void operator()(double& value) { value = std::bit_cast<double>(Number()); }
  void operator()(std::string& text) {
    const size_t size = Size();
    text = std::string(left_.substr(0, size));
    left_.remove_prefix(size);
  }
  void operator()(Histogram& histogram);
  template <class T>
  void operator()(std::vector<T>& values) {
    values.clear();
    for (size_t left = Size(); left > 0 && ok_; --left) (*this)(values.emplace_back());
  }
  template <class T, size_t n>
  void operator()(std::array<T, n>& values) {
    for (T& value : values) (*this)(value);
  }
  template <class A, class B>
  void operator()(std::pair<A, B>& pair) {
    (*this)(pair.first);
    (*this)(pair.second);
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (!Present()) return value.reset();
    (*this)(value.emplace());
  }
  template <class T>
  void operator()(std::unique_ptr<T>& value) {
    if (!Present()) return value.reset();
    value = std::make_unique<T>();
    (*this)(*value);
  }
  template <class T>
  void operator()(T& value) {
    Fields(*this, value);
  }

 private:
  uint64_t Number();
  // Of what takes a byte at least for each.
  size_t Size();
  bool Present();

  absl::string_view left_;
  bool ok_ = true;
};

}  // namespace cqbench
