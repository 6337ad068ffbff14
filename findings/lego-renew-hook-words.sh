#!/usr/bin/env bash
# lego 4.9.1 (Debian 12, 4.9.1-1) splits --renew-hook at spaces, also in quotes, and does not run a hook again that failed.
#
# The hook has no shell, so `sh -c '…'` gets the first word of its command. By then the new certificate is written, and the next run
# finds nothing to renew and ends with 0: a server whose reload failed keeps the old certificate until that expires. The hook
# has to be a script's path without spaces. The file is overwritten, not replaced: a hard link kept as a copy of the old
# certificate changes too, and a server that reads the files meanwhile may see a part, or a certificate and a key of two pairs.
#
# Output:
#   hook "sh -c 'touch done'": status 2, hook did not run, certificate renewed, its hard link too
#   next run, hook "touch done": status 0, hook did not run, certificate not renewed, its hard link neither
#   renewal due again, hook "touch done": status 0, hook ran, certificate renewed, its hard link too
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Into this folder only: nothing is installed. pebble is Let's Encrypt's test server.
apt-get -o APT::Sandbox::User=root -qq download lego=4.9.1-1 pebble
for package in *.deb; do dpkg-deb -x "$package" .; done
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>openssl.log
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

// Every name has the address 127.0.0.1, and no other record.
const dns = createSocket("udp4").on("message", (query, { address, port }) => {
  const end = query.indexOf(0, 12) + 5
  const isAddress = query.readUInt16BE(end - 4) === 1
  const reply = Buffer.from(query.subarray(0, end))
  for (const [at, value] of [0x8180, 1, Number(isAddress), 0, 0].entries()) reply.writeUInt16BE(value, 2 + 2 * at)
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]
  dns.send(Buffer.concat([reply, Buffer.from(isAddress ? record : [])]), port, address)
})
await once(dns.bind(0, "127.0.0.1"), "listening")
const free = [createServer(), createServer()]
for (const server of free) await once(server.listen(0, "127.0.0.1"), "listening")
const [port, httpPort] = free.map((server) => server.address().port)
for (const server of free) await once(server.close(), "close")

const pebble = { listenAddress: `127.0.0.1:${port}`, certificate: "ca.pem", privateKey: "key.pem", httpPort, tlsPort: 0 }
writeFileSync("pebble.json", JSON.stringify({ pebble }))
const env = { ...process.env, PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0", LEGO_CA_CERTIFICATES: "ca.pem" }
const dnsServer = `127.0.0.1:${dns.address().port}`
const acme = spawn("usr/bin/pebble", ["-config", "pebble.json", "-dnsserver", dnsServer], { env, stdio: "ignore" })
process.on("exit", () => acme.kill())
// It answers requests without TLS by an error, once it listens.
while (!(await fetch(`http://127.0.0.1:${port}`).catch(() => false))) await sleep(100)

const account = ["--accept-tos", "--email", "ops@a.example", "--server", `https://localhost:${port}/dir`, "--path", "."]
const options = [...account, "--domains", "mx.a.example", "--http", "--http.port", `127.0.0.1:${httpPort}`]
const lego = async (...command) => {
  const [status] = await once(spawn("usr/bin/lego", [...options, ...command], { env, stdio: "ignore" }), "exit")
  return status
}
const file = "certificates/mx.a.example.crt"
const show = async (name, hook, expected, ...more) => {
  const old = readFileSync(file, "utf8")
  linkSync(file, "old")
  const status = await lego("renew", "--no-random-sleep", "--renew-hook", hook, ...more)
  const [isRenewed, isLinkNew] = [file, "old"].map((path) => readFileSync(path, "utf8") !== old)
  const link = `its hard link ${isLinkNew ? "too" : "neither"}`
  const hookSeen = existsSync("done") ? "hook ran" : "hook did not run"
  const seen = `status ${status}, ${hookSeen}, certificate ${isRenewed ? "" : "not "}renewed, ${link}`
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
  rmSync("old")
}
assert.equal(await lego("run"), 0)
const hook = "sh -c 'touch done'"
// The certificate has five years, so that a renewal is due only with a limit beyond that.
const due = ["--days", "9999"]
await show(`hook "${hook}"`, hook, "status 2, hook did not run, certificate renewed, its hard link too", ...due)
const idle = "status 0, hook did not run, certificate not renewed, its hard link neither"
await show('next run, hook "touch done"', "touch done", idle)
const done = "status 0, hook ran, certificate renewed, its hard link too"
await show('renewal due again, hook "touch done"', "touch done", done, ...due)
process.exit()
PROGRAM
node run.mjs
