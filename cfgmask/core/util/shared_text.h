// A text that grows at its end, whose copies share their beginning: a matcher keeps one for each step that it can roll
// back, so that copies of it would be quadratic.
//
// Threads: as SharedList.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "util/shared_list.h"

namespace cfgmask {

class SharedText {
 public:
  void append(std::string_view text) {
    if (!text.empty()) pieces_.push(size() + text.size(), std::string(text));
  }
  void clear() { pieces_ = {}; }
  size_t size() const { return pieces_.top() == nullptr ? 0 : pieces_.top()->value.end; }
  bool empty() const { return pieces_.top() == nullptr; }
  // Linear.
  std::string string() const {
    std::string out(size(), '\0');
    for (const auto* node = pieces_.top(); node != nullptr; node = node->below) {
      const std::string& piece = node->value.text;
      piece.copy(out.data() + node->value.end - piece.size(), piece.size());
    }
    return out;
  }

 private:
  struct Piece {
    size_t end;
    std::string text;
  };
  SharedList<Piece> pieces_;
};

}  // namespace cfgmask
