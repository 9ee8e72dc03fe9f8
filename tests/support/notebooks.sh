#!/bin/bash
# Runs the notebooks in lessons/notebooks, every cell of them, with Debian's nbconvert: tests/support/notebooks.sh BUILD
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TILEWALK_LIBRARY=$PWD/$1/libtilewalk.so TILEWALK_ASSETS=$PWD/assets PYTHONPATH=$PWD/viz/python
export PYTHONWARNINGS=ignore PYDEVD_DISABLE_FILE_VALIDATION=1
notebooks=(lessons/notebooks/*.ipynb)
timeout 600 /usr/bin/jupyter-nbconvert --log-level WARN --to html --execute --output-dir "$work" "${notebooks[@]}" 2>"$work/said" ||
  { tail -n 30 "$work/said"; exit 1; }
for notebook in "${notebooks[@]}"; do
  page=$work/$(basename "$notebook" .ipynb).html
  grep -q '<pre style="line-height:1.2">' "$page" || { echo "$notebook shows no answer"; exit 1; }
done
grep -q 'O is right' "$work/why-it-is-fast.html" || { echo "the program of the magic is not judged right"; exit 1; }
grep -q 'image/svg+xml;base64' "$work/why-it-is-fast.html" || { echo "no picture is shown"; exit 1; }
echo "${#notebooks[@]} passed, 0 failed"
