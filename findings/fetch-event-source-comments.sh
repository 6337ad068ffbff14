#!/usr/bin/env bash
# @microsoft/fetch-event-source 2.0.1 calls onmessage with empty data for each comment of an event stream, such as a heartbeat.
#
# A block without data is no event (HTML, section 9.2.6). JSON.parse("") then throws, which ends the stream, after as many quiet
# seconds as the server waits before it sends a comment: not in a test. An event without an id has the id "", where EventSource
# keeps the one before, so a program that stores it begins from the start again. Skip messages without data, and ids without text.
#
# Output:
#   eventsource: {"n":1} id 7; {"n":2} id 7
#   fetch-event-source: {"n":1} id 7; (empty) id (empty); {"n":2} id (empty)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @microsoft/fetch-event-source@2.0.1 eventsource@5.1.5
cat >run.mjs <<'PROGRAM'
import { fetchEventSource } from "@microsoft/fetch-event-source"
import { EventSource } from "eventsource"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"

const stream = 'id: 7\ndata: {"n":1}\n\n: heartbeat\n\ndata: {"n":2}\n\n'
const server = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(stream))
server.listen(0, "127.0.0.1")
await once(server, "listening")
const url = `http://127.0.0.1:${server.address().port}/`
const show = (name, events, expected) => {
  const seen = events.map(({ data, id }) => `${data || "(empty)"} id ${id || "(empty)"}`).join("; ")
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
const source = new EventSource(url)
const standard = []
source.addEventListener("message", ({ data, lastEventId }) => standard.push({ data, id: lastEventId }))
await once(source, "error")
source.close()
show("eventsource", standard, '{"n":1} id 7; {"n":2} id 7')

// The package is written for browsers, and needs these names.
globalThis.document = { addEventListener() {}, removeEventListener() {} }
globalThis.window = { clearTimeout, fetch, setTimeout }
const messages = []
await fetchEventSource(url, { openWhenHidden: true, onmessage: (message) => messages.push(message) })
show("fetch-event-source", messages, '{"n":1} id 7; (empty) id (empty); {"n":2} id (empty)')
server.close()
server.closeAllConnections()
PROGRAM
node run.mjs
