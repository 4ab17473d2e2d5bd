#!/bin/sh
# Builds the static library into the folder given. The package that is distributed has the sources of all crates in
# rust/vendor.tar.xz: then nothing is fetched, and nothing is written outside of this folder.
set -e
PATH="$PATH:${HOME:-/}/.cargo/bin"
export PATH
here=$(pwd)
case $1 in
/*) CARGO_TARGET_DIR=$1 ;;
*) CARGO_TARGET_DIR=$here/$1 ;;
esac
export CARGO_TARGET_DIR
cd rust
if [ -f vendor.tar.xz ]; then
    [ -d vendor ] || xz -dc vendor.tar.xz | tar -xf -
    mkdir -p .cargo
    cp vendor-config.toml .cargo/config.toml
    CARGO_HOME=$here/rust/.cargo
    export CARGO_HOME
    exec cargo build --release --locked --offline --quiet --jobs 2
fi
exec cargo build --release --locked --quiet --jobs 2
