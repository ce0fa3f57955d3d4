// SPDX-License-Identifier: Apache-2.0
// The requests of a batch.
#include "res_list.h"

#include <optional>

#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

// Goes through a text once; what is nested deeper than the objects of the list is passed over.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  std::vector<BatchedRequest> Requests() {
    std::vector<BatchedRequest> requests;
    ForEach([&] { requests.push_back(Made()); }, [](const std::string&) {});
    return requests;
  }

  std::vector<std::string> Ids() {
    std::vector<std::string> ids;
    ForEach([&] { ids.push_back(id_); }, [&](const std::string& word) { ids.push_back(word); });
    return ids;
  }

 private:
  // Calls take_object() at the end of each object of the list, and take_word() for what is no
  // object.
  template <typename TakeObject, typename TakeWord>
  void ForEach(TakeObject take_object, TakeWord take_word) {
    int depth = 0;
    for (; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '{') {
        if (++depth == 1) Begin();
        ++at_;
      } else if (c == '}') {
        if (depth == 1) take_object();
        if (depth > 0) --depth;
        ++at_;
      } else if (IsWord(c)) {
        const std::string word = Word();
        if (depth == 0) take_word(word);
        if (depth == 1) Take(word);
      } else {
        if (c == ',') key_.clear();
        ++at_;
      }
    }
  }

  static bool IsQuote(char c) { return c == '\'' || c == '"'; }
  static bool IsWord(char c) {
    constexpr std::string_view kBetween = "{}[](),: \t\r\n";
    return kBetween.find(c) == std::string_view::npos;
  }

  // A text without its quotes, or whatever stands between the signs of the list.
  std::string Word() {
    std::string word;
    const char quote = text_[at_];
    if (!IsQuote(quote)) {
      while (at_ < text_.size() && IsWord(text_[at_])) word += text_[at_++];
      return word;
    }
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word += text_[at_];
    }
    if (at_ < text_.size()) ++at_;
    return word;
  }

  void Begin() {
    key_.clear();
    id_.clear();
    iteration_.reset();
    type_.reset();
    tokens_.reset();
  }

  void Take(const std::string& word) {
    if (key_.empty()) {
      key_ = word;
      return;
    }
    if (key_ == "rid") id_ = word;
    if (key_ == "iter") iteration_ = io::ParseInt(word);
    if (key_ == "type") type_ = io::ParseInt(word);
    // Some releases write the name with the sign behind it.
    if (key_ == "num_scheduled_tokens" || key_ == "num_scheduled_tokens=")
      tokens_ = io::ParseInt(word);
    key_.clear();
  }

  BatchedRequest Made() const {
    // Without a type the first iteration of a request reads its prompt.
    const bool is_prefill = type_ ? *type_ == 0 : iteration_ == 0;
    return {id_, is_prefill, tokens_.value_or(-1)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string key_, id_;
  std::optional<std::int64_t> iteration_, type_, tokens_;
};

}  // namespace

std::vector<BatchedRequest> RequestsIn(std::string_view res_list) {
  return Scan(res_list).Requests();
}

std::vector<std::string> IdsIn(std::string_view list) { return Scan(list).Ids(); }

}  // namespace mpa::readers
