// A vocabulary for JSON and a JSON Schema from a fuzzer's choices.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "byte_source.h"
#include "json_schema/layouts/value_layout.h"
#include "matcher/compiled_grammar.h"
#include "matcher/grammar_builder.h"
#include "vocab/vocabulary.h"

namespace cfgmask::testing {

// Every byte as a token, random words over the letters of JSON, one id without text, which ends texts.
std::shared_ptr<const Vocabulary> json_vocabulary(ByteSource& source);

// Keywords of all kinds, those among them that the core reads by itself; mostly satisfiable.
std::string random_schema(ByteSource& source);

// What a text that is a schema says; nullopt for others.
std::optional<SchemaWithLayout> schema_parts(std::string_view schema, const Limits& limits);

// null for text that is no schema (json_schema/keywords/schema_reader.h), or for one that nothing satisfies.
// Throws LimitExceeded.
std::shared_ptr<CompiledGrammar> schema_grammar(std::string_view schema, VocabularyStores& stores,
                                                const Limits& limits);

}  // namespace cfgmask::testing
