#!/usr/bin/env bash
# Node 24.21.0: fetch hides the status with which a forward proxy refuses.
#
# With http.setGlobalProxyFromEnv, or NODE_USE_ENV_PROXY=1, fetch connects through the proxy of HTTPS_PROXY. If the proxy answers
# CONNECT with 407, fetch rejects as it does for any failed connection, and the cause of its error is a DOMException "Request was
# cancelled." with the code 0, as if the caller had aborted the request. The status is only in the text of the cause of that cause.
# node:https reports the same refusal in the message of its error.
#
# Output:
#   fetch: TypeError "fetch failed"
#   its cause: Error "Request was cancelled.", code 0
#   the cause of that: AbortError "Proxy response (407) !== 200 when HTTP Tunneling", code UND_ERR_ABORTED
#   node:https: ERR_PROXY_TUNNEL
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund node@24.21.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, setGlobalProxyFromEnv } from "node:http"
import { get } from "node:https"

const proxy = createServer().on("connect", (_, socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"))
await once(proxy.listen(0, "127.0.0.1"), "listening")
setGlobalProxyFromEnv({ https_proxy: `http://127.0.0.1:${proxy.address().port}` })

const expected = (name, actual, wanted) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, wanted)
}
// The proxy refuses, so nothing is resolved and nothing connects to this name.
const url = "https://service.invalid/"
const error = await fetch(url).catch((error) => error)
expected("fetch", `${error.name} "${error.message}"`, 'TypeError "fetch failed"')
const { cause } = error
expected("its cause", `${cause.name} "${cause.message}", code ${cause.code}`, 'Error "Request was cancelled.", code 0')
expected(
  "the cause of that",
  `${cause.cause.name} "${cause.cause.message}", code ${cause.cause.code}`,
  'AbortError "Proxy response (407) !== 200 when HTTP Tunneling", code UND_ERR_ABORTED'
)
const [refused] = await once(get(url), "error")
expected("node:https", refused.code, "ERR_PROXY_TUNNEL")
proxy.close()
PROGRAM
./node_modules/.bin/node run.mjs
