// SPDX-License-Identifier: Apache-2.0
// Runs the instructions of a pickle on a stack of values, as Python does, without building objects:
// the contents of containers go to a consumer. Only instructions that make plain values are known.
#include "mpa/io/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/progress.h"
#include "mpa/io/byte_stream.h"
#include "mpa/io/input_text.h"
#include "pickle_code.h"

namespace mpa::io {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kLongest = 16;  // an instruction with its operand, but for texts
// Names of files and functions, settings. Names of templates are long.
constexpr std::uint64_t kLongestText = std::uint64_t{16} << 20;
constexpr std::uint8_t kMostLevels = 100;  // snapshots have eight
constexpr auto kMostNumbers = std::numeric_limits<std::uint32_t>::max();

// A place for a value to keep that was not filled.
constexpr PickleValue kUnset{PickleKind::kNone, 1, 0};

struct Container {
  PickleNote note;
  std::uint8_t levels = 1;  // of containers in it, with itself
  bool is_inside = false;   // of another one: it is complete
};

}  // namespace

double PickleValue::Real() const { return std::bit_cast<double>(integer); }

struct Pickle::State {
  explicit State(const std::filesystem::path& path)
      : name(path.string()), stream(path), buffer(kBufferBytes + kLongest) {}

  std::string name;
  ByteStream stream;

  // The bytes at hand. Behind the end of the file there are zeros.
  std::vector<char> buffer;
  std::size_t at = 0, end = 0;
  std::uint64_t before = 0;  // bytes of the file before the buffer
  bool is_last = false;      // the file ends with the buffer
  std::uint64_t place = 0;   // of the instruction

  std::vector<PickleValue> stack;
  std::vector<std::size_t> marks;  // heights of the stack
  std::vector<PickleValue> memo;
  std::vector<Container> containers;
  std::vector<std::string_view> texts;
  std::vector<std::unique_ptr<char[]>> pages;  // of the texts
  char* page_end = nullptr;
  std::size_t page_left = 0;

  // What the instructions add to.
  Pickle* pickle = nullptr;
  PickleConsumer* consumer = nullptr;

  [[noreturn]] void Refuse(const std::string& reason) const {
    Fail(ErrorKind::kCorrupt, "{}, at byte {}", reason, place);
  }
  [[noreturn]] void RefuseEnd() const { Refuse(Say("the file ends within a value")); }
  [[noreturn]] void RefuseCode(unsigned char code) const;

  void Refill() {
    const std::size_t rest = end - at;
    std::memmove(buffer.data(), buffer.data() + at, rest);
    before += at;
    at = 0;
    const std::size_t got = stream.Read(buffer.data() + rest, kBufferBytes - rest);
    AddProgress(static_cast<std::int64_t>(got));
    end = rest + got;
    is_last = end < kBufferBytes;
    std::memset(buffer.data() + end, 0, kLongest);
  }

  // The next number of the file, least significant byte first.
  template <typename Number>
  Number Take() {
    Number number;
    std::memcpy(&number, buffer.data() + at, sizeof(number));
    at += sizeof(number);
    if (at > end) RefuseEnd();
    return number;
  }

  // Calls visit(bytes, count) for the next bytes of the file, in parts.
  template <typename Visit>
  void TakeBytes(std::size_t count, Visit visit) {
    while (count > 0) {
      if (at >= end) {
        if (is_last) RefuseEnd();
        Refill();
        continue;
      }
      const std::size_t part = std::min(count, end - at);
      visit(buffer.data() + at, part);
      at += part;
      count -= part;
    }
  }

  void Push(PickleKind kind, std::int64_t integer = 0) { stack.push_back({kind, 0, integer}); }
  void PushNumbered(PickleKind kind, std::size_t number) {
    if (number == kMostNumbers) Refuse(Say("more than 4 billion values"));
    stack.push_back({kind, static_cast<std::uint32_t>(number), 0});
  }
  void PushContainer(PickleKind kind) {
    PushNumbered(kind, containers.size());
    containers.emplace_back();
  }
  void PushText(PickleKind kind, std::uint64_t size);
  void PushLong(std::size_t size);

  // What lies below the innermost mark belongs to the instructions around.
  void Need(std::size_t values) const {
    const std::size_t floor = marks.empty() ? 0 : marks.back();
    if (stack.size() < floor + values) Refuse(Say("an instruction without its values"));
  }
  std::size_t TakeMark() {
    if (marks.empty()) Refuse(Say("an instruction without its values"));
    const std::size_t mark = marks.back();
    marks.pop_back();
    return mark;
  }

  void Get(std::uint32_t index) {
    if (index >= memo.size() || (memo[index].kind == kUnset.kind && memo[index].number != 0))
      Refuse(Say("value {} is asked for before it was kept", index));
    stack.push_back(memo[index]);
  }
  void Put(std::uint32_t index) {
    Need(1);
    // Numbers follow each other; a file cannot ask for more room than it is long.
    if (index > before + at) Refuse(Say("value {} is kept, more than the file can have", index));
    if (index >= memo.size()) memo.resize(std::size_t{index} + 1, kUnset);
    memo[index] = stack.back();
  }

  void FillContainer(const PickleValue& container, std::size_t first);
  void Extend(PickleKind kind, std::size_t first);
  void MakeTuple(std::size_t first);
  PickleValue Run();
};

void Pickle::State::PushText(PickleKind kind, std::uint64_t size) {
  if (size > kLongestText) Refuse(Say("a text of {} bytes, longer than any name", size));
  const auto bytes = static_cast<std::size_t>(size);
  if (bytes > page_left) {
    page_left = std::max(bytes, std::size_t{256} << 10);
    pages.push_back(std::make_unique_for_overwrite<char[]>(page_left));
    page_end = pages.back().get() + page_left;
  }
  char* to = page_end - page_left;
  texts.emplace_back(to, bytes);
  page_left -= bytes;
  TakeBytes(bytes, [&](const char* part, std::size_t count) {
    std::memcpy(to, part, count);
    to += count;
  });
  PushNumbered(kind, texts.size() - 1);
}

// An integer of any length, in two's complement.
void Pickle::State::PushLong(std::size_t size) {
  std::uint64_t value = 0;
  std::size_t read = 0;
  TakeBytes(size, [&](const char* part, std::size_t count) {
    for (std::size_t i = 0; i < count && read < sizeof(value); ++i, ++read)
      value |= std::uint64_t{static_cast<unsigned char>(part[i])} << (8 * read);
  });
  if (size > sizeof(value)) {
    Push(PickleKind::kHuge);
    return;
  }
  const std::size_t unused = size > 0 ? 64 - 8 * size : 0;
  Push(PickleKind::kInteger, static_cast<std::int64_t>(value << unused) >> unused);
}

// Gives the values above `first` to the container and takes them off the stack.
void Pickle::State::FillContainer(const PickleValue& container, std::size_t first) {
  if (first == stack.size()) return;
  if (containers[container.number].is_inside)
    Refuse(Say("a container is filled after it was put into another one"));
  std::uint8_t levels = containers[container.number].levels;
  for (std::size_t i = first; i < stack.size(); ++i) {
    if (!stack[i].IsContainer()) continue;
    if (stack[i].number == container.number) Refuse(Say("a container in itself"));
    Container& inner = containers[stack[i].number];
    inner.is_inside = true;
    levels = std::max<std::uint8_t>(levels, inner.levels + 1);
  }
  if (levels > kMostLevels)
    Refuse(Say("containers in containers, more than {} levels", kMostLevels));
  containers[container.number].levels = levels;
  try {
    consumer->Add(*pickle, container, std::span(stack).subspan(first));
  } catch (const Error& error) {
    if (!IsBadInput(error)) throw;
    Refuse(error.what());
  }
  stack.resize(first);
}

void Pickle::State::Extend(PickleKind kind, std::size_t first) {
  const std::size_t floor = marks.empty() ? 0 : marks.back();
  if (first <= floor || stack[first - 1].kind != kind)
    Refuse(Say("values are added to something that is no container"));
  if (kind == PickleKind::kDict && (stack.size() - first) % 2 != 0)
    Refuse(Say("a key without its value"));
  FillContainer(stack[first - 1], first);
}

void Pickle::State::MakeTuple(std::size_t first) {
  PushContainer(PickleKind::kTuple);
  const PickleValue tuple = stack.back();
  stack.pop_back();
  FillContainer(tuple, first);
  stack.push_back(tuple);
}

void Pickle::State::RefuseCode(unsigned char code) const {
  const RefusedCode refused = RefusedCodeOf(code);
  if (refused.runs_code) {
    Refuse(
        Say("the instruction {}, which runs code or imports and is never followed: a snapshot has"
            " plain values only",
            refused.name));
  }
  if (!refused.name.empty()) Refuse(Say("the instruction {}, which no snapshot has", refused.name));
  Refuse(Say("{:#04x} is no instruction of a pickle", code));
}

PickleValue Pickle::State::Run() {
  while (true) {
    if (end - at < kLongest && !is_last) Refill();
    place = before + at;
    switch (const auto code = Take<unsigned char>(); static_cast<PickleCode>(code)) {
      case PickleCode::kProto:
        Take<std::uint8_t>();
        break;
      case PickleCode::kFrame:
        Take<std::uint64_t>();
        break;
      case PickleCode::kStop:
        if (stack.size() != 1 || !marks.empty()) Refuse(Say("the pickle ends within a value"));
        return stack.back();
      case PickleCode::kMark:
        marks.push_back(stack.size());
        break;
      case PickleCode::kNone:
        Push(PickleKind::kNone);
        break;
      case PickleCode::kTrue:
        Push(PickleKind::kBool, 1);
        break;
      case PickleCode::kFalse:
        Push(PickleKind::kBool, 0);
        break;
      case PickleCode::kInt:
        Push(PickleKind::kInteger, Take<std::int32_t>());
        break;
      case PickleCode::kInt1:
        Push(PickleKind::kInteger, Take<std::uint8_t>());
        break;
      case PickleCode::kInt2:
        Push(PickleKind::kInteger, Take<std::uint16_t>());
        break;
      case PickleCode::kLong1:
        PushLong(Take<std::uint8_t>());
        break;
      case PickleCode::kReal:
        Push(PickleKind::kReal,
             static_cast<std::int64_t>(__builtin_bswap64(Take<std::uint64_t>())));
        break;
      case PickleCode::kShortText:
        PushText(PickleKind::kText, Take<std::uint8_t>());
        break;
      case PickleCode::kText:
        PushText(PickleKind::kText, Take<std::uint32_t>());
        break;
      case PickleCode::kLongText:
        PushText(PickleKind::kText, Take<std::uint64_t>());
        break;
      case PickleCode::kShortBytes:
        PushText(PickleKind::kBytes, Take<std::uint8_t>());
        break;
      case PickleCode::kBytes:
        PushText(PickleKind::kBytes, Take<std::uint32_t>());
        break;
      case PickleCode::kLongBytes:
        PushText(PickleKind::kBytes, Take<std::uint64_t>());
        break;
      case PickleCode::kEmptyList:
        PushContainer(PickleKind::kList);
        break;
      case PickleCode::kEmptyDict:
        PushContainer(PickleKind::kDict);
        break;
      case PickleCode::kEmptyTuple:
        PushContainer(PickleKind::kTuple);
        break;
      case PickleCode::kAppend:
        Need(2);
        Extend(PickleKind::kList, stack.size() - 1);
        break;
      case PickleCode::kAppends:
        Extend(PickleKind::kList, TakeMark());
        break;
      case PickleCode::kSetItem:
        Need(3);
        Extend(PickleKind::kDict, stack.size() - 2);
        break;
      case PickleCode::kSetItems:
        Extend(PickleKind::kDict, TakeMark());
        break;
      case PickleCode::kTuple:
        MakeTuple(TakeMark());
        break;
      case PickleCode::kTuple1:
        Need(1);
        MakeTuple(stack.size() - 1);
        break;
      case PickleCode::kTuple2:
        Need(2);
        MakeTuple(stack.size() - 2);
        break;
      case PickleCode::kTuple3:
        Need(3);
        MakeTuple(stack.size() - 3);
        break;
      case PickleCode::kGet:
        Get(Take<std::uint8_t>());
        break;
      case PickleCode::kLongGet:
        Get(Take<std::uint32_t>());
        break;
      case PickleCode::kPut:
        Put(Take<std::uint8_t>());
        break;
      case PickleCode::kLongPut:
        Put(Take<std::uint32_t>());
        break;
      case PickleCode::kMemoize:
        Need(1);
        memo.push_back(stack.back());
        break;
      default:
        RefuseCode(code);
    }
  }
}

Pickle::Pickle(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {}
Pickle::~Pickle() = default;

PickleValue Pickle::Read(PickleConsumer& consumer) {
  state_->pickle = this;
  state_->consumer = &consumer;
  return InContext(state_->name, [&] { return state_->Run(); });
}

std::string_view Pickle::Text(const PickleValue& text) const { return state_->texts[text.number]; }

PickleNote& Pickle::Note(const PickleValue& container) {
  return state_->containers[container.number].note;
}

bool BeginsAsPickle(const std::filesystem::path& path) {
  constexpr unsigned char kFirst = 2, kLast = 5;  // protocols
  const std::string start = ReadStart(path, 2);
  if (start.size() < 2 || static_cast<unsigned char>(start[0]) != 0x80) return false;
  const auto protocol = static_cast<unsigned char>(start[1]);
  return protocol >= kFirst && protocol <= kLast;
}

}  // namespace mpa::io
