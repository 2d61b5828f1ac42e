#!/bin/sh
# ptxas_test.sh PTXAS FILE: the text assembles, without a warning, for sm_80 to sm_121, as far as this ptxas knows them.
set -eu
known=$("$1" --help)
for arch in 80 86 87 88 89 90 100 103 110 120 121; do
  case $known in
    *sm_$arch*) ;;
    *)
      echo "sm_$arch: not known to this ptxas"
      continue
      ;;
  esac
  words=$("$1" --warning-as-error -arch "sm_$arch" "$2" -o /dev/null 2>&1) || {
    printf 'sm_%s: %s\n' "$arch" "$words"
    exit 1
  }
  echo "sm_$arch: assembles"
done
