#!/usr/bin/env bash
# node-pop3 0.11.0, mailpop3 0.1.0, poplib 0.1.7 and yapople 0.4.10 return each line of a mail that begins with a dot with one dot
# more than it has.
#
# A server adds a dot to such a line, and the client has to remove it (RFC 1939, section 3). Quoted-printable breaks long lines
# anywhere, also before a dot: a link then leads to another host, a file has other bytes, and DKIM reports a changed body. Remove
# one dot from each line that begins with two. poplib also clears the highest bit of each octet.
#
# Output:
#   node-pop3: "Subject: 5 €", "See https://login=\r\n..a.example/", decoded "See https://login..a.example/"
#   mailpop3: "Subject: 5 €", "See https://login=\r\n..a.example/", decoded "See https://login..a.example/"
#   yapople: "Subject: 5 €", "See https://login=\r\n..a.example/", decoded "See https://login..a.example/"
#   poplib: "Subject: 5 b\u0002,", "See https://login=\r\n..a.example/", decoded "See https://login..a.example/"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund node-pop3@0.11.0 mailpop3@0.1.0 poplib@0.1.7 yapople@0.4.10 libqp@3.0.1
cat >run.mjs <<'PROGRAM'
import { decode } from "libqp"
import Mailpop3 from "mailpop3"
import NodePop3 from "node-pop3"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:net"
import Poplib from "poplib"
import yapople from "yapople"

const text = "See https://login=\r\n.a.example/"
const mail = `Subject: 5 €\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${text}\r\n`
const server = createServer((socket) => {
  const answers = { RETR: `+OK\r\n${mail.replace(/^\./gm, "..")}.\r\n`, CAPA: "+OK\r\nUSER\r\n.\r\n" }
  socket.write("+OK\r\n")
  socket.on("data", (command) => socket.write(answers[String(command).slice(0, 4).toUpperCase()] ?? "+OK\r\n"))
  socket.on("error", () => {})
})
await once(server.listen(0, "127.0.0.1"), "listening")
const { port } = server.address()
const host = "127.0.0.1"
const byEvents = async (Client) => {
  const client = new Client(port, host, { enabletls: false })
  client.once("connect", () => client.login("bob", "secret"))
  client.once("login", () => client.retr(1))
  return (await once(client, "retr"))[2]
}
const byYapople = async () => {
  const client = new yapople.Client({ host, port, tls: false, username: "bob", password: "secret" })
  await client.connect()
  return Buffer.from(await client.retrieve(1), "latin1").toString()
}
const show = (name, read, euro) => {
  const [subject, , , ...lines] = read.trim().split("\r\n")
  const body = lines.join("\r\n")
  const decoded = decode(body).toString()
  console.log(`${name}: ${[subject, body].map((part) => JSON.stringify(part)).join(", ")}, decoded ${JSON.stringify(decoded)}`)
  assert.deepEqual([subject, body], [`Subject: 5 ${euro}`, "See https://login=\r\n..a.example/"])
  assert.equal(decoded, "See https://login..a.example/")
}
show("node-pop3", await new NodePop3({ host, port, user: "bob", password: "secret" }).RETR(1), "€")
show("mailpop3", await byEvents(Mailpop3), "€")
show("yapople", await byYapople(), "€")
show("poplib", await byEvents(Poplib), "b\u0002,")
process.exit()
PROGRAM
node run.mjs
