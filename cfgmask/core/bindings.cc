// The Python face of the core. Only this file and those of bindings/ know Python.
//
// It is documented in cfgmask/_core.pyi; bindings/docs.h is made from that when the module is built.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/byte_bits.h"
#include "bindings/catching.h"
#include "bindings/docs.h"
#include "bindings/forced.h"
#include "bindings/interpreter.h"
#include "bindings/json_values.h"
#include "bindings/lark_nodes.h"
#include "bindings/long_call.h"
#include "bindings/mask_words.h"
#include "bindings/number_regex.h"
#include "bindings/pattern_reader.h"
#include "bindings/regex_trees.h"
#include "bindings/reports.h"
#include "bindings/schema_rules.h"
#include "bindings/token_methods.h"
#include "bindings/tree_maker.h"
#include "grammar/grammar_form.h"
#include "grammar/numbering.h"
#include "json_schema/document/json_document.h"
#include "json_schema/keywords/schema_reader.h"
#include "json_schema/layouts/schema_form.h"
#include "json_schema/layouts/value_layout.h"
#include "json_schema/layouts/yaml_layout.h"
#include "json_schema/rules/hand_over.h"
#include "json_schema/rules/indented_rules.h"
#include "json_schema/sets/reached_values.h"
#include "json_schema/sets/value_counts.h"
#include "lexer/lexeme_ends.h"
#include "mask/candidates.h"
#include "mask/logits.h"
#include "matcher/batch.h"
#include "matcher/grammar_builder.h"
#include "matcher/matcher.h"
#include "matcher/segments.h"
#include "regex/count.h"
#include "regex/endless.h"
#include "vocab/vocabulary.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace cfgmask {
namespace {

nb::object python_error(const char* name) { return nb::module_::import_("cfgmask.errors").attr(name); }

// An error of cfgmask.errors.
template <typename... Arguments>
nb::object new_error(const char* name, const Arguments&... arguments) {
  return in_python([&]() -> nb::object { return python_error(name)(arguments...); });
}

void raise_limit(const LimitExceeded& e) {
  const auto* in_schema = dynamic_cast<const SchemaLimitExceeded*>(&e);
  std::string detail;
  if (in_schema != nullptr)
    detail = "at " + (in_schema->pointer().empty() ? "the root of the schema" : in_schema->pointer());
  const nb::object value = new_error("LimitExceeded", e.limit(), e.value(), detail);
  PyErr_SetObject(value.type().ptr(), value.ptr());
}

void raise_budget(const BudgetTooSmall& e) {
  const nb::object value = new_error("BudgetTooSmall", e.max_tokens, e.needed);
  PyErr_SetObject(value.type().ptr(), value.ptr());
}

struct PyVocabulary {
  std::shared_ptr<const Vocabulary> vocabulary;
  VocabularyStores stores;

  PyVocabulary(std::shared_ptr<const Vocabulary> v, VocabularyStores::Regexes common)
      : vocabulary(v), stores(std::move(v), std::move(common)) {}
};

// A matcher holds its grammar's Python object, and that the vocabulary's, unseen by the garbage collector. So none of
// the three may lead back to another: they are final and take no attributes, or a user could close a circle that is
// never freed. (Telling the collector of what they hold would allow both, and make it visit every matcher.) What a
// grammar is made anew from holds nothing of Python.

// What a grammar is made of, but for its vocabulary.
struct HandedOver {
  std::shared_ptr<const GrammarForm> form;
  TokenIds ids;
  Limits limits;
  uint32_t shard;

  Compiled compiled(VocabularyStores& stores) const {
    LongCall call(nullptr);
    if (form->regexes().n_texts() > kSlowTexts) call.release();
    return compile(*form, ids, stores, limits, shard);
  }
};

// What Python holds: the grammar, and the vocabulary object that it was compiled for.
struct PyCompiled {
  std::shared_ptr<CompiledGrammar> grammar;
  std::shared_ptr<PyVocabulary> vocabulary;
  HandedOver made_of;
  uint32_t generation = 0;   // how often it was made anew
  nb::object observer = {};  // is told of each mask; null for nobody
  bool asks_for_mass = false;

  // The grammar for a text that begins, and its generation.
  std::pair<std::shared_ptr<CompiledGrammar>, uint32_t> at_beginning();
};

struct PyMatcher {
  Matcher matcher;
  std::shared_ptr<PyCompiled> compiled;
  uint32_t generation;
  std::optional<Narrowing> narrowing = std::nullopt;
  InUse in_use = {};

  // f(the matcher), which may take long.
  template <class F>
  auto with(F f) {
    LongCall call(&in_use);
    try {
      return f(matcher);
    } catch (const LimitExceeded& limit) {
      matcher.grammar().counts()->add_limit(limit.limit());
      throw;
    }
  }
  void reset() {
    auto [grammar, its_generation] = compiled->at_beginning();
    matcher.reset(std::move(grammar));
    generation = its_generation;
  }
  uint64_t state() {
    const uint64_t number = with([](Matcher& m) { return m.state_number(); });
    return number == 0 ? 0 : (uint64_t{generation} << Matcher::kStateBits) + number;
  }
};

std::pair<std::shared_ptr<CompiledGrammar>, uint32_t> PyCompiled::at_beginning() {
  const auto has_learnt_much = [current = grammar] {
    const CompiledGrammar::Guard guard(*current);
    return current->has_learnt_much();
  };
  if (has_learnt_much()) {
    auto anew = made_of.compiled(vocabulary->stores).grammar;
    anew->count_in(grammar->counts());
    grammar = std::move(anew);
    ++generation;
  }
  return {grammar, generation};
}

int traverse_compiled(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PyCompiled>(self)->observer.ptr());
  return 0;
}

int clear_compiled(PyObject* self) {
  nb::inst_ptr<PyCompiled>(self)->observer.reset();
  return 0;
}

// Tells the grammar's observer of a mask. Exceptions of its own are shown, and change nothing; Ctrl-C passes.
void tell(const PyCompiled& compiled, const MaskCost& cost, const std::exception_ptr& error,
          std::optional<double> rejected_mass = std::nullopt) {
  if (!compiled.observer.is_valid()) return;
  const nb::object observer = compiled.observer;
  nb::object limit = nb::none();
  try {
    if (error) std::rethrow_exception(error);
  } catch (const LimitExceeded& e) {
    limit = nb::str(e.limit().c_str());
  } catch (...) {
    return;
  }
  try {
    in_python([&] {
      nb::module_::import_("cfgmask.compiler.observation")
          .attr("tell")(observer, cost.is_new, std::chrono::duration<double>(cost.took).count(), limit, rejected_mass);
    });
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_Exception)) throw;
    e.discard_as_unraisable(observer);
  }
}

// The only token of a narrowed mask.
std::optional<TokenId> only_token(PyMatcher& self) {
  if (!self.narrowing) return std::nullopt;
  try {
    return self.narrowing->token(self.matcher, self.in_use, nb::cast(self.compiled));
  } catch (const LimitExceeded&) {
    return std::nullopt;  // what is forced is not known; the mask itself tells of limits
  }
}

void moved(PyMatcher& self) {
  if (self.narrowing) self.narrowing->moved();
}

void narrow(std::span<uint32_t> bits, std::optional<TokenId> only) {
  if (!only) return;
  clear_words(bits);
  set_bit(bits, *only);
}

struct PySegments {
  Segments segments;
  std::shared_ptr<PyCompiled> compiled;
  InUse in_use = {};

  // f(the segments), which may take long.
  template <class F>
  auto with(F f) {
    LongCall call(&in_use);
    return f(segments);
  }
};

std::string_view view(const nb::bytes& data) { return {data.c_str(), data.size()}; }
nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// The id, or one that every vocabulary lacks.
TokenId token_id(int64_t token) {
  const bool possible = token >= 0 && token <= std::numeric_limits<int32_t>::max();
  return possible ? static_cast<TokenId>(token) : std::numeric_limits<TokenId>::max();
}

Limits parse_limits(const std::optional<nb::dict>& values) {
  Limits limits;
  if (!values) return limits;
  auto read = [&](const char* name, uint64_t& field) {
    if (values->contains(name)) field = nb::cast<uint64_t>((*values)[name]);
  };
  read("max_nesting", limits.max_nesting);
  limits.max_nesting = bounded_nesting(limits.max_nesting);
  read("max_regex_nodes", limits.max_regex_nodes);
  read("max_lexer_states", limits.max_lexer_states);
  read("max_search_steps", limits.max_search_steps);
  read("max_rules", limits.max_rules);
  read("max_items", limits.max_items);
  read("max_item_sets", limits.max_item_sets);
  read("max_capture_bytes", limits.max_capture_bytes);
  read("mask_cache_bytes", limits.mask_cache_bytes);
  read("shared_cache_bytes", limits.shared_cache_bytes);
  return limits;
}

// The elements of a sequence, which may have no end and may make them when it is asked: no more than its length.
nb::list elements_of(const nb::sequence& sequence) {
  const size_t n = nb::len(sequence);
  nb::list found;
  for (size_t i = 0; i < n; ++i) found.append(in_python([&] { return nb::object(sequence[i]); }));
  return found;
}

// Views of the bytes, which the list must keep.
std::vector<std::string_view> checked_tokens(const nb::list& tokens, const std::vector<TokenId>& end_tokens) {
  std::vector<std::string_view> texts;
  const size_t n = nb::len(tokens);
  if (n == 0 || n > std::numeric_limits<int32_t>::max())
    throw nb::value_error("a vocabulary needs 1 to 2**31 - 1 tokens");
  texts.reserve(n);
  for (nb::handle token : tokens) texts.push_back(view(nb::cast<nb::bytes>(token)));
  size_t total = 0;
  for (const auto& text : texts) total += text.size();
  if (total > std::numeric_limits<uint32_t>::max() / 2)
    throw nb::value_error("the tokens hold more than 2 GiB of text");
  for (TokenId id : end_tokens) {
    if (id >= n) throw nb::value_error("an end token lies beyond the vocabulary");
  }
  return texts;
}

uint64_t token_fingerprint(const nb::sequence& tokens, const std::vector<TokenId>& end_tokens) {
  const nb::list held = elements_of(tokens);
  std::vector<std::string_view> texts = checked_tokens(held, end_tokens);
  for (TokenId id : end_tokens) texts[id] = {};
  const GilRelease release;
  return fingerprint_of(texts);
}

nb::bytes held_bytes(const PyVocabulary& self) {
  std::string found;
  self.vocabulary->held.for_each([&](unsigned b) { found.push_back(static_cast<char>(b)); });
  return nb::bytes(found.data(), found.size());
}

nb::bytes token_text(const PyVocabulary& self, TokenId token) {
  if (token >= self.vocabulary->n_vocab) throw nb::index_error("there is no such token");
  const std::string_view text = self.vocabulary->text(token);
  return nb::bytes(text.data(), text.size());
}

std::shared_ptr<PyVocabulary> make_vocabulary(const nb::sequence& tokens, std::vector<TokenId> end_tokens,
                                              VocabularyStores::Regexes common) {
  const nb::list held = elements_of(tokens);
  std::vector<std::string_view> texts = checked_tokens(held, end_tokens);
  // 30 ms for 128k tokens; `held` keeps their bytes.
  const GilRelease release;
  return std::make_shared<PyVocabulary>(std::make_shared<const Vocabulary>(std::move(texts), std::move(end_tokens)),
                                        std::move(common));
}

// ---- arrays

using AnyArray = nb::ndarray<nb::device::cpu>;

bool is_mask_word(const nb::dlpack::dtype& t) {
  return t.bits == 32 && t.lanes == 1 &&
         (t.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Int) ||
          t.code == static_cast<uint8_t>(nb::dlpack::dtype_code::UInt));
}

void check_width(size_t width, size_t n_words) {
  if (width < n_words) throw nb::value_error("the mask array is too short: it needs ceil(n_vocab / 32) words");
}

void check_alignment(const void* data, size_t size) {
  if (reinterpret_cast<uintptr_t>(data) % size != 0)
    throw nb::value_error("the elements of an array must be aligned to their size");
}

std::span<uint32_t> mask_row(const AnyArray& bits, size_t row, size_t n_words) {
  const size_t width = bits.shape(bits.ndim() - 1);
  check_width(width, n_words);
  check_alignment(bits.data(), sizeof(uint32_t));
  if (width > 1 && bits.stride(bits.ndim() - 1) != 1) throw nb::value_error("the words of a mask must be contiguous");
  const int64_t offset = bits.ndim() == 2 ? static_cast<int64_t>(row) * bits.stride(0) : 0;
  return {static_cast<uint32_t*>(bits.data()) + offset, width};
}

void check_mask_array(const AnyArray& bits, size_t n_dimensions) {
  if (bits.ndim() != n_dimensions || !is_mask_word(bits.dtype())) {
    throw nb::type_error(n_dimensions == 1 ? "the mask must be a one-dimensional array of uint32 or int32"
                                           : "the masks must be a two-dimensional array of uint32 or int32");
  }
}

nb::list captures_of(PyMatcher& self) {
  nb::list out;
  for (const auto& capture : self.with([](Matcher& m) { return m.captures(); }))
    out.append(nb::make_tuple(nb::str(capture.name.data(), capture.name.size()), to_bytes(capture.text)));
  return out;
}

nb::tuple to_python(const Segments::Decided& decided) {
  nb::list events;
  for (const auto& event : decided.events) {
    events.append(nb::make_tuple(event.begins, nb::str(event.name.data(), event.name.size()), event.position));
  }
  return nb::make_tuple(events, decided.position);
}

// nanobind follows the strides of a buffer, which ctypes leaves out.
bool lacks_strides(nb::handle object) {
  if (NumpyRows::is_array(object.ptr()) || PyObject_CheckBuffer(object.ptr()) == 0) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return true;
  }
  const bool lacks = buffer.ndim > 0 && buffer.strides == nullptr;
  PyBuffer_Release(&buffer);
  return lacks;
}

// The array that an object is. It must not be held while Python code runs, which could move its elements.
AnyArray array_of(nb::handle object, const char* what) {
  AnyArray array;
  if (lacks_strides(object) || !nb::try_cast(object, array, false))
    throw nb::type_error((std::string(what) + " must be a writable array on the CPU").c_str());
  return array;
}

// Calls f(row) with the words of a caller's array, one-dimensional, as they are now. No Python code may run while they
// are held: it could move them.
template <class F>
void with_words(const PyMatcher& self, nb::handle bits, F f) {
  const size_t n_words = self.matcher.grammar().vocabulary().n_words();
  if (const auto words = NumpyRows::words(bits.ptr())) {
    check_width(words->size(), n_words);
    return f(*words);
  }
  if (const WordBuffer buffer(bits); buffer.holds_words()) {
    NumpyRows::learn(bits.ptr(), buffer);
    check_width(buffer.words().size(), n_words);
    return f(buffer.words());
  }
  const AnyArray array = array_of(bits, "the mask");
  check_mask_array(array, 1);
  f(mask_row(array, 0, n_words));
}

// The mask, or what is left where it is not to be had, with the error that tells why.
struct NewMask {
  NextMask mask;
  std::exception_ptr error = nullptr;
};

NewMask new_mask(PyMatcher& self) {
  NewMask found;
  try {
    found.mask = self.with([](Matcher& m) { return m.next_mask(); });
  } catch (...) {
    found.error = std::current_exception();
  }
  if (!found.error) return found;
  try {
    std::rethrow_exception(found.error);
  } catch (const LimitExceeded&) {
    found.mask = self.with([](Matcher& m) { return m.next_mask_over_limit(); });
  } catch (...) {
    // Nothing is allowed, which is what `mask` says.
  }
  return found;
}

void fill_array(PyMatcher& self, nb::handle bits) {
  self.in_use.check();
  const Vocabulary& vocabulary = self.matcher.grammar().vocabulary();
  const auto only = only_token(self);
  const auto finish = [&](std::span<uint32_t> row) {
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(vocabulary.n_words()), row.end(), 0);
    narrow(row, only);
  };
  bool is_known = false;
  with_words(self, bits, [&](std::span<uint32_t> row) {
    is_known = self.matcher.fill_known_mask(row.first(vocabulary.n_words()));
    if (is_known) finish(row);
  });
  if (is_known) return tell(*self.compiled, {}, nullptr);
  // Other threads run while it is found, if that takes long.
  const auto [mask, error] = new_mask(self);
  with_words(self, bits, [&, &next = mask, failed = error != nullptr](std::span<uint32_t> row) {
    next.write(vocabulary, row.first(vocabulary.n_words()));
    if (!failed) return finish(row);
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(vocabulary.n_words()), row.end(), 0);
  });
  tell(*self.compiled, mask.cost(), error);
  if (error) std::rethrow_exception(error);
}

FloatType float_type(const nb::dlpack::dtype& type) {
  const auto is = [&](nb::dlpack::dtype_code code, int size) {
    return type.code == static_cast<uint8_t>(code) && type.bits == size && type.lanes == 1;
  };
  if (is(nb::dlpack::dtype_code::Float, 32)) return FloatType::kFloat32;
  if (is(nb::dlpack::dtype_code::Float, 16)) return FloatType::kFloat16;
  if (is(nb::dlpack::dtype_code::Bfloat, 16)) return FloatType::kBfloat16;
  if (is(nb::dlpack::dtype_code::Float, 64)) return FloatType::kFloat64;
  throw nb::type_error("the logits must be float16, bfloat16, float32 or float64");
}

// Logits of a vocabulary's tokens, one after the other. Throws for others.
Logits checked_logits(const AnyArray& logits, const Vocabulary& vocabulary) {
  if (logits.ndim() != 1) throw nb::type_error("the logits must be one-dimensional");
  const FloatType type = float_type(logits.dtype());
  const size_t n = logits.shape(0);
  if (n < vocabulary.n_vocab) throw nb::value_error("there are fewer logits than tokens in the vocabulary");
  return {logits.data(), type, logits.stride(0), n};
}

// The mask, or what is left where it is not to be had, with the error that tells why.
struct MaskOrError {
  std::vector<uint32_t> bits;
  std::exception_ptr error = nullptr;
  MaskCost cost = {};
};

MaskOrError mask_of(PyMatcher& self) {
  MaskOrError found{std::vector<uint32_t>(self.matcher.grammar().vocabulary().n_words())};
  const auto only = only_token(self);
  try {
    found.cost = self.with([&](Matcher& m) { return m.fill_mask(found.bits); });
    narrow(found.bits, only);
  } catch (const LimitExceeded&) {
    found.error = std::current_exception();  // what may not be known to be allowed is masked all the same
  }
  return found;
}

// Counts how much probability the mask takes away, if somebody asks for that. Called before the logits change.
std::optional<double> counted_mass(const PyMatcher& self, std::span<const uint32_t> bits, const Logits& row) {
  if (!self.compiled->asks_for_mass) return std::nullopt;
  const auto mass = rejected_mass(bits, self.matcher.grammar().vocabulary().n_vocab, row);
  if (mass) self.matcher.grammar().counts()->add_rejected_mass(*mass);
  return mass;
}

bool apply(PyMatcher& self, const nb::object& logits) {
  const Vocabulary& vocabulary = self.matcher.grammar().vocabulary();
  const auto found = mask_of(self);
  std::optional<double> mass;
  bool is_left = false;
  {
    const AnyArray array = array_of(logits, "the logits");
    const Logits row = checked_logits(array, vocabulary);
    mass = counted_mass(self, found.bits, row);
    mask_logits(found.bits, vocabulary.n_vocab, row);
    is_left = any_left(found.bits, vocabulary.n_vocab, row);
  }
  tell(*self.compiled, found.cost, found.error, mass);
  if (found.error) std::rethrow_exception(found.error);
  return is_left;
}

// The records that the logits are the middle of.
std::span<Candidate> candidates_of(const Logits& row) {
  static_assert(sizeof(Candidate) == 3 * sizeof(float) && offsetof(Candidate, logit) == sizeof(float));
  if (row.type != FloatType::kFloat32 || row.stride != 3) throw nb::value_error("these are no logits of candidates");
  return {reinterpret_cast<Candidate*>(static_cast<char*>(row.data) - offsetof(Candidate, logit)), row.size};
}

void intersect(std::span<uint32_t> bits, const nb::object& among) {
  if (among.is_none()) return;
  const AnyArray given = array_of(among, "the mask");
  check_mask_array(given, 1);
  const auto others = mask_row(given, 0, bits.size());
  for (size_t i = 0; i < bits.size(); ++i) bits[i] &= others[i];
}

// How many candidates still count.
size_t mask_records(std::span<const uint32_t> bits, size_t n_vocab, const Logits& row, bool may_move) {
  if (may_move) {
    const auto candidates = candidates_of(row);
    if (!any_left(bits, n_vocab, row)) return 0;
    if (const auto n_kept = keep_candidates(bits, candidates)) return *n_kept;
  }
  mask_logits(bits, n_vocab, row);
  return any_left(bits, n_vocab, row) ? row.size : 0;
}

size_t mask_candidates(PyMatcher& self, const nb::object& logits, const nb::object& among, bool may_move) {
  const size_t n_vocab = self.matcher.grammar().vocabulary().n_vocab;
  auto found = mask_of(self);
  std::optional<double> mass;
  size_t n_left = 0;
  {
    const AnyArray array = array_of(logits, "the logits");
    const Logits row = checked_logits(array, self.matcher.grammar().vocabulary());
    mass = counted_mass(self, found.bits, row);
    intersect(found.bits, among);
    n_left = mask_records(found.bits, n_vocab, row, may_move && !found.error);
  }
  tell(*self.compiled, found.cost, found.error, mass);
  if (found.error) std::rethrow_exception(found.error);
  return n_left;
}

void apply_masks(const nb::object& given_logits, const nb::object& given_bits,
                 const std::optional<std::vector<int64_t>>& indices) {
  const AnyArray bits = array_of(given_bits, "the masks");
  const AnyArray logits = array_of(given_logits, "the logits");
  check_mask_array(bits, 2);
  if (logits.ndim() != 2) throw nb::type_error("the logits must be two-dimensional");
  const FloatType type = float_type(logits.dtype());
  const size_t n_rows = logits.shape(0);
  if (bits.shape(0) != n_rows) throw nb::value_error("the masks and the logits must have the same number of rows");
  for (int64_t row : indices.value_or(std::vector<int64_t>())) {
    if (row < 0 || static_cast<size_t>(row) >= n_rows) throw nb::value_error("an index lies beyond the rows");
  }
  if (n_rows > 0) mask_row(bits, 0, 0);  // throws where the words are not contiguous
  const size_t n = logits.shape(1);
  const size_t n_masked = std::min(n, bits.shape(1) * 32);
  const auto apply_row = [&](size_t row) {
    const int64_t offset = static_cast<int64_t>(row) * logits.stride(0) * (logits.dtype().bits / 8);
    mask_logits(mask_row(bits, row, 0), n_masked,
                {static_cast<char*>(logits.data()) + offset, type, logits.stride(1), n});
  };
  const GilRelease release;
  if (!indices) {
    for (size_t row = 0; row < n_rows; ++row) apply_row(row);
  } else {
    for (int64_t row : *indices) apply_row(static_cast<size_t>(row));
  }
}

nb::object row_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const LimitExceeded& e) {
    return new_error("LimitExceeded", e.limit(), e.value());
  } catch (const std::bad_alloc&) {
    return nb::handle(PyExc_MemoryError)("no memory is left for the mask");
  } catch (const std::exception& e) {
    return nb::handle(PyExc_RuntimeError)(e.what());
  }
}

// Keeps other threads and signal handlers off the matchers of a batch. The GIL guards it.
class AllInUse {
 public:
  explicit AllInUse(std::span<PyMatcher* const> matchers) : matchers_(matchers) { set(true); }
  AllInUse(const AllInUse&) = delete;
  AllInUse& operator=(const AllInUse&) = delete;
  ~AllInUse() { set(false); }

 private:
  void set(bool in_use) {
    for (PyMatcher* matcher : matchers_) {
      if (matcher != nullptr) matcher->in_use.by_another = in_use;
    }
  }

  std::span<PyMatcher* const> matchers_;
};

nb::list fill_batch(const nb::sequence& matchers, const nb::object& bits, size_t threads) {
  if (threads == 0) throw nb::value_error("threads must be at least 1");
  const nb::list alive = elements_of(matchers);
  const size_t n = nb::len(alive);
  std::vector<PyMatcher*> all(n);
  std::vector<std::optional<TokenId>> only(n);
  std::vector<nb::object> narrowing_errors(n, nb::none());
  for (size_t i = 0; i < n; ++i) {
    const nb::handle matcher = alive[i];
    if (matcher.is_none()) continue;
    if (!nb::try_cast(matcher, all[i])) throw nb::type_error("fill_masks takes a sequence of Matcher or None");
    try {
      all[i]->in_use.check();
      only[i] = only_token(*all[i]);
    } catch (const nb::python_error& e) {
      narrowing_errors[i] = nb::borrow(e.value());
    }
  }
  const AnyArray array = array_of(bits, "the masks");
  check_mask_array(array, 2);
  if (n > array.shape(0)) throw nb::value_error("there are more matchers than rows");
  std::vector<BatchRow> rows;
  for (size_t i = 0; i < n; ++i) {
    const size_t n_words = all[i] == nullptr ? 0 : all[i]->matcher.grammar().vocabulary().n_words();
    rows.push_back({all[i] == nullptr ? nullptr : &all[i]->matcher, mask_row(array, i, n_words)});
  }
  {
    const AllInUse in_use(all);
    LongCall call(nullptr);
    call.release();
    fill_masks(rows, threads);
  }
  nb::list errors;
  for (size_t i = 0; i < n; ++i) {
    if (rows[i].error) {
      errors.append(row_error(rows[i].error));
    } else {
      narrow(rows[i].bits, only[i]);
      errors.append(narrowing_errors[i]);
    }
  }
  // The rows are not touched any more: an observer runs Python code.
  for (size_t i = 0; i < n; ++i) {
    if (all[i] != nullptr) tell(*all[i]->compiled, rows[i].cost, rows[i].error);
  }
  return errors;
}

// ---- builders

void bind_regex_builder(nb::module_& m) {
  nb::class_<RegexBuilder>(m, "RegexBuilder", docs::RegexBuilder)
      .def(
          "__init__",
          [](RegexBuilder* self, const std::optional<nb::dict>& limits) {
            new (self) RegexBuilder(parse_limits(limits));
          },
          "limits"_a = nb::none())
      .def_prop_ro(
          "search_steps",
          [](RegexBuilder& self) { return self.with([](RegexStore& r) { return r.n_search_steps(); }); },
          docs::RegexBuilder_search_steps)
      .def(
          "is_empty",
          [](RegexBuilder& self, uint32_t id) {
            const RegexId node = self.node(id);
            LongCall call(nullptr);
            return self.with([&](RegexStore& r) { return r.is_empty(node); });
          },
          "node"_a)
      .def(
          "is_endless",
          [](RegexBuilder& self, uint32_t id) {
            const RegexId node = self.node(id);
            LongCall call(nullptr);
            return self.with([&](RegexStore& r) { return is_endless(r, node); });
          },
          "node"_a)
      .def(
          "is_infinite",
          [](RegexBuilder& self, uint32_t id) {
            const RegexId node = self.node(id);
            LongCall call(nullptr);
            return self.with([&](RegexStore& r) { return r.is_infinite(node); });
          },
          "node"_a)
      .def(
          "count",
          [](RegexBuilder& self, uint32_t id, uint32_t at_most) {
            const RegexId node = self.node(id);
            LongCall call(nullptr);
            return self.with([&](RegexStore& r) { return count_texts(r, node, at_most); });
          },
          "node"_a, "at_most"_a, docs::RegexBuilder_count)
      .def(
          "matches",
          [](RegexBuilder& self, uint32_t id, const nb::bytes& data) {
            RegexId node = self.node(id);
            LongCall call(nullptr);
            return self.with([&](RegexStore& r) {
              for (char c : view(data)) node = r.derivative(node, static_cast<uint8_t>(c));
              return r.nullable(node);
            });
          },
          "node"_a, "data"_a)
      .def(
          "is_prefix",
          [](RegexBuilder& self, uint32_t id, const nb::bytes& data) {
            RegexId node = self.node(id);
            LongCall call(nullptr);
            return self.with([&](RegexStore& r) {
              for (char c : view(data)) node = r.derivative(node, static_cast<uint8_t>(c));
              return !r.is_empty(node);
            });
          },
          "node"_a, "data"_a)
      .def(
          "shortest",
          [](RegexBuilder& self, uint32_t id) -> nb::object {
            const RegexId node = self.node(id);
            const auto text = [&] {
              LongCall call(nullptr);
              return self.with([&](RegexStore& r) { return r.shortest(node); });
            }();
            if (!text) return nb::none();
            return to_bytes(*text);
          },
          "node"_a)
      .def(
          "automaton",
          [](RegexBuilder& self, const std::vector<uint32_t>& nodes, size_t max_states) -> nb::object {
            const auto made = [&] {
              LongCall call(nullptr);
              return self.automaton(nodes, max_states);
            }();
            return made ? to_python(*made) : nb::none();
          },
          "nodes"_a, "max_states"_a)
      .def(
          "first",
          [](RegexBuilder& self, uint32_t id) {
            const RegexId node = self.node(id);
            return to_bits(self.with([&](RegexStore& r) { return r.first(node); }));
          },
          "node"_a)
      .def(
          "lexeme_ends",
          [](RegexBuilder& self, const std::vector<uint32_t>& nodes, size_t max_states) -> nb::object {
            auto made = [&] {
              LongCall call(nullptr);
              return self.automaton(nodes, max_states);
            }();
            return made ? nb::cast(LexemeEnds(std::move(*made))) : nb::none();
          },
          "nodes"_a, "max_states"_a)
      .def(
          "trees", [](nb::object self, uint64_t max_nesting) { return RegexTrees(std::move(self), max_nesting); },
          "max_nesting"_a)
      .def(
          "portable",
          [](RegexBuilder& self, const PortableRegex& regex) {
            LongCall call(nullptr);
            return self.portable(regex).value;
          },
          "regex"_a);
  nb::class_<PortableRegex>(m, "PortableRegex", docs::PortableRegex);
  m.def("portable_regex", portable_regex, "tree"_a, "max_nesting"_a, docs::portable_regex);
  nb::class_<RegexTrees>(m, "RegexTreeBuilder", docs::RegexTreeBuilder)
      .def("node", &RegexTrees::node, "tree"_a, docs::RegexTreeBuilder_node);
}

void bind_lexeme_ends(nb::module_& m) {
  nb::class_<LexemeEnds>(m, "LexemeEnds", docs::LexemeEnds)
      .def_prop_ro(
          "n_states", [](const LexemeEnds& self) { return self.automaton().states.size(); }, docs::LexemeEnds_n_states)
      .def_prop_ro(
          "states", [](const LexemeEnds& self) { return to_python(self.automaton()); }, docs::LexemeEnds_states)
      .def_prop_ro("matched_sets", &LexemeEnds::matched_sets, docs::LexemeEnds_matched_sets)
      .def_prop_ro(
          "first",
          [](const LexemeEnds& self) {
            nb::list found;
            for (const Automaton::Move& move : self.automaton().states[0].moves) {
              found.append(nb::make_tuple(to_bits(move.bytes), self.automaton().states[move.target].live));
            }
            return found;
          },
          docs::LexemeEnds_first)
      .def(
          "ends",
          [](const LexemeEnds& self, uint32_t terminal) {
            nb::list found;
            for (const LexemeEnds::End& end : self.ends(terminal)) {
              found.append(nb::make_tuple(end.matched, to_bits(end.taken)));
            }
            return found;
          },
          "terminal"_a, docs::LexemeEnds_ends)
      .def(
          "always_reaches",
          [](const LexemeEnds& self, uint32_t terminal, const std::vector<uint32_t>& good) {
            return self.always_reaches(terminal, good);
          },
          "terminal"_a, "good"_a, docs::LexemeEnds_always_reaches)
      .def(
          "can_be_left",
          [](const LexemeEnds& self, uint32_t terminal, const nb::bytes& begin, const nb::bytes& wanted,
             const std::vector<bool>& chosen) {
            if (chosen.size() != self.matched_sets().size()) throw std::invalid_argument("one for each matched set");
            return self.can_be_left(terminal, from_bits(begin), from_bits(wanted), chosen);
          },
          "terminal"_a, "begin"_a, "wanted"_a, "chosen"_a, docs::LexemeEnds_can_be_left);
}

// The enumerator whose place in `names` is that of `name`. Throws a ValueError.
template <class Enum, size_t N>
Enum named(const std::array<std::string_view, N>& names, std::string_view name, const char* error) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) throw nb::value_error(error);
  return static_cast<Enum>(at - names.begin());
}

// Operator, whether the number of set bits is compared, the bits, and the value that they are compared with.
using PyConditionStep = std::tuple<std::string, bool, uint32_t, uint32_t, uint64_t>;

Condition parse_condition(const std::vector<PyConditionStep>& steps) {
  static constexpr std::array<std::string_view, 10> kOperators = {"eq", "ne",   "lt",  "le",  "gt",
                                                                  "ge", "true", "not", "and", "or"};
  Condition condition;
  for (const auto& [name, counts_ones, low, high, value] : steps) {
    const auto op = named<ConditionStep::Operator>(kOperators, name, "no such operator of conditions");
    condition.push_back({op, counts_ones, {low, high}, value});
  }
  return condition;
}

Endless parse_endless(const std::string& what) {
  if (what.empty()) return Endless::kNone;
  if (what != "keys" && what != "items") throw nb::value_error("keys or items are endless");
  return what == "keys" ? Endless::kKeys : Endless::kItems;
}

LineRole parse_role(const std::string& name) {
  if (name.empty()) return LineRole::kNone;
  if (name == "newline") return LineRole::kNewline;
  if (name == "open") return LineRole::kOpen;
  if (name == "close") return LineRole::kClose;
  throw nb::value_error("no such role of terminals");
}

Holds what_set_holds(const std::string& name) {
  if (name == "values") return Holds::kValues;
  if (name == "array") return Holds::kArray;
  if (name == "distinct array") return Holds::kDistinctArray;
  if (name == "object") return Holds::kObject;
  if (name == "item") return Holds::kItem;
  if (name == "list") return Holds::kList;
  if (name == "members") return Holds::kMembers;
  if (name == "again") return Holds::kAgain;
  throw nb::value_error("a set holds 'values', one of them 'again', an 'item', 'members', or what composites do");
}

// A number of a place and of ways, None for more than are counted.
using PyStep = std::tuple<uint32_t, std::optional<uint32_t>>;

// A key, None for a class of so many, and how many values it may have; None for numbers that are not counted.
using PyMember = std::tuple<std::optional<std::string>, std::optional<uint32_t>, std::optional<uint32_t>>;

std::vector<SetMember> members_of(const std::vector<PyMember>& members, const std::vector<std::string>& required) {
  std::vector<SetMember> out;
  out.reserve(members.size());
  for (const auto& [name, ways, n_keys] : members) {
    const bool is_required = name && std::find(required.begin(), required.end(), *name) != required.end();
    out.push_back({name.value_or(""), ways.value_or(kUnbounded), is_required, !name, n_keys.value_or(kUnbounded)});
  }
  return out;
}

Step step_of(const PyStep& step) { return {std::get<0>(step), std::get<1>(step).value_or(kUnbounded)}; }

using Parts = std::vector<uint32_t>;

std::shared_ptr<PyCompiled> compile_for_python(std::shared_ptr<const GrammarForm> form, TokenIds ids,
                                               std::shared_ptr<PyVocabulary> vocabulary, const Limits& limits,
                                               uint32_t shard, Compiled* failed) {
  HandedOver made_of{std::move(form), std::move(ids), limits, shard};
  Compiled made = made_of.compiled(vocabulary->stores);
  if (made.grammar == nullptr) {
    if (failed != nullptr) *failed = std::move(made);
    return nullptr;
  }
  return std::make_shared<PyCompiled>(PyCompiled{std::move(made.grammar), std::move(vocabulary), std::move(made_of)});
}

// A form while it is made of Python's objects.
struct PyForm {
  std::shared_ptr<GrammarForm> form = std::make_shared<GrammarForm>();
  std::optional<RegexTreeReader> trees;

  explicit PyForm(uint64_t max_nesting) : trees(std::in_place, max_nesting) {}

  GrammarForm& open() {
    if (!trees) throw std::invalid_argument("the grammar is handed over");
    return *form;
  }
  // Of a tree, which is read once.
  uint32_t regex(const nb::object& tree) {
    RegexData& into = open().regexes();
    return trees->add(tree, into);
  }
  std::optional<uint32_t> regex_or_none(const nb::object& tree) {
    return tree.is_none() ? std::nullopt : std::optional(regex(tree));
  }
  GrammarForm::Around around(const nb::object& before, const nb::object& after) {
    return {regex_or_none(before), regex_or_none(after)};
  }
};

uint32_t add_terminal(PyForm& self, std::string name, const nb::object& regex, uint32_t scope, uint32_t place,
                      int32_t priority, bool distinct, bool closes_set, bool lazy, const std::string& endless,
                      const std::string& role, const PyStep& step, std::optional<uint32_t> max_tokens,
                      const nb::object& before, const nb::object& after,
                      const std::optional<std::tuple<nb::object, nb::object, std::string>>& suffix) {
  GrammarForm::Terminal made{std::move(name), self.regex(regex), scope, place, priority, distinct, closes_set, lazy};
  made.endless = parse_endless(endless);
  made.role = parse_role(role);
  made.step = step_of(step);
  made.max_tokens = max_tokens;
  made.around = self.around(before, after);
  if (suffix) {
    const auto& [body, end, capture] = *suffix;
    made.suffix = GrammarForm::Suffix{self.regex(body), self.regex(end), capture};
  }
  return self.open().terminal(std::move(made));
}

uint32_t add_rule(PyForm& self, uint32_t place, bool parametric, std::optional<std::string> capture,
                  std::optional<double> temperature, std::optional<uint32_t> max_tokens, bool opens_set,
                  const std::vector<std::string>& required, uint32_t minimum, std::optional<uint32_t> maximum,
                  bool endless, const std::string& holds, const PyStep& step, const std::vector<PyMember>& members) {
  GrammarForm::Rule made;
  made.place = place;
  made.parametric = parametric;
  made.capture = capture.value_or("");
  made.temperature = temperature;
  made.max_tokens = max_tokens;
  if (opens_set) {
    made.opens_set = SetBounds{required,
                               minimum,
                               maximum.value_or(kUnbounded),
                               endless,
                               what_set_holds(holds),
                               step_of(step),
                               members_of(members, required)};
  }
  return self.open().rule(std::move(made));
}

uint32_t add_rows(PyForm& self, std::vector<std::string> texts, std::vector<std::shared_ptr<SchemaWithLayout>> schemas,
                  std::vector<bool> may_be_empty, std::optional<std::string> text_capture,
                  std::optional<std::string> schema_capture, uint32_t scope, std::shared_ptr<SchemaForm> form,
                  Parts tokens, uint32_t text_place, uint32_t schema_place) {
  if (schemas.size() != texts.size() || may_be_empty.size() != texts.size())
    throw nb::value_error("a row has a text and a schema");
  Rows rows{std::move(texts),
            {schemas.begin(), schemas.end()},
            std::move(may_be_empty),
            text_capture.value_or(""),
            schema_capture.value_or(""),
            std::move(form),
            text_place,
            schema_place};
  return self.open().rows({std::move(rows), std::move(tokens), scope});
}

nb::object compile_form(PyForm& self, std::shared_ptr<PyVocabulary> vocabulary, const nb::dict& limits, uint32_t shard,
                        TokenIds ids) {
  self.trees.reset();  // and the trees that it keeps
  Compiled failed;
  auto made =
      compile_for_python(self.form, std::move(ids), std::move(vocabulary), parse_limits(limits), shard, &failed);
  if (made) return nb::cast(std::move(made));
  static constexpr std::array kFailures{"no text", "needs rules", "distinct within limits"};
  return nb::make_tuple(kFailures[static_cast<size_t>(failed.failure)], std::move(failed.places));
}

void bind_grammar_builder(nb::module_& m) {
  using Argument = cfgmask::Argument;
  using TokenSet = GrammarForm::TokenSet;
  nb::class_<PyForm>(m, "GrammarBuilder", docs::GrammarBuilder)
      .def(nb::init<uint64_t>(), "max_nesting"_a)
      .def(
          "scope", [](PyForm& self, bool ignore_once) { return self.open().scope(ignore_once); }, "ignore_once"_a)
      .def(
          "ignore",
          [](PyForm& self, uint32_t scope, const nb::object& regex, std::string name, const nb::object& before,
             const nb::object& after) {
            self.open().ignore(scope, {self.regex(regex), std::move(name), self.around(before, after)});
          },
          "scope"_a, "regex"_a, "name"_a, "before"_a = nb::none(), "after"_a = nb::none())
      .def(
          "indenter",
          [](PyForm& self, const nb::object& newline, uint32_t scope, uint32_t tab_len, std::string name) {
            self.open().indenter({self.regex(newline), scope, tab_len, std::move(name)});
          },
          "newline"_a, "scope"_a, "tab_len"_a, "name"_a)
      .def("terminal", &add_terminal, "name"_a, "regex"_a, "scope"_a, "place"_a, "priority"_a = 0, "distinct"_a = false,
           "closes_set"_a = false, "lazy"_a = false, "endless"_a = "", "role"_a = "", "step"_a = PyStep(),
           "max_tokens"_a = nb::none(), "before"_a = nb::none(), "after"_a = nb::none(), "suffix"_a = nb::none(),
           docs::GrammarBuilder_terminal)
      .def(
          "token_set",
          [](PyForm& self, uint32_t ids, uint32_t scope, std::string name, uint32_t place) {
            return self.open().token_set({TokenSet::Kind::kIds, ids, scope, std::move(name), place});
          },
          "ids"_a, "scope"_a, "name"_a, "place"_a, docs::GrammarBuilder_token_set)
      .def(
          "indent",
          [](PyForm& self, bool is_dedent, uint32_t scope, std::string name, uint32_t place) {
            const auto kind = is_dedent ? TokenSet::Kind::kDedent : TokenSet::Kind::kIndent;
            return self.open().token_set({kind, 0, scope, std::move(name), place});
          },
          "is_dedent"_a, "scope"_a, "name"_a, "place"_a)
      .def("rule", &add_rule, "place"_a, "parametric"_a = false, "capture"_a = nb::none(), "temperature"_a = nb::none(),
           "max_tokens"_a = nb::none(), "opens_set"_a = false, "required"_a = std::vector<std::string>(),
           "minimum"_a = 0, "maximum"_a = nb::none(), "endless"_a = false, "holds"_a = "values", "step"_a = PyStep(),
           "members"_a = std::vector<PyMember>(), docs::GrammarBuilder_rule)
      .def(
          "body", [](PyForm& self, uint32_t rule, uint32_t body) { self.open().body(rule, body); }, "rule"_a, "body"_a)
      .def(
          "reference", [](PyForm& self, uint32_t rule) { return self.open().reference(rule); }, "rule"_a)
      .def(
          "call",
          [](PyForm& self, uint32_t rule, uint64_t keep, uint64_t set) {
            return self.open().call(rule, {Argument::Kind::kMasked, keep, set, {}});
          },
          "rule"_a, "keep"_a, "set"_a)
      .def(
          "call_counting",
          [](PyForm& self, uint32_t rule, uint32_t low, uint32_t high, bool up) {
            using Kind = Argument::Kind;
            return self.open().call(rule, {up ? Kind::kIncrement : Kind::kDecrement, 0, 0, {low, high}});
          },
          "rule"_a, "low"_a, "high"_a, "up"_a)
      .def(
          "part",
          [](PyForm& self, std::shared_ptr<SchemaWithLayout> schema, std::shared_ptr<SchemaForm> form, Parts tokens,
             bool may_be_empty, uint32_t place) {
            return self.open().part({std::move(schema), std::move(form), std::move(tokens), may_be_empty, place});
          },
          "schema"_a, "form"_a.none(), "tokens"_a, "may_be_empty"_a, "place"_a, docs::GrammarBuilder_part)
      .def("rows", &add_rows, "texts"_a, "schemas"_a, "may_be_empty"_a, "text_capture"_a.none(),
           "schema_capture"_a.none(), "scope"_a, "form"_a.none(), "tokens"_a, "text_place"_a, "schema_place"_a,
           docs::GrammarBuilder_rows)
      .def(
          "variants", [](PyForm& self, uint32_t rows, const Parts& body) { return self.open().variants(rows, body); },
          "rows"_a, "body"_a, docs::GrammarBuilder_variants)
      .def("row_text", [](PyForm& self) { return self.open().row_text(); })
      .def("row_part", [](PyForm& self) { return self.open().row_part(); })
      .def(
          "sequence", [](PyForm& self, const Parts& parts) { return self.open().sequence(parts); }, "parts"_a)
      .def(
          "choice", [](PyForm& self, const Parts& parts) { return self.open().choice(parts); }, "parts"_a)
      .def(
          "repeat",
          [](PyForm& self, uint32_t body, uint32_t minimum, std::optional<uint32_t> maximum) {
            return self.open().repeat(body, minimum, maximum.value_or(kUnbounded));
          },
          "body"_a, "minimum"_a, "maximum"_a.none())
      .def(
          "guarded",
          [](PyForm& self, uint32_t body, const std::vector<PyConditionStep>& condition) {
            return self.open().guarded(body, parse_condition(condition));
          },
          "body"_a, "condition"_a)
      .def(
          "start",
          [](PyForm& self, uint32_t expression, uint32_t scope, bool complete, bool ignore_initial, bool ignore_final) {
            self.open().start(expression, scope, {complete, ignore_initial, ignore_final});
          },
          "expression"_a, "scope"_a, "complete"_a, "ignore_initial"_a, "ignore_final"_a, docs::GrammarBuilder_start)
      .def("compile", &compile_form, "vocabulary"_a, "limits"_a, "shard"_a, "token_ids"_a,
           docs::GrammarBuilder_compile);
  m.def(
      "compile_schema",
      [](std::shared_ptr<SchemaWithLayout> schema, std::shared_ptr<PyVocabulary> vocabulary, const nb::dict& limits,
         uint32_t shard) {
        auto form = std::make_shared<const GrammarForm>(std::move(schema));
        return compile_for_python(std::move(form), {}, std::move(vocabulary), parse_limits(limits), shard, nullptr);
      },
      "schema"_a, "vocabulary"_a, "limits"_a, "shard"_a, docs::compile_schema);
}

bool may_be_schema(const JsonDocument& document) {
  using Kind = JsonDocument::Kind;
  const Kind kind = document.kind(document.root());
  return kind == Kind::kObject || kind == Kind::kTrue || kind == Kind::kFalse;
}

std::optional<JsonId> declared_draft(const JsonDocument& schema) {
  if (schema.kind(schema.root()) != JsonDocument::Kind::kObject) return std::nullopt;
  return schema.member(schema.root(), "$schema");
}

std::optional<JsonDocument> json_document(nb::handle value, uint64_t max_nesting) {
  const uint64_t max_depth = std::min(max_nesting, SchemaReader::kMaxDepth);
  LongCall call(nullptr, LongCall::Gil::kHeld);
  auto found =
      nb::isinstance<nb::str>(value) ? JsonValues::parsed(value, max_depth) : JsonValues::document(value, max_depth);
  if (!found || !may_be_schema(*found)) return std::nullopt;
  const auto uri = declared_draft(*found);
  return uri && found->kind(*uri) != JsonDocument::Kind::kString ? std::nullopt : std::move(found);
}

std::optional<std::string> schema_uri(const JsonDocument& document) {
  const auto uri = declared_draft(document);
  return uri ? std::optional(std::string(document.text(*uri))) : std::nullopt;
}

// Pairs of code points, two numbers of 32 bits each.
std::optional<CharacterProperties::Ranges> ranges_of(const nb::object& pairs) {
  if (pairs.is_none()) return std::nullopt;
  const std::string_view bytes = view(nb::cast<nb::bytes>(pairs));
  if (bytes.size() % sizeof(CodePointRange) != 0) throw nb::value_error("ranges of characters are pairs of numbers");
  CharacterProperties::Ranges ranges(bytes.size() / sizeof(CodePointRange));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(ranges.data()));
  return ranges;
}

// Asks Python what a reading asks. For one reading.
class ReaderAnswers {
 public:
  // `answers` gives the object that answers, whose methods are called as the questions.
  ReaderAnswers(std::function<nb::object()> answers, uint64_t max_rules)
      : answers_(std::move(answers)), max_rules_(max_rules) {}

  ReaderQuestions questions() {
    ReaderQuestions questions;
    questions.alike = [this](CaseFolding folding, bool only_ascii) {
      return alike_classes(ask("alike", folding_name(folding), only_ascii));
    };
    questions.format = [this](const std::string& name) { return regex_of(ask("format", name)); };
    questions.properties = [this](const std::string& name) { return ranges_of(ask("properties", name)); };
    questions.drafts = [this](const std::string& uri, const SchemaReader& around) {
      readers_.push_back(ask("drafts", uri, nb::find(around)));
      return readers_.back().is_none() ? nullptr : nb::cast<const SchemaReader*>(readers_.back());
    };
    questions.documents = [this](const std::string& uri) {
      document_ = ask("document", uri);
      return document_.is_none() ? nullptr : nb::cast<const JsonDocument*>(document_);
    };
    return questions;
  }

 private:
  static std::shared_ptr<PortableRegex> regex_of(const nb::object& answer) {
    return answer.is_none() ? nullptr : nb::cast<std::shared_ptr<PortableRegex>>(answer);
  }

  template <class... Question>
  nb::object ask(const char* method, const Question&... question) {
    try {
      return in_python([&]() -> nb::object { return answers_().attr(method)(question...); });
    } catch (const nb::python_error& error) {
      if (error.matches(python_error("LimitExceeded"))) throw LimitExceeded("max_rules", max_rules_);
      throw;
    }
  }

  std::function<nb::object()> answers_;
  uint64_t max_rules_;
  std::vector<nb::object> readers_;
  nb::object document_;
};

std::shared_ptr<SchemaIR> read_schema(const SchemaReader& reader, JsonDocument& document, const nb::object& answers,
                                      uint64_t max_nesting, uint64_t max_rules, uint64_t max_search_steps,
                                      const Writable* writable) {
  ReaderAnswers asked([&] { return answers; }, max_rules);
  LongCall call(nullptr, LongCall::Gil::kHeld);
  return reader.read(document, asked.questions(), {max_nesting, max_rules, max_search_steps}, nullptr, writable);
}

using PyRefusals = std::vector<std::pair<uint32_t, std::string>>;

std::pair<std::shared_ptr<SchemaIR>, PyRefusals> read_leniently(const SchemaReader& reader, JsonDocument& document,
                                                                const nb::object& answers, uint64_t max_nesting,
                                                                uint64_t max_rules, uint64_t max_search_steps,
                                                                const Writable* writable) {
  ReaderAnswers asked([&] { return answers; }, max_rules);
  LongCall call(nullptr, LongCall::Gil::kHeld);
  std::vector<SchemaRefusal> refusals;
  auto found =
      reader.read(document, asked.questions(), {max_nesting, max_rules, max_search_steps}, &refusals, writable);
  PyRefusals told;
  for (SchemaRefusal& refusal : refusals)
    told.emplace_back(static_cast<uint32_t>(refusal.kind), std::move(refusal.pointer));
  return {std::move(found), std::move(told)};
}

std::vector<std::shared_ptr<SchemaWithLayout>> read_all_schemas(const SchemaReader& reader, const nb::list& schemas,
                                                                const nb::callable& answers,
                                                                const std::shared_ptr<const ValueLayout>& layout,
                                                                uint64_t max_nesting, uint64_t max_rules,
                                                                uint64_t max_search_steps) {
  LongCall call(nullptr, LongCall::Gil::kHeld);
  std::vector<std::shared_ptr<SchemaWithLayout>> made(schemas.size());
  // One for all: to get and give back its memory takes a third of the time of reading a small schema.
  JsonDocument document;
  JsonValues values(std::min(max_nesting, SchemaReader::kMaxDepth), document);
  for (size_t i = 0; i < made.size(); ++i) {
    if (!values.read(schemas[i]) || !may_be_schema(document) || declared_draft(document)) continue;
    // Most schemas ask nothing.
    nb::object answering;
    ReaderAnswers asked(
        [&] {
          if (!answering) answering = answers();
          return answering;
        },
        max_rules);
    auto schema = reader.read(document, asked.questions(), {max_nesting, max_rules, max_search_steps});
    if (!schema || !schema->counts().hold_with_digits(layout->numbers.most)) continue;
    made[i] = std::make_shared<SchemaWithLayout>(SchemaWithLayout{std::move(schema), layout});
  }
  return made;
}

void new_known_strings(KnownStrings* self, const nb::list& formats, const std::string& dialect, nb::object data,
                       uint64_t max_nesting) {
  using Parts = std::vector<std::pair<std::string, std::optional<uint32_t>>>;
  std::vector<KnownStrings::Format> given;
  for (nb::handle each : formats) {
    auto [name, parts, possible] = nb::cast<std::tuple<std::string, Parts, std::optional<std::string>>>(each);
    KnownStrings::Format format{std::move(name), {}, std::move(possible)};
    for (auto& [pattern, most] : parts) format.parts.push_back({std::move(pattern), most});
    given.push_back(std::move(format));
  }
  const PythonPatternData asked(std::move(data));
  KnownStrings::Patterns patterns{dialect_named(dialect), asked.source(), asked.options(max_nesting, 0)};
  new (self) KnownStrings(std::move(given), std::move(patterns), max_nesting);
}

NumberStyle::Spelling spelling_of(bool plain_numbers) {
  return plain_numbers ? NumberStyle::Spelling::kPlain : NumberStyle::Spelling::kAny;
}

void new_value_layout(ValueLayout* self, std::optional<uint32_t> max_digits, bool plain_numbers,
                      const std::vector<std::shared_ptr<const PortableRegex>>& marks,
                      std::shared_ptr<const PortableRegex> ignored, std::string ignored_name, bool ignore_once,
                      std::optional<uint32_t> indent, std::shared_ptr<const YamlLayout> yaml, bool canonical_strings,
                      std::shared_ptr<const PortableRegex> strings, bool any_order) {
  if (marks.size() != 8) throw nb::value_error("JSON has eight marks");
  new (self) ValueLayout{{max_digits.value_or(kUnbounded), spelling_of(plain_numbers)},
                         {marks[0], marks[1], marks[2], marks[3], marks[4], marks[5], marks[6], marks[7]},
                         std::move(ignored),
                         std::move(ignored_name),
                         ignore_once,
                         indent,
                         std::move(yaml),
                         canonical_strings,
                         std::move(strings),
                         any_order};
}

void new_schema_with_layout(SchemaWithLayout* self, std::shared_ptr<const SchemaIR> reading,
                            std::shared_ptr<const ValueLayout> layout) {
  new (self) SchemaWithLayout{std::move(reading), std::move(layout)};
}

using PyPieces = std::vector<std::tuple<std::string, std::string, std::string, uint32_t>>;

SchemaForm::Pieces pieces_of(const PyPieces& pieces) {
  using Kind = SchemaForm::Piece::Kind;
  const std::array<std::string_view, 4> kinds{"text", "key", "gap", "token"};
  SchemaForm::Pieces made;
  for (const auto& [what, text, behind, token] : pieces) {
    made.push_back({named<Kind>(kinds, what, "no such piece"), text, behind, token});
  }
  return made;
}

void new_schema_form(SchemaForm* self, const std::vector<PyPieces>& keys, std::string end, const PyPieces& after_end,
                     std::string stop, std::string pad, bool has_gaps, bool has_python_words, const std::string& values,
                     std::string separator, const PyPieces& delimiter, const std::pair<PyPieces, PyPieces>& item,
                     std::shared_ptr<const PortableRegex> key_characters) {
  const std::array<std::string_view, 6> all_values{"json",          "python inside",    "python",
                                                   "python object", "delimited object", "tags"};
  const auto written = named<SchemaForm::Values>(all_values, values, "no such values");
  if (keys.size() != 1 && keys.size() != SchemaForm::kKinds) throw nb::value_error("keys are of one kind or of six");
  std::vector<SchemaForm::Pieces> made;
  for (const PyPieces& pieces : keys) made.push_back(pieces_of(pieces));
  new (self) SchemaForm{std::move(made),          std::move(end),
                        pieces_of(after_end),     std::move(stop),
                        std::move(pad),           has_gaps,
                        has_python_words,         written,
                        std::move(separator),     pieces_of(delimiter),
                        pieces_of(item.first),    pieces_of(item.second),
                        std::move(key_characters)};
}

// What `ask(nullptr)` answers, or what it answers with regexes; nullopt where a limit is crossed.
template <class Ask>
std::optional<bool> asked(const nb::callable& regexes, const Ask& ask) {
  if (const std::optional<bool> known = ask(nullptr)) return known;
  const nb::object made = regexes();
  auto& builder = nb::cast<RegexBuilder&>(made);
  LongCall call(nullptr);
  try {
    return builder.with([&](RegexStore& r) { return ask(&r); });
  } catch (const LimitExceeded&) {
    return std::nullopt;
  }
}

// None: the layout has lines. Else keys that not every form writes, those that cannot be written in values,
// what is refused besides, whether there is a text that is not empty, and whether the empty text is one.
using PyInForm = std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<std::string>, bool, bool>;
std::optional<PyInForm> in_form(const std::shared_ptr<const SchemaWithLayout>& self,
                                const std::shared_ptr<const SchemaForm>& form, uint64_t max_rules,
                                const nb::callable& regexes) {
  const FormReading reading(*self, *form);
  const std::optional<bool> fits = asked(regexes, [&](RegexStore* r) { return reading.fits(r); });
  if (fits.value_or(false)) return PyInForm(reading.unusual_keys(), {}, {}, reading.has_some(), reading.may_be_empty());
  if (!reading.takes_layout()) return std::nullopt;
  FormReading::Refusals refused = reading.refusals();
  std::vector<std::string> others;
  if (refused.any_order) others.emplace_back("any order");
  if (refused.equal_numbers) others.emplace_back("equal numbers");
  if (refused.counted_keys) others.emplace_back("counted keys");
  if (refused.equal_composites) others.emplace_back("equal composites");
  const bool is_refused = !others.empty() || !refused.keys.empty();
  bool has_texts = false;
  if (!is_refused) {
    const nb::object made = regexes();
    auto& builder = nb::cast<RegexBuilder&>(made);
    LongCall call(nullptr);
    Account rules{"max_rules", max_rules};
    has_texts = builder.with([&](RegexStore& r) { return SchemaRules::has_form_texts(self, form, r, rules); });
  }
  return PyInForm(reading.unusual_keys(), std::move(refused.keys), std::move(others), has_texts,
                  reading.may_be_empty());
}

void bind_json_schema(nb::module_& m) {
  m.def("number_regex", number_regex, "kind"_a, "low"_a.none(), "high"_a.none(), "step"_a.none(), docs::number_regex);
  nb::class_<KnownStrings>(m, "KnownStrings", docs::KnownStrings)
      .def("__init__", new_known_strings, "formats"_a, "pattern_dialect"_a, "data"_a, "max_nesting"_a)
      .def(
          "format",
          [](KnownStrings& self, const std::string& name) {
            return self.format(name, [](const std::string&) { return nullptr; }).generated;
          },
          "name"_a, docs::KnownStrings_format);
  nb::class_<JsonDocument>(m, "JsonDocument", docs::JsonDocument)
      .def_prop_ro("schema_uri", schema_uri, docs::JsonDocument_schema_uri);
  m.def("regex_as_tree", regex_as_tree, "tree"_a, "max_nesting"_a, docs::regex_as_tree);
  m.def("json_document", json_document, "value"_a.none(), "max_nesting"_a, docs::json_document);
  nb::class_<SchemaIR>(m, "SchemaIR", docs::SchemaIR)
      .def(
          "holds_with_digits",
          [](const SchemaIR& self, std::optional<uint32_t> most) {
            return self.counts().hold_with_digits(most.value_or(kUnbounded));
          },
          "most"_a.none(), docs::SchemaIR_holds_with_digits);
  nb::class_<SchemaForm>(m, "SchemaForm", docs::SchemaForm)
      .def("__init__", new_schema_form, "keys"_a, "end"_a, "after_end"_a, "stop"_a, "pad"_a, "has_gaps"_a,
           "has_python_words"_a, "values"_a, "separator"_a, "delimiter"_a, "item"_a, "key_characters"_a.none());
  nb::class_<YamlLayout>(m, "YamlLayout", docs::YamlLayout)
      .def(
          "__init__",
          [](YamlLayout* self, YamlLayout::Regex strings, YamlLayout::Regex keys, YamlLayout::Regex numbers,
             uint32_t most_of_key, uint32_t most_of_written_key, uint32_t indent) {
            new (self)
                YamlLayout({std::move(strings), std::move(keys), std::move(numbers), most_of_key, most_of_written_key},
                           indent, IndentedRules::kMaxDepth);
          },
          "strings"_a, "keys"_a, "numbers"_a, "most_of_key"_a, "most_of_written_key"_a, "indent"_a);
  nb::class_<ValueLayout>(m, "ValueLayout", docs::ValueLayout)
      .def("__init__", new_value_layout, "max_digits"_a.none(), "plain_numbers"_a, "marks"_a, "ignored"_a.none(),
           "ignored_name"_a, "ignore_once"_a, "indent"_a.none(), "yaml"_a.none(), "canonical_strings"_a,
           "strings"_a.none(), "any_order"_a);
  nb::class_<SchemaWithLayout>(m, "SchemaWithLayout", docs::SchemaWithLayout)
      .def("__init__", new_schema_with_layout, "reading"_a, "layout"_a)
      .def(
          "rules",
          [](std::shared_ptr<SchemaWithLayout> self, std::shared_ptr<SchemaForm> form, uint32_t n_tokens,
             const nb::dict& limits, uint64_t max_nonterminals) {
            return schema_rules(std::move(self), std::move(form), n_tokens, parse_limits(limits), max_nonterminals);
          },
          "form"_a.none(), "n_tokens"_a, "limits"_a, "max_nonterminals"_a, docs::SchemaWithLayout_rules)
      .def_prop_ro(
          "nests_too_deep",
          [](const SchemaWithLayout& self) {
            const bool has_lines = self.layout->indent || self.layout->yaml;
            return has_lines && ReachedValues(*self.schema).nest_deeper(IndentedRules::kMaxDepth);
          },
          docs::SchemaWithLayout_nests_too_deep)
      .def_prop_ro(
          "has_keys_without_names",
          [](const SchemaWithLayout& self) { return ReachedValues(*self.schema).have_keys_without_names(); },
          docs::SchemaWithLayout_has_keys_without_names)
      .def("in_form", in_form, "form"_a, "max_rules"_a, "regexes"_a, docs::SchemaWithLayout_in_form)
      .def_prop_ro(
          "regexes",
          [](const SchemaWithLayout& self) {
            std::vector<std::shared_ptr<const PortableRegex>> found;
            for (const auto& strings : self.schema->all_outside()) found.push_back(strings);
            return found;
          },
          docs::SchemaWithLayout_regexes);
  nb::class_<Writable>(m, "Writable", docs::Writable)
      .def(
          "__init__",
          [](Writable* self, const nb::bytes& held, std::optional<uint32_t> max_digits, bool plain_numbers,
             bool has_strings, std::pair<bool, std::optional<uint32_t>> arrays,
             std::pair<bool, std::optional<uint32_t>> objects, std::string strings, const nb::callable& is_written) {
            new (self) Writable();
            self->held = ByteSet();
            for (const char byte : view(held)) self->held.add(static_cast<uint8_t>(byte));
            self->numbers = {max_digits.value_or(kUnbounded), spelling_of(plain_numbers)};
            self->has_strings = has_strings;
            self->has_arrays = arrays.first;
            self->has_objects = objects.first;
            self->most_items = arrays.second.value_or(kUnbounded);
            self->most_keys = objects.second.value_or(kUnbounded);
            self->strings = std::move(strings);
            self->is_written = [is_written](const std::string& text, bool is_name) {
              return in_python([&] { return nb::cast<bool>(is_written(text, is_name)); });
            };
          },
          "held"_a, "max_digits"_a.none(), "plain_numbers"_a, "has_strings"_a, "arrays"_a, "objects"_a, "strings"_a,
          "is_written"_a);
  nb::class_<SchemaReader>(m, "SchemaReader", docs::SchemaReader)
      .def(
          "__init__",
          [](SchemaReader* self, const std::vector<std::string>& asserted, std::shared_ptr<KnownStrings> strings,
             const std::string& identifier, bool reference_hides_siblings, const std::string& exclusive,
             bool plain_numbers, bool is_indented, std::shared_ptr<const YamlLayout> yaml, bool any_order) {
            using Exclusive = SchemaReader::Exclusive;
            new (self) SchemaReader(asserted, std::move(strings), identifier, reference_hides_siblings,
                                    exclusive == "boolean"  ? Exclusive::kBoolean
                                    : exclusive == "number" ? Exclusive::kNumber
                                                            : Exclusive::kEither,
                                    spelling_of(plain_numbers),
                                    is_indented || yaml ? IndentedRules::nestings(yaml.get()) : std::vector<Nesting>(),
                                    yaml, any_order);
          },
          "asserted"_a, "strings"_a, "identifier"_a, "reference_hides_siblings"_a, "exclusive"_a, "plain_numbers"_a,
          "is_indented"_a, "yaml"_a.none(), "any_order"_a)
      .def("read", read_schema, "document"_a, "answers"_a, "max_nesting"_a, "max_rules"_a, "max_search_steps"_a,
           "writable"_a.none(), docs::SchemaReader_read)
      .def("read_leniently", read_leniently, "document"_a, "answers"_a, "max_nesting"_a, "max_rules"_a,
           "max_search_steps"_a, "writable"_a.none(), docs::SchemaReader_read_leniently)
      .def("read_all", read_all_schemas, "schemas"_a, "answers"_a, "layout"_a, "max_nesting"_a, "max_rules"_a,
           "max_search_steps"_a, docs::SchemaReader_read_all);
}

void bind_patterns(nb::module_& m) {
  nb::class_<PatternReader>(m, "PatternReader", docs::PatternReader)
      .def(nb::init<nb::object>(), "data"_a)
      .def("read", &PatternReader::read, "pattern"_a, "dialect"_a, "flags"_a, "use"_a, "named_groups"_a,
           "ascii_digits"_a, "keep_excluded"_a, "max_nesting"_a, "max_parts"_a, docs::PatternReader_read)
      .def("has_lazy", &PatternReader::has_lazy, "pattern"_a, "dialect"_a, "flags"_a, "max_nesting"_a, "max_parts"_a,
           docs::PatternReader_has_lazy);
  m.def("combined_lexemes", combined_lexemes, "how"_a, "lexemes"_a, "minimum"_a, "maximum"_a.none(),
        docs::combined_lexemes);
}

void bind_lark(nb::module_& m) {
  nb::class_<LarkNodeTypes>(m, "LarkNodeTypes", docs::LarkNodeTypes)
      .def(nb::init<>())
      .def(
          "read",
          [](const LarkNodeTypes& self, nb::handle reader, nb::handle source, uint32_t start, uint32_t end,
             uint64_t max_tokens, uint64_t max_nesting) {
            LongCall call(nullptr, LongCall::Gil::kHeld);
            return lark_statements(self, reader, source, start, end, max_tokens, max_nesting);
          },
          "reader"_a, "source"_a, "start"_a, "end"_a, "max_tokens"_a, "max_nesting"_a, docs::LarkNodeTypes_read);
  m.def(
      "lark_tokens",
      [](nb::str text) {
        const std::u32string characters = characters_of(text, 0, nb::len(text));
        LarkLexer lexer(characters, python_characters());
        nb::list found;
        for (LarkToken token = lexer.next(); token.type != LarkTerminal::kEnd; token = lexer.next())
          found.append(nb::make_tuple(kLarkTerminalNames[static_cast<size_t>(token.type)], token.start, token.end));
        return found;
      },
      "text"_a, docs::lark_tokens);
  m.attr("MAX_LARK_NAME") = kLongestLarkName;
  m.def(
      "lark_name",
      [](nb::str text) -> nb::object {
        const LarkName kind = lark_name(characters_of(text, 0, nb::len(text)));
        if (kind == LarkName::kNone) return nb::none();
        return nb::cast(kind == LarkName::kRule ? "rule" : "terminal");
      },
      "text"_a, docs::lark_name);
}

// Stop tokens as a matcher takes them. Throws for ids that there are not, and for tokens that a budget would count on.
StopTokens stop_tokens(const std::vector<int64_t>& given, const CompiledGrammar& grammar, bool is_bounded) {
  const Vocabulary& vocabulary = grammar.vocabulary();
  std::vector<TokenId> stops;
  for (int64_t id : given) {
    const TokenId token = token_id(id);
    if (token >= vocabulary.n_vocab) throw nb::value_error("stop_token_ids has an id that the vocabulary lacks");
    if (vocabulary.is_end(token)) continue;
    if (is_bounded && (!vocabulary.text(token).empty() || grammar.names_token(token)))
      throw nb::value_error("with max_tokens or stall_after, stop_token_ids must be tokens that no text has");
    stops.push_back(token);
  }
  if (stops.empty()) return nullptr;
  std::sort(stops.begin(), stops.end());
  stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
  return std::make_shared<const std::vector<TokenId>>(std::move(stops));
}

// The steps so far: the id of each token, and the bytes of each step without one.
nb::list steps_of(PyMatcher& self) {
  self.in_use.check();
  nb::list backwards;
  self.matcher.history().for_each_step_back([&](TokenId token, std::string_view text) {
    if (token == CompiledGrammar::Consumed::kBytes) {
      backwards.append(to_bytes(text));
    } else {
      backwards.append(token);
    }
    return true;
  });
  backwards.attr("reverse")();
  return backwards;
}

// What `CompiledGrammar.matcher` was given for it.
nb::dict arguments_of(const PyMatcher& self) {
  nb::dict out;
  out["max_tokens"] = self.matcher.max_tokens();
  out["stall_after"] = self.matcher.stall_after() == 0 ? std::nullopt : std::optional(self.matcher.stall_after());
  out["stop_token_ids"] = self.matcher.stops() == nullptr ? std::vector<TokenId>() : *self.matcher.stops();
  out["canonical"] = self.narrowing.has_value();
  return out;
}

PyMatcher make_matcher(std::shared_ptr<PyCompiled> compiled, std::optional<int64_t> max_tokens,
                       std::optional<int64_t> stall_after, const std::optional<std::vector<int64_t>>& stop_token_ids,
                       bool canonical) {
  if (max_tokens && *max_tokens < 0) throw nb::value_error("max_tokens must not be negative");
  if (stall_after && *stall_after < 1) throw nb::value_error("stall_after must be at least 1, or None for no guard");
  const auto bounded = [](int64_t n) {
    return static_cast<uint32_t>(std::min<int64_t>(n, std::numeric_limits<int32_t>::max()));
  };
  if (canonical) check_encoder(nb::find(compiled));
  auto [grammar, generation] = compiled->at_beginning();
  StopTokens stops = stop_tokens(stop_token_ids.value_or(std::vector<int64_t>()), *grammar, max_tokens || stall_after);
  const auto counts = grammar->counts();
  Matcher matcher = [&] {
    LongCall call(nullptr);
    try {
      return Matcher(std::move(grammar), max_tokens ? std::optional(bounded(*max_tokens)) : std::nullopt,
                     stall_after ? bounded(*stall_after) : 0);
    } catch (const LimitExceeded& limit) {
      counts->add_limit(limit.limit());
      throw;
    }
  }();
  matcher.stop_at(std::move(stops));
  PyMatcher made{std::move(matcher), std::move(compiled), generation};
  if (canonical) made.narrowing.emplace();
  return made;
}

void add_counts(nb::dict& out, const MaskCounts::Totals& counts) {
  out["masks_made"] = counts.n_made;
  out["masks_copied"] = counts.n_copied;
  out["mask_seconds"] = static_cast<double>(counts.nanoseconds) * 1e-9;
  nb::dict limits;
  for (size_t i = 0; i < counts.limits.size(); ++i) {
    if (counts.limits[i] != 0) limits[MaskCounts::kLimits[i].data()] = counts.limits[i];
  }
  out["limits_met"] = limits;
  out["rejected_mass"] = counts.rejected_mass;
  out["rejected_masses"] = counts.n_masses;
}

void observe(PyCompiled& self, const nb::object& callback, bool rejected_mass) {
  if (!callback.is_none() && PyCallable_Check(callback.ptr()) == 0)
    throw nb::type_error("the callback must be callable, or None for nobody");
  // What was held goes last: its destructor may run Python code that looks at the grammar.
  nb::object held = std::exchange(self.observer, callback.is_none() ? nb::object() : callback);
  self.asks_for_mass = rejected_mass;
}

void bind_compiled_grammar(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_compiled)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear_compiled)},
                                {0, nullptr}};
  nb::class_<PyCompiled>(m, "CompiledGrammar", nb::is_final(), nb::is_weak_referenceable(), nb::type_slots(slots),
                         docs::CompiledGrammar)
      .def("matcher", &make_matcher, "max_tokens"_a = nb::none(), "stall_after"_a = nb::none(), nb::kw_only(),
           "stop_token_ids"_a = nb::none(), "canonical"_a = false, docs::CompiledGrammar_matcher)
      .def("__repr__",
           [](PyCompiled& self) {
             return "<CompiledGrammar over " + std::to_string(self.vocabulary->vocabulary->n_vocab) + " tokens>";
           })
      .def_prop_ro(
          "vocabulary", [](PyCompiled& self) { return self.vocabulary; }, docs::CompiledGrammar_vocabulary)
      .def(
          "clear_masks",
          [](PyCompiled& self) {
            const auto grammar = self.grammar;
            const CompiledGrammar::Guard guard(*grammar);
            grammar->clear_masks();
          },
          docs::CompiledGrammar_clear_masks)
      .def(
          "stats",
          [](PyCompiled& self) {
            const auto grammar = self.grammar;
            const CompiledGrammar::Guard guard(*grammar);
            const CompiledGrammar::Stats s = grammar->stats();
            nb::dict out;
            out["states"] = s.states;
            out["item_sets"] = s.item_sets;
            out["items"] = s.items;
            out["lexer_states"] = s.lexer_states;
            out["regex_nodes"] = s.regex_nodes;
            out["masks"] = s.masks;
            out["masks_computed"] = s.masks_computed;
            out["mask_bytes"] = s.mask_bytes;
            out["tables"] = s.tables;
            out["tables_texts"] = s.tables_made.texts;
            out["tables_renamed"] = s.tables_made.renamed;
            out["tables_counted"] = s.tables_made.counted;
            out["tables_bounded"] = s.tables_made.bounded;
            out["tables_difference"] = s.tables_made.difference;
            out["tables_clipped"] = s.tables_made.clipped;
            out["tables_patched"] = s.tables_made.patched;
            out["tables_walked"] = s.tables_made.walked;
            out["bytes"] = s.bytes;
            out["regex_bytes"] = s.regex_bytes;
            out["lexer_bytes"] = s.lexer_bytes;
            out["table_bytes"] = s.table_bytes;
            add_counts(out, grammar->counts()->totals());
            return out;
          },
          docs::CompiledGrammar_stats)
      .def("observe", &observe, "callback"_a = nb::none(), nb::kw_only(), "rejected_mass"_a = false,
           docs::CompiledGrammar_observe)
      .def_prop_ro(
          "asks_for_rejected_mass", [](const PyCompiled& self) { return self.asks_for_mass; },
          docs::CompiledGrammar_asks_for_rejected_mass)
      .def(
          "add_rejected_mass",
          [](const PyCompiled& self, double mass) {
            if (!(mass >= 0 && mass <= 1)) throw nb::value_error("a share of all probability is from 0 to 1");
            self.grammar->counts()->add_rejected_mass(mass);
          },
          "mass"_a, docs::CompiledGrammar_add_rejected_mass);
}

PyObject* fill_mask(PyObject* self, PyObject* const* arguments, Py_ssize_t n, PyObject* names) noexcept {
  try {
    fill_array(self_of<PyMatcher>(self), only_argument(arguments, n, names, "bits"));
    return Py_NewRef(Py_None);
  } catch (...) {
    return python_error_in_flight(raise_limit);
  }
}

int64_t integer(nb::handle object) {
  int64_t value = 0;
  if (!nb::try_cast(object, value)) throw nb::type_error("a token id is an integer");
  return value;
}

// Sets TokenRejected, which tells what was expected; that is left out where finding it meets a limit.
PyObject* raise_rejected(PyMatcher& self, int64_t given, TokenId token) {
  Matcher::TokenFate fate;
  try {
    fate = self.with([&](Matcher& m) { return m.fate(token); });
  } catch (const LimitExceeded&) {
  }
  const nb::object error = in_python([&]() -> nb::object {
    return nb::module_::import_("cfgmask.compiler.explanation")
        .attr("rejection")(given, to_python(self.matcher, token), to_python(fate));
  });
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  return nullptr;
}

PyObject* advance(PyObject* self, PyObject* const* arguments, Py_ssize_t n, PyObject* names) noexcept {
  try {
    const int64_t token = integer(only_argument(arguments, n, names, "token_id"));
    auto& matcher = self_of<PyMatcher>(self);
    if (matcher.with([&](Matcher& m) { return m.advance(token_id(token)); })) {
      if (matcher.narrowing) matcher.narrowing->advanced(token_id(token));
      return Py_NewRef(Py_None);
    }
    return raise_rejected(matcher, token, token_id(token));
  } catch (...) {
    return python_error_in_flight(raise_limit);
  }
}

// For each token; see bindings/token_methods.h. Their docstrings begin with the signature.
PyMethodDef* token_methods() {
  static const std::string fill_mask_doc = std::string("fill_mask($self, bits)\n--\n\n") + docs::Matcher_fill_mask;
  static const std::string advance_doc = std::string("advance($self, token_id)\n--\n\n") + docs::Matcher_advance;
  const auto method = [](const char* name, auto function, const std::string& doc) {
    return PyMethodDef{name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
                       METH_FASTCALL | METH_KEYWORDS, doc.c_str()};
  };
  static PyMethodDef methods[] = {
      method("fill_mask", fill_mask, fill_mask_doc), method("advance", advance, advance_doc), {}};
  return methods;
}

void bind_matcher(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_methods, token_methods()}, {0, nullptr}};
  nb::class_<PyMatcher>(m, "Matcher", nb::is_final(), nb::is_weak_referenceable(), nb::type_slots(slots), docs::Matcher)
      .def("__repr__",
           [](PyMatcher& self) {
             const char* const end = self.matcher.is_finished() ? " steps, finished>" : " steps>";
             return "<Matcher after " + std::to_string(self.matcher.n_steps()) + end;
           })
      .def("apply", &apply, "logits"_a, docs::Matcher_apply)
      .def(
          "try_advance",
          [](PyMatcher& self, const std::vector<int64_t>& tokens, bool consume) {
            std::vector<TokenId> ids;
            for (int64_t token : tokens) ids.push_back(token_id(token));
            self.in_use.check();
            if (consume) moved(self);
            return self.with([&](Matcher& m) { return m.try_advance(ids, consume); });
          },
          "tokens"_a, nb::kw_only(), "consume"_a = true, docs::Matcher_try_advance)
      .def(
          "advance_bytes",
          [](PyMatcher& self, const nb::bytes& data) {
            self.in_use.check();
            moved(self);
            return self.with([&](Matcher& m) { return m.advance_bytes(view(data)); });
          },
          "data"_a, docs::Matcher_advance_bytes)
      .def(
          "rollback",
          [](PyMatcher& self, int64_t n) {
            self.in_use.check();
            moved(self);
            if (n < 0 || !self.matcher.rollback(static_cast<size_t>(n)))
              throw nb::value_error("there are fewer steps to take back");
          },
          "n"_a, docs::Matcher_rollback)
      .def(
          "fork",
          [](const PyMatcher& self) {
            self.in_use.check();
            PyMatcher fork = self;
            if (fork.matcher.n_steps() == 0) fork.reset();
            return fork;
          },
          docs::Matcher_fork)
      .def(
          "reset",
          [](PyMatcher& self) {
            self.in_use.check();
            moved(self);
            self.reset();
          },
          docs::Matcher_reset)
      .def_prop_ro(
          "is_accepting", [](PyMatcher& self) { return self.with([](Matcher& m) { return m.is_accepting(); }); },
          docs::Matcher_is_accepting)
      .def_prop_ro(
          "is_finished", [](PyMatcher& self) { return self.in_use.check(), self.matcher.is_finished(); },
          docs::Matcher_is_finished)
      .def_prop_ro(
          "state", [](PyMatcher& self) { return self.state(); }, docs::Matcher_state)
      .def_prop_ro(
          "n_steps", [](PyMatcher& self) { return self.in_use.check(), self.matcher.n_steps(); }, docs::Matcher_n_steps)
      .def(
          "forced_bytes",
          [](PyMatcher& self) {
            return to_bytes(self.with([](Matcher& m) { return m.forced_bytes(kMaxForcedBytes); }));
          },
          docs::Matcher_forced_bytes)
      .def(
          "forced_tokens",
          [](PyMatcher& self) { return forced_tokens(self.matcher, self.in_use, nb::cast(self.compiled)); },
          docs::Matcher_forced_tokens)
      .def(
          "jump",
          [](PyMatcher& self) {
            Jump found = jump(self.matcher, self.in_use, nb::cast(self.compiled));
            return std::pair(found.n_back, std::move(found.tokens));
          },
          docs::Matcher_jump)
      .def(
          "captures", [](PyMatcher& self) { return captures_of(self); }, docs::Matcher_captures)
      .def_prop_ro(
          "temperature", [](PyMatcher& self) { return self.with([](Matcher& m) { return m.temperature(); }); },
          docs::Matcher_temperature)
      .def(
          "completion", [](PyMatcher& self) { return self.with([](Matcher& m) { return m.completion(); }); },
          docs::Matcher_completion)
      .def_prop_ro(
          "tokens_left", [](PyMatcher& self) { return self.in_use.check(), self.matcher.tokens_left(); },
          docs::Matcher_tokens_left)
      .def_prop_ro(
          "is_stalled", [](PyMatcher& self) { return self.with([](Matcher& m) { return m.is_stalled(); }); },
          docs::Matcher_is_stalled)
      .def_prop_ro(
          "n_stalled", [](PyMatcher& self) { return self.in_use.check(), self.matcher.n_stalled(); },
          docs::Matcher_n_stalled)
      .def(
          "expected", [](PyMatcher& self) { return self.with([](Matcher& m) { return m.expected(); }); },
          docs::Matcher_expected)
      .def(
          "explain",
          [](PyMatcher& self, int64_t token) {
            const TokenId id = token_id(token);
            const nb::object fate = to_python(self.with([&](Matcher& m) { return m.fate(id); }));
            return in_python([&]() -> nb::object {
              return nb::module_::import_("cfgmask.compiler.explanation")
                  .attr("explanation")(self.compiled, token, to_python(self.matcher, id), fate);
            });
          },
          "token_id"_a, docs::Matcher_explain)
      .def(
          "_repr_html_",
          [](const nb::object& self) {
            return in_python(
                [&]() -> nb::object { return nb::module_::import_("cfgmask.notebook").attr("matcher")(self); });
          },
          docs::Matcher__repr_html_)
      .def_prop_ro(
          "compiled", [](PyMatcher& self) { return self.compiled; }, docs::Matcher_compiled)
      .def("steps", steps_of, docs::Matcher_steps)
      .def_prop_ro("arguments", arguments_of, docs::Matcher_arguments)
      .def(
          "to_bytes",
          [](const nb::object& self) {
            return in_python([&]() -> nb::object {
              return nb::module_::import_("cfgmask.compiler.positions").attr("to_bytes")(self);
            });
          },
          docs::Matcher_to_bytes)
      .def_static(
          "from_bytes",
          [](const nb::object& compiled, const nb::bytes& data) {
            return in_python([&]() -> nb::object {
              return nb::module_::import_("cfgmask.compiler.positions").attr("from_bytes")(compiled, data);
            });
          },
          "compiled"_a, "data"_a, docs::Matcher_from_bytes);
}

void bind_segments(nb::module_& m) {
  nb::class_<PySegments>(m, "Segments", nb::is_final(), docs::Segments)
      .def(nb::new_([](std::shared_ptr<PyCompiled> compiled) {
             std::shared_ptr<CompiledGrammar> grammar = compiled->at_beginning().first;
             LongCall call(nullptr);
             return PySegments{Segments(std::move(grammar)), std::move(compiled)};
           }),
           "compiled"_a)
      .def(
          "take_bytes",
          [](PySegments& self, const nb::bytes& data) {
            return self.with([&](Segments& s) { return s.take_bytes(view(data)); });
          },
          "data"_a, docs::Segments_take_bytes)
      .def(
          "take_token",
          [](PySegments& self, int64_t token, size_t shown) {
            return self.with([&](Segments& s) { return s.take_token(token_id(token), shown); });
          },
          "token_id"_a, "shown"_a = 0, docs::Segments_take_token)
      .def(
          "decide", [](PySegments& self) { return to_python(self.with([](Segments& s) { return s.decide(); })); },
          docs::Segments_decide)
      .def(
          "finish",
          [](PySegments& self) -> nb::object {
            const auto decided = self.with([](Segments& s) { return s.finish(); });
            return decided ? nb::object(to_python(*decided)) : nb::object(nb::none());
          },
          docs::Segments_finish)
      .def(
          "expected", [](PySegments& self) { return self.with([](Segments& s) { return s.expected(); }); },
          docs::Segments_expected)
      .def_prop_ro(
          "may_end", [](PySegments& self) { return self.with([](Segments& s) { return s.may_end(); }); },
          docs::Segments_may_end)
      .def_prop_ro(
          "names", [](PySegments& self) { return self.with([](Segments& s) { return s.names(); }); },
          docs::Segments_names)
      .def("fork", [](const PySegments& self) { return self.in_use.check(), PySegments(self); }, docs::Segments_fork);
}

void bind_catching(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&Catching::traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(&Catching::clear)},
                                {0, nullptr}};
  nb::class_<Catching>(m, "Catching", nb::is_final(), nb::type_slots(slots), docs::Catching)
      .def(nb::init<nb::object, nb::object>(), "function"_a, "on_error"_a)
      .def("__call__", &Catching::operator(), docs::Catching___call__);
}

}  // namespace
}  // namespace cfgmask

NB_MODULE(_core, m) {
  using namespace cfgmask;
  m.doc() = docs::module;
  Pause::wait_with(&wait_without_gil);
#ifndef CFGMASK_REPORT_LEAKS
  // What a user's module holds at exit is no leak of ours, and the interpreter frees it late or never.
  nb::set_leak_warnings(false);
#endif
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const LimitExceeded& e) {
      raise_limit(e);
    } catch (const BudgetTooSmall& e) {
      raise_budget(e);
    }
  });
  nb::class_<PyVocabulary>(m, "TokenTable", nb::is_final(), nb::is_weak_referenceable(), docs::TokenTable)
      .def(nb::new_(&make_vocabulary), "tokens"_a, "end_tokens"_a, "common"_a)
      .def_prop_ro(
          "n_vocab", [](PyVocabulary& self) { return self.vocabulary->n_vocab; }, docs::TokenTable_n_vocab)
      .def_prop_ro(
          "end_tokens", [](PyVocabulary& self) { return self.vocabulary->end_tokens; }, docs::TokenTable_end_tokens)
      .def_prop_ro(
          "fingerprint", [](PyVocabulary& self) { return self.vocabulary->fingerprint; }, docs::TokenTable_fingerprint)
      .def_prop_ro("held_bytes", &held_bytes, docs::TokenTable_held_bytes)
      .def_prop_ro(
          "holds_every_byte", [](PyVocabulary& self) { return self.vocabulary->held == ByteSet::all(); },
          docs::TokenTable_holds_every_byte)
      .def_prop_ro(
          "writes_json", [](PyVocabulary& self) { return self.vocabulary->writes_json(); },
          docs::TokenTable_writes_json)
      .def_static("fingerprint_of", &token_fingerprint, "tokens"_a, "end_tokens"_a, docs::TokenTable_fingerprint_of)
      .def("text", &token_text, "token"_a, docs::TokenTable_text);
  bind_regex_builder(m);
  bind_lexeme_ends(m);
  bind_grammar_builder(m);
  bind_json_schema(m);
  bind_patterns(m);
  bind_lark(m);
  bind_compiled_grammar(m);
  bind_matcher(m);
  bind_segments(m);
  bind_catching(m);
  m.def("mask_candidates", &mask_candidates, "matcher"_a, "logits"_a, "among"_a.none(), "may_move"_a,
        docs::mask_candidates);
  m.def("apply_masks", &apply_masks, "logits"_a, "bits"_a, "indices"_a = nb::none(), docs::apply_masks);
  m.def("fill_masks", &fill_batch, "matchers"_a, "bits"_a, "threads"_a = 1, docs::fill_masks);
}
