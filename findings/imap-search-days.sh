#!/usr/bin/env bash
# imapflow 2.10.2 searches for the day that a Date has in UTC, imap 0.8.19 for the day that it has on the machine's clock.
#
# SINCE, BEFORE and ON of IMAP take a day without a time or a zone (RFC 9051, section 6.4.4). Midnight in Berlin is the day before
# in UTC, so imapflow finds the mail of another day for new Date(2026, 11, 1). imap reads the string "2026-12-01" as midnight in
# UTC, which is the day before in New York. Pass "2026-12-01" to imapflow, and "December 1, 2026" to imap. imap also returns 1970
# as the date of a mail that has no Date field. imapflow returns no date.
#
# Output:
#   Europe/Berlin, Date of local midnight: imapflow ON 30-Nov-2026, imap ON 1-Dec-2026
#   Europe/Berlin, "2026-12-01": imapflow ON 01-Dec-2026, imap ON 1-Dec-2026
#   America/New_York, Date of local midnight: imapflow ON 01-Dec-2026, imap ON 1-Dec-2026
#   America/New_York, "2026-12-01": imapflow ON 01-Dec-2026, imap ON 30-Nov-2026
#   America/New_York, "December 1, 2026": imapflow ON 01-Dec-2026, imap ON 1-Dec-2026
#   no Date field: imapflow undefined, imap 1970-01-01T00:00:00.000Z
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund imapflow@2.10.2 imap@0.8.19
cat >run.mjs <<'PROGRAM'
import Imap from "imap"
import { ImapFlow } from "imapflow"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:net"

let searched
const envelope = `* 1 FETCH (UID 1 FLAGS () INTERNALDATE " 1-Dec-2026 12:00:00 +0000" ENVELOPE (NIL "Hi"${" NIL".repeat(8)}))\r\n`
const server = createServer((socket) => {
  socket.write("* OK [CAPABILITY IMAP4rev1] ready\r\n")
  socket.on("data", (data) => {
    for (const [, tag, command] of String(data).matchAll(/^(\S+) (.*)\r$/gm)) {
      if (/SEARCH/.test(command)) searched = command.replace(/.*SEARCH /, "")
      if (/ENVELOPE/.test(command)) socket.write(envelope)
      if (/^(SELECT|EXAMINE)/.test(command)) socket.write("* FLAGS ()\r\n* 1 EXISTS\r\n* OK [UIDVALIDITY 1] \r\n")
      if (/^(LIST|LSUB)/.test(command)) socket.write('* LIST () "/" INBOX\r\n')
      socket.write(`${tag} OK done\r\n`)
    }
  })
  socket.on("error", () => {})
})
await once(server.listen(0, "127.0.0.1"), "listening")
const at = { host: "127.0.0.1", port: server.address().port }

const flow = new ImapFlow({ ...at, auth: { user: "bob", pass: "secret" }, secure: false, doSTARTTLS: false, logger: false })
await flow.connect()
await flow.mailboxOpen("INBOX")
const old = new Imap({ ...at, user: "bob", password: "secret", tls: false })
old.connect()
await once(old, "ready")
await new Promise((resolve) => old.openBox("INBOX", true, resolve))

const show = (label, seen, expected) => {
  const line = `imapflow ${seen[0]}, imap ${seen[1]}`
  console.log(`${label}: ${line}`)
  assert.equal(line, expected)
}
const search = async (zone, label, day, expected) => {
  process.env.TZ = zone
  const seen = []
  await flow.search({ on: day() })
  seen.push(searched)
  await new Promise((resolve) => old.search([["ON", day()]], resolve))
  seen.push(searched)
  show(`${zone}, ${label}`, seen, expected)
}
const midnight = () => new Date(2026, 11, 1)
await search("Europe/Berlin", "Date of local midnight", midnight, "imapflow ON 30-Nov-2026, imap ON 1-Dec-2026")
await search("Europe/Berlin", '"2026-12-01"', () => "2026-12-01", "imapflow ON 01-Dec-2026, imap ON 1-Dec-2026")
await search("America/New_York", "Date of local midnight", midnight, "imapflow ON 01-Dec-2026, imap ON 1-Dec-2026")
await search("America/New_York", '"2026-12-01"', () => "2026-12-01", "imapflow ON 01-Dec-2026, imap ON 30-Nov-2026")
const words = () => "December 1, 2026"
await search("America/New_York", `"${words()}"`, words, "imapflow ON 01-Dec-2026, imap ON 1-Dec-2026")
const fetched = await flow.fetchOne("1", { envelope: true })
const [attributes] = await new Promise((resolve) =>
  old.fetch("1", { envelope: true }).on("message", async (message) => resolve(await once(message, "attributes")))
)
const dates = [fetched.envelope.date, attributes.envelope.date.toISOString()]
show("no Date field", dates, "imapflow undefined, imap 1970-01-01T00:00:00.000Z")
process.exit()
PROGRAM
node run.mjs
