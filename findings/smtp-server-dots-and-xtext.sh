#!/usr/bin/env bash
# smtp-server 3.21.6 refuses envelope addresses with dots in a row or at an end, also in quotes, and decodes the value of ORCPT.
#
# Mobile carriers in Japan gave out such addresses, and devices send from them. RFC 5321 (section 4.1.2) allows them in quotes; the
# option `lenientAddressParsing` accepts them all. ORCPT is xtext (RFC 3461, section 4.2), which a relay has to pass on as it is: the
# decoded value has to be encoded again first, or the next server reads another address.
#
# Output:
#   MAIL FROM:<ada..b@carrier.example>: 501
#   MAIL FROM:<"ada..b"@carrier.example>: 501
#   MAIL FROM:<device.@sender.example>: 501
#   MAIL FROM:<ada@sender.example>: 250
#   lenient, MAIL FROM:<ada..b@carrier.example>: 250
#   ORCPT=rfc822;bob+2Bnews@b.example: "rfc822;bob+news@b.example"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund smtp-server@3.21.6
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { once } from "node:events"
import { connect } from "node:net"
import { SMTPServer } from "smtp-server"

/** Returns the last reply to the commands, and the arguments of the last recipient. */
const ask = async (commands, options = {}) => {
  let args
  const server = new SMTPServer({
    ...options,
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo: (recipient, _session, answer) => {
      args = recipient.args
      answer()
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server.server, "listening")
  const socket = connect(server.server.address().port, "127.0.0.1").setEncoding("utf8")
  let reply = ""
  for (const command of ["", "EHLO client.example", ...commands]) {
    if (command !== "") socket.write(`${command}\r\n`)
    reply = ""
    while (!/^\d{3} .*\r\n$/m.test(reply)) reply += (await once(socket, "data"))[0]
  }
  socket.destroy()
  await new Promise((resolve) => server.close(resolve))
  return [reply.slice(0, 3), args]
}
const show = async (name, commands, expected, options) => {
  const [code] = await ask(commands, options)
  console.log(`${name}: ${code}`)
  assert.equal(code, expected)
}
for (const [path, code] of [
  ["ada..b@carrier.example", "501"],
  ['"ada..b"@carrier.example', "501"],
  ["device.@sender.example", "501"],
  ["ada@sender.example", "250"]
])
  await show(`MAIL FROM:<${path}>`, [`MAIL FROM:<${path}>`], code)
const lenient = ["MAIL FROM:<ada..b@carrier.example>"]
await show(`lenient, ${lenient}`, lenient, "250", { lenientAddressParsing: true })
const orcpt = "ORCPT=rfc822;bob+2Bnews@b.example"
const [, { ORCPT }] = await ask(["MAIL FROM:<>", `RCPT TO:<bob@b.example> ${orcpt}`])
console.log(`${orcpt}: ${JSON.stringify(ORCPT)}`)
assert.equal(ORCPT, "rfc822;bob+news@b.example")
PROGRAM
node run.mjs
