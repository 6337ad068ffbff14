#!/usr/bin/env bash
# json-patch 0.7.0 and json8-patch 1.0.6 tie a copy to its original; immutable-json-patch 6.0.3 ignores changes it cannot make.
#
# RFC 6902: "copy" duplicates a value, so a later change of the copy leaves the original as it was (section 4.5). "test" compares
# the members of objects in any order (4.6), and "replace" and "remove" of a member that is not there are errors (4.2, 4.3).
# immutable-json-patch compares the order, too, and returns the document unchanged in place of an error, so a reader of
# events that has lost one goes on with a wrong document. fast-json-patch 3.1.1 does what the RFC says.
#
# Output:
#   a change of a copy: fast-json-patch {"a":{"x":1},"b":{"x":2}}; json-patch {"a":{"x":2},"b":{"x":2}}; json8-patch {"a":{"x":2},
#     "b":{"x":2}}; immutable-json-patch {"a":{"x":1},"b":{"x":2}}
#   a test with members in another order: fast-json-patch {"a":{"x":1,"y":2}}; json-patch {"a":{"x":1,"y":2}}; json8-patch {"a":
#     {"x":1,"y":2}}; immutable-json-patch error
#   replacing a missing member: fast-json-patch error; json-patch error; json8-patch error; immutable-json-patch {}
#   removing a missing member: fast-json-patch error; json-patch error; json8-patch error; immutable-json-patch {}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund json-patch@0.7.0 json8-patch@1.0.6 immutable-json-patch@6.0.3 fast-json-patch@3.1.1
cat >run.mjs <<'PROGRAM'
import fast from "fast-json-patch"
import { immutableJSONPatch } from "immutable-json-patch"
import jsonPatch from "json-patch"
import json8 from "json8-patch"
import assert from "node:assert/strict"

const packages = [
  ["fast-json-patch", (document, patch) => fast.applyPatch(document, patch, true).newDocument],
  ["json-patch", (document, patch) => jsonPatch.apply(document, patch)],
  ["json8-patch", (document, patch) => json8.apply(document, patch).doc],
  ["immutable-json-patch", (document, patch) => immutableJSONPatch(document, patch)]
]
const show = (label, document, patch, expected) => {
  const results = packages.map(([, apply]) => {
    try {
      return JSON.stringify(apply(structuredClone(document), structuredClone(patch)))
    } catch {
      return "error"
    }
  })
  console.log(`${label}: ${packages.map(([name], at) => `${name} ${results[at]}`).join("; ")}`)
  assert.deepEqual(results, expected)
}
const copied = [
  { op: "copy", from: "/a", path: "/b" },
  { op: "replace", path: "/b/x", value: 2 }
]
const [right, tied] = ['{"a":{"x":1},"b":{"x":2}}', '{"a":{"x":2},"b":{"x":2}}']
show("a change of a copy", { a: { x: 1 } }, copied, [right, tied, tied, right])
const same = '{"a":{"x":1,"y":2}}'
const test = [{ op: "test", path: "/a", value: { y: 2, x: 1 } }]
show("a test with members in another order", { a: { x: 1, y: 2 } }, test, [same, same, same, "error"])
show("replacing a missing member", {}, [{ op: "replace", path: "/a", value: 1 }], ["error", "error", "error", "{}"])
show("removing a missing member", {}, [{ op: "remove", path: "/a" }], ["error", "error", "error", "{}"])
PROGRAM
node run.mjs
