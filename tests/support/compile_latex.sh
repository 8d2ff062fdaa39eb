# Compiles the LaTeX among the golden files, where there is a TeX.
set -eu
cd "$(dirname "$0")/../golden"
if ! command -v pdflatex >/dev/null; then
  echo "no pdflatex here: $(echo *.tex) not compiled"
  exit 0
fi
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
for file in *.tex; do
  if ! pdflatex -interaction=nonstopmode -halt-on-error -output-directory="$out" "$file" \
    >"$out/said" 2>&1; then
    cat "$out/said"
    exit 1
  fi
  echo "pdflatex: $file compiled"
done
