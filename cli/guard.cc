#include "cli/guard.h"

#include <exception>
#include <functional>
#include <new>
#include <string>

#include "cli/commands.h"
#include "cli/version.h"
#include "profiles/error.h"
#include "profiles/text.h"

namespace kvfit::cli {

int guarded(const std::function<int()>& body, const std::function<void(const std::string&)>& complain) {
  try {
    return body();
  } catch (const BrokenPipe&) {
    return kYes;
  } catch (const profiles::Error& error) {
    complain(error.text());
    return static_cast<int>(error.fault());
  } catch (const std::bad_alloc&) {
    complain("error: out of memory");
    return kEnvironment;
  } catch (const std::exception& error) {
    complain(profiles::format(
        "error: this is a bug in kvfit {}: {}\n  help: please report it with the command line and the files it read",
        version_number(), error.what()));
    return kBug;
  }
}

}  // namespace kvfit::cli
