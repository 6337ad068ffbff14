#!/usr/bin/env bash
# Apache 2.4.71 (Debian 12, apache2-bin 2.4.71-1~deb12u1): LimitRequestBody has no effect on requests that mod_proxy passes on.
#
# The manual says that a request whose body exceeds the limit is answered with an error. That is so for a file, and for what the
# server answers itself. With ProxyPass a body of any length reaches the origin, with a length and in chunks, and also if
# proxy-sendcl makes Apache store the whole body on disk first, to which older versions applied the limit. The manual of this
# version does not mention the exception. The same limit works as a condition: <If "%{HTTP:Content-Length} -gt …"> Redirect 413 /.
#
# Output:
#   not proxied: status 413
#   proxied, with a length: status 200, 1000000 bytes reached the origin
#   proxied, in chunks: status 200, 1000000 bytes reached the origin
#   proxied, in chunks, stored first: status 200, 1000000 bytes reached the origin
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download apache2-bin=2.4.71-1~deb12u1 libapr1 libaprutil1 libpcre2-8-0
for package in *.deb; do dpkg-deb -x "$package" .; done
ln -s usr/lib/apache2/modules modules
mkdir docs && echo text >docs/own
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"

const BODY = Buffer.alloc(1_000_000)
let reached = 0
const origin = createServer(async (incoming, response) => {
  reached = 0
  for await (const chunk of incoming) reached += chunk.length
  response.end("from the origin")
})
await once(origin.listen(0, "127.0.0.1"), "listening")
const free = createServer()
await once(free.listen(0, "127.0.0.1"), "listening")
const { port } = free.address()
free.close()
await once(free, "close")

writeFileSync(
  "httpd.conf",
  `ServerRoot ${process.cwd()}
ServerName localhost
PidFile ${process.cwd()}/pid
ErrorLog ${process.cwd()}/error.log
Mutex file:${process.cwd()} default
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule setenvif_module modules/mod_setenvif.so
LoadModule proxy_module modules/mod_proxy.so
LoadModule proxy_http_module modules/mod_proxy_http.so
Listen 127.0.0.1:${port}
DocumentRoot ${process.cwd()}/docs
LimitRequestBody 1000
SetEnvIf Request_URI ^/stored proxy-sendcl
ProxyPass /own !
ProxyPass / http://127.0.0.1:${origin.address().port}/
`
)
const apache = spawn("usr/sbin/apache2", ["-D", "FOREGROUND", "-f", `${process.cwd()}/httpd.conf`], { stdio: "inherit" })

const send = (path, headers) =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      response.resume().once("end", () => resolve(`status ${response.statusCode}`))
    })
    sent.once("error", reject).end(BODY)
  })
const expected = (name, actual, wanted) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, wanted)
}
try {
  const length = { "content-length": BODY.length }
  const chunks = { "transfer-encoding": "chunked" }
  for (let tries = 0; ; tries++) {
    const isUp = await send("/", length).then(
      () => true,
      () => false
    )
    if (isUp) break
    assert.ok(tries < 100, "Apache did not start")
    await sleep(100)
  }
  const through = async (path, headers) => `${await send(path, headers)}, ${reached} bytes reached the origin`
  expected("not proxied", await send("/own", length), "status 413")
  const whole = "status 200, 1000000 bytes reached the origin"
  expected("proxied, with a length", await through("/", length), whole)
  expected("proxied, in chunks", await through("/", chunks), whole)
  expected("proxied, in chunks, stored first", await through("/stored", chunks), whole)
} finally {
  apache.kill()
  origin.close()
  origin.closeAllConnections()
}
PROGRAM
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu) node run.mjs
