#!/usr/bin/env bash
# @opentelemetry/exporter-prometheus 0.301.0 writes labels with which Prometheus 2.42 (Debian 12) refuses the metrics of the
# whole server.
#
# Attributes may have any name. Two that become one label, such as "a.b" and "a_b", have to be joined to one value with a
# semicolon between the parts (OpenTelemetry, compatibility with Prometheus), and a label may not begin with a digit. The
# package writes the label twice, and "1st" as it is, where it puts a _ before a metric's name. One such attribute anywhere
# loses all metrics.
#
# Output:
#   calls_total{a_b="x"} 1: read
#   calls_total{a_b="x",a_b="y"} 1: duplicate label names for metric "calls_total"
#   calls_total{1st="x"} 1: invalid label name for metric "calls_total"
#   _1st_total{a="x"} 1: read
set -euo pipefail
command -v apt-get >/dev/null || { echo "skipped: this needs apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download prometheus=2.42.0+ds-5+deb12u1 ||
  { echo "skipped: apt has no prometheus 2.42.0+ds-5+deb12u1"; exit 0; }
dpkg-deb -x prometheus_*.deb .
npm install --silent --no-audit --no-fund @opentelemetry/exporter-prometheus@0.301.0 @opentelemetry/sdk-metrics@3.1.1 \
  @opentelemetry/api@1.10.0
cat >run.mjs <<'PROGRAM'
import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus"
import { MeterProvider } from "@opentelemetry/sdk-metrics"
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"

const show = async (name, attributes, expected) => {
  const reader = new PrometheusExporter({ preventServerStart: true })
  new MeterProvider({ readers: [reader] }).getMeter("m").createCounter(name).add(1, attributes)
  const { resourceMetrics } = await reader.collect()
  // Without the information of the process and of the scope.
  const text = new PrometheusSerializer("", false, undefined, true, true).serialize(resourceMetrics)
  const { stderr, status } = spawnSync("usr/bin/promtool", ["check", "metrics"], { input: `${text}\n`, encoding: "utf8" })
  const line = text.split("\n").find((each) => each.endsWith(" 1"))
  // 3 means that it reads the text, and has advice.
  const outcome = status === 0 || status === 3 ? "read" : stderr.trim().replace(/^.*error in line 3: /, "")
  const seen = `${line}: ${outcome}`
  console.log(seen)
  assert.equal(seen, expected)
}
await show("calls_total", { "a.b": "x" }, 'calls_total{a_b="x"} 1: read')
await show("calls_total", { "a.b": "x", a_b: "y" }, 'calls_total{a_b="x",a_b="y"} 1: duplicate label names for metric "calls_total"')
await show("calls_total", { "1st": "x" }, 'calls_total{1st="x"} 1: invalid label name for metric "calls_total"')
await show("1st_total", { a: "x" }, '_1st_total{a="x"} 1: read')
process.exit()
PROGRAM
node run.mjs
