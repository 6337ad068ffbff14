#!/usr/bin/env bash
# mimetext 3.0.28 and emailjs 5.0.3 label a text as 7bit and write octets above 127 into it.
#
# RFC 2045, section 2.7, allows none there. A relay that believes the label passes them to a server without 8BITMIME, to which
# emailjs itself sends them without asking for BODY=8BITMIME. nodemailer 10.6.1 encodes the text. mimetext also writes the name of a
# file as it is, which RFC 6532 allows only in mail that is sent with SMTPUTF8.
#
# Output:
#   mimetext: text labeled 7bit, octets above 127; file name with octets above 127
#   emailjs: text labeled 7bit, octets above 127; file name in ASCII
#   nodemailer: text labeled quoted-printable, ASCII; file name in ASCII
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund mimetext@3.0.28 emailjs@5.0.3 nodemailer@10.6.1
cat >run.mjs <<'PROGRAM'
import { Message } from "emailjs"
import { createMimeMessage } from "mimetext"
import { createTransport } from "nodemailer"
import assert from "node:assert/strict"

const [from, to, subject, text, filename] = ["ada@a.example", "bob@b.example", "Hello", "Grüße", "Gruß.txt"]
const writers = {
  mimetext: () => {
    const mail = createMimeMessage()
    mail.setSender(from)
    mail.setRecipient(to)
    mail.setSubject(subject)
    mail.addMessage({ contentType: "text/plain", data: text })
    mail.addAttachment({ filename, contentType: "text/plain", data: "aGVsbG8=" })
    return mail.asRaw()
  },
  emailjs: () =>
    new Promise((resolve, reject) => {
      const attachment = [{ data: "hello", name: filename, type: "text/plain" }]
      new Message({ from, to, subject, text, attachment }).read((error, mail) => (error ? reject(error) : resolve(mail)))
    }),
  nodemailer: async () => {
    const attachments = [{ filename, content: "hello" }]
    const transport = createTransport({ streamTransport: true, buffer: true })
    return String((await transport.sendMail({ from, to, subject, text, attachments })).message)
  }
}
const isAscii = (value) => !/[^\x00-\x7f]/.test(value)
const show = async (name, expected) => {
  const parts = (await writers[name]()).split(/\r?\n--/)
  const body = parts.find((part) => /content-type: ?text\/plain; charset/i.test(part) && !/attachment/.test(part))
  const label = /^content-transfer-encoding: ?(\S+)/im.exec(body)[1]
  const file = parts.find((part) => part.includes("attachment"))
  const seen = `text labeled ${label}, ${isAscii(body) ? "ASCII" : "octets above 127"}; file name ${isAscii(file) ? "in ASCII" : "with octets above 127"}`
  console.log(`${name}: ${seen}`)
  assert.equal(seen, expected)
}
await show("mimetext", "text labeled 7bit, octets above 127; file name with octets above 127")
await show("emailjs", "text labeled 7bit, octets above 127; file name in ASCII")
await show("nodemailer", "text labeled quoted-printable, ASCII; file name in ASCII")
PROGRAM
node run.mjs
