// What follows a backslash, inside and outside of classes.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "pattern/scanner.h"

namespace cfgmask {

namespace {

using Kind = SyntaxNode::Kind;
using Name = PatternDialect::Name;

constexpr char32_t kMaxCodePoint = 0x10FFFF;
constexpr size_t kNumberDigits = 9;

class PatternEscape {
 public:
  PatternEscape(PatternScanner& scan, bool in_class, char32_t& character)
      : scan_(scan), dialect_(scan.dialect), in_class_(in_class), character_(character), start_(scan.position - 1) {}

  std::optional<SyntaxNode> read() {
    const char32_t letter = scan_.peek();
    if (letter == PatternScanner::kEnd) return wrong("trailing-backslash");
    ++scan_.position;
    if (const auto control = control_character(letter)) return character(*control);
    if (letter == U'b' && in_class_ && dialect_.backspace) return character(8);
    if (const size_t at = std::u32string_view(U"dwsDWS").find(letter); at != std::u32string_view::npos) {
      SyntaxNode node = scan_.node(Kind::kShorthand, start_);
      node.letter = "dws"[at % 3];
      node.negated = at >= 3;
      return node;
    }
    if (letter == U'p' || letter == U'P') return property(letter == U'P');
    if (is_in(letter, dialect_.hex_letters)) return hex(letter);
    if (is_ascii_digit(letter)) return digits(letter);
    if (letter == U'c' && dialect_.control) return control();
    if (letter == U'N' && dialect_.named_characters) return named();
    if (!in_class_) {
      if (auto found = place(letter)) return found;
    }
    if (is_itself(letter)) return character(letter);
    return refused(letter);
  }

 private:
  static bool is_in(char32_t c, std::string_view letters) {
    return c < 0x80 && letters.find(static_cast<char>(c)) != letters.npos;
  }
  static std::u32string text(char32_t c) { return std::u32string(1, c); }

  std::optional<SyntaxNode> character(char32_t code) {
    character_ = code;
    SyntaxNode node = scan_.node(in_class_ ? Kind::kRange : Kind::kText, start_);
    node.low = node.high = code;
    return node;
  }
  std::optional<SyntaxNode> wrong(std::string_view code, std::vector<std::u32string> arguments = {}) {
    scan_.report(code, start_, std::move(arguments));
    return std::nullopt;
  }

  std::optional<char32_t> control_character(char32_t letter) const {
    switch (letter) {
      case U'a':
        return dialect_.bell ? std::optional<char32_t>(7) : std::nullopt;
      case U'f':
        return 12;
      case U'n':
        return 10;
      case U'r':
        return 13;
      case U't':
        return 9;
      case U'v':
        return 11;
      default:
        return std::nullopt;
    }
  }

  bool is_itself(char32_t c) const {
    const bool is_alphanumeric = is_ascii_digit(c) || is_ascii_letter(c);
    switch (dialect_.identity) {
      case PatternDialect::Identity::kNotAlphanumeric:
        return !is_alphanumeric;
      case PatternDialect::Identity::kRust:
        return c < 0x80 && !is_alphanumeric && c != U'<' && c != U'>';
      case PatternDialect::Identity::kEcma:
        break;
    }
    const std::u32string_view everywhere = U"^$\\.*+?()[]{}|/";
    return everywhere.find(c) != everywhere.npos ||
           (in_class_ && dialect_.class_identity.find(c) != dialect_.class_identity.npos);
  }

  // Escapes that match no character: anchors, word boundaries, backreferences.
  std::optional<SyntaxNode> place(char32_t letter) {
    const bool is_start = dialect_.starts.find(letter) != dialect_.starts.npos;
    if (is_start || dialect_.ends.find(letter) != dialect_.ends.npos) {
      SyntaxNode node = scan_.node(Kind::kAnchor, start_);
      node.letter = is_start ? 's' : 'e';
      return node;
    }
    const bool is_rust = dialect_.name == Name::kRust;
    if (letter == U'B') return boundary('B');
    if (letter == U'b') return boundary(is_rust ? rust_boundary() : 'b');
    if ((letter == U'<' || letter == U'>') && is_rust) return boundary(letter == U'<' ? 's' : 'e');
    if (letter == U'k' || letter == U'g') return reference();
    return std::nullopt;
  }
  std::optional<SyntaxNode> boundary(char letter) {
    SyntaxNode node = scan_.node(Kind::kBoundary, start_);
    node.letter = letter;
    return node;
  }
  char rust_boundary() {
    static constexpr std::array<std::pair<std::u32string_view, char>, 4> kKinds{
        {{U"{start}", 's'}, {U"{end}", 'e'}, {U"{start-half}", 'S'}, {U"{end-half}", 'E'}}};
    for (const auto& [written, letter] : kKinds) {
      if (scan_.accept(written)) return letter;
    }
    return 'b';
  }

  // `<name>`, `{name}` or `'name'`.
  std::optional<SyntaxNode> reference() {
    const std::u32string_view openers = U"<{'";
    const std::u32string_view closers = U">}'";
    if (openers.find(scan_.peek()) == openers.npos) return std::nullopt;
    const size_t first = scan_.position + 1;
    const size_t last = scan_.pattern.find_first_of(closers, first);
    if (last == scan_.pattern.npos) return std::nullopt;
    scan_.position = last + 1;
    return backreference(first, last - first);
  }
  SyntaxNode backreference(size_t first, size_t size) const {
    SyntaxNode node = scan_.node(Kind::kBackreference, start_);
    node.first = static_cast<uint32_t>(first);
    node.size = static_cast<uint32_t>(size);
    return node;
  }

  std::optional<SyntaxNode> refused(char32_t letter) {
    const std::u32string label = wide(dialect_.label);
    if (letter < 0x80 && is_in(letter, "XRKG")) return wrong("unsupported-escape", {text(letter)});
    if (!is_ascii_letter(letter) && !is_ascii_digit(letter)) return wrong("bad-escape.none", {text(letter), label});
    return wrong(is_in(letter, "AZz") ? "bad-escape.anchor" : "bad-escape.letter", {text(letter), label});
  }

  std::optional<SyntaxNode> hex(char32_t letter) {
    const size_t n_digits = letter == U'x' ? 2 : letter == U'u' ? 4 : 8;
    const bool may_have_braces = is_in(letter, dialect_.braced_hex);
    std::optional<std::u32string_view> digits;
    const bool is_braced = may_have_braces && scan_.looking_at(U"{");
    if (is_braced) {
      digits = braced_hex();
    } else {
      const std::u32string_view next = scan_.rest().substr(0, n_digits);
      if (next.size() == n_digits && std::all_of(next.begin(), next.end(), is_hex_digit)) {
        digits = next;
        scan_.position += n_digits;
      }
    }
    if (!digits) {
      scan_.accept_up_to(U"{", U'}', U"{");
      const std::u32string count = wide(std::to_string(n_digits));
      if (may_have_braces) return wrong("bad-escape.braced-hex", {text(letter), count});
      return wrong("bad-escape.hex", {text(letter), count});
    }
    char32_t code = number_of(*digits, 16);
    if (0xD800 <= code && code <= 0xDBFF && letter == U'u' && dialect_.name == Name::kEcma && !is_braced)
      code = with_low_surrogate(code);
    if (code > kMaxCodePoint) return wrong("bad-code-point");
    // In a class a range may pass over surrogates, which then are left out of it.
    if (0xD800 <= code && code <= 0xDFFF && (!in_class_ || dialect_.name == Name::kRust))
      return wrong("surrogate.escape");
    if (dialect_.name == Name::kRust && scan_.flags.ascii && letter == U'x' && code > 0x7F)
      return wrong("non-utf8.byte");
    return character(code);
  }

  // The digits in braces, without zeros before them.
  std::optional<std::u32string_view> braced_hex() {
    const size_t start = scan_.position;
    ++scan_.position;
    std::u32string_view digits = scan_.take_while(is_hex_digit);
    if (digits.empty() || !scan_.accept(U"}")) {
      scan_.position = start;
      return std::nullopt;
    }
    digits.remove_prefix(std::min(digits.find_first_not_of(U'0'), digits.size()));
    return digits.substr(0, kNumberDigits);
  }

  char32_t with_low_surrogate(char32_t high) {
    const std::u32string_view next = scan_.rest().substr(0, 6);
    if (next.size() < 6 || !next.starts_with(U"\\u") || !std::all_of(next.begin() + 2, next.end(), is_hex_digit))
      return high;
    const char32_t low = number_of(next.substr(2), 16);
    if (low < 0xDC00 || low > 0xDFFF) return high;
    scan_.position += 6;
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  std::optional<SyntaxNode> digits(char32_t first) {
    if (dialect_.octal) {
      const size_t n = n_octal_digits(first);
      if (n > 0) {
        const std::u32string_view octal = scan_.pattern.substr(scan_.position - 1, n);
        scan_.position += n - 1;
        const uint32_t code = number_of(octal, 8);
        if (code > 0377) return wrong("bad-escape.octal");
        return character(code);
      }
    } else if (first == U'0' && !is_ascii_digit(scan_.peek())) {
      return character(0);
    }
    if (in_class_ || first == U'0') return wrong("bad-escape.digit", {text(first), wide(dialect_.label)});
    if (is_ascii_digit(scan_.peek())) ++scan_.position;
    return backreference(start_ + 1, scan_.position - start_ - 1);
  }
  // Those of an octal escape, of which the first was read: in a class any up to three, elsewhere three, or up to two
  // after a zero.
  size_t n_octal_digits(char32_t first) const {
    const auto is_octal = [](char32_t c) { return U'0' <= c && c <= U'7'; };
    if (!is_octal(first)) return 0;
    size_t n = 1;
    while (n < 3 && is_octal(scan_.at(start_ + 1 + n))) ++n;
    return in_class_ || first == U'0' || n == 3 ? n : 0;
  }

  std::optional<SyntaxNode> control() {
    const char32_t letter = scan_.peek();
    if (!is_ascii_letter(letter)) return wrong("bad-escape.control");
    ++scan_.position;
    return character(letter % 32);
  }

  std::optional<SyntaxNode> named() {
    const auto name = scan_.accept_up_to(U"{", U'}', U"{");
    if (!name) return wrong("bad-escape.name");
    const auto found = scan_.options.named ? scan_.options.named(*name) : std::nullopt;
    if (!found) return wrong("unknown-character");
    return character(*found);
  }

  std::optional<SyntaxNode> property(bool negated) {
    if (dialect_.short_properties && is_ascii_letter(scan_.peek())) {
      ++scan_.position;
      SyntaxNode node = scan_.node(Kind::kProperty, start_);
      node.negated = negated;
      node.first = static_cast<uint32_t>(scan_.position - 1);
      node.size = 1;
      return node;
    }
    if (auto found = braced_property(negated)) return found;
    scan_.accept_up_to(U"{", U'}', U"{");
    return wrong("bad-escape.property");
  }
  // `{name}`, `{name=value}`, `{name:value}` or `{name!=value}`; in Python a `^` before it negates. Otherwise nothing
  // is read.
  std::optional<SyntaxNode> braced_property(bool negated) {
    const size_t start = scan_.position;
    const auto is_of_name = [](char32_t c) {
      return is_ascii_letter(c) || is_ascii_digit(c) || c == U'_' || c == U' ' || c == U'-';
    };
    const auto is_of_value = [&](char32_t c) { return is_of_name(c) || c == U'.'; };
    SyntaxNode node;
    bool is_right = scan_.accept(U"{");
    bool flipped = is_right && dialect_.name == Name::kPython && scan_.accept(U"^");
    node.first = static_cast<uint32_t>(scan_.position);
    node.size = static_cast<uint32_t>(scan_.take_while(is_of_name).size());
    is_right = is_right && node.size > 0;
    const bool differs = scan_.accept(U"!=");
    if (differs || scan_.accept(U"=") || scan_.accept(U":")) {
      node.value_first = static_cast<uint32_t>(scan_.position);
      node.value_size = static_cast<uint32_t>(scan_.take_while(is_of_value).size());
      is_right = is_right && node.value_size > 0;
    }
    if (!is_right || !scan_.accept(U"}")) {
      scan_.position = start;
      return std::nullopt;
    }
    SyntaxNode made = scan_.node(Kind::kProperty, start_);
    made.negated = negated != (flipped != differs);
    made.first = node.first;
    made.size = node.size;
    made.value_first = node.value_first;
    made.value_size = node.value_size;
    return made;
  }

  PatternScanner& scan_;
  const PatternDialect& dialect_;
  bool in_class_;
  char32_t& character_;
  size_t start_;  // of the backslash
};

}  // namespace

uint32_t number_of(std::u32string_view digits, uint32_t base) {
  uint64_t number = 0;
  for (char32_t c : digits.substr(0, kNumberDigits)) {
    const char32_t letter = c | 0x20;
    number = number * base + (is_ascii_digit(c) ? c - U'0' : letter - U'a' + 10);
  }
  return static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
}

std::u32string wide(std::string_view ascii) { return {ascii.begin(), ascii.end()}; }

std::optional<SyntaxNode> read_escape(PatternScanner& scan, bool in_class, char32_t& character) {
  return PatternEscape(scan, in_class, character).read();
}

}  // namespace cfgmask
