#!/usr/bin/env bash
# fetch-event-stream 0.1.6 removes spaces at the beginning of data, and parse-sse 0.1.0 splits events at the borders of chunks.
#
# A reader removes one space behind the colon (HTML, event streams): a model that streams " world" sends it behind two. The
# first package removes all, and joins the words. parse-sse takes a CR at the end of a chunk and the LF at the beginning of the
# next one for two line ends, so an event of two lines becomes two events, only sometimes. It also returns an event that a
# broken connection cut off, which a reader must discard, and drops an event with empty data. eventsource-parser 4.1.3 does all
# of this right.
#
# Output:
#   two words: fetch-event-stream ["Hello","world"], parse-sse ["Hello"," world"], eventsource-parser ["Hello"," world"]
#   two lines in one chunk: fetch-event-stream ["a\nb"], parse-sse ["a\nb"], eventsource-parser ["a\nb"]
#   two lines, cut in a line end: fetch-event-stream ["a\nb"], parse-sse ["a","b"], eventsource-parser ["a\nb"]
#   cut off: fetch-event-stream ["a"], parse-sse ["a","{\"amount\": 1"], eventsource-parser ["a"]
#   empty data: fetch-event-stream [""], parse-sse [], eventsource-parser [""]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund fetch-event-stream@0.1.6 parse-sse@0.1.0 eventsource-parser@4.1.3
cat >run.mjs <<'PROGRAM'
import { createParser } from "eventsource-parser"
import { events } from "fetch-event-stream"
import assert from "node:assert/strict"
import { parseServerSentEvents } from "parse-sse"

const responseOf = (chunks) => {
  const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))
  return new Response(body, { headers: { "content-type": "text/event-stream" } })
}
const readers = {
  "fetch-event-stream": async (chunks) => Array.fromAsync(events(responseOf(chunks)), ({ data }) => data),
  "parse-sse": async (chunks) => Array.fromAsync(parseServerSentEvents(responseOf(chunks)), ({ data }) => data),
  "eventsource-parser": async (chunks) => {
    const seen = []
    const parser = createParser({ onEvent: ({ data }) => seen.push(data) })
    for (const chunk of chunks) parser.feed(chunk)
    return seen
  }
}
const show = async (label, chunks, ...expected) => {
  const seen = []
  for (const read of Object.values(readers)) seen.push(JSON.stringify(await read(chunks)))
  console.log(`${label}: ${Object.keys(readers).map((name, at) => `${name} ${seen[at]}`).join(", ")}`)
  assert.deepEqual(seen, expected)
}
const words = '["Hello"," world"]'
await show("two words", ["data: Hello\n\ndata:  world\n\n"], '["Hello","world"]', words, words)
const lines = '["a\\nb"]'
await show("two lines in one chunk", ["data: a\r\ndata: b\r\n\r\n"], lines, lines, lines)
await show("two lines, cut in a line end", ["data: a\r", "\ndata: b\r\n\r\n"], lines, '["a","b"]', lines)
await show("cut off", ["data: a\n\n", 'data: {"amount": 1'], '["a"]', '["a","{\\"amount\\": 1"]', '["a"]')
await show("empty data", ["data:\n\n"], '[""]', "[]", '[""]')
PROGRAM
node run.mjs
