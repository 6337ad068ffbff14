#!/usr/bin/env bash
# smtp-server 3.21.6 gives the domain of an envelope address in Unicode, whatever the client sent. mailparser 3.14.2 does so with
# addresses of the header; postal-mime 4.0.0 leaves them as they are.
#
# A client without SMTPUTF8 names an internationalized domain by its A-labels (RFC 5890), and the session's address has the U-labels.
# A relay that passes the address on would send octets beyond ASCII in a session without SMTPUTF8, and a table of mailboxes by
# A-labels does not find it. The address does not show which form the client sent, so the domain has to be converted again.
# Two parsers of one mail give two different texts for one address.
#
# Output:
#   RCPT TO:<bob@xn--bcher-kva.example>: bob@bücher.example
#   To of the mail, mailparser: bob@bücher.example
#   To of the mail, postal-mime: bob@xn--bcher-kva.example
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund smtp-server@3.21.6 nodemailer@10.6.1 mailparser@3.14.2 postal-mime@4.0.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import { once } from "node:events"
import { buffer } from "node:stream/consumers"
import { simpleParser } from "mailparser"
import { createTransport } from "nodemailer"
import PostalMime from "postal-mime"
import { SMTPServer } from "smtp-server"

const received = Promise.withResolvers()
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  async onData(stream, { envelope }, answer) {
    received.resolve({ recipient: envelope.rcptTo[0].address, raw: await buffer(stream) })
    answer()
  }
})
server.listen(0, "127.0.0.1")
await once(server.server, "listening")
const to = "bob@xn--bcher-kva.example"
const transport = createTransport({ host: "127.0.0.1", port: server.server.address().port })
await transport.sendMail({ from: "ada@a.example", to, subject: "Hello", text: "Hello" })
const { raw, recipient } = await received.promise
const show = (name, actual, expected) => {
  console.log(`${name}: ${actual}`)
  assert.equal(actual, expected)
}
const unicode = "bob@bücher.example"
show(`RCPT TO:<${to}>`, recipient, unicode)
show("To of the mail, mailparser", (await simpleParser(raw)).to.value[0].address, unicode)
show("To of the mail, postal-mime", (await PostalMime.parse(raw)).to[0].address, to)
server.close()
PROGRAM
node run.mjs
