#!/usr/bin/env bash
# nodemailer 10.6.1 names a recipient beyond ASCII to a server that does not offer SMTPUTF8, and reports it as accepted.
#
# RFC 6531 (sections 3.2 and 3.5) requires the extension for such an address, and a refusal with 553 5.6.7 without it. nodemailer adds
# the parameter SMTPUTF8 to MAIL FROM if the server offers it. Otherwise it sends the same address without the parameter. A server
# that reads eight bits as another character set may deliver to another mailbox. A relay of such mail has to check the reply to
# EHLO first, which nodemailer does not show.
#
# Output:
#   with SMTPUTF8: MAIL FROM:<ada@a.example> SMTPUTF8, RCPT TO:<jörg@b.example>; accepted: jörg@b.example
#   without it: MAIL FROM:<ada@a.example>, RCPT TO:<jörg@b.example>; accepted: jörg@b.example
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund nodemailer@10.6.1
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import { createTransport } from "nodemailer"

/** Sends a mail to a server with these extensions, and returns the commands that name addresses. */
const send = async (...extensions) => {
  const commands = []
  const server = createServer(async (socket) => {
    socket.setEncoding("utf8").write("220 b.example\r\n")
    let isMessage = false
    for await (const line of createInterface({ input: socket })) {
      if (isMessage && line !== ".") continue
      isMessage = line === "DATA"
      if (/^(MAIL|RCPT)/.test(line)) commands.push(line)
      const lines = line.startsWith("EHLO") ? ["b.example", ...extensions] : ["done"]
      const code = isMessage ? 354 : line === "QUIT" ? 221 : 250
      socket.write(lines.map((text, at) => `${code}${at < lines.length - 1 ? "-" : " "}${text}\r\n`).join(""))
    }
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const transport = createTransport({ host: "127.0.0.1", port: server.address().port, ignoreTLS: true })
  const { accepted } = await transport.sendMail({ from: "ada@a.example", to: "jörg@b.example", subject: "Hello", text: "Hello" })
  server.close()
  return `${commands.join(", ")}; accepted: ${accepted}`
}

const show = (name, actual, expected) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, expected)
}
const rest = "RCPT TO:<jörg@b.example>; accepted: jörg@b.example"
show("with SMTPUTF8", await send("SMTPUTF8", "8BITMIME"), `MAIL FROM:<ada@a.example> SMTPUTF8, ${rest}`)
show("without it", await send("8BITMIME"), `MAIL FROM:<ada@a.example>, ${rest}`)
PROGRAM
node run.mjs
