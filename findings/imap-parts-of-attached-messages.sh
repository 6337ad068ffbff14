#!/usr/bin/env bash
# imapflow 2.10.2, imap 0.8.19 and emailjs-imap-client 3.1.0 give the text of an attached message the part number of the message.
#
# If the message is no multipart, its text has the number of the message and ".1" (RFC 9051, section 6.4.5.1). A delivery report
# returns such a message, and "forward as attachment" makes one. Who downloads the number of the text/plain part gets the whole
# message with its header, in its transfer encoding. In a multipart the numbers are right. Add ".1" to the number of a part that
# is no multipart, if its parent is message/rfc822.
#
# Output, for "Dinner at 8 €" in an attached message:
#   imapflow: message/rfc822 2, text/plain 2
#   imap: message/rfc822 2, text/plain 2
#   emailjs-imap-client: message/rfc822 2, text/plain 2
#   imapflow downloads 2: "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nDinner at 8 =E2=82=AC"
#   imapflow downloads 2.1: "Dinner at 8 €"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund imapflow@2.10.2 imap@0.8.19 emailjs-imap-client@3.1.0
cat >run.mjs <<'PROGRAM'
import emailjs from "emailjs-imap-client"
import Imap from "imap"
import { ImapFlow } from "imapflow"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:net"

const header = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
const text = "Dinner at 8 =E2=82=AC"
const part = `"TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "QUOTED-PRINTABLE" ${text.length} 1 NIL NIL NIL NIL`
const envelope = `(${"NIL ".repeat(9)}NIL)`
const message = `"MESSAGE" "RFC822" NIL NIL NIL "7BIT" ${(header + text).length} ${envelope} (${part}) 4 NIL NIL NIL NIL`
const first = '"TEXT" "PLAIN" NIL NIL NIL "7BIT" 3 1 NIL NIL NIL NIL'
const structure = `BODYSTRUCTURE ((${first})(${message}) "MIXED")`
const parts = { 2: header + text, 2.1: text, "2.MIME": "Content-Type: message/rfc822\r\n\r\n", "2.1.MIME": header }
const server = createServer((socket) => {
  socket.write("* OK [CAPABILITY IMAP4rev1] ready\r\n")
  socket.on("data", (data) => {
    for (const [, tag, command] of String(data).matchAll(/^(\S+) (.*)\r$/gm)) {
      const names = [...command.matchAll(/BODY.PEEK\[([\d.MIE]+)\]/g)].map(([, name]) => name)
      const fetched = names.map((name) => ` BODY[${name}] {${parts[name].length}}\r\n${parts[name]}`)
      if (/BODYSTRUCTURE/.test(command)) fetched.push(` INTERNALDATE "01-Dec-2026 12:00:00 +0000" ${structure}`)
      if (fetched.length > 0) socket.write(`* 1 FETCH (UID 1 FLAGS ()${fetched.join("")})\r\n`)
      if (/^(SELECT|EXAMINE)/.test(command)) socket.write("* FLAGS ()\r\n* 1 EXISTS\r\n* OK [UIDVALIDITY 1] \r\n")
      if (/^(LIST|LSUB)/.test(command)) socket.write('* LIST () "/" INBOX\r\n')
      socket.write(`${tag} OK done\r\n`)
    }
  })
  socket.on("error", () => {})
})
await once(server.listen(0, "127.0.0.1"), "listening")
const at = { host: "127.0.0.1", port: server.address().port }
const auth = { user: "bob", pass: "secret" }

const flow = new ImapFlow({ ...at, auth, secure: false, doSTARTTLS: false, logger: false })
await flow.connect()
await flow.mailboxOpen("INBOX")
const old = new Imap({ ...at, user: auth.user, password: auth.pass, tls: false })
old.connect()
await once(old, "ready")
await new Promise((resolve) => old.openBox("INBOX", true, resolve))
const [attributes] = await new Promise((resolve) =>
  old.fetch("1", { struct: true }).on("message", async (fetched) => resolve(await once(fetched, "attributes")))
)
const Client = emailjs.default
const client = new Client(at.host, at.port, { auth, useSecureTransport: false, ignoreTLS: true, logLevel: 1000 })
await client.connect()
const [listed] = await client.listMessages("INBOX", "1", ["uid", "bodystructure"])

const show = (name, attached, inner) => {
  console.log(`${name}: message/rfc822 ${attached}, text/plain ${inner}`)
  assert.deepEqual([attached, inner], ["2", "2"])
}
const nodes = (await flow.fetchOne("1", { bodyStructure: true })).bodyStructure.childNodes[1]
show("imapflow", nodes.part, nodes.childNodes[0].part)
const [struct] = attributes.struct[2]
show("imap", struct.partID, struct.body[0].partID)
const node = listed.bodystructure.childNodes[1]
show("emailjs-imap-client", node.part, node.childNodes[0].part)
for (const [number, expected] of [["2", header + text], ["2.1", "Dinner at 8 €"]]) {
  const chunks = await (await flow.download("1", number)).content.toArray()
  const downloaded = Buffer.concat(chunks).toString()
  console.log(`imapflow downloads ${number}: ${JSON.stringify(downloaded)}`)
  assert.equal(downloaded, expected)
}
process.exit()
PROGRAM
node run.mjs
