#include "matcher/repetition.h"

namespace cfgmask {

bool Repetition::add(uint32_t symbol) {
  uint32_t border = 0;
  if (!symbols_.empty()) {
    border = borders_.back();
    while (border > 0 && symbols_[border] != symbol) border = borders_[border - 1];
    if (symbols_[border] == symbol) ++border;
  }
  symbols_.push_back(symbol);
  borders_.push_back(border);
  period_ = symbols_.size() - border;
  return period_ <= kLongestPiece;
}

}  // namespace cfgmask
