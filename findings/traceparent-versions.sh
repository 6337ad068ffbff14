#!/usr/bin/env bash
# traceparent 1.0.0 passes traces on in a version that it does not know, and with an id that stands for no trace.
#
# A participant reads a higher version by the fields of version 00, and writes its own header in version 00 (W3C Trace Context,
# section 3.2.4). The package writes version 01 itself, and begins a new trace if that version has more fields. An id of zeros
# is invalid, and a new trace has to begin (section 3.2.2.3): the package joins all such requests to one trace.
# @opentelemetry/core 3.1.1 does both right.
#
# Output:
#   version 00: traceparent writes version 00, the same trace; OpenTelemetry version 00, the same trace
#   version 01: traceparent writes version 01, the same trace; OpenTelemetry version 00, the same trace
#   version 01 with one more field: traceparent writes version 00, a new trace; OpenTelemetry version 00, the same trace
#   a trace id of zeros: traceparent writes version 00, the same trace; OpenTelemetry nothing
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund traceparent@1.0.0 @opentelemetry/core@3.1.1 @opentelemetry/api@1.10.0
cat >run.mjs <<'PROGRAM'
import { defaultTextMapGetter as getter, defaultTextMapSetter as setter, ROOT_CONTEXT } from "@opentelemetry/api"
import { W3CTraceContextPropagator } from "@opentelemetry/core"
import assert from "node:assert/strict"
import TraceParent from "traceparent"

const summaryOf = (header, from) => {
  if (header === undefined) return "nothing"
  return `version ${header.slice(0, 2)}, ${header.slice(3, 35) === from.slice(3, 35) ? "the same trace" : "a new trace"}`
}
const show = (label, header, ...expected) => {
  const child = TraceParent.startOrResume(header, { transactionSampleRate: 1 }).toString()
  const propagator = new W3CTraceContextPropagator()
  const passed = {}
  propagator.inject(propagator.extract(ROOT_CONTEXT, { traceparent: header }, getter), passed, setter)
  const seen = [summaryOf(child, header), summaryOf(passed.traceparent, header)]
  console.log(`${label}: traceparent writes ${seen[0]}; OpenTelemetry ${seen[1]}`)
  assert.deepEqual(seen, expected)
}
const ids = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"
const right = "version 00, the same trace"
show("version 00", `00-${ids}-01`, right, right)
show("version 01", `01-${ids}-01`, "version 01, the same trace", right)
show("version 01 with one more field", `01-${ids}-01-more`, "version 00, a new trace", right)
show("a trace id of zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, right, "nothing")
PROGRAM
node run.mjs
