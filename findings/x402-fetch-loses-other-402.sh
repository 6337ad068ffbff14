#!/usr/bin/env bash
# @x402/fetch 2.27.0 and @x402/axios 2.11.0 lose a 402 that is not for x402.
#
# APIs with prepaid credit answer 402 if the balance is used up. The wrapped clients try to read terms from every 402, and reject
# with an error that has neither the response nor a cause: the status, the body and Retry-After are gone. A program that
# wraps its only client can't tell an empty balance from a broken seller. The wrapped client has to be one for sellers only.
#
# Output:
#   fetch: status 402, insufficient_balance
#   @x402/fetch: Error "Failed to parse payment requirements: Invalid payment required response", no response
#   axios: status 402, insufficient_balance
#   @x402/axios: Error "Failed to parse payment requirements: Invalid payment required response", no response
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund @x402/fetch@2.27.0 @x402/axios@2.11.0 axios@1.21.1
cat >run.mjs <<'PROGRAM'
import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import axios from "axios"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"

const server = createServer((_, response) =>
  response.writeHead(402, { "content-type": "application/json" }).end('{"code":"insufficient_balance"}')
)
await once(server.listen(0, "127.0.0.1"), "listening")
const url = `http://127.0.0.1:${server.address().port}/`

const show = async (name, send, expected) => {
  const answered = (status, { code }) => `status ${status}, ${code}`
  const seen = await send(url).then(
    async (response) => answered(response.status, await response.json()),
    ({ cause, message, name: type, response }) =>
      response === undefined && cause === undefined
        ? `${type} "${message}", no response`
        : answered(response.status, response.data)
  )
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
const whole = "status 402, insufficient_balance"
const lost = 'Error "Failed to parse payment requirements: Invalid payment required response", no response'
await show("fetch", fetch, whole)
await show("@x402/fetch", wrapFetchWithPayment(fetch, new x402Client()), lost)
await show("axios", axios.create().get, whole)
await show("@x402/axios", wrapAxiosWithPayment(axios.create(), new AxiosClient()).get, lost)
server.close()
PROGRAM
node run.mjs
