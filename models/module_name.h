// Module names as quantisation rules compare them: without wrappers, numbers replaced by "#".
#pragma once

#include <string>
#include <string_view>

namespace kvfit::models {

struct ModuleName {
  std::string text;         ///< "layers.#.mlp.experts.#.up_proj"
  int layer = -1;           ///< the first layer number, -1 = none
  bool open_ended = false;  ///< a pattern's number ran into a star: "layers.1*" means 1, 10, 11 ...
};

ModuleName split_module(std::string_view module);

}  // namespace kvfit::models
