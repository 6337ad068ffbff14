#!/usr/bin/env bash
# Node 24.21.0: a listener for "data" on the socket of an HTTP request gets nothing, ever, if the unread body had paused the socket.
#
# An HTTP server may take the socket of a request over, for example to discard the rest of a body after an early answer. A body that
# nobody reads pauses the socket. Node resumes the reading of such a socket in a listener for "resume", which it removes as soon as
# somebody listens for "data". So after on("data") and resume() the socket says that it flows, and is not paused, but its handle
# was stopped and is never started: no "data", no "end", no error. In the order of resume() and, in a listener for "resume",
# on("data"), the same bytes arrive. On a socket of node:net both orders work.
#
# Output:
#   on("data"), then resume(): isPaused false, readableFlowing true, 0 bytes
#   resume(), then on("data"): more than 0 bytes
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund node@24.21.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

const BODY = Buffer.alloc(1024 * 1024)

const seen = async (takeOver) => {
  const server = createServer()
  await once(server.listen(0, "127.0.0.1"), "listening")
  const client = connect(server.address().port, "127.0.0.1")
  client.on("error", () => undefined)
  client.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n`)
  client.write(BODY)
  const [{ socket }] = await once(server, "request")
  while (!socket.isPaused()) await sleep(1)
  let bytes = 0
  takeOver(socket, (chunk) => (bytes += chunk.length))
  await sleep(1_000)
  const result = bytes > 0 ? "more than 0 bytes" : `isPaused ${socket.isPaused()}, readableFlowing ${socket.readableFlowing}, 0 bytes`
  client.destroy()
  server.close()
  return result
}

const expected = (name, actual, wanted) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, wanted)
}
expected(
  'on("data"), then resume()',
  await seen((socket, listener) => {
    socket.on("data", listener)
    socket.resume()
  }),
  "isPaused false, readableFlowing true, 0 bytes"
)
expected(
  'resume(), then on("data")',
  await seen((socket, listener) => {
    socket.once("resume", () => socket.on("data", listener))
    socket.resume()
  }),
  "more than 0 bytes"
)
PROGRAM
./node_modules/.bin/node run.mjs
