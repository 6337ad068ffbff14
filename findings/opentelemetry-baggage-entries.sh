#!/usr/bin/env bash
# @opentelemetry/core 3.1.1 drops entries of W3C baggage with an empty value or a plain percent sign, and renames keys with one.
#
# The value of an entry may be empty and may contain "%" (W3C Baggage, value). Escapes that are no UTF-8 must be replaced by
# U+FFFD; the package drops the whole entry. A key is a token, which has no escapes: "a%41" is passed on as "aA". A service in
# the middle of a chain removes or changes what others put there, without a warning.
#
# Output:
#   user=1,plan=free: passed on as user=1,plan=free
#   user=1,plan=: passed on as user=1
#   user=1,discount=100%: passed on as user=1
#   user=1,city=K%F6ln: passed on as user=1
#   user=1,a%41=2: passed on as user=1,aA=2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @opentelemetry/core@3.1.1 @opentelemetry/api@1.10.0
cat >run.mjs <<'PROGRAM'
import { defaultTextMapGetter as getter, defaultTextMapSetter as setter, ROOT_CONTEXT } from "@opentelemetry/api"
import { W3CBaggagePropagator } from "@opentelemetry/core"
import assert from "node:assert/strict"

const show = (baggage, expected) => {
  const propagator = new W3CBaggagePropagator()
  const passed = {}
  propagator.inject(propagator.extract(ROOT_CONTEXT, { baggage }, getter), passed, setter)
  console.log(`${baggage}: passed on as ${passed.baggage}`)
  assert.equal(passed.baggage, expected)
}
show("user=1,plan=free", "user=1,plan=free")
show("user=1,plan=", "user=1")
show("user=1,discount=100%", "user=1")
show("user=1,city=K%F6ln", "user=1")
show("user=1,a%41=2", "user=1,aA=2")
PROGRAM
node run.mjs
