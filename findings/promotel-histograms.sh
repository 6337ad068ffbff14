#!/usr/bin/env bash
# @platformatic/promotel 0.2.2 converts every histogram to one bucket, and drops series with a brace in a label.
#
# It turns the text format of Prometheus into OTLP. The buckets of a histogram are gone: only the count and the sum are left, so
# quantiles and targets for latency cannot be computed any more. A label value may contain any character (Prometheus, exposition
# formats): a route such as "/mailboxes/{id}" loses its series without an error, and so does the value NaN or +Inf.
#
# Output:
#   histogram with limits 0.5 and 1: count 4, sum 2.5, bounds [], buckets [4]
#   calls{route="/mailboxes/:id"} 1: kept
#   calls{route="/mailboxes/{id}"} 1: dropped
#   calls +Inf: dropped
#   calls NaN: dropped
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @platformatic/promotel@0.2.2
cat >run.mjs <<'PROGRAM'
import { convert, parse } from "@platformatic/promotel"
import assert from "node:assert/strict"

const show = (label, seen, expected) => {
  console.log(`${label}: ${seen}`)
  assert.equal(seen, expected)
}
const metricsOf = (...lines) => convert(parse(`${lines.join("\n")}\n`)).resource_metrics[0].scope_metrics[0].metrics
const buckets = ["0.5", "1", "+Inf"].map((limit, at) => `seconds_bucket{le="${limit}"} ${[1, 3, 4][at]}`)
const [{ histogram }] = metricsOf("# TYPE seconds histogram", ...buckets, "seconds_sum 2.5", "seconds_count 4")
const { count, sum, explicit_bounds: bounds, bucket_counts: counts } = histogram.data_points[0]
const point = `count ${count}, sum ${sum}, bounds ${JSON.stringify(bounds)}, buckets ${JSON.stringify(counts)}`
show("histogram with limits 0.5 and 1", point, "count 4, sum 2.5, bounds [], buckets [4]")
const showSeries = (line, expected) => show(line, metricsOf("# TYPE calls gauge", line).length === 1 ? "kept" : "dropped", expected)
showSeries('calls{route="/mailboxes/:id"} 1', "kept")
showSeries('calls{route="/mailboxes/{id}"} 1', "dropped")
showSeries("calls +Inf", "dropped")
showSeries("calls NaN", "dropped")
PROGRAM
node run.mjs
