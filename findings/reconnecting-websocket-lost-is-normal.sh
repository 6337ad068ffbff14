#!/usr/bin/env bash
# reconnecting-websocket 4.4.0 and partysocket 1.3.0 report a lost connection as a normal end: code 1000 in place of 1006.
#
# A WebSocket of a browser or of Node fires "error" before "close" when its connection is lost. Both packages make an event of
# their own on "error", with the code 1000, and do not pass on the real one. A program that tells from the code whether the other
# end has finished, as of a call or of a stream of events, takes each failure for the end. It has to listen for "error" too.
#
# Output:
#   the server closes with 1011: WebSocket close 1011; reconnecting-websocket close 1011; partysocket close 1011
#   the connection is lost: WebSocket error, close 1006; reconnecting-websocket close 1000, error; partysocket close 1000, error
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund reconnecting-websocket@4.4.0 partysocket@1.3.0 ws@8.23.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { once } from "node:events"
import { WebSocket as PartySocket } from "partysocket"
import Reconnecting from "reconnecting-websocket"
import { WebSocketServer } from "ws"

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 })
await once(server, "listening")
const url = `ws://127.0.0.1:${server.address().port}`
const options = { WebSocket, maxRetries: 0 }
const clients = [
  ["WebSocket", () => new WebSocket(url)],
  ["reconnecting-websocket", () => new Reconnecting(url, [], options)],
  ["partysocket", () => new PartySocket(url, [], options)]
]
const show = async (label, end, expected) => {
  const seen = []
  for (const [name, connect] of clients) {
    const events = []
    const client = connect()
    client.addEventListener("close", ({ code }) => events.push(`close ${code}`))
    client.addEventListener("error", () => events.push("error"))
    // The next turn: the packages report the error after the end.
    const ended = new Promise((resolve) => client.addEventListener("close", () => setImmediate(resolve)))
    const [connection] = await once(server, "connection")
    end(connection)
    await ended
    client.close()
    seen.push(`${name} ${events.join(", ")}`)
  }
  console.log(`${label}: ${seen.join("; ")}`)
  assert.deepEqual(seen, expected)
}
const normal = ["WebSocket close 1011", "reconnecting-websocket close 1011", "partysocket close 1011"]
await show("the server closes with 1011", (connection) => connection.close(1011), normal)
const lost = ["WebSocket error, close 1006", "reconnecting-websocket close 1000, error", "partysocket close 1000, error"]
await show("the connection is lost", (connection) => connection.terminate(), lost)
process.exit()
PROGRAM
node run.mjs
