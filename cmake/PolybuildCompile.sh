# Launches a compiler on the transformed file of a source, where there is one that differs from it.
#
#     sh PolybuildCompile.sh FOLDER -- COMPILER FLAGS... SOURCE
#
# FOLDER/sources has lines in threes: a source, its transformed file, and an empty header that is written
# whenever the latter is. Builds of several configurations have such a file in FOLDER/<configuration>. The
# command line, and with it compile_commands.json, names the user's own file alone.

folder=$1
shift 2
configuration=
for source; do
  case $source in
    -DCMAKE_INTDIR=*)
      configuration=${source#*=}
      configuration=/$(printf %s "$configuration" | tr -d '"\\') ;;
  esac
done

transformed=
while IFS= read -r original && IFS= read -r output && IFS= read -r stamp; do
  if [ "${original##*/}" = "${source##*/}" ] && [ "$original" -ef "$source" ]; then
    transformed=$output
    break
  fi
done <"$folder$configuration/sources"

if [ -n "$transformed" ]; then
  # The object depends on the transformed file also where the source is compiled itself.
  set -- "$@" -include "$stamp"
  if ! cmp -s "$original" "$transformed"; then
    # The last word is the source: it goes round to the front, and stays away.
    count=$#
    for word; do
      count=$((count - 1))
      shift
      if [ $count = 2 ]; then
        set -- "$@" "$transformed"
      else
        set -- "$@" "$word"
      fi
    done
    set -- "$@" -iquote "$(dirname "$original")" "-fdebug-prefix-map=$transformed=$original"
  fi
fi
for word; do # flags that mean warnings of polybuild are not for the compiler
  shift
  case $word in
    -Wpolybuild* | -Wno-polybuild* | -Werror=polybuild* | -Wno-error=polybuild*) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec "$@"
