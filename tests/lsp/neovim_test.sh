#!/bin/sh
# neovim_test.sh WARPTIME: neovim_test.lua in a headless Neovim that has no settings of the user's.
command -v nvim > /dev/null || { echo "there is no nvim"; exit 77; }
here=$(dirname "$0")
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
HOME=$home XDG_CONFIG_HOME=$home XDG_DATA_HOME=$home XDG_STATE_HOME=$home XDG_CACHE_HOME=$home WARPTIME=$1 \
  timeout 250 nvim --headless -u NONE -i NONE -n -S "$here/neovim_test.lua"
