#!/usr/bin/env bash
# retry-axios 4.0.3 does not retry at all, if Retry-After is 0 or a date that has passed.
#
# Both allow a client to retry at once (RFC 9110, section 10.2.3). A date has no fractions of a second, so it has often passed on
# a client whose clock is ahead. The program gets the 503 or 429, as if retries were used up. Without the field, or with 1,
# retry-axios repeats the request. A server that wants its clients to retry should write 1; a client can set checkRetryAfter to
# false.
#
# Output:
#   no Retry-After: 200 after 2 requests
#   Retry-After: 1: 200 after 2 requests
#   Retry-After: 0: 503 after 1 requests
#   Retry-After: Sun, 01 Nov 2026 10:00:00 GMT: 503 after 1 requests
#   Retry-After: 0, not checked: 200 after 2 requests
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund retry-axios@4.0.3 axios@1.21.1
cat >run.mjs <<'PROGRAM'
import axios from "axios"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { attach } from "retry-axios"

let requests = 0
let fields = {}
// The first request of each client is refused.
const server = createServer((_, response) => {
  requests += 1
  response.writeHead(requests === 1 ? 503 : 200, requests === 1 ? fields : {}).end()
}).listen(0, "127.0.0.1")
await once(server, "listening")
const show = async (label, value, expected, options = {}) => {
  requests = 0
  fields = value === undefined ? {} : { "Retry-After": value }
  const instance = axios.create()
  instance.defaults.raxConfig = { instance, retry: 3, retryDelay: 10, ...options }
  attach(instance)
  const { status } = await instance.get(`http://127.0.0.1:${server.address().port}/`).catch((error) => error)
  console.log(`${label}: ${status} after ${requests} requests`)
  assert.deepEqual([status, requests], expected)
}
await show("no Retry-After", undefined, [200, 2])
await show("Retry-After: 1", "1", [200, 2])
await show("Retry-After: 0", "0", [503, 1])
const past = "Sun, 01 Nov 2026 10:00:00 GMT"
await show(`Retry-After: ${past}`, past, [503, 1])
await show("Retry-After: 0, not checked", "0", [200, 2], { checkRetryAfter: false })
server.close()
server.closeAllConnections()
PROGRAM
node run.mjs
