#!/bin/sh
# The gate that the GitHub Action, the GitLab template and the pre-commit hook run: kvfit check over paths, with the reports
# that the place it runs in can show. Arguments are paths; settings come from the environment:
#   KVFIT            the program; default: kvfit of PATH, else this checkout is built (./dev run)
#   KVFIT_GPU        --gpu, where neither the deployments nor kvfit.yaml say
#   KVFIT_FAIL_ON    --fail-on
#   KVFIT_ARGS       more flags of kvfit check, separated by blanks
#   KVFIT_REPORTS    folder for kvfit.json, kvfit.sarif and kvfit.xml; default: none
# Exits as kvfit check does: 0 pass, 1 no, 2 no answer, 3 refused, 4 the environment failed.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)

kvfit() {
  if [ -n "${KVFIT:-}" ]; then
    "$KVFIT" "$@"
  elif command -v kvfit >/dev/null 2>&1; then
    command kvfit "$@"
  else
    "$here/dev" run "$@"
  fi
}

[ $# -gt 0 ] || set -- .
paths=$*
set -- check "$@"
[ -z "${KVFIT_GPU:-}" ] || set -- "$@" --gpu "$KVFIT_GPU"
[ -z "${KVFIT_FAIL_ON:-}" ] || set -- "$@" --fail-on "$KVFIT_FAIL_ON"
# shellcheck disable=SC2086  # flags, separated by blanks on purpose
[ -z "${KVFIT_ARGS:-}" ] || set -- "$@" $KVFIT_ARGS
if [ -n "${KVFIT_REPORTS:-}" ]; then
  mkdir -p "$KVFIT_REPORTS"
  set -- "$@" -o "json=$KVFIT_REPORTS/kvfit.json" -o "sarif=$KVFIT_REPORTS/kvfit.sarif" -o "junit=$KVFIT_REPORTS/kvfit.xml"
fi
summary=${GITHUB_STEP_SUMMARY:-}
if [ -n "$summary" ]; then
  page=$(mktemp)
  trap 'rm -f "$page"' EXIT
  set -- "$@" -o "markdown=$page"
fi
if [ "${GITHUB_ACTIONS:-}" = true ]; then
  set -- "$@" --format github
else
  printf 'kvfit check %s\n' "$paths" >&2
fi

code=0
kvfit "$@" || code=$?
if [ -n "$summary" ] && [ -s "$page" ]; then
  cat "$page" >>"$summary"
fi
exit "$code"
