#!/usr/bin/env bash
# nodemailer 10.6.0 leaves out the Subject field of a mail with an empty subject, and cannot be told to write it.
#
# RFC 5322, section 2.2, allows a field with an empty value, and filters such as SpamAssassin tell a missing Subject from an empty
# one. Neither `subject: ""`, nor a header of that name, nor one that is marked as prepared is written.
#
# Output:
#   subject: no Subject field
#   header: no Subject field
#   prepared header: no Subject field
#   subject "x": Subject: x
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund nodemailer@10.6.0
cat >run.mjs <<'PROGRAM'
import assert from "node:assert/strict"
import nodemailer from "nodemailer"

const transport = nodemailer.createTransport({ streamTransport: true, buffer: true })
const show = async (name, fields, expected) => {
  const { message } = await transport.sendMail({ from: "ada@a.example", to: "bob@b.example", text: "Hello", ...fields })
  const field = /^Subject:.*$/m.exec(message.toString())?.[0].trim() ?? "no Subject field"
  console.log(`${name}: ${field}`)
  assert.equal(field, expected)
}
await show("subject", { subject: "" }, "no Subject field")
await show("header", { headers: { Subject: "" } }, "no Subject field")
await show("prepared header", { headers: { Subject: { prepared: true, value: "" } } }, "no Subject field")
await show('subject "x"', { subject: "x" }, "Subject: x")
PROGRAM
node run.mjs
