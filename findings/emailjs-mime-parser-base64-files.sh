#!/usr/bin/env bash
# emailjs-mime-parser 2.0.7 changes the octets of a file in base64, unless its type is not text and it has a Content-Disposition.
#
# It decodes the octets as text, UTF-8 where no charset is named, and keeps the lowest eight bits of each character: "€" becomes
# the octet AC. Invitations, CSV files and attached texts lose letters. Pictures of an HTML mail that have only a Content-ID are
# destroyed. The text of the mail is right, and so is quoted-printable.
#
# Output, for "5 €", and for the first octets of a picture, 89 50 4e 47:
#   text/csv; charset=utf-8, attachment, base64: 35 20 ac
#   text/calendar; charset=utf-8, no disposition, base64: 35 20 ac
#   text/plain; charset=utf-8, attachment, base64: 35 20 ac
#   image/png, no disposition, base64: fd 50 4e 47
#   image/png, inline, base64: 89 50 4e 47
#   text/plain; charset=utf-8, no disposition, base64: 35 20 e2 82 ac
#   text/csv; charset=utf-8, attachment, quoted-printable: 35 20 e2 82 ac
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund emailjs-mime-parser@2.0.7
cat >run.mjs <<'PROGRAM'
import emailjs from "emailjs-mime-parser"
import assert from "node:assert/strict"

const text = Buffer.from("5 €")
const picture = Buffer.from("89504e47", "hex")
const octets = (content) => Buffer.from(content).toString("hex").replace(/..(?=.)/g, "$& ")
const show = (type, disposition, encoding, encoded, expected) => {
  const fields = [`Content-Type: ${type}`, `Content-Transfer-Encoding: ${encoding}`]
  if (disposition !== "no disposition") fields.push(`Content-Disposition: ${disposition}`)
  const seen = octets(emailjs.default(Buffer.from(`${fields.join("\r\n")}\r\n\r\n${encoded}`)).content)
  console.log(`${type}, ${disposition}, ${encoding}: ${seen}`)
  assert.equal(seen, expected)
}
const base64 = text.toString("base64")
show("text/csv; charset=utf-8", "attachment", "base64", base64, "35 20 ac")
show("text/calendar; charset=utf-8", "no disposition", "base64", base64, "35 20 ac")
show("text/plain; charset=utf-8", "attachment", "base64", base64, "35 20 ac")
show("image/png", "no disposition", "base64", picture.toString("base64"), "fd 50 4e 47")
show("image/png", "inline", "base64", picture.toString("base64"), octets(picture))
show("text/plain; charset=utf-8", "no disposition", "base64", base64, octets(text))
show("text/csv; charset=utf-8", "attachment", "quoted-printable", "5 =E2=82=AC", octets(text))
PROGRAM
node run.mjs
