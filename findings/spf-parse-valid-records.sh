#!/usr/bin/env bash
# spf-parse 1.0.4 reports errors in valid SPF records, and valid: true for records with errors.
#
# `valid` is false only if the version is wrong or a modifier repeats, so a check of a domain's record accepts anything else. A
# misspelled mechanism is a permanent error for receivers (RFC 7208, section 4.6). Prefix lengths of IPv6, macros in a: and mx:, and
# modifiers that a receiver does not know are valid (sections 5, 7 and 6). Read `messages`, and let a second checker decide.
#
# Output:
#   v=spf1 ip4:192.0.2.1 -all: valid true, no error
#   v=spf1 a//64 -all: valid true, Unknown standalone term 'a//64'
#   v=spf1 mx:%{d} -all: valid true, Invalid domain for the 'mx' mechanism: '%{d}'
#   v=spf1 ra=postmaster mx -all: valid true, Unknown standalone term 'ra=postmaster'
#   v=spf1 inclde:a.example -all: valid true, Unknown standalone term 'inclde:a.example'
#   v=spf1 ip4:192.0.2.999 -all: valid true, Invalid IP address: '192.0.2.999'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund spf-parse@1.0.4
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import parse from "spf-parse"

const show = (record, expected) => {
  const { valid, messages = [] } = parse(record)
  const seen = messages.filter(({ type }) => type === "error").map(({ message }) => message).join("; ") || "no error"
  console.log(`${record}: valid ${valid}, ${seen}`)
  assert.deepEqual([valid, seen], [true, expected])
}
show("v=spf1 ip4:192.0.2.1 -all", "no error")
show("v=spf1 a//64 -all", "Unknown standalone term 'a//64'")
show("v=spf1 mx:%{d} -all", "Invalid domain for the 'mx' mechanism: '%{d}'")
show("v=spf1 ra=postmaster mx -all", "Unknown standalone term 'ra=postmaster'")
show("v=spf1 inclde:a.example -all", "Unknown standalone term 'inclde:a.example'")
show("v=spf1 ip4:192.0.2.999 -all", "Invalid IP address: '192.0.2.999'")
PROGRAM
node run.mjs
