// What must come next, and where a tokenizer may end its tokens in it.
//
// A tokenizer is known here by its vocabulary alone. Of those that join bytes (BPE, unigram, longest match) all have
// one property: where a token ends, the tokens before it are those of the text before it alone. So what the encodings
// of all continuations of a text have in common follows from the texts that end where a last token may end.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "matcher/matcher.h"

namespace cfgmask {

namespace {

// Text before what is forced that is looked at, if it can be cut between two words there: tokenizers choose the tokens
// of words by themselves.
constexpr size_t kEnoughText = 256;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool begins_word(std::string_view text) { return text.size() > 1 && text[0] == ' ' && !is_blank(text[1]); }
bool ends_word(std::string_view text) {
  return !text.empty() && static_cast<uint8_t>(text.back()) < 0x80 && !is_blank(text.back());
}

bool ends_with_whole_character(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && n < 3 && is_continuation(text[text.size() - 1 - n])) ++n;
  if (n == text.size()) return n == 0;
  const auto lead = static_cast<uint8_t>(text[text.size() - 1 - n]);
  const size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return n + 1 >= length;
}

// Nodes of the trie that stand side by side.
struct Siblings {
  uint32_t first;
  uint32_t last;
};

// Those below `text`, one range a segment.
std::vector<Siblings> below(const Trie& trie, std::string_view text) {
  std::vector<Siblings> found;
  for (const Segment& segment : trie.segments()) {
    Siblings at{segment.first, segment.last};
    for (const char c : text) {
      uint32_t node = at.first;
      while (node < at.last && trie.byte(node) != static_cast<uint8_t>(c)) node = trie.end(node);
      at = node < at.last ? Siblings{node + 1, trie.end(node)} : Siblings{0, 0};
      if (at.first >= at.last) break;
    }
    if (at.first < at.last) found.push_back(at);
  }
  return found;
}

// Whether the grammar goes on from `state` with the bytes of a token among these nodes.
bool any_fits(CompiledGrammar& grammar, Siblings nodes, const Position& at) {
  const Trie& trie = *grammar.vocabulary().trie;
  struct Open {
    uint32_t end;
    Position at;
  };
  std::vector<Open> path{{nodes.last, at}};
  for (uint32_t node = nodes.first; node < nodes.last;) {
    while (path.back().end <= node) path.pop_back();
    auto next = grammar.step(path.back().at, trie.byte(node));
    if (!next) {
      node = trie.end(node);
      continue;
    }
    if (!trie.tokens(node).empty()) return true;
    path.push_back({trie.end(node), std::move(*next)});
    ++node;
  }
  return false;
}

// `after`: where the text ends.
std::vector<size_t> possible_ends(CompiledGrammar& grammar, std::string_view text, const Position& after) {
  const Trie& trie = *grammar.vocabulary().trie;
  const size_t n = text.size();
  const auto is_whole = [&](size_t end) {
    return end < n ? !is_continuation(text[end]) : ends_with_whole_character(text);
  };
  // Whether tokens from here lead beyond the text without ending at the end of a character in it.
  std::vector<bool> leads_out(n + 1, false);
  leads_out[n] = true;
  std::vector<size_t> ends;
  if (is_whole(n)) ends.push_back(n);
  size_t last = n;
  for (size_t i = n; i-- > 0 && last - i <= trie.max_depth();) {
    bool open = false;
    trie.for_each_prefix(text.substr(i), [&](size_t length, TokenId) {
      open = open || (leads_out[i + length] && !is_whole(i + length));
    });
    for (const Siblings nodes : open ? std::vector<Siblings>() : below(trie, text.substr(i))) {
      open = open || any_fits(grammar, nodes, after);
    }
    leads_out[i] = open;
    if (open) last = i;
    if (open && is_whole(i)) ends.push_back(i);
  }
  return ends;
}

}  // namespace

std::pair<std::string, Position> Matcher::force(size_t max_bytes) {
  std::string text;
  Position at = position();
  while (text.size() < max_bytes && !grammar_->accepting(at.state) && !grammar_->expects_token_set(at.state)) {
    std::optional<std::pair<unsigned, Position>> only;
    size_t n = 0;
    for (unsigned b = 0; b < 256 && n < 2; ++b) {
      if (auto next = grammar_->step(at, b)) {
        ++n;
        only = {b, std::move(*next)};
      }
    }
    // What follows depends on whether a token ends here.
    if (n != 1 || (!text.empty() && grammar_->end_token(at.state) != at.state)) break;
    text.push_back(static_cast<char>(only->first));
    at = std::move(only->second);
  }
  return {std::move(text), std::move(at)};
}

std::string Matcher::forced_bytes(size_t max_bytes) {
  if (is_finished()) return {};
  const CompiledGrammar::Guard guard(*grammar_);
  return force(max_bytes).first;
}

void Matcher::add_written(ForcedText& forced) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<std::string_view> texts;  // the last one first
  size_t size = 0;
  history_.for_each_back([&](TokenId token, std::string_view bytes) {
    const std::string_view text = token == CompiledGrammar::Consumed::kBytes ? bytes : vocabulary.text(token);
    // A token without text is no text to the tokenizer either.
    if (text.empty() || (size >= kEnoughText && begins_word(texts.back()) && ends_word(text))) return false;
    size += text.size();
    texts.push_back(text);
    forced.steps.push_back(token);
    return true;
  });
  std::reverse(forced.steps.begin(), forced.steps.end());
  forced.text.reserve(size);
  for (auto text = texts.rbegin(); text != texts.rend(); ++text) forced.text += *text;
  forced.n_written = size;
}

Matcher::ForcedText Matcher::forced_text(size_t max_bytes) {
  ForcedText forced;
  if (is_finished()) return forced;
  const CompiledGrammar::Guard guard(*grammar_);
  const auto [text, after] = force(max_bytes);
  if (text.empty()) return forced;
  add_written(forced);
  forced.text += text;
  forced.ends = possible_ends(*grammar_, forced.text, after);
  return forced;
}

}  // namespace cfgmask
