#!/usr/bin/env bash
# workerd 1.20261117.1 has no redirect mode "error": fetch throws before it sends anything.
#
# The Fetch standard has "follow", "error" and "manual". A client that uses "error", so that a redirect cannot carry its token to
# another server, cannot send one request in Cloudflare Workers. With "manual" it gets the redirect itself, and can refuse it.
#
# Output:
#   error: throws TypeError
#   manual: status 302
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund workerd@1.20261117.1
cat >worker.js <<'PROGRAM'
export default {
  async fetch(request) {
    const { searchParams } = new URL(request.url)
    if (!searchParams.has("mode")) return Response.redirect("http://other.example/", 302)
    const target = `http://${request.headers.get("host")}/`
    const mode = searchParams.get("mode")
    return fetch(target, { redirect: mode }).then(
      ({ status }) => new Response(`status ${status}`),
      ({ name }) => new Response(`throws ${name}`)
    )
  }
}
PROGRAM
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"

const free = createServer().listen(0, "127.0.0.1")
await once(free, "listening")
const { port } = free.address()
free.close()
await once(free, "close")
writeFileSync(
  "worker.capnp",
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["local"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const main :Workerd.Worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2026-06-01");`
)
const child = spawn("node_modules/.bin/workerd", ["serve", "worker.capnp"], { stdio: "inherit" })
const answerTo = async (mode) => {
  for (let tries = 0; ; tries++) {
    try {
      return await (await fetch(`http://127.0.0.1:${port}/?mode=${mode}`)).text()
    } catch (error) {
      if (tries > 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
try {
  for (const [mode, expected] of [
    ["error", "throws TypeError"],
    ["manual", "status 302"]
  ]) {
    const seen = await answerTo(mode)
    console.log(`${mode}: ${seen}`)
    assert.equal(seen, expected)
  }
} finally {
  child.kill()
}
PROGRAM
node run.mjs
