// "${NAME:-default}" in a compose file and "$(NAME)" in a Kubernetes manifest: put in where at hand.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/shell_words.h"

namespace kvfit::runtime {

/// Value of a variable, or nullopt when nothing at hand sets it.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Compose: $NAME, ${NAME}, ${NAME:-default}, ${NAME-default}, ${NAME:+other}, ${NAME:?message}, $$ for a dollar. What is
/// not known stays as written and makes the word not whole. Source: compose-spec, interpolation.
Word interpolate(std::string_view text, const profiles::Where& where, const Lookup& lookup);

/// Kubernetes: $(NAME) of the container's own environment; $$(NAME) is $(NAME). Source: Kubernetes API, Container.args.
Word expand_references(std::string_view text, const profiles::Where& where, const Lookup& lookup);

}  // namespace kvfit::runtime
