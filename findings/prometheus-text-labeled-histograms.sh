#!/usr/bin/env bash
# parse-prometheus-text-format 1.1.1 keeps one series of a histogram or summary, without its labels, sum and count.
#
# A histogram with a label, such as the duration of requests by method, has a series for each value. The package puts the buckets of
# all series into one, the last of which wins, so the other methods are lost and the rest has no name. Nothing tells that.
# Histograms without labels, and counters and gauges with some, are read whole. It also throws for a metric whose help is empty,
# which promtool 2.42 of Prometheus accepts and only warns of, so the whole text is lost.
#
# Output:
#   histogram by method: [{"buckets":{"0.5":"3","+Inf":"4"}}]
#   histogram without labels: [{"buckets":{"0.5":"1","+Inf":"2"},"count":"2","sum":"1"}]
#   counter by method: [{"value":"2","labels":{"method":"GET"}},{"value":"4","labels":{"method":"PUT"}}]
#   counter without help: Encountered invalid line: # HELP jobs_total
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund parse-prometheus-text-format@1.1.1
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import parse from "parse-prometheus-text-format"

const show = (label, lines, expected) => {
  let seen
  try {
    seen = JSON.stringify(parse(`${lines.join("\n")}\n`)[0].metrics)
  } catch (error) {
    seen = error.message.trim()
  }
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const histogram = (labels, first, all) => {
  const only = labels === "" ? "" : `{${labels}}`
  const inner = labels === "" ? "" : `${labels},`
  const buckets = [`seconds_bucket{${inner}le="0.5"} ${first}`, `seconds_bucket{${inner}le="+Inf"} ${all}`]
  return [...buckets, `seconds_sum${only} ${first}`, `seconds_count${only} ${all}`]
}
const type = ["# HELP seconds Duration of requests", "# TYPE seconds histogram"]
const byMethod = [...histogram('method="GET"', 1, 2), ...histogram('method="PUT"', 3, 4)]
show("histogram by method", [...type, ...byMethod], '[{"buckets":{"0.5":"3","+Inf":"4"}}]')
const whole = '[{"buckets":{"0.5":"1","+Inf":"2"},"count":"2","sum":"1"}]'
show("histogram without labels", [...type, ...histogram("", 1, 2)], whole)
const counter = ["# TYPE jobs_total counter", 'jobs_total{method="GET"} 2', 'jobs_total{method="PUT"} 4']
const values = '[{"value":"2","labels":{"method":"GET"}},{"value":"4","labels":{"method":"PUT"}}]'
show("counter by method", ["# HELP jobs_total Jobs", ...counter], values)
show("counter without help", ["# HELP jobs_total ", ...counter], "Encountered invalid line: # HELP jobs_total")
PROGRAM
node run.mjs
